# SPDX-License-Identifier: GPL-2.0
"""Why a hunk does not apply to a file: which lines it expects, and what the file has there."""
from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    import unidiff

IS_IN = "the tree already has the change of this hunk"
SEEMS_IN = "; the tree seems to have this change already: "
SHOWN = 5       # lines of the tree around the place
LONG = 20       # characters of a line that does not occur by chance
ALIKE = 0.8     # the difflib ratio of two similar lines
INSIDE = re.compile(r"\t|\s*$|#|\w+:")       # starts a line in a function's body, by coding style


def header_of(hunk: unidiff.Hunk) -> str:
    """The @@ line."""
    heading = f" {hunk.section_header}" if hunk.section_header else ""
    return f"@@ -{hunk.source_start},{hunk.source_length} +{hunk.target_start},{hunk.target_length} @@{heading}"


def compare(hunk: unidiff.Hunk, text: list[str], file: str, suspicions: list[str]) -> tuple[str, list[str]]:
    """Why a hunk does not apply to text, and the numbered lines of text at its place."""
    expected = [line.value.rstrip("\n") for line in hunk if not line.is_added]
    result = [line.value.rstrip("\n") for line in hunk if not line.is_removed]
    place = find(expected, text)
    if place is not None:
        return f"the expected lines are there, but {why_refused(hunk)}", numbered(text, place)
    if find(result, text) is not None:
        return IS_IN, []
    why = f" ({'; '.join(suspicions)}; save the raw mail)" if suspicions else ""
    place = find([squeeze(line) for line in expected], [squeeze(line) for line in text])
    if place is not None:
        return f"only white space differs{why}", numbered(text, place)
    if suspicions:      # ignore white space that a mail program changed
        expected, compared = [evened(line) for line in expected], [evened(line) for line in text]
    else:
        compared = text
    reason, where = difference(hunk, expected, compared, file)
    return reason + why, numbered(text, where) if where is not None else []


def why_refused(hunk: unidiff.Hunk) -> str:
    """Why git apply refuses a hunk although the file has its lines."""
    kinds = [line.is_context for line in hunk]
    if not any(kinds):
        return "the hunk has no context, which git apply needs; make the diff without -U0"
    if not kinds[0] or not kinds[-1]:
        side, end = ("after", "end") if kinds[0] else ("before", "start")
        return f"the hunk has no context {side} the change, so git apply expects it at the {end} of the file"
    return "another hunk of the patch changes them first"


def difference(hunk: unidiff.Hunk, expected: list[str], text: list[str], file: str) -> tuple[str, int | None]:
    """How expected and text differ, and the line of text to show."""
    lacking = lacking_function(hunk.section_header, text)
    telling_lines = sum(map(telling, expected))
    first, last = function_span(hunk.section_header, text)
    place, score = nearest(expected, text, hunk.source_start, first, last)
    if not score and last - first < len(text):
        other, there = nearest(expected, text, hunk.source_start, 0, len(text))
        place, score = (other, there) if there > 1 and there * 3 >= telling_lines else (first, 0)
        if not score:
            return f"{function_name(hunk.section_header, text)}() has none of the lines this hunk expects", first
    if not score or (lacking and score * 2 < telling_lines):
        return lacking or f"{file} has none of the lines this hunk expects", None
    reason, where = first_difference(expected, text, place)
    reason += f" (the tree has {score} of its {telling_lines} lines)"
    return "; ".join(part for part in (lacking, reason) if part), where


