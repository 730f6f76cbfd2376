# SPDX-License-Identifier: GPL-2.0
"""Patch series: found, put in order, laid on a base."""
