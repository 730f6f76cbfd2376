# SPDX-License-Identifier: GPL-2.0
"""Mechanisms by their place of use: never the other rule because of a name, never two that exclude each other."""
from __future__ import annotations

import importlib
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.source import kernels

from .support import REPO, Scratch, write

with mock.patch.object(sys, "path", [str(REPO / "kunit"), *sys.path]):
    mechanisms = importlib.import_module("mechanisms")
    probe = importlib.import_module("probe")

BY_NAME = {entry.name: entry for entry in mechanisms.MECHANISMS}

ALLOCATOR = """
static void take(struct swap_cluster_info *ci)
{{
	{take}
}}

static unsigned int alloc_swap_scan_cluster(struct swap_cluster_info *ci)
{{
	unsigned long end = min(start + SIZE, {end});

	take(ci);
}}

static unsigned long cluster_alloc_swap_entry(struct swap_info_struct *si, int order)
{{
	{body}
}}
"""
NONFULL_FIRST = """if (si->flags & SWP_PAGE_DISCARD)
		scan(si, &si->free_clusters, order, false);
	scan(si, &si->nonfull_clusters[order], order, true);
	if (!(si->flags & SWP_PAGE_DISCARD))
		scan(si, &si->free_clusters, order, false);
	scan(si, &si->frag_clusters[order], order, false);"""
FREE_FIRST = """if (!list_empty(&si->free_clusters) && !(si->flags & SWP_PAGE_DISCARD))
		scan(si, &si->free_clusters);
	while (!list_empty(&si->nonfull_clusters[order]))
		scan(si, &si->nonfull_clusters[order]);
	while (frags < si->frag_cluster_nr[order])
		scan(si, &si->frag_clusters[order]);"""

DO_SWAP_PAGE = """
vm_fault_t do_swap_page(struct vm_fault *vmf)
{{
	if (data_race(si->flags & SWP_SYNCHRONOUS_IO)) {{
		{body}
	}}
}}
"""
ZSWAP_LOAD = """
bool zswap_load(struct folio *folio)
{{
	{body}
}}
"""


def found(name: str, code: str) -> bool | None:
    """What is found of a mechanism in the text of its files."""
    answer: bool | None = BY_NAME[name].found(code)
    return answer


def allocator(body: str = NONFULL_FIRST, take: str = "move(ci, &si->frag_clusters[ci->order]);",
              end: str = "si->max") -> str:
    """mm/swapfile.c of a miniature allocator."""
    return ALLOCATOR.format(body=body, take=take, end=end)


