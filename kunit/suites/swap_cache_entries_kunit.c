// SPDX-License-Identifier: GPL-2.0
/*
 * The swap cache: pages that have a slot and are in memory, too. Who lets go of
 * the slot, what is remembered of reclaimed pages, how pages are replaced.
 */
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

static struct user_memory *swapped_memory(struct kunit *test, unsigned int pages)
{
	struct user_memory *mem = user_memory_new(test, pages);

	user_fill(mem, 0, pages);
	user_swap_out(mem, 0, pages);
	swap_decisions_skip(test);
	return mem;
}

static int read_ahead(struct user_memory *mem, unsigned int first, unsigned int nr)
{
	return do_madvise(mem->mm, mem->start + first * PAGE_SIZE, nr * PAGE_SIZE, MADV_WILLNEED);
}

/* A process that goes takes the slots of its mapped pages along. */
static void exit_frees_cached_slots(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 40);
	unsigned int page;

	for (page = 0; page < 40; page++)
		user_fault(mem, page);
	swap_decisions_skip(test);
	user_memory_exit(mem);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0+40");
}

/* And those of pages read ahead that it never touched. */
static void exit_frees_slots_read_ahead(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 8);
	struct swap_area_facts facts;

	read_ahead(mem, 2, 4);
	swap_decisions_skip(test);
	user_memory_exit(mem);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(RANGE_FREED) ?
			      "F0:0+2 F0:6+2 F0:2+4" : "F0:0+8");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.inuse, 0UL);
}

/* A slot that others have stays theirs. */
static void exit_leaves_what_others_have(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 4);
	swp_entry_t entry = user_share_slot(mem, 1);
	struct swap_slot_facts facts;

	user_fault(mem, 1);
	user_memory_exit(mem);
	swap_slot_facts(area, swp_offset(entry), &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.count, 1U,
			    "rule: a slot goes with the last who has it");
	swap_free_slot(entry);
	swap_slot_facts(area, swp_offset(entry), &facts);
	KUNIT_EXPECT_EQ(test, facts.count, 0U);
}

/* Its last user lets go of a page: the slot is free, unless the page is locked just then. */
static void last_user_frees_the_slot(struct kunit *test)
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

/* Reclaim leaves a shadow; coming back soon is a refault, counted once. */
static void refault_is_counted(struct kunit *test)
{
	struct user_memory *mem;
	unsigned long before;
	swp_entry_t entry;

	swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = swapped_memory(test, 4);
	entry = user_entry(mem, 1);
	KUNIT_EXPECT_NOT_NULL_MSG(test, swap_kunit_shadow(entry),
				  "rule: reclaim leaves a shadow of the page");
	before = refaults();
	read_ahead(mem, 1, 1);
	KUNIT_EXPECT_NULL_MSG(test, swap_kunit_shadow(entry),
			      "rule: the page takes its shadow's place");
	KUNIT_EXPECT_EQ_MSG(test, refaults() - before, 1UL,
			    "rule: a page read while its shadow is there is a refault");
	user_fault(mem, 1);
	user_fault(mem, 2);
	KUNIT_EXPECT_EQ_MSG(test, refaults() - before, 2UL,
			    "rule: a page read while its shadow is there is a refault");
}

/* A page dropped without being reclaimed leaves none. */
static void drop_leaves_no_shadow(struct kunit *test)
{
	struct user_memory *mem;
	unsigned long before;

	swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = swapped_memory(test, 4);
	read_ahead(mem, 1, 1);
	KUNIT_EXPECT_TRUE(test, swap_reclaim_cached(user_entry(mem, 1)));
	KUNIT_EXPECT_NULL_MSG(test, swap_kunit_shadow(user_entry(mem, 1)),
			      "rule: only reclaim leaves a shadow, and makes a read a refault");
	before = refaults();
	read_ahead(mem, 1, 1);
	KUNIT_EXPECT_EQ_MSG(test, refaults() - before, 0UL,
			    "rule: only reclaim leaves a shadow, and makes a read a refault");
}

/* A page that cannot be charged leaves slot and shadow as they were. */
static void failed_charge_keeps_the_shadow(struct kunit *test)
{
	struct swap_area *area;
	struct user_memory *mem;
	void *shadow;

	SWAP_REQUIRE_CONFIG(test, CONFIG_MEMCG);
	area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = swapped_memory(test, 4);
	shadow = swap_kunit_shadow(user_entry(mem, 1));
	swap_fail(test, SWAP_FAIL_SWAPIN_CHARGE, 1, SWAP_FAIL_ALL);
	read_ahead(mem, 0, 4);
	swap_fail(test, SWAP_FAIL_SWAPIN_CHARGE, 1, 0);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_FALSE(test, user_page_cached(mem, 1));
	KUNIT_EXPECT_PTR_EQ_MSG(test, swap_kunit_shadow(user_entry(mem, 1)), shadow,
				"rule: a failed read leaves the shadow");
}

/* A device nobody can pin any more is not read from. */
static void closed_device_is_not_read(struct kunit *test)
{
	struct user_memory *mem;
	struct swap_area *area;

	SWAP_REQUIRE(test, AREA_USERS);
	area = swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = swapped_memory(test, 4);
	swap_kunit_kill_users(area->si);
	read_ahead(mem, 0, 4);
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_kunit_revive_users(area->si);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 1),
			       "rule: nothing is read from a device that cannot be pinned");
}

/* A page of the swap cache moves in memory; its slot and its contents stay. */
static void cached_page_is_migrated(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 4);
	struct folio *before, *after;
	swp_entry_t entry;

	if (!IS_ENABLED(CONFIG_MIGRATION))
		kunit_skip(test, "this kernel lacks: page migration");
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

