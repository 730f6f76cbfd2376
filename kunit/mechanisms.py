#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which mechanisms a kernel tree has: the only place that decides it.

A mechanism is recognized by its code in a function or in a file, never by a version
number and never by running it: a broken policy must not switch its own test off.
Fixes are not mechanisms either: suites assert them on every kernel. Where neither
that code nor the other way to do it is found, though what surrounds it is, the
answer is unknown, and no suite asserts either rule.

probe.py writes what is found here into swap_api.h for the suites, and as JSON beside
it. Run as a program, this prints the JSON for a tree that need not be built.
"""
from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mechanism:
    """One mechanism of the swap code.

    meaning: completes "a kernel where ...". files: one or more paths, separated by
    spaces. pattern: a regular expression that matches whole words of code, not of
    comments; within the function(s) that match `function`, if there is one, and with
    `calls` within the functions of the file that they call. other: matches there on a
    kernel that does it another way. near: matches in the files of a kernel that has
    to do it one way or another; if that function is there, its answer is enough.
    """

    name: str
    meaning: str
    files: str
    pattern: str
    function: str = ""
    other: str = ""
    near: str = ""
    calls: bool = False

    def found(self, code: str) -> bool | None:
        """Whether the code of its files has it; None if that cannot be told."""
        scope = function_body(code, self.function) if self.function else code
        if self.calls and scope:
            scope += function_body(code, "|".join(sorted(set(re.findall(r"\b(\w+)\(", scope)))))
        if matches(self.pattern, scope):
            return True
        decided = matches(self.other, scope) if self.other else bool(self.function and scope)
        return None if not decided and self.near and matches(self.near, code) else False


MECHANISMS = (
    # The allocator
    Mechanism("SWAP_TABLE", "a swap table holds the state of the slots and the swap cache",
              "mm/swap_table.h", r"struct\s+swap_table", near=r"swp_tb_\w+"),
    Mechanism("CLUSTER_ALLOCATOR", "the allocator keeps lists of clusters by order",
              "mm/swapfile.c", "frag_clusters|nonfull_clusters|full_clusters"),
    Mechanism("CLUSTERS_EVERYWHERE", "rotational devices use clusters too",
              "mm/swapfile.c", "SWP_SOLIDSTATE|global_cluster",
              "cluster_alloc_swap_entry|alloc_swap_scan_cluster", near="frag_clusters"),
    Mechanism("NONFULL_FIRST", "nonfull clusters come before free ones, unless the device discards",
              "mm/swapfile.c", r"nonfull_clusters\[order\][\s\S]*&si->free_clusters",
              "cluster_alloc_swap_entry", other=r"free_clusters[\s\S]*nonfull_clusters", near="frag_clusters"),
    Mechanism("FRAG_SCAN_ALL", "every frag cluster is scanned before an allocation fails",
              "mm/swapfile.c", r"frag_cluster_nr|frag_clusters\[order\],[^;]*\btrue",
              "cluster_alloc_swap_entry", other=r"frag_clusters\[order\],[^;]*\bfalse", near="frag_clusters"),
    Mechanism("FRAG_WHEN_TAKEN", "a cluster moves to the frag list once a slot is allocated from it",
              "mm/swapfile.c", "frag_clusters", "alloc_swap_scan_cluster", other="frag_cluster_nr",
              near="frag_clusters|nonfull_clusters", calls=True),
    Mechanism("SEARCH_ENDS_WITH_AREA", "the search of the last cluster ends at the end of the area",
              "mm/swapfile.c", "si->max", "alloc_swap_scan_cluster", near="frag_clusters"),
    Mechanism("CPU_HINT_SHARED", "each CPU has one current cluster for all areas",
              "mm/swapfile.c", r"DEFINE_PER_CPU\(struct \w+, \w*cluster\w*\)",
              other=r"\w+->percpu_cluster", near="frag_clusters"),
    Mechanism("HINT_OF_ORDER", "a CPU drops a current cluster that now serves another order",
              "mm/swapfile.c", r"order == ci->order|ci->order == order",
              other=r"cluster->next\[order\]", near="frag_clusters"),
    Mechanism("SLOT_CACHE", "each CPU allocates up to 64 slots ahead",
              "mm/swap_slots.c", "swp_slots|swap_slots", near=r"\w*slots_cache\w*"),
    Mechanism("RECLAIM_FULL", "full clusters are reclaimed when only the swap cache uses their slots",
              "mm/swapfile.c", "swap_reclaim_full_clusters|reclaim_work", near="full_clusters"),
    Mechanism("RANGE_FREED", "one call drops the references to a range of slots",
              "mm/swapfile.c mm/memory.c", "free_swap_and_cache_nr|swap_put_entries_direct", near="swap_pte_batch"),
    Mechanism("DUP_CHECKED", "adding a reference to a bad or free slot fails with a warning",
              "mm/swapfile.c", "WARN_ON_ONCE", "__swap_cluster_dup_entry", near="swap_dup_entry_direct"),
    Mechanism("DUP_PINS", "adding a reference pins the area meanwhile",
              "mm/swapfile.c", "get_swap_device", "__swap_duplicate", near="swap_count_continued"),
    Mechanism("COUNT_TABLE_FREED", "the table of counts too large for a slot is freed with the last of them",
              "mm/swap.h mm/swapfile.c", "extend_table", other="swap_count_continued|COUNT_CONTINUED",
              near="swap_cluster_info"),

    # Areas
    Mechanism("AREA_USERS", "users of an area hold a reference to it",
              "mm/swapfile.c", "percpu_ref_tryget_live", near="percpu_ref_init"),
    Mechanism("DEFAULT_PRIO_COUNTS_DOWN", "each area without a priority gets a lower one than the last",
              "mm/swapfile.c", "least_priority", other="DEF_SWAP_PRIO", near="SWAP_FLAG_PREFER"),
    Mechanism("BAD_SLOT_TWICE_REFUSED", "swapon refuses a header that lists a bad slot twice",
              "mm/swapfile.c", "__swap_table_xchg", "swap_cluster_setup_bad_slot", near="SWP_TB_BAD|swp_tb_is_bad"),
    Mechanism("FRONTSWAP_MAP", "an area has a frontswap map, and works without one",
              "mm/swapfile.c", "frontswap_map", near="frontswap_init"),

    # Readahead and synchronous devices
    Mechanism("CONGESTION_CHECK", "cluster readahead asks whether the device is congested",
              "mm/swap_state.c", "inode_read_congested|bdi_read_congested|swap_device_saturated",
              "swap_cluster_readahead"),
    Mechanism("CONGESTION_STATE", "block devices have a congested state, which their drivers set",
              "include/linux/backing-dev-defs.h", "set_bdi_congested"),
    Mechanism("READAHEAD_PINS", "readahead pins the device of a neighbour while it reads it",
              "mm/swap_state.c", r"mem_cgroup_swapin_charge_\w+[\s\S]*put_swap_device"
              r"|get_swap_device\(entry\);\s*if \(!si\)\s*continue;",
              "__read_swap_cache_async|swap_vma_readahead|swap_vma_ra_pass", near="swapin_readahead"),
    Mechanism("HITS_TOLD_BY_CALLER", "readahead hits are counted by the callers, not by the cache lookup",
              "mm/swap_state.c", r"^(?![\s\S]*readahead)[\s\S]+", "swap_cache_get_folio|lookup_swap_cache",
              near=r"\w*readahead_hits"),
    Mechanism("VMA_RA_ANY_BOOL", "vma_ra_enabled accepts any boolean",
              "mm/swap_state.c", "kstrtobool", "vma_ra_enabled_store", near="vma_ra_enabled"),
    Mechanism("SYNC_READAHEAD_DEFERRED", "readahead reads synchronous entries last, while other reads are in flight",
              "mm/swap_state.c mm/swap.h", "swap_entry_synchronous"),
    Mechanism("SYNC_READAHEAD_BYPASS", "readahead skips synchronous neighbours of a synchronous target",
              "mm/swap_state.c", r"swap_entry_synchronous\s*\([^;]*\btarg_entry", "swap_vma_readahead"),
    Mechanism("SYNC_SWAPIN_CACHED", "swap-in from a synchronous device goes through the swap cache",
              "mm/memory.c", "swapin_(folio|sync)", "do_swap_page",
              other="alloc_swap_folio|vma_alloc_folio|alloc_page_vma", near="SWP_SYNCHRONOUS_IO"),
    Mechanism("SYNC_SWAPIN_BYPASS", "swap-in from a synchronous device bypasses the swap cache",
              "mm/memory.c", r"(alloc_swap_folio|vma_alloc_folio|alloc_page_vma)(?![\s\S]*\bswapin_(folio|sync)\b)",
              "do_swap_page", other="swapin_(folio|sync)", near="SWP_SYNCHRONOUS_IO"),
    Mechanism("SYNC_SWAPIN_SHMEM", "shmem reads single slots from a synchronous device",
              "mm/shmem.c", "SWP_SYNCHRONOUS_IO", "shmem_swapin_folio", near="SWP_SYNCHRONOUS_IO"),
    Mechanism("SYNC_CACHE_FREED", "a fault removes the pages of a synchronous device from the swap cache",
              "mm/memory.c", "SWP_SYNCHRONOUS_IO", "should_try_to_free_swap",
              near=r"SWP_SYNCHRONOUS_IO[\s\S]*\bSWP_SYNCHRONOUS_IO"),

    # The swap cache, large folios, and I/O
    Mechanism("SWAPIN_LARGE_CACHED", "swap-in tries several folio sizes for the swap cache",
              "mm/swap_state.c", "next_order|orders", "swap_cache_alloc_folio"),
    Mechanism("SWAPIN_LARGE", "a fault reads a large folio from a synchronous device as one",
              "mm/memory.c", r"thp_swap_suitable_orders|can_swapin_thp"),
    Mechanism("SHMEM_FALLBACK_COUNTED", "shmem counts large folios that are split because no slots fit them",
              "mm/shmem.c", "MTHP_STAT_SWPOUT_FALLBACK"),
    Mechanism("SWAPCACHED_COUNTED", "pages in the swap cache are counted, also per cgroup",
              "mm/memcontrol.c", '"swapcached"'),
    Mechanism("PTE_SWP_EXCLUSIVE", "a swap entry in a page table says whether the page is exclusive",
              "arch/um/include/asm/pgtable.h", "pte_swp_mkexclusive"),
    Mechanism("WRITE_IN_PLACE", "a write to an exclusive page in the swap cache does not copy it",
              "arch/um/include/asm/pgtable.h mm/swapfile.c", "pte_swp_mkexclusive|reuse_swap_page"),
    Mechanism("WRITE_COPIES_CACHED", "a write to a page in the swap cache copies it",
              "mm/memory.c", r"page_count\s*\(\s*page\s*\)\s*!=\s*1", "do_wp_page", near="wp_page_copy"),
    Mechanism("COPY_FREES_SLOT", "a write that copies a page in the swap cache frees its slot",
              "mm/memory.c", "free_swap_cache", "wp_page_copy", near="free_swap_cache"),
    Mechanism("ZEROMAP", "zero-filled pages never reach the device",
              "mm/page_io.c", "swap_zeromap_folio_set|is_folio_zero_filled", near=r"\w*zeromap\w*"),
    Mechanism("READ_BATCHED", "adjacent reads become one bio",
              "mm/page_io.c", "ops->submit_read", "swap_read_submit|__swap_read_unplug", near="swap_io_ctx"),
    Mechanism("WRITE_BATCHED", "adjacent writes become one bio",
              "mm/page_io.c", "ops->submit_write", "swap_write_submit", near="swap_io_ctx"),
    Mechanism("SWAP_RW", "file systems get several pages per call",
              "mm/page_io.c", r"swap_rw|swap_fs_\w+"),

    # zswap
    Mechanism("ZSWAP_SHRINKER", "zswap has a shrinker that writes cold entries back",
              "mm/zswap.c", "shrinker_enabled", near=r"zswap_shrinker\w*"),
    Mechanism("ZSWAP_SECOND_CHANCE", "writeback gives a page that is new in zswap's pool a second chance",
              "mm/zswap.c", "entry->referenced", "shrink_memcg_cb", near=r"\w*\breferenced"),
    Mechanism("ZSWAP_READS_PROTECT", "zswap's shrinker spares a page for each read from the disk",
              "mm/zswap.c", "nr_disk_swapins", "zswap_shrinker_count", near=r"nr_disk_swapins"),
    Mechanism("ZSWAP_FULL_AT_LIMIT", "zswap's pool is full when it has as many pages as it may have",
              "mm/zswap.c", r"if \(\w+ >= \w+\)", "zswap_check_limits", near="zswap_total_pages"),
    Mechanism("ZSWAP_TREE_GROWS", "storing an entry in zswap's tree allocates memory",
              "mm/zswap.c", "xa_store"),
    Mechanism("ZSWAP_SWAPON_FAILS", "swapon fails when zswap cannot allocate its tree",
              "mm/zswap.c", r"int zswap_swapon"),
    Mechanism("ZSWAP_SWAPIN_COUNT", "every folio read from the device counts for zswap's protection",
              "mm/page_io.c", "zswap_folio_swapin"),
    Mechanism("ZSWAP_PIVOT_COUNT", "only the page that a fault is for counts for zswap's protection",
              "mm/swap_state.c", "zswap_folio_swapin"),
    Mechanism("ZSWAP_LONE_PIVOT_COUNT", "a page counts for zswap's protection only if it is read without a window",
              "mm/swap_state.c", r"page_allocated\b\W+\{\s*zswap_folio_swapin", "swap_cluster_readahead"),
    Mechanism("ZSWAP_LOAD_ERASES", "a zswap load removes the entry from the pool",
              "mm/zswap.c", r"^(?![\s\S]*exclusive_loads)[\s\S]*\b(xa_erase|zswap_tree_erase|folio_mark_dirty)",
              "zswap_load"),
    Mechanism("ZSWAP_LARGE", "zswap stores large folios, page by page",
              "mm/zswap.c", "zswap_store_page|index < nr_pages", "zswap_store"),
    Mechanism("ZSWAP_SAME_FILLED", "zswap keeps a page of one repeated word outside its pool",
              "mm/zswap.c", '"same_filled_pages"'),
    Mechanism("ZSWAP_INCOMPRESSIBLE", "zswap stores pages that do not compress as they are",
              "mm/zswap.c", '"stored_incompressible_pages"'),
    Mechanism("ZSWAP_DECOMPRESS_ERROR", "a zswap page that cannot be decompressed is an I/O error",
              "mm/zswap.c", r"^(?![\s\S]*\bBUG_ON)[\s\S]*return (?:false|!?\w*ret\w*);",
              "zswap_decompress", near="zswap_decompress_fail"),
    Mechanism("ZSWAP_COUNTED", "pages stored in and loaded from zswap are counted",
              "mm/vmstat.c", '"zswpout"'),
    Mechanism("ZSWAP_WRITEBACK_COUNTED", "pages written back from zswap are counted",
              "mm/vmstat.c", '"zswpwb"'),
    Mechanism("ZSWAP_COMPRESS_COUNTED", "zswap counts the pages that its compressor fails on",
              "mm/zswap.c", '"reject_compress_fail"'),
    Mechanism("ZSWAP_SET_UP_LATE", "zswap is set up when it is first enabled",
              "mm/zswap.c", "zswap_setup|ZSWAP_UNINIT", "zswap_enabled_param_set", near="ZSWAP_UNINIT"),

    # cgroups
    Mechanism("MEMORY_RECLAIM", "a cgroup's memory can be reclaimed on request",
              "mm/memcontrol.c", '"reclaim"'),
    Mechanism("ZSWAP_MEMCG", "a cgroup's share of zswap's pool can be limited",
              "mm/memcontrol.c", r'"zswap\.max"'),
    Mechanism("ZSWAP_WRITEBACK_SWITCH", "writeback from zswap can be disabled for a cgroup",
              "mm/memcontrol.c", r'"zswap\.writeback"'),
)

# Of each pair a kernel has one at most. If both are found, neither is known.
EXCLUSIVE = (
    ("SYNC_SWAPIN_CACHED", "SYNC_SWAPIN_BYPASS"),
    ("ZSWAP_SWAPIN_COUNT", "ZSWAP_PIVOT_COUNT"),
    ("WRITE_COPIES_CACHED", "PTE_SWP_EXCLUSIVE"),
    ("SLOT_CACHE", "CPU_HINT_SHARED"),
    ("NONFULL_FIRST", "FRAG_SCAN_ALL"),
)


def matches(pattern: str, code: str) -> bool:
    """Whether code has whole words that match pattern."""
    return bool(re.search(rf"(?<!\w)(?:{pattern})(?!\w)", code))


def code_of(path: Path) -> str:
    """A C file without its comments, line breaks kept; empty if there is no such file."""
    if not path.exists():
        return ""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: "\n" * match.group().count("\n"),
                  path.read_text(errors="replace"), flags=re.S)


def function_body(text: str, name: str) -> str:
    """The bodies of the functions whose name matches the regular expression `name`, in kernel style."""
    return "\n".join(re.findall(rf"^[\w][^;{{}}#]*\b(?:{name})\s*\([^;{{}}]*\)\s*^\{{(.*?)^\}}",
                                text, flags=re.S | re.M))


def real_file(srctree: Path, name: str) -> Path:
    """The kernel's own file: beside the wrapper that has its name, or at its place."""
    path = srctree / name
    plain = path.with_name(f"{path.stem}_plain{path.suffix}")
    if plain.exists():      # the other one has mutants
        return plain
    beside = path.with_name(f"{path.stem}_real{path.suffix}")
    return beside if beside.exists() else path


