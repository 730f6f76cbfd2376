# SPDX-License-Identifier: GPL-2.0
"""The steps a patch goes through: each looks at one thing and makes a Step of it."""
from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ..series import applying
from ..base import commands
from ..decisions import text as decisions_text
from ..series.applying import Applied, Failed
from .testbed import BOOT, Tested
from ..build.build import OWN_FAULT
from ..decisions.diff import Recorded, compare
from ..base.kernel import Kernel
from ..run.console import alike
from ..decisions.notation import parse_log
from .report import FAIL, PASS, SKIP, WARN, Step, shortened
from ..run.results import PASS as PASSED, SKIPPED
from ..series.series import Patch
from ..run.verdict import failures

FILE_OF = re.compile(r"(?:diff --git .* |\+\+\+ )b/(?P<file>.*)")
HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+(?P<line>\d+)(?:,(?P<new>\d+))? @@")
WORDS = 40      # columns of a mail's line, to know it by
CHECKPATCH = re.compile(r"^(?P<where>.*?:\d+|.*?): (?P<kind>ERROR|WARNING|CHECK): ?(?P<text>.*)$")
LEGEND = "A: before this patch, B: with it; A1:5+3 takes slots 5 to 7 of cluster 1, F frees, R reads, W writes; " \
         "a:b.. to the cluster's end, a:* all of it"
# What the verdict is made with.
JUDGES = ("include/kunit/", "lib/kunit/", "tools/testing/kunit/", "scripts/checkpatch.pl", "scripts/kernel-doc")


def lines(number: int, word: str) -> str:
    """'1 case', '2 cases'."""
    return f"{number} {word}{'s' * (number != 1)}"


# -- applies -----------------------------------------------------------------


def applies(patch: Patch, outcome: Applied | Failed, elsewhere: list[str]) -> Step:
    """Whether it applies; elsewhere: what the other known kernels say to it."""
    if isinstance(outcome, Failed):
        reason, *rest = outcome.lines()
        return Step("applies", FAIL, f"it does not: {outcome.where()}", "no", [reason, *elsewhere, *rest])
    if patch.suspicions:
        return Step("applies", WARN, "it does, but " + "; ".join(patch.suspicions), details=outcome.moved)
    if outcome.strayed:
        return Step("applies", WARN, "it does, but not in the function it names", details=outcome.strayed)
    judges = [name for name in patch.touched if name.startswith(JUDGES)]
    if judges:
        return Step("applies", WARN, f"it does, and changes what judges it: {', '.join(judges)}", "judge", outcome.moved)
    return Step("applies", PASS, "it does" + (", moved" if outcome.moved else ""), "moved" if outcome.moved else "",
                outcome.moved)


def kernels_that_take(patches: list[Patch], scratch: Path, besides: Kernel) -> list[list[str]]:
    """For each patch, to which of the known kernels besides this one it applies after those before it."""
    found = [(f"Linux {kernel.version}", outcomes) for kernel, outcomes in
             applying.which_kernels_take(patches, scratch) if kernel.path != besides.path]
    return [said_elsewhere(found, place) for place in range(len(patches))]


def said_elsewhere(found: list[tuple[str, list[Applied | Failed]]], place: int) -> list[str]:
    """What the kernels found say to the patch at place. That it applies there is no more than that."""
    takers, having = [], []
    for name, outcomes in found:
        lacking = [str(one.patch.number) for one in outcomes[:place] if isinstance(one, Failed)]
        if isinstance(outcomes[place], Applied):
            takers.append(name + (f" without patch {', '.join(lacking)} of the series" if lacking else ""))
        elif outcomes[place].already:
            having.append(name)
    told = [f"it does apply to {', '.join(takers)}, where it was not built" if takers else
            "it applies to none of the other kernels known here"]
    return told + ([f"it is in {', '.join(having)} already"] if having else [])


# -- checkpatch --------------------------------------------------------------


