// SPDX-License-Identifier: GPL-2.0
/*
 * zswap.c: what goes into the pool, what comes out of it, and that the newest
 * copy of a page wins wherever it is.
 */
#include "swap_fixture.h"

struct zswap_device {
	SWAP_PARAM_NAME;
	struct swap_area_config area;
};

static const struct zswap_device zswap_devices[] = {
	{ "zram", { .disk = &FAKE_DISK_ZRAM } },
	{ "ssd", { .disk = &FAKE_DISK_SSD } },
	{ "hdd", { .disk = &FAKE_DISK_HDD } },
};

SWAP_PARAMS(zswap_device, zswap_devices);

static const struct swap_area_config zswap_zram = { .disk = &FAKE_DISK_ZRAM };
static const struct swap_area_config zswap_ssd = { .disk = &FAKE_DISK_SSD };

static struct swap_area *zswap_area(struct kunit *test)
{
	const struct zswap_device *device = swap_param(test);

	swap_kunit_set_zswap(true);
	return swap_area_on(test, &device->area);
}

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
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPOUT) - out, swap_has(ZSWAP_COUNTED) ? 4UL : 0,
			    "rule: each page stored counts once in ZSWPOUT");
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule iv: what is read back is what was last written");
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
	struct swap_area *area = swap_area_on(test, &zswap_zram);
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
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule iv: what is read back is what was last written");
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
	user_memory_drop(mem);
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

	user_write_noise(mem, 0, 7);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(ZSWAP_INCOMPRESSIBLE) ? "A0:0 S0:0" :
			      "A0:0 W0:0");
	KUNIT_EXPECT_TRUE_MSG(test, user_noise_intact(mem, 0, 7),
			      "rule iv: what is read back is what was last written");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* A slot with a page in the swap cache that lives on after it is written. */
static struct folio *zswap_cached(struct kunit *test)
{
	struct folio *folio;
	swp_entry_t entry = swap_alloc_cached(test, &folio);

	KUNIT_ASSERT_NE(test, entry.val, 0UL);
	folio_lock(folio);
	KUNIT_EXPECT_EQ(test, swap_dup_folio(folio), 0);
	folio_unlock(folio);
	return folio;
}

/* Not a page of one word: those may be kept outside the pool. */
static void zswap_fill(struct folio *folio, u64 value)
{
	swap_folio_fill(folio, value);
	((u64 *)folio_address(folio))[PAGE_SIZE / sizeof(u64) - 1] = ~value;
}

/* What the slot's page reads, once it is out of the cache. */
static u64 zswap_read_back(struct kunit *test, struct swap_area *area, struct folio *folio)
{
	swp_entry_t entry = swap_folio_entry(folio);
	u64 value;

	swap_uncache_folio(folio);
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
	struct folio *folio = zswap_cached(test);

	zswap_fill(folio, 0x1111);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 1UL);
	zswap_fill(folio, 0x2222);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 1UL,
			    "rule: the pool has one copy of a slot");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule iv: the newest copy of a page wins");
}

/* The pool has a copy, the next version goes to the disk: that one counts. */
static void newer_copy_on_disk_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = zswap_cached(test);

	zswap_fill(folio, 0x1111);
	swap_write_folio(folio);
	swap_kunit_set_zswap(false);
	zswap_fill(folio, 0x2222);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: a copy that is out of date leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule iv: the newest copy of a page wins");
}

/* Likewise where the pool refuses the newer version. */
static void newer_copy_refused_by_the_pool_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = zswap_cached(test), *other = zswap_cached(test);

	/* An empty pool is not full, whatever its limit. */
	zswap_fill(other, 0x3333);
	swap_write_folio(other);
	zswap_fill(folio, 0x1111);
	swap_write_folio(folio);
	swap_kunit_zswap_limit(0);
	zswap_fill(folio, 0x2222);
	swap_write_folio(folio);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_has(swap_folio_entry(folio)),
			       "rule: a copy that is out of date leaves the pool");
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0x2222ULL,
			    "rule iv: the newest copy of a page wins");
}

/* Likewise where the newer version is a zero page. */
static void newer_zero_page_wins(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = zswap_cached(test);

	SWAP_REQUIRE(test, ZEROMAP);
	swap_folio_fill(folio, 0x1111);
	swap_write_folio(folio);
	swap_folio_fill(folio, 0);
	swap_write_folio(folio);
	KUNIT_EXPECT_EQ_MSG(test, zswap_read_back(test, area, folio), 0ULL,
			    "rule iv: the newest copy of a page wins");
}

/* A full pool: pages go to the disk, and come from there. */
static void full_pool_refuses(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &zswap_zram);
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
	KUNIT_EXPECT_TRUE(test, user_data_intact(mem));
}

/*
 * Writing back: a new page gets a second chance where a shrinker asks, then goes to its slot on the
 * disk, oldest first, and is read from there.
 */
