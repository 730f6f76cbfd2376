# SPDX-License-Identifier: GPL-2.0
"""Kernels from Debian (stub)."""
def provide(wanted, ask_mirror=False):
    raise NotImplementedError
def newest_cached():
    return None
