// SPDX-License-Identifier: GPL-2.0
/*
 * zswap and memory cgroups: limits of the pool, and whether pages may be written
 * back, for a cgroup and its parents.
 */
#include "swap_fixture.h"
#include <linux/shrinker.h>

/* Without permission to write back, pages that the pool rejects stay in memory. */
static void no_writeback_keeps_pages_in_memory(struct kunit *test)
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
	USER_EXPECT_INTACT(test, mem);
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* memory.zswap.max=0: pages bypass the pool. */
static void limit_of_0_bypasses_the_pool(struct kunit *test)
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

/* A cgroup at its limit of the pool writes pages to the disk. */
static void cgroup_at_its_limit_writes_to_the_disk(struct kunit *test)
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
			    "rule: the pool stores no more than memory.zswap.max");
	USER_EXPECT_INTACT(test, mem);
}

/* The limit of a parent applies to its children. */
static void limit_of_the_parent_applies(struct kunit *test)
{
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 1);

	SWAP_REQUIRE(test, ZSWAP_MEMCG);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(parent, "memory.zswap.max", "0"), 0);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 1);
	swap_rule(test, "a parent's memory.zswap.max limits its children together");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
}

/* At its limit, a cgroup's own oldest pages are written back to make room for a new one. */
static void cgroup_at_its_limit_makes_room(struct kunit *test)
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
	zswap_age(test, memcg, MEMCG_MANY);
	snprintf(max, sizeof(max), "%ld", memory_cgroup_read(cgroup, "memory.zswap.current"));
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.max", max), 0);
	swap_decisions_skip(test);
	user_page_out(mem, MEMCG_MANY, 1);
	written = swap_decisions_count(area, SWAP_WRITE);
	KUNIT_EXPECT_GE_MSG(test, written, 1U,
			    "rule: a cgroup at its limit writes pages back to make room");
	KUNIT_EXPECT_LE(test, written, (unsigned int)SWAP_CLUSTER_MAX);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 1U);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_has(user_entry(mem, written - 1)),
			       "rule: the oldest page is written back first, the newest last");
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_zswap_has(user_entry(mem, written)),
			      "rule: the oldest page is written back first, the newest last");
	user_reclaim_cached(mem, 0, written);
	USER_EXPECT_INTACT(test, mem);
}

/* memory.zswap.writeback of parent and child, and whether pages of the child are written back. */
struct writeback_switch {
	SWAP_PARAM_NAME;
	const char *parent;
	const char *child;
	bool writes;
};

static const struct writeback_switch writeback_switches[] = {
	{ "both may", .parent = "1", .child = "1", .writes = true },
	{ "child may not", .parent = "1", .child = "0" },
	{ "parent may not", .parent = "0", .child = "1" },
};

SWAP_PARAMS(writeback_switch, writeback_switches);

/* Nothing is written back unless the cgroup and all its parents permit it. */
static void writeback_needs_permission(struct kunit *test)
{
	const struct writeback_switch *c = swap_param(test);
	struct memory_cgroup *parent = memory_cgroup_new(test);
	struct memory_cgroup *cgroup = memory_cgroup_child(parent);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_WRITEBACK_SWITCH);
	SWAP_REQUIRE(test, ZSWAP_READS_PROTECT);
	mem = user_memory_charged(test, cgroup, 5);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(parent, "memory.zswap.writeback", c->parent), 0);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.zswap.writeback", c->child), 0);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	swap_kunit_set_zswap(true);
	user_fill_coarse(mem, 0, 5);
	user_swap_out(mem, 0, 4);
	zswap_age(test, memcg, 4);
	swap_decisions_skip(test);
	swap_step(NULL, SWAP_NO_TARGET);

	swap_rule(test, "the shrinker writes back only if the cgroup and its parents permit it");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL) > 0, c->writes);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(memcg, 2), c->writes ? 2UL : SHRINK_STOP);
	SWAP_EXPECT_DECISIONS(test, area, c->writes ? "W0:0+2" : "");
	swap_kunit_zswap_limit(0);
	user_page_out(mem, 4, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_WRITE) > 0, c->writes,
			    "rule: rejected pages are written only if the cgroup permits it");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_has(user_entry(mem, 2)), !c->writes,
			    "rule: a full pool is written back only if the cgroup permits it");
	user_reclaim_cached(mem, 0, 5);
	USER_EXPECT_INTACT(test, mem);
}

/* An incompressible page is stored only if it may be written back, as it saves no memory. */
static void incompressible_page_needs_writeback(struct kunit *test)
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
			    "rule: an incompressible page that may not be written back is not stored");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_counter(SWAP_ZSWAP_COMPRESS_FAIL) - failed, 1ULL);
	SWAP_EXPECT_BIOS(test, area->disk, "");
	KUNIT_EXPECT_TRUE(test, user_noise_intact(mem, 0, 5));
}

