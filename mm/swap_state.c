// SPDX-License-Identifier: GPL-2.0
#include "swap_kunit_seams.h"

/* The allocation and the charge of folios to read into. */
#if SWAP_API_FOLIO_ALLOC_MPOL
#undef folio_alloc_mpol
#define folio_alloc_mpol(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL : folio_alloc_mpol_noprof(__VA_ARGS__))
#endif

#if SWAP_API_VMA_ALLOC_FOLIO
#undef vma_alloc_folio
#define vma_alloc_folio(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL : vma_alloc_folio_noprof(__VA_ARGS__))
#elif SWAP_API_VMA_ALLOC_FOLIO_HUGEPAGE
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
#elif SWAP_API_ALLOC_PAGES_MPOL
#define alloc_pages_mpol(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_ALLOC) ? NULL : alloc_pages_mpol(__VA_ARGS__))
#elif !SWAP_API_FOLIO_ALLOC_MPOL
#error "not seen: SWAP_FAIL_SWAPIN_ALLOC"
#endif

#if !SWAP_API_FOLIO
#define mem_cgroup_charge(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_CHARGE) ? -ENOMEM : mem_cgroup_charge(__VA_ARGS__))
#endif

#define mem_cgroup_swapin_charge_page(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_CHARGE) ? -ENOMEM : \
	 mem_cgroup_swapin_charge_page(__VA_ARGS__))

#define mem_cgroup_swapin_charge_folio(...) \
	(swap_seam_fail(SWAP_FAIL_SWAPIN_CHARGE) ? -ENOMEM : \
	 mem_cgroup_swapin_charge_folio(__VA_ARGS__))

#if !SWAP_API_SWAPIN_CHARGED
#error "not seen: SWAP_FAIL_SWAPIN_CHARGE"
#endif

#if !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE)
/* huge_memory.c is not built; only swap_kunit_cache_alloc_order() needs it then. */
#define vma_thp_gfp_mask(vma)	((void)(vma), GFP_TRANSHUGE)
#endif

/* Readahead. */
#define swap_seam_read_ahead(call) do {						\
	swap_seam_count(SWAP_COUNT_READ_AHEAD, 1);				\
	call;									\
} while (0)
#define swap_seam_hit(call)							\
({										\
	bool __hit = (call);							\
										\
	swap_seam_count(SWAP_COUNT_HIT, __hit);					\
	__hit;									\
})
#define folio_set_readahead(folio)	swap_seam_read_ahead(folio_set_readahead(folio))
#define SetPageReadahead(page)		swap_seam_read_ahead(SetPageReadahead(page))
#define folio_test_clear_readahead(folio) swap_seam_hit(folio_test_clear_readahead(folio))
#define TestClearPageReadahead(page)	swap_seam_hit(TestClearPageReadahead(page))

#include "swap_state_real.c"

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

/*
 * The previous offset and window are statics of swapin_nr_pages(), without a name
 * here. Without hits, each fault far from the previous one halves the window, down
 * to 1 page.
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

#if SWAP_API_SWAP_VMA_RA_WIN
unsigned int swap_kunit_vma_window(struct vm_area_struct *vma, unsigned long addr,
				   unsigned long *start, unsigned long *end)
{
	struct vm_fault vmf = { .vma = vma, .address = addr & PAGE_MASK };

	return swap_vma_ra_win(&vmf, start, end);
}
#else
static pmd_t *swap_kunit_page_table(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d = p4d_alloc(mm, pgd, addr);
	pud_t *pud = p4d ? pud_alloc(mm, p4d, addr) : NULL;
	pmd_t *pmd = pud ? pmd_alloc(mm, pud, addr) : NULL;

	return pmd && !pte_alloc(mm, pmd) ? pmd : NULL;
}

unsigned int swap_kunit_vma_window(struct vm_area_struct *vma, unsigned long addr,
				   unsigned long *start, unsigned long *end)
{
	struct vm_fault vmf = { .vma = vma, .address = addr & PAGE_MASK };
	struct vma_swap_readahead ra_info = { .win = 1 };

	/* swap_ra_info() reads the page table, which in a fault exists. */
	vmf.pmd = swap_kunit_page_table(vma->vm_mm, vmf.address);
	if (!vmf.pmd)
		return 0;
	swap_ra_info(&vmf, &ra_info);
	*start = vmf.address - (unsigned long)ra_info.offset * PAGE_SIZE;
	*end = *start + (unsigned long)ra_info.nr_pte * PAGE_SIZE;
	return ra_info.win;
}
#endif

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

void swap_kunit_show_cache_info(void)
{
	show_swap_cache_info();
}

void *swap_kunit_shadow(swp_entry_t entry)
{
#if SWAP_API_SWAP_CACHE_GET_SHADOW
	return swap_cache_get_shadow(entry);
#else
	return get_shadow_from_swap_cache(entry);
#endif
}

struct folio *swap_kunit_cache_alloc(swp_entry_t entry, unsigned long orders)
{
#if SWAP_API_SWAP_CACHE_ALLOC_ORDERS
	return swap_cache_alloc_folio(entry, GFP_HIGHUSER_MOVABLE, orders, NULL, NULL, 0);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

struct folio *swap_kunit_cache_alloc_order(swp_entry_t entry, unsigned int order)
{
#if SWAP_API_SWAP_CACHE_ALLOC_ORDERS
	return __swap_cache_alloc(__swap_entry_to_cluster(entry), entry, GFP_HIGHUSER_MOVABLE,
				  order, NULL, NULL, 0);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

bool swap_kunit_cache_has(swp_entry_t entry)
{
#if SWAP_API_SWAP_CACHE_ALLOC_ORDERS
	return swap_cache_has_folio(entry);
#else
	return false;
#endif
}
