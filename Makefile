# SPDX-License-Identifier: GPL-2.0
#
# `make VERB NAME=value ...` is `./swap-kunit VERB --name=value ...`; swapkunit/cli has
# the one table of both, `make help` and `./swap-kunit VERB --help` print it. make turns
# every failure into exit status 2: where the status matters, call ./swap-kunit.

PYTHON ?= /usr/bin/python3
export PYTHONUNBUFFERED := 1

verbs := run list build tree fetch coverage covers matrix presence decisions presubmit b4-check \
	 bench-fragmentation test lint clean

q = '$(subst ','\'',$(1))'
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$v))
swap-kunit = $(PYTHON) $(call q,$(CURDIR)/swap-kunit)

help:
	@$(swap-kunit) --help
$(verbs):
	@$(swap-kunit) --make $@ $(foreach v,$(given),$(call q,$v=$($v)))

.PHONY: help $(verbs)
