# SPDX-License-Identifier: GPL-2.0
"""Put real past bugs back into a scratch copy of a kernel: the suites must go red.

Each entry undoes one fix by an edit of a line or two, and says what the verdict
must then show: the case, and the rule it names. The last ones are no bugs but
changes of a published policy, which must not pass unseen either.

Slow (one incremental build each), so not among the tests of `make test`:

    /usr/bin/python3 -m unittest tests.slow.past_bugs
"""
from __future__ import annotations

import re
import subprocess
import unittest
from dataclasses import dataclass
from pathlib import Path

from swapkunit.base import layout
from swapkunit.source import kernels as source

REPO = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class PastBug:
    """An edit (re.sub, in one place) of `file`, and a pattern its verdict must show."""

    name: str
    file: str
    pattern: str
    replacement: str
    red: str
    after: str = ""     # the edit is made after the first match of this


# Free clusters before the nonfull ones, then after them: one condition each.
P3 = r"(?s)if \(si->flags & SWP_PAGE_DISCARD\)(.*?)if \(!\(si->flags & SWP_PAGE_DISCARD\)\)"

NEWEST = (
    PastBug("A10 full cluster is on no list after a reclaim that freed nothing", "mm/swapfile.c",
            r"if \(ci->flags == CLUSTER_FLAG_NONE\)\s*relocate_cluster\(si, ci\);", "",
            r"on the list its flag names", after=r"\nstatic void swap_reclaim_full_clusters"),
    PastBug("A14 allocation from an area on its way out", "mm/swapfile.c",
            r"if \(!\(si->flags & SWP_WRITEOK\)\)\s*return false;", "",
            r"failed +swap_\w+\.", after=r"\nstatic bool __swap_cluster_alloc_entries"),
    PastBug("A18 bad slot past the end of a shrunk area", "mm/swapfile.c",
            r"if \(offset >= si->max && !mask\)", "if (0)", r"(failed|crashed) +swap_swapon\."),
    PastBug("A19 failed charge leaves nr_swap_pages too high", "mm/swapfile.c",
            r"(?s)\n\tatomic_long_sub\(nr_entries, &nr_swap_pages\);(.*?\nint folio_alloc_swap\(.*?)"
            r"(\n\treturn 0;\n\})",
            r"\1\n\tatomic_long_sub(size, &nr_swap_pages);\2", r"nr_swap_pages is what"),
    PastBug("A22 refused swapon leaks its clusters", "mm/swapfile.c",
            r"free_swap_cluster_info\(cluster_info, maxpages\);", "",
            r"failed +swap_swapon\.", after=r"\nstatic int setup_swap_clusters_info"),
    PastBug("A23 swapoff asks the queue again whether it rotates", "mm/swapfile.c",
            r"if \(!\(p->flags & SWP_SOLIDSTATE\)\)(?=\s*atomic_dec\(&nr_rotate_swap\))",
            "if (!p->bdev || bdev_rot(p->bdev))", r"nr_rotate_swap"),
    PastBug("A41 readahead reads from an area that nobody pins", "mm/swap_state.c",
            r"if \(swp_type\(entry\) != swp_type\(targ_entry\)\)", "if (0)",
            r"failed +swap_readahead_vma\."),
    PastBug("A55 window below address 0", "mm/swap_state.c",
            r"if \(\(long\)left < 0\)\s*left = 0;", "", r"failed +swap_readahead_vma\."),
    PastBug("A59 zero pages going out are not counted", "mm/page_io.c",
            r"count_vm_events\(SWPOUT_ZERO, nr_pages\);", "", r"failed +swap_io\."),
    PastBug("A59 zero pages coming in are not counted for their cgroup", "mm/page_io.c",
            r"count_objcg_events\(objcg, SWPIN_ZERO, nr_pages\);", "",
            r"failed +swap_memcg\.cgroup_counts_its_zero_pages"),
    PastBug("A60 every read is a memory stall", "mm/page_io.c",
            r"bool workingset = folio_test_workingset\(folio\);", "bool workingset = true;",
            r"failed +swap_zswap\.load_is_a_stall_for_the_workingset"),
    PastBug("A62 old copy left in the pool once zswap is off", "mm/zswap.c",
            r"if \(!zswap_enabled\)\s*goto check_old;", "if (!zswap_enabled)\n\t\treturn false;",
            r"failed +swap_zswap\.newer_copy_on_disk_wins",
            after=r"\nbool zswap_store"),
    PastBug("A65 a slot's old page written back over its new one", "mm/zswap.c",
            r"if \(entry != xa_load\(tree, offset\)\)", "if (0)",
            r"(failed|crashed) +swap_zswap_writeback\.reused_slot_is_not_written_back"),
    PastBug("A72 a page that cannot be decompressed is a BUG()", "mm/zswap.c",
            r"if \(!zswap_decompress\(entry, folio\)\)",
            "BUG_ON(!zswap_decompress(entry, folio));\n\tif (0)",
            r"crashed +swap_zswap\.spoilt_page_is_a_bus_error", after=r"\nint zswap_load"),
    PastBug("P2 what the pool serves counts as a read", "mm/page_io.c",
            r"(?s)(if \(zswap_load\(folio\) != -ENOENT\).*?)zswap_folio_swapin\(folio\);",
            r"zswap_folio_swapin(folio);\n\t\1", r"rule: every folio read from the device counts"),
    PastBug("P2 the readers of a window count but once", "mm/page_io.c",
            r"(?<=\n\t)zswap_folio_swapin\(folio\);", "if (!ctx->sio)\n\t\tzswap_folio_swapin(folio);",
            r"rule: every folio read from the device counts"),
    PastBug("P3 a discarding area takes nonfull clusters first", "mm/swapfile.c",
            P3, r"if (0)\1if (1 || (si->flags & SWP_PAGE_DISCARD))",
            r"failed +swap_(alloc|discard)\w*\.", after=r"\nstatic unsigned long cluster_alloc_swap_entry"),
    PastBug("P3 other areas take free clusters first", "mm/swapfile.c",
            P3, r"if (1 || (si->flags & SWP_PAGE_DISCARD))\1if (0)",
            r"failed +swap_alloc\w*\.", after=r"\nstatic unsigned long cluster_alloc_swap_entry"),
)

