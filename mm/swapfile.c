// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include "swap_kunit_seams.h"

#if SWAP_API_SWAP_CACHE_ADD_IN_CLUSTER
#define __swap_cache_add_folio(ci, f, e) do {				\
	struct folio *__folio = (f);					\
	swp_entry_t __entry = (e);					\
									\
	__swap_cache_add_folio(ci, __folio, __entry);			\
	swap_seam_allocated(__entry, folio_nr_pages(__folio));		\
} while (0)
#elif SWAP_API_SWAP_CACHE_ADD_SHADOW
#define swap_cache_add_folio(f, e, shadow) do {				\
	struct folio *__folio = (f);					\
	swp_entry_t __entry = (e);					\
									\
	swap_cache_add_folio(__folio, __entry, shadow);			\
	swap_seam_allocated(__entry, folio_nr_pages(__folio));		\
} while (0)
#elif !SWAP_MECHANISM_SLOT_CACHE	/* else swap_slots.c has the seam */
#error "not seen: swap_seam_allocated"
#endif

#if !SWAP_API_SWAP_CHARGED && !SWAP_MECHANISM_SLOT_CACHE
#error "not seen: SWAP_FAIL_CHARGE"
#endif

#if defined(CONFIG_MEMCG) && defined(CONFIG_BLK_CGROUP)
#include <linux/blk-cgroup.h>

#if !SWAP_API_THROTTLE_SCHEDULED
#error "not seen: SWAP_FAIL_CONGESTION"
#endif

/* A disk, or its queue. */
static const void *swap_seam_throttled;

#define blk_cgroup_congested() \
	(swap_seam_fail(SWAP_FAIL_CONGESTION) || blk_cgroup_congested())
#define blkcg_schedule_throttle(disk, use_memdelay) do {			\
	typeof(disk) __disk = (disk);						\
										\
	swap_seam_throttled = __disk;						\
	blkcg_schedule_throttle(__disk, use_memdelay);				\
} while (0)
#endif

#include "swap_kunit_alloc.h"
#include "swapfile_real.c"
#undef spin_lock
#include <linux/seq_file.h>
#include <linux/uio.h>

const struct swap_seams *swap_seams;

atomic_t swap_seam_live[SWAP_LIVE_NR];

int swap_kunit_live(enum swap_live what)
{
	int live = atomic_read(&swap_seam_live[what]);

	if (what == SWAP_LIVE_SWAPFILE)
		live -= nr_swapfiles * (SWAP_API_SWAP_USERS_REF ? 2 : 1);
	return live;
}

bool swap_kunit_throttled(struct gendisk *disk)
{
#if defined(CONFIG_MEMCG) && defined(CONFIG_BLK_CGROUP)
	const void *by = xchg(&swap_seam_throttled, NULL);

	return disk ? by == disk || by == disk->queue : !!by;
#else
	return false;
#endif
}

unsigned int swap_kunit_cluster_size(void)
{
	return SWAPFILE_CLUSTER;
}

unsigned int swap_kunit_orders(void)
{
#ifdef SWAP_NR_ORDERS
	return SWAP_NR_ORDERS;
#else
	return 1;
#endif
}

/* Every area that was ever on. */
#define for_each_swap_info(si, type) \
	for ((type) = 0; (type) < nr_swapfiles && ((si) = swap_info[type]); (type)++)

struct swap_info_struct *swap_kunit_type_info(int type)
{
#if SWAP_API_SWAP_TYPE_TO_INFO
	return swap_type_to_info(type);
#else
	return swap_type_to_swap_info(type);
#endif
}

struct swap_info_struct *swap_kunit_find(struct gendisk *disk)
{
	struct swap_info_struct *si, *found = NULL;
	int type;

	spin_lock(&swap_lock);
	for_each_swap_info(si, type)
		if ((si->flags & SWP_USED) && si->swap_file && si->bdev &&
		    si->bdev->bd_disk == disk)
			found = si;
	spin_unlock(&swap_lock);
	return found;
}

