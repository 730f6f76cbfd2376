// SPDX-License-Identifier: GPL-2.0
/*
 * The entries of the swap cache: when a cached slot is freed, which shadow
 * reclaim leaves, and which slots get a folio to read into.
 */
#include <linux/mman.h>
#include "swap_fixture.h"

static int read_ahead(struct user_memory *mem, unsigned int first, unsigned int nr)
{
	return do_madvise(mem->mm, mem->start + first * PAGE_SIZE, nr * PAGE_SIZE, MADV_WILLNEED);
}

/* An exit frees the slots of mapped pages. */
static void exit_frees_mapped_slots(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 40);
	unsigned int page;

	for (page = 0; page < 40; page++)
		user_fault(mem, page);
	swap_decisions_skip(test);
	user_memory_exit(mem);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0+40");
}

/* It frees those of pages that were read ahead and never touched, too. */
static void exit_frees_slots_read_ahead(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 8);

	read_ahead(mem, 2, 4);
	swap_decisions_skip(test);
	user_memory_exit(mem);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(RANGE_FREED) ?
			      "F0:0+2 F0:6+2 F0:2+4" : "F0:0+8");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 0UL);
}

/* A slot that another process refers to stays in use. */
static void exit_leaves_shared_slots(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 4);
	swp_entry_t entry = user_share_slot(mem, 1);
	struct swap_slot_facts facts;

	user_fault(mem, 1);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1,
			    "rule: a slot is freed with its last reference");
	swap_free_slot(entry);
	/* Older kernels keep its page in the swap cache, and the slot with it. */
	swap_slot_facts(area, swp_offset(entry), &facts);
	KUNIT_EXPECT_EQ(test, facts.count, 0U);
}

/* The last reference to a folio frees its slot, unless the folio is locked. */
static void last_reference_frees_the_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct folio *folio;

	KUNIT_ASSERT_NE(test, swap_alloc_cached(test, &folio).val, 0UL);
	swap_decisions_skip(test);
	folio_get(folio);
	folio_lock(folio);
	swap_free_folio_and_cache(folio);
	SWAP_EXPECT_DECISIONS(test, area, "");
	folio_unlock(folio);
	folio_get(folio);
	swap_free_folio_and_cache(folio);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0");
}

static unsigned long refaults(void)
{
	swap_fold_counters();
	return global_node_page_state(WORKINGSET_REFAULT_ANON);
}

/* Reclaim leaves a shadow. Reading the page back is a refault, counted once. */
static void refault_is_counted(struct kunit *test)
{
	struct user_memory *mem;
	unsigned long before;
	swp_entry_t entry;

	swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = user_memory_swapped(test, 4);
	entry = user_entry(mem, 1);
	KUNIT_EXPECT_NOT_NULL_MSG(test, swap_kunit_shadow(entry),
				  "rule: reclaim leaves a shadow");
	before = refaults();
	read_ahead(mem, 1, 1);
	KUNIT_EXPECT_NULL_MSG(test, swap_kunit_shadow(entry),
			      "rule: the page replaces its shadow");
	KUNIT_EXPECT_EQ_MSG(test, refaults() - before, 1UL,
			    "rule: reading a page that has a shadow is a refault");
	user_fault(mem, 1);
	user_fault(mem, 2);
	KUNIT_EXPECT_EQ_MSG(test, refaults() - before, 2UL,
			    "rule: reading a page that has a shadow is a refault");
}

/* A page that leaves the cache without being reclaimed leaves no shadow. */
static void drop_leaves_no_shadow(struct kunit *test)
{
	struct user_memory *mem;
	unsigned long before;

	swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = user_memory_swapped(test, 4);
	KUNIT_EXPECT_NOT_NULL_MSG(test, swap_kunit_shadow(user_entry(mem, 1)),
				  "rule: reclaim leaves a shadow");
	read_ahead(mem, 1, 1);
	KUNIT_EXPECT_TRUE(test, swap_reclaim_cached(user_entry(mem, 1)));
	KUNIT_EXPECT_NULL_MSG(test, swap_kunit_shadow(user_entry(mem, 1)),
			      "rule: only reclaim leaves a shadow that makes the next read a refault");
	before = refaults();
	read_ahead(mem, 1, 1);
	KUNIT_EXPECT_EQ_MSG(test, refaults() - before, 0UL,
			    "rule: only reclaim leaves a shadow that makes the next read a refault");
}

