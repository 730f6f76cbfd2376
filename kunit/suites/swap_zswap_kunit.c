// SPDX-License-Identifier: GPL-2.0
/*
 * zswap.c: which pages its pool stores and returns, and that the newest copy of
 * a page wins, whether it is in the pool or on the disk.
 */
#include "counters.h"
#include "swap_fixture.h"

static const struct swap_device devices[] = { SWAP_DEVICES_PLAIN() };

SWAP_PARAMS(device, devices);

/* Older kernels keep a loaded page in the pool until its slot is freed. */
static bool zswap_keeps_loaded(struct swap_area *area)
{
	return !swap_has(ZSWAP_LOAD_ERASES) && !fake_disk_profile(area->disk)->synchronous;
}

/* Pages that the pool stores are written to and read from no device. */
static void pool_stores_pages(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 4);
	unsigned long out = swap_vmstat(ZSWPOUT), in = swap_vmstat(ZSWPIN);
	unsigned long disk_out = swap_vmstat(PSWPOUT), disk_in = swap_vmstat(PSWPIN);

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0 A0:1 S0:1 A0:2 S0:2 A0:3 S0:3");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 4UL);
	KUNIT_EXPECT_EQ_MSG(test, !swap_kunit_zswap_pool_pages(), swap_has(ZSWAP_SAME_FILLED),
			    "rule: same-filled pages take no memory on kernels that detect them");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPOUT) - out, swap_has(ZSWAP_COUNTED) ? 4UL : 0,
			    "rule: ZSWPOUT counts each stored page once");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPIN) - in, swap_has(ZSWAP_COUNTED) ? 4UL : 0,
			    "rule: ZSWPIN counts each loaded page once");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_LOAD), 4U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), zswap_keeps_loaded(area) ? 4UL : 0UL,
			    "rule: a loaded page leaves the pool, at once or when its slot is freed");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPOUT), disk_out,
			    "rule: PSWPOUT does not count pages that the pool stores");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPIN), disk_in,
			    "rule: PSWPIN does not count pages that the pool loads");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* A disabled pool stores nothing. */
static void disabled_pool_stores_nothing(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 1);

	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* A disabled pool still loads what it has stored before. */
static void disabled_pool_loads_what_it_has(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 2);

	user_fill(mem, 0, 2);
	user_swap_out(mem, 0, 1);
	swap_kunit_set_zswap(false);
	user_swap_out(mem, 1, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0 A0:1 W0:1");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_LOAD), 1U);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 1U);
}

/* Freeing a slot frees its page in the pool. */
static void freed_slot_leaves_the_pool(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: freeing a slot frees its page in the pool");
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
}

/* The zero map has zero-filled pages; the pool does not store them. */
static void zero_filled_page_is_not_stored(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 1);

	SWAP_REQUIRE(test, ZEROMAP);
	user_write(mem, 0, 0);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* A page that does not compress is stored uncompressed, or written to the disk. */
static void incompressible_page_is_stored_as_it_is(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 1);
	u64 before = swap_kunit_zswap_counter(SWAP_ZSWAP_INCOMPRESSIBLE);

	user_write_noise(mem, 0, 7);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(ZSWAP_INCOMPRESSIBLE) ? "A0:0 S0:0" :
			      "A0:0 W0:0");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_counter(SWAP_ZSWAP_INCOMPRESSIBLE) - before,
			    swap_has(ZSWAP_INCOMPRESSIBLE) ? 1ULL : 0ULL,
			    "rule: incompressible pages are counted while they are in the pool");
	KUNIT_EXPECT_TRUE_MSG(test, user_noise_intact(mem, 0, 7),
			      "rule: what is read back is what was last written");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_counter(SWAP_ZSWAP_INCOMPRESSIBLE), before,
			    "rule: incompressible pages are counted while they are in the pool");
}

/* Write a version of a folio to its slot. */
static void write_version(struct folio *folio, u64 value)
{
	swap_folio_mix(folio, value);
	swap_write_folio(folio);
}

/* Remove a folio from the swap cache, read its slot, and return the value. */
static u64 zswap_read_back(struct kunit *test, struct swap_area *area, struct folio *folio)
{
	swp_entry_t entry = swap_folio_entry(folio);
	u64 value;

	swap_folio_cache_del(folio);
	swap_kunit_set_page_cluster(0);
	folio = swap_read_slot(entry);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	value = swap_folio_value(folio);
	folio_put(folio);
	return value;
}

