# SPDX-License-Identifier: GPL-2.0
"""Fragments, and which Kconfig dependency is not met."""
from __future__ import annotations

import unittest

from swapkunit.build import kconfig
from swapkunit.base.errors import SwapKunitError
from swapkunit.build.fragments import KunitConfig, find, gather, in_the_way, unmet

from .support import Scratch, write

KCONFIG = """\
mainmenu "miniature"
source "arch/$(SRCARCH)/Kconfig"
config CRYPTO
\tbool "crypto"
\thelp
\t  Words that look like Kconfig:
\t  config NOT_A_SYMBOL
\t    depends on NOTHING

\t  depends on NOTHING_EITHER
config ZSWAP
\tbool "zswap"
\tdepends on SWAP && CRYPTO   # both
config SWAP
\tbool "swap"
if MMU
menu "inner"
\tdepends on BLOCK || TMPFS
config IN_MENU
\tbool "in menu"
endmenu
endif
config HIDDEN
\tbool
config PICKS
\tbool "picks"
\tselect HIDDEN
config ALONE
\tbool
config EXPERT
\tbool "expert"
config BLOCK
\tbool "block" if EXPERT
\tdefault y
config OFF
\tbool "off"
\tdepends on !SWAP
config LIMIT
\tint "limit"
\tdepends on CRYPTO = "n"
config VERSIONED
\tbool "versioned"
\tdepends on $(cc-option,-fx) && CRYPTO
"""


class Explaining(Scratch):
    """why() on a small Kconfig."""

    def setUp(self) -> None:
        super().setUp()
        write(self.top / "Kconfig", KCONFIG)
        write(self.top / "arch/um/Kconfig", "config MMU\n\tbool\n\tdefault y\n")

    def why(self, symbol: str, result: dict[str, str], value: str = "y") -> str:
        """The explanation for one symbol."""
        config = KunitConfig()
        config.add(f"CONFIG_{symbol}={value}\n", "configs/x.config")
        return kconfig.explain(self.top, [symbol], config, result)[0].partition(" on ARCH=um: ")[2]

    def test_each_kind_of_reason(self) -> None:
        for symbol, result, expected in (
                ("ZSWAP", {"SWAP": "y"}, "it depends on CRYPTO=y (add CONFIG_CRYPTO=y to the fragment)"),
                ("IN_MENU", {"MMU": "y"}, "it depends on BLOCK=y or TMPFS=y"),
                ("IN_MENU", {"BLOCK": "y"},
                 "it depends on MMU=y (it has no prompt, and nothing selects it on ARCH=um)"),
                ("HIDDEN", {}, "it has no prompt, only PICKS can select it; set one of these"),
                ("ALONE", {}, "it has no prompt, and nothing selects it on ARCH=um"),
                ("OFF", {"SWAP": "y"}, "it depends on SWAP=n"),
                ("LIMIT", {"CRYPTO": "y"}, "it depends on CRYPTO=n"),
                ("VERSIONED", {}, "it depends on CRYPTO=y (add CONFIG_CRYPTO=y to the fragment)"),
                ("NOT_A_SYMBOL", {}, "this kernel has no such option on ARCH=um")):
            with self.subTest(symbol):
                self.assertEqual(self.why(symbol, result), expected)

    def test_symbol_that_cannot_be_switched_off(self) -> None:
        self.assertEqual(self.why("BLOCK", {"BLOCK": "y"}, "n"), "its default can only be changed with EXPERT=y")
        self.assertEqual(self.why("HIDDEN", {"HIDDEN": "y", "PICKS": "y"}, "n"), "it is selected by PICKS")

    def test_the_line_names_who_asked(self) -> None:
        config = KunitConfig()
        config.add("CONFIG_ZSWAP=y\n", "configs/zswap.config")
        line = kconfig.explain(self.top, ["ZSWAP"], config, {"SWAP": "y"})[0]
        self.assertRegex(line, r"^CONFIG_ZSWAP=y \(configs/zswap.config\) is not set on ARCH=um: it depends on ")


class Fragments(Scratch):
    """Fragments over the .kunitconfig."""

    def test_later_one_wins_and_brings_arguments(self) -> None:
        write(self.top / ".kunitconfig", "CONFIG_A=y\nCONFIG_B=y\n")
        write(self.top / "big.config", "# swap-kunit: mem=1G\n# CONFIG_B is not set\nCONFIG_C=3\n")
        config = gather(self.top, ["big"], self.top)
        self.assertEqual(config.wanted, {"A": "y", "B": "n", "C": "3"})
        self.assertEqual(config.kernel_args, ["mem=1G"])
        self.assertEqual(config.text(), "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=3\n")
        self.assertEqual(config.asked_by["B"], "configs/big.config")

    def test_unmet(self) -> None:
        config = KunitConfig({"A": "y", "B": "n", "C": "3"})
        self.assertEqual(unmet(config, {"A": "y", "C": "4"}), ["C"])
        self.assertEqual(unmet(config, {"B": "y", "C": "3"}), ["A", "B"])

    def test_wishes_give_way(self) -> None:
        write(self.top / "configs/lean.defaults",
              "# CONFIG_A is not set\n# CONFIG_B is not set\n# CONFIG_C is not set\n")
        write(self.top / ".kunitconfig", "CONFIG_A=y\n")
        config = gather(self.top, [], self.top / "configs", lean=True)
        self.assertEqual((config.wanted, config.wishes()), ({"A": "y", "B": "n", "C": "n"}, {"B", "C"}))
        for result, given_up in (({"A": "y"}, set()), ({"A": "y", "B": "y"}, {"B"}), ({"C": "y"}, {"B", "C"}),
                                 ({}, {"B", "C"})):
            self.assertEqual(in_the_way(config, result), given_up, result)
        self.assertEqual(config.text(without={"B"}), "CONFIG_A=y\n# CONFIG_C is not set\n")

    def test_without_lean_there_are_no_wishes(self) -> None:
        write(self.top / ".kunitconfig", "CONFIG_A=y\n")
        self.assertEqual(gather(self.top, [], self.top / "configs").wanted, {"A": "y"})

    def test_unknown_one(self) -> None:
        write(self.top / "kasan.config", "")
        with self.assertRaisesRegex(SwapKunitError, "no Kconfig fragment 'kasn': .* choose one of kasan"):
            find("kasn", self.top)


if __name__ == "__main__":
    unittest.main()
