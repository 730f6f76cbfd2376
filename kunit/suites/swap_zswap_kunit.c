// SPDX-License-Identifier: GPL-2.0
/*
 * zswap.c: what goes into the pool, what comes out of it, and that the newest
 * copy of a page wins wherever it is.
 */
#include "swap_fixture.h"

static const struct swap_device zswap_devices[] = { SWAP_DEVICES_PLAIN() };

SWAP_PARAMS(zswap_device, zswap_devices);

/* Older pools keep a page until its slot is free, which a fault may not make it. */
static bool zswap_keeps_loaded(struct swap_area *area)
{
	return !swap_has(ZSWAP_LOAD_ERASES) && !fake_disk_profile(area->disk)->synchronous;
}

/* The pool takes a page, no bio is sent, and the pool has it back. */
static void pool_takes_pages(struct kunit *test)
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
			    "rule: pages of one repeated word take no memory, where zswap knows them");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPOUT) - out, swap_has(ZSWAP_COUNTED) ? 4UL : 0,
			    "rule: each page stored counts once in ZSWPOUT");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPIN) - in, swap_has(ZSWAP_COUNTED) ? 4UL : 0,
			    "rule: each page loaded counts once in ZSWPIN");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_LOAD), 4U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), zswap_keeps_loaded(area) ? 4UL : 0UL,
			    "rule: what is loaded leaves the pool, at once or with its slot");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPOUT), disk_out,
			    "rule: what the pool takes is not counted as written");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPIN), disk_in,
			    "rule: what the pool serves is not counted as read");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* Switched off it takes nothing more. */
static void disabled_pool_takes_nothing(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 1);

	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* What was stored before is served after it was switched off. */
static void disabled_pool_serves_what_it_has(struct kunit *test)
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

/* A freed slot leaves nothing in the pool. */
static void freed_slot_leaves_the_pool(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: a freed slot leaves nothing in the pool");
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
}

/* A zero page is known by its mark, and is no matter for the pool. */
static void zero_page_is_not_stored(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 1);

	SWAP_REQUIRE(test, ZEROMAP);
	user_write(mem, 0, 0);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* A page that does not compress: kept as it is, or sent to the disk. */
static void page_that_does_not_compress(struct kunit *test)
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
			    "rule: a page kept as it is counts as such while it is in the pool");
	KUNIT_EXPECT_TRUE_MSG(test, user_noise_intact(mem, 0, 7),
			      "what is read back is what was last written");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_counter(SWAP_ZSWAP_INCOMPRESSIBLE), before,
			    "rule: a page kept as it is counts as such while it is in the pool");
}

/* What the slot's page reads, once it is out of the cache. */
static u64 zswap_read_back(struct kunit *test, struct swap_area *area, struct folio *folio)
{
	swp_entry_t entry = swap_folio_entry(folio);
	u64 value;

	swap_folio_cache_del(folio);
	swap_set_page_cluster(0);
	folio = swap_read_slot(area, entry);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	value = swap_folio_value(folio);
	folio_put(folio);
	return value;
}

/* The same slot stored twice: the second copy counts, the first is gone. */
static void second_store_replaces_the_first(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	swap_folio_mix(folio, 0x1111);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 1UL);
	swap_folio_mix(folio, 0x2222);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 1UL,
			    "rule: the pool has one copy of a slot");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "the newest copy of a page wins");
}

/* The pool has a copy, the next version goes to the disk: that one counts. */
static void newer_copy_on_disk_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	swap_folio_mix(folio, 0x1111);
	swap_write_folio(folio);
	swap_kunit_set_zswap(false);
	swap_folio_mix(folio, 0x2222);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: a copy that is out of date leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "the newest copy of a page wins");
}

/* Likewise where the pool refuses the newer version. */
static void newer_copy_refused_by_the_pool_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test), *other = swap_alloc_owned(test);

	/* An empty pool is not full, whatever its limit. */
	swap_folio_mix(other, 0x3333);
	swap_write_folio(other);
	swap_folio_mix(folio, 0x1111);
	swap_write_folio(folio);
	swap_kunit_zswap_limit(0);
	swap_folio_mix(folio, 0x2222);
	swap_write_folio(folio);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_has(swap_folio_entry(folio)),
			       "rule: a copy that is out of date leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "the newest copy of a page wins");
}

/* Likewise where the newer version is a zero page. */
static void newer_zero_page_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	SWAP_REQUIRE(test, ZEROMAP);
	swap_folio_fill(folio, 0x1111);
	swap_write_folio(folio);
	swap_folio_fill(folio, 0);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0ULL,
			    "the newest copy of a page wins");
}