class ByPlaceOfUse(unittest.TestCase):
    """Small sources of either rule, and of neither."""

    def test_nonfull_or_free_first(self) -> None:
        self.assertIs(found("NONFULL_FIRST", allocator()), True)
        everywhere = re.sub(r"if \(si->flags.*\n.*\n", "", allocator())
        self.assertIs(found("NONFULL_FIRST", everywhere.replace("if (!(si->flags & SWP_PAGE_DISCARD))", "")), True)
        self.assertIs(found("NONFULL_FIRST", allocator(FREE_FIRST)), False)
        self.assertIsNone(found("NONFULL_FIRST", allocator("scan_lists(si);")))
        self.assertIsNone(found("NONFULL_FIRST", allocator().replace("cluster_alloc_swap_entry", "alloc_entry")))
        self.assertIs(found("NONFULL_FIRST", "int scan_swap_map;"), False)

    def test_frag_clusters(self) -> None:
        self.assertEqual([found("FRAG_SCAN_ALL", allocator(body)) for body in (FREE_FIRST, NONFULL_FIRST)],
                         [True, False])
        self.assertIsNone(found("FRAG_SCAN_ALL", allocator(FREE_FIRST.replace("frag_cluster_nr", "nr_frags"))))
        self.assertIs(found("FRAG_WHEN_TAKEN", allocator()), True)
        old = allocator(FREE_FIRST, "si->frag_cluster_nr[ci->order]--;\n\tmove(ci, &si->full_clusters);")
        self.assertIs(found("FRAG_WHEN_TAKEN", old), False)
        self.assertIsNone(found("FRAG_WHEN_TAKEN", allocator(take="move(ci, part_list(si));")))

    def test_end_of_the_search(self) -> None:
        self.assertIs(found("SEARCH_ENDS_WITH_AREA", allocator()), True)
        self.assertIs(found("SEARCH_ENDS_WITH_AREA", allocator(end="start + SIZE")), False)
        self.assertIsNone(found("SEARCH_ENDS_WITH_AREA", allocator().replace("alloc_swap_scan_cluster", "scan_it")))

    def test_table_of_counts(self) -> None:
        self.assertIs(found("COUNT_TABLE_FREED", "struct swap_cluster_info {\n\tunsigned int *extend_table;\n};"), True)
        self.assertIs(found("COUNT_TABLE_FREED", "struct swap_cluster_info *ci;\nswap_count_continued(si);"), False)
        self.assertIsNone(found("COUNT_TABLE_FREED", "struct swap_cluster_info {\n\tunsigned int *large;\n};"))

    def test_swapin_of_a_synchronous_device(self) -> None:
        bodies = {"folio = alloc_swap_folio(vmf);": (False, True),
                  "folio = alloc_swap_folio(vmf);\n\t\tfolio = swapin_folio(entry, folio);": (True, False),
                  "folio = swapin_sync(entry, vmf);": (True, False),
                  "folio = read_it(entry, vmf);": (None, None)}
        for body, answers in bodies.items():
            code = DO_SWAP_PAGE.format(body=body)
            self.assertEqual((found("SYNC_SWAPIN_CACHED", code), found("SYNC_SWAPIN_BYPASS", code)), answers, body)

    def test_exclusive_loads_by_a_parameter(self) -> None:
        for body, there in {"if (zswap_exclusive_loads_enabled)\n\t\tfolio_mark_dirty(folio);": False,
                            "if (entry)\n\t\tfolio_mark_dirty(folio);": True,
                            "zswap_entry_put(entry);": False}.items():
            self.assertIs(found("ZSWAP_LOAD_ERASES", ZSWAP_LOAD.format(body=body)), there, body)

    def test_lookup_that_counts_hits(self) -> None:
        lookup = "struct folio *swap_cache_get_folio(swp_entry_t entry)\n{\n\t%s\n\treturn folio;\n}\n"
        self.assertIs(found("HITS_TOLD_BY_CALLER", lookup % "atomic_inc(&swapin_readahead_hits);"), False)
        self.assertIs(found("HITS_TOLD_BY_CALLER", lookup % ""), True)


class Exclusive(Scratch):
    """Of mechanisms that exclude each other."""

    def test_both_found_is_neither_known(self) -> None:
        for pair in mechanisms.EXCLUSIVE:
            self.assertLessEqual(set(pair), set(BY_NAME))
        tree = self.top / "linux"
        write(tree / "mm/page_io.c", "zswap_folio_swapin(folio);")
        self.assertIs(mechanisms.find(tree)["ZSWAP_SWAPIN_COUNT"], True)
        write(tree / "mm/swap_state.c", "zswap_folio_swapin(folio);")
        both = mechanisms.find(tree)
        self.assertEqual([both[name] for name in ("ZSWAP_SWAPIN_COUNT", "ZSWAP_PIVOT_COUNT")], [None, None])


