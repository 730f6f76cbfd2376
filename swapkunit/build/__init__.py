# SPDX-License-Identifier: GPL-2.0
"""From a kernel tree to vmlinux."""
