#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a kernel tree offers, asked of the tree itself: writes swap_api.h.

Two kinds of question, no version number in either:

- API: does this code compile in mm/? The questions are probe_questions.h, all
  of them compiled in one go; an error belongs to the question it falls in.
- mechanism: does this identifier stand in this function (or file)? That is how
  a policy is recognised, never by running it: a broken policy must not switch
  its own test off.

Run by Kbuild at every build; does nothing unless a file it read has changed.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).absolute().parent


@dataclass(frozen=True)
class Mechanism:
    """One mechanism of the swap code.

    It is there where `pattern` (a regular expression) stands in function
    `function` of one of `files`, or anywhere in them where `function` is None.
    Comments do not count.
    """

    name: str
    files: tuple[str, ...]
    function: str | None
    pattern: str
    meaning: str


MECHANISMS = (
    Mechanism("SWAP_TABLE", ("mm/swap_table.h",), None, r"\bstruct\s+swap_table\b",
              "swap table: the slots' state and the swap cache in one"),
    Mechanism("CLUSTER_ALLOCATOR", ("mm/swapfile.c",), None, r"\bfrag_clusters\b",
              "cluster allocator: lists of clusters by order"),
    Mechanism("CLUSTERS_EVERYWHERE", ("mm/swapfile.c",), None, r"\bglobal_cluster\b",
              "rotational devices use clusters too"),
    Mechanism("NONFULL_FIRST", ("mm/swapfile.c",), "cluster_alloc_swap_entry",
              r"\bSWP_PAGE_DISCARD\b",
              "nonfull clusters before free ones, unless the device discards"),
    Mechanism("FRAG_SCAN_ALL", ("mm/swapfile.c",), "cluster_alloc_swap_entry",
              r"\bfrag_cluster_nr\b", "every frag cluster is scanned before giving up"),
    Mechanism("FRAG_WHEN_TAKEN", ("mm/swapfile.c",), "alloc_swap_scan_cluster",
              r"\brelocate_cluster\b", "a cluster that a slot was taken of is a frag one"),
    Mechanism("CPU_HINT_SHARED", ("mm/swapfile.c",), None, r"\bpercpu_swap_cluster\b",
              "a CPU has one current cluster over all areas, not one in each"),
    Mechanism("DUP_CHECKED", ("mm/swapfile.c",), "__swap_cluster_dup_entry",
              r"\bWARN_ON_ONCE\b", "a reference more to a bad or free slot is refused, and reported"),
    Mechanism("SYNC_DISCARD_OUTSIDE", ("mm/swapfile.c",), None, r"\bswap_sync_discard\b",
              "pending discards are done outside the allocator's locks"),
    Mechanism("HINT_OF_ORDER", ("mm/swapfile.c",), None, r"\bcluster_is_usable\b",
              "a CPU's current cluster of an order is asked whose it is by now"),
    Mechanism("SLOT_CACHE", ("mm/swap_slots.c",), None, r"\bswp_slots\b|\bswap_slots\b",
              "slot cache: up to 64 slots are allocated ahead, per CPU"),
    Mechanism("CONGESTION_CHECK", ("mm/swap_state.c",), "swap_cluster_readahead",
              r"\binode_read_congested\b|\bbdi_read_congested\b"
              r"|\bswap_device_saturated\b", "cluster readahead asks whether the device is congested"),
    Mechanism("CONGESTION_STATE", ("include/linux/backing-dev-defs.h",), None,
              r"\bset_bdi_congested\b",
              "block devices have a congested state, which their drivers set"),
    Mechanism("ZEROMAP", ("mm/page_io.c",), None, r"\bswap_zeromap_folio_set\b",
              "zero-filled pages never reach the device"),
    Mechanism("ZSWAP_SHRINKER", ("mm/zswap.c",), None, r"\bzswap_shrinker_count\b",
              "zswap's shrinker writes cold entries back"),
    Mechanism("ZSWAP_SWAPIN_COUNT", ("mm/page_io.c",), None, r"\bzswap_folio_swapin\b",
              "every folio read from the device counts for zswap's protection"),
    Mechanism("ZSWAP_PIVOT_COUNT", ("mm/swap_state.c",), None, r"\bzswap_folio_swapin\b",
              "only the page a fault is for counts for zswap's protection, whoever serves it"),
    Mechanism("ZSWAP_LONE_PIVOT_COUNT", ("mm/swap_state.c",), "swap_cluster_readahead",
              r"\bpage_allocated\b\W+\{\s*zswap_folio_swapin\b",
              "that page counts only when no window was read with it"),
    Mechanism("SWAPCACHED_COUNTED", ("include/linux/mmzone.h",), None, r"\bNR_SWAPCACHE\b",
              "pages of the swap cache are counted, by cgroup too"),
    Mechanism("ZSWAP_LOAD_ERASES", ("mm/zswap.c",), "zswap_load",
              r"\bxa_erase\b|\bzswap_tree_erase\b|\bfolio_mark_dirty\b",
              "a zswap load takes the entry out of the pool"),
    Mechanism("SYNC_READAHEAD_DEFERRED", ("mm/swap_state.c", "mm/swap.h"), None,
              r"\bswap_entry_synchronous\b",
              "readahead reads what waits for no device last, while the rest is in flight"),
    Mechanism("SYNC_READAHEAD_BYPASS", ("mm/swap_state.c",), "swap_vma_readahead",
              r"\bswap_entry_synchronous\s*\([^;]*\btarg_entry\b",
              "readahead reads nothing that waits for no device beside a target that waits for none"),
    Mechanism("SYNC_SWAPIN_CACHED", ("mm/swap_state.c",), None, r"\bswapin_(folio|sync)\b",
              "swap-in from a synchronous device goes through the swap cache"),
    Mechanism("SYNC_SWAPIN_BYPASS", ("mm/memory.c",), "do_swap_page",
              r"\bfolio\s*=\s*alloc_swap_folio\b|\bvma_alloc_folio\b|\balloc_page_vma\b",
              "swap-in from a synchronous device bypasses the swap cache"),
    Mechanism("SYNC_SWAPIN_SHMEM", ("mm/shmem.c",), "shmem_swapin_folio",
              r"\bSWP_SYNCHRONOUS_IO\b",
              "shmem, too, reads one slot from a synchronous device"),
    Mechanism("SHMEM_FALLBACK_COUNTED", ("mm/shmem.c",), None, r"\bMTHP_STAT_SWPOUT_FALLBACK\b",
              "shared memory, too, counts a large folio that is split for want of slots"),
    Mechanism("SYNC_CACHE_FREED", ("mm/memory.c",), "should_try_to_free_swap",
              r"\bSWP_SYNCHRONOUS_IO\b",
              "a fault leaves nothing of a synchronous device in the swap cache"),
    Mechanism("SWAPIN_LARGE_CACHED", ("mm/swap_state.c",), "swap_cache_alloc_folio",
              r"\bnext_order\b",
              "folios of several sizes are tried for the swap cache to read into"),
    Mechanism("SWAPIN_LARGE", ("mm/memory.c",), None, r"\bthp_swap_suitable_orders\b",
              "a fault reads a large folio back as one from a synchronous device"),
    Mechanism("HITS_TOLD_BY_CALLER", ("mm/swap_state.c",), None,
              r"\bswap_update_readahead\b",
              "callers tell readahead of its hits; a look-up alone does not"),
    Mechanism("READ_BATCHED", ("mm/page_io.c",), "swap_read_submit|__swap_read_unplug",
              r"\bops->submit_read\b", "neighbouring reads become one bio"),
    Mechanism("ZSWAP_LARGE", ("mm/zswap.c",), None, r"\bzswap_store_page\b",
              "zswap takes large folios, page by page"),
    Mechanism("ZSWAP_SAME_FILLED", ("mm/zswap.c",), None, r"\bzswap_same_filled_pages\b",
              "zswap keeps a page of one word as that word, outside its pool"),
    Mechanism("ZSWAP_WRITEBACK_COUNTED", ("mm/zswap.c",), None, r"\bZSWPWB\b",
              "pages written back from zswap are counted"),
    Mechanism("ZSWAP_COUNTED", ("include/linux/vm_event_item.h",), None, r"\bZSWPOUT\b",
              "pages into and out of zswap are counted"),
    Mechanism("ZSWAP_SET_UP_LATE", ("mm/zswap.c",), "zswap_enabled_param_set",
              r"\bzswap_setup\b", "zswap is set up when it is first switched on"),
    Mechanism("ZSWAP_COMPRESS_COUNTED", ("mm/zswap.c",), None,
              r"\bzswap_reject_compress_fail\b",
              "pages that zswap's compressor fails on are counted"),
    Mechanism("ZSWAP_WRITEBACK_SWITCH", ("mm/memcontrol.c",), None, r"\bzswap_writeback\b",
              "a cgroup may keep its pages in zswap"),
    Mechanism("ZSWAP_MEMCG", ("mm/memcontrol.c",), None, r"\bzswap_max\b",
              "a cgroup has a share of zswap's pool"),
    Mechanism("PTE_SWP_EXCLUSIVE", ("arch/um/include/asm/pgtable.h",), None,
              r"\bpte_swp_mkexclusive\b",
              "page tables remember that a swapped page is one process's alone"),
    Mechanism("WRITE_COPIES_CACHED", ("mm/memory.c",), "do_wp_page",
              r"\bpage_count\s*\(\s*page\s*\)\s*!=\s*1",
              "a write to a page that the swap cache has as well makes a copy"),
    Mechanism("SWAP_RW", ("mm/page_io.c",), None, r"\bswap_rw\b|\bswap_fs_\w+",
              "file systems are given several pages a call"),
    Mechanism("VMA_RA_ANY_BOOL", ("mm/swap_state.c",), "vma_ra_enabled_store",
              r"\bkstrtobool\b", "vma_ra_enabled takes any yes or no"),
    Mechanism("MEMORY_RECLAIM", ("mm/memcontrol.c",), None, r"\bmemory_reclaim\b",
              "a cgroup's memory is reclaimed on demand"),
    Mechanism("FRONTSWAP_MAP", ("mm/swapfile.c",), None, r"\bfrontswap_map\b",
              "an area has a map of what frontswap holds, and can do without"),
    Mechanism("WRITE_IN_PLACE", ("arch/um/include/asm/pgtable.h", "mm/swapfile.c"), None,
              r"\bpte_swp_mkexclusive\b|\breuse_swap_page\b",
              "a page of the swap cache that is one process's is written where it is"),
    Mechanism("RECLAIM_FULL", ("mm/swapfile.c",), None, r"\bswap_reclaim_full_clusters\b",
              "full clusters of which only the swap cache has slots are reclaimed"),
    Mechanism("RANGE_FREED", ("mm/swapfile.c",), None,
              r"\bfree_swap_and_cache_nr\b|\bswap_put_entries_direct\b",
              "a range's references are given up in one call"),
    Mechanism("DUP_PINS", ("mm/swapfile.c",), "__swap_duplicate", r"\bget_swap_device\b",
              "a reference more pins its area meanwhile"),
    Mechanism("AREA_USERS", ("mm/swapfile.c",), None, r"\bpercpu_ref_tryget_live\b",
              "who uses an area holds a reference to it"),
    Mechanism("READAHEAD_PINS", ("mm/swap_state.c",),
              "__read_swap_cache_async|swap_vma_readahead|swap_vma_ra_pass",
              r"\bput_and_return:|\bget_swap_device\(entry\);\s*if \(!si\)\s*continue;",
              "a neighbour's device is pinned all through its read"),
    Mechanism("BAD_SLOT_TWICE_REFUSED", ("mm/swapfile.c",), "swap_cluster_setup_bad_slot",
              r"\b__swap_table_xchg\b", "a bad slot named twice in the header is refused"),
    Mechanism("TYPE_TO_INFO", ("mm/swapfile.c",), None, r"\bswap_type_to_info\b",
              "an area's number leads to it through swap_type_to_info()"),
    Mechanism("DEFAULT_PRIO_COUNTS_DOWN", ("mm/swapfile.c",), None, r"\bleast_priority\b",
              "areas without a priority get a lower one each"),
    Mechanism("ZSWAP_DECOMPRESS_ERROR", ("mm/zswap.c",), "zswap_decompress",
              r"\bzswap_decompress_fail\b", "a zswap page that cannot be read is an I/O error"),
    Mechanism("ZSWAP_INCOMPRESSIBLE", ("mm/zswap.c",), None,
              r"\bzswap_stored_incompressible_pages\b",
              "zswap keeps pages that do not compress as they are"),
    Mechanism("WRITE_BATCHED", ("mm/page_io.c",), "swap_write_submit", r"\bops->submit_write\b",
              "neighbouring writes become one bio"),
    Mechanism("ROTATE_BY_FLAG", ("mm/swapfile.c",), None,
              r"if\s*\(\s*!\s*\(\s*\w+->flags\s*&\s*SWP_SOLIDSTATE\s*\)\s*\)\s*"
              r"atomic_dec\s*\(\s*&nr_rotate_swap",
              "swapoff asks its own flag whether the device was rotational"),
)