SHAPES = {
    "CLUSTER_ALLOC_LOCKED": (
        "long cluster_alloc_swap_entry(struct swap_info_struct *si)\n{\n\tint a;\n\tlockdep_assert_held(&si->lock);\n}",
        "long cluster_alloc_swap_entry(struct swap_info_struct *si)\n{\n\tlocal_lock(&si->percpu_cluster->lock);\n}\n"
        "void other(void)\n{\n\tlockdep_assert_held(&si->lock);\n}"),
    "CLUSTER_ALLOC_USAGE": (
        "long cluster_alloc_swap_entry(struct swap_info_struct *si, int order,\n\t\tunsigned char usage)\n{",
        "long cluster_alloc_swap_entry(struct swap_info_struct *si, struct folio *folio)\n{"),
    "PERCPU_SWAP_CLUSTER": ("local_lock(&percpu_swap_cluster.lock);", "local_lock(&si->percpu_cluster->lock);"),
    "RECLAIM_FULL_LOCKED": ("spin_lock(&si->lock);\n\tswap_reclaim_full_clusters(si, true);",
                            "spin_unlock(&si->lock);\n\tswap_reclaim_full_clusters(si, true);"),
    "SWAP_CACHE_ADD_IN_CLUSTER": ("__swap_cache_add_folio(ci, folio, swp_entry(si->type, offset));",
                                  "__swap_cache_insert(ci, folio, entry);"),
    "SWAP_CACHE_ADD_SHADOW": ("swap_cache_add_folio(folio, entry, NULL);", "swap_cache_add_folio(folio, entry);"),
    "ZSWAP_CALLED": ("if (zswap_store(folio))\n\t\treturn;\n\tif (zswap_load(folio))", "if (zswap_store(folio))"),
    "ZSWAP_ZPOOLS": ("zpool = zswap_find_zpool(entry);", "zpool = entry->pool->zpool;"),
    "ZSWAP_POOL_SHRINKER": ("pool->shrinker->seeks = DEFAULT_SEEKS;", "zswap_shrinker->seeks = DEFAULT_SEEKS;"),
    "ZSWAP_POOL_LRU": ("list_lru_walk_one(&pool->list_lru, nid,", "list_lru_walk_one(&zswap_list_lru, nid,"),
    "ZSWAP_POOL_NEXT_SHRINK": ("pool->next_shrink = NULL;", "zswap_next_shrink = NULL;"),
    "ZSWAP_TOTAL_PAGES": ("cur_pages = zswap_total_pages();", "zswap_pool_total_size = total;"),
    "ZSWAP_RECLAIM_ENTRY": ("ret = zswap_reclaim_entry(pool);", "ret = zpool_shrink(pool->zpool, 1, NULL);"),
}


class Shapes(unittest.TestCase):
    """Statics and calls that the probe looks up in the source, by their place of use."""

    def test_one_shape_and_another(self) -> None:
        for name, (mine, another) in SHAPES.items():
            _, pattern = probe.STATICS[name]
            self.assertEqual([bool(re.search(pattern, code)) for code in (mine, another)], [True, False], name)


class Renamed(unittest.TestCase):
    """A name that only one file knows may change without notice: that must not switch a rule."""

    def test_kernels_of_this_machine(self) -> None:
        newest = {entry.debian_version.split(".")[0:2][0] + entry.debian_version.split(".")[1]: entry.kernel().path
                  for entry in kernels.cached()}
        if not newest:
            self.skipTest("no kernel was fetched on this machine")
        for path in newest.values():
            self.check(path)

    def check(self, path: Path) -> None:
        """Rename each static name of each mechanism of a kernel."""
        texts = {name: mechanisms.code_of(path / name)
                 for entry in mechanisms.MECHANISMS for name in entry.files.split()}
        headers = "\n".join(mechanisms.code_of(header) for directory in ("mm", "include/linux", "include/crypto")
                            for header in sorted((path / directory).glob("*.h")))
        known = set(re.findall(r"\w+", headers))
        for entry in mechanisms.MECHANISMS:
            code = "\n".join(texts[name] for name in entry.files.split())
            there = entry.found(code)
            words = set(re.findall(r"(?<!\\)\b[a-zA-Z]\w{4,}", re.sub(r'"[^"]*"', "", entry.pattern) + " "
                                   + entry.function)) & set(re.findall(r"\w+", code)) - known
            for word in words:
                renamed = re.sub(rf"\b{word}\b", f"other_{word[::-1]}", code)
                with self.subTest(word):
                    self.assertIn(entry.found(renamed), (there, None), f"{path.name}: {entry.name}: {word} renamed")


if __name__ == "__main__":
    unittest.main()
