# SPDX-License-Identifier: GPL-2.0
"""Used by every other package: errors, paths, programs, text."""
