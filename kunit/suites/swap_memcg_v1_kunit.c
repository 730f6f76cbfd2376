// SPDX-License-Identifier: GPL-2.0
/*
 * Swap and memory cgroups of version 1: memsw counts memory and swap together.
 */
#include "swap_fixture.h"

#define V1_MANY		256
#define V1_MEMSW	"memory.memsw.usage_in_bytes"

static struct memory_cgroup *v1_cgroup(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_v1(test);

	if (!cgroup)
		kunit_skip(test,
			   "the version 1 memory controller is not available: CONFIG_MEMCG_V1 is not set, or cgroup2 has the controller");
	if (memory_cgroup_read(cgroup, V1_MEMSW) == -ENOENT)
		kunit_skip(test, "this kernel's memory cgroups do not account swap");
	return cgroup;
}

/* Pages of swap charged to the cgroup: batching affects both counters alike. */
static long v1_on_swap(struct memory_cgroup *cgroup)
{
	return (memory_cgroup_read(cgroup, V1_MEMSW) -
		memory_cgroup_read(cgroup, "memory.usage_in_bytes")) / (long)PAGE_SIZE;
}

/* Swapping a page out uncharges memory and charges swap: memsw does not change. */
static void swapping_out_does_not_change_memsw(struct kunit *test)
{
	struct memory_cgroup *cgroup = v1_cgroup(test);
	struct user_memory *mem;
	long memsw;

	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 4);
	memsw = memory_cgroup_read(cgroup, V1_MEMSW);
	KUNIT_EXPECT_EQ(test, v1_on_swap(cgroup), 0L);
	user_swap_out(mem, 0, 3);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_read(cgroup, V1_MEMSW), memsw,
			    "rule: memsw counts memory and swap together");
	KUNIT_EXPECT_EQ_MSG(test, v1_on_swap(cgroup), 3L,
			    "rule: swapping a page out uncharges memory");
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ_MSG(test, v1_on_swap(cgroup), 2L,
			    "rule: swapping a page in charges memory again");
	USER_EXPECT_INTACT(test, mem);
	user_swap_out(mem, 0, 4);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, v1_on_swap(cgroup), 0L,
			    "rule: freeing a slot uncharges it");
}

/*
 * Lower the limit of memory. Reclaim gives up if all pages it scanned were recently used, and
 * succeeds at the next attempt if it knows how many pages there are: reading the statistics
 * brings them up to date.
 */
static int v1_set_limit(struct memory_cgroup *cgroup, const char *limit)
{
	unsigned int tries;
	int err = -EBUSY;

	for (tries = 0; err == -EBUSY && tries < 4; tries++) {
		memory_cgroup_count(cgroup, "memory.stat", "swap");
		err = memory_cgroup_write(cgroup, "memory.limit_in_bytes", limit);
	}
	return err;
}

/* The kernel swaps to meet a lower limit of memory. */
static void lower_memory_limit_swaps(struct kunit *test)
{
	struct memory_cgroup *cgroup = v1_cgroup(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, V1_MANY);
	unsigned int swapped;

	KUNIT_ASSERT_EQ(test, v1_set_limit(cgroup, "524288"), 0);
	KUNIT_EXPECT_LE(test, memory_cgroup_read(cgroup, "memory.usage_in_bytes"), 524288L);
	swapped = user_pages_swapped(mem);
	KUNIT_EXPECT_GE_MSG(test, swapped, V1_MANY / 2U,
			    "rule: the kernel swaps to meet a lower limit of memory");
	KUNIT_EXPECT_EQ(test, v1_on_swap(cgroup), (long)swapped);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), swapped);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "-1"), 0);
}

/* Swapping cannot meet a lower limit of memsw, so the kernel does not swap. */
static void lower_memsw_limit_does_not_swap(struct kunit *test)
{
	struct memory_cgroup *cgroup = v1_cgroup(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, V1_MANY);

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "4194304"), 0);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.memsw.limit_in_bytes",
						  "4194304"), 0);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "8388608"),
			    -EINVAL, "rule: the limit of memory may not exceed that of memsw");
	user_swap_out(mem, 0, 4);
	KUNIT_ASSERT_EQ(test, v1_set_limit(cgroup, "524288"), 0);
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_write(cgroup, "memory.memsw.limit_in_bytes",
						      "524288"), -EBUSY,
			    "rule: swapping does not reduce memsw");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 0U);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.memsw.limit_in_bytes", "-1"), 0);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "-1"), 0);
}

static struct kunit_case swap_memcg_v1_cases[] = {
	KUNIT_CASE(swapping_out_does_not_change_memsw),
	KUNIT_CASE(lower_memory_limit_swaps),
	KUNIT_CASE(lower_memsw_limit_does_not_swap),
	{}
};

SWAP_KUNIT_SUITE(swap_memcg_v1, swap_memcg_v1_cases);

MODULE_DESCRIPTION("KUnit suite of swap and memory cgroups of version 1");
MODULE_LICENSE("GPL");
