# SPDX-License-Identifier: GPL-2.0
"""The process of the file checks: steps in order, its failures, and that it stops."""
from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from swapkunit.base import commands
from swapkunit.base.errors import SwapKunitError
from swapkunit.presubmit.background import BackgroundChecks, Task
from swapkunit.presubmit.file_checks import FORMAT
from swapkunit.presubmit.file_steps import JobResult, Results
from swapkunit.presubmit.report import PASS, Step
from swapkunit.presubmit.store import Store, key

from .support import Scratch


@dataclass
class FakeChecks:
    """Records what it was asked, or does what a task's first touched file says."""

    store: Store
    pid: Path
    killed: str = ""
    asked: list[str] = field(default_factory=list)
    new: bool = False

    def cold(self) -> bool:
        """Whether the base is new."""
        self.pid.with_name("cold").touch()
        return self.new

    def prepare(self, touched: list[str], users: list[str], _last: list[Path], _stale: bool) -> None:
        """Write down the process id."""
        self.pid.write_text(str(os.getpid()), encoding="ascii")
        self.asked += [*touched, *users]

    def available(self) -> list[str]:
        """The variants."""
        return ["plain"]

    def results_at(self, _files: list[Path], touched: list[str], _stale: bool) -> Results:
        """The results of the jobs."""
        if touched[0] == "refuse":
            raise SwapKunitError("cannot do it: it is a test; go on")
        if touched[0] == "die":
            os._exit(3)     # pylint: disable=protected-access
        if touched[0] == "hang":
            time.sleep(600)
        if touched[0] == "run":
            commands.run(["sh", "-c", 'echo $$ > "$0"; sleep 600', self.pid.with_name("program")])
        self.killed = "it took long" if touched[0] == "killed" else ""
        return {touched[0]: JobResult(0, "", 0.0)}

    def lasting(self) -> bool:
        """Whether to store the results."""
        return not self.killed

    def steps(self, results: Results) -> list[Step]:
        """One step."""
        self.asked += results
        return [Step("W=1", PASS, " ".join(self.asked))]


class Background(Scratch):
    """BackgroundChecks with FakeChecks."""

    def setUp(self) -> None:
        super().setUp()
        self.store, self.pid = Store(self.top / "steps"), self.top / "pid"

    def background(self, *words: str, new: bool = False) -> BackgroundChecks:
        """One task for each word."""
        tasks = [Task([], [word], False, word) for word in words]
        checks = FakeChecks(self.store, self.pid, new=new)
        return BackgroundChecks(checks, ["touched"], ["user"], tasks, None, self.top / "log")

    def worker(self) -> int:
        """The other process, once it runs."""
        for _ in range(3000):
            if self.pid.exists() and self.pid.read_text():
                break
            time.sleep(0.01)
        return int(self.pid.read_text())

    def priorities(self) -> tuple[int, str]:
        """Of the program that it runs, and of its session."""
        for _ in range(3000):
            with contextlib.suppress(OSError, ValueError):
                pid = int((self.top / "program").read_text("ascii"))
                mine, session = os.getpriority(os.PRIO_PROCESS, pid), Path(f"/proc/{pid}/autogroup")
                return mine, session.read_text("ascii").split()[-1] if session.exists() else str(mine)
            time.sleep(0.01)
        raise AssertionError("no program")

    def wait_for(self, wanted: tuple[int, str]) -> None:
        """Wait until the program has these priorities."""
        for _ in range(3000):
            if self.priorities() == wanted:
                break
            time.sleep(0.01)
        self.assertEqual(self.priorities(), wanted)

    def test_it_gives_way_until_it_is_waited_for(self) -> None:
        with self.background("run") as background:
            self.wait_for((commands.NICE, str(commands.NICE)))
            thread = threading.Thread(target=lambda: self.assertRaises(SwapKunitError, background.steps))
            thread.start()
            self.wait_for((commands.NICE if os.geteuid() else 0, "0"))      # not everybody may raise a process
            background.process.kill()
            thread.join()
            os.kill(int((self.top / "program").read_text("ascii")), 9)

    def test_on_a_new_base_it_begins_when_it_is_waited_for(self) -> None:
        with self.background("a", new=True) as background:
            while not (self.top / "cold").exists():
                time.sleep(0.01)
            self.assertFalse(self.pid.exists())
            self.assertEqual(background.steps()[0].summary, "touched user a")

    def gone(self, pid: int) -> bool:
        """Whether a child has ended and was waited for."""
        return not os.path.exists(f"/proc/{pid}")

    def test_steps_come_in_order_and_are_stored(self) -> None:
        with self.background("a", "killed", "b") as background:
            found = [background.steps()[0].summary for _ in range(3)]
            self.assertEqual(background.steps(), [], "the lines are counted")
        self.assertEqual(found, ["touched user a", "touched user a killed", "touched user a killed b"])
        stored = [self.store.get(key(name, FORMAT, ["plain"])) is not None for name in ("a", "killed", "b")]
        self.assertEqual(stored, [True, False, True])
        self.assertTrue(self.gone(self.worker()))

    def test_stored_results_are_used(self) -> None:
        self.store.put(key("die", FORMAT, ["plain"]), {"known": [0, "", 0.0]})
        with self.background("die") as background:
            self.assertEqual(background.steps()[0].summary, "touched user known")

    def test_its_error_is_raised_here(self) -> None:
        with self.background("a", "refuse") as background:
            background.steps()
            self.assertRaisesRegex(SwapKunitError, "^cannot do it: it is a test; go on$", background.steps)

    def test_its_death_is_reported(self) -> None:
        with self.background("die") as background:
            self.assertRaisesRegex(SwapKunitError, "process died: it was killed; run it again", background.steps)

    def test_it_stops_with_the_block(self) -> None:
        with self.assertRaises(KeyboardInterrupt), self.background("hang"):
            pid = self.worker()
            raise KeyboardInterrupt
        self.assertTrue(self.gone(pid))

    def test_it_stops_when_the_parent_dies(self) -> None:
        with self.background("hang") as background:
            self.worker()
            background.process.stdin.close()     # as if our process had died
            self.assertEqual(background.process.wait(timeout=10), 0)
