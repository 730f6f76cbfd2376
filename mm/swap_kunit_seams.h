/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seams: calls of a swap file to another file, which a case can watch or make
 * fail. Include this before the real file. A seam passes its call through unless
 * a case has armed swap_seams. None replaces logic of the swap file itself.
 *
 * Where the swap file has no such call, an #error names what is not seen. The build
 * leaves it out then, and with it the cases that need to see or to fail that call.
 */
#ifndef _MM_SWAP_KUNIT_SEAMS_H
#define _MM_SWAP_KUNIT_SEAMS_H

#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu-refcount.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#if __has_include("linux/zswap.h")
#include <linux/zswap.h>
#endif
#if __has_include("linux/frontswap.h")
#include <linux/frontswap.h>
#endif
#include <linux/memcontrol.h>
#include "internal.h"
#if __has_include("swap.h")
#include "swap.h"
#endif
#include "swap_api.h"
#include "swap_kunit.h"

static inline int swap_seam_fail(enum swap_fail_point point)
{
	const struct swap_seams *seams = READ_ONCE(swap_seams);

	return seams ? seams->fail(point) : 0;
}

static inline void swap_seam_count(enum swap_count what, unsigned int nr)
{
	const struct swap_seams *seams = READ_ONCE(swap_seams);

	if (seams)
		seams->count(what, nr);
}

static inline void swap_seam_hold(enum swap_live what, int nr)
{
	atomic_add(nr, &swap_seam_live[what]);
}

/* For a pointer that may be NULL or an error; it is given back. */
static inline void *swap_seam_held(enum swap_live what, const void *mem, int nr)
{
	if (!IS_ERR_OR_NULL(mem))
		swap_seam_hold(what, nr);
	return (void *)mem;
}

static inline void swap_seam_allocated(swp_entry_t entry, unsigned int nr)
{
	const struct swap_seams *seams = READ_ONCE(swap_seams);

	if (seams && seams->allocated && entry.val)
		seams->allocated(entry, nr);
}

static inline void swap_seam_zswap_stored(swp_entry_t entry, unsigned int nr, bool stored)
{
	const struct swap_seams *seams = READ_ONCE(swap_seams);

	if (seams && seams->zswap_stored)
		seams->zswap_stored(entry, nr, stored);
	if (stored)
		swap_seam_count(SWAP_COUNT_STORED, nr);
}

/* Zswap has the page, and it was intact. */
static inline void swap_seam_zswap_loaded(swp_entry_t entry, bool loaded, bool intact)
{
	const struct swap_seams *seams = READ_ONCE(swap_seams);

	if (seams && seams->zswap_loaded)
		seams->zswap_loaded(entry, loaded);
	if (intact)
		swap_seam_count(SWAP_COUNT_LOADED, 1);
}

/* Charges: swapfile.c, or swap_slots.c where there is one. */
#define mem_cgroup_try_charge_swap(folio, ...) \
	(swap_seam_fail(SWAP_FAIL_CHARGE) ? -ENOMEM : \
	 mem_cgroup_try_charge_swap(folio, ##__VA_ARGS__))

#define folio_trylock(folio)	(!swap_seam_fail(SWAP_FAIL_TRYLOCK) && folio_trylock(folio))
#define trylock_page(page)	(!swap_seam_fail(SWAP_FAIL_TRYLOCK) && trylock_page(page))
#define percpu_ref_tryget_live(ref) \
	(!swap_seam_fail(SWAP_FAIL_REF) && percpu_ref_tryget_live(ref))

#define get_obj_cgroup_from_folio(folio) \
	((struct obj_cgroup *)swap_seam_held(SWAP_LIVE_OBJCG, get_obj_cgroup_from_folio(folio), 1))
#define get_obj_cgroup_from_page(page) \
	((struct obj_cgroup *)swap_seam_held(SWAP_LIVE_OBJCG, get_obj_cgroup_from_page(page), 1))
#define obj_cgroup_get(objcg)	obj_cgroup_get(swap_seam_held(SWAP_LIVE_OBJCG, objcg, 1))
#define obj_cgroup_put(objcg)	obj_cgroup_put(swap_seam_held(SWAP_LIVE_OBJCG, objcg, -1))

#define folio_lock(folio)	(swap_seam_fail(SWAP_FAIL_LOCK), folio_lock(folio))
#define lock_page(page)		(swap_seam_fail(SWAP_FAIL_LOCK), lock_page(page))
#define percpu_ref_kill(ref)	(swap_seam_fail(SWAP_FAIL_KILL), percpu_ref_kill(ref))

/* What was looked up before such a lock is taken may be gone then. */
#define spin_lock(lock)		(swap_seam_fail(SWAP_FAIL_SPIN), spin_lock(lock))
#define spin_lock_bh(lock)	(swap_seam_fail(SWAP_FAIL_SPIN), spin_lock_bh(lock))
#define swap_cluster_lock(si, offset) \
	(swap_seam_fail(SWAP_FAIL_SPIN), swap_cluster_lock(si, offset))
#define swap_cluster_get_and_lock(folio) \
	(swap_seam_fail(SWAP_FAIL_SPIN), swap_cluster_get_and_lock(folio))

#endif /* _MM_SWAP_KUNIT_SEAMS_H */
