# SPDX-License-Identifier: GPL-2.0
"""The log of one scenario as a page to step through: what was decided, and the clusters after it."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import svg
from .notation import MEANING, Area, Decision, Fault, Item, Lists, Rule, Scenario
from .slot_map import LEFT, ROW, ROWS, STRIP, WIDTH, State, replay, strip
from ..base import pages

MOST = 400      # steps of a page


@dataclass(frozen=True)
class Step:
    """One item of the log. text: in the notation; meaning: for a newcomer; drawing: the clusters after it."""

    text: str
    meaning: str
    drawing: str


def steps_of(scenario: Scenario) -> list[Step]:
    """The steps of a scenario, MOST at most. Lists and areas belong to the step before them."""
    clusters = clusters_of(scenario)
    found: list[Step] = []
    for place, item in enumerate(scenario.items):
        if not isinstance(item, (Decision, Fault)) or len(found) == MOST:
            continue
        end = place + 1
        while end < len(scenario.items) and isinstance(scenario.items[end], (Lists, Area)):
            end += 1
        found.append(Step(text_of(item, scenario.areas), meaning_of(item, rule_before(scenario, place)),
                          draw(replay(scenario, end), clusters, item)))
    return found


def rule_before(scenario: Scenario, place: int) -> str:
    """The rule that the decision at this place shows, or ""."""
    return next((item.name for item in reversed(scenario.items[:place]) if isinstance(item, Rule)), "")


def text_of(item: Item, areas: bool) -> str:
    """A step in the notation."""
    if isinstance(item, Decision):
        return item.text(areas)
    assert isinstance(item, Fault)
    return f"!{item.cluster}:{item.slot}"


def meaning_of(item: Item, rule: str) -> str:
    """A step in words."""
    if isinstance(item, Fault):
        return f"a fault needs slot {item.slot} of cluster {item.cluster}"
    assert isinstance(item, Decision)
    number = "to the end of it" if item.count is None else f"{item.count} of them" if item.count > 1 else ""
    words = f"{MEANING[item.letter]}: slot {item.slot} of cluster {item.cluster}" + f", {number}" * bool(number)
    words += f"; the fault is for slot {item.target}" if item.target is not None else ""
    return words + "; it fails" * item.failed + f" (rule: {rule})" * bool(rule)


def clusters_of(scenario: Scenario) -> list[tuple[Area, int]]:
    """The clusters to draw: those that the log names, and others up to ROWS of each area."""
    areas = {item.name: item for item in scenario.items if isinstance(item, Area)}
    for item in scenario.decisions:
        areas.setdefault(item.area, Area(item.area, 0))
    rows = []
    for name, area in sorted(areas.items()):
        named = {item.cluster for item in scenario.items if isinstance(item, (Decision, Fault)) and item.area == name}
        rest = [cluster for cluster in range(area.clusters + (area.tail > 0)) if cluster not in named]
        rows += [(area, cluster) for cluster in sorted([*named, *rest[:max(0, ROWS - len(named))]])]
    return rows


def draw(states: dict[str, State], clusters: list[tuple[Area, int]], item: Item) -> str:
    """The clusters at one moment; the slots of the step are framed."""
    picture = svg.Picture(LEFT + WIDTH + 8)
    several = len({area.name for area, _ in clusters}) > 1
    for area, cluster in clusters:
        state = states.get(area.name, State(area))
        picture.label(0, STRIP + 4, f"{area.name}/" * several + f"cluster {cluster}", "title")
        picture.label(LEFT - 6, STRIP + 4, state.list_of(cluster), "list")
        strip(picture, LEFT, area, cluster, state.used, state.used)
        if isinstance(item, (Decision, Fault)) and (item.area, item.cluster) == (area.name, cluster):
            number = item.slots(area.size) if isinstance(item, Decision) else 1
            picture.rect(LEFT + item.slot * WIDTH / area.size, 1, max(2.0, number * WIDTH / area.size), STRIP + 6,
                         f"now {item.letter if isinstance(item, Decision) else 'fault'}")
        picture.down(ROW)
    return picture.text()


def render(scenario: Scenario, kernel: str) -> str:
    """The page. Needs jinja2, which deps.PAGES names."""
    return pages.render(Path(__file__).with_suffix(".html"), scenario=scenario, kernel=kernel,
                        steps=steps_of(scenario), total=len(scenario.decisions), most=MOST)
