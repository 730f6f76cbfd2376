// SPDX-License-Identifier: GPL-2.0
#include "swap_kunit_seams.h"

/* Allocations are seen as they return to swap_state.c or shmem.c. */
#if SWAP_API_FOLIO_ALLOC_SWAP_ENTRY
swp_entry_t swap_seam_folio_alloc_swap(struct folio *folio);
#define folio_alloc_swap swap_seam_folio_alloc_swap
#include "swap_slots_real.c"
#undef folio_alloc_swap

swp_entry_t folio_alloc_swap(struct folio *folio)
{
	swp_entry_t entry = swap_seam_folio_alloc_swap(folio);

	swap_seam_allocated(entry, folio_nr_pages(folio));
	return entry;
}
#else
swp_entry_t swap_seam_get_swap_page(struct page *page);
#define get_swap_page swap_seam_get_swap_page
#include "swap_slots_real.c"
#undef get_swap_page

swp_entry_t get_swap_page(struct page *page)
{
	swp_entry_t entry = swap_seam_get_swap_page(page);

	swap_seam_allocated(entry, compound_nr(page));
	return entry;
}
#endif

void swap_kunit_disable_slot_cache(void)
{
	disable_swap_slots_cache_lock();
	mutex_unlock(&swap_slots_cache_enable_mutex);
}
