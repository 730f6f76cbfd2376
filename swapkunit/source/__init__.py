# SPDX-License-Identifier: GPL-2.0
"""Kernel trees from Debian."""