# Statics of the swap files that only an accessor can see, and calls of theirs that a
# seam stands at: API, found by name.
STATICS = {
    "VMA_ALLOC_FOLIO_HUGEPAGE": ("mm/swap_state.c",
                                 r"\bvma_alloc_folio\(\w+, 0, vma, addr, false\)"),
    "ALLOC_PAGE_VMA": ("mm/swap_state.c", r"\balloc_page_vma\("),
    "SWAP_VMA_RA_WIN": ("mm/swap_state.c", r"\bswap_vma_ra_win\b"),
    "ZSWAP_SHRINK_WORK": ("mm/zswap.c", r"\bzswap_shrink_work\b"),
    "ZSWAP_TREE_XARRAY": ("mm/zswap.c", r"\bxa_load\b"
                          r"|\bswap_zswap_tree\b"),
    "ZSWAP_ZPOOL": ("mm/zswap.c", r"\bstruct zpool\b"),
    "ZSWAP_HEADER": ("mm/zswap.c", r"\bstruct zswap_header\b"),
    "CSS_RSTAT_FLUSH": ("include/linux/cgroup.h", r"\bcss_rstat_flush\b"),
    "ZSWAP_EVER_ENABLED": ("mm/zswap.c", r"\bzswap_ever_enabled\b"),
    "SWAP_NR_ORDERS": ("include/linux/swap.h", r"\bSWAP_NR_ORDERS\b"),
}


