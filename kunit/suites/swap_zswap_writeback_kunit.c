// SPDX-License-Identifier: GPL-2.0
/*
 * zswap.c: which pages of the pool are written back to the disk, and in which
 * order.
 */
#include "swap_fixture.h"
#include <linux/shrinker.h>

static const struct swap_device devices[] = { SWAP_DEVICES_PLAIN() };

SWAP_PARAMS(device, devices);

/* Pages in the pool that have used up their second chance. */
static struct user_memory *zswap_old_pages(struct kunit *test, unsigned int nr)
{
	struct user_memory *mem = user_memory_new(test, nr);

	swap_kunit_set_zswap(true);
	user_fill_mixed(mem, 0, nr);
	user_swap_out(mem, 0, nr);
	zswap_age(test, NULL, nr);
	swap_decisions_skip(test);
	swap_step(NULL, SWAP_NO_TARGET);
	return mem;
}

/*
 * Old pages are written back to their slots on the disk, oldest first. Some kernels give
 * new pages a second chance.
 */
static void old_pages_are_written_back(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 3);
	unsigned long back = swap_vmstat(ZSWPWB);

	user_fill_mixed(mem, 0, 3);
	user_swap_out(mem, 0, 3);
	swap_decisions_skip(test);
	zswap_age(test, NULL, 3);
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_step(NULL, SWAP_NO_TARGET);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(3), 3UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:0+3");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0 W0:1 W0:2");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPWB) - back,
			    swap_has(ZSWAP_WRITEBACK_COUNTED) ? 3UL : 0UL,
			    "rule: ZSWPWB counts each page that is written back once");
	user_reclaim_cached(mem, 0, 3);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 3U,
			    "rule: a page that is written back leaves memory, and is read from the disk");
}

/* Where the new page of a reused slot goes. */
struct reuse {
	SWAP_PARAM_NAME;
	bool pool;
};

static const struct reuse reuses[] = {
	{ "to the disk", .pool = false },
	{ "to the pool", .pool = true },
};

SWAP_PARAMS(reuse, reuses);

static struct user_memory *reused_from, *reused_by;
static bool reused_in_pool;

/* While a folio for the writeback is allocated, the slot is freed and reused. */
static void reuse_slot(void *ctx)
{
	swap_kunit_set_zswap(reused_in_pool);
	user_memory_exit(reused_from);
	user_page_out(reused_by, 0, 1);
	user_reclaim_cached(reused_by, 0, 1);
	reused_by = NULL;
}

/*
 * "mm: fix zswap writeback race condition": a page whose slot is reused when its
 * writeback begins is not written over the new page.
 */
static void reused_slot_is_not_written_back(struct kunit *test)
{
	const struct reuse *reuse = swap_param(test);
	struct user_memory *old = user_memory_new(test, 1);
	struct user_memory *mem = user_memory_at(test, 0x50000000, 1);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
					      .disk = &FAKE_DISK_ZRAM, .tail_slots = 1 });

	swap_kunit_set_zswap(true);
	user_fill_mixed(old, 0, 1);
	user_fill_mixed(mem, 0, 1);
	user_swap_out(old, 0, 1);
	zswap_age(test, NULL, 1);
	reused_from = old;
	reused_by = mem;
	reused_in_pool = reuse->pool;
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1, reuse_slot, NULL);
	swap_kunit_zswap_write_back(1);
	KUNIT_ASSERT_NULL_MSG(test, reused_by, "writeback must look at the page");
	KUNIT_ASSERT_EQ_MSG(test, user_page_is(mem, 0), USER_PAGE_SWAPPED,
			    "the slot must be reused");
	/* The new page may be written back instead, the old one never. */
	if (!reuse->pool)
		KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_WRITE), 1U,
				    "rule: a page whose slot was reused is not written back");
	USER_EXPECT_INTACT(test, mem);
}

/* A page whose writeback fails stays in memory. */
static void failed_writeback_loses_no_data(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 1);

	swap_kunit_set_zswap(true);
	user_fill_mixed(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_IOERR);
	swap_kunit_zswap_write_back(1);
	swap_kunit_zswap_write_back(1);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	user_reclaim_cached(mem, 0, 1);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, 0),
			      "rule: a page whose writeback failed stays in memory");
	USER_EXPECT_INTACT(test, mem);
}

