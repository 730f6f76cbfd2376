# SPDX-License-Identifier: GPL-2.0
"""Why a Kconfig symbol did not get its value: the dependency that is not met.

A small reader of the tree's Kconfig files for ARCH=um. It knows `depends on`, `if`, menus,
choices, prompts and `select`. It solves nothing, it only checks a finished .config.
$(macros) count as y.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .fragments import KunitConfig

DEEPEST = 4
TOKEN = re.compile(r'"[^"]*"|\'[^\']*\'|\$\((?:[^()]|\([^()]*\))*\)|\|\||&&|!=|<=|>=|[()!=<>]|[\w.-]+')
ARCH_NAMES = {"$(SRCARCH)": "um", "$(HEADER_ARCH)": "x86", "$(SUBARCH)": "x86", "$(ARCH)": "um"}
VALUES = {"n": 0, "m": 1, "y": 2}
TYPE = re.compile(r'(?:bool|tristate|int|hex|string)\b\s*(["\'])?|prompt\b\s*(["\'])')

# An expression: a symbol name, or (operator, operand...).
Expr = str | tuple[Any, ...]


@dataclass
class Definition:
    """One `config` entry. conditions: all must hold; prompt: when a user can set it, None for never."""

    symbol: str
    where: str
    conditions: list[Expr] = field(default_factory=list)
    prompt: Expr | None = None


@dataclass
class Kconfig:
    """All definitions of a tree. selected_by: symbol -> symbols that select it."""

    definitions: dict[str, list[Definition]] = field(default_factory=dict)
    selected_by: dict[str, list[str]] = field(default_factory=dict)


# -- expressions -------------------------------------------------------------


def parse_expression(text: str) -> Expr:
    """`A && !B || C = y` as a tree."""
    tokens = TOKEN.findall(text)

    def alternatives() -> Expr:
        operands = [conjunction()]
        while tokens and tokens[0] == "||":
            tokens.pop(0)
            operands.append(conjunction())
        return operands[0] if len(operands) == 1 else ("||", *operands)

    def conjunction() -> Expr:
        operands = [comparison()]
        while tokens and tokens[0] == "&&":
            tokens.pop(0)
            operands.append(comparison())
        return operands[0] if len(operands) == 1 else ("&&", *operands)

    def comparison() -> Expr:
        left = atom()
        if tokens and tokens[0] in ("=", "!=", "<", ">", "<=", ">="):
            return (tokens.pop(0), left, atom())
        return left

    def atom() -> Expr:
        token = tokens.pop(0) if tokens else "y"
        if token == "!":
            return ("!", atom())
        if token == "(":
            inner = alternatives()
            if tokens:
                tokens.pop(0)
            return inner
        return "y" if token.startswith("$(") else token.strip("\"'")

    return alternatives()


def value(expr: Expr, config: dict[str, str]) -> int:
    """0 for n, 1 for m, 2 for y."""
    if isinstance(expr, str):
        return VALUES.get(config.get(expr, expr if expr in VALUES else "n"), 0)
    operator, *operands = expr
    if operator == "!":
        return 2 - value(operands[0], config)
    if operator in ("&&", "||"):
        values = [value(operand, config) for operand in operands]
        return min(values) if operator == "&&" else max(values)
    left, right = (config.get(side, side if side in VALUES or not side.isupper() else "n").strip('"')
                   for side in operands)
    if operator in ("=", "!="):
        return 2 if (left == right) == (operator == "=") else 0
    return 2    # <, > and so on compare versions of tools, which make has already done


def failing(expr: Expr, config: dict[str, str]) -> list[str]:
    """The operands that make an expression false, as text; none if it is true."""
    if value(expr, config):
        return []
    if isinstance(expr, tuple) and expr[0] == "&&":
        return [part for operand in expr[1:] for part in failing(operand, config)]
    return [show(expr)]


def show(expr: Expr) -> str:
    """An expression as text; a single symbol as SYMBOL=y."""
    if isinstance(expr, str):
        return f"{expr}=y"
    operator, *operands = expr
    if operator == "!":
        return f"{operands[0]}=n" if isinstance(operands[0], str) else f"not ({show(operands[0])})"
    if operator in ("&&", "||"):
        return (" and " if operator == "&&" else " or ").join(show(operand) for operand in operands)
    return f"{operands[0]}{operator}{operands[1]}"


# -- reading the files -------------------------------------------------------


class Reader:
    """Reads Kconfig files into a Kconfig."""

    def __init__(self, tree: Path):
        self.tree = tree
        self.kconfig = Kconfig()
        self._around: list[list[Expr]] = []     # conditions of enclosing ifs, menus and choices
        self._current: Definition | None = None

    def read(self, name: str) -> None:
        """Read a file, given relative to the tree, and all that it sources."""
        try:
            text = (self.tree / name).read_text(errors="replace")
        except OSError:
            return
        for line in statements(text):
            self._statement(line, name)

    def _statement(self, line: str, where: str) -> None:
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in ("config", "menuconfig"):
            self._current = Definition(rest, where, [part for block in self._around for part in block])
            self.kconfig.definitions.setdefault(rest, []).append(self._current)
        elif word in ("source", "rsource", "osource", "orsource"):
            self._current = None
            path = rest.strip("\"'")
            for macro, name in ARCH_NAMES.items():
                path = path.replace(macro, name)
            self.read(str(Path(where).parent / path) if "r" in word[:2] else path)
        elif word == "if":
            self._around.append([parse_expression(rest)])
        elif word in ("menu", "choice"):
            self._current = None
            self._around.append([])
        elif word in ("endif", "endmenu", "endchoice"):
            self._current = None
            self._around.pop()
        elif word == "depends" and rest.startswith("on "):
            self._depends(parse_expression(rest[3:]))
        elif self._current:
            self._property(self._current, word, rest, line)

    def _depends(self, condition: Expr) -> None:
        if self._current:
            self._current.conditions.append(condition)
        elif self._around:
            self._around[-1].append(condition)

    def _property(self, entry: Definition, word: str, rest: str, line: str) -> None:
        found = TYPE.match(line)
        if found and (found[1] or found[2]):
            condition = re.search(r"[\"'] if (.+)$", line)
            entry.prompt = parse_expression(condition[1] if condition else "y")
        elif word == "select":
            self.kconfig.selected_by.setdefault(rest.split(" ")[0], []).append(entry.symbol)


def statements(text: str) -> list[str]:
    """The logical lines of a Kconfig file, without comments and help texts."""
    found, help_indent = [], None
    for raw in text.replace("\\\n", " ").splitlines():
        line = raw.expandtabs()
        if help_indent is not None:
            indent = len(line) - len(line.lstrip())
            if not line.strip() or indent >= (help_indent or 1):
                help_indent = help_indent or (indent if line.strip() else 0)
                continue
            help_indent = None
        line = re.sub(r"\s#.*$", "", line).strip()
        if line in ("help", "---help---"):
            help_indent = 0
        elif line and not line.startswith("#"):
            found.append(re.sub(r"\s+", " ", line))
    return found


def read_tree(tree: Path) -> Kconfig:
    """All Kconfig definitions of a tree for ARCH=um."""
    reader = Reader(tree)
    reader.read("Kconfig")
    return reader.kconfig


# -- explaining --------------------------------------------------------------


def explain(tree: Path, missing: list[str], wanted: KunitConfig, result: dict[str, str]) -> list[str]:
    """A line for each symbol of missing: the reason, and what to do."""
    kconfig = read_tree(tree)
    return [f"CONFIG_{symbol}={wanted.wanted[symbol]} ({wanted.asked_by[symbol]}) is "
            f"{result.get(symbol, 'not set')} on ARCH=um: "
            f"{why(kconfig, symbol, wanted, result)}" for symbol in missing]


def why(kconfig: Kconfig, symbol: str, wanted: KunitConfig, result: dict[str, str], depth: int = 0) -> str:
    """Why symbol did not get its value."""
    definitions = kconfig.definitions.get(symbol)
    if not definitions:
        return "this kernel has no such option on ARCH=um"
    if depth and wanted.wanted.get(symbol) == "n":
        return f"disabled by {wanted.asked_by[symbol]}"
    if wanted.wanted.get(symbol) == "n":
        selecting = [name for name in kconfig.selected_by.get(symbol, []) if result.get(name) == "y"]
        return f"it is selected by {', '.join(selecting)}" if selecting else not_settable(definitions, result)
    blockers = [[part for condition in entry.conditions for part in failing(condition, result)]
                for entry in definitions]
    least = min(blockers, key=len)
    if least:
        return blocked_by(kconfig, least, wanted, result, depth)
    if not any(entry.prompt for entry in definitions):
        by = ", ".join(kconfig.selected_by.get(symbol, [])[:6])
        return (f"it has no prompt, only {by} can select it; set one of these" if by
                else "it has no prompt, and nothing selects it on ARCH=um")
    if not any(entry.prompt and value(entry.prompt, result) for entry in definitions):
        return not_settable(definitions, result)
    if symbol in wanted.wanted:
        return f"its dependencies are met, but it is {result.get(symbol, 'n')}; another option of its choice may win"
    return f"add CONFIG_{symbol}=y to the fragment"


def not_settable(definitions: list[Definition], result: dict[str, str]) -> str:
    """Why a symbol has its default value."""
    shut = [show(entry.prompt) for entry in definitions
            if entry.prompt and not value(entry.prompt, result)]
    return f"its default can only be changed with {' or '.join(shut)}" if shut else "it kept its default"


def blocked_by(kconfig: Kconfig, parts: list[str], wanted: KunitConfig, result: dict[str, str],
               depth: int) -> str:
    """The text "it depends on A=y (...), and on B=n"."""
    shown = []
    for part in dict.fromkeys(parts):
        lone = re.fullmatch(r"(\w+)=y", part)
        if lone and depth < DEEPEST:
            shown.append(f"{part} ({why(kconfig, lone[1], wanted, result, depth + 1)})")
        else:
            shown.append(part)
    return f"it depends on {', and on '.join(shown)}"
