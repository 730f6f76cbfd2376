// SPDX-License-Identifier: GPL-2.0
/*
 * The fixture itself: what suites rely on.
 */
#include "swap_fixture.h"

static const struct swap_area_config fixture_areas[] = {
	{ .disk = &FAKE_DISK_ZRAM },
	{ .disk = &FAKE_DISK_SSD },
	{ .disk = &FAKE_DISK_SSD_DISCARD, .swap_flags = SWAP_FLAG_DISCARD },
	{ .disk = &FAKE_DISK_HDD },
	{ .disk = &FAKE_DISK_STABLE },
};

/* Areas come and go; nothing is left behind. */
static void areas_come_and_go(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fixture_areas); i++) {
		struct swap_area *area = swap_area_on(test, &fixture_areas[i]);
		struct swap_area_facts facts;

		swap_area_facts(area, &facts);
		KUNIT_EXPECT_EQ(test, facts.pages, 4UL * swap_cluster_slots());
		KUNIT_EXPECT_EQ(test, facts.inuse, 0UL);
		KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	}
	KUNIT_EXPECT_EQ(test, total_swap_pages, 0L);
}

/* Data goes out and comes back; the log says how. */
static void data_goes_out_and_back(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &fixture_areas[1]);
	struct user_memory *mem = user_memory_new(test, 8);

	user_fill(mem, 0, 8);
	user_swap_out(mem, 0, 8);
	SWAP_EXPECT_DECISIONS(test, area, "x");
	KUNIT_EXPECT_EQ(test, user_fault(mem, 0) & VM_FAULT_ERROR, 0U);
	SWAP_EXPECT_DECISIONS(test, area, "x");
}

static void slots_by_themselves(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &fixture_areas[1]);

	swap_alloc_many(test, 300, NULL);
	SWAP_EXPECT_DECISIONS(test, area, "x");
	SWAP_EXPECT_LISTS(test, area, "x");
	swap_free_slots(swap_entry_at(area, 0, 0), swap_cluster_slots());
	SWAP_EXPECT_DECISIONS(test, area, "x");
	SWAP_EXPECT_LISTS(test, area, "x");
	swap_free_slots(swap_entry_at(area, 1, 0), 300 - swap_cluster_slots());
}

static struct kunit_case swap_fixture_cases[] = {
	KUNIT_CASE(areas_come_and_go),
	KUNIT_CASE(data_goes_out_and_back),
	KUNIT_CASE(slots_by_themselves),
	{}
};

SWAP_KUNIT_SUITE(swap_fixture, swap_fixture_cases);

MODULE_DESCRIPTION("KUnit suite of swap-kunit's own fixture");
MODULE_LICENSE("GPL");
