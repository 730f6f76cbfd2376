// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory in swap.
 */
#include "swap_fixture.h"

static const struct swap_device shmem_devices[] = { SWAP_DEVICES_PLAIN() };

SWAP_PARAMS(shmem_device, shmem_devices);

static struct swap_area *shmem_area(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);

	return swap_area_on(test, &device->area);
}

/* Data goes out and comes back, and the slots are free again. */
static void shared_memory_goes_out_and_back(struct kunit *test)
{
	struct swap_area *area = shmem_area(test);
	struct user_memory *mem = user_memory_shmem(test, 8);
	struct swap_area_facts facts;
	unsigned int page;

	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	user_reclaim_cached(mem, 0, 8);
	for (page = 0; page < 8; page++)
		KUNIT_EXPECT_EQ(test, user_page_is(mem, page), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ALLOC), 8U);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 8U);
	USER_EXPECT_INTACT(test, mem);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.inuse, 0UL,
			    "rule: shared memory that is back gives its slots back");
}

/* From a synchronous device one page is read and no neighbour, else a window. */
static void shared_memory_reads_ahead(struct kunit *test)
{
	struct swap_area *area = shmem_area(test);
	struct user_memory *mem = user_memory_shmem(test, 8);
	bool synchronous = fake_disk_profile(area->disk)->synchronous;

	user_fill(mem, 0, 8);
	user_swap_out(mem, 0, 8);
	swap_kunit_set_readahead_hits(6);
	swap_decisions_skip(test);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 5) & VM_FAULT_ERROR);
	SWAP_EXPECT_DECISIONS(test, area, synchronous && swap_has(SYNC_SWAPIN_SHMEM) ?
			      "R0:5!5 F0:5" : "R0:0+8!5 F0:5");
}

/* A zero page of shared memory reaches no disk. */
static void shared_zero_page_needs_no_disk(struct kunit *test)
{
	struct swap_area *area = shmem_area(test);
	struct user_memory *mem = user_memory_shmem(test, 1);

	SWAP_REQUIRE(test, ZEROMAP);
	user_write(mem, 0, 0);
	user_swap_out(mem, 0, 1);
	USER_EXPECT_INTACT(test, mem);
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* A failed read is a bus error; nothing is mapped. */
static void failed_read_is_a_bus_error(struct kunit *test)
{
	struct swap_area *area = shmem_area(test);
	struct user_memory *mem = user_memory_shmem(test, 1);

	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 1, BLK_STS_IOERR);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault(mem, 0) & VM_FAULT_SIGBUS,
			      "rule: a failed read is a bus error");
	KUNIT_EXPECT_NE_MSG(test, user_page_is(mem, 0), USER_PAGE_PRESENT,
			    "rule: a page that could not be read is not mapped");
}

/* The last user goes: so do the slots. */
static void exit_frees_the_slots(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_shmem(test, 8);
	struct swap_area_facts facts;

	user_fill(mem, 0, 8);
	user_swap_out(mem, 0, 8);
	swap_decisions_skip(test);
	user_memory_exit(mem);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.inuse, 0UL, "rule: an exit leaves no slot in use");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_FREE), 8U);
}

/* Through the pool, too. */
static void shared_memory_goes_through_the_pool(struct kunit *test)
{
	struct swap_area *area = shmem_area(test);
	struct user_memory *mem = user_memory_shmem(test, 4);

	SWAP_REQUIRE_CONFIG(test, CONFIG_ZSWAP);
	swap_kunit_set_zswap(true);
	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 4UL);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: what is loaded leaves the pool");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

static struct kunit_case swap_shmem_cases[] = {
	KUNIT_CASE_PARAM(shared_memory_goes_out_and_back, shmem_device_gen_params),
	KUNIT_CASE_PARAM(shared_memory_reads_ahead, shmem_device_gen_params),
	KUNIT_CASE_PARAM(shared_zero_page_needs_no_disk, shmem_device_gen_params),
	KUNIT_CASE_PARAM(failed_read_is_a_bus_error, shmem_device_gen_params),
	KUNIT_CASE(exit_frees_the_slots),
	KUNIT_CASE_PARAM(shared_memory_goes_through_the_pool, shmem_device_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_shmem, swap_shmem_cases);

MODULE_DESCRIPTION("KUnit suite of shared memory in swap");
MODULE_LICENSE("GPL");
