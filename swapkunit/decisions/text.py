# SPDX-License-Identifier: GPL-2.0
"""A difference of two runs' decisions, as a terminal shows it."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .diff import SIDES, Difference, Moved
from .notation import KINDS

BEFORE, AFTER = 44, 60      # columns shown of what is alike, and of what is not
CASES = 12                  # of those named in one paragraph


@dataclass(frozen=True)
class Shown:
    """One scenario as printed; scenarios that look alike but for their parameter are printed once."""

    case: str
    kind: str
    rules: tuple[str, str]
    alike: str
    a: str
    b: str


def render(difference: Difference) -> str:
    """The whole text; its last line is the summary."""
    lines = moved_lines(difference)
    lines += alone_lines(difference)
    lines += trouble_lines(difference)
    lines += lists_lines(difference)
    return "\n".join([*lines, *([""] if lines else []), summary(difference)])


def summary(difference: Difference) -> str:
    """713 scenarios, 41 differ: allocation 38, readahead 3, I/O 0"""
    text = f"{difference.compared} scenario{'s' * (difference.compared != 1)}, "
    if difference.moved:
        text += f"{len(difference.moved)} differ: " + ", ".join(f"{kind} {difference.count(kind)}" for kind in KINDS)
    else:
        text += "no decision differs"
    for side in SIDES:
        number = sum(one.side == side for one in difference.alone)
        text += f"; {number} more in {side} only" if number else ""
    hidden = sum(one.broken for one in difference.trouble)
    text += f"; {hidden} crashed or hung and tell nothing" if hidden else ""
    uneven = sum(not one.broken and one.counts for one in difference.trouble)
    return text + (f"; {uneven} failed on one side only" if uneven else "")


def moved_lines(difference: Difference) -> list[str]:
    """The scenarios that decide otherwise, by suite."""
    groups: dict[Shown, list[str]] = {}
    for one in difference.moved:
        groups.setdefault(shown(one), []).append(one.name.partition("[")[2][:-1])
    lines, suite = [], ""
    for one, parameters in groups.items():
        if one.case.split(".")[0] != suite:
            suite = one.case.split(".")[0]
            lines += [""] * bool(lines) + [suite]
        lines.append(f"  {one.case.partition('.')[2]}{listed(parameters)}: {one.kind}")
        lines += rule_lines(one.rules)
        lines += [f"    A  {one.alike}{one.a}", f"    B  {one.alike}{one.b}",
                  " " * (7 + len(one.alike)) + "^ first difference"]
    return lines


def listed(parameters: list[str]) -> str:
    """[zram, ssd]; "" for a case without parameters."""
    if not any(parameters):
        return ""
    return "[" + ("; " if any("," in parameter for parameter in parameters) else ", ").join(parameters) + "]"


def rule_lines(rules: tuple[str, str]) -> list[str]:
    """The rule by its name; both where the sides follow different ones."""
    if rules[0] == rules[1]:
        return [f"    rule: {rules[0]}"] if rules[0] else []
    return [f"    rule of {side}: {rule}" for side, rule in zip(SIDES, rules) if rule]


def shown(one: Moved) -> Shown:
    """A scenario's two lines, cut to what surrounds the first difference."""
    a, b = one.words
    return Shown(one.a.case, one.kind, one.rules, context(a[:one.first]),
                 *(cut(words[one.first:]) for words in (a, b)))


def context(words: list[str]) -> str:
    """The last of words that fit, with a blank at their end."""
    text = " ".join([*words, ""])
    if len(text) <= BEFORE:
        return text
    return "... " + text[len(text) - BEFORE:].partition(" ")[2]


def cut(words: list[str]) -> str:
    """The first of words that fit."""
    text = " ".join(words) or "(nothing more)"
    if len(text) <= AFTER:
        return text
    return text[:AFTER].rpartition(" ")[0] + f" ... {len(text.split())} in all" \
        if " " in text[:AFTER] else text[:AFTER] + "..."


def alone_lines(difference: Difference) -> list[str]:
    """Scenarios of one side, by the reason why the other has none."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in difference.alone:
        reasons.setdefault((one.side, one.why), []).append(one.name)
    lines = []
    for (side, why), names in reasons.items():
        other = SIDES[side == "A"]
        lines += ["", f"only in {side}: {len(names)} scenario{'s' * (len(names) > 1)}; {other}: {why}",
                  *named(names)]
    return lines


def named(names: list[str]) -> list[str]:
    """Cases with the number of their parameters."""
    cases = Counter(name.partition("[")[0] for name in names)
    texts = [case + (f" ({number})" if number > 1 else "") for case, number in cases.items()]
    more = [f"    and {len(texts) - CASES} cases more"] if len(texts) > CASES else []
    return [f"    {case}" for case in texts[:CASES]] + more


def trouble_lines(difference: Difference) -> list[str]:
    """What failed, crashed or hung; a case once for all parameters that say the same."""
    groups: dict[tuple, list[str]] = {}
    for one in difference.trouble:
        case, _, parameter = one.name.partition("[")
        said = tuple(one.texts.get(side, "good")[:150] for side in SIDES)
        groups.setdefault((case, one.broken, one.known, said), []).append(parameter[:-1])
    lines = []
    for (case, broken, known, said), parameters in groups.items():
        lines += ["", f"{'cannot be compared' if broken else 'failed'}: {case}{listed(parameters)}"
                  + " (a known bug)" * known]
        lines += [f"    {side}: {text}" for side, text in zip(SIDES, said)]
    return lines


def lists_lines(difference: Difference) -> list[str]:
    """Scenarios that decide alike and leave the clusters on other lists."""
    if not difference.lists_only:
        return []
    number = len(difference.lists_only)
    return ["", f"decide alike, but leave clusters on other lists: {number} scenario{'s' * (number > 1)}",
            *named(difference.lists_only)]
