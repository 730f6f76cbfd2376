# SPDX-License-Identifier: GPL-2.0
"""Which lines the suites reach."""
