/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folios for kernels that have pages alone: the few calls the fixture makes.
 * A folio is its head page, as it is where the kernel has them.
 */
#ifndef _MM_SWAP_KUNIT_FOLIO_H
#define _MM_SWAP_KUNIT_FOLIO_H

#include "swap_api.h"

#if !SWAP_API_FOLIO
#include <linux/memcontrol.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include "internal.h"

struct folio {
	struct page page;
};

#define page_folio(p)		((struct folio *)compound_head(p))
#define folio_page(folio, n)	(&(folio)->page + (n))
#define folio_nr_pages(folio)	((long)compound_nr(&(folio)->page))
#define folio_order(folio)	compound_order(&(folio)->page)
#define folio_address(folio)	page_address(&(folio)->page)
#define folio_ref_count(folio)	page_ref_count(&(folio)->page)

static inline struct folio *folio_alloc(gfp_t gfp, unsigned int order)
{
	return (struct folio *)alloc_pages(gfp | __GFP_COMP, order);
}

static inline struct folio *filemap_get_folio(struct address_space *mapping, pgoff_t index)
{
	return (struct folio *)find_get_page(mapping, index);
}

#define SWAP_FOLIO_CALL(ret, name, call)			\
static inline ret name(struct folio *folio)			\
{								\
	return call(&folio->page);				\
}

SWAP_FOLIO_CALL(void, folio_get, get_page)
SWAP_FOLIO_CALL(void, folio_put, put_page)
SWAP_FOLIO_CALL(void, folio_lock, lock_page)
SWAP_FOLIO_CALL(void, folio_unlock, unlock_page)
SWAP_FOLIO_CALL(int, folio_trylock, trylock_page)
SWAP_FOLIO_CALL(void, folio_wait_writeback, wait_on_page_writeback)
SWAP_FOLIO_CALL(void, folio_wait_locked, wait_on_page_locked)
SWAP_FOLIO_CALL(int, folio_mark_dirty, set_page_dirty)
SWAP_FOLIO_CALL(void, folio_mark_uptodate, SetPageUptodate)
SWAP_FOLIO_CALL(void, folio_clear_dirty, ClearPageDirty)
SWAP_FOLIO_CALL(bool, folio_clear_dirty_for_io, clear_page_dirty_for_io)
SWAP_FOLIO_CALL(bool, folio_test_dirty, PageDirty)
SWAP_FOLIO_CALL(bool, folio_test_large, PageCompound)
SWAP_FOLIO_CALL(bool, folio_test_locked, PageLocked)
SWAP_FOLIO_CALL(bool, folio_test_lru, PageLRU)
SWAP_FOLIO_CALL(bool, folio_test_readahead, PageReadahead)
SWAP_FOLIO_CALL(void, folio_set_readahead, SetPageReadahead)
SWAP_FOLIO_CALL(bool, folio_test_swapcache, PageSwapCache)
SWAP_FOLIO_CALL(bool, folio_test_uptodate, PageUptodate)
SWAP_FOLIO_CALL(bool, folio_test_writeback, PageWriteback)
SWAP_FOLIO_CALL(bool, folio_test_workingset, PageWorkingset)
SWAP_FOLIO_CALL(void, folio_set_workingset, SetPageWorkingset)
SWAP_FOLIO_CALL(void, __folio_set_locked, __SetPageLocked)
SWAP_FOLIO_CALL(void, __folio_set_swapbacked, __SetPageSwapBacked)
SWAP_FOLIO_CALL(void, folio_add_lru, lru_cache_add)
SWAP_FOLIO_CALL(int, folio_free_swap, try_to_free_swap)
SWAP_FOLIO_CALL(void, folio_putback_lru, putback_lru_page)
#undef SWAP_FOLIO_CALL

static inline bool folio_isolate_lru(struct folio *folio)
{
	return !isolate_lru_page(&folio->page);
}

static inline int migrate_folio(struct address_space *mapping, struct folio *to,
				struct folio *from, enum migrate_mode mode)
{
	return migrate_page(mapping, &to->page, &from->page, mode);
}

#define mem_cgroup_charge(folio, mm, gfp)	mem_cgroup_charge(&(folio)->page, mm, gfp)
#define remove_mapping(mapping, folio)		remove_mapping(mapping, &(folio)->page)
#define add_to_swap(folio)			add_to_swap(&(folio)->page)
#define delete_from_swap_cache(folio)		delete_from_swap_cache(&(folio)->page)
#endif /* !SWAP_API_FOLIO */

#endif /* _MM_SWAP_KUNIT_FOLIO_H */