/* A page in the swap cache is not written back. */
static void cached_page_is_not_written_back(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = swap_alloc_owned(test);

	swap_folio_mix(folio, 0x1111);
	swap_write_folio(folio);
	swap_kunit_zswap_write_back(1);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 1UL,
			    "rule: a page in the swap cache is not written back");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* The oldest page is written back first, and a page stored since then last. */
static void oldest_page_goes_first(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = zswap_old_pages(test, 4);

	SWAP_REQUIRE(test, ZSWAP_SECOND_CHANCE);
	user_fault(mem, 0);
	user_fill_mixed(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	swap_decisions_skip(test);
	swap_step(NULL, SWAP_NO_TARGET);
	swap_rule(test, "the oldest page is written back first, the newest last");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 1UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:1");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 1UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:2");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_write_back(2), 1UL,
			    "rule: a new page gets a second chance");
	SWAP_EXPECT_DECISIONS(test, area, "W0:3");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 1UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:4");
}

/* Without memory to decompress a page, it stays in the pool, and the failure is counted. */
struct lack {
	SWAP_PARAM_NAME;
	enum swap_fail_point point;
};

static const struct lack lacks[] = {
	{ "no folio", SWAP_FAIL_SWAPIN_ALLOC },
	{ "no charge", SWAP_FAIL_SWAPIN_CHARGE },
};

SWAP_PARAMS(lack, lacks);

static void writeback_without_memory_is_repeated(struct kunit *test)
{
	const struct lack *lack = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = zswap_old_pages(test, 1);
	u64 failed = swap_kunit_zswap_counter(SWAP_ZSWAP_RECLAIM_FAIL);
	u64 written = swap_kunit_zswap_counter(SWAP_ZSWAP_WRITTEN_BACK);

	swap_fail(test, lack->point, 1, SWAP_FAIL_ALL);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 0UL);
	swap_fail(test, lack->point, 1, 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 1UL,
			    "rule: a page that cannot be written back stays in the pool");
	if (swap_has(ZSWAP_SHRINKER))
		KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_RECLAIM_FAIL) - failed,
				1ULL);
	KUNIT_EXPECT_FALSE(test, user_page_cached(mem, 0));
	SWAP_EXPECT_BIOS(test, area->disk, "");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_write_back(1), 1UL,
			    "rule: a failed writeback is repeated");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_WRITTEN_BACK) - written, 1ULL);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0");
}

/* A page that could not be written back is the last to be tried again. */
static void failed_page_goes_last(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = zswap_old_pages(test, 2);

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 0UL);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 1UL);
	swap_rule(test, "a page whose writeback failed goes to the end of the list");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:1");
	USER_EXPECT_INTACT(test, mem);
}

/* A page that cannot be decompressed is not written back. */
static void corrupt_page_is_not_written_back(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem;
	u64 failed = swap_kunit_zswap_counter(SWAP_ZSWAP_DECOMPRESS_FAIL);

	SWAP_REQUIRE(test, ZSWAP_DECOMPRESS_ERROR);
	swap_data_lost(test);
	mem = zswap_old_pages(test, 2);
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_corrupt(user_entry(mem, 0)));
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(2), 1UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:1");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_DECOMPRESS_FAIL) - failed, 1ULL);
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_zswap_has(user_entry(mem, 0)),
			      "rule: a page that cannot be decompressed stays in the pool");
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 0),
			       "rule: a page that cannot be decompressed is not in the swap cache");
	KUNIT_EXPECT_TRUE(test, user_fault(mem, 0) & VM_FAULT_SIGBUS);
	user_memory_exit(mem);
}

/* An incompressible page is written back as it is. */
static void incompressible_page_is_written_back(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 1);

	SWAP_REQUIRE(test, ZSWAP_INCOMPRESSIBLE);
	swap_kunit_set_zswap(true);
	user_write_noise(mem, 0, 9);
	user_swap_out(mem, 0, 1);
	swap_kunit_zswap_write_back(1);
	swap_step(NULL, SWAP_NO_TARGET);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 1UL);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 S0:0 W0:0");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_counter(SWAP_ZSWAP_INCOMPRESSIBLE), 0ULL,
			    "rule: incompressible pages are counted while they are in the pool");
	user_reclaim_cached(mem, 0, 1);
	KUNIT_EXPECT_TRUE_MSG(test, user_noise_intact(mem, 0, 9),
			      "rule: what is read back is what was last written");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 1U,
			    "rule: a page that is written back leaves memory, and is read from the disk");
}

/*
 * The shrinker stops at the first page that is in the swap cache: pages after it are assumed to be
 * in use.
 */
