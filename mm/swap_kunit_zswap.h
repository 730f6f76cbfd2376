/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seams at the calls with which zswap.c stores a page or creates a pool. A case
 * can make each of them fail. Include this last, just before the real file.
 */
#ifndef _MM_SWAP_KUNIT_ZSWAP_H
#define _MM_SWAP_KUNIT_ZSWAP_H

#include <crypto/acompress.h>
#include <linux/cpu.h>
#include <linux/crypto.h>
#include <linux/list_lru.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/percpu-refcount.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <linux/zsmalloc.h>
#if __has_include("linux/zpool.h")
#include <linux/zpool.h>
#endif
#include "swap_kunit_seams.h"

#if !SWAP_API_ZSWAP_ENTRY_ALLOC
#error "not seen: SWAP_FAIL_ZSWAP_ENTRY"
#endif
#if !SWAP_API_ZSWAP_COMPRESS
#error "not seen: SWAP_FAIL_ZSWAP_COMPRESS"
#endif
#if !SWAP_API_ZSWAP_POOL_ALLOC
#error "not seen: SWAP_FAIL_ZSWAP_POOL"
#endif

#define SWAP_SEAM_ZSWAP_ENTRY(name, proto, args)				\
static inline __maybe_unused void *swap_seam_zswap_##name proto			\
{										\
	return swap_seam_fail(SWAP_FAIL_ZSWAP_ENTRY) ? NULL : name args;	\
}

#define SWAP_SEAM_ZSWAP_ALLOC(name, proto, args)				\
static inline __maybe_unused void *swap_seam_zswap_##name proto			\
{										\
	return swap_seam_fail(SWAP_FAIL_ZSWAP_SETUP) ? NULL :			\
	       swap_seam_held(SWAP_LIVE_ZSWAP, name args, 1);			\
}

#define SWAP_SEAM_ZSWAP_FREE(name, type)					\
static inline __maybe_unused void swap_seam_zswap_##name(type mem)		\
{										\
	name(swap_seam_held(SWAP_LIVE_ZSWAP, mem, -1));				\
}

SWAP_SEAM_ZSWAP_ENTRY(kmem_cache_alloc_node, (struct kmem_cache *cache, gfp_t gfp, int nid),
		      (cache, gfp, nid))
SWAP_SEAM_ZSWAP_ENTRY(kmem_cache_alloc, (struct kmem_cache *cache, gfp_t gfp), (cache, gfp))
SWAP_SEAM_ZSWAP_ALLOC(kzalloc, (size_t size, gfp_t gfp), (size, gfp))
SWAP_SEAM_ZSWAP_ALLOC(kvcalloc, (size_t n, size_t size, gfp_t gfp), (n, size, gfp))
SWAP_SEAM_ZSWAP_ALLOC(kmalloc_node, (size_t size, gfp_t gfp, int nid), (size, gfp, nid))
SWAP_SEAM_ZSWAP_ALLOC(acomp_request_alloc, (struct crypto_acomp *tfm), (tfm))
SWAP_SEAM_ZSWAP_FREE(kfree, const void *)
SWAP_SEAM_ZSWAP_FREE(kvfree, const void *)
SWAP_SEAM_ZSWAP_FREE(acomp_request_free, struct acomp_req *)

/* Not through a cache's failure point: what a case may ask for again. */
static inline __maybe_unused void *swap_seam_zswap_kmalloc(size_t size, gfp_t gfp)
{
	return swap_seam_held(SWAP_LIVE_ZSWAP, kmalloc(size, gfp), 1);
}

static inline __maybe_unused void __percpu *swap_seam_zswap_percpu(size_t size, size_t align,
								   gfp_t gfp)
{
	void __percpu *mem = swap_seam_fail(SWAP_FAIL_ZSWAP_SETUP) ? NULL :
			     __alloc_percpu_gfp(size, align, gfp);

	swap_seam_hold(SWAP_LIVE_PERCPU, !!mem);
	return mem;
}

static inline __maybe_unused void swap_seam_zswap_percpu_free(void __percpu *mem)
{
	swap_seam_hold(SWAP_LIVE_PERCPU, -!!mem);
	free_percpu(mem);
}

static inline __maybe_unused int swap_seam_zswap_hotplug(enum cpuhp_state state,
							 struct hlist_node *node)
{
	int err = cpuhp_state_add_instance(state, node);

	swap_seam_hold(SWAP_LIVE_HOTPLUG, !err);
	return err;
}

static inline __maybe_unused int swap_seam_zswap_hotplug_end(enum cpuhp_state state,
							     struct hlist_node *node)
{
	swap_seam_hold(SWAP_LIVE_HOTPLUG, -1);
	return cpuhp_state_remove_instance(state, node);
}

