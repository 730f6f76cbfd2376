# SPDX-License-Identifier: GPL-2.0
"""From vmlinux to results."""