/* Without memory for the cgroup's list of pages, a page bypasses the pool. */
static void page_bypasses_the_pool_without_a_list(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_charged(test, cgroup, 1);

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	user_mix(mem, 0, 1);
	swap_kunit_set_zswap(true);
	swap_fail(test, SWAP_FAIL_ZSWAP_LRU, 1, SWAP_FAIL_ALL);
	user_swap_out(mem, 0, 1);
	swap_rule(test, "a page that zswap rejects is written to the disk");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 0UL);
}

/* memory.stat counts pages in the pool, stored, loaded and written back. */
static void pool_pages_are_counted_for_their_cgroup(struct kunit *test)
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
			    "rule: zswapped counts the cgroup's pages in the pool");
	KUNIT_EXPECT_EQ(test, memory_cgroup_count(cgroup, "memory.stat", "zswpout"),
			2L * MEMCG_MANY);
	zswap_age(test, memcg, 2 * MEMCG_MANY);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back_of(memcg, MEMCG_MANY),
			(unsigned long)MEMCG_MANY);
	if (swap_has(ZSWAP_WRITEBACK_COUNTED))
		KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswpwb"),
				    (long)MEMCG_MANY,
				    "rule: zswpwb counts the cgroup's pages that are written back");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswpin"),
			    (long)MEMCG_MANY,
			    "rule: zswpin counts the cgroup's pages that are loaded");
	KUNIT_EXPECT_EQ_MSG(test, memory_cgroup_count(cgroup, "memory.stat", "zswapped"), 0L,
			    "rule: zswapped counts only pages that are in the pool");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.zswap.current"), 0L);
}

/* Pages of a removed cgroup move to its parent's list, in order. */
static void pages_of_a_removed_cgroup_move_to_the_parent(struct kunit *test)
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
	zswap_age(test, memcg, 4);
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_write_back_of(NULL, 4), 0UL);
	swap_decisions_skip(test);
	swap_step(NULL, SWAP_NO_TARGET);
	KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroup), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_write_back(2), 2UL,
			    "rule: pages of a removed cgroup are written back from its parent's list");
	swap_rule(test, "pages of a removed cgroup are written back from its parent's list");
	SWAP_EXPECT_DECISIONS(test, area, "W0:0+2");
	user_reclaim_cached(mem, 0, 4);
	USER_EXPECT_INTACT(test, mem);
}

/* A full pool is shrunk cgroup by cgroup; a cgroup that is removed meanwhile is skipped. */
static void removed_cgroup_is_skipped(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct mem_cgroup *memcg = memory_cgroup_memcg(cgroup);
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_FULL_AT_LIMIT);
	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	mem = user_memory_charged(test, cgroup, 3);
	user_mix(mem, 0, 3);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 2);
	zswap_age(test, memcg, 2);
	/* The pool is full: the worker writes the cgroup's pages back, then stops. */
	swap_kunit_zswap_limit(0);
	user_page_out(mem, 2, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: a full pool shrinks in every cgroup");
	KUNIT_ASSERT_TRUE(test, swap_kunit_zswap_shrinks_next(memcg));
	KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroup), 0);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_zswap_shrinks_next(memcg),
			       "rule: shrinking skips a removed cgroup");
}

/**
 * struct pool_cgroup - parameter: a cgroup that the worker comes to
 * @name: of the parameter
 * @file: of the cgroup, written once its pages are in the pool; or NULL
 * @text: what is written
 * @empty: it has no pages in the pool
 * @referenced: each of its pages gets a second chance
 * @removed: it is removed
 * @stays: its pages stay in the pool
 * @many: there are more of them in a row than times that the worker retries
 */
struct pool_cgroup {
	const char *name;
	const char *file;
	const char *text;
	bool empty;
	bool referenced;
	bool removed;
	bool stays;
	bool many;
};

static const struct pool_cgroup pool_cgroups[] = {
	{ "plain" },
	{ "empty", .empty = true },
	{ "may not write back", "memory.zswap.writeback", "0", .stays = true },
	{ "over its limit", "memory.zswap.max", "0" },
	{ "referenced", .referenced = true },
	{ "removed", .removed = true },
	{ "many empty", .empty = true, .many = true },
	{ "many that may not write back", "memory.zswap.writeback", "0", .stays = true,
	  .many = true },
	{ "many removed", .removed = true, .many = true },
};

SWAP_PARAMS(pool_cgroup, pool_cgroups);

/* The worker gives up after this number of failures. */
#define POOL_RETRIES	16

