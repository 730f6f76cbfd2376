# SPDX-License-Identifier: GPL-2.0
"""The steps of one patch: each looks at one thing and returns a Step."""
from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Sequence

from ..base import commands, git
from ..base.kernel import Kernel
from ..base.text import plural
from ..build.build import OWN_FAULT, first_error
from ..decisions.diff import BROKEN, Recorded, compare
from ..decisions.notation import LINE, parse_log
from ..decisions.text import lists_lines, moved_lines, summary as summary_of
from ..run.kernel_reports import MARK, Cause, causes, lines_of
from ..run.known_bugs import split_faults
from ..run.results import FAIL as FAILED, PASS as PASSED, SKIPPED, TestResult
from ..run.verdict import failures
from ..series.applying import Applied, Failed, Outcome, named, which_kernels_take
from ..series.mismatch import squeeze, telling
from ..series.series import Patch
from .report import FAIL, NOTE, PASS, SKIP, WARN, Finding, Step, shortened
from .testbed import BOOT, Tested

FILE_OF = re.compile(r"(?:diff --git .* |\+\+\+ )b/(?P<file>[^\t\n]*)")
HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+(?P<line>\d+)(?:,(?P<new>\d+))? @@")
SOME = 3        # names in a list
NARROW = 18, 30     # columns of decisions before and after the first difference: report.txt is narrow
OUTSIDE = "outside of all cases"
NAMED = re.compile(r"['\u2018](?:struct |union |enum )?(\w+)['\u2019]")     # by a compiler
MISSED = re.compile("undeclared|implicit declaration|undefined type|no member named|unknown type name|incomplete type")
FIXES = re.compile(r"^Fixes: *[0-9a-f]{7,}", re.M | re.I)
MESSAGES = 40   # of a build that failed, from the first error on
QUOTED = 40     # characters of a line of the mail, enough to find it
CHECKPATCH = "scripts/checkpatch.pl"
KINDS = ("ERROR", "WARNING", "CHECK")       # of checkpatch's remarks
MOVED = "moved"
MAIL = "the mail"       # where a remark is about what is not diff
UNSIGNED = "Missing Signed-off-by"      # the only error that is not a matter of style
FIRST_COMMIT = "1da177e4c3f41524e886b7f1b8a0c1fc7321cac2"      # Linux 2.6.12-rc2
REMARK = re.compile(r"^(?P<where>.*?:\d+|.*?): (?P<kind>ERROR|WARNING|CHECK): ?(?P<text>.*)$")
LEGEND = "A: before this patch, B: with it; A1:5+3 allocates slots 5 to 7 of cluster 1, F frees, R reads, W writes; " \
         "a:b.. from slot b to the cluster's end, a:* the whole cluster"
# The files that decide a verdict.
JUDGES = ("include/kunit/", "lib/kunit/", "tools/testing/kunit/", CHECKPATCH, "scripts/kernel-doc")


# -- applies -----------------------------------------------------------------


def applies(patch: Patch, outcome: Outcome, elsewhere: list[str]) -> Step:
    """Whether a patch applies. elsewhere: for one that does not, which other kernels it applies to."""
    if isinstance(outcome, Failed):
        reason, *rest = outcome.lines()
        # The patch that it needs has an error of its own.
        weight = NOTE if outcome.needs else WARN if outcome.missing else FAIL
        return Step("applies", weight, f"does not apply: {outcome.where()}", "no", [reason, *elsewhere, *rest])
    if patch.suspicions:
        return Step("applies", WARN, "applies, but " + "; ".join(patch.suspicions), details=outcome.moved)
    if outcome.strayed:
        return Step("applies", WARN, "applies, but outside of the function it names", details=outcome.strayed)
    judges = [name for name in patch.touched if name.startswith(JUDGES)]
    if judges:
        return Step("applies", WARN, f"applies, but modifies KUnit or checkpatch, which judge it: {', '.join(judges)}",
                    "judge", outcome.moved)
    step = Step("applies", PASS, "applies" + (", with offsets" if outcome.moved else ""),
                "offset" if outcome.moved else "", outcome.moved)
    return step.having([Finding(NOTE, f"applies without its change to {', '.join(outcome.left_out)}, which does not")]
                       if outcome.left_out else [])


