# SPDX-License-Identifier: GPL-2.0
"""Where kernel trees come from."""