#undef kmem_cache_alloc_node
#undef kmem_cache_alloc
#undef kzalloc
#undef kzalloc_obj
#undef kvcalloc
#undef kvzalloc_objs
#undef kmalloc_node
#undef kmalloc
#undef kfree
#undef kvfree
#undef acomp_request_alloc
#undef acomp_request_free
#undef alloc_percpu
#undef alloc_percpu_gfp
#undef free_percpu

#define kmem_cache_alloc_node(cache, gfp, nid) \
	swap_seam_zswap_kmem_cache_alloc_node(cache, gfp, nid)
#define kmem_cache_alloc(cache, gfp)		swap_seam_zswap_kmem_cache_alloc(cache, gfp)
#define kzalloc(size, gfp)			swap_seam_zswap_kzalloc(size, gfp)
#define kzalloc_obj(obj)			swap_seam_zswap_kzalloc(sizeof(obj), GFP_KERNEL)
#define kvcalloc(n, size, gfp)			swap_seam_zswap_kvcalloc(n, size, gfp)
#define kvzalloc_objs(obj, n)			swap_seam_zswap_kvcalloc(n, sizeof(obj), GFP_KERNEL)
#define kmalloc_node(size, gfp, nid)		swap_seam_zswap_kmalloc_node(size, gfp, nid)
#define acomp_request_alloc(tfm)		swap_seam_zswap_acomp_request_alloc(tfm)
#define kmalloc(size, gfp)			swap_seam_zswap_kmalloc(size, gfp)
#define kfree(mem)				swap_seam_zswap_kfree(mem)
#define kvfree(mem)				swap_seam_zswap_kvfree(mem)
#define acomp_request_free(req)			swap_seam_zswap_acomp_request_free(req)
#define alloc_percpu_gfp(type, gfp) \
	((typeof(type) __percpu *)swap_seam_zswap_percpu(sizeof(type), __alignof__(type), gfp))
#define alloc_percpu(type)	alloc_percpu_gfp(type, GFP_KERNEL)
#define free_percpu(mem)	swap_seam_zswap_percpu_free(mem)
#define cpuhp_state_add_instance(state, node)	swap_seam_zswap_hotplug(state, node)
#define cpuhp_state_remove_instance(state, node)	swap_seam_zswap_hotplug_end(state, node)

#define __swap_writepage(...)							\
	(swap_seam_count(SWAP_COUNT_WRITTEN_BACK, 1), __swap_writepage(__VA_ARGS__))

/* A step that fails gives @failed, in which __err is the error. */
#define SWAP_SEAM_ZSWAP_STEP(step, failed, call)				\
({										\
	int __err = swap_seam_fail(step);					\
										\
	__err ? (failed) : (call);						\
})

#define crypto_acomp_compress(req) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_COMPRESS, __err, crypto_acomp_compress(req))
#define crypto_comp_compress(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_COMPRESS, __err, crypto_comp_compress(__VA_ARGS__))
#define zs_malloc(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_POOL, (unsigned long)__err, zs_malloc(__VA_ARGS__))
#define zpool_malloc(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_POOL, __err, zpool_malloc(__VA_ARGS__))
#define xa_store(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_TREE, xa_mk_internal(__err), xa_store(__VA_ARGS__))
#define memcg_list_lru_alloc(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_LRU, __err, memcg_list_lru_alloc(__VA_ARGS__))
#define zs_create_pool(name) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_SETUP, NULL, zs_create_pool(name))
#define zpool_create_pool(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_SETUP, NULL, zpool_create_pool(__VA_ARGS__))
#define crypto_alloc_acomp_node(...) \
	swap_seam_held(SWAP_LIVE_CRYPTO,					\
		       SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_SETUP, ERR_PTR(__err),	\
					    crypto_alloc_acomp_node(__VA_ARGS__)), 1)
#define crypto_alloc_comp(...) \
	swap_seam_held(SWAP_LIVE_CRYPTO,					\
		       SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_SETUP, ERR_PTR(__err),	\
					    crypto_alloc_comp(__VA_ARGS__)), 1)
#define crypto_free_acomp(tfm)	crypto_free_acomp(swap_seam_held(SWAP_LIVE_CRYPTO, tfm, -1))
#define crypto_free_comp(tfm)	crypto_free_comp(swap_seam_held(SWAP_LIVE_CRYPTO, tfm, -1))
#define percpu_ref_init(...) \
	SWAP_SEAM_ZSWAP_STEP(SWAP_FAIL_ZSWAP_SETUP, __err, percpu_ref_init(__VA_ARGS__))

#endif /* _MM_SWAP_KUNIT_ZSWAP_H */