def find(srctree: Path, patched: Path | None = None) -> dict[str, bool | None]:
    """Name -> found, or None if unknown, for each mechanism. patched: directory with newer copies of some files."""
    texts: dict[str, str] = {}
    found: dict[str, bool | None] = {}
    for mechanism in MECHANISMS:
        for name in mechanism.files.split():
            if name not in texts:
                newer = patched / name if patched else None
                texts[name] = code_of(newer if newer and newer.exists() else real_file(srctree, name))
        found[mechanism.name] = mechanism.found("\n".join(texts[name] for name in mechanism.files.split()))
    for pair in EXCLUSIVE:
        if all(found[name] for name in pair):
            found |= dict.fromkeys(pair, None)
    return found


def as_json(found: dict[str, bool | None]) -> str:
    """What find() returned, as a list of {name, there, meaning}; there is null if unknown."""
    return json.dumps([{"name": entry.name, "there": found[entry.name], "meaning": entry.meaning}
                       for entry in MECHANISMS], indent=1) + "\n"


def main() -> None:
    """Print the mechanisms of a tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--srctree", required=True, type=Path, help="top of the kernel tree")
    parser.add_argument("--patched", type=Path, help="directory with newer copies of some of its files")
    args = parser.parse_args()
    print(as_json(find(args.srctree, args.patched)), end="")


if __name__ == "__main__":
    main()