def applies_elsewhere(patches: list[Patch], scratch: Path, kernel: Kernel) -> list[list[str]]:
    """For each patch, which kernels other than this one it applies to after those before it."""
    tried = [(f"Linux {other.version}", outcomes) for other, outcomes in which_kernels_take(patches, scratch)
             if other.path != kernel.path]
    return [kernels_for(tried, place) for place in range(len(patches))]


def kernels_for(tried: list[tuple[str, list[Outcome]]], place: int) -> list[str]:
    """The kernels in tried that the patch at place applies to, and those that have it already."""
    takers, having = [], []
    for name, outcomes in tried:
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
    if not (kernel / CHECKPATCH).exists():
        return Step("checkpatch", SKIP, f"this tree has no {CHECKPATCH}")
    # It asks git about commit ids; without the kernel's history there is nothing to ask.
    history = git.in_repository(kernel, "cat-file", "-t", FIRST_COMMIT).output.strip() == "commit"
    done = run_checkpatch(kernel, patch.file, *([] if history else ["--ignore", "UNKNOWN_COMMIT_ID"]), history=history)
    there, old = places(patch), code_of(patch.diff, "-")
    remarks: dict[str, list[str]] = {kind: [] for kind in (*KINDS, MOVED)}
    said = list(filter(None, map(REMARK.match, done.output.splitlines())))
    for match in said:
        number = match["where"].rpartition(":")[2]
        place, line = there[int(number) - 1] if number.isdigit() and int(number) <= len(there) else (MAIL, "")
        if patch.bare and place.startswith(MAIL):
            continue
        kind = MOVED if line and (line in old or in_base(kernel, place, line, match)) else match["kind"]
        remarks[kind].append(f"{place}: {match['kind']}: {match['text']}")
    if done.status and not said:
        return Step("checkpatch", FAIL, f"checkpatch.pl failed: {commands.tail(done.output, 1)}", "failed",
                    done.output.splitlines()[-20:])
    cell = str(len(remarks["ERROR"]) + len(remarks["WARNING"]) or "")
    unsigned = [line for line in remarks["ERROR"] if UNSIGNED in line]
    remarks["ERROR"] = [line for line in remarks["ERROR"] if line not in unsigned]
    counts = {kind: plural(len(lines), kind.lower()) for kind, lines in remarks.items() if lines and kind in KINDS}
    step = Step("checkpatch", PASS, ", ".join([UNSIGNED] * bool(unsigned) + [*counts.values()]) or "no findings", cell)
    if patch.bare:
        step.details = ["a diff without a mail: nothing is said of a description and a sign-off"]
    if remarks[MOVED]:
        step.details += [f"{plural(len(remarks[MOVED]), 'remark')} on lines that the patch only moves or repeats"]
    findings = [Finding(NOTE, count, remarks[kind]) for kind, count in counts.items()]
    return step.having(([Finding(WARN, UNSIGNED, unsigned)] if unsigned else []) + findings)


def run_checkpatch(kernel: Path, file: Path, *more: str, history: bool = False) -> commands.Finished:
    """checkpatch.pl's remarks, a line each. history: whether it may ask git."""
    command: list[str | Path] = ["perl", kernel / CHECKPATCH, "--strict", "--terse", "--no-summary", "--color=never",
                                 *more, file]
    commands.show(command, kernel)
    env = commands.kernel_environment() | ({} if history else {"GIT_DIR": "/nonexistent"})
    return commands.run(command, cwd=kernel, env=env)


def code_of(diff: str, sign: str) -> set[str]:
    """The lines of code that diff removes ("-") or adds ("+"), without white space."""
    return {squeeze(line[1:]) for line in diff.split("\n") if line.startswith(sign) and telling(line)}


def in_base(kernel: Path, place: str, line: str, remark: re.Match[str]) -> bool:
    """Whether the base has this line in the same file, with the same remark."""
    name = place.rpartition(":")[0]
    try:
        text = (kernel / name).read_text(errors="replace").split("\n")
    except OSError:
        return False
    same = [number for number, other in enumerate(text, 1) if squeeze(other) == line]
    if not same:
        return False
    output = run_checkpatch(kernel, kernel / name, "--file").output
    return any(f":{number}: {remark['kind']}: {remark['text']}" in output for number in same)