unsigned int swap_kunit_areas_used(void)
{
	struct swap_info_struct *si;
	unsigned int used = 0;
	int type;

	spin_lock(&swap_lock);
	for_each_swap_info(si, type)
		used += !!(si->flags & SWP_USED);
	spin_unlock(&swap_lock);
	return used;
}

void swap_kunit_area(struct swap_info_struct *si, struct swap_area_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	facts->flags = si->flags;
#if SWAP_API_SWP_VALID
	facts->flags &= ~SWP_VALID;	/* a reference count in newer kernels */
#endif
	facts->pages = si->pages;
	facts->max = si->max;
	facts->prio = si->prio;
	facts->type = si->type;
#if SWAP_API_SWAP_INUSE_ATOMIC
	facts->inuse = swap_usage_in_pages(si);
	facts->available = !(atomic_long_read(&si->inuse_pages) & SWAP_USAGE_OFFLIST_BIT);
#else
	facts->inuse = si->inuse_pages;
	facts->available = !plist_node_empty(&si->avail_lists[0]);
#endif
	if (si->cluster_info)
		facts->clusters = DIV_ROUND_UP(si->max, SWAPFILE_CLUSTER);
}

bool swap_kunit_global_cluster(struct swap_info_struct *si)
{
#if SWAP_MECHANISM_CLUSTERS_EVERYWHERE
	return si->global_cluster;
#else
	return false;
#endif
}

#if !SWAP_API_SWAP_MAP
void swap_kunit_slot(struct swap_info_struct *si, unsigned long offset,
		     struct swap_slot_facts *facts)
{
	struct swap_cluster_info *ci = &si->cluster_info[offset / SWAPFILE_CLUSTER];
	unsigned int ci_off = offset % SWAPFILE_CLUSTER;
	unsigned long swp_tb = SWP_TB_NULL;

	memset(facts, 0, sizeof(*facts));
	spin_lock(&ci->lock);
	if (cluster_table_is_alloced(ci))
		swp_tb = __swap_table_get(ci, ci_off);
	facts->bad = swp_tb_is_bad(swp_tb);
	facts->cached = swp_tb_is_folio(swp_tb);
	if (facts->cached || swp_tb_is_shadow(swp_tb)) {
		facts->count = __swp_tb_get_count(swp_tb);
		if (facts->count == SWP_TB_COUNT_MAX && ci->extend_table)
			facts->count = ci->extend_table[ci_off];
	}
	spin_unlock(&ci->lock);
}

void swap_kunit_set_bad(struct swap_info_struct *si, unsigned long offset)
{
	struct swap_cluster_info *ci = &si->cluster_info[offset / SWAPFILE_CLUSTER];

	spin_lock(&ci->lock);
	__swap_table_set(ci, offset % SWAPFILE_CLUSTER, SWP_TB_BAD);
	spin_unlock(&ci->lock);
}
#else
void swap_kunit_set_bad(struct swap_info_struct *si, unsigned long offset)
{
	WRITE_ONCE(si->swap_map[offset], SWAP_MAP_BAD);
}

void swap_kunit_slot(struct swap_info_struct *si, unsigned long offset,
		     struct swap_slot_facts *facts)
{
	unsigned char map = READ_ONCE(si->swap_map[offset]);

	memset(facts, 0, sizeof(*facts));
	facts->bad = map == SWAP_MAP_BAD;
	if (facts->bad)
		return;
	facts->cached = map & SWAP_HAS_CACHE;
	facts->count = swap_count(map) & ~COUNT_CONTINUED;
#ifdef SWAP_MAP_SHMEM
	if (swap_count(map) == SWAP_MAP_SHMEM) {
		facts->count = 1;
		return;
	}
#endif
	if (swap_count(map) & COUNT_CONTINUED)
		facts->count = swp_swapcount(swp_entry(si->type, offset));
}
#endif

