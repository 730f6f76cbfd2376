# SPDX-License-Identifier: GPL-2.0
"""The page of a difference: its drawings, and that it is self-contained."""
from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from swapkunit.decisions import animate, page, slot_map, svg, windows
from swapkunit.decisions.diff import compare
from swapkunit.decisions.notation import Scenario, parse
from swapkunit.run.results import FAIL, SKIPPED, TestResult

from .test_decisions import difference_of, run_of


def shapes(drawing: str, kind: str) -> list[tuple[str, dict[str, str]]]:
    """(title or text, attributes) of all shapes of a class, in order. The drawing must be well-formed XML."""
    return [("".join(shape.itertext()), dict(shape.attrib)) for shape in ElementTree.fromstring(drawing).iter()
            if kind in shape.get("class", "").split()]


class Animation(unittest.TestCase):
    """A scenario step by step."""

    scenario = Scenario("s.c[zram]", parse('{a 2x256} "free first" A0:0+4 {a free:1 nonfull:0} !0:2 R0:0+4!2 F0:1'))

    def test_steps(self) -> None:
        steps = animate.steps_of(self.scenario)
        self.assertEqual([step.text for step in steps], ["A0:0+4", "!0:2", "R0:0+4!2", "F0:1"])
        self.assertEqual(steps[0].meaning, "allocated: slot 0 of cluster 0, 4 of them (rule: free first)")
        self.assertEqual(steps[1].meaning, "a fault needs slot 2 of cluster 0")
        self.assertIn("the fault is for slot 2", steps[2].meaning)

    def test_drawings(self) -> None:
        first, *_, last = (step.drawing for step in animate.steps_of(self.scenario))
        self.assertEqual([text for text, _ in shapes(first, "list")], ["nonfull", "free"])
        self.assertEqual([text for text, _ in shapes(first, "used")], ["0:0+4 used"])
        self.assertEqual([text for text, _ in shapes(last, "used")], ["0:0+1 used", "0:2+2 used"])
        self.assertEqual(len(shapes(last, "now")), 1)

    def test_page(self) -> None:
        text = animate.render(self.scenario, "7.3.4")
        self.assertEqual(text.count('class="frame"'), 4)
        self.assertNotIn("http", text)


class SlotMap(unittest.TestCase):
    """Clusters before the difference, and after it on each side."""

    BEFORE = "{a 3x256+9 bad 0:7} A0:0+4 F0:1 {a free:1,2 nonfull:0}"
    moved = difference_of(f"{BEFORE} A0:4 A0:5 F0:2 A2:0 {{a free:1 frag:0,2}}",
                          f"{BEFORE} A1:* F0:2 {{a free:2 full:1}}").moved[0]

    def test_replay(self) -> None:
        state = slot_map.replay(self.moved.a, self.moved.a.position(self.moved.first))["a"]
        self.assertEqual((state.used, state.list_of(0), state.area.size), ({0, 2, 3}, "nonfull", 256))
        stale = slot_map.replay(self.moved.a, self.moved.a.position(self.moved.first + 1))["a"]
        self.assertEqual((stale.list_of(0), stale.list_of(1)), ("", "free"))
        self.assertEqual(slot_map.replay(self.moved.b, 99)["a"].used, {0, 3, *range(256, 512)})

    def test_runs_are_numbered_in_order(self) -> None:
        scenario = Scenario("s.c", parse("A0:0 W0:0 A0:1 A2:* A3:0 F0:0 A3:1 b/A0:2"))
        runs = [(run.number, run.area, run.start, run.end) for run in slot_map.taken_after(scenario, 0, {})]
        self.assertEqual(runs, [(1, "a", 0, 2), (2, "a", 512, 769), (3, "a", 769, 770), (4, "b", 2, 3)])

    def test_drawing(self) -> None:
        drawing = slot_map.draw(self.moved)
        self.assertEqual([text for text, _ in shapes(drawing, "title")],
                         ["before the first difference", "A then", "B then"])
        self.assertEqual([text for text, _ in shapes(drawing, "name")],
                         [f"cluster {number}" for number in range(4)] * 3)
        self.assertEqual([text for text, _ in shapes(drawing, "taken")],
                         ["number 1: 0:4+2", "number 2: 2:0+1", "number 1: 1:0+256"])
        self.assertEqual([text for text, _ in shapes(drawing, "freed")], ["0:2+1 freed"] * 2)
        self.assertEqual([text for text, _ in shapes(drawing, "bad")], ["0:7+1 bad"] * 3)
        self.assertEqual([text for text, _ in shapes(drawing, "list")],
                         ["nonfull", "free", "free", "frag", "free", "frag", "full", "free"])

    def test_without_notes(self) -> None:
        drawing = slot_map.draw(difference_of("A0:* A4:1", "A0:* A5:1").moved[0])
        self.assertEqual([text for text, _ in shapes(drawing, "name")], ["cluster 0", "cluster 4", "cluster 5"] * 3)

    def test_many_clusters_and_areas(self) -> None:
        clusters = " ".join(f"A{number}:0" for number in range(1, 60, 2))
        drawing = slot_map.draw(difference_of(f"b/A0:1 {clusters}", f"b/A0:2 {clusters}").moved[0])
        self.assertEqual(len(shapes(drawing, "name")), 3 * (slot_map.ROWS + 1))
        self.assertEqual(shapes(drawing, "name")[-1][0], "b/cluster 0")


