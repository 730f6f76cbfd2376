# SPDX-License-Identifier: GPL-2.0
"""Where a C file can be mutated, and how: libclang's syntax tree of its functions.

This is a program of its own, since it reads a file that may come from a patch: `python3 sites.py FILE NAME ARG...` in
the build directory, where the build calls it NAME, with the compiler's arguments. It prints JSON, see Found.
"""
from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from clang.cindex import (    # pylint: disable=import-error   # only `mutate` asks for its package
    Cursor, CursorKind, Index, StorageClass, TranslationUnit, TypeKind)

EXPRESSION, CONDITION, STATEMENT = "expression", "condition", "statement"
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "^": "|"}
ASSIGNMENT = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "<<=": ">>=", ">>=": "<<=", "|=": "&=", "&=": "|="}
LOGICAL = {"&&": "||", "||": "&&"}
LISTS = {"list_add": "list_add_tail", "list_add_tail": "list_add", "list_move": "list_move_tail",
         "list_move_tail": "list_move", "list_add_rcu": "list_add_tail_rcu", "list_add_tail_rcu": "list_add_rcu"}
# They only assert, print or give way: without them nothing else happens.
SILENT = re.compile(r"(\w+_)?assert_|(VM_)?(BUG|WARN)(_ON)?(_|$)|VM_(BUG|WARN)_ON|BUILD_BUG|lockdep_|might_|"
                    r"cond_resched|pr_\w+$|trace_|printk|\w+_debug$|prefetch|cpu_relax|"
                    r"kmemleak|kasan_|kmsan_|data_race|"
                    r"ASSERT_|static_assert|barrier$")
CALL = re.compile(r"(?:\(void\)\s*)?(\w+)\s*\(")
LOCKS = re.compile(r"(^|_)(un)?lock(_|$)|^rcu_read_|^preempt_|^local_irq_|^local_lock|_trylock|^smp_\w*mb$")
# Macros that are what their argument is.
TRANSPARENT = re.compile(r"\b(?:un)?likely\(|(?<=if \()WARN_ON(?:_ONCE)?\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DIRECTIVE = re.compile(r"^\s*#", re.M)
WORDS = {CursorKind.IF_STMT: "if", CursorKind.WHILE_STMT: "while", CursorKind.DO_STMT: "do",
         CursorKind.SWITCH_STMT: "switch", CursorKind.RETURN_STMT: "return", CursorKind.BREAK_STMT: "break",
         CursorKind.CONTINUE_STMT: "continue", CursorKind.GOTO_STMT: "goto", CursorKind.COMPOUND_STMT: "{"}
JUMPS = (CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT, CursorKind.GOTO_STMT)
WITH_BODIES = (CursorKind.COMPOUND_STMT, CursorKind.LABEL_STMT, CursorKind.DEFAULT_STMT, CursorKind.CASE_STMT,
               CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.FOR_STMT,
               CursorKind.SWITCH_STMT)
CONDITIONAL = (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT)
# How many of the children are expressions.
HEADS = dict.fromkeys((*CONDITIONAL, CursorKind.SWITCH_STMT, CursorKind.CASE_STMT), 1)
AROUND = {CursorKind.WHILE_STMT: "loop", CursorKind.DO_STMT: "loop", CursorKind.FOR_STMT: "loop",
          CursorKind.SWITCH_STMT: "switch"}
NUMBER = re.compile(r"\d[\dxXa-fA-F]*[uUlL]*")
CASTS = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, CursorKind.CSTYLE_CAST_EXPR)
IN_A_MACRO = "in a macro's arguments"
SAYS = "assertion, message or hint"


@dataclass
class Site:
    """A piece of a function that has mutants. start, end: in bytes; mutants: [operator, text instead]."""

    start: int
    end: int
    kind: str
    function: str
    text: str       # on one line
    mutants: list[list[str]] = field(default_factory=list)


