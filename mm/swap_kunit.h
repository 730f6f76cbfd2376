/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accessors to the statics of the swap files, in terms that are the same on
 * every kernel, and the seams at their calls to other files.
 *
 * Each accessor is compiled after the real file whose statics it uses. Offsets
 * are slots, counted from the start of the area. Memory is counted in pages.
 * Unless a comment says otherwise, accessors take the locks they need and can be
 * called from any process context in which the swap code itself could be called.
 */
#ifndef _MM_SWAP_KUNIT_H
#define _MM_SWAP_KUNIT_H

#include <linux/mm_types.h>
#include <linux/swap.h>

struct folio;
struct gendisk;
struct mem_cgroup;

/* The lists that a cluster can be on. */
enum swap_list {
	SWAP_LIST_NONE,
	SWAP_LIST_FREE,
	SWAP_LIST_NONFULL,
	SWAP_LIST_FRAG,
	SWAP_LIST_FULL,
	SWAP_LIST_DISCARD,
	SWAP_LIST_NR,
};

/**
 * struct swap_area_facts - what a swap area records about itself
 * @flags: SWP_* flags, without SWP_VALID of older kernels
 * @pages: usable pages: without the header and bad slots
 * @inuse: pages in use
 * @max: slots, including the header and bad slots
 * @prio: priority
 * @type: index of the area
 * @available: on the list of areas that the allocator walks
 * @clusters: number of clusters; 0 if the device has none
 */
struct swap_area_facts {
	unsigned long flags;
	unsigned long pages;
	unsigned long inuse;
	unsigned long max;
	int prio;
	int type;
	bool available;
	unsigned int clusters;
};

/**
 * struct swap_slot_facts - the state of one slot
 * @bad: marked bad; the other members are 0 then
 * @count: swap count: references from page tables and shmem
 * @cached: the swap cache has a folio for it
 */
struct swap_slot_facts {
	bool bad;
	unsigned int count;
	bool cached;
};

/**
 * struct swap_cluster_facts - the state of one cluster
 * @count: slots in use, including bad ones
 * @order: order of the folios allocated in it; 0 on kernels without orders
 * @flagged: the list that its flag says it is on
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
 * @SWAP_FAIL_TRYLOCK: a lock of a folio that is not waited for
 * @SWAP_FAIL_REF: a reference of an area
 * @SWAP_FAIL_READ: a read of the fake disk
 * @SWAP_FAIL_WRITE: a write to the fake disk
 * @SWAP_FAIL_DISCARD: a discard of the fake disk
 * @SWAP_FAIL_LOCK: no error: the lock of a folio is about to be waited for
 * @SWAP_FAIL_KILL: no error: an area or a pool of zswap is about to take no new user
 * @SWAP_FAIL_SPIN: no error: a lock that spins is about to be taken
 * @SWAP_FAIL_CONGESTION: no error: the io cgroup of the task is congested
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
	SWAP_FAIL_TRYLOCK,
	SWAP_FAIL_REF,
	SWAP_FAIL_READ,
	SWAP_FAIL_WRITE,
	SWAP_FAIL_DISCARD,
	SWAP_FAIL_LOCK,
	SWAP_FAIL_KILL,
	SWAP_FAIL_SPIN,
	SWAP_FAIL_CONGESTION,
	SWAP_FAIL_POINTS,
};

/* zswap's statistics, named as in debugfs. */
enum swap_zswap_counter {
	SWAP_ZSWAP_LIMIT_HIT,
	SWAP_ZSWAP_WRITTEN_BACK,
	SWAP_ZSWAP_RECLAIM_FAIL,
	SWAP_ZSWAP_COMPRESS_FAIL,
	SWAP_ZSWAP_COMPRESS_POOR,
	SWAP_ZSWAP_ALLOC_FAIL,
	SWAP_ZSWAP_ENTRY_FAIL,
	SWAP_ZSWAP_DECOMPRESS_FAIL,
	SWAP_ZSWAP_INCOMPRESSIBLE,	/* in the pool now, not since boot */
};

/* What happens to pages and is counted by the kernel, too. */
enum swap_count {
	SWAP_COUNT_READ,		/* read from the device */
	SWAP_COUNT_WRITTEN,		/* written to the device */
	SWAP_COUNT_HUGE,		/* not pages: PMD-sized folios written to it */
	SWAP_COUNT_READS,		/* not pages: reads of the device */
	SWAP_COUNT_WRITES,		/* not pages: writes to the device */
	SWAP_COUNT_ZEROED,		/* filled with zeroes instead of read */
	SWAP_COUNT_ZERO,		/* marked as zero-filled instead of written */
	SWAP_COUNT_LOADED,		/* decompressed by zswap for a swap-in */
	SWAP_COUNT_STORED,		/* stored in zswap */
	SWAP_COUNT_WRITTEN_BACK,	/* given to the device by zswap */
	SWAP_COUNT_READ_AHEAD,		/* marked as read ahead */
	SWAP_COUNT_HIT,			/* found to be read ahead */
	SWAP_COUNTS,
};