class Windows(unittest.TestCase):
    """Readahead beside the faults."""

    def rows(self, text: str) -> list[tuple[int, str, int | None]]:
        """(number, text, fault) of each row."""
        return [(row.number, row.text, row.fault) for row in windows.rows_of(Scenario("s.c", parse(text)), False)]

    def test_a_fault_and_its_read_are_one_row(self) -> None:
        self.assertEqual(self.rows("A0:0+9 !0:3 R0:0+8!3 !0:4 !0:5 W1:2"), [
            (1, "R0:0+8!3", 3), (2, "fault 0:4, no read", 4), (2, "fault 0:5, no read", 5), (2, "W1:2", None)])

    def test_io_before_the_read_of_a_fault(self) -> None:
        self.assertEqual(self.rows("!0:3 L0:1 F0:9 R0:2+2!3"), [(0, "L0:1", None), (2, "R0:2+2!3", 3)])
        self.assertEqual(self.rows("!0:3 R0:9!9"), [(0, "fault 0:3, no read", 3), (0, "R0:9!9", 9)])
        self.assertEqual(self.rows("!0:3 R0:1 !0:5 R0:4+2!5"), [
            (0, "fault 0:3, no read", 3), (0, "R0:1", None), (1, "R0:4+2!5", 5)])

    def test_drawing(self) -> None:
        drawing = windows.draw(difference_of("!0:3 R0:0+8!3 !0:4 W1:0", "!0:3 R0:3!3 !0:4 R0:4!4 W1:0").moved[0])
        self.assertEqual([text for text, _ in shapes(drawing, "R")],
                         ["R0:0+8!3: read", "R0:3!3: read", "R0:4!4: read"])
        self.assertEqual((len(shapes(drawing, "fault")), len(shapes(drawing, "lone"))), (4, 1))
        self.assertEqual(len(shapes(drawing, "first")), 2)
        widths = [float(shape["width"]) for _, shape in shapes(drawing, "R")]
        self.assertTrue(widths[0] > 5 * widths[1], widths)

    def test_only_what_is_near_the_difference(self) -> None:
        many = " ".join(f"W0:{slot}" for slot in range(200))
        drawing = windows.draw(difference_of(f"{many} R0:1 {many}", f"{many} R0:2 {many}").moved[0])
        self.assertEqual(len(shapes(drawing, "name")), 2 * (windows.BEFORE + windows.AFTER))

    def test_nothing_to_draw(self) -> None:
        self.assertEqual(windows.draw(difference_of("A0:0", "A0:1").moved[0]), "")

    def test_axis(self) -> None:
        scale = windows.Scale(0, 512, 256)
        self.assertEqual([scale.name(slot) for slot in scale.ticks()],
                         ["0:0", "0:64", "0:128", "0:192", "1:0", "1:64", "1:128", "1:192"])
        self.assertEqual(windows.Scale(-256, -240, 256).name(-255), "-1:1")