/* A full pool: pages go to the disk, and come from there. */
static void full_pool_refuses(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 2);

	swap_kunit_set_zswap(true);
	user_fill(mem, 0, 2);
	user_mix(mem, 0, 2);
	user_swap_out(mem, 0, 1);
	swap_kunit_zswap_limit(0);
	user_swap_out(mem, 1, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 1U,
			    "rule: a full pool takes nothing");
	KUNIT_EXPECT_GE(test, swap_decisions_count(area, SWAP_WRITE), 1U);
	USER_EXPECT_INTACT(test, mem);
}

/* A spoilt page is an I/O error, and no data. */
static void spoilt_page_is_a_bus_error(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 1);
	struct swap_area *area = zswap_area(test);
	vm_fault_t ret;

	swap_case_of(test)->data_lost = true;
	user_fill(mem, 0, 1);
	user_mix(mem, 0, 1);
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

/* Swapoff has the pages of the pool back in memory, too. */
static void swapoff_empties_the_pool(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 4);

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 3), USER_PAGE_PRESENT);
	USER_EXPECT_INTACT(test, mem);
}

struct zswap_warmth {
	SWAP_PARAM_NAME;
	bool workingset;
};

static const struct zswap_warmth zswap_warmths[] = {
	{ "cold", false }, { "workingset", true },
};

SWAP_PARAMS(zswap_warmth, zswap_warmths);

static bool stalled_in_load;

static void see_stall(swp_entry_t entry, bool loaded)
{
	stalled_in_load = swap_kunit_in_memstall();
}

static const struct swap_seams stall_seams = {
	.fail = swap_fail_reached,
	.zswap_loaded = see_stall,
};

/* Decompressing a page that was in use is a stall on memory; a cold one not (A60). */
static void load_is_a_stall_for_the_workingset(struct kunit *test)
{
	const struct zswap_warmth *warmth = swap_param(test);
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
	SWAP_REQUIRE_CONFIG(test, CONFIG_PSI);
	KUNIT_EXPECT_EQ_MSG(test, stalled_in_load, warmth->workingset,
			    "rule: reading a page counts as a stall where it was in the workingset");
}

/* Each step of a store, how it fails, and where that is counted. */
struct zswap_failure {
	SWAP_PARAM_NAME;
	enum swap_fail_point point;
	int err;
	enum swap_zswap_counter counter;
};

static const struct zswap_failure zswap_failures[] = {
	{ "no entry", SWAP_FAIL_ZSWAP_ENTRY, -ENOMEM, SWAP_ZSWAP_ENTRY_FAIL },
	{ "compressor fails", SWAP_FAIL_ZSWAP_COMPRESS, -EINVAL, SWAP_ZSWAP_COMPRESS_FAIL },
	{ "no memory in the pool", SWAP_FAIL_ZSWAP_POOL, -ENOMEM, SWAP_ZSWAP_ALLOC_FAIL },
	{ "too large for the pool", SWAP_FAIL_ZSWAP_POOL, -ENOSPC, SWAP_ZSWAP_COMPRESS_POOR },
	{ "no memory in the tree", SWAP_FAIL_ZSWAP_TREE, -ENOMEM, SWAP_ZSWAP_ALLOC_FAIL },
};

SWAP_PARAMS(zswap_failure, zswap_failures);

/*
 * A store that fails: the page goes to the disk, its older copy is gone from the pool, and what
 * the store had taken is given back. Only a compressor is done without, where pages may be kept
 * as they are.
 */
static void failed_store_uses_the_disk(struct kunit *test)
{
	const struct zswap_failure *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	bool kept = c->point == SWAP_FAIL_ZSWAP_COMPRESS && swap_has(ZSWAP_INCOMPRESSIBLE);
	struct folio *folio = swap_alloc_owned(test);
	bool counted = !kept && (c->counter != SWAP_ZSWAP_COMPRESS_FAIL ||
				 swap_has(ZSWAP_COMPRESS_COUNTED));
	u64 before;

	swap_kunit_set_zswap(true);
	swap_folio_mix(folio, 0x1111);
	swap_write_folio(folio);
	KUNIT_EXPECT_TRUE(test, swap_kunit_zswap_has(swap_folio_entry(folio)));
	before = swap_kunit_zswap_counter(c->counter);
	swap_fail_errno(test, c->point, 1, SWAP_FAIL_ALL, c->err);
	swap_folio_mix(folio, 0x2222);
	swap_write_folio(folio);
	swap_fail(test, c->point, 1, 0);
	if (c->point == SWAP_FAIL_ZSWAP_TREE && !swap_has(ZSWAP_SHRINKER))
		kunit_skip(test, "an entry has its place in the tree with it");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_has(swap_folio_entry(folio)), kept,
			    "rule: a copy that is out of date leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), kept ? 1UL : 0UL,
			    "rule: a store that fails leaves nothing in the pool");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_counter(c->counter) - before,
			    counted ? 1ULL : 0ULL,
			    "rule: a store that fails is counted once, where it failed");
	swap_rule(test, "a page that zswap does not take is written to the disk");
	SWAP_EXPECT_DECISIONS(test, area, kept ? "A0:0 S0:0 S0:0" : "A0:0 S0:0 W0:0");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "the newest copy of a page wins");
}

