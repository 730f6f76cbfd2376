# SPDX-License-Identifier: GPL-2.0
"""Experiments in virtual time: what two kernels, or two settings, measure under the same workload."""
