# SPDX-License-Identifier: GPL-2.0
"""The steps of one patch: each looks at one thing and returns a Step."""
from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ..base import commands
from ..base.kernel import Kernel
from ..base.text import plural
from ..build.build import OWN_FAULT
from ..decisions.diff import Recorded, compare
from ..decisions.notation import parse_log
from ..decisions.text import lists_lines, moved_lines, summary as summary_of
from ..run.console import alike
from ..run.results import PASS as PASSED, SKIPPED
from ..run.verdict import failures
from ..series.applying import Applied, Failed, Outcome, which_kernels_take
from ..series.series import Patch
from .report import FAIL, PASS, SKIP, WARN, Step, shortened
from .testbed import BOOT, Tested

FILE_OF = re.compile(r"(?:diff --git .* |\+\+\+ )b/(?P<file>.*)")
HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+(?P<line>\d+)(?:,(?P<new>\d+))? @@")
QUOTED = 40     # characters of a line of the mail, enough to find it
CHECKPATCH = re.compile(r"^(?P<where>.*?:\d+|.*?): (?P<kind>ERROR|WARNING|CHECK): ?(?P<text>.*)$")
LEGEND = "A: before this patch, B: with it; A1:5+3 allocates slots 5 to 7 of cluster 1, F frees, R reads, W writes; " \
         "a:b.. from slot b to the cluster's end, a:* the whole cluster"
# The files that decide a verdict.
JUDGES = ("include/kunit/", "lib/kunit/", "tools/testing/kunit/", "scripts/checkpatch.pl", "scripts/kernel-doc")


# -- applies -----------------------------------------------------------------


def applies(patch: Patch, outcome: Outcome, elsewhere: list[str]) -> Step:
    """Whether a patch applies. elsewhere: for one that does not, which other kernels it applies to."""
    if isinstance(outcome, Failed):
        reason, *rest = outcome.lines()
        return Step("applies", FAIL, f"does not apply: {outcome.where()}", "no", [reason, *elsewhere, *rest])
    if patch.suspicions:
        return Step("applies", WARN, "applies, but " + "; ".join(patch.suspicions), details=outcome.moved)
    if outcome.strayed:
        return Step("applies", WARN, "applies, but outside of the function it names", details=outcome.strayed)
    judges = [name for name in patch.touched if name.startswith(JUDGES)]
    if judges:
        return Step("applies", WARN, f"applies, but modifies KUnit or checkpatch, which judge it: {', '.join(judges)}",
                    "judge", outcome.moved)
    return Step("applies", PASS, "applies" + (", with offsets" if outcome.moved else ""),
                "offset" if outcome.moved else "", outcome.moved)


def applies_elsewhere(patches: list[Patch], scratch: Path, kernel: Kernel) -> list[list[str]]:
    """For each patch, which kernels other than this one it applies to after those before it."""
    found = [(f"Linux {other.version}", outcomes) for other, outcomes in which_kernels_take(patches, scratch)
             if other.path != kernel.path]
    return [kernels_for(found, place) for place in range(len(patches))]


def kernels_for(found: list[tuple[str, list[Outcome]]], place: int) -> list[str]:
    """The kernels in found that the patch at place applies to, and those that have it already."""
    takers, having = [], []
    for name, outcomes in found:
        outcome = outcomes[place]
        failed = [str(one.patch.number) for one in outcomes[:place] if isinstance(one, Failed)]
        if isinstance(outcome, Applied):
            takers.append(name + (f" without patch {', '.join(failed)} of the series" if failed else ""))
        elif outcome.already:
            having.append(name)
    lines = [f"applies to {', '.join(takers)}; not built there" if takers else
             "applies to none of the other kernels in the cache"]
    return lines + ([f"already in {', '.join(having)}"] if having else [])


# -- checkpatch --------------------------------------------------------------


def checkpatch(patch: Patch, kernel: Path) -> Step:
    """checkpatch.pl --strict of the base; the patch may change its own copy."""
    script = kernel / "scripts/checkpatch.pl"
    if not script.exists():
        return Step("checkpatch", SKIP, "this tree has no scripts/checkpatch.pl")
    command: list[str | Path] = ["perl", script, "--strict", "--terse", "--no-summary", "--color=never", patch.file]
    commands.show(command, kernel)
    done = commands.run(command, cwd=kernel, env=commands.kernel_environment())
    found = [match for match in map(CHECKPATCH.match, done.output.splitlines()) if match]
    there = places(patch)
    details = [f"{place_of(match['where'], there, patch)}: {match['kind']}: {match['text']}" for match in found]
    if not found:
        if done.status:
            return Step("checkpatch", FAIL, f"checkpatch.pl failed: {commands.tail(done.output, 1)}", "failed",
                        done.output.splitlines()[-20:])
        return Step("checkpatch", PASS, "no findings")
    kinds = [match["kind"] for match in found]
    counts = ", ".join(plural(kinds.count(kind), kind.lower()) for kind in dict.fromkeys(kinds))
    return Step("checkpatch", FAIL if "ERROR" in kinds else WARN, counts, str(len(found)), details)


