// SPDX-License-Identifier: GPL-2.0
/*
 * Questions to the kernel tree, answered by its compiler.
 *
 * Each PROBE(NAME) starts a function of its own, on lines that claim to come
 * from a file called NAME. probe.py compiles this once, with the flags of
 * mm/: SWAP_API_NAME is 1 where no error falls in that file, else 0.
 * Answers only: nothing here is linked.
 */
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/blkdev.h>
#include <linux/bio.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/memcontrol.h>
#if __has_include(<linux/zswap.h>)
#include <linux/zswap.h>
#endif
#if __has_include(<linux/frontswap.h>)
#include <linux/frontswap.h>
#endif
#include <linux/fs_struct.h>
#include <linux/hrtimer.h>
#include <kunit/test.h>
#if __has_include(<linux/swap_ops.h>)
#include <linux/swap_ops.h>
#endif
#include "internal.h"
#if __has_include("swap.h")
#include "swap.h"
#endif
