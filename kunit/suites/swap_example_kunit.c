// SPDX-License-Identifier: GPL-2.0
/*
 * The example of docs/writing-a-suite.rst.
 */
#include "swap_fixture.h"

static const struct swap_device example_devices[] = { SWAP_DEVICES_PLAIN(.clusters = 1) };

SWAP_PARAMS(example_device, example_devices);

/* In a full area, a freed slot is the next one allocated. */
static void freed_slot_is_allocated_next(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);

	swap_rule(test, "a freed slot is allocated again");
	swap_alloc_many(test, swap_cluster_slots(), NULL);
	swap_free_slot(swap_entry_at(area, 0, 5));
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A0:* F0:5 A0:5");
}

/* A fault on a synchronous device reads one page and frees its slot. */
static void fault_reads_one_page(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 3);

	user_fill(mem, 0, 3);
	user_swap_out(mem, 0, 3);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0 A0:1 W0:1 A0:2 W0:2");
	KUNIT_EXPECT_EQ(test, user_fault(mem, 1), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, area, "R0:1!1 F0:1");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 1), USER_PAGE_PRESENT);
}

/* A page of zeroes is not written to the device. */
static void zero_page_is_not_written(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 1);

	SWAP_REQUIRE(test, ZEROMAP);
	fake_disk_forget_bios(area->disk);
	user_write(mem, 0, 0);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* When its current cluster is full, a CPU takes a nonfull cluster, or a free one. */
static void next_cluster_is_nonfull_or_free(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	bool nonfull = swap_has(NONFULL_FIRST);

	SWAP_REQUIRE(test, CLUSTER_ALLOCATOR);
	swap_rule(test, nonfull ? "nonfull clusters before free ones" :
				  "free clusters before nonfull ones");
	swap_alloc_many(test, 2 * swap_cluster_slots(), NULL);
	swap_free_slots(swap_entry_at(area, 0, 10), 3);
	SWAP_EXPECT_LISTS(test, area, "free:2,3 nonfull:0 full:1");
	swap_alloc_many(test, 3, NULL);
	SWAP_EXPECT_DECISIONS(test, area, "A0:* A1:* F0:10+3 %s", nonfull ? "A0:10+3" : "A2:0+3");
}

/* A slot is freed when the last process that refers to it exits. */
static void forked_child_keeps_the_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *parent = user_memory_swapped(test, 1);
	struct user_memory *child = user_memory_fork(parent);

	user_memory_exit(parent);
	SWAP_EXPECT_DECISIONS(test, area, "");
	user_memory_exit(child);
	SWAP_EXPECT_DECISIONS(test, area, "F0:0");
}

/* A cgroup swaps out no more than its memory.swap.max. */
static void cgroup_limit_is_enforced(struct kunit *test)
{
	struct memory_cgroup *cgroup;
	struct user_memory *mem;
	struct swap_area *area;

	cgroup = memory_cgroup_new(test);
	area = swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 5);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, 5);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 2UL,
			    "rule: a cgroup swaps out no more than memory.swap.max");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 8192L);
}

/* A slot whose charge fails is freed again. */
static void failed_charge_frees_the_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);

	swap_fail(test, SWAP_FAIL_CHARGE, 1, 1);
	KUNIT_EXPECT_EQ(test, swap_alloc(test).val, 0UL);
	KUNIT_EXPECT_EQ(test, swap_failed(SWAP_FAIL_CHARGE), 1U);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 0UL,
			    "rule: a failed charge frees the slot");
}

/* A page that cannot be read is a bus error. */
static void failed_read_is_a_bus_error(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_swapped(test, 1);

	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 1, BLK_STS_IOERR);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, 0) & VM_FAULT_SIGBUS);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0!0x");
}

/* A fault waits until its page is read. */
static void fault_waits_for_its_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_swapped(test, 1);
	struct user_fault_thread *fault;

	fake_disk_hold(area->disk, BIT(FAKE_DISK_READ));
	fault = user_fault_start(mem, 0);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(fault),
			       "rule: a fault waits until its page is read");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(fault), VM_FAULT_MAJOR);
}

static struct kunit_case swap_example_cases[] = {
	KUNIT_CASE_PARAM(freed_slot_is_allocated_next, example_device_gen_params),
	KUNIT_CASE(fault_reads_one_page),
	KUNIT_CASE(zero_page_is_not_written),
	KUNIT_CASE(next_cluster_is_nonfull_or_free),
	KUNIT_CASE(forked_child_keeps_the_slot),
	KUNIT_CASE(cgroup_limit_is_enforced),
	KUNIT_CASE(failed_charge_frees_the_slot),
	KUNIT_CASE(failed_read_is_a_bus_error),
	KUNIT_CASE(fault_waits_for_its_read),
	{}
};

SWAP_KUNIT_SUITE(swap_example, swap_example_cases);