/* What show_mem() says of the swap cache. */
static void show_mem_counts_cached_pages(struct kunit *test)
{
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = swapped_memory(test, 8);
	read_ahead(mem, 0, 5);
	swap_fold_counters();
	swap_expect_report(test, "5 pages in swap cache");
	swap_kunit_show_cache_info();
}

/* A folio to read into is for a slot in use that is not in the swap cache yet. */
struct target_case {
	SWAP_PARAM_NAME;
	bool used;
	bool cached;
	int err;
};

static const struct target_case targets[] = {
	{ "swapped out", true, false, 0 },
	{ "free", false, false, -ENOENT },
	{ "cached", true, true, -EEXIST },
};

SWAP_PARAMS(targets, targets);

static void folio_to_read_into(struct kunit *test)
{
	const struct target_case *c = swap_param(test);
	struct user_memory *mem;
	struct folio *folio;
	swp_entry_t target;

	SWAP_REQUIRE(test, SWAPIN_LARGE_CACHED);
	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = swapped_memory(test, 4);
	target = user_entry(mem, 1);
	if (!c->used)
		user_fault_write(mem, 1);
	if (c->cached)
		read_ahead(mem, 1, 1);
	folio = swap_kunit_cache_alloc(target, BIT(0));
	KUNIT_EXPECT_EQ_MSG(test, (int)PTR_ERR_OR_ZERO(folio), c->err,
			    "rule: a folio to read into is for a slot in use and not cached");
	if (IS_ERR(folio))
		return;
	KUNIT_EXPECT_TRUE(test, swap_kunit_cache_has(target));
	swap_folio_del_put(folio);
	KUNIT_EXPECT_FALSE(test, swap_kunit_cache_has(target));
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 1), USER_PAGE_SWAPPED);
}

/*
 * A large folio is for slots that are all in use, in nobody's cache, and alike
 * in being zero-filled or not.
 */
struct large_case {
	SWAP_PARAM_NAME;
	enum { ALIKE, FREED, CACHED, ZERO } last;
	int err;
};

static const struct large_case larges[] = {
	{ "all alike", ALIKE, 0 },
	{ "one free", FREED, -EBUSY },
	{ "one cached", CACHED, -EBUSY },
	{ "one zero-filled", ZERO, -EBUSY },
};

SWAP_PARAMS(larges, larges);

static void large_folio_to_read_into(struct kunit *test)
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
			    "rule: a large folio is for slots that are all alike");
	if (IS_ERR(folio))
		return;
	KUNIT_EXPECT_EQ(test, swp_offset(swap_folio_entry(folio)), swap_slot_at(area, 0, 4));
	swap_folio_del_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 7), USER_PAGE_SWAPPED);
}

/* One slot's last user goes: it is free when the folio lets go of it, the others not. */
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

static struct swap_area *race_area;
static swp_entry_t race_slot;

static void read_slot_meanwhile(void *ctx)
{
	struct folio *folio = swap_read_slot(race_area, race_slot);

	if (folio)
		folio_put(folio);
}

/* Read by somebody else while its folio is allocated: the fault takes that one. */
static void slot_read_meanwhile_is_taken(struct kunit *test)
{
	struct user_memory *mem;

	race_area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	mem = swapped_memory(test, 4);
	race_slot = user_entry(mem, 3);
	swap_set_page_cluster(0);
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1, read_slot_meanwhile, NULL);
	KUNIT_EXPECT_EQ(test, user_fault(mem, 3) & VM_FAULT_ERROR, 0U);
	KUNIT_EXPECT_EQ_MSG(test, fake_disk_bios(race_area->disk, FAKE_DISK_READ), 1U,
			    "rule: a slot that is in the swap cache by now is not read again");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 3), USER_PAGE_PRESENT);
}

/* Asking for no size at all is a mistake, and said to be one. */
static void no_size_is_refused(struct kunit *test)
{
	struct user_memory *mem;

	SWAP_REQUIRE(test, SWAPIN_LARGE_CACHED);
	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = swapped_memory(test, 1);
	swap_expect_report(test, "WARNING");
	KUNIT_EXPECT_EQ(test, PTR_ERR(swap_kunit_cache_alloc(user_entry(mem, 0), 0)),
			(long)-EINVAL);
}

static struct kunit_case swap_cache_entries_cases[] = {
	KUNIT_CASE(exit_frees_cached_slots),
	KUNIT_CASE(exit_frees_slots_read_ahead),
	KUNIT_CASE(exit_leaves_what_others_have),
	KUNIT_CASE(last_user_frees_the_slot),
	KUNIT_CASE(refault_is_counted),
	KUNIT_CASE(drop_leaves_no_shadow),
	KUNIT_CASE(failed_charge_keeps_the_shadow),
	KUNIT_CASE(closed_device_is_not_read),
	KUNIT_CASE(cached_page_is_migrated),
	KUNIT_CASE(show_mem_counts_cached_pages),
	KUNIT_CASE_PARAM(folio_to_read_into, targets_gen_params),
	KUNIT_CASE_PARAM(large_folio_to_read_into, larges_gen_params),
	KUNIT_CASE(slots_outlive_their_large_folio),
	KUNIT_CASE(slot_read_meanwhile_is_taken),
	KUNIT_CASE(no_size_is_refused),
	{}
};

SWAP_KUNIT_SUITE(swap_cache_entries, swap_cache_entries_cases);

MODULE_DESCRIPTION("KUnit suite of the swap cache's folios and shadows");
MODULE_LICENSE("GPL");
