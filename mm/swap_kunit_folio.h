/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The folio calls of the fixture, for kernels that only have pages. A folio is
 * its head page, as in kernels that have folios.
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

#define SWAP_FOLIO_CALL(ret_t, name, call)			\
static inline ret_t folio_##name(struct folio *folio)		\
{								\
	return call(&folio->page);				\
}

SWAP_FOLIO_CALL(void, get, get_page)
SWAP_FOLIO_CALL(void, put, put_page)
SWAP_FOLIO_CALL(void, lock, lock_page)
SWAP_FOLIO_CALL(void, unlock, unlock_page)
SWAP_FOLIO_CALL(int, trylock, trylock_page)
SWAP_FOLIO_CALL(void, wait_writeback, wait_on_page_writeback)
SWAP_FOLIO_CALL(void, wait_locked, wait_on_page_locked)
SWAP_FOLIO_CALL(int, mark_dirty, set_page_dirty)
SWAP_FOLIO_CALL(void, mark_uptodate, SetPageUptodate)
SWAP_FOLIO_CALL(void, clear_dirty, ClearPageDirty)
SWAP_FOLIO_CALL(bool, clear_dirty_for_io, clear_page_dirty_for_io)
SWAP_FOLIO_CALL(bool, test_dirty, PageDirty)
SWAP_FOLIO_CALL(bool, test_large, PageCompound)
SWAP_FOLIO_CALL(bool, test_locked, PageLocked)
SWAP_FOLIO_CALL(bool, test_lru, PageLRU)
SWAP_FOLIO_CALL(bool, test_readahead, PageReadahead)
SWAP_FOLIO_CALL(void, set_readahead, SetPageReadahead)
SWAP_FOLIO_CALL(bool, test_swapbacked, PageSwapBacked)
SWAP_FOLIO_CALL(bool, test_swapcache, PageSwapCache)
SWAP_FOLIO_CALL(bool, test_uptodate, PageUptodate)
SWAP_FOLIO_CALL(bool, test_writeback, PageWriteback)
SWAP_FOLIO_CALL(bool, test_workingset, PageWorkingset)
SWAP_FOLIO_CALL(void, set_workingset, SetPageWorkingset)
SWAP_FOLIO_CALL(void, add_lru, lru_cache_add)
SWAP_FOLIO_CALL(int, free_swap, try_to_free_swap)
SWAP_FOLIO_CALL(void, putback_lru, putback_lru_page)
#undef SWAP_FOLIO_CALL

#define __folio_set_locked(folio)	__set_bit(PG_locked, &(folio)->page.flags)
#define __folio_set_swapbacked(folio)	__set_bit(PG_swapbacked, &(folio)->page.flags)

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
