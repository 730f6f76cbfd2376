# SPDX-License-Identifier: GPL-2.0
"""decisions.txt parsed: words, notes, scenarios."""
from __future__ import annotations

import unittest

from swapkunit.decisions.notation import (
    ALLOCATION, IO, READAHEAD, Area, Decision, Fault, Lists, Rule, Scenario, parse, parse_log, parse_word)

# One word of each form that kunit/fixture/decisions.h documents, as the suite swap_fixture has them.
WORDS = """A0:5 F1:2 D1:2 S1:2 L1:2 A0:5+3 R0:5+8 A2:5.. D2:* A0:16^4 A0:16^4x2 R0:18+8!20 R0:5x R0:0!0x
D-1:1.. D0:1..x b/A0:0 A0:250..""".split()


class Words(unittest.TestCase):
    """One decision."""

    def test_every_form_is_read_and_written_again(self) -> None:
        for word in WORDS:
            decision = parse_word(word)
            self.assertEqual(decision.text(areas="/" in word), word)

    def test_fields(self) -> None:
        self.assertEqual(parse_word("R0:18+8!20"), Decision("R", 0, 18, 8, target=20))
        self.assertEqual(parse_word("R0:0!0x"), Decision("R", 0, 0, 1, target=0, failed=True))
        self.assertEqual(parse_word("b/A3:16^4x2"), Decision("A", 3, 16, 32, order=4, area="b"))
        self.assertEqual(parse_word("D-1:1.."), Decision("D", -1, 1, None))
        self.assertEqual((parse_word("D1:*").slots(), parse_word("A1:500..").slots(512)), (256, 12))

    def test_kinds(self) -> None:
        kinds = {letter: parse_word(f"{letter}0:1").kind for letter in "AFRLWSD"}
        self.assertEqual(kinds, {"A": ALLOCATION, "F": ALLOCATION, "R": READAHEAD, "L": READAHEAD,
                                 "W": IO, "S": IO, "D": IO})

    def test_not_a_decision(self) -> None:
        for word in ("D1", "X0:1", "A0", "A0:", "A0:5+", "A:5", "A0:16^", "R0:5!", "A0:5xx", "bb/A0:1"):
            with self.assertRaisesRegex(ValueError, "is not a decision", msg=word):
                parse_word(word)


class Notes(unittest.TestCase):
    """The notes between decisions."""

    def test_each(self) -> None:
        text = '{a 2x256+9 bad 0:5,1:7} "nonfull, then free" !0:20 R0:18+8!20 b/!1:3 {b free:0,1 nonfull^4:2} {a }'
        self.assertEqual(parse(text), [
            Area("a", 2, 256, 9, ((0, 5), (1, 7))), Rule("nonfull, then free"), Fault("a", 0, 20),
            Decision("R", 0, 18, 8, target=20), Fault("b", 1, 3), Lists("b", {"free": [0, 1], "nonfull^4": [2]}),
            Lists("a", {})])

    def test_lists_of_a_cluster(self) -> None:
        lists = Lists("a", {"free": [0, 1], "full": [3]})
        self.assertEqual((lists.of(1), lists.of(3), lists.of(2)), ("free", "full", ""))

    def test_not_a_note(self) -> None:
        with self.assertRaisesRegex(ValueError, "is not a note"):
            parse("{a 4 clusters}")


class Logs(unittest.TestCase):
    """A whole file."""

    def test_scenarios_over_several_lines(self) -> None:
        log = parse_log("swap_a.one A0:0 W0:0\nswap_a.two[ssd+discard once] D0:*\nswap_a.one A0:1\n")
        self.assertEqual(list(log), ["swap_a.one", "swap_a.two[ssd+discard once]"])
        self.assertEqual(log["swap_a.one"].words(), ["A0:0", "W0:0", "A0:1"])
        self.assertEqual(log["swap_a.two[ssd+discard once]"].case, "swap_a.two")

    def test_a_note_over_two_lines(self) -> None:
        log = parse_log('s.c A0:0 "nonfull\ns.c first" A0:1\n')
        self.assertEqual(log["s.c"].items[1], Rule("nonfull first"))

    def test_areas_are_named_if_there_are_several(self) -> None:
        self.assertEqual(Scenario("s.c", parse("a/A0:0 b/A0:1")).words(), ["a/A0:0", "b/A0:1"])
        self.assertEqual(Scenario("s.c", parse("A0:0")).words(areas=True), ["a/A0:0"])

    def test_rules(self) -> None:
        scenario = Scenario("s.c", parse('A0:* "one" A1:0 A1:1 "two" F0:3'))
        self.assertEqual([scenario.rule_at(number) for number in range(5)], ["one", "one", "one", "two", "two"])
        self.assertEqual(Scenario("s.c", parse("A0:*")).rule_at(0), "")

    def test_not_a_line(self) -> None:
        for line in ("nonsense", "suite A0:0", "s.c"):
            with self.assertRaisesRegex(ValueError, "is not a line of decisions.txt"):
                parse_log(line)


if __name__ == "__main__":
    unittest.main()
