// SPDX-License-Identifier: GPL-2.0
#include "zswap_real.c"
#include "swap_api.h"
#include "swap_kunit.h"

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
#if SWAP_API_ZSWAP_SHRINK_WORK
	flush_work(&zswap_shrink_work);
#else
	if (shrink_wq)
		flush_workqueue(shrink_wq);
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

#if SWAP_MECHANISM_ZSWAP_SHRINKER
/**
 * swap_kunit_zswap_write_back() - write old pages back to the disk
 * @nr: look at so many pages, of memory in no cgroup, oldest first
 *
 * A page that is new since it was last looked at is left in.
 *
 * Return: how many were written.
 */
unsigned long swap_kunit_zswap_write_back(unsigned long nr)
{
	return list_lru_walk_one(&zswap_list_lru, 0, root_mem_cgroup, &shrink_memcg_cb, NULL, &nr);
}

static atomic_long_t *swap_kunit_disk_swapins_of_root(void)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(root_mem_cgroup, NODE_DATA(0));

	return &lruvec->zswap_lruvec_state.nr_disk_swapins;
}

/* What the shrinker knows of reads from the disk, of memory in no cgroup. */
long swap_kunit_disk_swapins(void)
{
	return atomic_long_read(swap_kunit_disk_swapins_of_root());
}
#else /* the pool shrinks itself, from its oldest page on */
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
