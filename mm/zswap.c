// SPDX-License-Identifier: GPL-2.0
#include "swap_kunit_zswap.h"
#undef pr_fmt	/* the real file has its own */
#include "zswap_real.c"

bool swap_kunit_set_zswap(bool on)
{
	bool was = zswap_enabled;

	zswap_enabled = on;
	return was;
}

unsigned long swap_kunit_zswap_stored(void)
{
	/* Older kernels have an atomic_t. */
	if (sizeof(zswap_stored_pages) == sizeof(atomic_t))
		return atomic_read((atomic_t *)&zswap_stored_pages);
	return atomic_long_read((atomic_long_t *)&zswap_stored_pages);
}

void swap_kunit_zswap_limit(unsigned int percent)
{
	zswap_max_pool_percent = percent;
	zswap_pool_reached_full = false;
}

void swap_kunit_zswap_settle(void)
{
	/* Before zswap is set up there is no worker. */
	if (!swap_kunit_zswap_ready())
		return;
#if SWAP_API_ZSWAP_SHRINK_WORK
	flush_work(&zswap_shrink_work);
#else
	flush_workqueue(shrink_wq);
#endif
}

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

	if (!tree)
		return NULL;
	spin_lock(&tree->lock);
	entry = zswap_rb_search(&tree->rbroot, swp_offset(swpentry));
	spin_unlock(&tree->lock);
	return entry;
#endif
}

bool swap_kunit_zswap_has(swp_entry_t swpentry)
{
	return swap_kunit_zswap_entry(swpentry);
}

bool swap_kunit_zswap_corrupt(swp_entry_t swpentry)
{
	struct zswap_entry *entry = swap_kunit_zswap_entry(swpentry);
	void *garbage;
#if SWAP_API_ZSWAP_ZPOOL
	struct zpool *zpool;
#endif

	if (!entry || !entry->length)
		return false;
#if SWAP_API_ZSWAP_ZPOOL
#if SWAP_API_ZSWAP_ZPOOLS
	zpool = zswap_find_zpool(entry);
#else
	zpool = entry->pool->zpool;
#endif
	garbage = zpool_map_handle(zpool, entry->handle, ZPOOL_MM_RW);
#if SWAP_API_ZSWAP_HEADER
	if (zpool_evictable(zpool))
		garbage += sizeof(struct zswap_header);
#endif
	memset(garbage, 0xff, entry->length);
	zpool_unmap_handle(zpool, entry->handle);
#else
	garbage = kmalloc(entry->length, GFP_KERNEL | __GFP_NOFAIL);
	memset(garbage, 0xff, entry->length);
	zs_obj_write(entry->pool->zs_pool, entry->handle, garbage, entry->length);
	kfree(garbage);
#endif
	return true;
}

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

bool swap_kunit_zswap_ready(void)
{
	return swap_kunit_zswap_pools();
}

unsigned long swap_kunit_zswap_pool_pages(void)
{
#if SWAP_API_ZSWAP_TOTAL_PAGES
	return zswap_total_pages();
#else
	return zswap_pool_total_size >> PAGE_SHIFT;
#endif
}

#if SWAP_MECHANISM_ZSWAP_SHRINKER
/* Some kernels have one of each for all pools, others one per pool. */
#define swap_zswap_pool()	list_first_entry_or_null(&zswap_pools, struct zswap_pool, list)

#if SWAP_API_ZSWAP_POOL_LRU
#define swap_zswap_lru		(&swap_zswap_pool()->list_lru)
#else
#define swap_zswap_lru		(&zswap_list_lru)
#endif

#if SWAP_API_ZSWAP_POOL_SHRINKER
#define swap_zswap_shrinker	(swap_zswap_pool()->shrinker)
#else
#define swap_zswap_shrinker	zswap_shrinker
#endif

static struct mem_cgroup *swap_kunit_memcg(struct mem_cgroup *memcg)
{
	return memcg ?: root_mem_cgroup;
}

unsigned long swap_kunit_zswap_write_back_of(struct mem_cgroup *memcg, unsigned long nr)
{
	return list_lru_walk_one(swap_zswap_lru, 0, swap_kunit_memcg(memcg), &shrink_memcg_cb,
				 NULL, &nr);
}

unsigned long swap_kunit_zswap_write_back(unsigned long nr)
{
	return swap_kunit_zswap_write_back_of(NULL, nr);
}

long swap_kunit_disk_swapins(struct mem_cgroup *memcg)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(swap_kunit_memcg(memcg), NODE_DATA(0));

#if SWAP_API_ZSWAP_DISK_SWAPINS
	return atomic_long_read(&lruvec->zswap_lruvec_state.nr_disk_swapins);
#else
	return atomic_long_read(&lruvec->zswap_lruvec_state.nr_zswap_protected);
#endif
}

/* The shrinker reads a cgroup's statistics: bring them up to date. */
static void swap_kunit_flush_stats(struct mem_cgroup *memcg)
{
#if !IS_ENABLED(CONFIG_MEMCG)
#elif SWAP_API_CSS_RSTAT_FLUSH
	css_rstat_flush(&memcg->css);
#else
	cgroup_rstat_flush(memcg->css.cgroup);
#endif
}

unsigned long swap_kunit_zswap_shrinkable(struct mem_cgroup *memcg, gfp_t gfp)
{
	struct shrink_control sc = { .gfp_mask = gfp, .memcg = swap_kunit_memcg(memcg) };

	swap_kunit_flush_stats(sc.memcg);
	return swap_zswap_shrinker->count_objects(swap_zswap_shrinker, &sc);
}

unsigned long swap_kunit_zswap_shrink(struct mem_cgroup *memcg, unsigned long nr)
{
	struct shrink_control sc = { .gfp_mask = GFP_KERNEL, .nr_to_scan = nr, .nr_scanned = nr,
				     .memcg = swap_kunit_memcg(memcg) };

	return swap_zswap_shrinker->scan_objects(swap_zswap_shrinker, &sc);
}

bool swap_kunit_zswap_shrinks_next(struct mem_cgroup *memcg)
{
#if SWAP_API_ZSWAP_POOL_NEXT_SHRINK
	return swap_zswap_pool()->next_shrink == memcg;
#else
	return zswap_next_shrink == memcg;
#endif
}
#else /* the pool itself shrinks, oldest page first */
unsigned long swap_kunit_zswap_write_back(unsigned long nr)
{
	struct zswap_pool *pool = zswap_pool_current_get();
	u64 before = zswap_written_back_pages;

#if SWAP_API_ZSWAP_RECLAIM_ENTRY
	while (pool && nr-- && !zswap_reclaim_entry(pool))
		;
#else
	while (pool && nr-- && !zpool_shrink(pool->zpool, 1, NULL))
		;
#endif
	if (pool)
		zswap_pool_put(pool);
	return zswap_written_back_pages - before;
}
#endif
