#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes swap_api.h: what a kernel tree offers, found in the tree itself.

SWAP_API_NAME is the shape of an interface: does this code compile in mm/? The
questions are in probe_questions.h and are all compiled at once; an error belongs to
the question in whose lines it is. Statics that no question can name are looked up
in the source. SWAP_MECHANISM_NAME is a policy, -1 if unknown, and SWAP_MEANING_NAME what it is,
see mechanisms.py; they also go to swap_mechanisms.json beside the header. No version number
decides either.

Kbuild runs this in every build. It does nothing unless a file that it read has changed.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import mechanisms

HERE = Path(__file__).absolute().parent
PARTS = ("probe.py", "mechanisms.py", "probe_api.c", "probe_questions.h")

# Statics that only an accessor can see, and calls that a seam replaces: file and pattern.
STATICS = {
    "FOLIO_ALLOC_MPOL": ("mm/swap_state.c", r"\bfolio_alloc_mpol\("),
    "VMA_ALLOC_FOLIO": ("mm/swap_state.c", r"\bvma_alloc_folio\(\w+, \w+, [\w>-]+, \w+\)"),
    "VMA_ALLOC_FOLIO_HUGEPAGE": ("mm/swap_state.c", r"\bvma_alloc_folio\(\w+, 0, vma, addr, false\)"),
    "ALLOC_PAGE_VMA": ("mm/swap_state.c", r"\balloc_page_vma\("),
    "ALLOC_PAGES_MPOL": ("mm/swap_state.c", r"\balloc_pages_mpol\("),
    "CLUSTER_ALLOC_LOCKED":
        ("mm/swapfile.c", r"\bcluster_alloc_swap_entry\([^;{]*\{[^}]*\blockdep_assert_held\(&si->lock\)"),
    "RECLAIM_FULL_LOCKED": ("mm/swapfile.c", r"\bspin_lock\(&si->lock\);\s*swap_reclaim_full_clusters\("),
    "CLUSTER_ALLOC_USAGE": ("mm/swapfile.c", r"\bcluster_alloc_swap_entry\([^;{)]*,\s*unsigned char usage\)"),
    "PERCPU_SWAP_CLUSTER": ("mm/swapfile.c", r"\bpercpu_swap_cluster\.lock\b"),
    "SWAPIN_CHARGED":
        ("mm/swap_state.c", r"\bmem_cgroup_(swapin_charge_folio|swapin_charge_page|charge)\("),
    "SWAP_CHARGED": ("mm/swapfile.c", r"\bmem_cgroup_try_charge_swap\("),
    "THROTTLE_SCHEDULED": ("mm/swapfile.c", r"\bblk_cgroup_congested\([\s\S]*\bblkcg_schedule_throttle\("),
    "SWAP_CACHE_ADD_IN_CLUSTER": ("mm/swapfile.c", r"\b__swap_cache_add_folio\(\w+, \w+,"),
    "SWAP_CACHE_ADD_SHADOW": ("mm/swapfile.c", r"\bswap_cache_add_folio\(\w+, \w+, NULL\)"),
    "ZSWAP_ENTRY_ALLOC": ("mm/zswap.c", r"\bkmem_cache_alloc(_node)?\("),
    "ZSWAP_COMPRESS": ("mm/zswap.c", r"\bcrypto_a?comp_compress\("),
    "ZSWAP_POOL_ALLOC": ("mm/zswap.c", r"\b(zs|zpool)_malloc\("),
    "SWAP_DUP_PINS": ("mm/swapfile.c", r"\b__swap_duplicate\([^;{]*\{[^}]*\bget_swap_device\("),
    "SHMEM_READ_ERROR": ("mm/shmem.c", r"\bshmem_set_(folio_)?swapin_error\("),
    "ZERO_READ": ("mm/page_io.c", r"\bfolio_zero_range\("),
    "ZERO_WRITTEN": ("mm/page_io.c", r"\b__swap_table_set_zero\("),
    "ZEROMAP_WRITTEN": ("mm/page_io.c", r"\bset_bit\(swp_offset\(\w+\), \w+->zeromap\)"),
    "READ_AHEAD_MARKED": ("mm/swap_state.c", r"\b(folio_set_readahead|SetPageReadahead)\("),
    "READ_AHEAD_FOUND": ("mm/swap_state.c", r"\b(folio_test_clear_readahead|TestClearPageReadahead)\("),
    "FS_WRITE_COUNTED_LATE": ("mm/page_io.c",
        r"\bcount_vm_event\(PSWPOUT\)|\belse \{[^}]*\bcount_swpout_vm_event\("),
    "ZSWAP_WRITES": ("mm/zswap.c", r"\b__swap_writepage\("),
    "ZSWAP_CALLED": ("mm/page_io.c", r"\bzswap_store\([\s\S]*\bzswap_load\("),
    "SWAP_VMA_RA_WIN": ("mm/swap_state.c", r"\bswap_vma_ra_win\b"),
    "SWAP_TYPE_TO_INFO": ("mm/swapfile.c", r"\bswap_type_to_info\b"),
    "ZSWAP_SHRINK_WORK": ("mm/zswap.c", r"\bzswap_shrink_work\b"),
    "ZSWAP_POOL_SHRINKER": ("mm/zswap.c", r"\bpool->shrinker\b"),
    "ZSWAP_POOL_LRU": ("mm/zswap.c", r"&pool->list_lru\b"),
    "ZSWAP_POOL_NEXT_SHRINK": ("mm/zswap.c", r"\bpool->next_shrink\b"),
    "ZSWAP_TOTAL_PAGES": ("mm/zswap.c", r"\bzswap_total_pages\("),
    "ZSWAP_TREE_XARRAY": ("mm/zswap.c", r"\bxa_load\b|\bswap_zswap_tree\b"),
    "ZSWAP_RECLAIM_ENTRY": ("mm/zswap.c", r"\bzswap_reclaim_entry\(pool\)"),
    "ZSWAP_ZPOOLS": ("mm/zswap.c", r"\bzswap_find_zpool\(entry\)"),
    "ZSWAP_ZPOOL": ("mm/zswap.c", r"\bstruct zpool\b"),
    "ZSWAP_HEADER": ("mm/zswap.c", r"\bstruct zswap_header\b"),
    "ZSWAP_EVER_ENABLED": ("mm/zswap.c", r"\bzswap_ever_enabled\b"),
    "CSS_RSTAT_FLUSH": ("include/linux/cgroup.h", r"\bcss_rstat_flush\b"),
}


