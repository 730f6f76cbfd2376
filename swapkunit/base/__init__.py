# SPDX-License-Identifier: GPL-2.0
"""What every other package stands on."""
