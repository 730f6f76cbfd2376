// SPDX-License-Identifier: GPL-2.0
/*
 * Swap and memory cgroups: what is charged, limits, and reclaim of one cgroup.
 */
#include "swap_fixture.h"

/* Pages of swap charged to a cgroup, or a negative error. */
static long pages_charged(struct memory_cgroup *cgroup)
{
	long bytes = memory_cgroup_read(cgroup, "memory.swap.current");

	return bytes < 0 ? bytes : bytes / (long)PAGE_SIZE;
}

/* A slot is charged to the cgroup of its page until it is freed. */
static void swap_is_charged(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);

	KUNIT_EXPECT_EQ(test, pages_charged(cgroup), 0L);
	user_swap_out(mem, 0, 3);
	KUNIT_EXPECT_EQ_MSG(test, pages_charged(cgroup), 3L,
			    "rule: each slot is charged to its page's cgroup");
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ_MSG(test, pages_charged(cgroup), 2L,
			    "rule: freeing a slot uncharges it");
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, pages_charged(cgroup), 0L, "rule: freeing a slot uncharges it");
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
}

/* memory.swap.max=0: every page stays in memory, and no counter changes. */
static void limit_of_0_keeps_all_pages_in_memory(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);
	long left = get_nr_swap_pages();

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "0"), 0);
	user_page_out(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), 0U,
			    "rule: memory.swap.max=0 forbids swapping");
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 0UL,
			    "rule: a refused charge frees the slot");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), left,
			    "rule: a refused charge does not change nr_swap_pages");
	KUNIT_EXPECT_EQ(test, pages_charged(cgroup), 0L);
	KUNIT_EXPECT_EQ(test, memory_cgroup_count(cgroup, "memory.swap.events", "fail"), 4L);
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* A limit of two pages: two go out, and no third until one has come back. */
static void limit_is_enforced(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 5);

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, 5);
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), 2U,
			    "rule: a cgroup swaps out no more than memory.swap.max");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 2UL);
	KUNIT_EXPECT_EQ(test, pages_charged(cgroup), 2L);
	USER_EXPECT_INTACT(test, mem);
	user_page_out(mem, 0, 1);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), 1U);
}

/* A limit does not apply to memory outside its cgroup. */
static void limit_applies_to_its_own_cgroup_only(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct user_memory *outside;

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "0"), 0);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	outside = user_memory_new(test, 2);
	user_fill(outside, 0, 2);
	user_page_out(outside, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(outside), 2U,
			    "rule: a limit does not apply outside its cgroup");
}

/* memory.reclaim swaps out memory of its cgroup, and no other. */
static void reclaim_swaps_its_own_cgroup_only(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4 * MEMCG_MANY);
	struct user_memory *other = user_memory_at(test, 0x50000000, 16);

	SWAP_REQUIRE(test, MEMORY_RECLAIM);
	user_fill(other, 0, 16);
	KUNIT_EXPECT_EQ(test, memory_cgroup_reclaim(cgroup, 128), 0);
	KUNIT_EXPECT_GE_MSG(test, user_pages_swapped(mem), 128U,
			    "rule: memory.reclaim reclaims as much as requested");
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(other), 0U,
			    "rule: memory.reclaim does not touch memory outside the cgroup");
	KUNIT_EXPECT_EQ(test, pages_charged(cgroup), (long)user_pages_swapped(mem));
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), user_pages_swapped(mem));
	USER_EXPECT_INTACT(test, mem);
}

/* swpout_zero and swpin_zero of memory.stat count the zero pages of the cgroup. */
static void zero_pages_are_counted_for_their_cgroup(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct user_memory *mem;
	unsigned int page;

	SWAP_REQUIRE(test, ZEROMAP);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_new(test, MEMCG_MANY);
	user_memory_join(mem, cgroup);
	for (page = 0; page < MEMCG_MANY; page++)
		user_write(mem, page, 0);
	user_swap_out(mem, 0, MEMCG_MANY);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "swpout_zero"),
			    (long)MEMCG_MANY, "rule: swpout_zero counts the cgroup's zero pages");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "swpin_zero"),
			    (long)MEMCG_MANY, "rule: swpin_zero counts the cgroup's zero pages");
}

/* A page that is swapped in frees its slot while its cgroup has used over half its swap. */
static void cgroup_over_half_full_frees_slots_at_swapin(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);

	swap_kunit_set_page_cluster(0);
	swap_kunit_set_vma_readahead(false);
	user_swap_out(mem, 0, 4);
	swap_decisions_skip(test);
	user_fault(mem, 0);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0!0");
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "16384"), 0);
	user_fault(mem, 1);
	SWAP_EXPECT_DECISIONS(test, area, "R0:1!1 F0:1");
}

