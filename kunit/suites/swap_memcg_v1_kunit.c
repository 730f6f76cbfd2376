// SPDX-License-Identifier: GPL-2.0
/*
 * Swap and memory cgroups of version 1: memory and swap in one account, memsw.
 */
#include "swap_fixture.h"

#define V1_MANY		256
#define V1_MEMSW	"memory.memsw.usage_in_bytes"

static struct memory_cgroup *v1_cgroup(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_v1(test);

	if (!cgroup)
		kunit_skip(test, "no memory cgroups of version 1: CONFIG_MEMCG_V1 is not set, or version 2 has the controller");
	if (memory_cgroup_read(cgroup, V1_MEMSW) == -ENOENT)
		kunit_skip(test, "this kernel's cgroups have no account of swap");
	return cgroup;
}

/* What the cgroup has on swap: memory is charged in batches, but to both accounts alike. */
static long v1_on_swap(struct memory_cgroup *cgroup)
{
	return (memory_cgroup_read(cgroup, V1_MEMSW) -
		memory_cgroup_read(cgroup, "memory.usage_in_bytes")) / (long)PAGE_SIZE;
}

/* Swapping out moves a page from memory to swap, within the one account. */
static void swap_out_leaves_memsw_as_it_is(struct kunit *test)
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
			    "rule: memsw is memory and swap together");
	KUNIT_EXPECT_EQ_MSG(test, v1_on_swap(cgroup), 3L,
			    "rule: a page that is swapped out is charged as memory no more");
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ_MSG(test, v1_on_swap(cgroup), 2L,
			    "rule: a page that is swapped in is charged as memory again");
	USER_EXPECT_INTACT(test, mem);
	user_swap_out(mem, 0, 4);
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ_MSG(test, v1_on_swap(cgroup), 0L,
			    "rule: a freed slot is not charged any more");
}

/*
 * Reclaim gives up where all it looked at was in use of late; the next one finds
 * it idle, if it knows of how much there is: to read the statistics brings them
 * up to date, as time does elsewhere.
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

/* A limit of memory alone is met by swapping. */
static void limit_of_memory_swaps(struct kunit *test)
{
	struct memory_cgroup *cgroup = v1_cgroup(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, V1_MANY);
	unsigned int page, swapped = 0;

	KUNIT_ASSERT_EQ(test, v1_set_limit(cgroup, "524288"), 0);
	KUNIT_EXPECT_LE(test, memory_cgroup_read(cgroup, "memory.usage_in_bytes"), 524288L);
	for (page = 0; page < V1_MANY; page++)
		swapped += user_page_is(mem, page) == USER_PAGE_SWAPPED;
	KUNIT_EXPECT_GE_MSG(test, swapped, V1_MANY / 2U, "rule: a limit of memory is met by swapping");
	KUNIT_EXPECT_EQ(test, v1_on_swap(cgroup), (long)swapped);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), swapped);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "-1"), 0);
}

/* A limit of both is not: what is swapped out counts as before. */
static void limit_of_memsw_does_not_swap(struct kunit *test)
{
	struct memory_cgroup *cgroup = v1_cgroup(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, V1_MANY);

	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "4194304"), 0);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.memsw.limit_in_bytes",
						  "4194304"), 0);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "8388608"),
			    -EINVAL, "rule: the limit of memory is below that of memsw");
	user_swap_out(mem, 0, 4);
	KUNIT_ASSERT_EQ(test, v1_set_limit(cgroup, "524288"), 0);
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_write(cgroup, "memory.memsw.limit_in_bytes",
						      "524288"), -EBUSY,
			    "rule: swapping out makes no room in memsw");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 0U);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.memsw.limit_in_bytes", "-1"), 0);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.limit_in_bytes", "-1"), 0);
}

static struct kunit_case swap_memcg_v1_cases[] = {
	KUNIT_CASE(swap_out_leaves_memsw_as_it_is),
	KUNIT_CASE(limit_of_memory_swaps),
	KUNIT_CASE(limit_of_memsw_does_not_swap),
	{}
};

SWAP_KUNIT_SUITE(swap_memcg_v1, swap_memcg_v1_cases);

MODULE_DESCRIPTION("KUnit suite of swap and memory cgroups of version 1");
MODULE_LICENSE("GPL");
