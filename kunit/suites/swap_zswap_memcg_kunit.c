// SPDX-License-Identifier: GPL-2.0
/*
 * zswap and memory cgroups: their share of the pool, whether they may leave it
 * for the disk, and what of that parents decide.
 */
#include "swap_fixture.h"
#include <linux/shrinker.h>

/* A cgroup whose pages may leave the pool for no disk: they stay in memory. */
static void no_writeback_means_no_disk(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 3);

	SWAP_REQUIRE(test, ZSWAP_WRITEBACK_SWITCH);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.writeback", "0"), 0);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 1);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 1U);
	swap_kunit_zswap_limit(0);
	user_page_out(mem, 1, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_WRITE), 0U,
			    "rule: memory.zswap.writeback=0 writes nothing to the disk");
	user_reclaim_cached(mem, 1, 1);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: what may not be written stays in memory");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* No zswap for this cgroup: its pages go past the pool to the disk. */
static void zswap_limit_goes_past_the_pool(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 1);

	SWAP_REQUIRE(test, ZSWAP_MEMCG);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.max", "0"), 0);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	USER_EXPECT_INTACT(test, mem);
}

/* A cgroup's share of the pool is full: what comes next makes the disk be used. */
static void full_share_of_the_pool_uses_the_disk(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, MEMCG_MANY);

	SWAP_REQUIRE(test, ZSWAP_MEMCG);
	user_mix(mem, 0, MEMCG_MANY);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, MEMCG_MANY - 1);
	KUNIT_EXPECT_GT_MSG(test, memory_cgroup_read(cgroup, "memory.zswap.current"), 0L,
			    "rule: the pool's memory is charged to the page's cgroup");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 0U);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.max", "4096"), 0);
	user_page_out(mem, MEMCG_MANY - 1, 1);
	KUNIT_EXPECT_GE_MSG(test, swap_decisions_count(area, SWAP_WRITE), 1U,
			    "rule: the pool takes no more than memory.zswap.max");
	USER_EXPECT_INTACT(test, mem);
}

/* A parent without a share of the pool has none for its children. */
static void zswap_limit_of_the_parent_holds(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 1);

	SWAP_REQUIRE(test, ZSWAP_MEMCG);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(parent, "memory.zswap.max", "0"), 0);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 1);
	swap_rule(test, "a parent's memory.zswap.max is for its children together");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
}

/* A full share: the cgroup's own old pages make room, oldest first, and the new one is taken. */
static void full_share_makes_room(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	struct user_memory *mem;
	unsigned int written;
	char max[16];

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	mem = user_memory_charged(test, cgroup, MEMCG_MANY + 1);
	user_fill_coarse(mem, 0, MEMCG_MANY + 1);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, MEMCG_MANY);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back_of(memcg, MEMCG_MANY), 0UL);
	snprintf(max, sizeof(max), "%ld", memory_cgroup_read(cgroup, "memory.zswap.current"));
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.max", max), 0);
	swap_decisions_skip(test);
	user_page_out(mem, MEMCG_MANY, 1);
	written = swap_decisions_count(area, SWAP_WRITE);
	KUNIT_EXPECT_GE_MSG(test, written, 1U, "rule: a full share makes room for what is new");
	KUNIT_EXPECT_LE(test, written, (unsigned int)SWAP_CLUSTER_MAX);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 1U);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_has(user_entry(mem, written - 1)),
			       "rule: the oldest page is written back first, the newest last");
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_zswap_has(user_entry(mem, written)),
			      "rule: the oldest page is written back first, the newest last");
	user_reclaim_cached(mem, 0, written);
	USER_EXPECT_INTACT(test, mem);
}

/* Who of parent and child may write back, and whether the child's pages are then written. */
struct writeback_switch {
	SWAP_PARAM_NAME;
	const char *parent, *child;
	bool writes;
};

static const struct writeback_switch writeback_switches[] = {
	{ "both may", "1", "1", true },
	{ "child may not", "1", "0", false },
	{ "parent may not", "0", "1", false },
};

SWAP_PARAMS(writeback_switch, writeback_switches);