CLUSTERS_OF_SSDS = (
    PastBug("A12 one allocation reclaims all full clusters", "mm/swapfile.c",
            r"if \(force\)", "if (true)", r"failed +swap_alloc\.",
            after=r"\nstatic void swap_reclaim_full_clusters"),
    PastBug("A13 reclaim work on a rotational area", "mm/swapfile.c",
            r"if \(si->cluster_info && vm_swap_full\(\)\)", "if (vm_swap_full())",
            r"swap_\w+\.[\w\[\]+ ]+.*\n?.*crashed"),
)

ORDERS = r"\nstatic unsigned long cluster_alloc_swap_entry"
LARGE_FOLIOS = (
    PastBug("A29 a large folio gets slots of a swap file, wherever they lie", "mm/swapfile.c",
            r"if \(order && !\(si->flags & SWP_BLKDEV\)\)\s*return 0;", "",
            r"failed +swap_file\.large_folio_gets_no_slots"),
    PastBug("A57 the bio of a large folio has its first page alone", "mm/page_io.c",
            r"folio_size\(folio\), 0\);(\s*sio->len \+=) folio_size\(folio\);",
            r"PAGE_SIZE, 0);\1 PAGE_SIZE;", r"failed +swap_mthp\.large_folio_is_one_bio"),
    PastBug("P3 free clusters first, for large folios too", "mm/swapfile.c",
            P3, r"if (1 || (si->flags & SWP_PAGE_DISCARD))\1if (0)",
            r"failed +swap_mthp_alloc\.drain_takes_nonfull_or_free", after=ORDERS),
    PastBug("P3 two frag clusters are scanned", "mm/swapfile.c",
            r"alloc_swap_scan_list\(si, &si->frag_clusters\[order\], folio, false\);",
            r"\g<0>\n\t\tif (!found)\n\t\t\tfound = \g<0>",
            r"failed +swap_mthp_alloc\.one_frag_cluster_is_scanned", after=ORDERS),
    PastBug("P3 order 0 takes from the largest order first", "mm/swapfile.c",
            r"for \(int o = 1; o < SWAP_NR_ORDERS; o\+\+\)",
            "for (int o = SWAP_NR_ORDERS - 1; o > 0; o--)",
            r"failed +swap_mthp_alloc\.order_0_takes_from_larger_orders", after=ORDERS),
    PastBug("large folios lie anywhere in a cluster", "mm/swapfile.c",
            r"offset <= end; offset \+= nr_pages\)", "offset <= end; offset++)",
            r"failed +swap_mthp_alloc\.slots_are_aligned",
            after=r"\nstatic unsigned int alloc_swap_scan_cluster"),
)


