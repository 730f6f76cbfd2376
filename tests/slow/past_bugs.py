# SPDX-License-Identifier: GPL-2.0
"""Put real past bugs back into a scratch copy of a kernel: the suites must fail.

Each entry undoes one fix by an edit of a line or two, and gives what the verdict
must then show: the case, and the rule it names. Its name is the upstream title of
the fix. The last entries change a published policy; the suites must notice that,
too.

Slow (one incremental build each), so not part of `make test`:

    /usr/bin/python3 -m unittest tests.slow.past_bugs
"""
from __future__ import annotations

import re
import subprocess
import unittest
from dataclasses import dataclass
from pathlib import Path

from swapkunit.base import layout
from swapkunit.source import kernels

REPO = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class PastBug:
    """An edit of `file` (re.sub, in one place), and a pattern that the verdict must show."""

    name: str
    file: str
    pattern: str
    replacement: str
    red: str
    after: str = ""     # edit only after the first match of this


# A failure in the verdict: its case, then lines that are indented or name a place.
SHOWN = re.compile(r"^(?:failed|crashed) .*(?:\n(?: |\S+:\d+: ).*)*", re.M)
# The two conditions of the nonfull first policy: free clusters before the nonfull ones, and after them.
NONFULL_FIRST = r"(?s)if \(si->flags & SWP_PAGE_DISCARD\)(.*?)if \(!\(si->flags & SWP_PAGE_DISCARD\)\)"