def strip_comments(text: str) -> str:
    """C text without comments; line breaks stay."""
    return re.sub(r"/\*.*?\*/|//[^\n]*",
                  lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def function_body(text: str, name: str) -> str:
    """The body of the function(s) called `name` (a regular expression) in kernel-style C."""
    bodies = re.findall(rf"^[\w][^;{{}}#]*\b(?:{name})\s*\([^;{{}}]*\)\s*^\{{(.*?)^\}}",
                        text, flags=re.S | re.M)
    return "\n".join(bodies)


def real_file(srctree: Path, name: str) -> Path:
    """Where the tree's own `name` lies: beside our wrapper, or at its place."""
    path = srctree / name
    beside = path.with_name(f"{path.stem}_real{path.suffix}")
    return beside if beside.exists() else path


def find_mechanisms(srctree: Path, patched: Path | None = None) -> dict[str, bool]:
    """Name -> there or not, for each of MECHANISMS; patched copies of files are in patched."""
    texts: dict[str, str] = {}
    found = {}
    for mechanism in MECHANISMS:
        for name in mechanism.files:
            if name not in texts:
                path = real_file(srctree, name)
                if patched and (patched / name).exists():
                    path = patched / name
                texts[name] = (strip_comments(path.read_text(errors="replace"))
                               if path.exists() else "")
        where = "\n".join(texts[name] for name in mechanism.files)
        if mechanism.function:
            where = function_body(where, mechanism.function)
        found[mechanism.name] = bool(re.search(mechanism.pattern, where))
    return found


def questions() -> list[tuple[str, str]]:
    """(name, code) of each PROBE() in probe_questions.h."""
    text = (HERE / "probe_questions.h").read_text()
    parts = re.split(r"^PROBE\((\w+)\)", text, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2]))