/* If a page cannot be charged, its slot and shadow stay. */
static void failed_charge_keeps_the_shadow(struct kunit *test)
{
	struct swap_area *area;
	struct user_memory *mem;
	void *shadow;

	SWAP_REQUIRE_CONFIG(test, MEMCG);
	area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = user_memory_swapped(test, 4);
	shadow = swap_kunit_shadow(user_entry(mem, 1));
	KUNIT_EXPECT_NOT_NULL_MSG(test, shadow, "rule: reclaim leaves a shadow");
	swap_fail(test, SWAP_FAIL_SWAPIN_CHARGE, 1, SWAP_FAIL_ALL);
	read_ahead(mem, 0, 4);
	swap_fail(test, SWAP_FAIL_SWAPIN_CHARGE, 1, 0);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_FALSE(test, user_page_cached(mem, 1));
	KUNIT_EXPECT_PTR_EQ_MSG(test, swap_kunit_shadow(user_entry(mem, 1)), shadow,
				"rule: a failed charge leaves the shadow");
}

/* A device that can no longer be pinned is not read. */
static void dying_device_is_not_read(struct kunit *test)
{
	struct user_memory *mem;
	struct swap_area *area;

	SWAP_REQUIRE(test, AREA_USERS);
	area = swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = user_memory_swapped(test, 4);
	swap_kunit_kill_users(area->si);
	read_ahead(mem, 0, 4);
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_kunit_revive_users(area->si);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 1),
			       "rule: a device that cannot be pinned is not read");
}

/* A cached page that is migrated keeps its slot and its contents. */
static void cached_page_is_migrated(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 4);
	struct folio *before, *after;
	swp_entry_t entry;

	if (!IS_ENABLED(CONFIG_MIGRATION))
		kunit_skip(test, "CONFIG_MIGRATION is not set");
	user_fill(mem, 0, 4);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 1, 1);
	fake_disk_release(area->disk);
	entry = user_entry(mem, 1);
	before = swap_cached_folio(entry);
	KUNIT_ASSERT_NOT_NULL(test, before);
	folio_put(before);
	KUNIT_EXPECT_EQ(test, swap_migrate_cached(test, entry), 0);
	after = swap_cached_folio(entry);
	KUNIT_ASSERT_NOT_NULL(test, after);
	folio_put(after);
	KUNIT_EXPECT_PTR_NE(test, before, after);
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 1), 0U,
			    "rule: a migrated page is found in the swap cache");
	SWAP_EXPECT_DECISIONS(test, area, "");
	USER_EXPECT_INTACT(test, mem);
}

/* show_mem() reports the pages in the swap cache. */
static void show_mem_counts_cached_pages(struct kunit *test)
{
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = user_memory_swapped(test, 8);
	read_ahead(mem, 0, 5);
	swap_fold_counters();
	swap_expect_report(test, "5 pages in swap cache");
	swap_kunit_show_cache_info();
}

/* A folio to read into is allocated only for a slot in use that is not cached. */
struct target_case {
	SWAP_PARAM_NAME;
	bool used;
	bool cached;
	int err;
};

static const struct target_case targets[] = {
	{ .name = "swapped out", .used = true },
	{ .name = "free", .err = -ENOENT },
	{ .name = "cached", .used = true, .cached = true, .err = -EEXIST },
};

SWAP_PARAMS(targets, targets);

static void folio_is_for_an_uncached_slot_in_use(struct kunit *test)
{
	const struct target_case *c = swap_param(test);
	struct user_memory *mem;
	struct folio *folio;
	swp_entry_t target;

	SWAP_REQUIRE(test, SWAPIN_LARGE_CACHED);
	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = user_memory_swapped(test, 4);
	target = user_entry(mem, 1);
	if (!c->used)
		user_fault_write(mem, 1);
	if (c->cached)
		read_ahead(mem, 1, 1);
	folio = swap_kunit_cache_alloc(target, BIT(0));
	KUNIT_EXPECT_EQ_MSG(test, (int)PTR_ERR_OR_ZERO(folio), c->err,
			    "rule: a folio is allocated only for a slot in use that is not cached");
	if (IS_ERR(folio))
		return;
	KUNIT_EXPECT_TRUE(test, swap_kunit_cache_has(target));
	swap_folio_del_put(folio);
	KUNIT_EXPECT_FALSE(test, swap_kunit_cache_has(target));
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 1), USER_PAGE_SWAPPED);
}

/*
 * A large folio is allocated only if all its slots are in use, none is cached,
 * and all or none are zero-filled.
 */
struct large_case {
	SWAP_PARAM_NAME;
	enum { ALIKE, FREED, CACHED, ZERO } last;
	int err;
};

static const struct large_case larges[] = {
	{ .name = "all alike", .last = ALIKE },
	{ .name = "one free", .last = FREED, .err = -EBUSY },
	{ .name = "one cached", .last = CACHED, .err = -EBUSY },
	{ .name = "one zero-filled", .last = ZERO, .err = -EBUSY },
};

SWAP_PARAMS(larges, larges);