/* No memory for an area's tree: either the area is not switched on, or it is without zswap. */
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
	if (swap_has(ZSWAP_SHRINKER)) {
		KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM,
				    "rule: no memory for zswap's tree is an error of swapon");
		return;
	}
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "rule: an area does without zswap's tree");
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	USER_EXPECT_INTACT(test, mem);
}

/* Pages of the memory are swapped out until the pool takes so much memory. */
static unsigned int zswap_fill_pool(struct user_memory *mem, unsigned long pool_pages)
{
	unsigned int page = 0;

	while (page < mem->pages && swap_kunit_zswap_pool_pages() < pool_pages) {
		user_fill_coarse(mem, page, 1);
		user_swap_out(mem, page++, 1);
	}
	return page;
}

/* Does the pool take this page? */
static bool zswap_takes(struct swap_area *area, struct user_memory *mem, unsigned int page)
{
	unsigned int before = swap_decisions_count(area, SWAP_ZSWAP_STORE);

	user_fill(mem, page, 1);
	user_page_out(mem, page, 1);
	return swap_decisions_count(area, SWAP_ZSWAP_STORE) > before;
}

/*
 * A pool that was full takes nothing until it has fallen to the accept threshold; one that was
 * not takes pages up to its limit.
 */
static void full_pool_takes_again_at_the_threshold(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
					      .disk = &FAKE_DISK_ZRAM, .clusters = 12 });
	unsigned long percent = totalram_pages() / 100;
	struct user_memory *mem = user_memory_new(test, 4 * percent);
	unsigned int page;
	u64 hits;

	/* Nothing is to be written back meanwhile. */
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "enabled", "Y"), 0);
	page = zswap_fill_pool(mem, percent + 1);
	KUNIT_ASSERT_LT(test, page, mem->pages - 4);
	swap_decisions_skip(test);
	hits = swap_kunit_zswap_counter(SWAP_ZSWAP_LIMIT_HIT);

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "max_pool_percent", "1"), 0);
	KUNIT_EXPECT_FALSE_MSG(test, zswap_takes(area, mem, page),
			       "rule: a pool at max_pool_percent takes nothing");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_LIMIT_HIT) - hits, 1ULL);

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "max_pool_percent", "2"), 0);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "25"), 0);
	KUNIT_EXPECT_FALSE_MSG(test, zswap_takes(area, mem, page + 1),
			       "rule: a pool that was full takes nothing above accept_threshold_percent");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_LIMIT_HIT) - hits, 1ULL);

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "90"), 0);
	KUNIT_EXPECT_TRUE_MSG(test, zswap_takes(area, mem, page + 2),
			      "rule: a pool that was full takes pages again below accept_threshold_percent");

	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "25"), 0);
	KUNIT_EXPECT_TRUE_MSG(test, zswap_takes(area, mem, page + 3),
			      "rule: a pool that was not full knows no accept_threshold_percent");
	swap_kunit_zswap_settle();
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 0);
	USER_EXPECT_INTACT(test, mem);
}

/* A spoilt page asked for by readahead alone: it is not there, and the fault does not mind. */
static void spoilt_neighbour_does_no_harm(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 4);
	u64 failed = swap_kunit_zswap_counter(SWAP_ZSWAP_DECOMPRESS_FAIL);

	SWAP_REQUIRE(test, ZSWAP_DECOMPRESS_ERROR);
	swap_case_of(test)->data_lost = true;
	user_fill(mem, 0, 4);
	user_mix(mem, 0, 4);
	/* On the device: beside such a page, what is in zswap is read ahead by any policy. */
	user_swap_out(mem, 0, 1);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 1, 3);
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_corrupt(user_entry(mem, 1)));
	swap_kunit_set_vma_history(user_vma(mem), 0, 0, 6);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 0) & VM_FAULT_ERROR, 0U,
			    "rule: a spoilt neighbour is no error of the page that is wanted");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_DECOMPRESS_FAIL) - failed, 1ULL);
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_zswap_has(user_entry(mem, 1)),
			      "rule: a page that cannot be decompressed stays in the pool");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 1), USER_PAGE_SWAPPED);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0 R0:0");
	user_memory_exit(mem);
}

