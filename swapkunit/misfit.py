# SPDX-License-Identifier: GPL-2.0
"""Why a hunk does not fit a file: what it wants, and what stands in its place."""
from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    import unidiff

SHOWN = 5       # lines of the tree around the place


def header_of(hunk: unidiff.Hunk) -> str:
    """The @@ line."""
    heading = f" {hunk.section_header}" if hunk.section_header else ""
    return (f"@@ -{hunk.source_start},{hunk.source_length} +{hunk.target_start},{hunk.target_length} @@{heading}")


def compare(hunk: unidiff.Hunk, text: list[str], file: str, suspicions: list[str]) -> tuple[str, list[str]]:
    """Why a hunk does not fit text, and the numbered lines of text that stand in its place."""
    wanted = [line.value.rstrip("\n") for line in hunk if not line.is_added]
    result = [line.value.rstrip("\n") for line in hunk if not line.is_removed]
    if find(result, text) is not None:
        return "the tree has the change of this hunk already", []
    place = find([squeeze(line) for line in wanted], [squeeze(line) for line in text])
    if place is not None:
        why = f" ({'; '.join(suspicions)})" if suspicions else ""
        return f"it fits but for the white space{why}", numbered(text, place)
    lacking = lacking_function(hunk.section_header, text)
    telling_lines = sum(map(telling, wanted))
    first, last = function_span(hunk.section_header, text)
    place, score = nearest(wanted, text, hunk.source_start, first, last)
    if not score:
        place, score = nearest(wanted, text, hunk.source_start, 0, len(text))
    if not score or (lacking and score * 2 < telling_lines):
        return lacking or f"{file} has none of the lines this hunk wants", []
    reason, where = first_difference(wanted, text, place)
    reason += f" ({score} of its {telling_lines} lines are there)"
    return "; ".join(part for part in (lacking, reason) if part), numbered(text, where)


def seems_in_already(changed: Iterable[unidiff.Hunk], text: list[str]) -> str:
    """Says so when text has nearly all lines that a patch adds to it, and those it removes no more."""
    have = Counter(squeeze(line) for line in text if telling(line))
    added = [squeeze(line.value) for hunk in changed for line in hunk if line.is_added and telling(line.value)]
    removed = [squeeze(line.value) for hunk in changed for line in hunk if line.is_removed and telling(line.value)]
    there = sum((Counter(added) & have).values())
    left = sum((Counter(removed) - Counter(added) & have).values())
    if len(added) < 3 or there * 10 < len(added) * 6 or left:
        return ""
    return f"; it seems to be in this tree already: {there} of the {len(added)} lines it adds are"


def squeeze(line: str) -> str:
    """A line without its white space."""
    return "".join(line.split())


def telling(line: str) -> bool:
    """Whether a line is more than a brace."""
    return len(line.strip()) > 3


def find(wanted: list[str], text: list[str]) -> int | None:
    """Where wanted stands in text, whole."""
    if not any(line.strip() for line in wanted):
        return None
    return next((place for place in range(len(text) - len(wanted) + 1)
                 if text[place] == wanted[0] and text[place:place + len(wanted)] == wanted), None)


def lacking_function(heading: str, text: list[str]) -> str:
    """Says so when text has no function of the name in a hunk's heading."""
    match = re.search(r"(\w+)\(", heading or "")
    if not match or any(f"{match[1]}(" in line for line in text):
        return ""
    return f"this tree has no {match[1]}() there"


def function_span(heading: str, text: list[str]) -> tuple[int, int]:
    """The lines of the function a hunk's heading names; all lines when it is not found."""
    match = re.search(r"(\w+)\(", heading or "")
    starts = [number for number, line in enumerate(text)
              if match and re.match(rf"\w[^;]*\b{match[1]}\([^;]*$", line)]
    for start in reversed(starts):
        end = next((number for number in range(start, len(text)) if text[number] == "}"), None)
        if end:
            return start, end + 1
    return 0, len(text)


def nearest(wanted: list[str], text: list[str], start: int, first: int, last: int) -> tuple[int, int]:
    """Where in text[first:last] most lines of wanted are close together, and how many are."""
    want = Counter(line for line in wanted if telling(line))
    window, best = len(wanted) + len(wanted) // 2, (0, 0, 0)
    present: Counter[str] = Counter()
    for place in range(first, last):
        line = text[place]
        present[line] += line in want
        if place - first >= window:
            present[text[place - window]] -= text[place - window] in want
        score = sum(min(present[key], count) for key, count in want.items()) if line in want else 0
        best = max(best, (score, -abs(place - start), place))
    return best[2], best[0]


def first_difference(wanted: list[str], text: list[str], place: int) -> tuple[str, int]:
    """Says where wanted and the part of text around place part, and the line of text to show."""
    begin = max(place - 2 * len(wanted), 0)
    window = text[begin:place + 2 * len(wanted)]
    at = 0
    for number, line in enumerate(wanted):
        if telling(line) and line not in window:
            shown = at - 2 if at else next((window.index(later) - wanted.index(later) + number - 2
                                            for later in wanted[number:] if telling(later) and later in window), 0)
            return f"it wants '{line.strip()}' where the tree has something else", begin + max(shown, 0)
        if telling(line) and line in window[at:]:
            at = window.index(line, at) + 1
    matcher = difflib.SequenceMatcher(lambda line: not telling(line), wanted, window, autojunk=False)
    for kind, first, _, where, _ in matcher.get_opcodes():
        if kind != "equal" and 0 < first < len(wanted):
            before = next((line for line in reversed(wanted[:first]) if telling(line)), "")
            after = next((line for line in wanted[first:] if telling(line)), "")
            return (f"the tree has other lines between '{before.strip()}' and '{after.strip()}'",
                    begin + max(where - 1, 0))
    return "its lines are there, but not in this order", place


def numbered(text: list[str], place: int) -> list[str]:
    """Some lines of text from place on, with their numbers."""
    return [f"{number}: {line.encode('utf-8', 'replace').decode()}"
            for number, line in enumerate(text[place:place + SHOWN], place + 1)]