def places(patch: Patch) -> list[tuple[str, str]]:
    """For each line of patch.file its place for a reader, FILE:LINE or the text of the mail's line, and the code.

    checkpatch's --showfile keeps counting in the last file it saw, and the line numbers of
    our copy are not those of the mail. The code has no white space, and is "" outside of hunks.
    """
    there: list[tuple[str, str]] = []
    file, number, old, new, quoted = "", 0, 0, 0, True
    for line in patch.file.read_text(errors="replace").split("\n"):
        named, hunk = FILE_OF.match(line), HUNK.match(line)
        if old > 0 or new > 0:
            old, new = old - (line[:1] in "- "), new - (line[:1] in "+ ")
            number += line[:1] in "+ "
            there.append((f"{file}:{number}", squeeze(line[1:]) if telling(line) else ""))
            continue
        quoted = quoted and line != "---"
        if named or line == "-- ":
            file = named["file"] if named else ""
        elif hunk and file:
            number, old, new = int(hunk["line"]) - 1, int(hunk["old"] or 1), int(hunk["new"] or 1)
        words = " ".join(line.split()) if quoted else ""
        there.append((file or (f'{MAIL}, "{shortened(words, QUOTED)}"' if words else MAIL), ""))
    return there


# -- build -------------------------------------------------------------------


def builds(tested: Tested, known: set[str], touched: list[str]) -> Step:
    """Whether the kernel builds, and whether the compiler has new messages.

    known: its messages for the base and for earlier patches, without_numbers().
    """
    seconds = sum(tested.seconds.get(name, 0.0) for name in ("tree", "build"))
    if not tested.built:
        status, summary, cell = why_no_kernel(tested)
        at = first_error(tested.messages)
        lines = tested.messages[at:at + MESSAGES] or tested.messages[-MESSAGES:]
        return Step("build", status, summary, cell, lines, seconds, {"built": False})
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
    first = tested.messages[first_error(tested.messages):][:1]
    return FAIL, ": ".join(["does not build", *first]), "no"


def not_its_fault(step: Step, patches: list[Patch], missing: list[str], before: Step | None) -> Step:
    """A failed build that is due to an earlier patch: one that does not apply, is missing, or did not build either.

    patches: the earlier ones that do not apply; before: the build step of the state before.
    """
    error = step.summary
    names = set(NAMED.findall(error))
    added = [one for one in patches if names & set(re.findall(r"\w+", "\n".join(re.findall(r"^\+.*", one.diff, re.M))))]
    if before and not before.data.get("built", True) and without_numbers(error) in without_numbers(before.summary):
        return replace(step, status=NOTE, summary=f"as before this patch: {error}")
    if added:
        return replace(step, status=NOTE, summary=f"without patch {added[0].number}, which does not apply: {error}")
    if missing:
        are = "are" if len(missing) > 1 else "is"
        return replace(step, status=WARN, summary=f"without {named(missing)}, which {are} missing: {error}")
    return step


def with_what_the_tree_lacks(step: Step, tree: Path) -> Step:
    """A failed build, with what its first error names and this kernel does not have: another base may be meant."""
    places = [tree / name for name in ("include", "mm", "arch/um", "arch/x86/um") if (tree / name).is_dir()]
    names = NAMED.findall(step.summary.partition("; did you mean")[0]) if MISSED.search(step.summary) else []
    lost = [name for name in dict.fromkeys(names) if commands.run(
        ["grep", "-rqw", "--include=*.[ch]", "-e", name, *places]).status == 1]
    told = [f"this kernel has no {' and no '.join(lost)}: is it the one that the patch is for?"] if lost else []
    return replace(step, details=[*told, *step.details])


def without_numbers(line: str) -> str:
    """A compiler's line without line numbers: a patch moves lines."""
    return re.sub(r":\d+(:\d+)?(?=[:, ])|^ *\d+ \|", "", line)


# -- suites ------------------------------------------------------------------


