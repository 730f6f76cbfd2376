# SPDX-License-Identifier: GPL-2.0
#
# `make VERB NAME=value ...` is `./swap-kunit VERB --option=value ...`; `make help` and
# `./swap-kunit VERB --help` list verbs, options and variables, swapkunit/cli has their table.
# make turns every failure into exit status 2: where the status matters, call ./swap-kunit.

PYTHON ?= /usr/bin/python3
export PYTHONUNBUFFERED := 1

verbs := run stability list build tree fetch coverage covers mutate bugs matrix sanitize presence doctor decisions animate \
	 presubmit b4-check lab test lint man clean

# make passes the values of these in the environment, so any character is safe in them.
given := $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$v))
q = '$(subst ','\'',$(1))'
# In another directory, `make -f PATH/Makefile` works as well, unless there is a space in the path.
top := $(if $(wildcard swapkunit/cli),$(CURDIR),$(abspath $(dir $(lastword $(MAKEFILE_LIST)))))
swap-kunit = $(PYTHON) $(call q,$(top)/swap-kunit)

help:
	@$(swap-kunit) --help
$(verbs):
	@$(swap-kunit) --make $@ $(foreach v,$(given),$(call q,$v))

# Any other word: the program says what was meant.
.DEFAULT:
	@$(swap-kunit) --make $@

.PHONY: help $(verbs)