/* Storing a page again replaces its older copy. */
static void second_store_replaces_the_first(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	write_version(folio, 0x1111);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 1UL);
	write_version(folio, 0x2222);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 1UL,
			    "rule: the pool has one copy of a slot only");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule: the newest copy of a page wins");
}

/* A newer version is written to the disk while the pool has an older one. */
static void newer_copy_on_disk_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	write_version(folio, 0x1111);
	swap_kunit_set_zswap(false);
	write_version(folio, 0x2222);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: an outdated copy leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule: the newest copy of a page wins");
}

/* The same if the pool rejects the newer version. */
static void newer_copy_rejected_by_the_pool_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test), *other = swap_alloc_owned(test);

	/* An empty pool is not full even with a limit of 0. */
	write_version(other, 0x3333);
	write_version(folio, 0x1111);
	swap_kunit_zswap_limit(0);
	write_version(folio, 0x2222);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_has(swap_folio_entry(folio)),
			       "rule: an outdated copy leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule: the newest copy of a page wins");
}

/* The same if the newer version is zero-filled. */
static void newer_zero_filled_page_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	SWAP_REQUIRE(test, ZEROMAP);
	swap_folio_fill(folio, 0x1111);
	swap_write_folio(folio);
	swap_folio_fill(folio, 0);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0ULL,
			    "rule: the newest copy of a page wins");
}

/* A full pool rejects pages; they are written to the disk. */
static void full_pool_rejects_pages(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 2);

	swap_kunit_set_zswap(true);
	user_fill_mixed(mem, 0, 2);
	user_swap_out(mem, 0, 1);
	swap_kunit_zswap_limit(0);
	user_swap_out(mem, 1, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 1U,
			    "rule: a full pool stores nothing");
	KUNIT_EXPECT_GE(test, swap_decisions_count(area, SWAP_WRITE), 1U);
	USER_EXPECT_INTACT(test, mem);
}

/* A fault on a page that cannot be decompressed is a bus error. */
static void spoilt_page_is_a_bus_error(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 1);
	struct swap_area *area = zswap_area(test);
	vm_fault_t ret;

	swap_data_lost(test);
	user_fill_mixed(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_corrupt(user_entry(mem, 0)));
	ret = user_fault(mem, 0);
	KUNIT_EXPECT_TRUE_MSG(test, ret & VM_FAULT_SIGBUS,
			      "rule: a page that cannot be decompressed is a bus error, fault returned %x",
			      ret);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_SWAPPED);
	SWAP_EXPECT_BIOS(test, area->disk, "");
	user_memory_exit(mem);
}

/* swapoff swaps the pages of the pool in. */
static void swapoff_empties_the_pool(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_swapped(test, 4);

	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 3), USER_PAGE_PRESENT);
	USER_EXPECT_INTACT(test, mem);
}

struct warmth_param {
	SWAP_PARAM_NAME;
	bool workingset;
};

static const struct warmth_param warmths[] = {
	{ "cold", false }, { "workingset", true },
};

SWAP_PARAMS(warmth, warmths);

static bool stalled_in_load;

static void see_stall(swp_entry_t entry, bool loaded)
{
	stalled_in_load = swap_kunit_in_memstall();
}

static const struct swap_seams stall_seams = {
	.fail = swap_fail_reached,
	.zswap_loaded = see_stall,
	.count = swap_count,
};

/*
 * "mm: page_io: fix psi memory pressure error on cold swapins": loading a page is a
 * memory stall only if the page was in the workingset.
 */
static void load_is_a_stall_for_the_workingset(struct kunit *test)
{
	const struct warmth_param *warmth = swap_param(test);
	struct user_memory *others = user_memory_new(test, 8);
	struct user_memory *mem = user_memory_at(test, 0x50000000, 1);

	swap_area_on(test, &SWAP_AREA_ZRAM);
	swap_kunit_set_zswap(true);
	/* A page was in use long ago or lately by the measure of what else is. */
	user_fill(others, 0, 8);
	lru_add_drain_all();
	user_data_intact(others);
	user_data_intact(others);
	user_fill(mem, 0, 1);
	if (warmth->workingset)
		user_set_workingset(mem, 0);
	user_page_out(mem, 0, 1);
	KUNIT_ASSERT_FALSE(test, user_page_cached(mem, 0));
	stalled_in_load = !warmth->workingset;
	WRITE_ONCE(swap_seams, &stall_seams);
	user_fault(mem, 0);
	SWAP_REQUIRE_CONFIG(test, PSI);
	KUNIT_EXPECT_EQ_MSG(test, stalled_in_load, warmth->workingset,
			    "rule: reading a page is a memory stall only if it was in the workingset");
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_in_memstall(),
			       "rule: a memory stall ends with the read");
}