def questions() -> dict[str, str]:
    """Name -> code of each PROBE() in probe_questions.h."""
    parts = re.split(r"^PROBE\((\w+)\)", (HERE / "probe_questions.h").read_text(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def failing(compiler: list[str], source: Path, asked: dict[str, str]) -> set[str]:
    """The questions that do not compile, asked together. Exits if the tree's own headers do not."""
    text = (HERE / "probe_api.c").read_text()
    for name, code in asked.items():
        text += f'\n#line 1 "probe:{name}"\n#define probe probe_{name}\n{code}\n#undef probe\n'
    source.write_text(text)
    limit = "-ferror-limit=0" if "clang" in compiler[0] else "-fmax-errors=0"
    done = subprocess.run([*compiler, "-Wno-missing-prototypes", "-Wno-missing-declarations", "-Wno-unused",
                           "-fsyntax-only", limit, str(source)], capture_output=True, text=True, check=False)
    errors = re.findall(r"^(.*?):\d+:(?:\d+:)? (?:fatal )?error: .*$", done.stderr, flags=re.M)
    if (done.returncode and not errors) or not all(error.startswith("probe:") for error in errors):
        sys.stderr.write(done.stderr)
        sys.exit(f"{source}: the tree's own headers do not compile")
    return {error.removeprefix("probe:") for error in errors}


def find_shapes(srctree: Path, compiler: list[str], out: Path) -> dict[str, bool]:
    """Name -> found, for each question and each of STATICS.

    A compiler reports an unknown function once and then takes it as declared: the
    questions that are left are asked again until none fails.
    """
    asked = questions()
    good = dict(asked)
    while bad := failing(compiler, out.with_suffix(".probe.c"), good):
        good = {name: code for name, code in good.items() if name not in bad}
    statics = {name: bool(re.search(pattern, mechanisms.code_of(mechanisms.real_file(srctree, file))))
               for name, (file, pattern) in STATICS.items()}
    return {**{name: name in good for name in asked}, **statics}


def header(shapes: dict[str, bool], found: dict[str, bool | None]) -> str:
    """The text of swap_api.h."""
    return "\n".join([
        "/* Written by probe.py. */", "#ifndef _SWAP_API_H", "#define _SWAP_API_H", "",
        *(f"#define SWAP_API_{name} {int(there)}" for name, there in shapes.items()), "",
        *(f"#define SWAP_MECHANISM_{name} {-1 if there is None else int(there)}" for name, there in found.items()), "",
        *(f'#define SWAP_MEANING_{entry.name} "{entry.meaning}"' for entry in mechanisms.MECHANISMS), "", "#endif", ""])


def files_read(srctree: Path) -> list[str]:
    """The files that decide, apart from the headers that the compiler reads."""
    names = {name for entry in mechanisms.MECHANISMS for name in entry.files.split()}
    names |= {file for file, _ in STATICS.values()}
    return [str(mechanisms.real_file(srctree, name)) for name in names] + [str(HERE / name) for name in PARTS]


def headers_read(depfile: Path) -> list[str]:
    """The files listed in the compiler's depfile."""
    if not depfile.exists():
        return []
    _, _, names = depfile.read_text().replace("\\\n", " ").partition(":")
    return [name for name in names.split() if not name.endswith(".probe.c")]


def fingerprint(files: list[str], command: list[str]) -> str:
    """A hash over the command, and the size and mtime of every file."""
    digest = hashlib.sha1(repr(command).encode())
    for name in sorted(set(files)):
        try:
            stat = Path(name).stat()
            digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}".encode())
        except OSError:
            digest.update(f"{name} -".encode())
    return digest.hexdigest()


def write_if_changed(path: Path, text: str) -> None:
    """Write text, or leave an equal file and its mtime alone."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    """Write the header, unless nothing that decides has changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--srctree", required=True, type=Path, help="top of the kernel tree")
    parser.add_argument("--out", required=True, type=Path, help="the header to write")
    parser.add_argument("--depfile", required=True, type=Path, help="the compiler's list of files that it read")
    parser.add_argument("compiler", nargs="+", help="compiler and flags, after --")
    args = parser.parse_args()
    stamp = args.out.with_suffix(".probe.stamp")
    files = files_read(args.srctree)
    if args.out.exists() and stamp.exists():
        last = json.loads(stamp.read_text())
        if last["fingerprint"] == fingerprint(files + last["headers"], args.compiler):
            return
    print(f"  PROBE   {args.out}", flush=True)
    found = mechanisms.find(args.srctree)
    write_if_changed(args.out, header(find_shapes(args.srctree, args.compiler, args.out), found))
    write_if_changed(args.out.with_name("swap_mechanisms.json"), mechanisms.as_json(found))
    headers = headers_read(args.depfile)
    stamp.write_text(json.dumps({"headers": headers, "compiler": args.compiler,
                                 "fingerprint": fingerprint(files + headers, args.compiler)}))


if __name__ == "__main__":
    main()