def seems_in_already(changed: Iterable[unidiff.Hunk], text: list[str]) -> str:
    """A remark if text has nearly all lines that a patch adds and none that it removes; else ""."""
    have = Counter(squeeze(line) for line in text if telling(line))
    hunks = list(changed)
    added = [squeeze(line.value) for hunk in hunks for line in hunk if line.is_added and telling(line.value)]
    removed = [squeeze(line.value) for hunk in hunks for line in hunk if line.is_removed and telling(line.value)]
    there = (Counter(added) & have).total()
    if not added or (Counter(removed) - Counter(added) & have):
        return ""
    if len(added) < 3:      # so few may occur by chance
        sure = there == len(added) and all(len(line) >= (LONG if removed else LONG * 3 // 2) for line in added)
        gone = ", and not what it removes" if removed else ""
        return f"{SEEMS_IN}it has what the patch adds{gone}" if sure else ""
    alike = there + (0 if removed else sum(similar(hunk, have, text) for hunk in hunks))
    if alike * 10 < len(added) * 6:
        return ""
    more = ", or similar lines" if alike > there else ""
    return f"{SEEMS_IN}it has {alike} of the {len(added)} lines that the patch adds{more}"


def similar(hunk: unidiff.Hunk, have: Counter[str], text: list[str]) -> int:
    """How many added lines of a hunk are not in text, but have a similar line in the function."""
    first, last = function_span(hunk.section_header, text)
    if last - first == len(text):
        return 0
    near = [squeeze(line) for line in text[first:last] if telling(line)]
    added = [squeeze(line.value) for line in hunk if line.is_added and telling(line.value)]
    return sum(1 for line in added if line not in have and len(line) >= LONG
               and (any(line in other for other in near) or difflib.get_close_matches(line, near, 1, ALIKE)))


def lead_of(hunk: unidiff.Hunk) -> list[str]:
    """The context before the first changed line."""
    return [line.value.rstrip("\n") for line in itertools.takewhile(lambda line: line.is_context, hunk)]


def strayed(hunk: unidiff.Hunk, here: str, text: list[str]) -> str:
    """A remark if a hunk applied in another function than it names, which text has with most of its lines; else "".

    here: git's heading of the hunk's place. Silent for a hunk that begins outside of a function.
    """
    name, other = function_name(hunk.section_header, text), function_name(here, text)
    first, last = function_span(hunk.section_header, text)
    if not other or name == other or last - first == len(text) or not all(map(INSIDE.match, lead_of(hunk))):
        return ""
    expected = Counter(line.value.rstrip("\n") for line in hunk if not line.is_added and telling(line.value))
    if 2 * (expected & Counter(text[first:last])).total() < expected.total():
        return ""
    return f", in {other}() instead of {name}()"


def squeeze(line: str) -> str:
    """A line without its white space."""
    return "".join(line.split())


def evened(line: str) -> str:
    """A line with all white space replaced by one space, or one tab at its start."""
    return "\t" * line[:1].isspace() + " ".join(line.split())


def telling(line: str) -> bool:
    """Whether a line is more than a brace."""
    return len(line.strip()) > 3


def find(lines: list[str], text: list[str]) -> int | None:
    """Where all lines occur in text, in a row."""
    if not any(line.strip() for line in lines):
        return None
    return next((place for place in range(len(text) - len(lines) + 1)
                 if text[place] == lines[0] and text[place:place + len(lines)] == lines), None)


def lacking_function(heading: str, text: list[str]) -> str:
    """A remark if text does not have the function in a hunk's heading; else ""."""
    name = function_name(heading, text)
    return f"this file has no {name}() in this tree" if name and not any(
        re.search(rf"\b{name}\(", line) for line in text) else ""


def function_name(heading: str, text: list[str]) -> str:
    """The function in a hunk's heading, which diff -p cuts off after 40 characters; "" if there is none."""
    match = re.search(r"(\w+)\(", heading or "")
    if match:
        return match[1]
    cut = re.search(r"\b\w{4,}$", heading or "")
    whole = (re.match(rf"\w[^;]*\b({cut[0]}\w*)\(", line) for line in text) if cut and len(heading) > 35 else ()
    return next((found[1] for found in whole if found), "")


def function_span(heading: str, text: list[str]) -> tuple[int, int]:
    """First and last line of the function in a hunk's heading; all lines if text does not have it."""
    name = function_name(heading, text)
    starts = [number for number, line in enumerate(text)
              if name and re.match(rf"\w[^;]*\b{name}\([^;]*$", line)]
    for start in reversed(starts):
        end = next((number for number in range(start, len(text)) if text[number] == "}"), None)
        if end:
            return start, end + 1
    return 0, len(text)


def nearest(expected: list[str], text: list[str], start: int, first: int, last: int) -> tuple[int, int]:
    """Where in text[first:last] most of the expected lines are close together, and how many."""
    want = Counter(line for line in expected if telling(line))
    window, best = len(expected) + len(expected) // 2, (0, 0, 0)
    present: Counter[str] = Counter()
    for place in range(first, last):
        line = text[place]
        present[line] += line in want
        if place - first >= window:
            present[text[place - window]] -= text[place - window] in want
        score = sum(min(present[key], count) for key, count in want.items()) if line in want else 0
        best = max(best, (score, -abs(place - start), place))
    return best[2], best[0]


def first_difference(expected: list[str], text: list[str], place: int) -> tuple[str, int]:
    """The first difference between expected and text around place, and the line of text to show."""
    begin = max(place - 2 * len(expected), 0)
    window = text[begin:place + 2 * len(expected)]
    at = 0
    for number, line in enumerate(expected):
        if telling(line) and line not in window:
            shown = at - 2 if at else next((window.index(later) - expected.index(later) + number - 2
                                            for later in expected[number:] if telling(later) and later in window), 0)
            return f"the hunk expects '{line.strip()}' where the tree has something else", begin + max(shown, 0)
        if telling(line) and line in window[at:]:
            at = window.index(line, at) + 1
    matcher = difflib.SequenceMatcher(lambda line: not telling(line), expected, window, autojunk=False)
    for kind, first, _, where, _ in matcher.get_opcodes():
        if kind != "equal" and 0 < first < len(expected):
            before = next((line for line in reversed(expected[:first]) if telling(line)), "")
            after = next((line for line in expected[first:] if telling(line)), "")
            between = f"between '{before.strip()}' and '{after.strip()}'" if before and after else \
                f"after '{before.strip()}'" if before else f"before '{after.strip()}'"
            return f"the tree has other lines {between}", begin + max(where - (1 if after else 3), 0)
    return "the tree has the expected lines in another order", place


def numbered(text: list[str], place: int) -> list[str]:
    """SHOWN lines of text from place on, with their numbers."""
    return [f"{number}: {line.encode('utf-8', 'replace').decode()}"
            for number, line in enumerate(text[place:place + SHOWN], place + 1)]
