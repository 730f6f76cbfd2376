// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory in swap: its pages have their entries in the page cache.
 */
#include "swap_fixture.h"

static const struct swap_device shmem_devices[] = { SWAP_DEVICES_PLAIN() };

SWAP_PARAMS(shmem_device, shmem_devices);

/* Reading swapped-out shared memory returns its data and frees its slots. */
static void data_survives_and_slots_are_freed(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_shmem(test, 8);

	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	user_reclaim_cached(mem, 0, 8);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), 8U);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ALLOC), 8U);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 8U);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 0UL,
			    "rule: a page of shared memory frees its slot when it is swapped in");
}

/* A fault reads a window by slot, or one page alone from a synchronous device. */
static void fault_reads_a_window_by_slot(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped_shmem(test, 8);
	bool synchronous = fake_disk_profile(area->disk)->synchronous;

	swap_kunit_set_readahead_hits(6);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 5) & VM_FAULT_ERROR);
	SWAP_EXPECT_DECISIONS(test, area, synchronous && swap_has(SYNC_SWAPIN_SHMEM) ?
			      "R0:5!5 F0:5" : "R0:0+8!5 F0:5");
}

/* A zero-filled page is neither written nor read. */
static void zero_filled_page_needs_no_io(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_shmem(test, 1);

	SWAP_REQUIRE(test, ZEROMAP);
	user_write(mem, 0, 0);
	user_swap_out(mem, 0, 1);
	USER_EXPECT_INTACT(test, mem);
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* A failed read is a bus error, and the page is not mapped. */
static void failed_read_is_a_bus_error(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped_shmem(test, 1);

	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 1, BLK_STS_IOERR);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault(mem, 0) & VM_FAULT_SIGBUS,
			      "rule: a failed read is a bus error");
	KUNIT_EXPECT_NE_MSG(test, user_page_is(mem, 0), USER_PAGE_PRESENT,
			    "rule: a page that cannot be read is not mapped");
}

/* When the last user exits, the slots are freed. */
static void exit_frees_the_slots(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_swapped_shmem(test, 8);

	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 0UL, "rule: exit frees all slots");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_FREE), 8U);
}

/* zswap stores and loads shared memory, too. */
static void zswap_stores_and_loads(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem;

	SWAP_REQUIRE_CONFIG(test, ZSWAP);
	swap_kunit_set_zswap(true);
	mem = user_memory_swapped_shmem(test, 4);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 4UL);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: loading a page removes it from the pool");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

static struct kunit_case swap_shmem_cases[] = {
	KUNIT_CASE_PARAM(data_survives_and_slots_are_freed, shmem_device_gen_params),
	KUNIT_CASE_PARAM(fault_reads_a_window_by_slot, shmem_device_gen_params),
	KUNIT_CASE_PARAM(zero_filled_page_needs_no_io, shmem_device_gen_params),
	KUNIT_CASE_PARAM(failed_read_is_a_bus_error, shmem_device_gen_params),
	KUNIT_CASE(exit_frees_the_slots),
	KUNIT_CASE_PARAM(zswap_stores_and_loads, shmem_device_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_shmem, swap_shmem_cases);

MODULE_DESCRIPTION("KUnit suite of shared memory in swap");
MODULE_LICENSE("GPL");
