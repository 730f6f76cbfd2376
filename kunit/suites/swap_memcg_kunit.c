// SPDX-License-Identifier: GPL-2.0
/*
 * Swap and memory cgroups: limits, what is charged, and reclaim by cgroup.
 */
#include "swap_fixture.h"

static unsigned int memcg_swapped(struct user_memory *mem)
{
	unsigned int page, nr = 0;

	for (page = 0; page < mem->pages; page++)
		nr += user_page_is(mem, page) == USER_PAGE_SWAPPED;
	return nr;
}

/* What is swapped out is charged, what comes back or goes is not. */
static void swap_is_charged(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);

	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 0L);
	user_swap_out(mem, 0, 3);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(cgroup, "memory.swap.current"),
			    3L * PAGE_SIZE, "rule: each slot is charged to its page's cgroup");
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(cgroup, "memory.swap.current"),
			    2L * PAGE_SIZE, "rule: a freed slot is not charged any more");
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(cgroup, "memory.swap.current"), 0L,
			    "rule: a freed slot is not charged any more");
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
}

/* No swap for this cgroup: its pages stay, and every count is as it was. */
static void limit_of_nothing_keeps_all(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);
	long left = get_nr_swap_pages();
	struct swap_area_facts facts;

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "0"), 0);
	user_page_out(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, memcg_swapped(mem), 0U,
			    "rule: memory.swap.max=0 swaps nothing out");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.inuse, 0UL, "rule: a refused charge gives the slot back");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), left,
			    "a refused charge leaves nr_swap_pages as it was");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 0L);
	KUNIT_EXPECT_EQ(test, memory_cgroup_count(cgroup, "memory.swap.events", "fail"), 4L);
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* Two pages of swap: two pages out, and no more until one is back. */
static void limit_is_kept(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 5);
	struct swap_area_facts facts;

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, 5);
	KUNIT_EXPECT_EQ_MSG(test, memcg_swapped(mem), 2U,
			    "rule: no more is swapped out than memory.swap.max");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.inuse, 2UL);
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 8192L);
	USER_EXPECT_INTACT(test, mem);
	user_page_out(mem, 0, 1);
	KUNIT_EXPECT_EQ(test, memcg_swapped(mem), 1U);
}

/* One cgroup's limit is not another's. */
static void limit_is_the_cgroups_own(struct kunit *test)
{
	struct memory_cgroup *a = memory_cgroup_new(test);
	struct user_memory *free;

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(a, "memory.swap.max", "0"), 0);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	free = user_memory_new(test, 2);
	user_fill(free, 0, 2);
	user_page_out(free, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, memcg_swapped(free), 2U,
			    "rule: memory in no cgroup knows no limit of one");
}

/* memory.reclaim swaps for real, and only this cgroup's memory. */
static void reclaim_swaps_the_cgroup(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4 * MEMCG_MANY);
	struct user_memory *other = user_memory_at(test, 0x50000000, 16);

	SWAP_REQUIRE(test, MEMORY_RECLAIM);
	user_fill(other, 0, 16);
	KUNIT_EXPECT_EQ(test, memory_cgroup_reclaim(cgroup, 128), 0);
	KUNIT_EXPECT_GE_MSG(test, memcg_swapped(mem), 128U,
			    "rule: memory.reclaim reclaims what it is asked for");
	KUNIT_EXPECT_EQ_MSG(test, memcg_swapped(other), 0U,
			    "rule: memory.reclaim leaves others' memory alone");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"),
			(long)memcg_swapped(mem) * (long)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), memcg_swapped(mem));
	USER_EXPECT_INTACT(test, mem);
}

/* The cgroup counts its own zero pages going out and coming in. */
static void cgroup_counts_its_zero_pages(struct kunit *test)
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
			    (long)MEMCG_MANY, "rule: the cgroup's zero pages going out count");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "swpin_zero"),
			    (long)MEMCG_MANY, "rule: the cgroup's zero pages coming in count");
}

/* The cgroup's swap more than half full: its pages give their slots back. */
static void full_cgroup_wants_its_slots_back(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);

	swap_set_page_cluster(0);
	swap_kunit_set_vma_readahead(false);
	user_swap_out(mem, 0, 4);
	swap_decisions_skip(test);
	user_fault(mem, 0);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0!0");
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "16384"), 0);
	user_fault(mem, 1);
	SWAP_EXPECT_DECISIONS(test, area, "R0:1!1 F0:1");
}

/* Two pages are the parent's limit: the child has no more, whatever its own. */
static void limit_of_the_parent_holds(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);
	long left = get_nr_swap_pages();

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(parent, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, memcg_swapped(mem), 2U,
			    "rule: a parent's memory.swap.max is for its children together");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(cgroup, "memory.swap.current"), 8192L,
			    "rule: a charge the parent refuses is none of the child's");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(parent, "memory.swap.current"), 8192L);
	KUNIT_EXPECT_EQ_MSG(test, left - get_nr_swap_pages(), 2L,
			    "a refused charge leaves nr_swap_pages as it was");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.swap.events", "fail"), 2L,
			    "rule: each page that could not be swapped out is an event of its cgroup");
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(parent, "memory.swap.current"), 0L);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
}