/* memory.zswap.writeback, of the cgroup and of its parents, is asked by all that writes back. */
static void writing_back_needs_leave(struct kunit *test)
{
	const struct writeback_switch *c = swap_param(test);
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_WRITEBACK_SWITCH);
	mem = user_memory_charged(test, cgroup, 5);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(parent, "memory.zswap.writeback", c->parent), 0);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.writeback", c->child), 0);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	swap_kunit_set_zswap(true);
	user_fill_coarse(mem, 0, 5);
	user_swap_out(mem, 0, 4);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back_of(memcg, 4), 0UL);
	swap_decisions_skip(test);
	swap_step(NULL, SWAP_NO_TARGET);

	swap_rule(test,
		  "pages leave the pool for the disk only with their cgroup's leave, and its parents'");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL) > 0, c->writes);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(memcg, 2), c->writes ? 2UL : SHRINK_STOP);
	SWAP_EXPECT_DECISIONS(test, area, c->writes ? "W0:0+2" : "");
	swap_kunit_zswap_limit(0);
	user_page_out(mem, 4, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_WRITE) > 0, c->writes,
			    "rule: what the pool refuses goes to the disk only with the cgroup's leave");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_has(user_entry(mem, 2)), !c->writes,
			    "rule: a full pool writes back only with the cgroup's leave");
	user_reclaim_cached(mem, 0, 5);
	USER_EXPECT_INTACT(test, mem);
}

/* Kept as it is a page saves no memory: without leave to write it back it is not taken. */
static void incompressible_page_needs_the_disk(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 1);
	u64 failed = swap_kunit_zswap_counter(SWAP_ZSWAP_COMPRESS_FAIL);

	SWAP_REQUIRE(test, ZSWAP_INCOMPRESSIBLE);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.writeback", "0"), 0);
	swap_kunit_set_zswap(true);
	user_write_noise(mem, 0, 5);
	user_page_out(mem, 0, 1);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: a page that saves nothing is not kept where it may not be written back");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_COMPRESS_FAIL) - failed, 1ULL);
	SWAP_EXPECT_BIOS(test, area->disk, "");
	KUNIT_EXPECT_TRUE(test, user_noise_intact(mem, 0, 5));
}

/* No memory for the cgroup's own list of pages: past the pool. */
static void no_memory_for_the_cgroups_list(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 1);

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	swap_kunit_set_zswap(true);
	swap_fail(test, SWAP_FAIL_ZSWAP_LRU, 1, SWAP_FAIL_ALL);
	user_swap_out(mem, 0, 1);
	swap_rule(test, "a page that zswap does not take is written to the disk");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* What the cgroup has in the pool, and what came and went, in its own files. */
static void cgroup_counts_its_pages_of_the_pool(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 3 * MEMCG_MANY);
	user_mix(mem, 0, 3 * MEMCG_MANY);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 2 * MEMCG_MANY);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswapped"),
			    2L * MEMCG_MANY * (long)PAGE_SIZE,
			    "rule: pages of the pool are counted for their cgroup");
	KUNIT_EXPECT_EQ(test, memory_cgroup_count(cgroup, "memory.stat", "zswpout"),
			2L * MEMCG_MANY);
	swap_kunit_zswap_write_back_of(memcg, 2 * MEMCG_MANY);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back_of(memcg, MEMCG_MANY),
			(unsigned long)MEMCG_MANY);
	if (swap_has(ZSWAP_WRITEBACK_COUNTED))
		KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswpwb"),
				    (long)MEMCG_MANY,
				    "rule: pages written back are counted for their cgroup");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswpin"),
			    (long)MEMCG_MANY, "rule: pages loaded are counted for their cgroup");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswapped"), 0L,
			    "rule: pages that have left the pool are counted for no cgroup");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.zswap.current"), 0L);
}

/* Removing a cgroup ends some time later, on a worker. */
static bool removal_took_effect(unsigned long nr)
{
	unsigned long end = jiffies + 10 * HZ;

	while (time_before(jiffies, end)) {
		if (swap_kunit_zswap_write_back(nr))
			return true;
		schedule_timeout_uninterruptible(1);
	}
	return false;
}

