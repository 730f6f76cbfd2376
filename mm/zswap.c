// SPDX-License-Identifier: GPL-2.0
#include "swap_kunit_zswap.h"
#undef pr_fmt	/* the real file has its own */
#include "zswap_real.c"

/**
 * swap_kunit_set_zswap() - switch zswap on or off, as its parameter does
 * @on: what it shall be
 *
 * zswap is set up at boot (its default is on), so this is the flag alone.
 *
 * Return: what it was.
 */
bool swap_kunit_set_zswap(bool on)
{
	bool was = zswap_enabled;

	zswap_enabled = on;
	return was;
}

/**
 * swap_kunit_zswap_stored() - pages in zswap's pool
 *
 * Return: their number.
 */
unsigned long swap_kunit_zswap_stored(void)
{
	return _Generic(zswap_stored_pages,
			atomic_t: atomic_read((atomic_t *)&zswap_stored_pages),
			atomic_long_t: atomic_long_read((atomic_long_t *)&zswap_stored_pages));
}

/**
 * swap_kunit_zswap_limit() - how much of memory the pool may take
 * @percent: as its parameter has it; 0 lets nothing in
 *
 * A pool that was full is so no more.
 */
void swap_kunit_zswap_limit(unsigned int percent)
{
	zswap_max_pool_percent = percent;
	zswap_pool_reached_full = false;
}

/* Wait until the worker that shrinks a full pool has nothing to do. */
void swap_kunit_zswap_settle(void)
{
	/* Where the kernel booted without zswap there is no worker. */
	if (!swap_kunit_zswap_ready())
		return;
#if SWAP_API_ZSWAP_SHRINK_WORK
	flush_work(&zswap_shrink_work);
#else
	flush_workqueue(shrink_wq);
#endif
}

/**
 * swap_kunit_zswap_forget() - let the kernel believe that zswap has never been on
 * @forget: true, or false for what is true
 *
 * Context: the pool is empty; process, may sleep.
 */
void swap_kunit_zswap_forget(bool forget)
{
#if SWAP_API_ZSWAP_EVER_ENABLED
	if (forget)
		static_branch_disable(&zswap_ever_enabled);
	else
		static_branch_enable(&zswap_ever_enabled);
#endif
}

static struct zswap_entry *swap_kunit_zswap_entry(swp_entry_t swpentry)
{
#if SWAP_API_ZSWAP_TREE_XARRAY
	return xa_load(swap_zswap_tree(swpentry), swp_offset(swpentry));
#else
	struct zswap_tree *tree = zswap_trees[swp_type(swpentry)];
	struct zswap_entry *entry;

	spin_lock(&tree->lock);
	entry = zswap_rb_search(&tree->rbroot, swp_offset(swpentry));
	spin_unlock(&tree->lock);
	return entry;
#endif
}

/* Is there a copy of this slot in the pool? */
bool swap_kunit_zswap_has(swp_entry_t swpentry)
{
	return swap_kunit_zswap_entry(swpentry);
}

/**
 * swap_kunit_zswap_corrupt() - spoil a page in the pool
 * @swpentry: the slot it is for
 *
 * Return: there was one.
 */
bool swap_kunit_zswap_corrupt(swp_entry_t swpentry)
{
	struct zswap_entry *entry = swap_kunit_zswap_entry(swpentry);
	void *garbage;

	if (!entry || !entry->length)
		return false;
#if SWAP_API_ZSWAP_ZPOOL
	garbage = zpool_map_handle(entry->pool->zpool, entry->handle, ZPOOL_MM_RW);
#if SWAP_API_ZSWAP_HEADER
	if (zpool_evictable(entry->pool->zpool))
		garbage += sizeof(struct zswap_header);
#endif
	memset(garbage, 0xff, entry->length);
	zpool_unmap_handle(entry->pool->zpool, entry->handle);
#else
	garbage = kmalloc(entry->length, GFP_KERNEL | __GFP_NOFAIL);
	memset(garbage, 0xff, entry->length);
	zs_obj_write(entry->pool->zs_pool, entry->handle, garbage, entry->length);
	kfree(garbage);
#endif
	return true;
}

/**
 * swap_kunit_zswap_counter() - what zswap counted since boot
 * @counter: which; 0 where this kernel does not count it
 */
u64 swap_kunit_zswap_counter(enum swap_zswap_counter counter)
{
	switch (counter) {
	case SWAP_ZSWAP_LIMIT_HIT:
		return zswap_pool_limit_hit;
	case SWAP_ZSWAP_WRITTEN_BACK:
		return zswap_written_back_pages;
	case SWAP_ZSWAP_RECLAIM_FAIL:
		return zswap_reject_reclaim_fail;
#if SWAP_MECHANISM_ZSWAP_COMPRESS_COUNTED
	case SWAP_ZSWAP_COMPRESS_FAIL:
		return zswap_reject_compress_fail;
#endif
	case SWAP_ZSWAP_COMPRESS_POOR:
		return zswap_reject_compress_poor;
	case SWAP_ZSWAP_ALLOC_FAIL:
		return zswap_reject_alloc_fail;
	case SWAP_ZSWAP_ENTRY_FAIL:
		return zswap_reject_kmemcache_fail;
#if SWAP_MECHANISM_ZSWAP_DECOMPRESS_ERROR
	case SWAP_ZSWAP_DECOMPRESS_FAIL:
		return zswap_decompress_fail;
#endif
#if SWAP_MECHANISM_ZSWAP_INCOMPRESSIBLE
	case SWAP_ZSWAP_INCOMPRESSIBLE:
		return atomic_long_read(&zswap_stored_incompressible_pages);
#endif
	default:
		return 0;
	}
}

