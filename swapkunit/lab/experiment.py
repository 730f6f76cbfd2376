# SPDX-License-Identifier: GPL-2.0
"""Experiments: configs/lab/NAME.toml, or a file of the user's. docs/lab.rst explains their form."""
from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Iterable

from ..base.errors import SwapKunitError
from ..base.layout import CONFIGS, POLICIES, REPO
from ..base.text import did_you_mean
from ..build import fragments, patches
from ..run.runner import PARAMETER

LAB = CONFIGS / "lab"
DEVICES = LAB / "devices.toml"
SUITES = REPO / "kunit" / "suites"
SUITE, FRAGMENTATION = "swap_lab", "swap_lab_fragmentation"
OF_DEVICES = re.compile(r"^module_param_array\((\w+),", re.M)
MORE, LESS = "more", "less"
SEEDS = [1, 2, 3, 4, 5]
KEYS = {"title", "about", "kernel", "config", "device", "model", "seeds", "workload", "side", "compare"}
SIDE_KEYS = {"name", "policy", "kernel", "device", "model", "workload"}
COMPARE_KEYS = {"figure", "name", "expect", "better", "published", "source", "why"}


@dataclass(frozen=True)
class Plan:
    """One side: policies and kernel arguments. kernel: a version or a tree, "" for the one that the user names."""

    name: str
    suite: str
    policies: list[str] = field(default_factory=list)
    kernel: str = ""
    args: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """A figure to compare. expect: MORE or LESS if the second side must have more or less of it, or "".

    better: MORE or LESS if that is good, or "". published: the figures of both sides in source; why: why ours differ.
    """

    figure: str
    name: str
    expect: str = ""
    published: tuple[float, float] | None = None
    source: str = ""
    why: str = ""
    better: str = ""


@dataclass(frozen=True)
class Experiment:
    """What to measure. devices: name -> the source of its figures."""

    name: str
    title: str
    about: str
    config: list[str]
    seeds: list[int]
    sides: list[Plan]
    compare: list[Comparison]
    devices: dict[str, str]

    def with_seeds(self, seeds: list[int]) -> Experiment:
        """The same with other seeds; with its own if there are none."""
        return replace(self, seeds=seeds) if seeds else self


def known(where: Path = LAB) -> list[str]:
    """The names of this project's experiments."""
    return sorted(path.stem for path in where.glob("*.toml") if path.name != DEVICES.name)


def find(name: str, where: Path = LAB) -> Path:
    """The file of an experiment, given by name or as a path. Raises SwapKunitError."""
    path = Path(name).expanduser()
    if "/" not in name and not name.endswith(".toml"):
        path = where / f"{name}.toml"
        if not path.is_file() or path.name == DEVICES.name:
            raise SwapKunitError(f"no experiment '{name}'; {did_you_mean(name, known(where))}choose one of "
                                 f"{', '.join(known(where))}, or give the path of a .toml file")
    if not path.is_file():
        raise SwapKunitError(f"no experiment {name}: there is no such file; see docs/lab.rst for its form")
    return path


def read(path: Path) -> dict[str, Any]:
    """A TOML file. Raises SwapKunitError."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise SwapKunitError(f"cannot read the experiment {path}: {error}; docs/lab.rst explains its form") from error


def parameters(suite: str, only: re.Pattern[str] = PARAMETER, where: Path = SUITES) -> list[str]:
    """The parameters of a suite, from its source."""
    return only.findall((where / f"{suite}_kunit.c").read_text())


def load(name: str) -> Experiment:
    """Read an experiment. Raises SwapKunitError for whatever is wrong in it."""
    path = find(name)
    try:
        return made_of(path.stem, read(path), read(DEVICES))
    except SwapKunitError as error:
        raise SwapKunitError(f"cannot run the experiment {path}: {error}") from error


def made_of(name: str, data: dict[str, Any], models: dict[str, Any]) -> Experiment:
    """The experiment that a file describes; models: those of devices.toml."""
    check_keys("the file", data, KEYS)
    for key in ("title", "side"):
        if not data.get(key):
            raise SwapKunitError(f"{key} is missing")
    if len(data["side"]) != 2:
        raise SwapKunitError(f"it has {len(data['side'])} [[side]], and two are compared")
    config, seeds = data.get("config", []), data.get("seeds", SEEDS)
    for fragment in config:
        fragments.find(fragment, CONFIGS)
    if not seeds or not all(isinstance(seed, int) and 0 < seed < 1 << 32 for seed in seeds):
        raise SwapKunitError("seeds must be positive numbers below 2^32, such as [1, 2, 3]")
    devices = dict.fromkeys(one for part in (data, *data["side"]) for one in listed(part, "device"))
    check_names("device", devices, models)
    sides = [plan(data, side, models) for side in data["side"]]
    # Fragmentation needs no time, and so a kernel that is quicker to build.
    own = "lab" if any(side.suite == SUITE for side in sides) else "fragmentation"
    return Experiment(name, data["title"], " ".join(data.get("about", "").split()), [own, *config], seeds, sides,
                      [comparison(one) for one in data.get("compare", [])],
                      {device: " ".join(models[device].get("source", "").split()) for device in devices})


def listed(data: dict[str, Any], key: str) -> list[str]:
    """A value that is a list of words. Raises SwapKunitError."""
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise SwapKunitError(f'{key} must be a list of names, such as {key} = ["one"]')
    return value


def check_keys(where: str, data: dict[str, Any], allowed: Iterable[str]) -> None:
    """Raise SwapKunitError for a key that nothing reads."""
    for key in data:
        if key not in allowed:
            raise SwapKunitError(f"{where} has the unknown key {key}; {did_you_mean(key, allowed)}the keys are "
                                 f"{', '.join(sorted(allowed))}")


def check_names(what: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise SwapKunitError for a name that is not known."""
    for name in names:
        if name not in allowed:
            raise SwapKunitError(f"no {what} '{name}'; {did_you_mean(name, allowed)}choose one of "
                                 f"{', '.join(sorted(allowed))}")