def suites(tested: Tested, base: Tested, before: Tested | None) -> Step:
    """New failures, and cases that no longer run, compared with the base and with the state before this patch.

    Cases that fail by nothing but a kernel report or a panic are left to reports().
    """
    seconds = sum(tested.seconds.get(name, 0.0) for name in ("list", "run", "results"))
    known = [*base.failed(), *base.unstable]
    before = before or base
    failed = {name: test for name, test in tested.failed().items() if name not in known}
    new = {name: test for name, test in failed.items() if name not in before.failed()}
    wrong = [test for test in new.values() if not only_reports(test)]
    skipped = [test for name, test in tested.results.items() if test.status == SKIPPED
               and status_in(before, name) not in ("", SKIPPED) and name not in known]
    gone = [name for name in before.results
            if name not in tested.results and "mechanism." not in name and not tested.left_out(name)]
    not_built = [name for name in tested.not_built if name not in before.not_built]
    misfits = [line for line in tested.misfits if line not in before.misfits]
    findings = [Finding(FAIL, f"killed by the sandbox: {tested.limit}")] if tested.limit else []
    if wrong:
        findings.append(Finding(FAIL, plural(len(wrong), "new failure"), failures(wrong)))
    lost = len(skipped) + len(gone)
    if lost:
        findings.append(Finding(WARN, f"{plural(lost, 'case')} no longer run", [
            *(f"{test.name}: {test.reason}" for test in skipped), *(f"gone: {name}" for name in gone)]))
    if len(new) > len(wrong):
        findings.append(Finding(NOTE, f"{plural(len(new) - len(wrong), 'case')} with nothing but new kernel reports"))
    if len(failed) > len(new):
        findings.append(Finding(NOTE, f"{plural(len(failed) - len(new), 'failure')} since an earlier patch"))
    if misfits:
        findings.append(Finding(NOTE, f"{plural(len(not_built), 'case')} not built: swap-kunit needs an update for "
                                      "this patch, which may be fine", [*not_built, *misfits]))
    cell = f"{len(new)} new" if new else f"-{lost}" if lost else f"{len(failed)} still" if failed else \
        tested.closing.split(" ")[0]
    summary = "; ".join([tested.closing, *(one.text for one in findings)])
    return Step("suites", PASS, summary, cell, [], seconds,
                {"failed": list(new), "totals": tested.closing}).having(findings)


def status_in(state: Tested, name: str) -> str:
    """A result's status in a state; "" if it has none."""
    return state.results[name].status if name in state.results else ""


def better(tested: Tested, base: Tested, before: Tested | None, fixes: bool, moved: list[str]) -> list[str]:
    """What a patch changes for the better: known bugs that are gone, cases that pass now, their decisions.

    fixes: it says that it fixes something; moved: the scenarios whose decisions differ.
    """
    before = before or base
    if [line for line in tested.misfits if line not in before.misfits]:     # what failed may not be looked at now
        return []
    mended = {name: test for name, test in before.results.items()
              if test.status == FAILED and status_in(tested, name) == PASSED and name not in base.unstable}
    bugs: dict[str, list[str]] = {}
    for name, test in mended.items():
        bugs.setdefault(test.known, []).append(name)
    lines = [f"{'known bug gone: ' + title if title else 'passes now'}: {some(names)}" for title, names in bugs.items()]
    decided = [name for name in moved if name in mended]
    lines += [f"decisions differ in {some(decided)}, as shown below"] if decided else []
    return lines or ["no case sees this fix"] * fixes


def some(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - SOME} more" if len(names) > SOME else ""
    return ", ".join(names[:SOME]) + more


# -- kernel reports ----------------------------------------------------------


def only_reports(test: TestResult) -> bool:
    """Whether a case failed by nothing but what reports() shows."""
    return test.fate == "crashed" and bool(lines_of(test.text)) or \
        all(MARK in fault for fault in split_faults(test.text)) and bool(test.text)