def checkpatch(patch: Patch, kernel: Path) -> Step:
    """checkpatch.pl --strict of the base, since the patch may bring another one."""
    script = kernel / "scripts/checkpatch.pl"
    if not script.exists():
        return Step("checkpatch", SKIP, "this tree has no scripts/checkpatch.pl")
    command = ["perl", script, "--strict", "--terse", "--no-summary", "--color=never", patch.file]
    commands.show(command, kernel)
    done = commands.run(command, cwd=kernel, env=commands.kernel_environment())
    found = [match for match in map(CHECKPATCH.match, done.output.splitlines()) if match]
    there = places(patch)
    said = [f"{place_of(match['where'], there, patch)}: {match['kind']}: {match['text']}" for match in found]
    if not found:
        if done.status:
            return Step("checkpatch", FAIL, f"checkpatch.pl failed: {commands.tail(done.output, 1)}", "failed",
                        done.output.splitlines()[-20:])
        return Step("checkpatch", PASS, "nothing to say")
    kinds = [match["kind"] for match in found]
    counts = ", ".join(lines(kinds.count(kind), kind.lower()) for kind in dict.fromkeys(kinds))
    return Step("checkpatch", FAIL if "ERROR" in kinds else WARN, counts, str(len(found)), said)


def places(patch: Patch) -> list[str]:
    """For each line of patch.file where a person finds it: FILE:LINE, or words of the mail.

    checkpatch's --showfile goes on counting in the file it has seen last, and the lines of
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
        found.append(file or (f'the mail, "{shortened(words, WORDS)}"' if words else "the mail"))
    return found


def place_of(where: str, there: list[str], patch: Patch) -> str:
    """A place that checkpatch names as a line of patch.file."""
    number = where.removeprefix(f"{patch.file}:")
    if number == where or not number.isdigit():
        return where or "the mail"
    return there[int(number) - 1] if 0 < int(number) <= len(there) else "the mail"


# -- build -------------------------------------------------------------------


def builds(tested: Tested, heard: set[str], touched: list[str]) -> Step:
    """Whether the kernel builds, and whether the compiler has something new to say.

    heard: what it has said up to now, of the base and of earlier patches, without_numbers().
    """
    seconds = sum(tested.seconds.get(name, 0.0) for name in ("tree", "build"))
    if not tested.built:
        status, summary, cell = fate_of(tested)
        return Step("build", status, summary, cell, tested.said[-40:], seconds, {"built": False})
    new = [line for line in tested.said if without_numbers(line) not in heard]
    left_out = [name for name in touched if name.endswith(".c") and name not in tested.objects]
    told = [f"not compiled for ARCH=um in this configuration: {', '.join(left_out)}"] if left_out else []
    if any(": warning: " in line for line in new):
        return Step("build", WARN, lines(sum(": warning: " in line for line in new), "new warning"), "",
                    [*new, *told], seconds)
    return Step("build", PASS, told[0] if told else "it builds", "part" if told else "", told, seconds)


def fate_of(tested: Tested) -> tuple[str, str, str]:
    """Why there is no kernel to test: a status, a sentence, and a word for the table."""
    if tested.limit:
        return FAIL, f"it was ended: {tested.limit}", "ended"
    if BOOT in tested.seconds:
        return FAIL, "it builds, but does not reach its first case", "boot"
    if tested.said[-1:] and tested.said[-1].startswith(OWN_FAULT):      # the patch may be good: a static has another name
        return WARN, f"{OWN_FAULT}: something that it calls or includes is gone or has another form", "own"
    return FAIL, "it does not build", "no"


def without_numbers(line: str) -> str:
    """A compiler's line without line numbers, which a patch moves."""
    return re.sub(r":\d+(:\d+)?(?=[:, ])|^ *\d+ \|", "", line)


# -- suites ------------------------------------------------------------------


