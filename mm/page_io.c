// SPDX-License-Identifier: GPL-2.0
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/mempool.h>
#include <linux/pagemap.h>
#include <linux/sched/task.h>
#include <linux/writeback.h>
#include "swap_kunit_seams.h"
#if __has_include("swap_table.h")
#include "swap_table.h"
#endif

#if SWAP_API_ZSWAP_STORE_FOLIO && SWAP_API_ZSWAP_CALLED
static inline bool swap_seam_zswap_store(struct folio *folio)
{
	unsigned int nr = folio_nr_pages(folio);
	swp_entry_t entry = folio->swap;
	bool stored = zswap_store(folio);

	swap_seam_zswap_stored(entry, nr, stored);
	return stored;
}

#define zswap_store swap_seam_zswap_store

#if SWAP_API_ZSWAP_LOAD_ERRNO
static inline int swap_seam_zswap_load(struct folio *folio)
{
	swp_entry_t entry = folio->swap;
	int ret = zswap_load(folio);

	swap_seam_zswap_loaded(entry, ret != -ENOENT, !ret);
	return ret;
}
#else
static inline bool swap_seam_zswap_load(struct folio *folio)
{
	swp_entry_t entry = folio->swap;
	bool ret = zswap_load(folio);

	swap_seam_zswap_loaded(entry, ret, ret);
	return ret;
}
#endif
#define zswap_load swap_seam_zswap_load
#elif SWAP_API_FRONTSWAP
static inline int swap_seam_frontswap_store(struct page *page)
{
	swp_entry_t entry = { .val = page_private(page) };
	int ret = frontswap_store(page);

	swap_seam_zswap_stored(entry, 1, !ret);
	return ret;
}

#define frontswap_store swap_seam_frontswap_store

static inline int swap_seam_frontswap_load(struct page *page)
{
	swp_entry_t entry = { .val = page_private(page) };
	int ret = frontswap_load(page);

	swap_seam_zswap_loaded(entry, !ret, !ret);
	return ret;
}

#define frontswap_load swap_seam_frontswap_load
#elif IS_ENABLED(CONFIG_ZSWAP)
#error "not seen: swap_seam_zswap_stored swap_seam_zswap_loaded"
#endif

#if SWAP_API_ZERO_READ
static inline void swap_seam_zero_range(struct folio *folio, size_t start, size_t length)
{
	swap_seam_count(SWAP_COUNT_ZEROED, length >> PAGE_SHIFT);
	folio_zero_range(folio, start, length);
}

#define folio_zero_range swap_seam_zero_range
#endif
#if SWAP_API_ZERO_WRITTEN
#define __swap_table_set_zero(...) do {						\
	swap_seam_count(SWAP_COUNT_ZERO, 1);					\
	__swap_table_set_zero(__VA_ARGS__);					\
} while (0)
#elif SWAP_API_ZEROMAP_WRITTEN
#define set_bit(nr, addr) do {							\
	swap_seam_count(SWAP_COUNT_ZERO, 1);					\
	set_bit(nr, addr);							\
} while (0)
#endif

static inline __maybe_unused void *swap_seam_mempool_alloc(mempool_t *pool, gfp_t gfp)
{
	return swap_seam_held(SWAP_LIVE_IOCB, mempool_alloc(pool, gfp), 1);
}

#undef mempool_alloc
#define mempool_alloc(pool, gfp)	swap_seam_mempool_alloc(pool, gfp)
#define mempool_free(mem, pool) \
	mempool_free(swap_seam_held(SWAP_LIVE_IOCB, mem, -1), pool)
#define bio_alloc(...) \
	((struct bio *)swap_seam_held(SWAP_LIVE_BIO, bio_alloc(__VA_ARGS__), 1))
#define bio_get(bio)	bio_get(swap_seam_held(SWAP_LIVE_BIO, bio, 1))
#define bio_put(bio)	bio_put(swap_seam_held(SWAP_LIVE_BIO, bio, -1))
#define bio_init(...)	(swap_seam_hold(SWAP_LIVE_BIO_INIT, 1), bio_init(__VA_ARGS__))
#define bio_uninit(bio)	(swap_seam_hold(SWAP_LIVE_BIO_INIT, -1), bio_uninit(bio))
#define get_task_struct(task)	(swap_seam_hold(SWAP_LIVE_TASK, 1), get_task_struct(task))
#define put_task_struct(task)	(swap_seam_hold(SWAP_LIVE_TASK, -1), put_task_struct(task))

#include "page_io_real.c"

bool swap_kunit_in_memstall(void)
{
#ifdef CONFIG_PSI
	return current->in_memstall;
#else
	return false;
#endif
}
