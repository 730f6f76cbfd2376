// SPDX-License-Identifier: GPL-2.0
/*
 * The headers for the questions of probe_questions.h.
 *
 * probe.py appends each question on lines that claim to be from a file called
 * NAME, and compiles all of them with the flags of mm/. SWAP_API_NAME is 0 if the
 * compiler reports an error in that file, otherwise 1. Nothing of this is linked.
 */
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/bio.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/memcontrol.h>
#if __has_include("linux/zswap.h")
#include <linux/zswap.h>
#endif
#if __has_include("linux/frontswap.h")
#include <linux/frontswap.h>
#endif
#include <linux/fs_struct.h>
#include <linux/vmalloc.h>
#include <linux/hrtimer.h>
#include <kunit/test.h>
#if __has_include("linux/swap_ops.h")
#include <linux/swap_ops.h>
#endif
#include "internal.h"
#if __has_include("swap.h")
#include "swap.h"
#endif
#if __has_include("swap_table.h")
#include "swap_table.h"
#endif
#if __has_include("linux/swap_cgroup.h")
#include <linux/swap_cgroup.h>
#endif