def places(patch: Patch) -> list[str]:
    """For each line of patch.file its place for a reader: FILE:LINE, or the text of the mail's line.

    checkpatch's --showfile keeps counting in the last file it saw, and the line numbers of
    our copy are not those of the mail.
    """
    found: list[str] = []
    file, number, old, new, quoted = "", 0, 0, 0, True
    for line in patch.file.read_text(errors="replace").split("\n"):
        named, hunk = FILE_OF.match(line), HUNK.match(line)
        if old > 0 or new > 0:
            old, new = old - (line[:1] in "- "), new - (line[:1] in "+ ")
            number += line[:1] in "+ "
            found.append(f"{file}:{number}")
            continue
        quoted = quoted and line != "---"
        if named or line == "-- ":
            file = named["file"] if named else ""
        elif hunk and file:
            number, old, new = int(hunk["line"]) - 1, int(hunk["old"] or 1), int(hunk["new"] or 1)
        words = " ".join(line.split()) if quoted else ""
        found.append(file or (f'the mail, "{shortened(words, QUOTED)}"' if words else "the mail"))
    return found


def place_of(where: str, there: list[str], patch: Patch) -> str:
    """The place for a reader of checkpatch's "patch.file:LINE"."""
    number = where.removeprefix(f"{patch.file}:")
    if number == where or not number.isdigit():
        return where or "the mail"
    return there[int(number) - 1] if 0 < int(number) <= len(there) else "the mail"


# -- build -------------------------------------------------------------------


def builds(tested: Tested, known: set[str], touched: list[str]) -> Step:
    """Whether the kernel builds, and whether the compiler has new messages.

    known: its messages for the base and for earlier patches, without_numbers().
    """
    seconds = sum(tested.seconds.get(name, 0.0) for name in ("tree", "build"))
    if not tested.built:
        status, summary, cell = why_no_kernel(tested)
        return Step("build", status, summary, cell, tested.messages[-40:], seconds, {"built": False})
    new = [line for line in tested.messages if without_numbers(line) not in known]
    left_out = [name for name in touched if name.endswith(".c") and name not in tested.objects]
    notes = [f"not compiled for ARCH=um in this configuration: {', '.join(left_out)}"] if left_out else []
    warnings = sum(": warning: " in line for line in new)
    if warnings:
        return Step("build", WARN, plural(warnings, "new warning"), "", [*new, *notes], seconds)
    return Step("build", PASS, notes[0] if notes else "builds", "part" if notes else "", notes, seconds)


def why_no_kernel(tested: Tested) -> tuple[str, str, str]:
    """Why there is no kernel to test: a status, a sentence, and a word for the table."""
    if tested.limit:
        return FAIL, f"killed: {tested.limit}", "killed"
    if BOOT in tested.seconds:
        return FAIL, "builds, but does not boot to the first case", "boot"
    if tested.messages[-1:] and tested.messages[-1].startswith(OWN_FAULT):      # such as a static that was renamed
        return WARN, "swap-kunit's own code needs an update for this patch: the patch removes or changes something " \
                     "it uses; the patch may be fine", "own"
    return FAIL, "does not build", "no"


def without_numbers(line: str) -> str:
    """A compiler's line without line numbers: a patch moves lines."""
    return re.sub(r":\d+(:\d+)?(?=[:, ])|^ *\d+ \|", "", line)


# -- suites ------------------------------------------------------------------


