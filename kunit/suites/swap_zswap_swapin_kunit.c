// SPDX-License-Identifier: GPL-2.0
/*
 * Which swap-ins count for zswap's protection: the shrinker spares one page of
 * the pool for each.
 *
 * The rule: each folio that is read from the device counts once, whether the
 * fault or readahead asked for it. Nothing else counts. The older rule: only the
 * page that the fault is for counts, also when zswap or the zero map serves it,
 * and not when it comes from a synchronous device, which has no readahead. Some
 * kernels count it only when no window was read with it.
 */
#include "swap_fixture.h"

static const char *swapin_rule(void)
{
	return swap_has(ZSWAP_SWAPIN_COUNT) ? "every folio read from the device counts" :
					      "only the page the fault is for counts";
}

/* Counted for one window, of which @reads pages came from the device. */
static long swapin_window_counts(unsigned int reads)
{
	return swap_has(ZSWAP_SWAPIN_COUNT) ? reads : !swap_has(ZSWAP_LONE_PIVOT_COUNT);
}

/* Memory in a cgroup of its own, if there are cgroups. */
static struct user_memory *swapin_memory(struct kunit *test, unsigned long start,
					 unsigned int pages, struct mem_cgroup **memcg)
{
	struct user_memory *mem;

	SWAP_REQUIRE(test, ZSWAP_SHRINKER);
	KUNIT_ASSERT_TRUE_MSG(test, swap_has(ZSWAP_SWAPIN_COUNT) || swap_has(ZSWAP_PIVOT_COUNT),
			      "rule: a kernel with zswap's shrinker counts swap-ins");
	kunit_info(test, "the rule of this kernel: %s", swapin_rule());
	mem = user_memory_at(test, start, pages);
	*memcg = NULL;
	if (!mem_cgroup_disabled()) {
		struct memory_cgroup *cgroup = memory_cgroup_new(test);

		*memcg = memory_cgroup_memcg(cgroup);
		user_memory_join(mem, cgroup);
	}
	return mem;
}

#define SWAPIN_START	0x40000000UL

/* One letter for each page: on the Disk, in the Pool, Zero-filled, or on the disk and Cached. */
static void swapin_swap_out(struct user_memory *mem, struct swap_area *area, const char *where)
{
	struct folio *folio;
	unsigned int page;

	if (strchr(where, 'Z'))
		SWAP_REQUIRE(mem->test, ZEROMAP);
	for (page = 0; where[page]; page++) {
		swap_kunit_set_zswap(where[page] == 'P');
		if (where[page] == 'Z')
			user_write(mem, page, 0);
		else
			user_fill(mem, page, 1);
		user_swap_out(mem, page, 1);
	}
	swap_kunit_set_page_cluster(0);
	for (page = 0; where[page]; page++) {
		if (where[page] != 'C')
			continue;
		folio = swap_read_slot(user_entry(mem, page));
		KUNIT_ASSERT_NOT_NULL(mem->test, folio);
		folio_wait_locked(folio);
		folio_put(folio);
	}
	swap_kunit_set_page_cluster(3);
	swap_decisions_skip(mem->test);
}

struct swapin {
	SWAP_PARAM_NAME;
	const char *where;	/* pages of the window; the fault is for the fourth */
	unsigned int reads;	/* from the device */
};

static const struct swapin swapins[] = {
	/* name, where, reads */
	{ "all on the disk", "DDDDDDDD", 8 },
	{ "some in the pool", "DPDDPDDD", 6 },
	{ "target in the pool", "DDDPDDDD", 7 },
	{ "all in the pool", "PPPPPPPP", 0 },
	{ "some zero", "ZDZDDDDZ", 5 },
	{ "target zero", "DDDZDDDD", 7 },
	{ "some cached", "CCDDDDCC", 4 },
	{ "target alone on the disk", "PZPDCPPZ", 1 },
};

SWAP_PARAMS(swapin, swapins);

