# SPDX-License-Identifier: GPL-2.0
"""swap-kunit: what a kernel's swap allocator and readahead decide, from the real code.

The parts, in the order a run passes through them:

deps       what this machine lacks, and installing it
source     find a kernel tree (KSRC) or fetch Debian's linux-source package
tree       the overlay: the kernel's files as links, ours beside them
build      Kconfig fragments, kunit.py config and build, warm builds by make
run        one UML per suite, watched; a crash or a hang is a failed case
results    KTAP log, kunit.py's own results, results.json, junit.xml, decisions
verdict    one screen, and the closing line

presence   which mechanisms the probe finds in a kernel, and which it must have
matrix     kernels x configs, a run each
notation   decisions.txt, read back
decisions  what two runs decide otherwise
"""
