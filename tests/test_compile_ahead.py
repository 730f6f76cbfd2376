# SPDX-License-Identifier: GPL-2.0
"""The process that compiles ahead: its answers in order, its faults, and that it is gone afterwards."""
from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from swapkunit.presubmit.compile_ahead import Ahead, Task
from swapkunit.presubmit.compile import FORMAT
from swapkunit.base.errors import SwapKunitError
from swapkunit.presubmit.report import PASS, Step
from swapkunit.presubmit.store import Store, key

from .support import Scratch


@dataclass
class FakeChecks:
    """Says how often it was asked, or does what a task's first touched file names."""

    store: Store
    pid: Path
    ended: str = ""
    said: list[str] = field(default_factory=list)

    def prepare(self, touched: list[str], users: list[str], _stale: bool) -> None:
        """Tells who works."""
        self.pid.write_text(str(os.getpid()))
        self.said += [*touched, *users]

    def to_be_had(self) -> list[str]:
        """What it compiles in."""
        return ["plain"]

    def said_at(self, _files: list[Path], touched: list[str], _stale: bool) -> dict[str, list]:
        """What compilers said."""
        if touched[0] == "refuse":
            raise SwapKunitError("cannot do it: it is a test; go on")
        if touched[0] == "die":
            os._exit(3)
        if touched[0] == "hang":
            time.sleep(600)
        self.ended = "it was long" if touched[0] == "ended" else ""
        return {touched[0]: [0, "", 0.0]}

    def lasting(self) -> bool:
        """Whether it is worth keeping."""
        return not self.ended

    def steps(self, said: dict[str, list]) -> list[Step]:
        """One step."""
        self.said += said
        return [Step("W=1", PASS, " ".join(self.said))]


class CompilingAhead(Scratch):
    """Ahead, with the compiling replaced."""

    def ahead(self, *words: str) -> Ahead:
        """An Ahead with one task a word."""
        self.store, self.pid = Store(self.top / "steps"), self.top / "pid"
        tasks = [Task([], [word], False, word) for word in words]
        return Ahead(FakeChecks(self.store, self.pid), ["touched"], ["user"], tasks, None, self.top / "log")

    def worker(self) -> int:
        """The other process, once it is at work."""
        for _ in range(3000):
            if self.pid.exists() and self.pid.read_text():
                break
            time.sleep(0.01)
        return int(self.pid.read_text())

    def gone(self, pid: int) -> bool:
        """Whether a child of ours has ended and was waited for."""
        return not os.path.exists(f"/proc/{pid}")

    def test_answers_come_in_order_and_are_kept(self) -> None:
        with self.ahead("a", "ended", "b") as ahead:
            found = [ahead.steps()[0].summary for _ in range(3)]
            ahead.counted()
        self.assertEqual(found, ["touched user a", "touched user a ended", "touched user a ended b"])
        self.assertEqual([self.store.get(key(name, FORMAT, ["plain"])) is not None for name in ("a", "ended", "b")], [True, False, True])
        self.assertTrue(self.gone(self.worker()))

    def test_what_was_found_earlier_is_not_done_again(self) -> None:
        Store(self.top / "steps").put(key("die", FORMAT, ["plain"]), {"known": [0, "", 0.0]})
        with self.ahead("die") as ahead:
            self.assertEqual(ahead.steps()[0].summary, "touched user known")

    def test_its_error_is_ours(self) -> None:
        with self.ahead("a", "refuse") as ahead:
            ahead.steps()
            self.assertRaisesRegex(SwapKunitError, "^cannot do it: it is a test; go on$", ahead.steps)

    def test_its_end_is_told(self) -> None:
        with self.ahead("die") as ahead:
            self.assertRaisesRegex(SwapKunitError, "came to an end: it was killed; run it again", ahead.steps)

    def test_it_does_not_outlive_the_block(self) -> None:
        with self.assertRaises(KeyboardInterrupt), self.ahead("hang"):
            pid = self.worker()
            raise KeyboardInterrupt
        self.assertTrue(self.gone(pid))

    def test_it_ends_when_the_other_side_is_killed(self) -> None:
        with self.ahead("hang") as ahead:
            self.worker()
            ahead.process.stdin.close()     # as the end of our process does
            self.assertEqual(ahead.process.wait(timeout=10), 0)
