# SPDX-License-Identifier: GPL-2.0
"""Mutants of the swap files: which wrong versions of a line would no suite notice?"""
