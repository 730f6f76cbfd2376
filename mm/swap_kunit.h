/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fixture sees of the swap files' statics, in terms that no kernel
 * version changes, and the seams at their calls to other files.
 *
 * Accessors are compiled after the real file they look into, and only read,
 * except where the comment says so. Offsets are in pages from the start of
 * the area; counts are in pages.
 */
#ifndef _MM_SWAP_KUNIT_H
#define _MM_SWAP_KUNIT_H

#include <linux/mm_types.h>
#include <linux/swap.h>

struct folio;

struct gendisk;

struct mem_cgroup;

/* Where a cluster can be. */
enum swap_list {
	SWAP_LIST_NONE,		/* on no list */
	SWAP_LIST_FREE,
	SWAP_LIST_NONFULL,
	SWAP_LIST_FRAG,
	SWAP_LIST_FULL,
	SWAP_LIST_DISCARD,
	SWAP_LIST_NR,
};

/**
 * struct swap_area_facts - one swap area's own book-keeping
 * @flags: SWP_*
 * @pages: usable pages
 * @inuse: pages in use
 * @max: end of the area, header and bad slots included
 * @prio: priority
 * @type: index of the area
 * @available: on the list the allocator walks
 * @global_cluster: has a cluster of its own for all CPUs
 * @clusters: number of clusters, 0 where the device has none
 */
struct swap_area_facts {
	unsigned long flags;
	unsigned long pages;
	unsigned long inuse;
	unsigned long max;
	int prio;
	int type;
	bool available;
	bool global_cluster;
	unsigned int clusters;
};

/**
 * struct swap_slot_facts - one slot
 * @bad: never to be allocated
 * @count: references from page tables and the like
 * @cached: a folio is in the swap cache for it
 */
struct swap_slot_facts {
	bool bad;
	unsigned int count;
	bool cached;
};

/**
 * struct swap_cluster_facts - one cluster
 * @count: slots that are taken, bad ones included
 * @order: of what is allocated in it
 * @flagged: the list its own flag names
 */
struct swap_cluster_facts {
	unsigned int count;
	unsigned int order;
	enum swap_list flagged;
};

/**
 * enum swap_fail_point - calls of the swap files that can be made to fail
 * @SWAP_FAIL_CHARGE: the charge of a folio's slots to its memory cgroup
 * @SWAP_FAIL_TABLE: memory for a table of the swap code's own: of a cluster, or
 *	of counts too large for a slot
 * @SWAP_FAIL_ALLOC: any allocation of swapfile.c
 * @SWAP_FAIL_SWAPIN_ALLOC: the folio to read into. No lock is held: what runs
 *	here may sleep
 * @SWAP_FAIL_SWAPIN_CHARGE: the charge of such a folio
 * @SWAP_FAIL_ZSWAP_ENTRY: memory for zswap's entry of a page
 * @SWAP_FAIL_ZSWAP_COMPRESS: the compressor
 * @SWAP_FAIL_ZSWAP_POOL: memory for the compressed page
 * @SWAP_FAIL_ZSWAP_TREE: memory for the entry's place in the tree
 * @SWAP_FAIL_ZSWAP_LRU: memory for the cgroup's list
 * @SWAP_FAIL_ZSWAP_SETUP: each part of a pool, or of an area's tree
 * @SWAP_FAIL_POINTS: number of points
 */
enum swap_fail_point {
	SWAP_FAIL_CHARGE,
	SWAP_FAIL_TABLE,
	SWAP_FAIL_ALLOC,
	SWAP_FAIL_SWAPIN_ALLOC,
	SWAP_FAIL_SWAPIN_CHARGE,
	SWAP_FAIL_ZSWAP_ENTRY,
	SWAP_FAIL_ZSWAP_COMPRESS,
	SWAP_FAIL_ZSWAP_POOL,
	SWAP_FAIL_ZSWAP_TREE,
	SWAP_FAIL_ZSWAP_LRU,
	SWAP_FAIL_ZSWAP_SETUP,
	SWAP_FAIL_POINTS,
};

/* What zswap counts, as debugfs shows it. */
enum swap_zswap_counter {
	SWAP_ZSWAP_LIMIT_HIT,
	SWAP_ZSWAP_WRITTEN_BACK,
	SWAP_ZSWAP_RECLAIM_FAIL,
	SWAP_ZSWAP_COMPRESS_FAIL,
	SWAP_ZSWAP_COMPRESS_POOR,
	SWAP_ZSWAP_ALLOC_FAIL,
	SWAP_ZSWAP_ENTRY_FAIL,
	SWAP_ZSWAP_DECOMPRESS_FAIL,
	SWAP_ZSWAP_INCOMPRESSIBLE,	/* in the pool now */
	SWAP_ZSWAP_NOT_COUNTED,
};

/**
 * struct swap_seams - calls of the swap files to other files, as they pass
 * @fail: a call that can fail is due; a negative errno makes it fail
 * @allocated: slots [entry, entry + nr) were taken
 * @zswap_stored: zswap was offered the folio of slots [entry, entry + nr), and
 *	took it or not
 * @zswap_loaded: zswap was asked for the folio of @entry, and had it or not
 *
 * Hooks run in the context of the caller, under its locks: they must not sleep,
 * allocate or assert. @fail is never NULL; the others may be.
 */
struct swap_seams {
	int (*fail)(enum swap_fail_point point);
	void (*allocated)(swp_entry_t entry, unsigned int nr);
	void (*zswap_stored)(swp_entry_t entry, unsigned int nr, bool stored);
	void (*zswap_loaded)(swp_entry_t entry, bool loaded);
};