def suites(tested: Tested, base: Tested, before: Tested | None) -> Step:
    """New failures, and cases that no longer run, compared with the base and with the state before this patch."""
    seconds = sum(tested.seconds.get(name, 0.0) for name in ("list", "run", "results"))
    known = base.failed()
    before = before or base
    failed = {name: test for name, test in tested.failed().items() if name not in known}
    new = {name: test for name, test in failed.items() if name not in before.failed()}
    skipped = [test for name, test in tested.results.items() if test.status == SKIPPED
               and status_in(before, name) not in ("", SKIPPED)]
    gone = [name for name in before.results
            if name not in tested.results and "mechanism." not in name and not tested.left_out(name)]
    not_built = [name for name in tested.not_built if name not in before.not_built]
    details = [f"killed by the sandbox: {tested.limit}"] if tested.limit else []
    details += failures(list(new.values()))
    details += [f"no longer run: {test.name}: {test.reason}" for test in skipped]
    details += [f"gone: {name}" for name in gone]
    misfits = [line for line in tested.misfits if line not in before.misfits]
    if misfits:
        details += ["swap-kunit needs an update for this patch, which may be fine; not built with it: "
                    + (", ".join(not_built) or "no case, but something that cases use"),
                    *(f"  {line}" for line in misfits)]
    if not [line for line in tested.misfits if line not in base.misfits]:    # else what failed may not be looked at
        details += [f"passes now: {name}" for name in known if status_in(tested, name) == PASSED]
        details += [f"fixes a known bug: {name}: {test.known}" for name, test in base.results.items()
                    if test.known and status_in(tested, name) == PASSED]
    lost, summary = len(skipped) + len(gone), tested.closing
    summary += f"; {plural(len(new), 'new failure')}" if new else ""
    if len(failed) > len(new):
        summary += f"; {plural(len(failed) - len(new), 'failure')} since an earlier patch"
    summary += f"; {plural(lost, 'case')} no longer run" if lost else ""
    summary += f"; {plural(len(not_built), 'case')} not built" if not_built else ""
    cell = f"{len(new)} new" if new else f"-{lost}" if lost else tested.closing.split(" ")[0]
    status = FAIL if new else WARN if lost else PASS
    return Step("suites", status, summary, cell, details, seconds, {"failed": list(new)})


def status_in(state: Tested, name: str) -> str:
    """A result's status in a state; "" if it has none."""
    return state.results[name].status if name in state.results else ""


def reports(tested: Tested, base: Tested, before: Tested | None) -> Step:
    """New kernel reports (WARN, BUG, lockdep, KASAN), compared with the base and with the state before this patch."""
    known = reports_in(base) | reports_in(before or base)
    new = [text for text in reports_in(tested) if text not in known]
    if new:
        return Step("reports", FAIL, plural(len(new), "new kernel report"), str(len(new)), new)
    return Step("reports", PASS, "no new kernel reports")


def reports_in(state: Tested) -> dict[str, str]:
    """The reports of a state, each with where it came from, without what varies between boots."""
    outside = {f"outside of all cases: {alike(line)}": line for line in state.reports}
    inside = {f"{name}: {alike(line)}": line for name, test in state.results.items()
              for line in test.text if "kernel report: " in line or "Kernel panic" in line}
    return inside | outside


# -- decisions ---------------------------------------------------------------


def built_in_both(state: Tested, other: Tested) -> Recorded:
    """What a state decided, without the cases that are left out of the other one."""
    lines = [line for line in state.decisions if not other.left_out(line.split(" ")[0])]
    results = {name: test for name, test in state.results.items() if not other.left_out(name)}
    return Recorded("", parse_log("\n".join(lines)), results)


def decisions(tested: Tested, before: Tested) -> Step:
    """Which decisions and mechanisms differ from those before this patch."""
    old, new = built_in_both(before, tested), built_in_both(tested, before)
    difference = compare(old, new)
    details = [f"mechanism added: {name}" for name in tested.mechanisms if name not in before.mechanisms]
    details += [f"mechanism removed: {name}" for name in before.mechanisms if name not in tested.mechanisms]
    moved = [one.name for one in difference.moved]
    for one in difference.alone:
        details.append(f"only {'before' if one.side == 'A' else 'with'} the patch: {one.name}: {one.why}")
    # The suites step lists them.
    hidden = sum("B" in one.texts and "A" not in one.texts and one.broken for one in difference.failed)
    if moved:
        # First those with a named rule, which say most.
        first = replace(difference, moved=sorted(difference.moved, key=lambda one: not any(one.rules)))
        details += [LEGEND, *moved_lines(first)]
    lists = lists_lines(difference)[1:]
    if not details and not hidden:
        return Step("decisions", PASS, "; ".join([summary_of(difference), *lists[:1]]),
                    "lists" if lists else "same", lists)
    summary = summary_of(difference) if moved or hidden or difference.alone else details[0]
    cell = str(len(moved)) if moved else f"-{hidden}" if hidden else ""
    return Step("decisions", WARN, summary, cell, details, data={"changed": moved})