@dataclass
class Found:
    """sites: outer before inner; functions: name -> [start, end].

    left_out: reason -> how many places; errors: clang's.
    """

    sites: list[Site] = field(default_factory=list)
    functions: dict[str, list[int]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


class Finder:
    """The sites of one file."""

    def __init__(self, text: str, path: str, arguments: list[str]):
        self.text, self.path = text, path
        # What clang reads; every character is one byte.
        self.read = TRANSPARENT.sub(lambda one: " " * (len(one[0]) - 1) + "(",
                                    re.sub(r"[^\x00-\x7f]", "?", self.text))
        self.unit = Index.create().parse(
            path, args=[*arguments, "-w", "-ferror-limit=0"], unsaved_files=[(path, self.read)],
            options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        self.found = Found(errors=[f"{one.location.line}: {one.spelling}" for one in self.unit.diagnostics
                                   if one.severity >= one.Error])
        self.macros: dict[int, int] = {}        # invocations: start -> end
        self.function, self.result, self.last = "", TypeKind.VOID, 0

    def run(self) -> Found:
        """Go through the file."""
        for node in self.unit.cursor.get_children():
            if node.location.file is None or node.location.file.name != self.path:
                continue
            start, end = self.range(node)
            if node.kind == CursorKind.MACRO_INSTANTIATION:
                self.macros[start] = max(end, self.macros.get(start, 0))
            elif node.kind == CursorKind.MACRO_DEFINITION:
                self.found.left_out["#define"] += "\n" in self.text[start:end] or len(self.text[start:end].split()) > 1
            elif node.kind == CursorKind.ENUM_DECL:
                self.found.left_out["enum"] += sum(1 for _ in node.get_children())
            elif node.kind == CursorKind.VAR_DECL:
                self.found.left_out["static initialiser"] += "=" in self.text[start:end]
            elif node.kind == CursorKind.FUNCTION_DECL and node.is_definition() and not self.in_macro(node):
                self.in_function(node)
        self.found.left_out["#if"] += len(re.findall(r"^\s*#\s*(?:if|elif)", self.text, re.M))
        self.found.sites = [site for site in self.found.sites if site.mutants]
        return self.found

    def in_function(self, node: Cursor) -> None:
        """The sites of a function."""
        self.function = node.spelling
        self.result = node.result_type.get_canonical().kind
        start, end = self.range(node)
        self.found.functions[self.function] = [start, end]
        self.last = end
        for child in node.get_children():
            if child.kind == CursorKind.COMPOUND_STMT:
                self.statement(child, "")

    # -- text ---------------------------------------------------------------

    @staticmethod
    def range(node: Cursor) -> tuple[int, int]:
        """Where a node is, in bytes; of what comes from a macro, the macro's invocation."""
        return node.extent.start.offset, node.extent.end.offset

    def of(self, node: Cursor) -> str:
        """The text of a node on one line, without comments."""
        start, end = self.range(node)
        return self.plain(self.text[start:end])

    @staticmethod
    def plain(text: str) -> str:
        """Text on one line, without comments."""
        return " ".join(COMMENT.sub(" ", text).split())

    def in_macro(self, node: Cursor) -> bool:
        """Whether a node comes from a macro, or is an argument of one."""
        start, end = self.range(node)
        return end <= self.macros.get(start, 0)

    def add(self, node: Cursor | tuple[int, int], kind: str, *mutants: tuple[str, str]) -> None:
        """Note mutants of a node, unless its text has directives of the preprocessor."""
        start, end = node if isinstance(node, tuple) else self.range(node)
        if start < end and not DIRECTIVE.search(self.text[start:end]):
            self.found.sites.append(Site(
                start, end, kind, self.function, self.plain(self.text[start:end]), [list(one) for one in mutants]))

    def operator(self, left: Cursor, right: Cursor) -> tuple[str, int, int]:
        """The operator between two operands, and where it is; "" if it comes from a macro."""
        start, found = self.range(left)[1], self.between(left, right, "[-+*/%<>=!&|^]+")
        return (found[1], start + found.start(1), start + found.end(1)) if found else ("", 0, 0)

    def between(self, left: Cursor, right: Cursor, pattern: str) -> re.Match[str] | None:
        """The pattern, if it is all that is between two nodes; else a macro has it."""
        start, end = self.range(left)[1], self.range(right)[0]
        return re.fullmatch(rf"[\s)]*({pattern})[\s(]*", self.blank(start, end)) if start <= end else None

    def blank(self, start: int, end: int) -> str:
        """The text with blanks for comments."""
        return COMMENT.sub(lambda one: " " * len(one[0]), self.read[start:end])

    # -- statements ---------------------------------------------------------

    def statement(self, node: Cursor, around: str) -> None:
        """The sites of a statement; around: the innermost loop or switch around it."""
        children = list(node.get_children())
        if self.in_macro(node) or not self.read.startswith(WORDS.get(node.kind, ""), self.range(node)[0]):
            self.dropped(node)
        elif node.kind in WITH_BODIES:
            self.bodies(node.kind, children, around)
        elif node.kind == CursorKind.DECL_STMT:
            for child in children:
                self.declaration(child)
        elif node.kind == CursorKind.RETURN_STMT:
            self.returned(node, children)
        elif node.kind in JUMPS:
            self.jump(node, around)
        elif self.dropped(node):
            self.expression(node)

    def bodies(self, kind: CursorKind, children: list[Cursor], around: str) -> None:
        """A statement with others inside."""
        heads = HEADS.get(kind, 0)
        if kind == CursorKind.DO_STMT:
            children.reverse()
        elif kind == CursorKind.FOR_STMT:       # some of its parts may be missing
            heads = len(children) - 1
        elif kind == CursorKind.CASE_STMT:
            self.found.left_out["case label"] += 1
        for head in children[:heads]:
            if kind == CursorKind.IF_STMT and len(children) == 2 and self.only_says(children[1]):
                self.found.left_out[SAYS] += 1
            elif kind in CONDITIONAL:
                self.condition(head)
            elif kind != CursorKind.CASE_STMT:
                self.expression(head)
        for body in children[heads:]:
            self.statement(body, AROUND.get(kind, around))

    def only_says(self, node: Cursor) -> bool:
        """Whether a statement, or all of a block, asserts, prints or gives way."""
        inside = node.get_children() if node.kind == CursorKind.COMPOUND_STMT else [node]
        calls = [CALL.match(self.of(one)) for one in inside]
        return all(call and SILENT.match(call[1]) for call in calls)

    def whole(self, node: Cursor) -> tuple[int, int]:
        """A statement with its semicolon; (0, 0) if it has none."""
        start, end = self.range(node)
        found = re.compile(r"\s*;").match(self.text, end)
        return (start, found.end()) if found else (start, end) if self.text[end - 1:end] == ";" else (0, 0)

    def jump(self, node: Cursor, around: str) -> None:
        """break, continue, goto."""
        name = self.of(node).split()[0].rstrip(";")
        others = (("continue to break", "break;"),) if name == "continue" and around == "loop" else ()
        self.add(self.whole(node), STATEMENT, (f"{name} dropped", ""), *others)

    def dropped(self, node: Cursor) -> bool:
        """A statement that can be left out: a call, an assignment, or a macro that stands for one; False: it only says.
        """
        text = self.of(node)
        call = CALL.match(text)
        if call and (SILENT.match(call[1]) or call[1] in ("if", "for", "while", "switch")):
            self.found.left_out[SAYS] += 1
            return False
        if call:
            lock = "lock" if LOCKS.search(call[1]) else "call"
            self.add(self.whole(node), STATEMENT, (f"{lock} dropped", ""))
        elif node.kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
            self.add(self.whole(node), STATEMENT, ("assignment dropped", ""))
        elif node.kind == CursorKind.UNARY_OPERATOR:
            self.add(self.whole(node), STATEMENT, ("increment dropped", ""))
        return True

    def declaration(self, node: Cursor) -> None:
        """A declaration within a function."""
        if node.kind != CursorKind.VAR_DECL or self.in_macro(node):
            return
        start, end = self.range(node)
        equals = self.blank(start, end).find("=")
        if node.storage_class == StorageClass.STATIC:
            self.found.left_out["static initialiser"] += equals >= 0
            return
        for child in node.get_children():
            if child.kind.is_expression():
                if 0 <= equals <= self.range(child)[0] - start:
                    self.expression(child)
                else:
                    self.found.left_out["array size"] += 1

    def returned(self, node: Cursor, children: list[Cursor]) -> None:
        """A return and its value."""
        if not children:
            if self.text[self.whole(node)[1]:self.last].strip() != "}":
                self.add(self.whole(node), STATEMENT, ("return dropped", ""))
            return
        value, text = children[0], self.of(children[0])
        core = self.core(value)
        if self.result == TypeKind.BOOL:
            if core.kind != CursorKind.BINARY_OPERATOR and text not in ("true", "false"):
                self.add(value, EXPRESSION, ("return negated", f"!({text})"))
        elif self.result == TypeKind.POINTER:
            if text != "NULL":
                self.add(value, EXPRESSION, ("return NULL", "(void *)0"))
        elif self.result == TypeKind.RECORD:
            self.add(value, EXPRESSION, ("return zeroes", f"(typeof({text})){{}}"))
        elif not NUMBER.fullmatch(text):
            self.add(value, EXPRESSION, ("return 0", "0"))
        self.expression(value)

    # -- expressions --------------------------------------------------------

    def core(self, node: Cursor) -> Cursor:
        """What is inside parentheses and implicit casts."""
        while node.kind in CASTS[:2] and not self.in_macro(node):
            children = list(node.get_children())
            if len(children) != 1:
                break
            node = children[0]
        return node

    def condition(self, node: Cursor) -> None:
        """The condition of an if or a loop."""
        core = self.core(node)
        children, literal = list(core.get_children()), not self.in_macro(core)
        name = self.operator(*children)[0] if literal and core.kind == CursorKind.BINARY_OPERATOR else ""
        if name not in NEGATED and name not in LOGICAL:
            inverse = literal and core.kind == CursorKind.UNARY_OPERATOR and self.of(core).startswith("!")
            self.add(core, CONDITION, ("condition negated", f"!!({self.of(children[0])})" if inverse
                                       else f"!({self.of(core)})"))
        self.expression(node, negated=True)

    def expression(self, node: Cursor, negated: bool = False) -> None:
        """The sites of an expression; negated: that mutant exists already."""
        children = list(node.get_children())
        if self.in_macro(node) or node.kind == CursorKind.CONDITIONAL_OPERATOR and not (
                len(children) == 3 and self.between(children[0], children[1], r"\?")):
            self.found.left_out[IN_A_MACRO] += "(" in self.of(node)
        elif node.kind == CursorKind.StmtExpr:
            for child in children:
                self.statement(child, "")
        elif node.kind != CursorKind.CXX_UNARY_EXPR:        # sizeof
            if node.kind == CursorKind.CONDITIONAL_OPERATOR:
                self.condition(children.pop(0))
            inside = self.mutated(node, children, negated)
            for child in children:
                if child.kind.is_expression():
                    self.expression(child, inside)

    def mutated(self, node: Cursor, children: list[Cursor], negated: bool) -> bool:
        """The sites of an expression itself; returns whether what is inside is negated already."""
        if node.kind == CursorKind.BINARY_OPERATOR and len(children) == 2:
            self.binary(node, *children)
        elif node.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR and len(children) == 2:
            self.assigned(node, *children)
        elif node.kind == CursorKind.UNARY_OPERATOR:
            return self.unary(node, children[0], negated)
        elif node.kind == CursorKind.CALL_EXPR:
            self.call(node)
        elif node.kind == CursorKind.INTEGER_LITERAL:
            self.number(node)
        elif node.kind == CursorKind.DECL_REF_EXPR and self.of(node) in ("true", "false"):
            self.add(node, EXPRESSION, ("constant", "false" if self.of(node) == "true" else "true"))
        return negated and node.kind in CASTS

    def binary(self, node: Cursor, left: Cursor, right: Cursor) -> None:
        """A binary operator."""
        name, start, end = self.operator(left, right)
        before, after = self.range(node)[0], self.range(node)[1]

        def other(operator: str) -> str:
            return self.plain(f"{self.text[before:start]}{operator}{self.text[end:after]}")

        if name in NEGATED:
            self.add(node, EXPRESSION, (f"{name} to {NEGATED[name]}", other(NEGATED[name])),
                     *([(f"{name} to {BOUNDARY[name]}", other(BOUNDARY[name]))] if name in BOUNDARY else []))
        elif name in LOGICAL:
            self.add(node, EXPRESSION, (f"{name} to {LOGICAL[name]}", other(LOGICAL[name])),
                     ("right side dropped", f"!!({self.of(left)})"), ("left side dropped", f"!!({self.of(right)})"))
        elif name == "|":
            self.add(node, EXPRESSION, ("flag dropped", self.of(left)), ("flag dropped", self.of(right)))
        elif name in ARITHMETIC and not (name == "-" and self.is_pointer(left) and self.is_pointer(right)):
            self.add(node, EXPRESSION, (f"{name} to {ARITHMETIC[name]}", other(ARITHMETIC[name])))
        elif not name:
            self.found.left_out[IN_A_MACRO] += 1

    @staticmethod
    def is_pointer(node: Cursor) -> bool:
        """Whether an expression is a pointer or an array."""
        return node.type.get_canonical().kind in (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY)

    def assigned(self, node: Cursor, left: Cursor, right: Cursor) -> None:
        """A compound assignment."""
        name, start, end = self.operator(left, right)
        if name in ASSIGNMENT:
            text = self.plain(f"{self.of(left)} {ASSIGNMENT[name]} {self.text[end:self.range(node)[1]]}")
            self.add(node, EXPRESSION, (f"{name} to {ASSIGNMENT[name]}", text))
        elif not start:
            self.found.left_out[IN_A_MACRO] += 1

    def unary(self, node: Cursor, operand: Cursor, negated: bool) -> bool:
        """A unary operator; returns whether what is inside is negated already."""
        text, inner = self.of(node), self.of(operand)
        if text.startswith("!"):
            if not negated:
                self.add(node, EXPRESSION, ("! dropped", f"!!({inner})"))
            return True
        if text.startswith("~"):
            self.add(node, EXPRESSION, ("~ dropped", f"({inner})"))
        elif "++" in (text[:2], text[-2:]) or "--" in (text[:2], text[-2:]):
            other = re.sub(r"^\+\+|\+\+$|^--|--$", lambda one: "--" if one[0] == "++" else "++", text)
            self.add(node, EXPRESSION, (f"{'++' if '++' in text else '--'} to {'--' if '++' in text else '++'}", other))
        return False

    def number(self, node: Cursor) -> None:
        """An integer constant."""
        text = self.of(node)
        if NUMBER.fullmatch(text):
            self.add(node, EXPRESSION, ("constant + 1", f"{text} + 1"), ("constant - 1", f"{text} - 1"))

    def call(self, node: Cursor) -> None:
        """A call: head or tail of a list, arguments in another order."""
        arguments = list(node.get_arguments())
        text, name = self.of(node), node.spelling
        mutants = [("head to tail" if "tail" not in name else "tail to head", text.replace(name, LISTS[name], 1))] \
            if name in LISTS and text.startswith(name) else []
        target = node.referenced
        types = [one.get_canonical().spelling for one in target.type.argument_types()] \
            if target is not None and target.type.kind == TypeKind.FUNCTIONPROTO else []
        start, end = self.range(node)
        for at, (one, two) in enumerate(zip(arguments, arguments[1:])):
            cuts = [start, *self.range(one), *self.range(two), end]
            parts = [self.text[a:b] for a, b in zip(cuts, cuts[1:])]
            if types[at:at + 1] == types[at + 1:at + 2] and types[at:at + 1] and cuts == sorted(set(cuts)) \
                    and self.of(one) != self.of(two):
                mutants.append(("arguments swapped", self.plain("".join(parts[at] for at in (0, 3, 2, 1, 4)))))
        if mutants:
            self.add(node, EXPRESSION, *mutants)


def main(argv: list[str]) -> None:
    """Print what is found in the file argv[0], which is compiled as argv[1]."""
    text = Path(argv[0]).read_bytes().decode("latin-1")
    print(json.dumps(Finder(text, argv[1], argv[2:]).run(), default=vars))


if __name__ == "__main__":
    main(sys.argv[1:])