static void large_folio_is_for_slots_alike(struct kunit *test)
{
	const struct large_case *c = swap_param(test);
	struct user_memory *mem;
	struct swap_area *area;
	struct folio *folio;

	SWAP_REQUIRE(test, SWAPIN_LARGE_CACHED);
	area = swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = user_memory_new(test, 8);
	user_fill(mem, 0, 8);
	if (c->last == ZERO)
		user_write(mem, 7, 0);
	user_swap_out(mem, 0, 8);
	if (c->last == FREED)
		user_fault_write(mem, 7);
	user_reclaim_cached(mem, 0, 7);
	if (c->last == CACHED)
		read_ahead(mem, 7, 1);
	swap_decisions_skip(test);
	folio = swap_kunit_cache_alloc_order(user_entry(mem, 5), 2);
	KUNIT_EXPECT_EQ_MSG(test, (int)PTR_ERR_OR_ZERO(folio), c->err,
			    "rule: a large folio is allocated only for slots that are all alike");
	if (IS_ERR(folio))
		return;
	KUNIT_EXPECT_EQ(test, swp_offset(swap_folio_entry(folio)), swap_slot_at(area, 0, 4));
	swap_folio_del_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 7), USER_PAGE_SWAPPED);
}

/* A slot without references is freed with its large folio; the others stay in use. */
static void slots_outlive_their_large_folio(struct kunit *test)
{
	struct swap_area *area;
	struct folio *folio;
	swp_entry_t slots[8];
	unsigned int i;

	SWAP_REQUIRE(test, SWAPIN_LARGE_CACHED);
	area = swap_area_on(test, &SWAP_AREA_SSD_1);
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, 8, slots), 8U);
	folio = swap_kunit_cache_alloc_order(slots[5], 2);
	KUNIT_EXPECT_FALSE(test, IS_ERR(folio));
	swap_decisions_skip(test);
	swap_free_slot(slots[6]);
	SWAP_EXPECT_DECISIONS(test, area, "");
	if (!IS_ERR(folio))
		swap_folio_del_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "F0:6");
	for (i = 0; i < 8; i++)
		if (i != 6)
			swap_free_slot(slots[i]);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0+6 F0:7");
}

static void read_slot_meanwhile(void *ctx)
{
	struct folio *folio = swap_read_slot(*(swp_entry_t *)ctx);

	if (folio)
		folio_put(folio);
}

/* If another reader caches the slot while the fault allocates a folio, the fault uses that one. */
static void concurrent_read_is_used(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_swapped(test, 4);
	swp_entry_t slot = user_entry(mem, 3);

	swap_kunit_set_page_cluster(0);
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1, read_slot_meanwhile, &slot);
	KUNIT_EXPECT_EQ(test, user_fault(mem, 3) & VM_FAULT_ERROR, 0U);
	KUNIT_EXPECT_EQ_MSG(test, fake_disk_bios(area->disk, FAKE_DISK_READ), 1U,
			    "rule: a slot that another reader has cached is not read again");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 3), USER_PAGE_PRESENT);
}

/* Asking for a folio of no order at all is refused with a warning. */
static void empty_order_mask_is_refused(struct kunit *test)
{
	struct user_memory *mem;

	SWAP_REQUIRE(test, SWAPIN_LARGE_CACHED);
	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = user_memory_swapped(test, 1);
	swap_expect_report(test, "WARNING");
	KUNIT_EXPECT_EQ(test, PTR_ERR(swap_kunit_cache_alloc(user_entry(mem, 0), 0)),
			(long)-EINVAL);
}

static struct kunit_case swap_cache_entries_cases[] = {
	KUNIT_CASE(exit_frees_mapped_slots),
	KUNIT_CASE(exit_frees_slots_read_ahead),
	KUNIT_CASE(exit_leaves_shared_slots),
	KUNIT_CASE(last_reference_frees_the_slot),
	KUNIT_CASE(refault_is_counted),
	KUNIT_CASE(drop_leaves_no_shadow),
	KUNIT_CASE(failed_charge_keeps_the_shadow),
	KUNIT_CASE(dying_device_is_not_read),
	KUNIT_CASE(cached_page_is_migrated),
	KUNIT_CASE(show_mem_counts_cached_pages),
	KUNIT_CASE_PARAM(folio_is_for_an_uncached_slot_in_use, targets_gen_params),
	KUNIT_CASE_PARAM(large_folio_is_for_slots_alike, larges_gen_params),
	KUNIT_CASE(slots_outlive_their_large_folio),
	KUNIT_CASE(concurrent_read_is_used),
	KUNIT_CASE(empty_order_mask_is_refused),
	{}
};

SWAP_KUNIT_SUITE(swap_cache_entries, swap_cache_entries_cases);

MODULE_DESCRIPTION("KUnit suite of the swap cache's folios and shadows");
MODULE_LICENSE("GPL");
