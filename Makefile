# SPDX-License-Identifier: GPL-2.0
#
# One line a verb; ./swap-kunit VERB --help says more. make turns every failure
# into exit status 2: where the status matters, call ./swap-kunit.
#
#   KSRC=dir KERNEL=7.3   which kernel      CONFIG=a,b  fragments of configs/
#   POLICY=name           patches of mm/policies
#   FILTER='swap_io.*'    which cases       O=dir       output directory
#   J=n  jobs             V=1  whole build  LLVM=1 CC=gcc-12  for the kernel's make
#   KUNIT_ARGS='mem=512M' for the UML's command line
#   SHUFFLE=seed  each case alone, in random order (run)
#   LINE=mm/swapfile.c:1137  for covers     UNCOVERED=1 RAISE=1  for coverage
#   A=7.3 B=~/linux+free-first   for decisions
#   KERNELS=7,6.12 CONFIGS=plain,debug_vm  for matrix    JSON=1  for presence
#   KERNELS=7,6.12 SEED=n STEPS=n  for bench-fragmentation
#   PATCHES='*.patch' or RANGE=base..tip  for presubmit; QUICK=1 FULL=1 CONFIGS=kasan SANDBOX=0

PYTHON ?= /usr/bin/python3
export PYTHONUNBUFFERED := 1
own-configs := $(filter command line environment,$(origin CONFIGS))
KERNELS ?= $(KERNEL)
CONFIGS ?= $(CONFIG)

q = $(if $(strip $(1)),'$(subst ','\'',$(1))')
opt = $(if $(strip $($(2))),$(1) $(call q,$($(2))))
mk = $(foreach v,LLVM CC,$(if $(filter command line environment,$(origin $(v))),--make-option $(call q,$(v)=$($(v)))))

swap-kunit = $(PYTHON) $(call q,$(CURDIR)/swap-kunit)
kernel = $(call opt,--ksrc,KSRC) $(call opt,--kernel,KERNEL) $(call opt,--config,CONFIG) \
	 $(call opt,--policy,POLICY) $(call opt,--out,O) $(call opt,--jobs,J) $(if $(filter-out 0,$(V)),--verbose) $(mk)
suites = $(call opt,--filter,FILTER) $(if $(strip $(KUNIT_ARGS)),--kernel-arg=$(call q,$(KUNIT_ARGS)))

help:
	@$(swap-kunit) --help

run:
	@$(swap-kunit) run $(kernel) $(suites) $(call opt,--shuffle,SHUFFLE)
list:
	@$(swap-kunit) list $(kernel) $(suites)
build:
	@$(swap-kunit) build $(kernel)
tree:
	@$(swap-kunit) tree $(kernel) $(call opt,--tree,TREE)
fetch:
	@$(swap-kunit) fetch $(call opt,--kernel,KERNEL)
coverage:
	@$(swap-kunit) coverage $(kernel) $(suites) $(if $(filter-out 0,$(UNCOVERED)),--uncovered) \
		$(if $(filter-out 0,$(RAISE)),--raise)
covers:
	@$(swap-kunit) covers $(kernel) $(call q,$(LINE))
matrix:
	@$(swap-kunit) matrix $(call opt,--kernels,KERNELS) $(call opt,--configs,CONFIGS) $(call opt,--ksrc,KSRC) \
		$(call opt,--out,O) $(call opt,--jobs,J) $(mk) $(suites)
presubmit:
	@$(swap-kunit) presubmit $(kernel) $(suites) $(call opt,--range,RANGE) $(if $(own-configs),--configs $(call q,$(CONFIGS))) \
		$(if $(filter-out 0,$(QUICK)),--quick) $(if $(filter-out 0,$(FULL)),--full) \
		$(if $(filter 0,$(SANDBOX)),--no-sandbox) $(PATCHES)
presence:
	@$(swap-kunit) presence $(call opt,--ksrc,KSRC) $(call opt,--kernel,KERNEL) $(call opt,--policy,POLICY) \
		$(if $(filter-out 0,$(JSON)),--json)
decisions:
	@$(swap-kunit) decisions $(call q,$(A)) $(call q,$(B)) $(call opt,--config,CONFIG) $(call opt,--out,O) \
		$(call opt,--jobs,J) $(if $(filter-out 0,$(V)),--verbose) $(mk) $(suites)
bench-fragmentation:
	@$(swap-kunit) bench-fragmentation $(call opt,--kernels,KERNELS) $(call opt,--seed,SEED) \
		$(call opt,--steps,STEPS) $(call opt,--out,O) $(call opt,--jobs,J) \
		$(if $(filter-out 0,$(V)),--verbose) $(mk)
test:
	@$(swap-kunit) test $(if $(strip $(kernel) $(suites)),-- $(kernel) $(suites))
clean:
	@$(swap-kunit) clean $(call opt,--out,O)

.PHONY: help run list build tree fetch coverage covers matrix presence presubmit decisions bench-fragmentation \
	test clean