/* Swapoff cannot have a spoilt page in memory: a marker stands for it, and the pool is empty. */
static void swapoff_marks_a_spoilt_page(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 2);
	struct swap_area *area = zswap_area(test);

	SWAP_REQUIRE(test, ZSWAP_DECOMPRESS_ERROR);
	swap_case_of(test)->data_lost = true;
	user_fill(mem, 0, 2);
	user_mix(mem, 0, 2);
	user_swap_out(mem, 0, 2);
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_corrupt(user_entry(mem, 1)));
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_PRESENT);
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 1), USER_PAGE_POISON,
			    "rule: what swapoff could not read back is marked as lost");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault(mem, 1) & VM_FAULT_ERROR,
			      "rule: what swapoff could not read back is marked as lost");
	user_memory_exit(mem);
}

/* Swapoff of one area leaves the pages of another in the pool. */
static void swapoff_leaves_the_other_area_alone(struct kunit *test)
{
	struct swap_area *a = zswap_area(test), *b;
	struct user_memory *mem = user_memory_new(test, 4);

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	b = swap_area_prepare(test, &SWAP_AREA_ZRAM);
	KUNIT_ASSERT_EQ(test, swap_area_swapon(b, SWAP_FLAG_PREFER | 100), 0);
	swap_kunit_drain_hints();
	user_swap_out(mem, 2, 2);
	KUNIT_ASSERT_PTR_EQ(test, swap_area_of(test, user_entry(mem, 2)), b);
	swap_decisions_skip(test);
	/* Nothing is read ahead, from the other area say. */
	swap_set_page_cluster(0);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(a), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 2UL,
			    "rule: swapoff takes this area's pages out of the pool, and no others");
	KUNIT_EXPECT_TRUE(test, swap_kunit_zswap_has(user_entry(mem, 2)));
	USER_EXPECT_INTACT(test, mem);
}

/* The parameters, set while the system runs. */
static void expect_param(struct kunit *test, const char *name, const char *expected)
{
	char value[32] = "";

	KUNIT_EXPECT_EQ(test, zswap_param_get(name, value, sizeof(value)), 0);
	KUNIT_EXPECT_STREQ(test, value, expected);
}

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
			    "rule: enabled is yes or no");
	user_swap_out(mem, 1, 1);
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "enabled", "N"), 0);
	user_swap_out(mem, 2, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0 A0:1 S0:1 A0:2 W0:2");
	USER_EXPECT_INTACT(test, mem);
}

/* The other compressor of the two that the kernels under test have built in. */
static const char *zswap_other_compressor(struct kunit *test, char *now, size_t size)
{
	KUNIT_ASSERT_EQ(test, zswap_param_get("compressor", now, size), 0);
	return strcmp(now, "lzo") ? "lzo" : "lzo-rle";
}

/* Older pools without pages go as soon as nobody looks at them any more. */
static void expect_pools(struct kunit *test, unsigned int expected)
{
	rcu_barrier();
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_pools(), expected,
			    "rule: a pool that is not used any more lives as long as its pages");
}

/* Another compressor is for what is stored from then on: each page knows its own pool. */
static void compressor_changes_under_stored_pages(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);
	char before[32];
	const char *other = zswap_other_compressor(test, before, sizeof(before));

	user_fill(mem, 0, 4);
	user_mix(mem, 0, 4);
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

/* Back to the first compressor while it still has pages: their pool is the one in use again. */
static void compressor_changes_back(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);
	char before[32];
	const char *other = zswap_other_compressor(test, before, sizeof(before));

	user_fill(mem, 0, 4);
	user_mix(mem, 0, 4);
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

/* No such compressor, or the one in use: nothing changes. */
static void unknown_compressor_is_refused(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 1);
	struct swap_area *area = zswap_area(test);
	char before[32];

	KUNIT_ASSERT_EQ(test, zswap_param_get("compressor", before, sizeof(before)), 0);
	KUNIT_EXPECT_EQ_MSG(test, zswap_param_set(test, "compressor", "nonesuch"), -ENOENT,
			    "rule: a compressor that is not there is refused");
	expect_param(test, "compressor", before);
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "compressor", before), 0);
	expect_param(test, "compressor", before);
	expect_pools(test, 1);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0");
}