NEWEST = (
    PastBug("mm: swap: add back full cluster when no entry is reclaimed", "mm/swapfile.c",
            r"if \(ci->flags == CLUSTER_FLAG_NONE\)\s*relocate_cluster\(si, ci\);", "",
            r"on the list its flag names", after=r"\nstatic void swap_reclaim_full_clusters"),
    PastBug("mm, swap: fix allocation and scanning race with swapoff", "mm/swapfile.c",
            r"if \(!\(si->flags & SWP_WRITEOK\)\)\s*return false;", "",
            r"failed +swap_\w+\.", after=r"\nstatic bool __swap_cluster_alloc_entries"),
    PastBug("mm: swap: fix potential buffer overflow in setup_clusters()", "mm/swapfile.c",
            r"if \(offset >= si->max && !mask\)", "if (0)", r"(failed|crashed) +swap_swapon\."),
    PastBug("mm: swap: move nr_swap_pages counter decrement from folio_alloc_swap() to swap_range_alloc()",
            "mm/swapfile.c",
            r"(?s)\n\tatomic_long_sub\(nr_entries, &nr_swap_pages\);(.*?\nint folio_alloc_swap\(.*?)"
            r"(\n\treturn 0;\n\})",
            r"\1\n\tatomic_long_sub(size, &nr_swap_pages);\2", r"nr_swap_pages is what"),
    PastBug("mm, swap: fix memory leak in setup_clusters() error path", "mm/swapfile.c",
            r"free_swap_cluster_info\(cluster_info, maxpages\);", "",
            r"failed +swap_swapon\.", after=r"\nstatic int setup_swap_clusters_info"),
    PastBug("mm, swap: use SWP_SOLIDSTATE to determine if swap is rotational", "mm/swapfile.c",
            r"if \(!\(p->flags & SWP_SOLIDSTATE\)\)(?=\s*atomic_dec\(&nr_rotate_swap\))",
            "if (!p->bdev || bdev_rot(p->bdev))", r"nr_rotate_swap"),
    PastBug("mm, swap: fix potential UAF issue for VMA readahead", "mm/swap_state.c",
            r"if \(swp_type\(entry\) != swp_type\(targ_entry\)\)", "if (0)",
            r"failed +swap_readahead_vma\."),
    PastBug("VMA readahead: the window reaches below address 0", "mm/swap_state.c",
            r"if \(\(long\)left < 0\)\s*left = 0;", "", r"failed +swap_readahead_vma\."),
    PastBug("mm: count zeromap read and set for swapout and swapin: swap-out", "mm/page_io.c",
            r"count_vm_events\(SWPOUT_ZERO, nr_pages\);", "", r"failed +swap_io\."),
    PastBug("mm: count zeromap read and set for swapout and swapin: swap-in, by cgroup", "mm/page_io.c",
            r"count_objcg_events\(objcg, SWPIN_ZERO, nr_pages\);", "",
            r"failed +swap_memcg\.zero_pages_are_counted_for_their_cgroup"),
    PastBug("mm: page_io: fix psi memory pressure error on cold swapins", "mm/page_io.c",
            r"bool workingset = folio_test_workingset\(folio\);", "bool workingset = true;",
            r"failed +swap_zswap\.load_is_a_stall_for_the_workingset"),
    PastBug("mm/zswap: invalidate duplicate entry when !zswap_enabled", "mm/zswap.c",
            r"if \(!zswap_enabled\)\s*goto check_old;", "if (!zswap_enabled)\n\t\treturn false;",
            r"failed +swap_zswap\.newer_copy_on_disk_wins",
            after=r"\nbool zswap_store"),
    PastBug("mm: fix zswap writeback race condition", "mm/zswap.c",
            r"if \(entry != xa_load\(tree, offset\)\)", "if (0)",
            r"(failed|crashed) +swap_zswap_writeback\.reused_slot_is_not_written_back"),
    PastBug("zswap: failing to decompress a page is a BUG()", "mm/zswap.c",
            r"if \(!zswap_decompress\(entry, folio\)\)",
            "BUG_ON(!zswap_decompress(entry, folio));\n\tif (0)",
            r"crashed +swap_zswap\.spoilt_page_is_a_bus_error", after=r"\nint zswap_load"),
    PastBug("swapin count: pages that zswap holds count, too", "mm/page_io.c",
            r"(?s)(if \(zswap_load\(folio\) != -ENOENT\).*?)zswap_folio_swapin\(folio\);",
            r"zswap_folio_swapin(folio);\n\t\1", r"rule: every folio read from the device counts"),
    PastBug("swapin count: a readahead window counts once", "mm/page_io.c",
            r"(?<=\n\t)zswap_folio_swapin\(folio\);", "if (!ctx->sio)\n\t\tzswap_folio_swapin(folio);",
            r"rule: every folio read from the device counts"),
    PastBug("nonfull first: also on a device that discards", "mm/swapfile.c",
            NONFULL_FIRST, r"if (0)\1if (1 || (si->flags & SWP_PAGE_DISCARD))",
            r"failed +swap_(alloc|discard)\w*\.", after=r"\nstatic unsigned long cluster_alloc_swap_entry"),
    PastBug("nonfull first: free clusters come first everywhere", "mm/swapfile.c",
            NONFULL_FIRST, r"if (1 || (si->flags & SWP_PAGE_DISCARD))\1if (0)",
            r"failed +swap_alloc\w*\.", after=r"\nstatic unsigned long cluster_alloc_swap_entry"),
)

CLUSTERS_OF_SSDS = (
    PastBug("mm, swap: avoid over reclaim of full clusters", "mm/swapfile.c",
            r"if \(force\)", "if (true)", r"failed +swap_alloc\.",
            after=r"\nstatic void swap_reclaim_full_clusters"),
    PastBug("mm: swapfile: fix cluster reclaim work crash on rotational devices", "mm/swapfile.c",
            r"if \(si->cluster_info && vm_swap_full\(\)\)", "if (vm_swap_full())",
            r"crashed +swap_alloc\.full_rotational_device_starts_no_worker"),
)

