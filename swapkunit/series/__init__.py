# SPDX-License-Identifier: GPL-2.0
"""Patch series: read from mails or commits, put in order, applied to a base."""