/**
 * struct swap_seams - calls of the swap files to other files, as they pass
 * @fail: a call that can fail is due; a negative errno makes it fail
 * @allocated: slots [entry, entry + nr) were taken
 * @zswap_stored: zswap was offered the folio of slots [entry, entry + nr), and
 *	took it or not
 * @zswap_loaded: zswap was asked for the folio of @entry, and had it or not
 * @count: something happened to the @nr pages of a folio, or @nr times
 *
 * Hooks run in the context of the caller, under its locks: they must not sleep,
 * allocate or assert. @fail and @count are never NULL; the others may be.
 */
struct swap_seams {
	int (*fail)(enum swap_fail_point point);
	void (*allocated)(swp_entry_t entry, unsigned int nr);
	void (*zswap_stored)(swp_entry_t entry, unsigned int nr, bool stored);
	void (*zswap_loaded)(swp_entry_t entry, bool loaded);
	void (*count)(enum swap_count what, unsigned int nr);
};

/* NULL unless a case has armed it. */
extern const struct swap_seams *swap_seams;
extern atomic_t swap_seam_live[];

/*
 * swapfile.c: areas, slots and clusters
 */

/**
 * swap_kunit_find() - find the area that swaps to a disk
 * @disk: the disk
 *
 * Return: the area, or NULL if no area that is on uses the disk.
 */
struct swap_info_struct *swap_kunit_find(struct gendisk *disk);

/**
 * swap_kunit_type_info() - ask the kernel's own lookup for an area
 * @type: any number
 *
 * Return: the area, or NULL.
 */
struct swap_info_struct *swap_kunit_type_info(int type);

/* Number of areas that are on. */
unsigned int swap_kunit_areas_used(void);

/**
 * swap_kunit_area() - read what an area records about itself
 * @si: the area
 * @facts: filled in
 */
void swap_kunit_area(struct swap_info_struct *si, struct swap_area_facts *facts);

/* Whether an area has one current cluster for all CPUs. */
bool swap_kunit_global_cluster(struct swap_info_struct *si);

/**
 * swap_kunit_slot() - read the state of a slot
 * @si: the area, which is on
 * @offset: the slot
 * @facts: filled in
 */
void swap_kunit_slot(struct swap_info_struct *si, unsigned long offset,
		     struct swap_slot_facts *facts);

/* Is a slot charged to a memory cgroup other than the root? */
bool swap_kunit_slot_charged(struct swap_info_struct *si, unsigned long offset);

/* Slots charged to memory cgroups other than the root, by their counters; 0 without any. */
long swap_kunit_charges(void);

/**
 * swap_kunit_cluster() - read the state of a cluster
 * @si: the area, which is on
 * @cluster: number of the cluster, counted from the start of the area
 * @facts: filled in
 *
 * Return: false if the area has no clusters; @facts is left alone then.
 */
bool swap_kunit_cluster(struct swap_info_struct *si, unsigned int cluster,
			struct swap_cluster_facts *facts);

/**
 * swap_kunit_throttled() - was a task last told to wait for a disk?
 * @disk: the disk, or NULL for any
 *
 * Return: true if so; the answer is forgotten.
 */
bool swap_kunit_throttled(struct gendisk *disk);

/* Slots in a cluster. */
unsigned int swap_kunit_cluster_size(void);

/* Orders that the allocator knows: 1 on kernels that allocate order 0 only. */
unsigned int swap_kunit_orders(void);

/* The lists of clusters that this kernel has, as BIT()s of enum swap_list. */
unsigned int swap_kunit_lists(void);

typedef void (*swap_visit_fn)(void *ctx, enum swap_list list, unsigned int order,
			      unsigned int cluster);

/**
 * swap_kunit_walk_lists() - visit every cluster that is on a list
 * @si: the area
 * @visit: called for each cluster, list by list and in list order
 * @ctx: passed to @visit
 *
 * A corrupt list ends the walk after as many clusters as the area has.
 *
 * Context: @visit runs under si->lock. It must not sleep or assert.
 */
void swap_kunit_walk_lists(struct swap_info_struct *si, swap_visit_fn visit, void *ctx);

