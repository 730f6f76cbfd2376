# SPDX-License-Identifier: GPL-2.0
"""Why a hunk does not fit a file: what it wants, and what stands in its place."""
from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    import unidiff

IS_IN = "the tree has the change of this hunk already"
SHOWN = 5       # lines of the tree around the place
LONG = 20       # characters of a line that is not there by chance
ALIKE = 0.8     # of two lines, as difflib counts


def header_of(hunk: unidiff.Hunk) -> str:
    """The @@ line."""
    heading = f" {hunk.section_header}" if hunk.section_header else ""
    return (f"@@ -{hunk.source_start},{hunk.source_length} +{hunk.target_start},{hunk.target_length} @@{heading}")


def compare(hunk: unidiff.Hunk, text: list[str], file: str, suspicions: list[str]) -> tuple[str, list[str]]:
    """Why a hunk does not fit text, and the numbered lines of text that stand in its place."""
    wanted = [line.value.rstrip("\n") for line in hunk if not line.is_added]
    result = [line.value.rstrip("\n") for line in hunk if not line.is_removed]
    place = find(wanted, text)
    if place is not None:
        return f"the lines it wants are there, but {why_not(hunk)}", numbered(text, place)
    if find(result, text) is not None:
        return IS_IN, []
    why = f" ({'; '.join(suspicions)}: save the raw mail)" if suspicions else ""
    place = find([squeeze(line) for line in wanted], [squeeze(line) for line in text])
    if place is not None:
        return f"it fits but for the white space{why}", numbered(text, place)
    same = evened if suspicions else str        # white space that was changed on the way is no difference
    reason, where = difference(hunk, [same(line) for line in wanted], [same(line) for line in text], file)
    return reason + why, numbered(text, where) if where is not None else []


def why_not(hunk: unidiff.Hunk) -> str:
    """Why git apply does not take a hunk whose lines a file has."""
    kinds = [line.is_context for line in hunk]
    if not any(kinds):
        return "it has no context, and git apply wants some; make the diff without -U0"
    if not kinds[0] or not kinds[-1]:
        return f"it has no context {'after' if kinds[0] else 'before'} the change: git apply takes it for one " \
               f"at the {'end' if kinds[0] else 'start'} of the file"
    return "another hunk of the patch changes them first"


def difference(hunk: unidiff.Hunk, wanted: list[str], text: list[str], file: str) -> tuple[str, int | None]:
    """Where wanted and text part, and the line of text to show."""
    lacking = lacking_function(hunk.section_header, text)
    telling_lines = sum(map(telling, wanted))
    first, last = function_span(hunk.section_header, text)
    place, score = nearest(wanted, text, hunk.source_start, first, last)
    if not score and last - first < len(text):
        other, there = nearest(wanted, text, hunk.source_start, 0, len(text))
        place, score = (other, there) if there > 1 and there * 3 >= telling_lines else (first, 0)
        if not score:
            return f"{function_name(hunk.section_header, text)}() has none of the lines this hunk wants", first
    if not score or (lacking and score * 2 < telling_lines):
        return lacking or f"{file} has none of the lines this hunk wants", None
    reason, where = first_difference(wanted, text, place)
    reason += f" ({score} of its {telling_lines} lines are there)"
    return "; ".join(part for part in (lacking, reason) if part), where


def seems_in_already(changed: Iterable[unidiff.Hunk], text: list[str]) -> str:
    """Says so when text has nearly all lines that a patch adds to it, and those it removes no more."""
    have = Counter(squeeze(line) for line in text if telling(line))
    hunks = list(changed)
    added = [squeeze(line.value) for hunk in hunks for line in hunk if line.is_added and telling(line.value)]
    removed = [squeeze(line.value) for hunk in hunks for line in hunk if line.is_removed and telling(line.value)]
    there = (Counter(added) & have).total()
    if not added or (Counter(removed) - Counter(added) & have):
        return ""
    if len(added) < 3:      # so few may be there by chance
        sure = there == len(added) and all(len(line) >= (LONG if removed else LONG * 3 // 2) for line in added)
        gone = ", what it removes is not" if removed else ""
        return f"; it seems to be in this tree already: what it adds is there{gone}" if sure else ""
    alike = there + (0 if removed else sum(much_like(hunk, have, text) for hunk in hunks))
    if alike * 10 < len(added) * 6:
        return ""
    more = ", or lines much like them" if alike > there else ""
    return f"; it seems to be in this tree already: {alike} of the {len(added)} lines it adds are{more}"


def much_like(hunk: unidiff.Hunk, have: Counter[str], text: list[str]) -> int:
    """How many of the lines a hunk adds are not in text as they are, but in the function nearly so."""
    first, last = function_span(hunk.section_header, text)
    if last - first == len(text):
        return 0
    near = [squeeze(line) for line in text[first:last] if telling(line)]
    added = [squeeze(line.value) for line in hunk if line.is_added and telling(line.value)]
    return sum(1 for line in added if line not in have and len(line) >= LONG
               and (any(line in other for other in near) or difflib.get_close_matches(line, near, 1, ALIKE)))


def strayed(hunk: unidiff.Hunk, line: int, text: list[str]) -> str:
    """Says so when a hunk that went to line of text is not in the function it names, which text has elsewhere."""
    lead = [part.value for part in itertools.takewhile(lambda part: part.is_context, hunk)]
    first, last = function_span(hunk.section_header, text)
    if last - first == len(text) or first < line <= last or any(re.match(r"[A-Za-z_}][^:]*$", part) for part in lead):
        return ""
    here = next((name for name in (function_name(part, []) for part in reversed(text[:line])
                                   if re.match(r"[A-Za-z_]", part)) if name), "")
    return f", in {here + '()' if here else 'no function'} and not in {function_name(hunk.section_header, text)}()"


def squeeze(line: str) -> str:
    """A line without its white space."""
    return "".join(line.split())


def evened(line: str) -> str:
    """A line with one space, or one tab at its start, for any white space."""
    return "\t" * line[:1].isspace() + " ".join(line.split())


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
    name = function_name(heading, text)
    return f"this tree has no {name}() there" if name and not any(
        re.search(rf"\b{name}\(", line) for line in text) else ""


def function_name(heading: str, text: list[str]) -> str:
    """The function in a hunk's heading, which diff -p cuts off after 40 characters; "" for none."""
    match = re.search(r"(\w+)\(", heading or "")
    if match:
        return match[1]
    cut = re.search(r"\b\w{4,}$", heading or "")
    whole = (re.match(rf"\w[^;]*\b({cut[0]}\w*)\(", line) for line in text) if cut and len(heading) > 35 else ()
    return next((found[1] for found in whole if found), "")


def function_span(heading: str, text: list[str]) -> tuple[int, int]:
    """The lines of the function a hunk's heading names; all lines when it is not found."""
    name = function_name(heading, text)
    starts = [number for number, line in enumerate(text)
              if name and re.match(rf"\w[^;]*\b{name}\([^;]*$", line)]
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
            place = f"between '{before.strip()}' and '{after.strip()}'" if before and after else \
                f"after '{before.strip()}'" if before else f"before '{after.strip()}'"
            return f"the tree has other lines {place}", begin + max(where - (1 if after else 3), 0)
    return "its lines are there, but not in this order", place


def numbered(text: list[str], place: int) -> list[str]:
    """Some lines of text from place on, with their numbers."""
    return [f"{number}: {line.encode('utf-8', 'replace').decode()}"
            for number, line in enumerate(text[place:place + SHOWN], place + 1)]
