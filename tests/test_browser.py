# SPDX-License-Identifier: GPL-2.0
"""The pages in a real browser: nothing overflows, no text is cut off, and the console stays empty."""
from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import unittest

from swapkunit.decisions import page as decisions_page
from swapkunit.base.kernel import Kernel
from swapkunit.decisions.diff import compare
from swapkunit.lab import page as lab_page
from swapkunit.lab.experiment import Comparison, Experiment, Plan
from swapkunit.lab.figures import Measured
from swapkunit.lab.measure import Side
from swapkunit.presubmit import page, report as reports
from swapkunit.presubmit.report import FAIL, NOTE, PASS, SKIP, WARN, Finding, PatchReport, PresubmitReport, Step

from .support import Scratch
from .test_decisions import run_of

CHROMIUM = shutil.which("chromium")
WIDTHS = (480, 1280)
# The page in frames of each width, and what is too wide in them, or is cut off and cannot be scrolled.
HARNESS = """\
<body>{frames}<pre id="found"></pre><script>
onload = () => {{
  const found = {{}};
  for (const frame of document.querySelectorAll("iframe")) {{
    const inside = frame.contentDocument, wide = [];
    inside.querySelectorAll("details").forEach(one => one.open = true);
    for (const one of inside.querySelectorAll("body *")) {{
      const hides = getComputedStyle(one).overflowX;
      if (one.getBoundingClientRect().right > frame.clientWidth + 1 && !one.closest("figure, .wide")
          || one.scrollWidth > one.clientWidth + 1 && hides == "hidden")
        wide.push(one.tagName + " " + one.textContent.slice(0, 60));
    }}
    found[frame.width] = {{wide, scroll: inside.documentElement.scrollWidth,
                          hidden: Math.max(0, ...[...inside.querySelectorAll(".wide")].map(
                              one => one.scrollWidth - one.clientWidth)),
                          text: Math.min(99, ...[...inside.querySelectorAll("figure svg .title")].map(
                              one => one.getBoundingClientRect().height)),
                          dark: getComputedStyle(inside.body).backgroundColor}};
  }}
  document.getElementById("found").textContent = JSON.stringify(found);
}};
</script></body>
"""


@unittest.skipUnless(CHROMIUM, "chromium is not installed (Debian: chromium)")
class Browser(Scratch):
    """Each page at the width of a telephone and of a screen."""

    def measured(self, text: str, *options: str) -> dict[str, dict[str, object]]:
        """What HARNESS finds on a page; fails if the browser's console says anything."""
        frames = "".join(f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(text)}"></iframe>'
                         for width in WIDTHS)
        harness = self.top / "harness.html"
        harness.write_text(HARNESS.format(frames=frames), encoding="utf-8")
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               f"--user-data-dir={self.top / 'profile'}", "--enable-logging=stderr",
                               "--window-size=1400,900", "--virtual-time-budget=5000", *options, "--dump-dom",
                               harness.as_uri()],
                              capture_output=True, text=True, errors="replace", check=False, timeout=300,
                              stdin=subprocess.DEVNULL)
        self.assertNotIn("CONSOLE", done.stderr)
        found = re.search(r'<pre id="found">(.+?)</pre>', done.stdout)
        self.assertTrue(found, done.stderr[-2000:])
        return dict(json.loads(html.unescape(found[1])))

    def fits(self, text: str) -> None:
        """Nothing is too wide, in the light and in the dark."""
        light, dark = self.measured(text), self.measured(text, "--blink-settings=preferredColorScheme=0")
        for found in (light, dark):
            for width in WIDTHS:
                one = found[str(width)]
                self.assertEqual(one["wide"], [], width)
                self.assertLessEqual(one["scroll"], width)
                self.assertEqual(one["hidden"], 0, "the table fits, too")
                self.assertGreater(one["text"], 8, "drawings can be read")
        self.assertNotEqual(light["480"]["dark"], dark["480"]["dark"])

    def test_report(self) -> None:
        names = ["applies", "checkpatch", "build", "W=1", "sparse", "configs", "suites", "reports", "decisions",
                 "kasan", "lines", "memcg off", "lockdep"]
        lines = {"mm/swapfile.c": {7: [3, "\tif (" + "a_long_name && " * 12 + "b)"], 8: [0, "x();"], 9: [None, "}"]}}
        slots = " ".join(f"A0:{slot}" for slot in range(0, 120, 2))
        moved = Step("decisions", PASS, "2 scenarios, 1 differs", "1", data={
            "changed": ["swap_a.b[x y]"], "before": [f"swap_a.b[x y] {slots} A1:1 R0:0+8!3"],
            "with": [f"swap_a.b[x y] {slots} A2:1 R0:3!3"]}).having(
                [Finding(WARN, "1 scenario differs", ["A  " + slots])])
        patches = []
        for number in range(1, 13):
            steps = [Step(name, PASS, "fine", "1073" * (name == "suites")) for name in names]
            if number == 3:
                steps[1] = Step("checkpatch", NOTE, "1 check")
                steps[3] = Step("W=1", SKIP, "ARCH=um compiles none of the touched files")
                steps[6] = Step("suites", FAIL, "113 new failures", "113 new", ["/a/very/long/path/" * 20])
                steps[8] = moved
                steps[10] = Step("lines", WARN, "1 of 2", "1/2", data={"lines": lines})
            patches.append(PatchReport(number, 12, f"mm, swap: patch {number} of a series that has a long title",
                                       steps=[step.clean() for step in steps]))
        report = PresubmitReport("mm, swap: a series", 2, "7.3.4", "Debian package linux-source-7.3", "bubblewrap",
                                 names, self.top, patches=patches, notes=["a" * 200])
        self.assertIn("<svg", page.render(report))
        self.assertEqual(report.heavy()[0][2].weight, reports.FAIL)
        self.fits(page.render(report))

    def test_decisions(self) -> None:
        a = run_of({"s.a[zram]": 'A0:* "nonfull" A0:1', "s.r": "R0:0+8!3 " * 30})
        b = run_of({"s.a[zram]": 'A0:* "free" A1:1', "s.r": "R0:3!3 " * 30})
        self.fits(decisions_page.render(compare(a, b)))

    def test_lab(self) -> None:
        one = Experiment("mine", "a title", "what it is about " * 20, ["lab"], [1, 2, 3], [], [
            Comparison("fault_max_ms", "the worst fault of all, ms", "less", (57.4, 9.9), "a mail", "why"),
            Comparison("pswpin", "pages swapped in from the disk", "less", (94663, 81552))], {"disk": "a data sheet"})
        sides = [Side(Plan(name, "swap_lab", ["a-policy"]), Kernel(self.top, "7.3.4", "", given=False), {
            seed: Measured({"fault_max_ms": seed * scale, "pswpin": 1234567 + seed},
                           {"fault": [(256, 5), (66000, 900), (57000 * seed * 100, 3)]}) for seed in (1, 2, 3)})
                 for name, scale in (("without the check", 50), ("with the check", 60))]
        self.fits(lab_page.render([(one, sides)] * 2))


if __name__ == "__main__":
    unittest.main()
