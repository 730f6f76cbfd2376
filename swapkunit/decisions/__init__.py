# SPDX-License-Identifier: GPL-2.0
"""What kernels decide, and where two of them differ."""
