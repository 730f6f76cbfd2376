# SPDX-License-Identifier: GPL-2.0
"""swap-kunit: what a kernel's swap allocator and readahead decide, from the real code.

A package imports only those listed above it:

base        errors, signals, paths, running programs and git, kernel trees, missing packages, junit
source      a kernel tree: the one given, or Debian's linux-source package
build       the overlay, patches, Kconfig fragments, kunit.py config and build, warm builds by make
sandbox     bubblewrap around every program that an untrusted patch can influence
run         one UML a suite, its console, results, known bugs, mechanisms, the verdict; kernels x configs
decisions   decisions.txt read back, compared, drawn
lab         experiments in virtual time: workloads on models of disks, two sides compared
coverage    gcov counters, per case; reports, floors, which tests reach a line
series      a series of patches from mails, mboxes or commits, applied to a base; why a hunk does not apply
mutate      wrong versions of the swap code, and which of them no suite notices
presubmit   the check of a series, patch by patch: steps, stored results, progress, report; b4's check commands
lint        the linters for the files of this project
cli         options and variables of make, the verbs
"""
