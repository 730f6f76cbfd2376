# SPDX-License-Identifier: GPL-2.0
"""Verdicts of earlier campaigns, kept in a file of JSON lines: a campaign that was stopped goes on."""
from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from .campaign import Verdict


class Store:
    """Verdicts by key; suites: a key of what they depend on besides the mutant."""

    def __init__(self, path: Path, suites: str):
        self.path, self.suites = path, suites
        self.known: dict[str, Verdict] = {}
        try:
            lines = path.read_text().splitlines()
        except OSError:
            lines = []
        for line in lines:
            try:
                found = json.loads(line)
                key = found.pop("key")
                self.known[key] = Verdict(**found)
            except (ValueError, KeyError, TypeError):
                pass        # the end of a line that a full disk or a kill cut off

    def get(self, key: str) -> Verdict | None:
        """The verdict on a mutant."""
        return self.known.get(f"{key}-{self.suites}")

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict."""
        key = f"{key}-{self.suites}"
        self.known[key] = verdict
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, **asdict(verdict)}) + "\n")
