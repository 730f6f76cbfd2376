# SPDX-License-Identifier: GPL-2.0
"""Mechanisms: what the probe finds, and what a known kernel must have."""
from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.run import mechanisms as presence
from swapkunit.source import kernels as source
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel

from .support import REPO, Scratch, make_kernel, write

# The machine's own cache; a test's is empty.
NEWEST = [entry for entry in source.cached() if entry.debian_version.startswith("7.")]

FREE_FIRST = """--- a/mm/swapfile.c
+++ b/mm/swapfile.c
@@ -1,5 +1,5 @@
 int cluster_alloc_swap_entry(void)
 {
-\treturn nonfull_clusters[order] ?: &si->free_clusters;
+\treturn free_clusters ?: nonfull_clusters ?: frag_cluster_nr;
 }
 int frag_clusters;
"""

CLUSTERS = ("int cluster_alloc_swap_entry(void)\n{\n\treturn nonfull_clusters[order] ?: &si->free_clusters;\n}\n"
            "int frag_clusters;\n")


class Presence(Scratch):
    """On a miniature kernel with two mechanisms."""

    def setUp(self) -> None:
        super().setUp()
        self.tree = make_kernel(self.top / "linux", **{"mm/swapfile.c": CLUSTERS})
        self.fetched = Kernel(self.tree, "7.3.4", "Debian package", False)

    def known(self, **mechanisms: list[str]) -> object:
        """Replace kernels.toml by these mechanisms; s7 is series 7."""
        by_series = {name[1:].replace("_", "."): names for name, names in mechanisms.items()}
        return mock.patch("swapkunit.source.kernels.known_kernels",
                          return_value=source.Known("7", [], {}, by_series))

    def test_table(self) -> None:
        done = self.program("presence", "--ksrc", self.tree)
        self.assertEqual(done.status, 0, done.output)
        lines = done.output.splitlines()
        self.assertEqual(lines[0], f"Linux 7.3.4, given directory {self.tree}")
        marks = {line.split()[0]: line.split()[1] for line in lines[3:]}
        self.assertEqual({name for name, mark in marks.items() if mark == "yes"},
                         {"CLUSTER_ALLOCATOR", "NONFULL_FIRST"})
        self.assertEqual(marks["SLOT_CACHE"], "-")
        self.assertEqual(marks["CPU_HINT_SHARED"], "unknown")
        self.assertIn("nonfull clusters come before free ones", done.output)
        self.assertFalse((self.tree / "mm/kunit").exists())

    def test_json(self) -> None:
        done = subprocess.run(["make", "-C", REPO, "-s", "presence", f"KSRC={self.tree}", "JSON=1"],
                              capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        self.assertEqual(told["kernel"], "7.3.4")
        there = {entry["name"] for entry in told["mechanisms"] if entry["there"]}
        self.assertEqual(there, {"CLUSTER_ALLOCATOR", "NONFULL_FIRST"})

    def test_what_a_policy_adds_and_removes(self) -> None:
        write(self.top / "policies/other-1-way.patch", FREE_FIRST)
        with self.known(s7=["NONFULL_FIRST"]), mock.patch.object(presence, "POLICIES", self.top / "policies"):
            found = {entry.name: entry for entry in presence.find(self.fetched, ["other"])}
            with self.assertRaisesRegex(SwapKunitError, "no policy 'none'"):
                presence.find(self.fetched, ["none"])
        self.assertEqual({name: entry.mark() for name, entry in found.items() if entry.by_policy},
                         {"NONFULL_FIRST": "removed", "FRAG_SCAN_ALL": "added"})
        self.assertFalse(found["NONFULL_FIRST"].missing)
        self.assertEqual(found["CLUSTER_ALLOCATOR"].mark(), "yes")
        lines = presence.table(list(found.values())).splitlines()
        self.assertEqual({line.split()[0] for line in lines[1:3]}, {"NONFULL_FIRST", "FRAG_SCAN_ALL"})

    def test_our_policies_are_seen_in_the_newest_kernel(self) -> None:
        if not NEWEST:
            self.skipTest("no kernel 7.x was fetched on this machine")
        kernel = NEWEST[0].kernel()
        for policy, changed in {"congestion": {"CONGESTION_CHECK": True}, "free-first": {"NONFULL_FIRST": False},
                                "pivot-count": {"ZSWAP_SWAPIN_COUNT": False, "ZSWAP_PIVOT_COUNT": True},
                                "sync-bypass": {"SYNC_READAHEAD_DEFERRED": True, "SYNC_READAHEAD_BYPASS": True},
                                "congestion,free-first,sync-bypass": {
                                    "CONGESTION_CHECK": True, "NONFULL_FIRST": False,
                                    "SYNC_READAHEAD_DEFERRED": True, "SYNC_READAHEAD_BYPASS": True}}.items():
            found = presence.find(kernel, policy.split(","))
            self.assertEqual({entry.name: entry.there for entry in found if entry.by_policy}, changed, policy)

    def test_policies_on_the_command_line(self) -> None:
        done = self.program("presence", "--ksrc", self.tree, "--policy", "none")
        self.assertEqual(done.status, 2)
        self.assertIn("no policy 'none'", done.output)
        done = self.program("presence", "--ksrc", self.tree, "--policy", "free-first")
        self.assertEqual(done.status, 2)
        self.assertIn("cannot apply free-first-1", done.output)

    def test_wrong_use(self) -> None:
        done = self.program("presence", "--ksrc", self.top)
        self.assertEqual(done.status, 2)
        self.assertIn("not a kernel tree", done.output)
        self.assertEqual(self.program("presence", "--ksrc", self.tree, "--kernel", "7").status, 2)

    def test_missing_one_fails_a_known_kernel(self) -> None:
        with self.known(s7=["NONFULL_FIRST", "SLOT_CACHE"]):
            tests = presence.missing_tests(self.fetched)
        self.assertEqual([(test.name, test.status) for test in tests], [("mechanism.SLOT_CACHE", "failed")])
        self.assertIn("the probe does not find it in Linux 7.3.4: each CPU allocates", tests[0].text[0])
        with self.known(s7=["NONFULL_FIRST"]):
            self.assertEqual(presence.missing_tests(self.fetched), [])

    def test_verdict_of_a_fetched_kernel_names_what_is_missing(self) -> None:
        make_kernel(self.top / "cache/kernels/linux-source-7.3_7.3.4-1", **{"mm/swapfile.c": CLUSTERS})
        done = self.program("run", "--kernel", "7.3", "--out", self.top / "out")
        lines = done.output.splitlines()
        lacking = len(source.known_kernels().mechanisms["7"]) - 2
        self.assertEqual((done.status, lines[-1]), (1, f"1 passed, {lacking} failed, 0 skipped"), done.output)
        self.assertIn("failed     mechanism.SWAP_TABLE", lines)
        self.assertNotIn("mechanism.NONFULL_FIRST", done.output)
        self.assertIn('name="SWAP_TABLE"', (self.top / "out/junit.xml").read_text())
        done = self.program("presence", "--kernel", "7.3")
        self.assertEqual(done.status, 1)
        self.assertRegex(done.output, r"SWAP_TABLE +MISSING")
        given = self.program("run", "--ksrc", self.tree, "--out", self.top / "out2")
        self.assertEqual((given.status, given.output.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_given_trees_and_other_series_are_free(self) -> None:
        given = Kernel(self.tree, "7.3.4", "given directory", True)
        with self.known(s7=["SLOT_CACHE"], s6_12=["SLOT_CACHE"]):
            self.assertEqual(presence.missing_tests(given), [])
            self.assertEqual(presence.missing_tests(Kernel(self.tree, "6.18.1", "", False)), [])
            self.assertEqual(len(presence.missing_tests(Kernel(self.tree, "6.12.1", "", False))), 1)

    def test_name_the_probe_does_not_know(self) -> None:
        with self.known(s7=["NO_SUCH"]), self.assertRaisesRegex(SwapKunitError, "NO_SUCH"):
            presence.find(self.fetched)

    def test_probe_that_fails(self) -> None:
        with mock.patch.object(presence, "PROBE", Path("/nowhere.py")), \
                contextlib.redirect_stderr(io.StringIO()), \
                self.assertRaisesRegex(SwapKunitError, "failed as shown above"):
            presence.find(self.fetched)

    def test_every_listed_mechanism_is_one_the_probe_knows(self) -> None:
        known = {entry.name for entry in presence.find(Kernel(self.tree, "1.0", "", True))}
        listed = source.known_kernels().mechanisms
        self.assertEqual(list(listed), ["7", "7.2", "6.12", "6.1", "5.10"])
        for series, names in listed.items():
            self.assertTrue(names, series)
            self.assertLessEqual(set(names), known, series)


class Used(unittest.TestCase):
    """C code uses every mechanism of the probe."""

    @classmethod
    def setUpClass(cls) -> None:
        """Import what Kbuild runs, from kunit/."""
        with mock.patch.object(sys, "path", [str(REPO / "kunit"), *sys.path]):
            cls.probe = importlib.import_module("probe")
        cls.mechanisms = cls.probe.mechanisms

    def code(self, *directories: str) -> str:
        """The C code of directories of the repository, without comments."""
        paths = [path for name in directories for path in sorted((REPO / name).rglob("*.[ch]"))]
        return "\n".join(self.mechanisms.code_of(path) for path in paths)

    def test_c_reads_every_answer(self) -> None:
        code = self.code("mm", "kunit")
        names = [f"SWAP_API_{name}" for name in [*self.probe.questions(), *self.probe.STATICS]]
        unread = [name for name in names if not re.search(rf"\b{name}\b", code)]
        self.assertEqual(unread, [], "C reads no answer to these questions of the probe: delete them")

    def test_a_suite_reads_every_mechanism(self) -> None:
        """Suites assert what differs with it; fixture/ levels the slot cache out for all of them."""
        code = self.code("kunit/suites", "kunit/fixture")
        read = set(re.findall(r"\b(?:swap_has\(|SWAP_REQUIRE\(\w+, |SWAP_MECHANISM_)(\w+)", code))
        unread = [entry.name for entry in self.mechanisms.MECHANISMS if entry.name not in read]
        self.assertEqual(unread, [], "no suite asserts what these mechanisms decide: delete them, or assert it")


if __name__ == "__main__":
    unittest.main()