/* What the swap files have allocated, registered or referenced and not yet given back. */
enum swap_live {
	/*
	 * Memory of swapfile.c: the trees of zswap and the address spaces of areas too,
	 * but not the swap_info_struct of an area and its reference, which are kept for
	 * the next area.
	 */
	SWAP_LIVE_SWAPFILE,
	SWAP_LIVE_ZSWAP,	/* memory of zswap.c, without its entries */
	SWAP_LIVE_PERCPU,	/* per-CPU memory of zswap.c */
	SWAP_LIVE_HOTPLUG,	/* instances of CPU hotplug of zswap.c */
	SWAP_LIVE_CRYPTO,	/* compressors of zswap.c */
	SWAP_LIVE_IOCB,		/* iocbs of page_io.c */
	SWAP_LIVE_BIO,		/* references of bios of page_io.c */
	SWAP_LIVE_BIO_INIT,	/* bios of page_io.c that are not allocated */
	SWAP_LIVE_TASK,		/* references of tasks of page_io.c */
	SWAP_LIVE_OBJCG,	/* references of obj_cgroups */
	SWAP_LIVE_NR,
};

/**
 * swap_kunit_live() - count what the swap files hold
 * @what: of which kind
 *
 * Compare two results; one alone says nothing.
 */
int swap_kunit_live(enum swap_live what);

/**
 * swap_kunit_proc_swaps() - read /proc/swaps, as open(2) and read(2) do
 * @chunk: bytes per read
 * @buf: filled in and NUL-terminated; empty if the file cannot be opened
 * @size: size of @buf in bytes; what does not fit is left out
 */
void swap_kunit_proc_swaps(size_t chunk, char *buf, size_t size);

/**
 * swap_kunit_proc_swaps_poll() - poll /proc/swaps, as poll(2) does
 * @event: the reader's position; updated
 * @waits: set to where it would wait, or to NULL
 *
 * Return: the events.
 */
__poll_t swap_kunit_proc_swaps_poll(int *event, struct wait_queue_head **waits);

/**
 * struct swap_hints - where a CPU allocates next, by order
 * @si: the area, on kernels with one hint for all areas
 * @next: the slot; 0 for none
 */
struct swap_hints {
	struct swap_info_struct *si[10];
	unsigned long next[10];
};

/**
 * swap_kunit_exchange_hints() - continue as if on another CPU
 * @si: the area
 * @hints: the hints of that CPU; those of this CPU afterwards
 *
 * Does nothing on kernels without hints by order.
 *
 * Context: no other CPU allocates.
 */
void swap_kunit_exchange_hints(struct swap_info_struct *si, struct swap_hints *hints);

/**
 * swap_kunit_drain_hints() - drop the hints of all CPUs, and drain the slot cache
 *
 * Hints that an area has for itself are dropped with the area.
 *
 * Context: no other CPU allocates. May sleep.
 */
void swap_kunit_drain_hints(void);

/**
 * swap_kunit_start_at() - set where a new area is searched first
 * @si: the area, just switched on
 * @offset: the slot
 *
 * For kernels that start at a random slot, to level wear. Others start where they do.
 */
void swap_kunit_start_at(struct swap_info_struct *si, unsigned long offset);

/**
 * swap_kunit_alloc_slot() - allocate one slot of this area
 * @si: the area, which need not be on the list of available areas
 * @folio: locked; the slot is for it
 *
 * Where the allocator works without folios, the slot is freed again at once.
 * Otherwise it is freed with @folio.
 *
 * Return: the slot, or 0 if there is none.
 */
unsigned long swap_kunit_alloc_slot(struct swap_info_struct *si, struct folio *folio);

/**
 * swap_kunit_set_bad() - mark a slot as bad
 * @si: the area
 * @offset: the slot, which nobody uses
 *
 * Repairs what a kernel bug broke, so that later checks do not report it again.
 */
void swap_kunit_set_bad(struct swap_info_struct *si, unsigned long offset);

/**
 * swap_kunit_set_writeok() - set or clear SWP_WRITEOK
 * @si: the area
 * @on: true to set it
 */
void swap_kunit_set_writeok(struct swap_info_struct *si, bool on);

/**
 * swap_kunit_reclaim_full() - run the reclaim of full clusters
 * @si: the area
 * @force: all of them, as the worker does; otherwise one, as an allocation does
 *
 * Does nothing on kernels without that reclaim.
 */
void swap_kunit_reclaim_full(struct swap_info_struct *si, bool force);

/**
 * swap_kunit_zero_lists() - clear the list heads, as in an area never used before
 * @si: the area; if it uses its lists, it is broken afterwards
 */
void swap_kunit_zero_lists(struct swap_info_struct *si);

