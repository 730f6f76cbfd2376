// SPDX-License-Identifier: GPL-2.0
#include "swap_kunit_seams.h"

/* Folios to read into: their allocation and their charge. */
#undef folio_alloc_mpol
#define folio_alloc_mpol(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL : folio_alloc_mpol_noprof(__VA_ARGS__))

#if SWAP_API_FOLIO_ALLOC_SWAP	/* the kernel reads into folios of faults here, too */
#undef vma_alloc_folio
#define vma_alloc_folio(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL : vma_alloc_folio_noprof(__VA_ARGS__))
#endif

#if SWAP_API_VMA_ALLOC_FOLIO_HUGEPAGE
static inline struct folio *swap_seam_vma_alloc_folio(gfp_t gfp, int order,
						      struct vm_area_struct *vma,
						      unsigned long addr, bool hugepage)
{
	return swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL :
	       vma_alloc_folio(gfp, order, vma, addr, hugepage);
}
#undef vma_alloc_folio
#define vma_alloc_folio swap_seam_vma_alloc_folio
#elif SWAP_API_ALLOC_PAGE_VMA
static inline struct page *swap_seam_alloc_page_vma(gfp_t gfp, struct vm_area_struct *vma,
						    unsigned long addr)
{
	return swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL : alloc_page_vma(gfp, vma, addr);
}
#undef alloc_page_vma
#define alloc_page_vma swap_seam_alloc_page_vma
#endif

#if !SWAP_API_FOLIO
#define mem_cgroup_charge(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_CHARGE) ? -ENOMEM : mem_cgroup_charge(__VA_ARGS__))
#endif

#define mem_cgroup_swapin_charge_folio(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_CHARGE) ? -ENOMEM : \
	 mem_cgroup_swapin_charge_folio(__VA_ARGS__))

#if !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE)
/* huge_memory.c is not there; only swap_kunit_cache_alloc_order() asks it then. */
#define vma_thp_gfp_mask(vma)	((void)(vma), GFP_TRANSHUGE)
#endif

#include "swap_state_real.c"

/**
 * swap_kunit_cluster_window() - ask swapin_nr_pages() for its window
 * @offset: of the faulting slot
 *
 * Takes the hits and moves the state on, as a fault does.
 *
 * Return: the window in pages.
 */
unsigned int swap_kunit_cluster_window(unsigned long offset)
{
	return swapin_nr_pages(offset);
}

void swap_kunit_set_page_cluster(int order)
{
	WRITE_ONCE(page_cluster, order);
}

int swap_kunit_readahead_hits(void)
{
	return atomic_read(&swapin_readahead_hits);
}

void swap_kunit_set_readahead_hits(int hits)
{
	atomic_set(&swapin_readahead_hits, hits);
}

/**
 * swap_kunit_reset_readahead() - one fixed state: no hits, previous window of 1 page
 *
 * The previous offset and window are statics of a function and have no name
 * here: asking for offsets far apart, with no hits, halves the window down to
 * 1 and leaves the last of them as the previous offset (0x7fff0000).
 */
void swap_kunit_reset_readahead(void)
{
	int saved = page_cluster;
	int i;

	WRITE_ONCE(page_cluster, 3);
	for (i = 0; i < 8; i++) {
		atomic_set(&swapin_readahead_hits, 0);
		swapin_nr_pages(0x7ffe0000 + (i & 1) * 0x10000);
	}
	WRITE_ONCE(page_cluster, saved);
	atomic_set(&swapin_readahead_hits, 0);
}

#if !SWAP_API_SWAP_VMA_RA_WIN
static pmd_t *swap_kunit_page_table(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d = p4d_alloc(mm, pgd, addr);
	pud_t *pud = p4d ? pud_alloc(mm, p4d, addr) : NULL;
	pmd_t *pmd = pud ? pmd_alloc(mm, pud, addr) : NULL;

	return pmd && !pte_alloc(mm, pmd) ? pmd : NULL;
}
#endif