/* NULL unless a case has armed it. */
extern const struct swap_seams *swap_seams;

/* swapfile.c */
struct swap_info_struct *swap_kunit_find(struct gendisk *disk);
struct swap_info_struct *swap_kunit_info(int type);
struct swap_info_struct *swap_kunit_type_info(int type);
void swap_kunit_area(struct swap_info_struct *si, struct swap_area_facts *facts);
void swap_kunit_slot(struct swap_info_struct *si, unsigned long offset,
		     struct swap_slot_facts *facts);
bool swap_kunit_cluster(struct swap_info_struct *si, unsigned int cluster,
			struct swap_cluster_facts *facts);
unsigned int swap_kunit_lists(void);
void swap_kunit_walk_lists(struct swap_info_struct *si,
			   void (*visit)(void *ctx, enum swap_list list,
					 unsigned int order, unsigned int cluster),
			   void *ctx);
unsigned int swap_kunit_cluster_size(void);
unsigned int swap_kunit_orders(void);
unsigned int swap_kunit_areas_used(void);
void swap_kunit_proc_swaps(size_t chunk, char *buf, size_t size);
bool swap_kunit_proc_swaps_changed(int *event);
int swap_kunit_allocations(void);
/**
 * struct swap_hints - where a CPU would allocate next, by order
 * @si: the area; of kernels that have such a place for all areas at once
 * @next: the slot; 0 is none
 */
struct swap_hints {
	struct swap_info_struct *si[10];
	unsigned long next[10];
};

/* These act. */
void swap_kunit_exchange_hints(struct swap_info_struct *si, struct swap_hints *hints);
void swap_kunit_drain_hints(void);
void swap_kunit_start_at(struct swap_info_struct *si, unsigned long offset);
unsigned long swap_kunit_alloc_slot(struct swap_info_struct *si, struct folio *folio);
void swap_kunit_reclaim_full(struct swap_info_struct *si, bool force);
void swap_kunit_set_writeok(struct swap_info_struct *si, bool on);
void swap_kunit_flush_work(struct swap_info_struct *si);
void swap_kunit_hold_work(struct swap_info_struct *si, bool hold);
void swap_kunit_run_discards(struct swap_info_struct *si);
void swap_kunit_zero_lists(struct swap_info_struct *si);
unsigned long swap_kunit_users(struct swap_info_struct *si);
void swap_kunit_set_bad(struct swap_info_struct *si, unsigned long offset);
bool swap_kunit_users_dead(struct swap_info_struct *si);
void swap_kunit_kill_users(struct swap_info_struct *si);
void swap_kunit_revive_users(struct swap_info_struct *si);

/* swap_slots.c, where the kernel has it */
void swap_kunit_disable_slot_cache(void);

/* swap_state.c */
void swap_kunit_reset_readahead(void);
void swap_kunit_show_cache_info(void);
void *swap_kunit_shadow(swp_entry_t entry);
struct folio *swap_kunit_cache_alloc(swp_entry_t entry, unsigned long orders);
struct folio *swap_kunit_cache_alloc_order(swp_entry_t entry, unsigned int order);
bool swap_kunit_cache_has(swp_entry_t entry);
void swap_kunit_set_page_cluster(int order);
int swap_kunit_readahead_hits(void);
void swap_kunit_set_readahead_hits(int hits);
unsigned int swap_kunit_cluster_window(unsigned long offset);
unsigned int swap_kunit_vma_window(struct vm_area_struct *vma, unsigned long addr,
				   unsigned long *start, unsigned long *end);
void swap_kunit_set_vma_history(struct vm_area_struct *vma, unsigned long addr,
				unsigned int window, unsigned int hits);
unsigned int swap_kunit_vma_hits(struct vm_area_struct *vma);
void swap_kunit_set_vma_readahead(bool on);
bool swap_kunit_use_vma_readahead(void);

/* page_io.c */
bool swap_kunit_in_memstall(void);

/* zswap.c */
#ifdef CONFIG_ZSWAP
bool swap_kunit_set_zswap(bool on);
#else
static inline bool swap_kunit_set_zswap(bool on)
{
	return false;
}
#endif
unsigned long swap_kunit_zswap_stored(void);
void swap_kunit_zswap_limit(unsigned int percent);
unsigned long swap_kunit_zswap_write_back(unsigned long nr);
void swap_kunit_zswap_settle(void);
void swap_kunit_zswap_forget(bool forget);
bool swap_kunit_zswap_has(swp_entry_t swpentry);
bool swap_kunit_zswap_corrupt(swp_entry_t swpentry);
u64 swap_kunit_zswap_counter(enum swap_zswap_counter counter);
unsigned long swap_kunit_zswap_pool_pages(void);
unsigned int swap_kunit_zswap_pools(void);
bool swap_kunit_zswap_ready(void);
/* Where zswap has a shrinker; no cgroup is the one at the root. */
long swap_kunit_disk_swapins(struct mem_cgroup *memcg);
unsigned long swap_kunit_zswap_write_back_of(struct mem_cgroup *memcg, unsigned long nr);
unsigned long swap_kunit_zswap_shrinkable(struct mem_cgroup *memcg, gfp_t gfp);
unsigned long swap_kunit_zswap_shrink(struct mem_cgroup *memcg, unsigned long nr);
bool swap_kunit_zswap_shrinks_next(struct mem_cgroup *memcg);

#endif /* _MM_SWAP_KUNIT_H */
