// SPDX-License-Identifier: GPL-2.0
/*
 * The swap cache: which pages it holds after swap-out and swap-in, and when a
 * page in memory gives its slot back.
 */
#include "swap_fixture.h"

static const struct swap_device cache_devices[] = {
	SWAP_DEVICES_PLAIN(), SWAP_DEVICE("stable writes", FAKE_DISK_STABLE)
};

SWAP_PARAMS(cache_device, cache_devices);

static unsigned long cache_pages(void)
{
	swap_fold_counters();
	return total_swapcache_pages();
}

/*
 * Filled memory, paged out. The writes complete only after reclaim has looked
 * at the pages, except on a synchronous device: reclaim waits for that one.
 */
static struct user_memory *paged_out(struct kunit *test, struct swap_area *area, unsigned int nr)
{
	struct user_memory *mem = user_memory_new(test, nr);

	user_fill(mem, 0, nr);
	if (!swap_area_synchronous(area))
		fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 0, nr);
	fake_disk_release(area->disk);
	return mem;
}

/* One page, swapped out and brought back by a read fault. */
static struct user_memory *read_back(struct kunit *test)
{
	struct user_memory *mem = user_memory_swapped(test, 1);

	KUNIT_ASSERT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	return mem;
}

/* A page under writeback stays in the cache; where reclaim waits for the write, it leaves. */
static void page_under_writeback_stays(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	unsigned long before = cache_pages();
	struct user_memory *mem = paged_out(test, area, 4);

	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_EQ_MSG(test, user_page_cached(mem, 0), !swap_area_synchronous(area),
			    "rule: a page stays in the swap cache while under writeback");
	KUNIT_EXPECT_EQ(test, cache_pages() - before, swap_area_synchronous(area) ? 0UL : 4UL);
	user_reclaim_cached(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, cache_pages(), before,
			    "rule: a page that leaves the swap cache is no longer counted there");
}

/* A fault on a cached page is minor and reads nothing. */
static void cached_page_is_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = paged_out(test, area, 1);
	vm_fault_t ret;

	KUNIT_ASSERT_TRUE(test, user_page_cached(mem, 0));
	swap_decisions_skip(test);
	ret = user_fault(mem, 0);
	KUNIT_EXPECT_FALSE_MSG(test, ret & (VM_FAULT_MAJOR | VM_FAULT_ERROR),
			       "rule: a fault on a cached page is minor; it returned %x", ret);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 0U,
			    "rule: a cached page is not read");
	USER_EXPECT_INTACT(test, mem);
}

/* The same while it is still being written. */
static void page_under_write_is_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 1);

	user_fill(mem, 0, 1);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 0, 1);
	swap_decisions_skip(test);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_PRESENT);
	SWAP_EXPECT_DECISIONS(test, area, "");
	USER_EXPECT_INTACT(test, mem);
}

/* After a read fault the page keeps its slot, except on a synchronous device. */
static void read_fault_keeps_the_slot(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);

	read_back(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), swap_area_synchronous(area) ? 0UL : 1UL,
			    "rule: a page that is only read keeps its slot where that saves a write");
	SWAP_EXPECT_DECISIONS(test, area, swap_area_synchronous(area) ? "R0:0!0 F0:0" : "R0:0!0");
}

/* A write fault makes the copy on the device stale: the slot is freed. */
static void write_fault_frees_the_slot(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 1);

	KUNIT_EXPECT_FALSE(test, user_fault_write(mem, 0) & VM_FAULT_ERROR);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0!0 F0:0");
}

/* The same where the write fault finds the page in the cache. */
static void write_fault_to_a_cached_page_frees_the_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = paged_out(test, area, 1);

	KUNIT_ASSERT_TRUE(test, user_page_cached(mem, 0));
	swap_decisions_skip(test);
	KUNIT_EXPECT_FALSE(test, user_fault_write(mem, 0) & VM_FAULT_ERROR);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0");
}

/* With more than half of swap in use, a read fault frees the slot, too. */
static void read_fault_frees_the_slot_when_swap_is_full(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	unsigned int half = swap_cluster_slots() / 2;
	struct folio *folio;

	swap_alloc_many(test, half, NULL);
	folio = user_folio(read_back(test), 0);
	SWAP_EXPECT_DECISIONS(test, area, "R0:%u!%u F0:%u", half, half, half);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_TRUE_MSG(test, folio_test_dirty(folio),
			      "rule: a folio without a slot is dirty");
	folio_put(folio);
}

/* Exactly half in use is not full. */
static void half_full_swap_is_not_full(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	unsigned int slot = swap_cluster_slots() / 2 - 1;

	swap_alloc_many(test, slot, NULL);
	read_back(test);
	SWAP_EXPECT_DECISIONS(test, area, "R0:%u!%u", slot, slot);
}