/* Pools there are: the one in use, and older ones that still hold pages. */
unsigned int swap_kunit_zswap_pools(void)
{
	struct zswap_pool *pool;
	unsigned int nr = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(pool, &zswap_pools, list)
		nr++;
	rcu_read_unlock();
	return nr;
}

/* Is zswap set up? At boot, or when it is first switched on. */
bool swap_kunit_zswap_ready(void)
{
	return swap_kunit_zswap_pools();
}

#if SWAP_MECHANISM_ZSWAP_SHRINKER
/* Memory that the pools take, in pages. */
unsigned long swap_kunit_zswap_pool_pages(void)
{
	return zswap_total_pages();
}

static struct mem_cgroup *swap_kunit_memcg(struct mem_cgroup *memcg)
{
	return memcg ?: root_mem_cgroup;
}

/**
 * swap_kunit_zswap_write_back_of() - write old pages of a cgroup back to the disk
 * @memcg: the cgroup
 * @nr: look at so many pages, oldest first
 *
 * A page that is new since it was last looked at is left in.
 *
 * Return: how many were written.
 */
unsigned long swap_kunit_zswap_write_back_of(struct mem_cgroup *memcg, unsigned long nr)
{
	return list_lru_walk_one(&zswap_list_lru, 0, swap_kunit_memcg(memcg), &shrink_memcg_cb,
				 NULL, &nr);
}

/**
 * swap_kunit_zswap_write_back() - write old pages back to the disk
 * @nr: look at so many pages, of memory in no cgroup, oldest first
 *
 * Return: how many were written.
 */
unsigned long swap_kunit_zswap_write_back(unsigned long nr)
{
	return swap_kunit_zswap_write_back_of(NULL, nr);
}

/* What the shrinker knows of a cgroup's reads from the disk and has not yet made good. */
long swap_kunit_disk_swapins(struct mem_cgroup *memcg)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(swap_kunit_memcg(memcg), NODE_DATA(0));

	return atomic_long_read(&lruvec->zswap_lruvec_state.nr_disk_swapins);
}

/* The shrinker goes by a cgroup's statistics: let them be of now. */
static void swap_kunit_flush_stats(struct mem_cgroup *memcg)
{
#if !IS_ENABLED(CONFIG_MEMCG)
#elif SWAP_API_CSS_RSTAT_FLUSH
	css_rstat_flush(&memcg->css);
#else
	cgroup_rstat_flush(memcg->css.cgroup);
#endif
}

/**
 * swap_kunit_zswap_shrinkable() - ask the shrinker how much it may write back
 * @memcg: of this cgroup
 * @gfp: what the allocation allows that needs the memory
 *
 * Return: pages.
 */
unsigned long swap_kunit_zswap_shrinkable(struct mem_cgroup *memcg, gfp_t gfp)
{
	struct shrink_control sc = { .gfp_mask = gfp, .memcg = swap_kunit_memcg(memcg) };

	swap_kunit_flush_stats(sc.memcg);
	return zswap_shrinker->count_objects(zswap_shrinker, &sc);
}

/**
 * swap_kunit_zswap_shrink() - have the shrinker write back
 * @memcg: pages of this cgroup
 * @nr: look at so many
 *
 * Return: what it told reclaim: pages, or SHRINK_STOP.
 */
unsigned long swap_kunit_zswap_shrink(struct mem_cgroup *memcg, unsigned long nr)
{
	struct shrink_control sc = { .gfp_mask = GFP_KERNEL, .nr_to_scan = nr, .nr_scanned = nr,
				     .memcg = swap_kunit_memcg(memcg) };

	return zswap_shrinker->scan_objects(zswap_shrinker, &sc);
}

/* Is this the cgroup a full pool was last shrunk in? */
bool swap_kunit_zswap_shrinks_next(struct mem_cgroup *memcg)
{
	return zswap_next_shrink == memcg;
}
#else /* the pool shrinks itself, from its oldest page on */
unsigned long swap_kunit_zswap_pool_pages(void)
{
	return zswap_pool_total_size >> PAGE_SHIFT;
}

unsigned long swap_kunit_zswap_write_back(unsigned long nr)
{
	struct zswap_pool *pool = zswap_pool_current_get();
	u64 before = zswap_written_back_pages;

	while (pool && nr-- && !zpool_shrink(pool->zpool, 1, NULL))
		;
	if (pool)
		zswap_pool_put(pool);
	return zswap_written_back_pages - before;
}
#endif