#if IS_ENABLED(CONFIG_MEMCG) && SWAP_API_SWAP_CGROUP_ID
static unsigned short swap_kunit_slot_memcg(struct swap_info_struct *si, unsigned long offset)
{
	return lookup_swap_cgroup_id(swp_entry(si->type, offset));
}
#elif IS_ENABLED(CONFIG_MEMCG) && SWAP_API_SWAP_CGROUP_IN_CLUSTER
static unsigned short swap_kunit_slot_memcg(struct swap_info_struct *si, unsigned long offset)
{
	struct swap_cluster_info *ci = &si->cluster_info[offset / SWAPFILE_CLUSTER];
	unsigned short id;

	spin_lock(&ci->lock);
	id = __swap_cgroup_get(ci, offset % SWAPFILE_CLUSTER);
	spin_unlock(&ci->lock);
	return id;
}
#else
static unsigned short swap_kunit_slot_memcg(struct swap_info_struct *si, unsigned long offset)
{
	return 0;
}
#endif

bool swap_kunit_slot_charged(struct swap_info_struct *si, unsigned long offset)
{
	unsigned short id = swap_kunit_slot_memcg(si, offset);

#if !IS_ENABLED(CONFIG_MEMCG)
	return false;
#elif SWAP_API_MEM_CGROUP_PRIVATE_ID
	return cgroup_subsys_on_dfl(memory_cgrp_subsys) && id &&
	       id != mem_cgroup_private_id(root_mem_cgroup);
#else
	return cgroup_subsys_on_dfl(memory_cgrp_subsys) && id &&
	       id != mem_cgroup_id(root_mem_cgroup);
#endif
}