def reports(tested: Tested, base: Tested, before: Tested | None) -> Step:
    """New kernel reports, each cause once, compared with the base and with the state before this patch."""
    known: dict[str, set[str]] = {}
    for state in (base, before or base):
        for cause, one in causes_in(state).items():
            known.setdefault(cause, set()).update(one.cases)
    findings = []
    for cause, one in causes_in(tested).items():
        cases = [case for case in one.cases if case not in known.get(cause, ()) and case not in base.unstable]
        if cases:
            number = plural(len(cases), f"{'more ' * (cause in known)}case") if cases != [OUTSIDE] else OUTSIDE
            evidence = [f"stack: {' < '.join(one.stack)}"] if one.stack else []
            findings.append(Finding(FAIL if one.fatal else WARN, f"{one.text}: {'in ' * (cases != [OUTSIDE])}{number}",
                                    evidence + ([f"cases: {some(cases)}"] if cases != [OUTSIDE] else [])))
    summary = plural(len(findings), "new kernel report") if findings else "no new kernel reports"
    return Step("reports", PASS, summary, str(len(findings)) if findings else "").having(findings)


def causes_in(state: Tested) -> dict[str, Cause]:
    """The causes of a state's reports."""
    return causes([*((OUTSIDE, [MARK + line]) for line in state.reports),
                   *((name, test.text) for name, test in state.results.items())])


def crashes(base: Tested) -> list[str]:
    """What is said once of the base: its cases that crash or hang."""
    names = [name for name, test in base.results.items() if test.fate in BROKEN]
    return [f"the base itself crashes or hangs in {plural(len(names), 'case')}, which no patch is blamed for: "
            f"{some(names)}"] if names else []


def unstable(base: Tested) -> list[str]:
    """What is said once of the base: what is not the same in two runs of it."""
    return [f"not stable here, and compared no more: {some(base.unstable)}"] if base.unstable else []


# -- decisions ---------------------------------------------------------------


def built_in_both(state: Tested, other: Tested, changing: Sequence[str]) -> Recorded:
    """What a state decided, without the cases that are left out of the other one, and without some scenarios."""
    lines = [line for line in state.decisions if not other.left_out(line.split(" ")[0])
             and not line.startswith(tuple(f"{name} " for name in changing))]
    results = {name: test for name, test in state.results.items() if not other.left_out(name)}
    return Recorded("", parse_log("\n".join(lines)), results)


def lines_about(state: Tested, names: list[str]) -> list[str]:
    """What a state decided in these scenarios, as in decisions.txt."""
    return [line for line in state.decisions if (found := LINE.fullmatch(line)) and found[1] in names]


def decisions(tested: Tested, before: Tested, changing: Sequence[str] = ()) -> Step:
    """Which decisions and mechanisms differ from those before this patch; changing: scenarios not to compare."""
    old, new = built_in_both(before, tested, changing), built_in_both(tested, before, changing)
    difference = compare(old, new)
    # What crashed before has been said, and the steps suites and reports say what crashes now.
    difference.failed = [one for one in difference.failed if not one.broken or "A" not in one.texts]
    hidden = sum(one.broken for one in difference.failed)
    moved = [one.name for one in difference.moved]
    findings = []
    if moved:
        # First those with a named rule, which say most.
        first = replace(difference, moved=sorted(difference.moved, key=lambda one: not any(one.rules)))
        findings.append(Finding(WARN, summary_of(difference), [LEGEND, *moved_lines(first, *NARROW)]))
    # What is new with the patch lost nothing that was looked at before.
    findings += [Finding(weight, f"mechanism {how}: {name}") for how, weight, mine, others in (
        ("added", NOTE, tested, before), ("removed", WARN, before, tested))
        for name in mine.mechanisms if name not in others.mechanisms]
    for side, weight, where in (("A", WARN, "before"), ("B", NOTE, "with")):
        alone = [f"{one.name}: {one.why}" for one in difference.alone if one.side == side]
        if alone:
            findings.append(Finding(weight, f"{plural(len(alone), 'scenario')} only {where} the patch", alone))
    if hidden:
        findings.append(Finding(NOTE, f"{plural(hidden, 'case')} crashed or hung and cannot be compared"))
    lists = lists_lines(difference)[1:]
    summary = findings[0].text if findings else "; ".join([summary_of(difference), *lists[:1]])
    cell = str(len(moved)) if moved else f"-{hidden}" if hidden else "" if findings else "lists" if lists else "same"
    return Step("decisions", PASS, summary, cell, lists, data={
        "changed": moved, "before": lines_about(before, moved), "with": lines_about(tested, moved)}).having(findings)