/* The steps of a store that can fail, and the counters of these failures. */
struct failure_param {
	SWAP_PARAM_NAME;
	enum swap_fail_point point;
	int err;
	enum swap_zswap_counter counter;
};

static const struct failure_param failures[] = {
	/* name, point, err, counter */
	{ "no entry", SWAP_FAIL_ZSWAP_ENTRY, -ENOMEM, SWAP_ZSWAP_ENTRY_FAIL },
	{ "compressor fails", SWAP_FAIL_ZSWAP_COMPRESS, -EINVAL, SWAP_ZSWAP_COMPRESS_FAIL },
	{ "no memory in the pool", SWAP_FAIL_ZSWAP_POOL, -ENOMEM, SWAP_ZSWAP_ALLOC_FAIL },
	{ "too large for the pool", SWAP_FAIL_ZSWAP_POOL, -ENOSPC, SWAP_ZSWAP_COMPRESS_POOR },
	{ "no memory in the tree", SWAP_FAIL_ZSWAP_TREE, -ENOMEM, SWAP_ZSWAP_ALLOC_FAIL },
};

SWAP_PARAMS(failure, failures);

/*
 * If a store fails, the page is written to the disk, its older copy leaves the pool, and nothing
 * of the store remains. Kernels that store incompressible pages do so if the compressor fails.
 */
static void page_of_a_failed_store_is_written(struct kunit *test)
{
	const struct failure_param *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	bool kept = c->point == SWAP_FAIL_ZSWAP_COMPRESS && swap_has(ZSWAP_INCOMPRESSIBLE);
	struct folio *folio = swap_alloc_owned(test);
	bool counted = !kept && (c->counter != SWAP_ZSWAP_COMPRESS_FAIL ||
				 swap_has(ZSWAP_COMPRESS_COUNTED));
	u64 before;

	swap_kunit_set_zswap(true);
	write_version(folio, 0x1111);
	KUNIT_EXPECT_TRUE(test, swap_kunit_zswap_has(swap_folio_entry(folio)));
	before = swap_kunit_zswap_counter(c->counter);
	swap_fail_errno(test, c->point, 1, SWAP_FAIL_ALL, c->err);
	write_version(folio, 0x2222);
	swap_fail(test, c->point, 1, 0);
	if (c->point == SWAP_FAIL_ZSWAP_TREE && !swap_has(ZSWAP_TREE_GROWS))
		kunit_skip(test, "no memory is allocated for the tree of this kernel");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_has(swap_folio_entry(folio)), kept,
			    "rule: an outdated copy leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), kept ? 1UL : 0UL,
			    "rule: a failed store leaves nothing in the pool");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_counter(c->counter) - before,
			    counted ? 1ULL : 0ULL,
			    "rule: a failed store is counted once, by the step that failed");
	swap_rule(test, "a page that zswap rejects is written to the disk");
	SWAP_EXPECT_DECISIONS(test, area, kept ? "A0:0 S0:0 S0:0" : "A0:0 S0:0 W0:0");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule: the newest copy of a page wins");
}

/* Without memory for the tree of an area, swapon fails, or the area does not use zswap. */
static void no_memory_for_the_tree(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 1);
	int err;

	swap_kunit_set_zswap(true);
	swap_fail(test, SWAP_FAIL_ZSWAP_SETUP, 1, SWAP_FAIL_ALL);
	err = swap_area_swapon(area, 0);
	KUNIT_EXPECT_EQ(test, swap_failed(SWAP_FAIL_ZSWAP_SETUP), 1U);
	swap_fail(test, SWAP_FAIL_ZSWAP_SETUP, 1, 0);
	if (swap_has(ZSWAP_SWAPON_FAILS)) {
		KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM,
				    "rule: swapon fails without memory for zswap's tree");
		return;
	}
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "rule: swapon succeeds without memory for zswap's tree");
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	USER_EXPECT_INTACT(test, mem);
}