def suites(tested: Tested, base: Tested, before: Tested | None) -> Step:
    """What fails that did neither in the base nor in the state before this patch."""
    seconds = sum(tested.seconds.get(name, 0.0) for name in ("list", "run", "results"))
    known = base.failed()
    before = before or base
    failed = {name: leaf for name, leaf in tested.failed().items() if name not in known}
    new = {name: leaf for name, leaf in failed.items() if name not in before.failed()}
    told = [f"ended in its sandbox: {tested.limit}"] if tested.limit else []
    told += failures(list(new.values()))
    lost = [leaf for name, leaf in tested.results.items() if leaf.status == SKIPPED
            and status_in(before, name) not in ("", SKIPPED)]
    told += [f"no more run: {leaf.name}: {leaf.reason}" for leaf in lost]
    gone = [name for name in before.results if name not in tested.results and "mechanism." not in name]
    told += [f"gone: {name}" for name in gone]
    told += [f"passes now: {name}" for name in known if status_in(tested, name) == PASSED]
    told += [f"known bug, fixed here: {name}: {leaf.known}" for name, leaf in base.results.items()
             if leaf.known and status_in(tested, name) == PASSED]
    counted = f"{tested.closing}" + (f"; {lines(len(new), 'new failure')}" if new else "")
    if len(failed) > len(new):
        counted += f"; {lines(len(failed) - len(new), 'failure')} since an earlier patch"
    if lost or gone:
        counted += f"; {lines(len(lost) + len(gone), 'case')} not run any more"
    status = FAIL if new else WARN if lost or gone else PASS
    cell = f"{len(new)} new" if new else f"-{len(lost) + len(gone)}" if lost or gone else tested.closing.split(" ")[0]
    return Step("suites", status, counted, cell, told, seconds, {"failed": list(new)})


def status_in(state: Tested, name: str) -> str:
    """A result's status there, "" where it has none."""
    return state.results[name].status if name in state.results else ""


def reports(tested: Tested, base: Tested, before: Tested | None) -> Step:
    """What the kernel reported that it did neither in the base nor before this patch: WARN, BUG, lockdep, KASAN."""
    def said(state: Tested) -> dict[str, str]:
        outside = {f"outside of a case: {alike(line)}": line for line in state.reports}
        inside = {f"{name}: {alike(line)}": line for name, leaf in state.results.items()
                  for line in leaf.text if "kernel report: " in line or "Kernel panic" in line}
        return inside | outside

    known = said(base) | said(before or base)
    new = [text for text in said(tested) if text not in known]
    if new:
        return Step("reports", FAIL, lines(len(new), "new report") + " of the kernel", str(len(new)), new)
    return Step("reports", PASS, "the kernel reported nothing new")


def mechanisms(tested: Tested, base: Tested) -> list[str]:
    """Which mechanisms the probe finds otherwise than in the base."""
    return ([f"a mechanism the base has not: {name}" for name in tested.mechanisms if name not in base.mechanisms]
            + [f"a mechanism of the base is gone: {name}" for name in base.mechanisms if name not in tested.mechanisms])


# -- decisions ---------------------------------------------------------------


def decisions(tested: Tested, before: Tested) -> Step:
    """Which decisions differ from those before this patch."""
    difference = compare(recorded(before), recorded(tested))
    told = mechanisms(tested, before)
    moved = [one.name for one in difference.moved]
    for one in difference.alone:
        told.append(f"only {'before' if one.side == 'A' else 'with'} the patch: {one.name}: {one.why}")
    # Which they are is told with the suites.
    hidden = sum("B" in one.texts and "A" not in one.texts and one.broken for one in difference.trouble)
    if moved:
        # Those of a named rule tell more than the rest.
        first = replace(difference, moved=sorted(difference.moved, key=lambda one: not any(one.rules)))
        told += [LEGEND, *decisions_text.moved_lines(first)]
    lists = decisions_text.lists_lines(difference)[1:]
    if not told and not hidden:
        return Step("decisions", PASS, "; ".join([decisions_text.summary(difference), *lists[:1]]),
                    "lists" if lists else "same", lists)
    summary = decisions_text.summary(difference) if moved or hidden or difference.alone else told[0]
    cell = str(len(moved)) if moved else f"-{hidden}" if hidden else ""
    return Step("decisions", WARN, summary, cell, told, data={"changed": moved})


def recorded(state: Tested) -> Recorded:
    """A state as the comparison of decisions takes it."""
    return Recorded("", parse_log("\n".join(state.decisions)), state.results)
