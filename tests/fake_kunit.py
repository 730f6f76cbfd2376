#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A fake kunit.py: config (--kunitconfig), build and parse for the miniature kernel."""
import json
import os
import re
import subprocess
import sys

os.chdir(os.path.realpath(__file__).split("tools/testing/kunit")[0])
options = dict(word[2:].split("=", 1) for word in sys.argv[2:] if word.startswith("--"))


def config():
    """Write .config as the kunitconfig wants it, except CONFIG_SPECIAL if the tree has the file for that."""
    text = open(options["kunitconfig"], encoding="utf-8").read()
    if os.path.exists("fake_config_drops_special"):
        text = text.replace("CONFIG_SPECIAL=y\n", "")
    os.makedirs(options["build_dir"], exist_ok=True)
    with open(options["build_dir"] + "/.config", "w", encoding="utf-8") as file:
        file.write(text + 'CONFIG_CC_VERSION_TEXT="gcc"\n')
    with open(options["build_dir"] + "/configured", "a", encoding="utf-8") as file:
        file.write("once\n")
    return 0


def build():
    """Run the tree's make."""
    return subprocess.call(["make", "-s", "O=" + options["build_dir"], "vmlinux"])


def group(name):
    """An empty group of results."""
    return {"name": name, "sub_groups": [], "test_cases": [],
            "misc": {"passed": 0, "failed": 0, "skipped": 0, "crashed": 0, "errors": 0}}


def parse():
    """Write the results in a log as JSON."""
    top, suite, parameters = group("KUnit Test Group"), None, []
    for line in open(sys.argv[-1], encoding="utf-8").read().splitlines():
        found = re.match(r"( *)(ok|not ok) \d+ ([^#]*?)(?: # (SKIP)?.*)?$", line)
        if re.match(r"    # Subtest", line):
            suite = group(line.split()[-1])
        if not found:
            continue
        status = "SKIP" if found[4] else "PASS" if found[2] == "ok" else "FAIL"
        case = {"name": found[3], "status": status}
        if len(found[1]) == 8:
            parameters.append(case)
        elif len(found[1]) == 4 and parameters:
            suite["sub_groups"].append({**group(found[3]), "test_cases": parameters})
            parameters = []
        elif len(found[1]) == 4:
            suite["test_cases"].append(case)
        else:
            top["sub_groups"].append(suite)
    with open(options["json"], "w", encoding="utf-8") as file:
        json.dump(top, file)
    print("Testing complete.")
    return 0


sys.exit({"config": config, "build": build, "parse": parse}[sys.argv[1]]())