static void expect_window_counts(struct kunit *test, struct swap_area *area, unsigned int reads,
				 long counted)
{
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), reads);
	KUNIT_EXPECT_EQ_MSG(test, counted, swapin_window_counts(reads), "rule: %s", swapin_rule());
}

/* A fault with a window of eight pages. */
static void expect_window(struct kunit *test, bool vma)
{
	const struct swapin *c = swap_param(test);
	struct mem_cgroup *memcg;
	struct user_memory *mem = swapin_memory(test, SWAPIN_START, 8, &memcg);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	long before;

	swapin_swap_out(mem, area, c->where);
	before = swap_kunit_disk_swapins(memcg);
	swap_kunit_set_vma_readahead(vma);
	swap_kunit_set_vma_history(user_vma(mem), 0, 0, 6);
	swap_kunit_set_readahead_hits(6);
	user_fault(mem, 3);
	expect_window_counts(test, area, c->reads, swap_kunit_disk_swapins(memcg) - before);
}

static void vma_window_counts(struct kunit *test)
{
	expect_window(test, true);
}

static void cluster_window_counts(struct kunit *test)
{
	expect_window(test, false);
}

/* A single page, on each device and in each place. */
struct swapin_alone {
	SWAP_PARAM_NAME;
	const struct swap_area_config *area;
	const char *where;
	bool counts;		/* by the rule */
	bool counted_before;	/* by the older rule */
};

static const struct swapin_alone swapins_alone[] = {
	/* name, area, where, counts, counted_before */
	{ "ssd, disk", &SWAP_AREA_SSD, "D", true, true },
	{ "ssd, pool", &SWAP_AREA_SSD, "P", false, true },
	{ "ssd, zero", &SWAP_AREA_SSD, "Z", false, true },
	{ "ssd, cache", &SWAP_AREA_SSD, "C", false, false },
	{ "hdd, disk", &SWAP_AREA_HDD, "D", true, true },
	{ "hdd, pool", &SWAP_AREA_HDD, "P", false, true },
	{ "hdd, zero", &SWAP_AREA_HDD, "Z", false, true },
	{ "zram, disk", &SWAP_AREA_ZRAM, "D", true, false },
	{ "zram, pool", &SWAP_AREA_ZRAM, "P", false, false },
	{ "zram, zero", &SWAP_AREA_ZRAM, "Z", false, false },
};

SWAP_PARAMS(swapin_alone, swapins_alone);

static void page_alone_counts(struct kunit *test)
{
	const struct swapin_alone *c = swap_param(test);
	struct mem_cgroup *memcg;
	struct user_memory *mem = swapin_memory(test, SWAPIN_START, 1, &memcg);
	struct swap_area *area = swap_area_on(test, c->area);
	long before;

	swapin_swap_out(mem, area, c->where);
	before = swap_kunit_disk_swapins(memcg);
	swap_kunit_set_page_cluster(0);
	user_fault(mem, 0);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), *c->where == 'D' ? 1U : 0U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(memcg) - before,
			    (long)(swap_has(ZSWAP_SWAPIN_COUNT) ? c->counts : c->counted_before),
			    "rule: %s", swapin_rule());
}

/* A read that fails counts, too. */
static void failed_read_counts(struct kunit *test)
{
	struct mem_cgroup *memcg;
	struct user_memory *mem = swapin_memory(test, SWAPIN_START, 1, &memcg);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	long before;

	swap_data_lost(test);
	swapin_swap_out(mem, area, "D");
	before = swap_kunit_disk_swapins(memcg);
	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	swap_kunit_set_page_cluster(0);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, 0) & VM_FAULT_SIGBUS);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(memcg) - before, 1L,
			    "rule: a read counts when it is submitted");
	user_memory_exit(mem);
}