class Page(unittest.TestCase):
    """The whole page."""

    def page(self) -> str:
        """The page of a difference with one entry of each kind."""
        a = run_of({"s.a[zram]": 'A0:* "nonfull" A0:1', "s.a[a <b>]": 'A0:* "nonfull" A0:1',
                    "s.r": "R0:0+8!3", "s.only": "A0:0", "s.w": "W0:0"},
                   TestResult("s.x", FAIL, ["crashed: <panic>"], fate="crashed"))
        b = run_of({"s.a[zram]": 'A0:* "free" A1:1', "s.a[a <b>]": 'A0:* "free" A1:1', "s.r": "R0:3!3",
                    "s.w": "W0:1"},
                   TestResult("s.only", SKIPPED, reason="lacks a <thing>"))
        return page.render(compare(a, b))

    def test_it_is_self_contained(self) -> None:
        self.assertNotRegex(self.page(), r"""src=|href="[^#]|url\(|@import|<script .|<link|://""")

    def test_what_has_another_rule_comes_first_and_all_is_in_the_index(self) -> None:
        shown = self.page()
        self.assertEqual(re.findall(r"<h2>([\w/ ]+) <", shown), ["Another rule", "Readahead", "I/O"])
        links, targets = re.findall(r'href="#(.*?)"', shown), re.findall(r'class="scenario" id="(.*?)"', shown)
        self.assertEqual((links, targets), (["another-rule-1", "readahead-1", "I/O-1"],) * 2)

    def test_sides_are_side_by_side(self) -> None:
        rows = re.findall(r'<div class="log">\n(.*?)</div>\n</div>', self.page(), re.S)
        self.assertEqual([re.findall(r"<div><b>([AB])</b>", row) for row in rows], [["A", "B"]] * 3)
        drawing = slot_map.draw(SlotMap.moved)
        (_, a), (_, b) = shapes(drawing, "title")[1:]
        self.assertEqual(a["y"], b["y"])
        self.assertLess(float(a["x"]), float(b["x"]))

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_browser(self) -> None:
        """The search finds what it should, and nothing is wider than the window."""
        script = ("<script>box.firstElementChild.value = 'free a1:1'; find();"
                  "document.title = [box.textContent.trim(), document.body.scrollWidth <= innerWidth].join();</script>")
        with tempfile.TemporaryDirectory() as name:
            Path(name, "page.html").write_text(self.page().replace("</body>", f"{script}</body>"), encoding="utf-8")
            for width in (500, 1280):
                done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                       f"--user-data-dir={name}/user", f"--window-size={width},900",
                                       f"file://{name}/page.html"], capture_output=True, text=True, check=False)
                self.assertIn("<title>1 of 3,true</title>", done.stdout, done.stderr[-500:])

    def test_contents(self) -> None:
        shown = self.page()
        for text in ("4 scenarios, 4 differ: allocation 2, readahead 1, I/O 1; 1 more in A only; 1 crashed",
                     "zram · a &lt;b&gt;", "A: nonfull; B: free", "lacks a &lt;thing&gt;", "crashed: &lt;panic&gt;",
                     '<span class="alike">A0:*</span> <span class="first">A0:1</span>', "cannot be compared"):
            self.assertIn(text, shown)
        self.assertEqual(len(re.findall("<figure>", shown)), 3)
        for drawing in re.findall(r"<figure>.*?(<svg.*?</svg>)</figure>", shown, re.S):
            ElementTree.fromstring(drawing)

    def test_words(self) -> None:
        words = [f"A0:{slot}" for slot in range(0, 200, 2)]
        shown = page.marked(words, 50, 10)
        self.assertEqual(shown[0], ("… 38 alike …", "muted"))
        self.assertEqual([how for _, how in shown[1:]], ["alike"] * 12 + ["first"] + ["other"] * 39 + ["alike"] * 10)
        self.assertEqual(page.marked(["A0:0"], 1, 0)[-1], ("(nothing more)", "first"))
        self.assertEqual(page.marked(words, 0, 0)[-1], ("… 40 more", "muted"))

    def test_runs(self) -> None:
        self.assertEqual(svg.runs({5, 1, 2, 3, 9}), [(1, 4), (5, 6), (9, 10)])


if __name__ == "__main__":
    unittest.main()
