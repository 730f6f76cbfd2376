# SPDX-License-Identifier: GPL-2.0
"""Draw clusters as strips of slots: before the first difference, and what each side did from there on.

The drawing replays the log, so a slot that was allocated without an entry in the log looks free.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import svg
from .diff import SIDES, Moved
from .notation import CLUSTER, Area, Decision, Lists, Scenario

WIDTH, LEFT, ROW, STRIP = 320, 118, 22, 11      # pixels: width of a strip and of its label, height of a row and a strip
GAP = 24                # pixels between A and B
ROWS = 10               # clusters drawn for each area
ROOM = 13               # width of a number, in pixels


@dataclass
class State:
    """An area at one moment; slots are numbered from the first of cluster 0."""

    area: Area
    used: set[int] = field(default_factory=set)
    lists: Lists | None = None
    since: set[int] = field(default_factory=set)    # clusters that changed after the lists were logged

    def list_of(self, cluster: int) -> str:
        """The list a cluster is on, "" if it is not known."""
        return "" if self.lists is None or cluster in self.since else self.lists.of(cluster)

    def positions(self, decision: Decision) -> range:
        """The slots of a decision."""
        start = decision.cluster * self.area.size + decision.slot
        return range(start, start + decision.slots(self.area.size))


@dataclass(frozen=True)
class Taken:
    """The number-th run of slots allocated: consecutive allocations of ascending slots form one run."""

    number: int
    area: str
    start: int
    end: int


def replay(scenario: Scenario, place: int) -> dict[str, State]:
    """The state of every area after the first place items of the log."""
    states: dict[str, State] = {}
    for item in scenario.items[:place]:
        if isinstance(item, Area):
            states[item.name] = State(item)
        elif isinstance(item, Lists):
            state = state_of(states, item.area)
            state.lists, state.since = item, set()
        elif isinstance(item, Decision) and item.letter in "AF":
            state = state_of(states, item.area)
            change = state.used.update if item.letter == "A" else state.used.difference_update
            change(state.positions(item))
            state.since.add(item.cluster)
    return states


def state_of(states: dict[str, State], name: str) -> State:
    """The state of an area, created without clusters if no note has described it."""
    return states.setdefault(name, State(Area(name, 0, CLUSTER)))


def taken_after(scenario: Scenario, first: int, states: dict[str, State]) -> list[Taken]:
    """The runs allocated from decision number first on, in order."""
    runs: list[Taken] = []
    for decision in scenario.decisions[first:]:
        if decision.letter == "F" and runs and runs[-1].number:
            runs.append(Taken(0, "", 0, 0))     # a free ends the run
        if decision.letter != "A":
            continue
        where = state_of(states, decision.area).positions(decision)
        last = runs[-1] if runs else Taken(0, "", 0, 0)
        if last.number and (last.area, last.end) == (decision.area, where.start):
            runs[-1] = replace(last, end=where.stop)
        else:
            runs.append(Taken(sum(run.number > 0 for run in runs) + 1, decision.area, where.start, where.stop))
    return [run for run in runs if run.number]


def draw(moved: Moved) -> str:
    """The SVG of one scenario: before, and below it A beside B."""
    before = replay(moved.a, moved.a.position(moved.first))
    after = [replay(scenario, len(scenario.items)) for scenario in (moved.a, moved.b)]
    taken = [taken_after(scenario, moved.first, states) for scenario, states in zip((moved.a, moved.b), after)]
    clusters = clusters_to_draw(before, after, taken)
    picture = svg.Picture(2 * (LEFT + WIDTH) + GAP + 8)
    panel(picture, 0, "before the first difference", clusters, before, before, [])
    top = picture.top
    for index, (side, states, runs) in enumerate(zip(SIDES, after, taken)):
        picture.top = top
        panel(picture, index * (LEFT + WIDTH + GAP), f"{side} then", clusters, before, states, runs)
    return picture.text()


def clusters_to_draw(before: dict[str, State], after: list[dict[str, State]],
                     taken: list[list[Taken]]) -> list[tuple[Area, int]]:
    """For every area, the clusters that are used, and others up to ROWS."""
    areas = {name: state.area for states in (*after, before) for name, state in states.items()}
    rows = []
    for name, area in sorted(areas.items()):
        touched = {position // area.size for states in (before, *after) if name in states
                   for position in states[name].used}
        touched |= {run.start // area.size for runs in taken for run in runs if run.area == name}
        number = area.clusters + (area.tail > 0)
        listed = sorted(touched)[:ROWS]
        listed += [cluster for cluster in range(number) if cluster not in touched][:ROWS - len(listed)]
        rows += [(area, cluster) for cluster in sorted(listed)]
    return rows


def panel(picture: svg.Picture, left: float, title: str, clusters: list[tuple[Area, int]],
          before: dict[str, State], states: dict[str, State], taken: list[Taken]) -> None:
    """One moment: a strip for each cluster, with the runs in taken numbered. left: of its labels, in pixels."""
    picture.label(left, 14, title, "title")
    picture.down(24)
    several = len({area.name for area, _ in clusters}) > 1
    for area, cluster in clusters:
        state = states.get(area.name, State(area))
        name = f"{area.name}/" * several + f"cluster {cluster}"
        picture.label(left, STRIP + 4, name, "name")
        picture.label(left + LEFT - 6, STRIP + 4, state.list_of(cluster), "list")
        strip(picture, left + LEFT, area, cluster, before.get(area.name, State(area)).used, state.used)
        number_runs(picture, left + LEFT, area, cluster, [run for run in taken if run.area == area.name], len(taken))
        picture.down(ROW)
    picture.down(6)


def strip(picture: svg.Picture, left: float, area: Area, cluster: int, before: set[int], now: set[int]) -> None:
    """The slots of one cluster: free, in use, freed, bad."""
    start, scale = cluster * area.size, WIDTH / area.size
    size = area.tail if cluster == area.clusters and area.tail else area.size
    picture.rect(left, 4, size * scale, STRIP, "free")
    mine = set(range(start, start + area.size))
    bad = {number * area.size + slot for number, slot in area.bad}
    for slots, kind in ((before & now, "used"), (before - now, "freed"), (bad, "bad")):
        for first, end in svg.runs(slots & mine):
            picture.rect(left + (first - start) * scale, 4, (end - first) * scale, STRIP, kind,
                         f"{cluster}:{first - start}+{end - first} {kind}")


def number_runs(picture: svg.Picture, left: float, area: Area, cluster: int, taken: list[Taken],
                total: int) -> None:
    """Draw the runs in a cluster, later ones paler, with their numbers if there is room; total: all runs."""
    start, scale = cluster * area.size, WIDTH / area.size
    free_from = 0.0
    for run in sorted(taken, key=lambda run: run.start):
        first, end = max(run.start, start), min(run.end, start + area.size)
        if first >= end:
            continue
        x = left + (first - start) * scale
        picture.rect(x, 4, max((end - first) * scale, 1.5), STRIP, "taken",
                     f"number {run.number}: {cluster}:{first - start}+{end - first}",
                     opacity=1 - 0.6 * (run.number - 1) / max(total, 2))
        if x >= free_from:
            picture.label(x, 2, str(run.number), "number")
            free_from = x + ROOM