/* Whatever a new pool lacks memory for: the old one stays in use, and nothing is left behind. */
static void no_memory_for_another_pool(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 1);
	struct swap_area *area = zswap_area(test);
	char before[32];
	const char *other = zswap_other_compressor(test, before, sizeof(before));
	unsigned int nth, failed;
	int err = 0;

	for (nth = 1; nth < 20; nth++) {
		swap_fail(test, SWAP_FAIL_ZSWAP_SETUP, nth, SWAP_FAIL_ALL);
		err = zswap_param_set(test, "compressor", other);
		failed = swap_failed(SWAP_FAIL_ZSWAP_SETUP);
		swap_fail(test, SWAP_FAIL_ZSWAP_SETUP, 1, 0);
		if (!failed)
			break;
		KUNIT_EXPECT_NE_MSG(test, err, 0, "rule: allocation %u of a pool fails", nth);
		expect_param(test, "compressor", before);
		expect_pools(test, 1);
	}
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "rule: a pool is made once no allocation fails");
	KUNIT_EXPECT_GT_MSG(test, nth, 3U, "rule: a pool is made of several allocations");
	expect_param(test, "compressor", other);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0");
	USER_EXPECT_INTACT(test, mem);
}

/* The pool's allocator, where there is a choice. */
static void allocator_changes_under_stored_pages(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = zswap_area(test);
	char before[32];

	if (zswap_param_get("zpool", before, sizeof(before)) == -ENOENT)
		kunit_skip(test, "zswap has one allocator here");
	KUNIT_EXPECT_EQ_MSG(test, zswap_param_set(test, "zpool", "nonesuch"), -ENOENT,
			    "rule: an allocator that is not there is refused");
	expect_param(test, "zpool", before);
	user_fill(mem, 0, 4);
	user_mix(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	KUNIT_EXPECT_EQ(test, zswap_param_set(test, "zpool", "zsmalloc"), 0);
	expect_param(test, "zpool", "zsmalloc");
	expect_pools(test, strcmp(before, "zsmalloc") ? 2 : 1);
	user_swap_out(mem, 2, 2);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 4U);
	USER_EXPECT_INTACT(test, mem);
}

static struct kunit_case swap_zswap_cases[] = {
	KUNIT_CASE_PARAM(pool_takes_pages, zswap_device_gen_params),
	KUNIT_CASE(disabled_pool_takes_nothing),
	KUNIT_CASE_PARAM(disabled_pool_serves_what_it_has, zswap_device_gen_params),
	KUNIT_CASE_PARAM(freed_slot_leaves_the_pool, zswap_device_gen_params),
	KUNIT_CASE_PARAM(zero_page_is_not_stored, zswap_device_gen_params),
	KUNIT_CASE_PARAM(page_that_does_not_compress, zswap_device_gen_params),
	KUNIT_CASE_PARAM(second_store_replaces_the_first, zswap_device_gen_params),
	KUNIT_CASE_PARAM(newer_copy_on_disk_wins, zswap_device_gen_params),
	KUNIT_CASE_PARAM(newer_copy_refused_by_the_pool_wins, zswap_device_gen_params),
	KUNIT_CASE_PARAM(newer_zero_page_wins, zswap_device_gen_params),
	KUNIT_CASE(full_pool_refuses),
	KUNIT_CASE_PARAM(spoilt_page_is_a_bus_error, zswap_device_gen_params),
	KUNIT_CASE_PARAM(swapoff_empties_the_pool, zswap_device_gen_params),
	KUNIT_CASE_PARAM(load_is_a_stall_for_the_workingset, zswap_warmth_gen_params),
	KUNIT_CASE_PARAM(failed_store_uses_the_disk, zswap_failure_gen_params),
	KUNIT_CASE(no_memory_for_the_tree),
	KUNIT_CASE(full_pool_takes_again_at_the_threshold),
	KUNIT_CASE(spoilt_neighbour_does_no_harm),
	KUNIT_CASE_PARAM(swapoff_marks_a_spoilt_page, zswap_device_gen_params),
	KUNIT_CASE_PARAM(swapoff_leaves_the_other_area_alone, zswap_device_gen_params),
	KUNIT_CASE(switched_on_and_off_while_running),
	KUNIT_CASE_PARAM(compressor_changes_under_stored_pages, zswap_device_gen_params),
	KUNIT_CASE_PARAM(compressor_changes_back, zswap_device_gen_params),
	KUNIT_CASE_PARAM(unknown_compressor_is_refused, zswap_device_gen_params),
	KUNIT_CASE_PARAM(no_memory_for_another_pool, zswap_device_gen_params),
	KUNIT_CASE_PARAM(allocator_changes_under_stored_pages, zswap_device_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap, swap_zswap_cases);

MODULE_DESCRIPTION("KUnit suite of zswap");
MODULE_LICENSE("GPL");