/**
 * swap_kunit_flush_work() - wait for the area's discard and reclaim work
 * @si: the area
 *
 * Context: may sleep.
 */
void swap_kunit_flush_work(struct swap_info_struct *si);

/**
 * swap_kunit_hold_work() - keep the area's work from running
 * @si: the area
 * @hold: true to hold it; false to let it run again, discards due included
 *
 * Does nothing on kernels that cannot disable work.
 *
 * Context: may sleep.
 */
void swap_kunit_hold_work(struct swap_info_struct *si, bool hold);

/**
 * swap_kunit_run_discards() - do the discard worker's job in the caller's context
 * @si: the area
 *
 * Context: may sleep.
 */
void swap_kunit_run_discards(struct swap_info_struct *si);

/*
 * The reference count of an area, on kernels that have one
 */

/**
 * swap_kunit_users() - count the users that pin an area
 * @si: the area, which is on
 *
 * Context: may sleep.
 *
 * Return: number of users, without the area's own reference.
 */
unsigned long swap_kunit_users(struct swap_info_struct *si);

/* Whether swapoff has begun: no new user can pin the area. */
bool swap_kunit_users_dead(struct swap_info_struct *si);

/**
 * swap_kunit_kill_users() - let no new user pin the area, as swapoff does
 * @si: the area, which has no users; undo it with swap_kunit_revive_users()
 *
 * Context: may sleep.
 */
void swap_kunit_kill_users(struct swap_info_struct *si);
void swap_kunit_revive_users(struct swap_info_struct *si);

/*
 * swap_slots.c, where the kernel has it
 */

/**
 * swap_kunit_disable_slot_cache() - free all slots in the slot cache, and disable it
 *
 * swapon enables it again.
 *
 * Context: may sleep.
 */
void swap_kunit_disable_slot_cache(void);

/*
 * swap_state.c: readahead and the swap cache
 */

/**
 * swap_kunit_reset_readahead() - put cluster readahead into a fixed state
 *
 * The state is: no hits, a last window of 1 page, a last fault at 0x7fff0000.
 * page_cluster is left as it is.
 */
void swap_kunit_reset_readahead(void);

/* The window is 1 << @order pages at most. */
void swap_kunit_set_page_cluster(int order);

/* Hits of cluster readahead since its last window. */
int swap_kunit_readahead_hits(void);
void swap_kunit_set_readahead_hits(int hits);

/**
 * swap_kunit_cluster_window() - ask swapin_nr_pages() for a window
 * @offset: the slot that the fault is for
 *
 * Uses up the hits and advances the state, as a fault does.
 *
 * Return: the window in pages.
 */
unsigned int swap_kunit_cluster_window(unsigned long offset);

/**
 * swap_kunit_vma_window() - ask VMA readahead for a window
 * @vma: the mapping; its readahead state advances, as in a fault
 * @addr: the faulting address
 * @start: set to the start of the window, if it is larger than 1 page
 * @end: set to the end of the window, likewise
 *
 * Context: may sleep: older kernels need the page table.
 *
 * Return: the window in pages; 0 if there is no memory for a page table.
 */
unsigned int swap_kunit_vma_window(struct vm_area_struct *vma, unsigned long addr,
				   unsigned long *start, unsigned long *end);

/**
 * swap_kunit_set_vma_history() - set the readahead state of a mapping
 * @vma: the mapping
 * @addr: address of the last fault
 * @window: window of the last fault, in pages
 * @hits: readahead hits since then
 *
 * All 0 stands for a mapping without a fault.
 */
void swap_kunit_set_vma_history(struct vm_area_struct *vma, unsigned long addr,
				unsigned int window, unsigned int hits);

/* Readahead hits of a mapping since its last fault. */
unsigned int swap_kunit_vma_hits(struct vm_area_struct *vma);

/* Set vma_ra_enabled, and ask whether VMA readahead is used. */
void swap_kunit_set_vma_readahead(bool on);
bool swap_kunit_use_vma_readahead(void);

/**
 * swap_kunit_shadow() - look up the shadow of a slot in the swap cache
 * @entry: the slot
 *
 * Return: the shadow, or NULL.
 */
void *swap_kunit_shadow(swp_entry_t entry);

/**
 * swap_kunit_cache_alloc() - allocate a folio in the swap cache, to read into
 * @entry: a slot that it must cover
 * @orders: mask of the orders it may have; the largest is tried first
 *
 * Return: the locked folio, or an ERR_PTR(): -EOPNOTSUPP on kernels without such
 * a function.
 */
struct folio *swap_kunit_cache_alloc(swp_entry_t entry, unsigned long orders);