/* One charge of several fails, as if others had taken the rest just then (A19). */
static void one_charge_fails(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 4);
	long left = get_nr_swap_pages();
	struct swap_area_facts facts;
	unsigned int nth;

	for (nth = 1; nth <= 4; nth++) {
		swap_fail_charge_nth(test, nth);
		user_page_out(mem, 0, 4);
		user_reclaim_cached(mem, 0, 4);
		KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, nth - 1), USER_PAGE_PRESENT,
				    "rule: a page whose charge fails stays");
		swap_area_facts(area, &facts);
		KUNIT_EXPECT_EQ_MSG(test, facts.inuse, 3UL,
				    "rule: a refused charge gives the slot back");
		KUNIT_EXPECT_EQ_MSG(test, left - get_nr_swap_pages(), 3L,
				    "a refused charge leaves nr_swap_pages as it was");
		KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"),
				3L * PAGE_SIZE);
		USER_EXPECT_INTACT(test, mem);
		user_fill(mem, 0, 4);
		KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 0L);
	}
}

/* A cgroup that is removed: what it has on swap is its parent's burden until it is freed. */
static void removed_cgroup_leaves_its_slots_to_the_parent(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 4);
	user_swap_out(mem, 0, 4);
	KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroup), 0);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(parent, "memory.swap.current"),
			    4L * PAGE_SIZE,
			    "rule: slots of a cgroup that was removed stay charged to its parents");
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(parent, "memory.swap.current"), 3L * PAGE_SIZE);
	USER_EXPECT_INTACT(test, mem);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(parent, "memory.swap.current"), 0L,
			    "rule: a freed slot is not charged any more");
}

/* The swap cache's pages are counted for whose pages they are, whoever had them read. */
static void swap_cache_is_counted_for_its_cgroup(struct kunit *test)
{
	struct memory_cgroup *a = memory_cgroup_new(test), *b = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem, *other;
	struct folio *folio;
	unsigned int page;

	SWAP_REQUIRE(test, SWAPCACHED_COUNTED);
	mem = user_memory_charged(test, a, MEMCG_MANY);
	other = user_memory_at(test, 0x50000000, MEMCG_MANY);
	user_memory_join(other, b);
	user_fill(other, 0, MEMCG_MANY);
	user_swap_out(mem, 0, MEMCG_MANY);
	user_swap_out(other, 0, MEMCG_MANY);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(a, "memory.stat", "swapcached"), 0L,
			    "rule: what has left the swap cache is not counted there");
	/* Nobody's fault: the reader is in no cgroup at all. */
	swap_set_page_cluster(0);
	for (page = 0; page < MEMCG_MANY; page++) {
		folio = swap_read_slot(area, user_entry(mem, page));
		KUNIT_ASSERT_NOT_NULL(test, folio);
		folio_wait_locked(folio);
		folio_put(folio);
	}
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(a, "memory.stat", "swapcached"),
			    MEMCG_MANY * (long)PAGE_SIZE,
			    "rule: a page of the swap cache is counted for its own cgroup");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(b, "memory.stat", "swapcached"), 0L,
			    "rule: a page of the swap cache is counted for its own cgroup");
	user_reclaim_cached(mem, 0, MEMCG_MANY);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(a, "memory.stat", "swapcached"), 0L,
			    "rule: what has left the swap cache is not counted there");
}

/* memory.reclaim of a parent takes from its children. */
static void reclaim_of_the_parent_swaps_the_child(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct user_memory *mem;

	SWAP_REQUIRE(test, MEMORY_RECLAIM);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 4 * MEMCG_MANY);
	KUNIT_EXPECT_EQ(test, memory_cgroup_reclaim(parent, 128), 0);
	KUNIT_EXPECT_GE_MSG(test, memcg_swapped(mem), 128U,
			    "rule: memory.reclaim reclaims what it is asked for");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(parent, "memory.swap.current"),
			(long)memcg_swapped(mem) * (long)PAGE_SIZE);
}

/* With nowhere to swap to, memory.reclaim has nothing to take, and says so. */
static void reclaim_without_swap_fails(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, MEMCG_MANY);

	SWAP_REQUIRE(test, MEMORY_RECLAIM);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "0"), 0);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_reclaim(cgroup, 64), -EAGAIN,
			    "rule: memory.reclaim says when it reclaims less than it is asked for");
	KUNIT_EXPECT_EQ_MSG(test, memcg_swapped(mem), 0U,
			    "rule: memory.swap.max=0 swaps nothing out");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

static struct kunit_case swap_memcg_cases[] = {
	KUNIT_CASE(swap_is_charged),
	KUNIT_CASE(limit_of_nothing_keeps_all),
	KUNIT_CASE(limit_is_kept),
	KUNIT_CASE(limit_is_the_cgroups_own),
	KUNIT_CASE(reclaim_swaps_the_cgroup),
	KUNIT_CASE(cgroup_counts_its_zero_pages),
	KUNIT_CASE(full_cgroup_wants_its_slots_back),
	KUNIT_CASE(limit_of_the_parent_holds),
	KUNIT_CASE(one_charge_fails),
	KUNIT_CASE(removed_cgroup_leaves_its_slots_to_the_parent),
	KUNIT_CASE(swap_cache_is_counted_for_its_cgroup),
	KUNIT_CASE(reclaim_of_the_parent_swaps_the_child),
	KUNIT_CASE(reclaim_without_swap_fails),
	{}
};

SWAP_KUNIT_SUITE(swap_memcg, swap_memcg_cases);

MODULE_DESCRIPTION("KUnit suite of swap and memory cgroups");
MODULE_LICENSE("GPL");
