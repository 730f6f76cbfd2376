# SPDX-License-Identifier: GPL-2.0
"""Something done in a forked process meanwhile."""
from __future__ import annotations

import os
import time
import unittest

from swapkunit.base import commands
from swapkunit.base.beside import Beside
from swapkunit.base.errors import SwapKunitError


class Besides(unittest.TestCase):
    """What the other process does and leaves."""

    def test_value_comes_from_another_process(self) -> None:
        with Beside(os.getpid) as beside:
            other = beside.value()
        self.assertNotEqual(other, os.getpid())
        with self.assertRaises(ProcessLookupError):
            os.kill(other, 0)

    def test_what_goes_wrong(self) -> None:
        def refuse() -> None:
            raise SwapKunitError("no; do this")

        def die() -> int:
            if os.getpid() != here:
                os._exit(3)     # pylint: disable=protected-access
            return 5
        here = os.getpid()
        with Beside(refuse) as beside, self.assertRaisesRegex(SwapKunitError, "no; do this"):
            beside.value()
        with Beside(die) as beside:
            self.assertEqual(beside.value(), 5, "it is done here")

    def test_end_of_the_block_ends_it(self) -> None:
        started = time.monotonic()
        with self.assertRaises(KeyError), Beside(lambda: time.sleep(60)):
            raise KeyError
        self.assertLess(time.monotonic() - started, 30)

    def test_programs_end_without_a_delay(self) -> None:
        started = time.monotonic()
        process = commands.subprocess.Popen(["sleep", "0.2"])
        self.assertFalse(commands.ends_within(process, 0.01))
        self.assertTrue(commands.ends_within(process, 60))
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
