# SPDX-License-Identifier: GPL-2.0
"""The difference between two runs as plain text."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .diff import SIDES, Difference, Moved
from .notation import KINDS
from ..base.text import plural

BEFORE, AFTER = 44, 60      # columns of decisions shown before the first difference, and from it on
CASES = 12                  # cases named in one paragraph


@dataclass(frozen=True)
class Shown:
    """One scenario as printed; parameters that print alike share one."""

    case: str
    kind: str
    rules: tuple[str, str]
    before: str
    a: str
    b: str


def render(difference: Difference) -> str:
    """The whole text; its last line is the summary."""
    lines = [*moved_lines(difference), *alone_lines(difference), *failed_lines(difference), *lists_lines(difference)]
    return "\n".join([*lines, *([""] if lines else []), summary(difference)])


def summary(difference: Difference) -> str:
    """713 scenarios, 41 differ: allocation 38, readahead 3, I/O 0"""
    text = f"{plural(difference.compared, 'scenario')}, "
    if difference.moved:
        text += f"{len(difference.moved)} differ: " + ", ".join(f"{kind} {difference.count(kind)}" for kind in KINDS)
    else:
        text += "no decision differs"
    for side in SIDES:
        number = sum(one.side == side for one in difference.alone)
        text += f"; {number} more in {side} only" if number else ""
    broken = sum(one.broken for one in difference.failed)
    text += f"; {broken} crashed or hung and cannot be compared" if broken else ""
    uneven = sum(not one.broken and one.counts for one in difference.failed)
    return text + (f"; {uneven} failed on one side only" if uneven else "")


def moved_lines(difference: Difference, before: int = BEFORE, after: int = AFTER) -> list[str]:
    """The scenarios whose decisions differ, by suite; before and after: columns, see BEFORE and AFTER."""
    groups: dict[Shown, list[str]] = {}
    for one in difference.moved:
        groups.setdefault(shown(one, before, after), []).append(one.name.partition("[")[2][:-1])
    lines: list[str] = []
    last = ""
    for printed, parameters in groups.items():
        suite, _, case = printed.case.partition(".")
        if suite != last:
            lines += [""] * bool(lines) + [suite]
            last = suite
        lines += [f"  {case}{listed(parameters)}: {printed.kind}", *rule_lines(printed.rules),
                  f"    A  {printed.before}{printed.a}", f"    B  {printed.before}{printed.b}",
                  " " * (7 + len(printed.before)) + "^ first difference"]
    return lines


def listed(parameters: list[str]) -> str:
    """[zram, ssd]; "" for a case without parameters."""
    if not any(parameters):
        return ""
    return "[" + ("; " if any("," in parameter for parameter in parameters) else ", ").join(parameters) + "]"


def rule_lines(rules: tuple[str, str]) -> list[str]:
    """The rule in force; those of both sides if they differ."""
    if rules[0] == rules[1]:
        return [f"    rule: {rules[0]}"] if rules[0] else []
    return [f"    rule of {side}: {rule}" for side, rule in zip(SIDES, rules) if rule]


def shown(one: Moved, before: int, after: int) -> Shown:
    """What is printed of a scenario: its decisions around the first difference."""
    a, b = one.words
    return Shown(one.a.case, one.kind, one.rules, context(a[:one.first], before),
                 *(cut(words[one.first:], after) for words in (a, b)))


def context(words: list[str], columns: int) -> str:
    """The last words that fit, with a trailing space."""
    text = " ".join([*words, ""])
    if len(text) <= columns:
        return text
    return "... " + text[len(text) - columns:].partition(" ")[2]


def cut(words: list[str], columns: int) -> str:
    """The first words that fit."""
    text = " ".join(words) or "(nothing more)"
    if len(text) <= columns:
        return text
    return text[:columns].rpartition(" ")[0] + f" ... {len(text.split())} in all" \
        if " " in text[:columns] else text[:columns] + "..."


def alone_lines(difference: Difference) -> list[str]:
    """Scenarios of one side only, by the reason why the other has none."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in difference.alone:
        reasons.setdefault((one.side, one.why), []).append(one.name)
    lines = []
    for (side, why), names in reasons.items():
        other = SIDES[side == "A"]
        lines += ["", f"only in {side}: {plural(len(names), 'scenario')}; {other}: {why}", *named(names)]
    return lines


def named(names: list[str]) -> list[str]:
    """Cases, each with the number of its scenarios."""
    cases = Counter(name.partition("[")[0] for name in names)
    texts = [case + (f" ({number})" if number > 1 else "") for case, number in cases.items()]
    more = [f"    and {len(texts) - CASES} more cases"] if len(texts) > CASES else []
    return [f"    {case}" for case in texts[:CASES]] + more


def failed_lines(difference: Difference) -> list[str]:
    """Cases that failed, crashed or hung; parameters with the same messages share a paragraph."""
    groups: dict[tuple[str, bool, bool, tuple[str, ...]], list[str]] = {}
    for one in difference.failed:
        case, _, parameter = one.name.partition("[")
        texts = tuple(one.texts.get(side, "good")[:150] for side in SIDES)
        groups.setdefault((case, one.broken, one.known, texts), []).append(parameter[:-1])
    lines = []
    for (case, broken, known, texts), parameters in groups.items():
        lines += ["", f"{'cannot be compared' if broken else 'failed'}: {case}{listed(parameters)}"
                  + " (a known bug)" * known]
        lines += [f"    {side}: {text}" for side, text in zip(SIDES, texts)]
    return lines


def lists_lines(difference: Difference) -> list[str]:
    """Scenarios with the same decisions whose clusters end up on other lists."""
    if not difference.lists_only:
        return []
    return ["", "same decisions, but clusters end up on other lists: "
            + plural(len(difference.lists_only), "scenario"), *named(difference.lists_only)]
