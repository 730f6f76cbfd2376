/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seams at the allocations of swapfile.c. A case can make each of them fail, and
 * those that are not yet freed are counted. Include this last, just before the
 * real file.
 */
#ifndef _MM_SWAP_KUNIT_ALLOC_H
#define _MM_SWAP_KUNIT_ALLOC_H

#if __has_include("linux/swap_cgroup.h")
#include <linux/swap_cgroup.h>
#endif
#include <linux/percpu.h>
#include <linux/percpu-refcount.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "swap_kunit_seams.h"

static inline void *swap_seam_got(void *mem)
{
	return swap_seam_held(SWAP_LIVE_SWAPFILE, mem, 1);
}

static inline int swap_seam_began(int err)
{
	if (!err)
		swap_seam_hold(SWAP_LIVE_SWAPFILE, 1);
	return err;
}

static inline void swap_seam_gave(const void *mem)
{
	swap_seam_held(SWAP_LIVE_SWAPFILE, mem, -1);
}

#define SWAP_SEAM_ALLOC(name, proto, args)					\
static inline __maybe_unused void *swap_seam_##name proto			\
{										\
	return swap_seam_fail(SWAP_FAIL_ALLOC) ? NULL : swap_seam_got(name args);	\
}

#define SWAP_SEAM_FREE(name)							\
static inline __maybe_unused void swap_seam_##name(const void *mem)		\
{										\
	swap_seam_gave(mem);							\
	name(mem);								\
}

/* The table of a cluster, and of counts too large for a slot. */
static inline bool swap_seam_fail_table(void)
{
	return swap_seam_fail(SWAP_FAIL_TABLE) || swap_seam_fail(SWAP_FAIL_ALLOC);
}

#define SWAP_SEAM_TABLE(name, proto, args)					\
static inline __maybe_unused void *swap_seam_##name proto			\
{										\
	return swap_seam_fail_table() ? NULL : swap_seam_got(name args);	\
}

SWAP_SEAM_ALLOC(kmalloc, (size_t size, gfp_t gfp), (size, gfp))
SWAP_SEAM_TABLE(kzalloc, (size_t size, gfp_t gfp), (size, gfp))
SWAP_SEAM_ALLOC(kvzalloc, (size_t size, gfp_t gfp), (size, gfp))
SWAP_SEAM_ALLOC(kvcalloc, (size_t n, size_t size, gfp_t gfp), (n, size, gfp))
SWAP_SEAM_ALLOC(kvmalloc_array, (size_t n, size_t size, gfp_t gfp), (n, size, gfp))
SWAP_SEAM_ALLOC(vzalloc, (unsigned long size), (size))
SWAP_SEAM_TABLE(kmem_cache_zalloc, (struct kmem_cache *cache, gfp_t gfp), (cache, gfp))
SWAP_SEAM_FREE(kfree)
SWAP_SEAM_FREE(kvfree)
SWAP_SEAM_FREE(vfree)

static inline __maybe_unused void swap_seam_cache_free(struct kmem_cache *cache, void *mem)
{
	swap_seam_gave(mem);
	kmem_cache_free(cache, mem);
}

static inline __maybe_unused struct page *swap_seam_alloc_page(gfp_t gfp)
{
	return swap_seam_fail_table() ? NULL : alloc_page(gfp);
}

static inline __maybe_unused void __percpu *swap_seam_percpu_alloc(size_t size, size_t align)
{
	void __percpu *mem = swap_seam_fail(SWAP_FAIL_ALLOC) ? NULL : __alloc_percpu(size, align);

	swap_seam_got((void __force *)mem);
	return mem;
}

static inline __maybe_unused void swap_seam_percpu_free(void __percpu *mem)
{
	swap_seam_gave((void __force *)mem);
	free_percpu(mem);
}

static inline __maybe_unused int swap_seam_ref_init(struct percpu_ref *ref,
						    percpu_ref_func_t *release,
						    unsigned int flags, gfp_t gfp)
{
	return swap_seam_fail(SWAP_FAIL_ALLOC) ? -ENOMEM :
	       swap_seam_began(percpu_ref_init(ref, release, flags, gfp));
}

static inline __maybe_unused void swap_seam_ref_exit(struct percpu_ref *ref)
{
	swap_seam_gave(ref);
	percpu_ref_exit(ref);
}

#undef kmalloc
#undef kzalloc
#undef kvzalloc
#undef kvcalloc
#undef kvmalloc_array
#undef vzalloc
#undef kmem_cache_zalloc
#undef kmem_cache_free
#undef alloc_page
#undef kfree
#undef kvfree
#undef vfree
#undef alloc_percpu
#undef free_percpu

#define kmalloc(size, gfp)		swap_seam_kmalloc(size, gfp)
#define kzalloc(size, gfp)		swap_seam_kzalloc(size, gfp)
#define kvzalloc(size, gfp)		swap_seam_kvzalloc(size, gfp)
#define kvcalloc(n, size, gfp)		swap_seam_kvcalloc(n, size, gfp)
#define kvmalloc_array(n, size, gfp)	swap_seam_kvmalloc_array(n, size, gfp)
#define vzalloc(size)			swap_seam_vzalloc(size)
#define kmem_cache_zalloc(cache, gfp)	swap_seam_kmem_cache_zalloc(cache, gfp)
#define kmem_cache_free(cache, mem)	swap_seam_cache_free(cache, mem)
#define alloc_page(gfp)			swap_seam_alloc_page(gfp)
#define kfree(mem)			swap_seam_kfree(mem)
#define kvfree(mem)			swap_seam_kvfree(mem)
#define vfree(mem)			swap_seam_vfree(mem)
#define alloc_percpu(type) \
	((typeof(type) __percpu *)swap_seam_percpu_alloc(sizeof(type), __alignof__(type)))
#define free_percpu(mem)		swap_seam_percpu_free(mem)
#define percpu_ref_init(ref, release, flags, gfp) \
	swap_seam_ref_init(ref, release, flags, gfp)
#define percpu_ref_exit(ref)		swap_seam_ref_exit(ref)

/* Allocations for an area in other files. */
#if SWAP_API_ZSWAP_SWAPON_ERRNO
#define zswap_swapon(type, nr) \
	(swap_seam_fail(SWAP_FAIL_ALLOC) ? -ENOMEM : swap_seam_began(zswap_swapon(type, nr)))
#define zswap_swapoff(type) do {						\
	swap_seam_hold(SWAP_LIVE_SWAPFILE, -1);					\
	zswap_swapoff(type);							\
} while (0)
#endif
#define swap_cgroup_swapon(type, nr) \
	(swap_seam_fail(SWAP_FAIL_ALLOC) ? -ENOMEM : swap_cgroup_swapon(type, nr))
#define init_swap_address_space(type, nr) \
	(swap_seam_fail(SWAP_FAIL_ALLOC) ? -ENOMEM : \
	 swap_seam_began(init_swap_address_space(type, nr)))
#define exit_swap_address_space(type) do {					\
	swap_seam_hold(SWAP_LIVE_SWAPFILE, -1);					\
	exit_swap_address_space(type);						\
} while (0)
#define sio_pool_init() \
	(swap_seam_fail(SWAP_FAIL_ALLOC) ? -ENOMEM : sio_pool_init())

#endif /* _MM_SWAP_KUNIT_ALLOC_H */