/**
 * swap_kunit_cache_alloc_order() - the same for one order, also without THP
 * @entry: a slot that it must cover
 * @order: its order
 *
 * Return: as for swap_kunit_cache_alloc().
 */
struct folio *swap_kunit_cache_alloc_order(swp_entry_t entry, unsigned int order);

/* Ask swap_cache_has_folio(), as userfaultfd does; false on kernels without it. */
bool swap_kunit_cache_has(swp_entry_t entry);

/* Print the swap cache's line of show_mem(). */
void swap_kunit_show_cache_info(void);

/*
 * page_io.c
 */

/* Whether the current task counts as stalled on memory; false without PSI. */
bool swap_kunit_in_memstall(void);

/*
 * zswap.c
 */

/**
 * swap_kunit_set_zswap() - enable or disable zswap
 * @on: true to enable it
 *
 * Only sets the flag: the test configuration sets zswap up at boot.
 *
 * Return: whether it was enabled; false without CONFIG_ZSWAP.
 */
#ifdef CONFIG_ZSWAP
bool swap_kunit_set_zswap(bool on);
#else
static inline bool swap_kunit_set_zswap(bool on)
{
	return false;
}
#endif

/* Pages stored in zswap. */
unsigned long swap_kunit_zswap_stored(void);

/* Pages of memory that the pools take. */
unsigned long swap_kunit_zswap_pool_pages(void);

/* Number of pools: the current one, and older ones that still hold pages. */
unsigned int swap_kunit_zswap_pools(void);

/* Whether zswap has been set up. */
bool swap_kunit_zswap_ready(void);

/* Whether zswap has an entry for a slot. */
bool swap_kunit_zswap_has(swp_entry_t swpentry);

/* One of zswap's statistics since boot; 0 if this kernel does not count it. */
u64 swap_kunit_zswap_counter(enum swap_zswap_counter counter);

/**
 * swap_kunit_zswap_limit() - set max_pool_percent
 * @percent: of all memory; 0 lets nothing in
 *
 * Also clears the flag that the pool has been full.
 */
void swap_kunit_zswap_limit(unsigned int percent);

/**
 * swap_kunit_zswap_settle() - wait for the work that shrinks a full pool
 *
 * Context: may sleep.
 */
void swap_kunit_zswap_settle(void);

/**
 * swap_kunit_zswap_forget() - make the kernel believe that zswap was never enabled
 * @forget: true; false restores the truth
 *
 * Context: may sleep; the pool is empty.
 */
void swap_kunit_zswap_forget(bool forget);

/**
 * swap_kunit_zswap_corrupt() - overwrite the compressed page of a slot
 * @swpentry: the slot
 *
 * Return: false if zswap has no compressed page for it.
 */
bool swap_kunit_zswap_corrupt(swp_entry_t swpentry);

/**
 * swap_kunit_zswap_write_back() - write old pages of no cgroup back to the disk
 * @nr: number of pages to look at, oldest first
 *
 * A page is skipped if it is new since it was last looked at.
 *
 * Context: may sleep.
 *
 * Return: number of pages written.
 */
unsigned long swap_kunit_zswap_write_back(unsigned long nr);

/*
 * zswap's shrinker, on kernels that have one; a NULL cgroup is the root
 */

/**
 * swap_kunit_zswap_write_back_of() - write old pages of a cgroup back to the disk
 * @memcg: the cgroup
 * @nr: number of pages to look at, oldest first
 *
 * Return: as for swap_kunit_zswap_write_back().
 */
unsigned long swap_kunit_zswap_write_back_of(struct mem_cgroup *memcg, unsigned long nr);

/* Swap-ins of a cgroup from the disk that the shrinker has not yet made up for. */
long swap_kunit_disk_swapins(struct mem_cgroup *memcg);

/**
 * swap_kunit_zswap_shrinkable() - ask the shrinker how much it may write back
 * @memcg: the cgroup
 * @gfp: flags of the allocation that needs memory
 *
 * Return: number of pages.
 */
unsigned long swap_kunit_zswap_shrinkable(struct mem_cgroup *memcg, gfp_t gfp);

/**
 * swap_kunit_zswap_shrink() - run the shrinker
 * @memcg: the cgroup
 * @nr: number of pages to look at
 *
 * Return: number of pages that it reports to reclaim, or SHRINK_STOP.
 */
unsigned long swap_kunit_zswap_shrink(struct mem_cgroup *memcg, unsigned long nr);

/* Whether @memcg is the cgroup at which the shrinking of a full pool last stopped. */
bool swap_kunit_zswap_shrinks_next(struct mem_cgroup *memcg);

#endif /* _MM_SWAP_KUNIT_H */