/* Swap pages out until the pool has @pool_pages pages of memory. Return: the next page. */
static unsigned int zswap_fill_pool(struct user_memory *mem, unsigned long pool_pages)
{
	unsigned int page = 0;

	while (page < mem->pages && swap_kunit_zswap_pool_pages() < pool_pages) {
		user_fill_coarse(mem, page, 1);
		user_swap_out(mem, page++, 1);
	}
	return page;
}

/* Write a page and page it out: does the pool store it? */
static bool zswap_stores(struct swap_area *area, struct user_memory *mem, unsigned int page)
{
	unsigned int before = swap_decisions_count(area, SWAP_ZSWAP_STORE);

	user_fill(mem, page, 1);
	user_page_out(mem, page, 1);
	return swap_decisions_count(area, SWAP_ZSWAP_STORE) > before;
}

/*
 * A pool that was full stores nothing until it has shrunk below the accept threshold; a pool that
 * was not full stores pages up to its limit.
 */
static void full_pool_stores_again_below_the_threshold(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
					      .disk = &FAKE_DISK_ZRAM, .clusters = 12 });
	unsigned long percent = zswap_one_percent(test);
	struct user_memory *mem = user_memory_new(test, 4 * percent);
	unsigned int page;
	u64 hits;

	/* Prevent writeback. */
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "enabled", "Y"), 0);
	page = zswap_fill_pool(mem, percent + 1);
	KUNIT_ASSERT_LT(test, page, mem->pages - 4);
	swap_decisions_skip(test);
	hits = swap_kunit_zswap_counter(SWAP_ZSWAP_LIMIT_HIT);

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "max_pool_percent", "1"), 0);
	KUNIT_EXPECT_FALSE_MSG(test, zswap_stores(area, mem, page),
			       "rule: a pool at max_pool_percent stores nothing");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_LIMIT_HIT) - hits, 1ULL);

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "max_pool_percent", "2"), 0);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "25"), 0);
	KUNIT_EXPECT_FALSE_MSG(test, zswap_stores(area, mem, page + 1),
			       "rule: a pool that was full stores nothing above accept_threshold_percent");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_LIMIT_HIT) - hits, 1ULL);

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "90"), 0);
	KUNIT_EXPECT_TRUE_MSG(test, zswap_stores(area, mem, page + 2),
			      "rule: a pool that was full stores pages below accept_threshold_percent");

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "25"), 0);
	KUNIT_EXPECT_TRUE_MSG(test, zswap_stores(area, mem, page + 3),
			      "rule: accept_threshold_percent does not apply to a pool that was not full");
	swap_kunit_zswap_settle();
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 0);
	USER_EXPECT_INTACT(test, mem);
}

/* A corrupt page that only readahead reads does not fail the fault. */
static void corrupt_neighbour_does_not_fail_the_fault(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 4);
	u64 failed = swap_kunit_zswap_counter(SWAP_ZSWAP_DECOMPRESS_FAIL);

	SWAP_REQUIRE(test, ZSWAP_DECOMPRESS_ERROR);
	swap_data_lost(test);
	user_fill_mixed(mem, 0, 4);
	/* The target is on the device: beside it, every policy reads pages in zswap ahead. */
	user_swap_out(mem, 0, 1);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 1, 3);
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_corrupt(user_entry(mem, 1)));
	swap_kunit_set_vma_history(user_vma(mem), 0, 0, 6);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 0) & VM_FAULT_ERROR, 0U,
			    "rule: a corrupt neighbour does not fail the fault");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_DECOMPRESS_FAIL) - failed, 1ULL);
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_zswap_has(user_entry(mem, 1)),
			      "rule: a page that cannot be decompressed stays in the pool");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 1), USER_PAGE_SWAPPED);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0 R0:0");
	user_memory_exit(mem);
}

/* swapoff poisons a page that cannot be decompressed, and empties the pool. */
static void swapoff_poisons_a_corrupt_page(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 2);
	struct swap_area *area = zswap_area(test);

	SWAP_REQUIRE(test, ZSWAP_DECOMPRESS_ERROR);
	swap_data_lost(test);
	user_fill_mixed(mem, 0, 2);
	user_swap_out(mem, 0, 2);
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_corrupt(user_entry(mem, 1)));
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_PRESENT);
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 1), USER_PAGE_POISON,
			    "rule: a page that swapoff cannot read is poisoned");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault(mem, 1) & VM_FAULT_ERROR,
			      "rule: a page that swapoff cannot read is poisoned");
	user_memory_exit(mem);
}