/* A cgroup that is removed leaves its pages of the pool to its parent, in order. */
static void removed_cgroup_leaves_its_pages_to_the_parent(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	mem = user_memory_charged(test, cgroup, 4);
	user_mix(mem, 0, 4);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 4);
	swap_kunit_zswap_write_back_of(memcg, 4);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back(4), 0UL);
	swap_decisions_skip(test);
	swap_step(NULL, SWAP_NO_TARGET);
	KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroup), 0);
	KUNIT_EXPECT_TRUE_MSG(test, removal_took_effect(2),
			      "rule: pages of a cgroup that was removed are the parent's to write back");
	swap_rule(test, "pages of a cgroup that was removed are the parent's to write back");
	SWAP_EXPECT_DECISIONS(test, area, "W0:0+2");
	user_reclaim_cached(mem, 0, 4);
	USER_EXPECT_INTACT(test, mem);
}

/*
 * A full pool goes on where it stopped, cgroup by cgroup: one that is removed meanwhile is passed
 * over.
 */
static void removed_cgroup_is_not_shrunk_next(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	unsigned long end = jiffies + 10 * HZ;
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 3);
	user_mix(mem, 0, 3);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 2);
	swap_kunit_zswap_write_back_of(memcg, 2);
	/* Full: the worker writes the cgroup's pages back, and then has no more to do. */
	swap_kunit_zswap_limit(0);
	user_page_out(mem, 2, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: a full pool is shrunk in every cgroup");
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_shrinks_next(memcg));
	KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroup), 0);
	while (swap_kunit_zswap_shrinks_next(memcg) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_shrinks_next(memcg),
			       "rule: shrinking does not go on in a cgroup that was removed");
}

/* The shrinker goes by statistics that may be seconds old: reading them brings them up to date. */
static int drop_caches(struct memory_cgroup *cgroup)
{
	memory_cgroup_count(cgroup, "memory.stat", "zswapped");
	return text_file_write("proc", "sys/vm/drop_caches", "2");
}

/* memory.reclaim fills the pool, not the disk; dropping caches then goes on to the disk. */
static void reclaim_goes_to_the_pool(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem;
	unsigned long stored;
	unsigned int times;

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	mem = user_memory_charged(test, cgroup, 2 * MEMCG_MANY);
	user_fill_coarse(mem, 0, 2 * MEMCG_MANY);
	swap_kunit_set_zswap(true);
	KUNIT_EXPECT_EQ(test, memory_cgroup_reclaim(cgroup, MEMCG_MANY), 0);
	stored = swap_kunit_zswap_stored();
	KUNIT_EXPECT_GE_MSG(test, stored, (unsigned long)MEMCG_MANY,
			    "rule: what is reclaimed goes to the pool");
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "N"), 0);
	for (times = 0; times < 4; times++)
		KUNIT_EXPECT_EQ(test, drop_caches(cgroup), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_WRITE), 0U,
			    "rule: a shrinker that is switched off writes nothing");
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	for (times = 0; times < 20 && swap_kunit_zswap_stored(); times++)
		KUNIT_EXPECT_EQ(test, drop_caches(cgroup), 0);
	KUNIT_EXPECT_LT_MSG(test, swap_kunit_zswap_stored(), stored / 2,
			    "rule: shrinking all caches writes the pool back");
	user_reclaim_cached(mem, 0, 2 * MEMCG_MANY);
	USER_EXPECT_INTACT(test, mem);
}

static struct kunit_case swap_zswap_memcg_cases[] = {
	KUNIT_CASE(no_writeback_means_no_disk),
	KUNIT_CASE(zswap_limit_goes_past_the_pool),
	KUNIT_CASE(full_share_of_the_pool_uses_the_disk),
	KUNIT_CASE(zswap_limit_of_the_parent_holds),
	KUNIT_CASE(full_share_makes_room),
	KUNIT_CASE_PARAM(writing_back_needs_leave, writeback_switch_gen_params),
	KUNIT_CASE(incompressible_page_needs_the_disk),
	KUNIT_CASE(no_memory_for_the_cgroups_list),
	KUNIT_CASE(cgroup_counts_its_pages_of_the_pool),
	KUNIT_CASE(removed_cgroup_leaves_its_pages_to_the_parent),
	KUNIT_CASE(removed_cgroup_is_not_shrunk_next),
	KUNIT_CASE(reclaim_goes_to_the_pool),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap_memcg, swap_zswap_memcg_cases);

MODULE_DESCRIPTION("KUnit suite of zswap and memory cgroups");
MODULE_LICENSE("GPL");