/* Each page that swapoff reads counts. */
static void swapoff_counts(struct kunit *test)
{
	struct mem_cgroup *memcg;
	struct user_memory *mem = swapin_memory(test, SWAPIN_START, 4, &memcg);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	long before;

	swapin_swap_out(mem, area, "DDDD");
	before = swap_kunit_disk_swapins(memcg);
	swap_kunit_set_page_cluster(0);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(memcg) - before, 4L,
			    "rule: each page that swapoff reads counts");
}

/* A neighbour counts for its own cgroup, not for the cgroup of the fault. */
static void neighbour_counts_for_its_own_cgroup(struct kunit *test)
{
	struct mem_cgroup *of_mem, *of_other;
	struct user_memory *mem, *other;
	struct swap_area *area;
	long before, before_other;

	memory_cgroup_require(test);
	mem = swapin_memory(test, SWAPIN_START, 1, &of_mem);
	other = swapin_memory(test, SWAPIN_START + 0x10000000, 3, &of_other);
	area = swap_area_on(test, &SWAP_AREA_SSD);
	swapin_swap_out(mem, area, "D");
	swapin_swap_out(other, area, "DDD");
	before = swap_kunit_disk_swapins(of_mem);
	before_other = swap_kunit_disk_swapins(of_other);
	swap_kunit_set_vma_readahead(false);
	swap_kunit_set_readahead_hits(2);
	user_fault(mem, 0);
	expect_window_counts(test, area, 4, swap_kunit_disk_swapins(of_mem) - before +
			     swap_kunit_disk_swapins(of_other) - before_other);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0+4!0");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(of_mem) - before,
			    swapin_window_counts(1),
			    "rule: a read counts for the cgroup whose page it is");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(of_other) - before_other,
			    swap_has(ZSWAP_SWAPIN_COUNT) ? 3L : 0L,
			    "rule: a read counts for the cgroup whose page it is");
}

#define POOL_PAGES	16

/* @on_disk pages on the disk, and a pool of old pages. */
static struct user_memory *pool_and_disk(struct kunit *test, struct swap_area *area,
					 unsigned int on_disk, struct mem_cgroup **memcg)
{
	struct user_memory *mem;
	unsigned int page;

	memory_cgroup_require(test);
	SWAP_REQUIRE(test, ZSWAP_READS_PROTECT);
	mem = swapin_memory(test, SWAPIN_START, on_disk + POOL_PAGES, memcg);
	KUNIT_ASSERT_EQ(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0);
	for (page = 0; page < on_disk; page++) {
		user_fill(mem, page, 1);
		user_swap_out(mem, page, 1);
	}
	swap_kunit_set_zswap(true);
	user_fill_coarse(mem, on_disk, POOL_PAGES);
	user_swap_out(mem, on_disk, POOL_PAGES);
	zswap_age(test, *memcg, POOL_PAGES);
	swap_decisions_skip(test);
	return mem;
}

struct protection {
	SWAP_PARAM_NAME;
	unsigned int reads;
};

static const struct protection protections[] = {
	{ "none read", .reads = 0 },
	{ "one read", .reads = 1 },
	{ "half of it read", .reads = POOL_PAGES / 2 },
	{ "as many read", .reads = POOL_PAGES },
	{ "more read", .reads = POOL_PAGES + 4 },
};

SWAP_PARAMS(protection, protections);

/*
 * The shrinker spares one page of the pool for each read, once; reads beyond the size of the pool
 * count the next time. It may write back the rest in proportion to the memory that this frees.
 */