/**
 * swap_kunit_vma_window() - ask swap_vma_ra_win() for its window
 * @vma: the mapping; its readahead state moves on, as in a fault
 * @addr: the faulting address
 * @start: first address of the window, set where it is larger than 1 page
 * @end: end of the window, likewise
 *
 * Return: the window in pages.
 */
unsigned int swap_kunit_vma_window(struct vm_area_struct *vma, unsigned long addr,
				   unsigned long *start, unsigned long *end)
{
	struct vm_fault vmf = { .vma = vma, .address = addr & PAGE_MASK };
#if SWAP_API_SWAP_VMA_RA_WIN
	return swap_vma_ra_win(&vmf, start, end);
#else
	struct vma_swap_readahead ra_info = { .win = 1 };

	/* It looks at the page table, which the fault has made. */
	vmf.pmd = swap_kunit_page_table(vma->vm_mm, vmf.address);
	if (!vmf.pmd)
		return 0;
	swap_ra_info(&vmf, &ra_info);
	*start = vmf.address - (unsigned long)ra_info.offset * PAGE_SIZE;
	*end = *start + (unsigned long)ra_info.nr_pte * PAGE_SIZE;
	return ra_info.win;
#endif
}

/**
 * swap_kunit_set_vma_history() - what a mapping remembers of its faults
 * @vma: the mapping
 * @addr: of the last fault
 * @window: of the last fault, in pages
 * @hits: readahead pages that were wanted since then
 *
 * All 0 is a mapping that was never faulted.
 */
void swap_kunit_set_vma_history(struct vm_area_struct *vma, unsigned long addr,
				unsigned int window, unsigned int hits)
{
	atomic_long_set(&vma->swap_readahead_info, SWAP_RA_VAL(addr, window, hits));
}

unsigned int swap_kunit_vma_hits(struct vm_area_struct *vma)
{
	return SWAP_RA_HITS(atomic_long_read(&vma->swap_readahead_info));
}

void swap_kunit_set_vma_readahead(bool on)
{
	WRITE_ONCE(enable_vma_readahead, on);
}

bool swap_kunit_use_vma_readahead(void)
{
	return swap_use_vma_readahead();
}

/* What show_mem() says of the swap cache. */
void swap_kunit_show_cache_info(void)
{
	show_swap_cache_info();
}

/**
 * swap_kunit_shadow() - what the swap cache remembers of a page's reclaim
 * @entry: its slot
 *
 * Return: the shadow, or NULL.
 */
void *swap_kunit_shadow(swp_entry_t entry)
{
#if SWAP_API_SWAP_CACHE_GET_SHADOW
	return swap_cache_get_shadow(entry);
#else
	return get_shadow_from_swap_cache(entry);
#endif
}

/**
 * swap_kunit_cache_alloc() - a folio in the swap cache, to read into
 * @entry: a slot it is to cover
 * @orders: bit mask of what sizes it may have, the largest is tried first
 *
 * Return: the folio, locked, or an ERR_PTR(); -EOPNOTSUPP where the kernel has
 * no such function.
 */
struct folio *swap_kunit_cache_alloc(swp_entry_t entry, unsigned long orders)
{
#if SWAP_API_SWAP_CACHE_ALLOC_ORDERS
	return swap_cache_alloc_folio(entry, GFP_HIGHUSER_MOVABLE, orders, NULL, NULL, 0);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

/**
 * swap_kunit_cache_alloc_order() - a folio of one size, also where large ones are not built in
 * @entry: a slot it is to cover
 * @order: its size
 *
 * Return: as swap_kunit_cache_alloc().
 */
struct folio *swap_kunit_cache_alloc_order(swp_entry_t entry, unsigned int order)
{
#if SWAP_API_SWAP_CACHE_ALLOC_ORDERS
	return __swap_cache_alloc(__swap_entry_to_cluster(entry), entry, GFP_HIGHUSER_MOVABLE,
				  order, NULL, NULL, 0);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

/* Does the swap cache have a folio for the slot? As userfaultfd asks. */
bool swap_kunit_cache_has(swp_entry_t entry)
{
#if SWAP_API_SWAP_CACHE_ALLOC_ORDERS
	return swap_cache_has_folio(entry);
#else
	return false;
#endif
}