/* swapoff of one area leaves the pages of another in the pool. */
static void swapoff_leaves_pages_of_other_areas_in_the_pool(struct kunit *test)
{
	struct swap_area *a = zswap_area(test), *b;
	struct user_memory *mem = user_memory_new(test, 4);

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	b = swap_area_prepare(test, &SWAP_AREA_ZRAM);
	KUNIT_ASSERT_EQ(test, swap_area_swapon(b, SWAP_FLAG_PREFER | 100), 0);
	swap_kunit_drain_hints();
	user_swap_out(mem, 2, 2);
	KUNIT_ASSERT_PTR_EQ(test, swap_area_of(user_entry(mem, 2)), b);
	swap_decisions_skip(test);
	/* Nothing is read ahead from the other area. */
	swap_kunit_set_page_cluster(0);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(a), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 2UL,
			    "rule: swapoff removes the pages of its own area only from the pool");
	KUNIT_EXPECT_TRUE(test, swap_kunit_zswap_has(user_entry(mem, 2)));
	USER_EXPECT_INTACT(test, mem);
}

static void expect_param(struct kunit *test, const char *name, const char *expected)
{
	char value[32] = "";

	KUNIT_EXPECT_EQ(test, zswap_param_get(name, value, sizeof(value)), 0);
	KUNIT_EXPECT_STREQ(test, value, expected);
}

/* The parameters can be changed at any time. */
static void switched_on_and_off_while_running(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 3);

	user_fill(mem, 0, 3);
	expect_param(test, "enabled", "N");
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "enabled", "Y"), 0);
	expect_param(test, "enabled", "Y");
	user_swap_out(mem, 0, 1);
	KUNIT_EXPECT_NE_MSG(test, zswap_param_set(test, "enabled", "perhaps"), 0,
			    "rule: enabled is a boolean");
	user_swap_out(mem, 1, 1);
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "enabled", "N"), 0);
	user_swap_out(mem, 2, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0 A0:1 S0:1 A0:2 W0:2");
	USER_EXPECT_INTACT(test, mem);
}

/* Older kernels free an empty pool after an RCU grace period. */
static void expect_pools(struct kunit *test, unsigned int expected)
{
	rcu_barrier();
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_pools(), expected,
			    "rule: a replaced pool exists as long as it has pages");
}

/* A new compressor is used for later stores; stored pages keep theirs. */
static void new_compressor_keeps_stored_pages(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);
	char before[ZSWAP_PARAM_LEN];
	const char *other = zswap_other_compressor(test, before);

	user_fill_mixed(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	expect_pools(test, 1);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "compressor", other), 0);
	expect_param(test, "compressor", other);
	expect_pools(test, 2);
	user_swap_out(mem, 2, 1);
	USER_EXPECT_INTACT(test, mem);
	if (!zswap_keeps_loaded(area))
		expect_pools(test, 1);
	user_memory_exit(mem);
	expect_pools(test, 1);
}

/* Changing back to a compressor whose pool still has pages uses that pool again. */
static void compressor_changes_back(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);
	char before[ZSWAP_PARAM_LEN];
	const char *other = zswap_other_compressor(test, before);

	user_fill_mixed(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "compressor", other), 0);
	expect_pools(test, 2);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "compressor", before), 0);
	expect_pools(test, 1);
	user_swap_out(mem, 2, 2);
	expect_pools(test, 1);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 4U);
	USER_EXPECT_INTACT(test, mem);
}

/* An unknown compressor, or the one in use, changes nothing. */
static void unknown_compressor_is_refused(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 1);
	struct swap_area *area = zswap_area(test);
	char before[32];

	KUNIT_ASSERT_EQ(test, zswap_param_get("compressor", before, sizeof(before)), 0);
	KUNIT_EXPECT_EQ_MSG(test, zswap_param_set(test, "compressor", "nonesuch"), -ENOENT,
			    "rule: an unknown compressor is refused");
	expect_param(test, "compressor", before);
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "compressor", before), 0);
	expect_param(test, "compressor", before);
	expect_pools(test, 1);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0");
}