def failing(compiler: list[str], source: Path, asked: list[tuple[str, str]]) -> set[str]:
    """The names of those questions that do not compile, asked together."""
    text = (HERE / "probe_api.c").read_text()
    for name, code in asked:
        text += f'\n#line 1 "probe:{name}"\n#define probe probe_{name}\n{code}\n#undef probe\n'
    source.write_text(text)
    limit = ["-ferror-limit=0"] if "clang" in compiler[0] else ["-fmax-errors=0"]
    run = subprocess.run(
        compiler + ["-Wno-missing-prototypes", "-Wno-missing-declarations", "-Wno-unused",
                    "-fsyntax-only", *limit, str(source)],
        capture_output=True, text=True)
    errors = re.findall(r"^(.*?):\d+:(?:\d+:)? (?:fatal )?error: .*$", run.stderr, flags=re.M)
    foreign = [e for e in errors if not e.startswith("probe:")]
    if foreign or (run.returncode and not errors):
        sys.stderr.write(run.stderr)
        sys.exit(f"{source}: the tree's own headers do not compile")
    return {e.removeprefix("probe:") for e in errors}


def ask_compiler(compiler: list[str], out: Path) -> dict[str, bool]:
    """Name -> compiles or not. Ends the program where nothing compiles at all.

    A compiler complains of an unknown function once and then takes it as
    declared: what is left is asked again until nothing fails.
    """
    asked = questions()
    good = asked
    while bad := failing(compiler, out.with_suffix(".probe.c"), good):
        good = [(name, code) for name, code in good if name not in bad]
    return {name: (name, code) in good for name, code in asked}