/* A full pool is shrunk in every cgroup, whatever those between the first and the last are like. */
static void worker_comes_to_every_cgroup(struct kunit *test)
{
	const struct pool_cgroup *c = swap_param(test);
	unsigned int i, last = c->many ? POOL_RETRIES + 2 : 2;
	struct user_memory *mems[POOL_RETRIES + 3], *mem = user_memory_new(test, 1);
	struct memory_cgroup *cgroups[POOL_RETRIES + 3];

	SWAP_REQUIRE(test, ZSWAP_FULL_AT_LIMIT);
	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	if (c->stays)
		SWAP_REQUIRE(test, ZSWAP_WRITEBACK_SWITCH);
	swap_area_on(test, &SWAP_AREA_ZRAM);
	swap_kunit_set_zswap(true);
	for (i = 0; i <= last; i++) {
		bool between = i && i < last;

		cgroups[i] = memory_cgroup_new(test);
		mems[i] = user_memory_charged(test, cgroups[i], 4);
		user_mix(mems[i], 0, 4);
		if (between && c->empty)
			continue;
		user_swap_out(mems[i], 0, 4);
		if (!between || !c->referenced)
			swap_kunit_zswap_write_back_of(memory_cgroup_memcg(cgroups[i]), 4);
		if (between && c->file)
			KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroups[i], c->file, c->text), 0);
	}
	for (i = 1; i < last && c->removed; i++)
		KUNIT_ASSERT_EQ(test, memory_cgroup_remove(cgroups[i]), 0);
	swap_kunit_zswap_limit(0);
	/* Rejected by the full pool, it starts the worker. */
	user_mix(mem, 0, 1);
	user_page_out(mem, 0, 1);
	swap_kunit_zswap_settle();
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), c->stays ? 4UL * (last - 1) : 0,
			    "rule: a full pool shrinks in every cgroup that permits it");
	for (i = 0; i <= last; i++) {
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_has(user_entry(mems[i], 0)),
				    i && i < last && c->stays,
				    "rule: a full pool shrinks in every cgroup: the one at %u", i);
		user_reclaim_cached(mems[i], 0, 4);
		USER_EXPECT_INTACT(test, mems[i]);
	}
}

/* Drop caches. The shrinker uses statistics that may be outdated: reading them updates them. */
static int drop_caches(struct memory_cgroup *cgroup)
{
	memory_cgroup_count(cgroup, "memory.stat", "zswapped");
	return text_file_write("proc", "sys/vm/drop_caches", "2");
}

/* memory.reclaim stores pages in the pool; dropping caches writes them back to the disk. */
static void reclaim_stores_in_the_pool(struct kunit *test)
{
	struct memory_cgroup *cgroup = memory_cgroup_new(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem;
	unsigned long stored;
	unsigned int times;

	SWAP_REQUIRE(test, ZSWAP_READS_PROTECT);
	mem = user_memory_charged(test, cgroup, 2 * MEMCG_MANY);
	user_fill_coarse(mem, 0, 2 * MEMCG_MANY);
	swap_kunit_set_zswap(true);
	KUNIT_EXPECT_EQ(test, memory_cgroup_reclaim(cgroup, MEMCG_MANY), 0);
	stored = swap_kunit_zswap_stored();
	KUNIT_EXPECT_GE_MSG(test, stored, (unsigned long)MEMCG_MANY,
			    "rule: reclaimed pages are stored in the pool");
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "N"), 0);
	for (times = 0; times < 4; times++)
		KUNIT_EXPECT_EQ(test, drop_caches(cgroup), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_WRITE), 0U,
			    "rule: a disabled shrinker writes nothing");
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	for (times = 0; times < 20 && swap_kunit_zswap_stored(); times++)
		KUNIT_EXPECT_EQ(test, drop_caches(cgroup), 0);
	KUNIT_EXPECT_LT_MSG(test, swap_kunit_zswap_stored(), stored / 2,
			    "rule: dropping caches writes the pool back");
	user_reclaim_cached(mem, 0, 2 * MEMCG_MANY);
	USER_EXPECT_INTACT(test, mem);
}

static struct kunit_case swap_zswap_memcg_cases[] = {
	KUNIT_CASE(no_writeback_keeps_pages_in_memory),
	KUNIT_CASE(limit_of_0_bypasses_the_pool),
	KUNIT_CASE(cgroup_at_its_limit_writes_to_the_disk),
	KUNIT_CASE(limit_of_the_parent_applies),
	KUNIT_CASE(cgroup_at_its_limit_makes_room),
	KUNIT_CASE_PARAM(writeback_needs_permission, writeback_switch_gen_params),
	KUNIT_CASE(incompressible_page_needs_writeback),
	KUNIT_CASE(page_bypasses_the_pool_without_a_list),
	KUNIT_CASE(pool_pages_are_counted_for_their_cgroup),
	KUNIT_CASE(pages_of_a_removed_cgroup_move_to_the_parent),
	KUNIT_CASE(removed_cgroup_is_skipped),
	KUNIT_CASE_PARAM(worker_comes_to_every_cgroup, pool_cgroup_gen_params),
	KUNIT_CASE(reclaim_stores_in_the_pool),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap_memcg, swap_zswap_memcg_cases);

MODULE_DESCRIPTION("KUnit suite of zswap and memory cgroups");
MODULE_LICENSE("GPL");