def plan(data: dict[str, Any], side: dict[str, Any], models: dict[str, Any]) -> Plan:
    """One side, whose own keys come before those of the experiment."""
    check_keys("a [[side]]", side, SIDE_KEYS)
    if not side.get("name"):
        raise SwapKunitError("a [[side]] has no name")
    policies = listed(side, "policy")
    for policy in policies:
        patches.steps_of(policy, POLICIES)
    workload = {**data.get("workload", {}), **side.get("workload", {})}
    suite = FRAGMENTATION if workload.get("workload") == "fragmentation" else SUITE
    if suite == SUITE:
        workload = {"workload": "faults", **workload}
        workload.update(device_values(listed(side, "device") or listed(data, "device"), models,
                                      {**data.get("model", {}), **side.get("model", {})}))
    else:
        del workload["workload"]
    check_keys("[workload]", workload, parameters(suite))
    return Plan(side["name"], suite, policies, side.get("kernel", data.get("kernel", "")),
                [f"{suite}.{key}={as_argument(key, value)}" for key, value in workload.items()])


def device_values(names: list[str], models: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    """The parameters of devices: a list for each, and zswap's costs; override: other values for all of them."""
    own = parameters(SUITE, OF_DEVICES)
    check_keys("[model]", override, own)
    disks = [models[name] for name in names if models[name]["kind"] != "zswap"]
    found = {key: [{**model, **override}.get(key, 0) for model in disks] for key in own}
    costs = {key: value for name in names if models[name]["kind"] == "zswap"
             for key, value in models[name].items() if key.startswith("zswap_")}
    return {**{key: values for key, values in found.items() if any(values)}, **costs}


def as_argument(key: str, value: Any) -> str:
    """A value as on the kernel's command line. Raises SwapKunitError for one that cannot be there."""
    if isinstance(value, list):
        return ",".join(as_argument(key, one) for one in value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int) and 0 <= value < 1 << 32 or isinstance(value, str) and re.fullmatch(r"[\w.-]+", value):
        return str(value)
    raise SwapKunitError(f"{key} = {value!r} must be a number from 0 to 4294967295, or a word")


def comparison(data: dict[str, Any]) -> Comparison:
    """A [[compare]]."""
    check_keys("a [[compare]]", data, COMPARE_KEYS)
    if not data.get("figure"):
        raise SwapKunitError("a [[compare]] has no figure")
    for key in ("expect", "better"):
        if data.get(key, "") not in ("", MORE, LESS):
            raise SwapKunitError(f"{key} = \"{data[key]}\" is neither \"{MORE}\" nor \"{LESS}\"")
    published = data.get("published")
    if published is not None and (not isinstance(published, list) or len(published) != 2):
        raise SwapKunitError("published must be the figures of both sides, such as [57.4, 9.9]")
    return Comparison(data["figure"], data.get("name", data["figure"]), data.get("expect", ""),
                      (float(published[0]), float(published[1])) if published else None,
                      " ".join(data.get("source", "").split()), " ".join(data.get("why", "").split()),
                      data.get("better", ""))