static void reads_protect_the_pool(struct kunit *test)
{
	const struct protection *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	unsigned long all, spared = min_t(unsigned int, c->reads, POOL_PAGES), later;
	struct mem_cgroup *memcg;
	struct user_memory *mem = pool_and_disk(test, area, c->reads, &memcg);
	unsigned int page;

	all = swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL);
	KUNIT_EXPECT_GE_MSG(test, all, POOL_PAGES / 3UL,
			    "rule: the shrinker may write back pages in proportion to the memory they free");
	KUNIT_EXPECT_LE(test, all, POOL_PAGES * 2UL / 3);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_shrinkable(memcg, GFP_NOIO), 0UL,
			    "rule: the shrinker does nothing if no I/O is allowed");
	swap_kunit_set_page_cluster(0);
	for (page = 0; page < c->reads; page++)
		user_fault(mem, page);
	KUNIT_EXPECT_EQ(test, swap_kunit_disk_swapins(memcg), (long)c->reads);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL),
			    (POOL_PAGES - spared) * all / POOL_PAGES,
			    "rule: the shrinker spares a page for each page read from the disk");
	later = c->reads - spared;
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(memcg), (long)later,
			    "rule: reads that the shrinker has spared a page for are forgotten, others are not");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL),
			    (POOL_PAGES - later) * all / POOL_PAGES,
			    "rule: reads that the shrinker has spared a page for are forgotten, others are not");
	KUNIT_EXPECT_EQ(test, swap_kunit_disk_swapins(memcg), 0L);
}

/* The more pages of a window count, the fewer the shrinker writes back. */
static void window_protects_the_pool(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct mem_cgroup *memcg;
	struct user_memory *mem = pool_and_disk(test, area, 8, &memcg);
	unsigned long all = swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL), nr;
	unsigned int counted;

	swap_kunit_set_vma_history(user_vma(mem), 0, 0, 6);
	user_fault(mem, 3);
	counted = swap_kunit_disk_swapins(memcg);
	expect_window_counts(test, area, 8, counted);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0+8!3");
	nr = swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL);
	KUNIT_EXPECT_EQ_MSG(test, nr, (POOL_PAGES - counted) * all / POOL_PAGES,
			    "rule: the shrinker spares a page for each page read from the disk");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(memcg, nr), nr);
	swap_rule(test, "the shrinker spares a page for each page read from the disk");
	SWAP_EXPECT_DECISIONS(test, area, "W0:8+%lu", nr);
}

/* Pages that the pool loads do not protect others. */
static void pool_hits_protect_nothing(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct mem_cgroup *memcg;
	struct user_memory *mem = pool_and_disk(test, area, 0, &memcg);
	const unsigned int left = POOL_PAGES - 4;
	unsigned long nr, all;
	unsigned int page;

	swap_kunit_set_page_cluster(0);
	for (page = 0; page < 4; page++)
		user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "L0:0!0 L0:1!1 L0:2!2 L0:3!3");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_disk_swapins(memcg),
			    swap_has(ZSWAP_SWAPIN_COUNT) ? 0L : 4L, "rule: %s", swapin_rule());
	page = swap_kunit_disk_swapins(memcg);
	nr = swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL);
	all = swap_kunit_zswap_shrinkable(memcg, GFP_KERNEL);
	KUNIT_EXPECT_EQ_MSG(test, nr, (left - page) * all / left,
			    "rule: the shrinker spares a page for each page read from the disk");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_shrink(memcg, nr), nr);
	SWAP_EXPECT_DECISIONS(test, area, "W0:4+%lu", nr);
}

static struct kunit_case swap_zswap_swapin_cases[] = {
	KUNIT_CASE_PARAM(vma_window_counts, swapin_gen_params),
	KUNIT_CASE_PARAM(cluster_window_counts, swapin_gen_params),
	KUNIT_CASE_PARAM(page_alone_counts, swapin_alone_gen_params),
	KUNIT_CASE(failed_read_counts),
	KUNIT_CASE(swapoff_counts),
	KUNIT_CASE(neighbour_counts_for_its_own_cgroup),
	KUNIT_CASE_PARAM(reads_protect_the_pool, protection_gen_params),
	KUNIT_CASE(window_protects_the_pool),
	KUNIT_CASE(pool_hits_protect_nothing),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap_swapin, swap_zswap_swapin_cases);

MODULE_DESCRIPTION("KUnit suite of zswap's protection by swap-ins");
MODULE_LICENSE("GPL");