long swap_kunit_charges(void)
{
#if IS_ENABLED(CONFIG_MEMCG) && (SWAP_API_SWAP_CGROUP_ID || SWAP_API_SWAP_CGROUP_IN_CLUSTER)
	/* Charges of a cgroup are also its parents'. In version 1 they include memory. */
	if (cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return page_counter_read(&root_mem_cgroup->swap);
#endif
	return 0;
}

unsigned int swap_kunit_lists(void)
{
	unsigned int lists = 0;

	if (SWAP_API_SWAP_CLUSTER_INDEX_LISTS)
		lists = BIT(SWAP_LIST_FREE) | BIT(SWAP_LIST_DISCARD);
	if (SWAP_API_SWAP_CLUSTER_LISTS)
		lists = BIT(SWAP_LIST_FREE) | BIT(SWAP_LIST_NONFULL) | BIT(SWAP_LIST_FRAG) |
			BIT(SWAP_LIST_FULL) | BIT(SWAP_LIST_DISCARD);
	return lists;
}

#if SWAP_API_SWAP_CLUSTER_LISTS
static enum swap_list swap_kunit_list_of(const struct swap_cluster_info *ci)
{
	switch (ci->flags) {
	case CLUSTER_FLAG_FREE:
		return SWAP_LIST_FREE;
	case CLUSTER_FLAG_NONFULL:
		return SWAP_LIST_NONFULL;
	case CLUSTER_FLAG_FRAG:
		return SWAP_LIST_FRAG;
	case CLUSTER_FLAG_FULL:
		return SWAP_LIST_FULL;
#if SWAP_API_CLUSTER_FLAG_DISCARD
	case CLUSTER_FLAG_DISCARD:
		return SWAP_LIST_DISCARD;
#endif
	default:
		return SWAP_LIST_NONE;
	}
}

static void swap_kunit_walk_list(struct swap_info_struct *si, struct list_head *head,
				 enum swap_list list, unsigned int order,
				 swap_visit_fn visit, void *ctx)
{
	struct swap_cluster_info *ci;
	unsigned int left = DIV_ROUND_UP(si->max, SWAPFILE_CLUSTER) + 1;

	/* Bounded: a list that lost its head has no end. */
	list_for_each_entry(ci, head, list) {
		if (!left--)
			break;
		visit(ctx, list, order, ci - si->cluster_info);
	}
}

void swap_kunit_walk_lists(struct swap_info_struct *si, swap_visit_fn visit, void *ctx)
{
	unsigned int order;

	if (!si->cluster_info)
		return;
	spin_lock(&si->lock);
	swap_kunit_walk_list(si, &si->free_clusters, SWAP_LIST_FREE, 0, visit, ctx);
	for (order = 0; order < SWAP_NR_ORDERS; order++) {
		swap_kunit_walk_list(si, &si->nonfull_clusters[order],
				     SWAP_LIST_NONFULL, order, visit, ctx);
		swap_kunit_walk_list(si, &si->frag_clusters[order],
				     SWAP_LIST_FRAG, order, visit, ctx);
	}
	swap_kunit_walk_list(si, &si->full_clusters, SWAP_LIST_FULL, 0, visit, ctx);
	swap_kunit_walk_list(si, &si->discard_clusters, SWAP_LIST_DISCARD, 0, visit, ctx);
	spin_unlock(&si->lock);
}

bool swap_kunit_cluster(struct swap_info_struct *si, unsigned int cluster,
			struct swap_cluster_facts *facts)
{
	struct swap_cluster_info *ci = si->cluster_info;

	if (!ci)
		return false;
	ci += cluster;
	spin_lock(&ci->lock);
	facts->count = ci->count;
	facts->order = ci->order;
	facts->flagged = swap_kunit_list_of(ci);
	spin_unlock(&ci->lock);
	return true;
}

void swap_kunit_reclaim_full(struct swap_info_struct *si, bool force)
{
#if SWAP_API_RECLAIM_FULL_LOCKED
	spin_lock(&si->lock);
	swap_reclaim_full_clusters(si, force);
	spin_unlock(&si->lock);
#else
	swap_reclaim_full_clusters(si, force);
#endif
}

unsigned long swap_kunit_alloc_slot(struct swap_info_struct *si, struct folio *folio)
{
	unsigned long offset;

#if SWAP_API_CLUSTER_ALLOC_LOCKED
	spin_lock(&si->lock);
#elif SWAP_API_PERCPU_SWAP_CLUSTER
	local_lock(&percpu_swap_cluster.lock);
#endif
#if SWAP_API_CLUSTER_ALLOC_USAGE
	offset = cluster_alloc_swap_entry(si, 0, SWAP_HAS_CACHE);
#else
	offset = cluster_alloc_swap_entry(si, folio);
#endif
#if SWAP_API_CLUSTER_ALLOC_LOCKED
	spin_unlock(&si->lock);
#elif SWAP_API_PERCPU_SWAP_CLUSTER
	local_unlock(&percpu_swap_cluster.lock);
#endif
#if !SWAP_API_PERCPU_SWAP_CLUSTER
	/* The callers of these count the slot. */
	if (offset) {
		swp_entry_t entry = swp_entry(si->type, offset);

		atomic_long_dec(&nr_swap_pages);
		swapcache_free_entries(&entry, 1);
	}
#elif SWAP_API_CLUSTER_ALLOC_USAGE
	if (offset)
		put_swap_folio(folio, swp_entry(si->type, offset));
#endif
	return offset;
}

void swap_kunit_zero_lists(struct swap_info_struct *si)
{
	memset(&si->free_clusters, 0, sizeof(si->free_clusters));
	memset(&si->full_clusters, 0, sizeof(si->full_clusters));
	memset(&si->discard_clusters, 0, sizeof(si->discard_clusters));
	memset(si->nonfull_clusters, 0, sizeof(si->nonfull_clusters));
	memset(si->frag_clusters, 0, sizeof(si->frag_clusters));
}

static void swap_kunit_drop_hints(struct swap_info_struct *si)
{
#if SWAP_API_SWAP_PERCPU_CLUSTER_IN_AREA
	int cpu;

	for_each_possible_cpu(cpu)
		if (si->percpu_cluster)
			memset(per_cpu_ptr(si->percpu_cluster, cpu)->next, 0,
			       sizeof(si->percpu_cluster->next));
#else
	flush_percpu_swap_cluster(si);
#endif
}
#else /* lists of free clusters and of clusters to discard only; nothing to reclaim */
static void swap_kunit_walk_list(struct swap_info_struct *si, struct swap_cluster_list *head,
				 enum swap_list list, swap_visit_fn visit, void *ctx)
{
	unsigned int left = DIV_ROUND_UP(si->max, SWAPFILE_CLUSTER);
	struct swap_cluster_info *ci = &head->head;

	if (cluster_list_empty(head))
		return;
	do {
		visit(ctx, list, 0, cluster_next(ci));
		ci = si->cluster_info + cluster_next(ci);
	} while (ci != si->cluster_info + cluster_next(&head->tail) && left--);
}

void swap_kunit_walk_lists(struct swap_info_struct *si, swap_visit_fn visit, void *ctx)
{
	if (!si->cluster_info)
		return;
	spin_lock(&si->lock);
	swap_kunit_walk_list(si, &si->free_clusters, SWAP_LIST_FREE, visit, ctx);
	swap_kunit_walk_list(si, &si->discard_clusters, SWAP_LIST_DISCARD, visit, ctx);
	spin_unlock(&si->lock);
}

bool swap_kunit_cluster(struct swap_info_struct *si, unsigned int cluster,
			struct swap_cluster_facts *facts)
{
	struct swap_cluster_info *ci = si->cluster_info;

	if (!ci)
		return false;
	ci += cluster;
	spin_lock(&ci->lock);
	facts->count = cluster_is_free(ci) ? 0 : cluster_count(ci);
	facts->order = 0;
	facts->flagged = cluster_is_free(ci) ? SWAP_LIST_FREE : SWAP_LIST_NONE;
	spin_unlock(&ci->lock);
	return true;
}

void swap_kunit_reclaim_full(struct swap_info_struct *si, bool force)
{
}

unsigned long swap_kunit_alloc_slot(struct swap_info_struct *si, struct folio *folio)
{
	swp_entry_t entry = { };
	int nr;

	spin_lock(&si->lock);
	nr = scan_swap_map_slots(si, SWAP_HAS_CACHE, 1, &entry);
	spin_unlock(&si->lock);
	return nr ? swp_offset(entry) : 0;
}

void swap_kunit_zero_lists(struct swap_info_struct *si)
{
}

static void swap_kunit_drop_hints(struct swap_info_struct *si)
{
}
#endif

void swap_kunit_flush_work(struct swap_info_struct *si)
{
#if SWAP_API_SWAP_CLUSTER_LISTS
	/* It may free clusters to discard. */
	flush_work(&si->reclaim_work);
#endif
	flush_work(&si->discard_work);
}

void swap_kunit_hold_work(struct swap_info_struct *si, bool hold)
{
#if SWAP_API_DISABLE_WORK && SWAP_API_SWAP_CLUSTER_LISTS
	if (hold) {
		disable_work_sync(&si->discard_work);
		disable_work_sync(&si->reclaim_work);
	} else {
		enable_work(&si->reclaim_work);
		enable_work(&si->discard_work);
		schedule_work(&si->discard_work);
	}
#endif
}

void swap_kunit_run_discards(struct swap_info_struct *si)
{
	swap_discard_work(&si->discard_work);
}

void swap_kunit_drain_hints(void)
{
	struct swap_info_struct *si;
	int type;

	for_each_swap_info(si, type)
		swap_kunit_drop_hints(si);
#if SWAP_MECHANISM_SLOT_CACHE
	swap_kunit_disable_slot_cache();
#endif
}

void swap_kunit_exchange_hints(struct swap_info_struct *si, struct swap_hints *hints)
{
#if SWAP_API_SWAP_CLUSTER_LISTS
	unsigned int order;

	preempt_disable();
	for (order = 0; order < SWAP_NR_ORDERS && order < ARRAY_SIZE(hints->next); order++) {
#if SWAP_API_SWAP_PERCPU_CLUSTER_IN_AREA
		unsigned int *next = &this_cpu_ptr(si->percpu_cluster)->next[order];
#else
		unsigned long *next = this_cpu_ptr(&percpu_swap_cluster.offset[order]);

		swap(hints->si[order], *this_cpu_ptr(&percpu_swap_cluster.si[order]));
#endif
		swap(hints->next[order], *next);
	}
	preempt_enable();
#endif
}

void swap_kunit_start_at(struct swap_info_struct *si, unsigned long offset)
{
#if SWAP_API_SWAP_CLUSTER_NEXT_CPU
	unsigned int cpu;

	if (si->cluster_next_cpu)
		for_each_possible_cpu(cpu)
			per_cpu(*si->cluster_next_cpu, cpu) = offset;
#endif
}

void swap_kunit_set_writeok(struct swap_info_struct *si, bool on)
{
	spin_lock(&swap_lock);
	spin_lock(&si->lock);
	if (on)
		si->flags |= SWP_WRITEOK;
	else
		si->flags &= ~SWP_WRITEOK;
	spin_unlock(&si->lock);
	spin_unlock(&swap_lock);
}

#if SWAP_API_SWAP_USERS_REF
bool swap_kunit_users_dead(struct swap_info_struct *si)
{
	return percpu_ref_is_dying(&si->users);
}

void swap_kunit_kill_users(struct swap_info_struct *si)
{
	percpu_ref_kill(&si->users);
	synchronize_rcu();
	wait_for_completion(&si->comp);
}

unsigned long swap_kunit_users(struct swap_info_struct *si)
{
	unsigned long users;

	percpu_ref_switch_to_atomic_sync(&si->users);
	/* The area itself holds one reference while it is on. */
	users = atomic_long_read(&si->users.data->count) - 1;
	percpu_ref_switch_to_percpu(&si->users);
	return users;
}

void swap_kunit_revive_users(struct swap_info_struct *si)
{
	reinit_completion(&si->comp);
	percpu_ref_resurrect(&si->users);
}
#endif

void swap_kunit_proc_swaps(size_t chunk, char *buf, size_t size)
{
	struct file *file = kzalloc(sizeof(*file), GFP_KERNEL | __GFP_NOFAIL);
	struct kiocb iocb;
	size_t len = 0;
	ssize_t got;

	if (!swaps_open(NULL, file)) {
		iocb = (struct kiocb){ .ki_filp = file };
		do {
			struct kvec vec = { buf + len, min(chunk, size - 1 - len) };
			struct iov_iter iter;

			iov_iter_kvec(&iter, READ, &vec, 1, vec.iov_len);
			got = seq_read_iter(&iocb, &iter);
			len += max_t(ssize_t, got, 0);
		} while (got > 0);
		seq_release(NULL, file);
	}
	kfree(file);
	buf[len] = '\0';
}

struct swap_poll {
	poll_table table;
	struct wait_queue_head *waits;
};

static void swap_poll_queue(struct file *file, wait_queue_head_t *waits, poll_table *table)
{
	container_of(table, struct swap_poll, table)->waits = waits;
}

__poll_t swap_kunit_proc_swaps_poll(int *event, struct wait_queue_head **waits)
{
	struct swap_poll poll = { .table = { ._qproc = swap_poll_queue, ._key = ~(__poll_t)0 } };
	struct seq_file seq = { .poll_event = *event };
	struct file *file = kzalloc(sizeof(*file), GFP_KERNEL | __GFP_NOFAIL);
	__poll_t polled;

	file->private_data = &seq;
	polled = swaps_poll(file, &poll.table);
	kfree(file);
	*event = seq.poll_event;
	*waits = poll.waits;
	return polled;
}