ORDERS = r"\nstatic unsigned long cluster_alloc_swap_entry"
LARGE_FOLIOS = (
    PastBug("mm, THP, swap: fix allocating cluster for swapfile by mistake", "mm/swapfile.c",
            r"if \(order && !\(si->flags & SWP_BLKDEV\)\)\s*return 0;", "",
            r"failed +swap_file\.large_folio_gets_no_slots"),
    PastBug("mm, swap: fix THP swap out", "mm/page_io.c",
            r"folio_size\(folio\), 0\);(\s*sio->len \+=) folio_size\(folio\);",
            r"PAGE_SIZE, 0);\1 PAGE_SIZE;", r"failed +swap_mthp\.folio_is_written_by_one_bio"),
    PastBug("nonfull first: free clusters come first for large folios", "mm/swapfile.c",
            NONFULL_FIRST, r"if (1 || (si->flags & SWP_PAGE_DISCARD))\1if (0)",
            r"failed +swap_mthp_alloc\.drain_takes_nonfull_or_free", after=ORDERS),
    PastBug("nonfull first: two frag clusters are scanned", "mm/swapfile.c",
            r"alloc_swap_scan_list\(si, &si->frag_clusters\[order\], folio, false\);",
            r"\g<0>\n\t\tif (!found)\n\t\t\tfound = \g<0>",
            r"failed +swap_mthp_alloc\.one_frag_cluster_is_scanned", after=ORDERS),
    PastBug("nonfull first: order 0 steals from the largest order first", "mm/swapfile.c",
            r"for \(int o = 1; o < SWAP_NR_ORDERS; o\+\+\)",
            "for (int o = SWAP_NR_ORDERS - 1; o > 0; o--)",
            r"failed +swap_mthp_alloc\.order_0_takes_from_larger_orders", after=ORDERS),
    PastBug("large folios lie anywhere in a cluster", "mm/swapfile.c",
            r"offset <= end; offset \+= nr_pages\)", "offset <= end; offset++)",
            r"failed +swap_mthp_alloc\.slots_are_aligned_to_the_folio_size",
            after=r"\nstatic unsigned int alloc_swap_scan_cluster"),
)


def edit(text: str, bug: PastBug) -> str:
    """text with the bug in it. Raises AssertionError if the place is not found."""
    start = 0
    if bug.after:
        place = re.search(bug.after, text)
        assert place, f"{bug.name}: {bug.after} is not in {bug.file}"
        start = place.end()
    edited, times = re.subn(bug.pattern, bug.replacement, text[start:], count=1)
    assert times == 1, f"{bug.name}: {bug.pattern} is not in {bug.file}"
    return text[:start] + edited


class Scratch:
    """A copy of a kernel tree made of links, in which one file at a time is edited."""

    def __init__(self, series: str):
        self.kernel = kernels.provide(series)
        self.out = layout.REPO / "out" / "past-bugs" / self.kernel.version
        self.tree = self.out.parent / f"{self.kernel.version}-source"
        if not self.tree.exists():
            self.out.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-rs", self.kernel.path, self.tree], check=True)

    def write(self, file: str, text: str) -> None:
        """Replace the link to file by a file with this text, newer than any object."""
        path = self.tree / file
        path.unlink()
        path.write_text(text)

    def original(self, file: str) -> str:
        """The text of file as the kernel ships it."""
        return (self.kernel.path / file).read_text()

    def run(self, config: str) -> subprocess.CompletedProcess[str]:
        """Run all suites on the scratch tree; each config has its own output directory."""
        options = ["--config", config] if config else []
        return subprocess.run([REPO / "swap-kunit", "run", "--ksrc", self.tree, *options, "-q",
                               "--out", self.out.with_name(f"{self.out.name}{config}")],
                              capture_output=True, text=True, errors="replace", check=False)


class PastBugs(unittest.TestCase):
    """The suites fail for every bug and name the rule."""

    def check(self, series: str, bugs: tuple[PastBug, ...], config: str = "") -> None:
        """Put each bug, one at a time, back into the kernel of this series."""
        scratch = Scratch(series)
        for bug in bugs:
            with self.subTest(bug=bug.name):
                original = scratch.original(bug.file)
                scratch.write(bug.file, edit(original, bug))
                try:
                    done = scratch.run(config)
                finally:
                    scratch.write(bug.file, original)
                shown = SHOWN.findall(done.stdout)
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
        """On 6.12, where rotational areas have no clusters."""
        self.check("6.12", CLUSTERS_OF_SSDS)


if __name__ == "__main__":
    unittest.main()
