# SPDX-License-Identifier: GPL-2.0
"""Kernel reports (WARN, BUG, lockdep, KASAN, panics) in the output of cases, by their cause.

A WARN that fires in 850 cases is one cause, whatever the process and the addresses.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterable

from .console import REPORT, alike

MARK = "kernel report: "    # of the fixture, in a case's output
PANIC = "Kernel panic"
BUG = re.compile(r"BUG: failure at|kernel BUG at|Oops")     # says more than the panic after it
FATAL = re.compile(rf"{PANIC}|KASAN|{BUG.pattern}|list_(add|del) corruption")
ENTRY = re.compile(r" ?\[<[0-9a-f]+>\] (?:\? )?(?P<function>[\w.]+)\+0x(?P<offset>[0-9a-f]+)/")
FIXTURE = re.compile(r"kunit_|swap_(area|case|phase)_|kthread\b|ret_from_fork")
# What prints a report, and calls that UML only leaves on the stack.
PRINTS_IT = re.compile(r"um_|show_stack|dump_stack|_?printk|(__)?warn|print_|kasan_|report_bug|panic|__might_|"
                       r"(__)?lock_acquire|validate_chain|check_|mark_lock|do_syscall|handle_")
PROCESS = re.compile(r"\bCPU: \d+ PID: \d+ at |, CPU#\d+: \S+$|\+0x[0-9a-f]+/0x[0-9a-f]+")
FRAMES = 8


@dataclass
class Cause:
    """One report. line: its first line; stack: functions, the one that reports first; cases: where it came."""

    line: str
    stack: list[str] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)

    @property
    def fatal(self) -> bool:
        """Whether memory is corrupted or the kernel stops."""
        return bool(FATAL.search(self.line))

    @property
    def text(self) -> str:
        """The first line without process and addresses."""
        return PROCESS.sub("", self.line)


def causes(tests: Iterable[tuple[str, list[str]]]) -> dict[str, Cause]:
    """The causes in the output of tests, given as (name, lines)."""
    found: dict[str, Cause] = {}
    for name, text in tests:
        for line in lines_of(text):
            one = found.setdefault(alike(PROCESS.sub("", line)), Cause(line))
            one.stack = one.stack or stack_of(text, line)
            if name not in one.cases:
                one.cases.append(name)
    return found


def lines_of(text: list[str]) -> list[str]:
    """The first lines of the reports in a case's output; of a panic, what led to it."""
    marked = [line.partition(MARK)[2] for line in text if MARK in line]
    panic = [line for line in text if PANIC in line][:1]
    return marked + (next(([line] for line in text if BUG.search(line)), panic) if panic else [])


def stack_of(text: list[str], line: str) -> list[str]:
    """The functions on the stack of the report that begins with line."""
    start = next((number for number, shown in enumerate(text) if line in shown and MARK not in shown), len(text))
    names = [entry["function"] for entry in map(ENTRY.match, frames(text[start + 1:])) if entry]
    return list(dict.fromkeys(names))[:FRAMES]


def frames(text: list[str]) -> list[str]:
    """The lines of the first stack in text, without what prints it and from the case on."""
    found: list[str] = []
    for line in text:
        entry = ENTRY.match(line)
        if entry and FIXTURE.match(entry["function"]) or found and not entry and REPORT.search(line):
            break
        # An offset of 0 is a pointer to a function, not a return address.
        if entry and int(entry["offset"], 16) and not PRINTS_IT.match(entry["function"]):
            found.append(line)
    return found