/* A page unchanged since swap-in goes out without a write. */
static void unchanged_page_is_not_written_again(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = read_back(test);

	swap_decisions_skip(test);
	user_page_out(mem, 0, 1);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_SWAPPED);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 0),
			       "rule: a clean page leaves the swap cache at once");
	USER_EXPECT_INTACT(test, mem);
}

/* A changed page is written to the slot it still has. */
static void changed_page_goes_to_its_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = read_back(test);

	user_write(mem, 0, 0x2222);
	swap_decisions_skip(test);
	user_swap_out(mem, 0, 1);
	/* Other kernels copy the page on the write, or free its slot to reuse it. */
	SWAP_EXPECT_DECISIONS(test, area, swap_has(PTE_SWP_EXCLUSIVE) ? "W0:0" :
			      swap_has(WRITE_COPIES_CACHED) && !swap_has(COPY_FREES_SLOT) ?
			      "A0:1 W0:1" : "A1:0 W1:0");
	USER_EXPECT_INTACT(test, mem);
}

/* A page that no page table refers to is freed instead of written. */
static void unreferenced_page_is_not_written(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct folio *folio;

	swap_alloc_cached(test, &folio);
	swap_decisions_skip(test);
	swap_write_folio(folio);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0");
}

/* When the process exits its slots are freed, cached or not. */
static void exit_frees_cached_slots(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	unsigned long before = cache_pages();
	struct user_memory *mem = paged_out(test, area, 4);

	user_fault(mem, 0);
	user_reclaim_cached(mem, 1, 1);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 0UL,
			    "rule: an exit leaves no slot in use");
	KUNIT_EXPECT_EQ_MSG(test, cache_pages(), before,
			    "rule: an exit leaves nothing in the swap cache");
}

/* Neighbours that were read ahead wait in the cache. */
static void neighbours_wait_in_the_cache(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_swapped(test, 8);
	unsigned int page, cached = 0, read;

	user_fault(mem, 0);
	read = swap_decisions_count(area, SWAP_READ);
	for (page = 1; page < 8; page++)
		cached += user_page_cached(mem, page);
	KUNIT_EXPECT_GT(test, read, 1U);
	KUNIT_EXPECT_EQ_MSG(test, cached, read - 1,
			    "rule: pages read ahead are in the swap cache");
	swap_decisions_skip(test);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 1) & VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 0U);
}

/* Two concurrent faults on one slot read it once. */
static void two_faults_share_one_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_swapped(test, 1);
	struct user_fault_thread *first, *second;

	fake_disk_hold(area->disk, BIT(FAKE_DISK_READ));
	first = user_fault_start(mem, 0);
	KUNIT_EXPECT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	second = user_fault_start(mem, 0);
	/* Let it find the page locked; in any case there is no second read. */
	schedule();
	fake_disk_release(area->disk);
	KUNIT_EXPECT_FALSE(test, user_fault_wait(first) & VM_FAULT_ERROR);
	KUNIT_EXPECT_FALSE(test, user_fault_wait(second) & VM_FAULT_ERROR);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 1U,
			    "rule: a slot is read once, however many faults wait for it");
	USER_EXPECT_INTACT(test, mem);
}

static struct kunit_case swap_cache_cases[] = {
	KUNIT_CASE_PARAM(page_under_writeback_stays, cache_device_gen_params),
	KUNIT_CASE(cached_page_is_not_read),
	KUNIT_CASE(page_under_write_is_not_read),
	KUNIT_CASE_PARAM(read_fault_keeps_the_slot, cache_device_gen_params),
	KUNIT_CASE_PARAM(write_fault_frees_the_slot, cache_device_gen_params),
	KUNIT_CASE(write_fault_to_a_cached_page_frees_the_slot),
	KUNIT_CASE(read_fault_frees_the_slot_when_swap_is_full),
	KUNIT_CASE(half_full_swap_is_not_full),
	KUNIT_CASE(unchanged_page_is_not_written_again),
	KUNIT_CASE(changed_page_goes_to_its_slot),
	KUNIT_CASE_PARAM(unreferenced_page_is_not_written, cache_device_gen_params),
	KUNIT_CASE_PARAM(exit_frees_cached_slots, cache_device_gen_params),
	KUNIT_CASE(neighbours_wait_in_the_cache),
	KUNIT_CASE(two_faults_share_one_read),
	{}
};

SWAP_KUNIT_SUITE(swap_cache, swap_cache_cases);

MODULE_DESCRIPTION("KUnit suite of the swap cache");
MODULE_LICENSE("GPL");
