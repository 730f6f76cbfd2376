# SPDX-License-Identifier: GPL-2.0
"""A series checked, patch by patch."""