def edit(text: str, bug: PastBug) -> str:
    """text with the bug in it. Raises AssertionError where the place is not found."""
    start = 0
    if bug.after:
        place = re.search(bug.after, text)
        assert place, f"{bug.name}: {bug.after} is not in {bug.file}"
        start = place.end()
    edited, times = re.subn(bug.pattern, bug.replacement, text[start:], count=1)
    assert times == 1, f"{bug.name}: {bug.pattern} is not in {bug.file}"
    return text[:start] + edited


class Scratch:
    """A copy of a kernel tree, made of links, in which one file at a time is another."""

    def __init__(self, series: str):
        self.kernel = source.provide(series)
        self.out = layout.REPO / "out" / "past-bugs" / self.kernel.version
        self.tree = self.out.parent / f"{self.kernel.version}-source"
        if not self.tree.exists():
            self.out.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-rs", self.kernel.path, self.tree], check=True)

    def write(self, file: str, text: str) -> None:
        """Make file a real one with this text, newer than any object."""
        path = self.tree / file
        path.unlink()
        path.write_text(text)

    def original(self, file: str) -> str:
        """The text the kernel comes with."""
        return (self.kernel.path / file).read_text()

    def run(self, config: str) -> subprocess.CompletedProcess[str]:
        """All suites on the scratch tree; each config has an output directory of its own."""
        options = ["--config", config] if config else []
        return subprocess.run([REPO / "swap-kunit", "run", "--ksrc", self.tree, *options, "-q",
                               "--out", self.out.with_name(f"{self.out.name}{config}")],
                              capture_output=True, text=True, errors="replace", check=False)


class PastBugs(unittest.TestCase):
    """The suites are red for every bug, and name the rule."""

    def check(self, series: str, bugs: tuple[PastBug, ...], config: str = "") -> None:
        """Each bug alone, put back into the kernel of this series."""
        scratch = Scratch(series)
        for bug in bugs:
            with self.subTest(bug=bug.name):
                original = scratch.original(bug.file)
                scratch.write(bug.file, edit(original, bug))
                try:
                    done = scratch.run(config)
                finally:
                    scratch.write(bug.file, original)
                shown = re.findall(r"(?m)^(?:failed|crashed).*(?:\n +.*)*", done.stdout)
                print(f"\n== {bug.name}\n" + "\n".join(text[:700] for text in shown[:3]), flush=True)
                self.assertEqual(done.returncode, 1, done.stdout[-2000:] + done.stderr[-2000:])
                self.assertRegex("\n".join(shown), bug.red)

    def test_newest(self) -> None:
        """On the newest 7.x."""
        self.check("7", NEWEST)

    def test_newest_with_large_folios(self) -> None:
        """On the newest 7.x, with CONFIG=thp."""
        self.check("7", LARGE_FOLIOS, "thp")

    def test_6_12(self) -> None:
        """On 6.12, whose rotational areas have no clusters."""
        self.check("6.12", CLUSTERS_OF_SSDS)


if __name__ == "__main__":
    unittest.main()