static void old_pages_are_written_back(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct user_memory *mem = user_memory_new(test, 3);
	unsigned long back = swap_vmstat(ZSWPWB);

	user_fill(mem, 0, 3);
	user_mix(mem, 0, 3);
	user_swap_out(mem, 0, 3);
	swap_decisions_skip(test);
	if (swap_has(ZSWAP_SHRINKER))
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_write_back(3), 0UL,
				    "rule: a new page gets a second chance");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_step(NULL, SWAP_NO_TARGET);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(3), 3UL);
	SWAP_EXPECT_DECISIONS(test, area, "W0:0+3");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0 W0:1 W0:2");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(ZSWPWB) - back,
			    swap_has(ZSWAP_WRITEBACK_COUNTED) ? 3UL : 0UL,
			    "rule: each page written back counts once in ZSWPWB");
	user_drop_cache(mem, 0, 3);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule iv: what is read back is what was last written");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 3U);
}

static struct user_memory *reused_from, *reused_by;

/* As memory is found for the writing back: the slot's owner goes, and another has the slot. */
static bool slot_changes_hands(void)
{
	struct user_memory *mem = reused_by;

	reused_by = NULL;
	if (mem) {
		user_memory_drop(reused_from);
		user_page_out(mem, 0, 1);
		user_drop_cache(mem, 0, 1);
	}
	return false;
}

/* A slot reused while its old page is about to be written back: the new page counts. */
static void reused_slot_is_not_written_back(struct kunit *test)
{
	struct user_memory *old = user_memory_new(test, 1);
	struct user_memory *mem = user_memory_at(test, 0x50000000, 1);

	swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_ZRAM, .tail_slots = 1 });
	swap_kunit_set_zswap(true);
	user_fill(old, 0, 1);
	user_mix(old, 0, 1);
	user_fill(mem, 0, 1);
	user_mix(mem, 0, 1);
	user_swap_out(old, 0, 1);
	/* The first look gives a new page a second chance. */
	if (swap_has(ZSWAP_SHRINKER))
		swap_kunit_zswap_write_back(1);
	reused_from = old;
	reused_by = mem;
	swap_arm_seams(test)->fail_swapin_alloc = slot_changes_hands;
	swap_kunit_zswap_write_back(1);
	KUNIT_ASSERT_NULL_MSG(test, reused_by, "the case needs the page to be looked at");
	KUNIT_ASSERT_EQ_MSG(test, user_page_is(mem, 0), USER_PAGE_SWAPPED,
			    "the case needs the slot to be reused");
	/* The new page may be written back in the old one's place, never the old one. */
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule iv: what is read back is what was last written");
}

/* Writing back to a disk that fails: the page stays in memory. */
static void failed_write_back_costs_no_data(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &zswap_ssd);
	struct user_memory *mem = user_memory_new(test, 1);

	swap_kunit_set_zswap(true);
	user_fill(mem, 0, 1);
	user_mix(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_IOERR);
	swap_kunit_zswap_write_back(1);
	swap_kunit_zswap_write_back(1);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
	user_drop_cache(mem, 0, 1);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, 0),
			      "rule: a page that could not be written stays in memory");
	KUNIT_EXPECT_TRUE(test, user_data_intact(mem));
}

/* A page somebody has in the swap cache is not written back from the pool. */
static void cached_page_is_not_written_back(struct kunit *test)
{
	struct swap_area *area = zswap_area(test);
	struct folio *folio = zswap_cached(test);

	zswap_fill(folio, 0x1111);
	swap_write_folio(folio);
	swap_kunit_zswap_write_back(1);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(1), 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 1UL,
			    "rule: what is in the swap cache is not written back from the pool");
	SWAP_EXPECT_BIOS(test, area->disk, "");
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
	user_memory_drop(mem);
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
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule iv: what is read back is what was last written");
}

/* Every page read from the disk counts for the pool's protection, wanted or not. */
static void reads_from_disk_are_counted(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &zswap_ssd);
	struct user_memory *mem = user_memory_new(test, 8);
	long before;

	SWAP_REQUIRE(test, ZSWAP_SWAPIN_COUNT);
	user_fill(mem, 0, 8);
	user_swap_out(mem, 0, 4);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 4, 4);
	before = swap_kunit_disk_swapins();
	KUNIT_EXPECT_TRUE(test, user_data_intact(mem));
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 4U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins() - before, 4L,
			    "rule: what is read from the disk counts, what the pool serves does not");
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
	KUNIT_CASE_PARAM(old_pages_are_written_back, zswap_device_gen_params),
	KUNIT_CASE(reused_slot_is_not_written_back),
	KUNIT_CASE(failed_write_back_costs_no_data),
	KUNIT_CASE_PARAM(cached_page_is_not_written_back, zswap_device_gen_params),
	KUNIT_CASE_PARAM(spoilt_page_is_a_bus_error, zswap_device_gen_params),
	KUNIT_CASE_PARAM(swapoff_empties_the_pool, zswap_device_gen_params),
	KUNIT_CASE(reads_from_disk_are_counted),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap, swap_zswap_cases);

MODULE_DESCRIPTION("KUnit suite of zswap");
MODULE_LICENSE("GPL");
