#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Prints what docutils says of a page of the kernel's documentation, without what only Sphinx can know.

A program of its own because it runs inside the sandbox.
"""
import io
import re
import sys

from docutils.core import publish_doctree

SPHINX = re.compile(r'Unknown (interpreted text role|directive type)|No (role|directive) entry|Trying "|Error in "|'
                    "Unknown target name|Undefined substitution")
MESSAGE = re.compile(r"^(.*:\d+): \((?:WARNING|ERROR|SEVERE)/\d\) (.*)$", re.M)


def main() -> None:
    """Read the page argv[1]; print a line for each message."""
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        text = file.read()
    said = io.StringIO()
    publish_doctree(text, source_path=sys.argv[1], settings_overrides={
        "report_level": 2, "halt_level": 5, "warning_stream": said, "file_insertion_enabled": False,
        "raw_enabled": False})
    for place, message in MESSAGE.findall(said.getvalue()):
        if not SPHINX.search(message):
            print(f"{place}: warning: {message}")


if __name__ == "__main__":
    main()