def read_depfile(depfile: Path) -> list[str]:
    """The files a compiler's -MD file names."""
    if not depfile.exists():
        return []
    _, _, names = depfile.read_text().replace("\\\n", " ").partition(":")
    return names.split()


def fingerprint(files: list[str], command: list[str]) -> str:
    """One hash over the command and over size and time of every file read."""
    digest = hashlib.sha1(repr(command).encode())
    for name in sorted(set(files)):
        try:
            stat = Path(name).stat()
            digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}".encode())
        except OSError:
            digest.update(f"{name} -".encode())
    return digest.hexdigest()


def header(api: dict[str, bool], mechanisms: dict[str, bool]) -> str:
    """The text of swap_api.h."""
    lines = ["/* Made by probe.py from the tree at hand. */",
             "#ifndef _SWAP_API_H", "#define _SWAP_API_H", ""]
    lines += [f"#define SWAP_API_{n} {int(v)}" for n, v in api.items()]
    lines.append("")
    lines += [f"#define SWAP_MECHANISM_{n} {int(v)}" for n, v in mechanisms.items()]
    lines += ["", "#define SWAP_MECHANISMS(X) \\"]
    lines += [f'\tX({m.name}, "{m.meaning}") \\' for m in MECHANISMS]
    return "\n".join(lines) + "\n\n#endif\n"


def watched(srctree: Path) -> list[str]:
    """The files that decide, besides the headers the compiler reads."""
    names = {name for m in MECHANISMS for name in m.files}
    files = [str(real_file(srctree, name)) for name in sorted(names)]
    return files + [str(HERE / n) for n in ("probe.py", "probe_api.c", "probe_questions.h")]


def make_header(args: argparse.Namespace) -> None:
    """Write args.out unless nothing that decides has changed."""
    out = Path(args.out)
    stamp = out.with_suffix(".probe.stamp")
    files = watched(Path(args.srctree))
    if out.exists() and stamp.exists():
        old = json.loads(stamp.read_text())
        if old["fingerprint"] == fingerprint(files + old["headers"], args.compiler):
            return
    print(f"  PROBE   {out}", flush=True)
    api = ask_compiler(args.compiler, out)
    for name, (file, pattern) in STATICS.items():
        path = real_file(Path(args.srctree), file)
        api[name] = bool(re.search(pattern, strip_comments(path.read_text(errors="replace"))))
    text = header(api, find_mechanisms(Path(args.srctree)))
    if not out.exists() or out.read_text() != text:
        out.write_text(text)
    headers = [n for n in read_depfile(Path(args.depfile)) if not n.endswith(".probe.c")]
    stamp.write_text(json.dumps({
        "headers": headers,
        "fingerprint": fingerprint(files + headers, args.compiler)}))


def main() -> None:
    """Entry of Kbuild's rule (--out ... -- CC FLAGS) and of a look at a tree (--presence)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--srctree", required=True, help="top of the kernel tree")
    parser.add_argument("--out", help="the header to write")
    parser.add_argument("--depfile", default="", help="where the compiler lists what it read")
    parser.add_argument("--presence", action="store_true",
                        help="print the mechanisms as JSON and write nothing")
    parser.add_argument("--patched", type=Path, help="directory with patched copies of some of its files")
    parser.add_argument("compiler", nargs="*", help="compiler and flags, after --")
    args = parser.parse_args()
    if args.presence:
        found = find_mechanisms(Path(args.srctree), args.patched)
        print(json.dumps([{"name": m.name, "there": found[m.name], "meaning": m.meaning}
                          for m in MECHANISMS], indent=1))
        return
    make_header(args)


if __name__ == "__main__":
    main()