/* A parent's limit applies to its children, whatever their own. */
static void limit_of_the_parent_applies(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);
	long left = get_nr_swap_pages();

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(parent, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), 2U,
			    "rule: a parent's memory.swap.max limits its children together");
	KUNIT_EXPECT_EQ_MSG(test, pages_charged(cgroup), 2L,
			    "rule: a charge that the parent refuses is not charged to the child");
	KUNIT_EXPECT_EQ(test, pages_charged(parent), 2L);
	KUNIT_EXPECT_EQ_MSG(test, left - get_nr_swap_pages(), 2L,
			    "rule: a refused charge does not change nr_swap_pages");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.swap.events", "fail"), 2L,
			    "rule: each page that could not be swapped out counts as a fail event of its cgroup");
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ(test, pages_charged(parent), 0L);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
}

/*
 * "mm: swap: move nr_swap_pages counter decrement from folio_alloc_swap() to
 * swap_range_alloc()": if one charge of several fails, as when another task has
 * just used up the limit, only its page stays in memory.
 */
static void refused_charge_keeps_one_page_in_memory(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);
	long left = get_nr_swap_pages();
	unsigned int nth;

	for (nth = 1; nth <= 4; nth++) {
		swap_fail(test, SWAP_FAIL_CHARGE, nth, 1);
		user_page_out(mem, 0, 4);
		user_reclaim_cached(mem, 0, 4);
		KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, nth - 1), USER_PAGE_PRESENT,
				    "rule: a page whose charge fails stays in memory");
		KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 3UL,
				    "rule: a refused charge frees the slot");
		KUNIT_EXPECT_EQ_MSG(test, left - get_nr_swap_pages(), 3L,
				    "rule: a refused charge does not change nr_swap_pages");
		KUNIT_EXPECT_EQ(test, pages_charged(cgroup), 3L);
		USER_EXPECT_INTACT(test, mem);
		user_fill(mem, 0, 4);
		KUNIT_EXPECT_EQ(test, pages_charged(cgroup), 0L);
	}
}

/* Slots of a removed cgroup stay charged to its parent until they are freed. */
static void removed_cgroup_leaves_its_slots_to_the_parent(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 4);
	user_swap_out(mem, 0, 4);
	KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroup), 0);
	KUNIT_EXPECT_EQ_MSG(test, pages_charged(parent), 4L,
			    "rule: slots of a removed cgroup stay charged to its parent");
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ(test, pages_charged(parent), 3L);
	USER_EXPECT_INTACT(test, mem);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, pages_charged(parent), 0L, "rule: freeing a slot uncharges it");
}

/* A swap cache page counts for the cgroup it belongs to, not for the task that read it. */
static void swap_cache_page_counts_for_its_cgroup(struct kunit *test)
{
	struct memory_cgroup *a = memory_cgroup_new(test), *b = memory_cgroup_new(test);
	struct user_memory *mem, *other;
	struct folio *folio;
	unsigned int page;

	swap_area_on(test, &SWAP_AREA_SSD);
	SWAP_REQUIRE(test, SWAPCACHED_COUNTED);
	mem = user_memory_charged(test, a, MEMCG_MANY);
	other = user_memory_at(test, 0x50000000, MEMCG_MANY);
	user_memory_join(other, b);
	user_fill(other, 0, MEMCG_MANY);
	user_swap_out(mem, 0, MEMCG_MANY);
	user_swap_out(other, 0, MEMCG_MANY);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(a, "memory.stat", "swapcached"), 0L,
			    "rule: swapcached counts only pages in the swap cache");
	/* The reader is in no cgroup. */
	swap_kunit_set_page_cluster(0);
	for (page = 0; page < MEMCG_MANY; page++) {
		folio = swap_read_slot(user_entry(mem, page));
		KUNIT_ASSERT_NOT_NULL(test, folio);
		folio_wait_locked(folio);
		folio_put(folio);
	}
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(a, "memory.stat", "swapcached"),
			    MEMCG_MANY * (long)PAGE_SIZE,
			    "rule: swapcached counts a page for its own cgroup");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(b, "memory.stat", "swapcached"), 0L,
			    "rule: swapcached counts a page for its own cgroup");
	user_reclaim_cached(mem, 0, MEMCG_MANY);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(a, "memory.stat", "swapcached"), 0L,
			    "rule: swapcached counts only pages in the swap cache");
}