/* If any allocation of a new pool fails, the old pool stays in use. */
static void no_memory_for_another_pool(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 1);
	struct swap_area *area = zswap_area(test);
	char before[ZSWAP_PARAM_LEN];
	const char *other = zswap_other_compressor(test, before);
	unsigned int nth, failed, calls;
	int err = 0;

	/* A pool may consist of 32, each with allocations of its own. */
	for (nth = 1; nth < 500; nth++) {
		swap_fail(test, SWAP_FAIL_ZSWAP_SETUP, nth, SWAP_FAIL_ALL);
		err = zswap_param_set(test, "compressor", other);
		failed = swap_failed(SWAP_FAIL_ZSWAP_SETUP);
		calls = swap_reached(SWAP_FAIL_ZSWAP_SETUP);
		swap_fail(test, SWAP_FAIL_ZSWAP_SETUP, 1, 0);
		if (!failed)
			break;
		KUNIT_EXPECT_NE_MSG(test, err, 0,
				    "rule: a new pool fails with its allocation %u", nth);
		expect_param(test, "compressor", before);
		expect_pools(test, 1);
	}
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "rule: a new pool succeeds once no allocation fails");
	KUNIT_EXPECT_EQ_MSG(test, calls, nth - 1, "each allocation of a pool must have failed");
	expect_param(test, "compressor", other);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0");
	USER_EXPECT_INTACT(test, mem);
}

/* A new allocator is used for later stores; stored pages stay where they are. */
static void new_allocator_keeps_stored_pages(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);
	char before[32];

	if (zswap_param_get("zpool", before, sizeof(before)) == -ENOENT)
		kunit_skip(test, "zswap has only one allocator on this kernel");
	KUNIT_EXPECT_EQ_MSG(test, zswap_param_set(test, "zpool", "nonesuch"), -ENOENT,
			    "rule: an unknown allocator is refused");
	expect_param(test, "zpool", before);
	user_fill_mixed(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "zpool", "zsmalloc"), 0);
	expect_param(test, "zpool", "zsmalloc");
	expect_pools(test, strcmp(before, "zsmalloc") ? 2 : 1);
	user_swap_out(mem, 2, 2);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 4U);
	USER_EXPECT_INTACT(test, mem);
}

static struct kunit_case swap_zswap_cases[] = {
	KUNIT_CASE_PARAM(pool_stores_pages, device_gen_params),
	KUNIT_CASE(disabled_pool_stores_nothing),
	KUNIT_CASE_PARAM(disabled_pool_loads_what_it_has, device_gen_params),
	KUNIT_CASE_PARAM(freed_slot_leaves_the_pool, device_gen_params),
	KUNIT_CASE_PARAM(zero_filled_page_is_not_stored, device_gen_params),
	KUNIT_CASE_PARAM(incompressible_page_is_stored_as_it_is, device_gen_params),
	KUNIT_CASE_PARAM(second_store_replaces_the_first, device_gen_params),
	KUNIT_CASE_PARAM(newer_copy_on_disk_wins, device_gen_params),
	KUNIT_CASE_PARAM(newer_copy_rejected_by_the_pool_wins, device_gen_params),
	KUNIT_CASE_PARAM(newer_zero_filled_page_wins, device_gen_params),
	KUNIT_CASE(full_pool_rejects_pages),
	KUNIT_CASE_PARAM(spoilt_page_is_a_bus_error, device_gen_params),
	KUNIT_CASE_PARAM(swapoff_empties_the_pool, device_gen_params),
	KUNIT_CASE_PARAM(load_is_a_stall_for_the_workingset, warmth_gen_params),
	KUNIT_CASE_PARAM(page_of_a_failed_store_is_written, failure_gen_params),
	KUNIT_CASE(no_memory_for_the_tree),
	KUNIT_CASE(full_pool_stores_again_below_the_threshold),
	KUNIT_CASE(corrupt_neighbour_does_not_fail_the_fault),
	KUNIT_CASE_PARAM(swapoff_poisons_a_corrupt_page, device_gen_params),
	KUNIT_CASE_PARAM(swapoff_leaves_pages_of_other_areas_in_the_pool, device_gen_params),
	KUNIT_CASE(switched_on_and_off_while_running),
	KUNIT_CASE_PARAM(new_compressor_keeps_stored_pages, device_gen_params),
	KUNIT_CASE_PARAM(compressor_changes_back, device_gen_params),
	KUNIT_CASE_PARAM(unknown_compressor_is_refused, device_gen_params),
	KUNIT_CASE_PARAM(no_memory_for_another_pool, device_gen_params),
	KUNIT_CASE_PARAM(new_allocator_keeps_stored_pages, device_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap, swap_zswap_cases);

MODULE_DESCRIPTION("KUnit suite of zswap");
MODULE_LICENSE("GPL");
