# SPDX-License-Identifier: GPL-2.0
"""Tests of swapkunit itself: no kernel is built, no network asked."""