/* memory.reclaim of a parent reclaims from its children. */
static void reclaim_of_the_parent_swaps_the_child(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct user_memory *mem;

	SWAP_REQUIRE(test, MEMORY_RECLAIM);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 4 * MEMCG_MANY);
	KUNIT_EXPECT_EQ(test, memory_cgroup_reclaim(parent, 128), 0);
	KUNIT_EXPECT_GE_MSG(test, user_pages_swapped(mem), 128U,
			    "rule: memory.reclaim reclaims as much as requested");
	KUNIT_EXPECT_EQ(test, pages_charged(parent), (long)user_pages_swapped(mem));
}

/* Without swap, memory.reclaim cannot reclaim anonymous memory and fails. */
static void reclaim_without_swap_fails(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, MEMCG_MANY);

	SWAP_REQUIRE(test, MEMORY_RECLAIM);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "0"), 0);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_reclaim(cgroup, 64), -EAGAIN,
			    "rule: memory.reclaim fails if it reclaims less than requested");
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), 0U,
			    "rule: memory.swap.max=0 forbids swapping");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* Each page is written for the io cgroup of its memory cgroup, and a bio has pages of one only. */
static void page_is_written_for_its_cgroup(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct memory_cgroup *first, *second;
	struct swap_area *area;
	unsigned int nr;

	memory_cgroup_split_io(test);
	first = memory_cgroup_new(test);
	second = memory_cgroup_new(test);
	area = swap_area_on(test, &SWAP_AREA_SSD);
	user_memory_join(mem, first);
	user_fill(mem, 0, 2);
	user_memory_join(mem, second);
	user_fill(mem, 2, 2);
	fake_disk_forget_bios(area->disk);
	user_page_out(mem, 0, 4);
	KUNIT_ASSERT_NOT_NULL(test, memory_cgroup_io(first));
	for (nr = 0; fake_disk_bio(area->disk, nr); nr++) {
		const struct fake_bio *bio = fake_disk_bio(area->disk, nr);
		bool early = bio->offset < swap_slot_at(area, 0, 2);

		KUNIT_EXPECT_PTR_EQ_MSG(test, bio->css, memory_cgroup_io(early ? first : second),
					"rule: a page is written for the cgroup it is charged to");
	}
	SWAP_EXPECT_BIOS(test, area->disk, swap_has(WRITE_BATCHED) ? "W0:0+2 W0:2+2" :
			 "W0:0 W0:1 W0:2 W0:3");
}

/* A task whose cgroup is congested waits for the first swap device. */
static void congested_cgroup_is_throttled(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 2);
	struct swap_area *first;

	SWAP_REQUIRE_CONFIG(test, BLK_CGROUP);
	memory_cgroup_require(test);
	first = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 9 });
	swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 5 });
	swap_fail_errno(test, SWAP_FAIL_CONGESTION, 1, SWAP_FAIL_ALL, -EBUSY);
	user_fill(mem, 0, 1);
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_throttled(fake_disk_gendisk(first->disk)),
			      "rule: a task of a congested cgroup waits for the first swap device");
	swap_fail_errno(test, SWAP_FAIL_CONGESTION, 1, 0, 0);
	user_fill(mem, 1, 1);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_throttled(NULL),
			       "rule: a task is throttled only while its cgroup is congested");
}

static struct kunit_case swap_memcg_cases[] = {
	KUNIT_CASE(swap_is_charged),
	KUNIT_CASE(limit_of_0_keeps_all_pages_in_memory),
	KUNIT_CASE(limit_is_enforced),
	KUNIT_CASE(limit_applies_to_its_own_cgroup_only),
	KUNIT_CASE(reclaim_swaps_its_own_cgroup_only),
	KUNIT_CASE(zero_pages_are_counted_for_their_cgroup),
	KUNIT_CASE(cgroup_over_half_full_frees_slots_at_swapin),
	KUNIT_CASE(limit_of_the_parent_applies),
	KUNIT_CASE(refused_charge_keeps_one_page_in_memory),
	KUNIT_CASE(removed_cgroup_leaves_its_slots_to_the_parent),
	KUNIT_CASE(swap_cache_page_counts_for_its_cgroup),
	KUNIT_CASE(reclaim_of_the_parent_swaps_the_child),
	KUNIT_CASE(reclaim_without_swap_fails),
	KUNIT_CASE(page_is_written_for_its_cgroup),
	KUNIT_CASE(congested_cgroup_is_throttled),
	{}
};

SWAP_KUNIT_SUITE(swap_memcg, swap_memcg_cases);

MODULE_DESCRIPTION("KUnit suite of swap and memory cgroups");
MODULE_LICENSE("GPL");