static void shrinker_stops_at_a_cached_page(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct folio *folio = swap_alloc_owned(test);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_READS_PROTECT);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	swap_kunit_set_zswap(true);
	swap_folio_mix(folio, 0x1111);
	swap_write_folio(folio);
	mem = zswap_old_pages(test, 3);
	/* The cached page is the oldest, and has used up its second chance, too. */
	swap_kunit_zswap_write_back(1);
	swap_decisions_skip(test);
	swap_rule(test, "the shrinker stops at a page that is in the swap cache");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(NULL, 4), SHRINK_STOP);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 4UL);
	USER_EXPECT_INTACT(test, mem);
}

/* An enabled shrinker writes back as many pages as it is asked to scan. */
static void shrinker_writes_the_pages_it_scans(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_READS_PROTECT);
	mem = zswap_old_pages(test, 4);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "N"), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_shrink(NULL, 3), SHRINK_STOP,
			    "rule: a disabled shrinker writes nothing");
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(NULL, 3), 3UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:0+3");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(NULL, 3), 1UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_shrink(NULL, 3), SHRINK_STOP,
			    "rule: a shrinker that finds nothing returns SHRINK_STOP");
	user_reclaim_cached(mem, 0, 4);
	USER_EXPECT_INTACT(test, mem);
}

/* Hit the limit again and again until the worker has shrunk the pool to @pool_pages. */
static unsigned int zswap_hit_the_limit(struct user_memory *mem, unsigned int page,
					unsigned long pool_pages)
{
	unsigned int times = 0;

	while (swap_kunit_zswap_pool_pages() > pool_pages && times++ < 400) {
		user_fill(mem, page, 1);
		user_page_out(mem, page, 1);
		swap_kunit_zswap_settle();
	}
	return times;
}

/* A full pool is written back down to the accept threshold, oldest page first. */
static void full_pool_is_written_back_to_the_threshold(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
					      .disk = &FAKE_DISK_ZRAM, .clusters = 12 });
	unsigned long percent = zswap_one_percent(test), threshold = percent / 2;
	struct user_memory *mem = user_memory_new(test, 4 * percent);
	unsigned int page = 0;

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	swap_kunit_set_zswap(true);
	while (page < mem->pages - 1 && swap_kunit_zswap_pool_pages() <= percent) {
		user_fill_coarse(mem, page, 1);
		user_swap_out(mem, page++, 1);
	}
	KUNIT_ASSERT_LT(test, page, mem->pages - 1);
	swap_decisions_skip(test);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "max_pool_percent", "1"), 0);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "accept_threshold_percent", "50"), 0);
	KUNIT_EXPECT_GT(test, zswap_hit_the_limit(mem, page, threshold), 0U);
	KUNIT_EXPECT_LE_MSG(test, swap_kunit_zswap_pool_pages(), threshold,
			    "rule: a full pool shrinks to accept_threshold_percent");
	KUNIT_EXPECT_GE_MSG(test, swap_kunit_zswap_pool_pages(), threshold * 9 / 10,
			    "rule: a full pool does not shrink below accept_threshold_percent");
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_has(user_entry(mem, 0)),
			       "rule: the oldest page is written back first, the newest last");
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_zswap_has(user_entry(mem, page - 1)),
			      "rule: the oldest page is written back first, the newest last");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_GT(test, swap_decisions_count(area, SWAP_READ), 0U);
}

static struct kunit_case swap_zswap_writeback_cases[] = {
	KUNIT_CASE_PARAM(old_pages_are_written_back, device_gen_params),
	KUNIT_CASE(oldest_page_goes_first),
	KUNIT_CASE_PARAM(reused_slot_is_not_written_back, reuse_gen_params),
	KUNIT_CASE(failed_writeback_loses_no_data),
	KUNIT_CASE_PARAM(cached_page_is_not_written_back, device_gen_params),
	KUNIT_CASE(failed_page_goes_last),
	KUNIT_CASE_PARAM(writeback_without_memory_is_repeated, lack_gen_params),
	KUNIT_CASE(corrupt_page_is_not_written_back),
	KUNIT_CASE(incompressible_page_is_written_back),
	KUNIT_CASE(shrinker_stops_at_a_cached_page),
	KUNIT_CASE(shrinker_writes_the_pages_it_scans),
	KUNIT_CASE(full_pool_is_written_back_to_the_threshold),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap_writeback, swap_zswap_writeback_cases);

MODULE_DESCRIPTION("KUnit suite of zswap's writeback");
MODULE_LICENSE("GPL");
