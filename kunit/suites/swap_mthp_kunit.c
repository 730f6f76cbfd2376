// SPDX-License-Identifier: GPL-2.0
/*
 * Folios of several pages on their way out and in: in how many bios, what is
 * read back as one, what is split, and what is counted.
 */
#include <linux/mm.h>
#include "swap_fixture.h"

static const struct order_case every_order[] = {
	LARGE_ON_PROFILES(", order 0", 0),
	LARGE_ON_PROFILES(", order 2", 2),
	LARGE_ON_PROFILES(", order 4", 4),
	LARGE_ON_PROFILES(", order 6", 6),
	LARGE_ON_PROFILES(", order 8", 8),
	LARGE_ON_PROFILES(", order 9", 9),
};

/* Those that anonymous memory is made of here: UML maps nothing by a PMD. */
static const struct order_case memory_orders[] = {
	LARGE_ON_PROFILES(", order 2", 2),
	LARGE_ON_PROFILES(", order 4", 4),
	LARGE_ON_PROFILES(", order 6", 6),
	LARGE_ON_PROFILES(", order 8", 8),
};

static const struct order_case profiles[] = { LARGE_ON_PROFILES("", 4) };

LARGE_PARAMS(every_order, every_order)
LARGE_PARAMS(memory_order, memory_orders)
LARGE_PARAMS(profile, profiles)

static const struct order_case *case_of(struct kunit *test)
{
	return swap_param(test);
}

static unsigned int folio_pages(struct kunit *test)
{
	return 1U << case_of(test)->order;
}

static bool synchronous(struct kunit *test)
{
	return case_of(test)->disk->synchronous;
}

/* An area of the case's profile, of which what swapon did is not looked at. */
static struct swap_area *mthp_area(struct kunit *test, unsigned int clusters)
{
	const struct order_case *c = case_of(test);
	struct swap_area *area;

	SWAP_REQUIRE_LARGE_ON(test, c->disk);
	area = swap_area_on(test, &(struct swap_area_config){
		.disk = c->disk, .swap_flags = c->swap_flags, .clusters = clusters });
	fake_disk_forget_bios(area->disk);
	swap_decisions_skip(test);
	return area;
}

/* Memory of folios of the case's order, filled. */
static struct user_memory *mthp_memory(struct kunit *test, unsigned int folios)
{
	unsigned int order = case_of(test)->order;
	struct user_memory *mem;

	swap_use_order(test, order);
	mem = user_memory_new(test, folios << order);
	user_fill(mem, 0, folios << order);
	KUNIT_ASSERT_EQ_MSG(test, user_folio_order(mem, 0), (int)order,
			    "memory is made of folios of order %u", order);
	return mem;
}

/* Out, and nothing left in the swap cache. */
static void swap_out(struct user_memory *mem)
{
	user_page_out(mem, 0, mem->pages);
	user_reclaim_cached(mem, 0, mem->pages);
}

static unsigned int pages_swapped(struct user_memory *mem)
{
	unsigned int page, nr = 0;

	for (page = 0; page < mem->pages; page++)
		nr += user_page_is(mem, page) == USER_PAGE_SWAPPED;
	return nr;
}

static void zswap_as_it_is(void *arg)
{
	if (IS_ENABLED(CONFIG_ZSWAP))
		swap_kunit_zswap_forget(false);
}

/* The kernel has never had zswap on, as far as it knows. */
static void zswap_never_on(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_ZSWAP))
		return;
	swap_defer(test, zswap_as_it_is, NULL);
	swap_kunit_zswap_forget(true);
}

static void expect_intact(struct user_memory *mem)
{
	USER_EXPECT_INTACT(mem->test, mem);
}

/*
 * UML
 */

#if SWAP_API_SET_PTES
#define PTES	16

/* Pages in a row, mapped in one call, are mapped in a row: all of a large folio's are. */
static void ptes_are_of_pages_in_a_row(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, PTES);
	unsigned long pfn = 0x1000;
	pte_t ptes[PTES] = { };
	unsigned int i;

	set_ptes(mem->mm, mem->start, ptes, pfn_pte(pfn, PAGE_SHARED), PTES);
	for (i = 0; i < PTES; i++)
		KUNIT_EXPECT_EQ_MSG(test, pte_pfn(ptes[i]), pfn + i,
				    "rule: set_ptes() maps pages in a row: pte %u", i);
}
#else
static void ptes_are_of_pages_in_a_row(struct kunit *test)
{
	kunit_skip(test, "this kernel lacks: several pages are mapped in one call");
}
#endif

/*
 * Out
 */

/* One folio is one bio, of one piece, whatever its size; its data lies where it belongs. */
static void large_folio_is_one_bio(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int nr = folio_pages(test), i;
	const struct fake_bio *bio;
	struct folio *folio;
	swp_entry_t entry = swap_alloc_cached_order(test, case_of(test)->order, &folio);

	KUNIT_ASSERT_NE(test, entry.val, 0UL);
	folio_lock(folio);
	KUNIT_ASSERT_EQ(test, swap_folio_dup_swap(folio), 0);
	folio_unlock(folio);
	for (i = 0; i < nr; i++)
		memset64(folio_address(folio) + i * PAGE_SIZE, 0x1000 + i,
			 PAGE_SIZE / sizeof(u64));
	folio_mark_dirty(folio);
	KUNIT_EXPECT_EQ(test, swap_write_folio(folio), 0);
	bio = fake_disk_bio(area->disk, 0);
	KUNIT_ASSERT_NOT_NULL(test, bio);
	KUNIT_EXPECT_EQ_MSG(test, bio->segments, 1U,
			    "rule: a large folio is written as one piece (A57)");
	swap_rule(test, "a large folio is written in one bio (A57)");
	if (nr > 1)
		SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	else
		SWAP_EXPECT_BIOS(test, area->disk, "W0:0");
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, *(u64 *)fake_disk_page(area->disk,
								 swap_slot_at(area, 0, i)),
				    0x1000ULL + i,
				    "rule: a slot on the disk holds its page's data, slot %u", i);
	swap_free_slots(entry, nr);
}

/* Reclaim finds slots for all of it at once, writes it whole, and counts it as one. */
static void large_folio_goes_out_whole(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	struct user_memory *mem = mthp_memory(test, 1);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	unsigned long pages = swap_vmstat(PSWPOUT);
	long whole = swap_order_count(order, "swpout");
	long fallback = swap_order_count(order, "swpout_fallback");

	swap_out(mem);
	swap_rule(test, "a large folio goes out whole");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u W0:0+%u", order, nr);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	KUNIT_EXPECT_EQ(test, pages_swapped(mem), nr);
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout"), whole + 1,
			    "rule: a large folio written whole counts once in its size's swpout");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout_fallback"), fallback,
			    "rule: one that went out whole is no fallback");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPOUT) - pages, (unsigned long)nr,
			    "rule: PSWPOUT counts its pages");
	expect_intact(mem);
}

/* No room for it in one place: it is split, counted, and its pages go one by one. */
static void large_folio_without_room_is_split(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
	struct user_memory *mem = mthp_memory(test, 1);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	long whole = swap_order_count(order, "swpout");
	long fallback = swap_order_count(order, "swpout_fallback");
	struct swap_area_facts facts;

	swap_alloc(test);
	swap_decisions_skip(test);
	swap_out(mem);
	KUNIT_EXPECT_EQ_MSG(test, pages_swapped(mem), nr,
			    "rule: what has no room as a whole goes out page by page");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout_fallback"), fallback + 1,
			    "rule: a large folio that is split for want of room counts as fallback");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout"), whole,
			    "rule: one that was split does not count as written whole");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "split") > 0, true,
			    "rule: it is split");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.inuse, nr + 1UL);
	swap_decisions_skip(test);
	expect_intact(mem);
}

/* Single pages between large folios: each to its order's cluster. */
static void single_pages_between_large_folios(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 3);
	unsigned int page, order = case_of(test)->order, nr = folio_pages(test);
	struct user_memory *mem;

	swap_use_order(test, order);
	mem = user_memory_new(test, 3 * nr);
	user_fill(mem, 0, nr);
	user_fill(mem, 2 * nr, nr);
	swap_use_small(test, order);
	user_fill(mem, nr, nr);
	KUNIT_EXPECT_EQ(test, user_folio_order(mem, nr), 0);
	swap_out(mem);
	swap_rule(test, "single pages between large folios have a cluster of their own");
	for (page = 0; page < 3 * nr; page++) {
		bool small = page / nr == 1;
		unsigned int slot = small ? page - nr : page < nr ? page : page - nr;

		KUNIT_EXPECT_EQ_MSG(test, swp_offset(user_entry(mem, page)),
				    swap_slot_at(area, small, slot),
				    "rule: %s: page %u", swap_case_of(test)->rule, page);
	}
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 3 * nr);
	swap_decisions_skip(test);
	expect_intact(mem);
}

/* A cgroup with swap left for a part of it: split, and as many pages go as may. */
static void cgroup_has_swap_for_a_part(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	long fallback = swap_order_count(order, "swpout_fallback");
	struct memory_cgroup *cgroup;
	struct swap_area_facts facts;
	struct user_memory *mem;

	if (!IS_ENABLED(CONFIG_MEMCG))
		kunit_skip(test, "CONFIG_MEMCG is not set");
	cgroup = memory_cgroup_new(test);
	swap_use_order(test, order);
	mem = user_memory_new(test, nr);
	user_memory_join(mem, cgroup);
	user_fill(mem, 0, nr);
	KUNIT_ASSERT_EQ(test, user_folio_order(mem, 0), (int)order);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, nr);
	user_reclaim_cached(mem, 0, nr);
	KUNIT_EXPECT_EQ_MSG(test, pages_swapped(mem), 2U,
			    "rule: no more is swapped out than memory.swap.max");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout_fallback"), fallback + 1,
			    "rule: a large folio that may not be charged whole is split");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.inuse, 2UL,
			    "rule: a refused charge gives all slots of the folio back");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 8192L);
	swap_decisions_skip(test);
	expect_intact(mem);
}

/* A failed write of a large folio: it stays, all of it, and goes out once more. */
static void write_error_keeps_the_folio(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	struct user_memory *mem = mthp_memory(test, 1);

	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_IOERR);
	swap_out(mem);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, 0) && user_page_cached(mem, 3),
			      "rule: a folio that could not be written stays in memory");
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_OK);
	expect_intact(mem);
	swap_out(mem);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 0),
			       "rule: a failed write is tried again");
	swap_decisions_skip(test);
	expect_intact(mem);
}

/*
 * In
 */

/* A synchronous device reads all of it back as one folio; others a page at a time. */
static void large_folio_comes_back(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	struct user_memory *mem = mthp_memory(test, 1);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	unsigned int page = nr / 2 + 1;
	long in;

	SWAP_REQUIRE(test, SWAPIN_LARGE);
	zswap_never_on(test);
	swap_set_page_cluster(0);
	swap_out(mem);
	swap_decisions_skip(test);
	fake_disk_forget_bios(area->disk);
	in = swap_order_count(order, "swpin");
	KUNIT_EXPECT_FALSE(test, user_fault(mem, page) & VM_FAULT_ERROR);
	if (synchronous(test)) {
		swap_rule(test, "a synchronous device reads a large folio back as one");
		SWAP_EXPECT_BIOS(test, area->disk, "R0:0+%u", nr);
		SWAP_EXPECT_DECISIONS(test, area, "R0:0+%u!%u F0:0+%u", nr, page, nr);
		KUNIT_EXPECT_EQ_MSG(test, user_folio_order(mem, page), (int)order,
				    "rule: %s", swap_case_of(test)->rule);
		KUNIT_EXPECT_EQ(test, pages_swapped(mem), 0U);
		if (in >= 0)
			KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpin"), in + 1,
					    "rule: a large folio read whole counts once in its size's swpin");
	} else {
		swap_rule(test, "other devices read pages, not large folios");
		SWAP_EXPECT_BIOS(test, area->disk, "R0:%u", page);
		KUNIT_EXPECT_EQ_MSG(test, user_folio_order(mem, page), 0,
				    "rule: %s", swap_case_of(test)->rule);
		KUNIT_EXPECT_EQ(test, pages_swapped(mem), nr - 1);
		if (in >= 0)
			KUNIT_EXPECT_EQ(test, swap_order_count(order, "swpin"), in);
		swap_decisions_skip(test);
	}
	expect_intact(mem);
}

struct small_reason {
	SWAP_PARAM_NAME;
	bool zswap;
	bool size_off;
	bool page_gone;
	bool moved;
};

static const struct small_reason small_reasons[] = {
	{ "zswap has been on", .zswap = true },
	{ "the size is in use no more", .size_off = true },
	{ "a page of it is gone", .page_gone = true },
	{ "slots at another place of the folio", .moved = true },
};

LARGE_PARAMS(small_reason, small_reasons)

/* What keeps a large folio from being read as one: its page comes alone. */
static void large_folio_comes_back_by_pages(struct kunit *test)
{
	const struct small_reason *reason = swap_param(test);
	struct swap_area *area;
	struct user_memory *mem;

	SWAP_REQUIRE_LARGE(test);
	SWAP_REQUIRE(test, SWAPIN_LARGE);
	area = swap_area_on(test, &SWAP_AREA_ZRAM);
	if (reason->zswap && !IS_ENABLED(CONFIG_ZSWAP))
		kunit_skip(test, "CONFIG_ZSWAP is not set");
	if (!reason->zswap)
		zswap_never_on(test);
	if (reason->moved) {
		/* Single pages, from slot 1 on; then memory is of large folios. */
		mem = user_memory_new(test, 16);
		user_fill(mem, 0, 16);
		swap_alloc(test);
		swap_use_order(test, 4);
	} else {
		swap_use_order(test, 4);
		mem = user_memory_new(test, 16);
		user_fill(mem, 0, 16);
	}
	swap_out(mem);
	if (reason->size_off)
		swap_use_small(test, 4);
	if (reason->page_gone)
		user_dontneed(mem, 15, 1);
	swap_decisions_skip(test);
	fake_disk_forget_bios(area->disk);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 5) & VM_FAULT_ERROR);
	swap_rule(test, "a page that is no part of a whole large folio is read alone");
	SWAP_EXPECT_BIOS(test, area->disk, reason->moved ? "R0:6" : "R0:5");
	KUNIT_EXPECT_EQ(test, user_folio_order(mem, 5), 0);
	swap_decisions_skip(test);
	expect_intact(mem);
}

/* Part of a swapped folio is given up: its slots go, the others keep their data. */
static void part_of_a_folio_is_given_up(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	struct user_memory *mem = mthp_memory(test, 1);
	unsigned int nr = folio_pages(test);

	swap_out(mem);
	swap_decisions_skip(test);
	user_dontneed(mem, 1, nr - 2);
	swap_rule(test, "part of a swapped folio is given up");
	SWAP_EXPECT_DECISIONS(test, area, nr == 4 ? "F0:1+2" : "F0:1+%u", nr - 2);
	SWAP_EXPECT_LISTS(test, area, "free:1 nonfull^%u:0", case_of(test)->order);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, nr - 1), USER_PAGE_SWAPPED);
	expect_intact(mem);
}

/* Swapoff brings all of it back, by pages. */
static void swapoff_brings_all_back(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	struct user_memory *mem = mthp_memory(test, 1);

	swap_out(mem);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, pages_swapped(mem), 0U);
	expect_intact(mem);
}

/*
 * Split
 */

/* A folio with slots is split: each page has its own slot, as before. */
static void split_folio_keeps_its_slots(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	struct user_memory *mem = mthp_memory(test, 1);
	unsigned int nr = folio_pages(test), page;
	struct folio *folio = user_folio(mem, 0);
	swp_entry_t entry;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, folio);
	folio_lock(folio);
	err = swap_folio_alloc_swap(folio);
	if (!err)
		err = swap_split_folio(folio);
	folio_unlock(folio);
	folio_put(folio);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "splitting a folio with slots");
	for (page = 0; page < nr; page++) {
		entry = swap_entry_at(area, 0, page);
		folio = swap_cached_folio(entry);
		KUNIT_ASSERT_NOT_NULL_MSG(test, folio,
					  "rule: a page of a split folio keeps its slot: %u", page);
		KUNIT_EXPECT_EQ(test, folio_order(folio), 0U);
		KUNIT_EXPECT_EQ_MSG(test, swap_folio_value(folio), mem->value[page],
				    "rule: a page of a split folio keeps its slot: %u", page);
		folio_lock(folio);
		KUNIT_EXPECT_TRUE_MSG(test, swap_folio_free_swap(folio),
				      "rule: each page gives its own slot up: %u", page);
		folio_unlock(folio);
		folio_put(folio);
	}
	swap_rule(test, "each page of a split folio has its own slot");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u F0:0+%u", case_of(test)->order, nr);
	expect_intact(mem);
}

/* A folio in the swap cache that nobody needs gives all its slots up at once, or none. */
static void folio_gives_all_its_slots_up(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int nr = folio_pages(test);
	struct folio *folio;
	swp_entry_t entry = swap_alloc_cached_order(test, case_of(test)->order, &folio);

	KUNIT_ASSERT_NE(test, entry.val, 0UL);
	folio_lock(folio);
	KUNIT_ASSERT_EQ(test, swap_folio_dup_swap(folio), 0);
	if (nr > 2)
		swap_free_slots(entry, nr - 1);
	KUNIT_EXPECT_FALSE_MSG(test, swap_folio_free_swap(folio),
			       "rule: a folio keeps its slots while one of them is in use");
	swap_rule(test, "a cached folio pins all its slots");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u", case_of(test)->order);
	swap_free_slots(swap_entry_at(area, 0, nr - 1), 1);
	KUNIT_EXPECT_TRUE(test, swap_folio_free_swap(folio));
	folio_unlock(folio);
	swap_area_settle(area);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), nr,
			    "rule: a folio nobody needs gives up all its slots");
	swap_decisions_skip(test);
}

/*
 * zswap
 */

/* The pool takes a large folio page by page where it takes it at all. */
static void zswap_and_large_folios(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	struct user_memory *mem;
	long stored;

	if (!IS_ENABLED(CONFIG_ZSWAP))
		kunit_skip(test, "CONFIG_ZSWAP is not set");
	swap_kunit_set_zswap(true);
	mem = mthp_memory(test, 1);
	stored = swap_order_count(order, "zswpout");
	swap_out(mem);
	KUNIT_EXPECT_EQ(test, pages_swapped(mem), nr);
	if (swap_has(ZSWAP_LARGE)) {
		swap_rule(test, "zswap takes a large folio, page by page");
		SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u S0:0^%u", order, order);
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), (unsigned long)nr,
				    "rule: zswap stores each page of a large folio");
		KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "zswpout"), stored + 1,
				    "rule: a large folio stored whole counts once in its size's zswpout");
		SWAP_EXPECT_BIOS(test, area->disk, "");
	} else {
		swap_rule(test, "zswap takes no large folio");
		SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u W0:0+%u", order, nr);
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
				    "rule: zswap takes no large folio");
		SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	}
	swap_decisions_skip(test);
	expect_intact(mem);
	KUNIT_EXPECT_EQ_MSG(test, user_folio_order(mem, 0), 0,
			    "rule: where zswap may have a part, pages are read one by one");
}

/* One page of it does not go in: nothing of it stays in, and the disk gets it all. */
static void zswap_takes_all_of_a_folio_or_nothing(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int nr = folio_pages(test);
	struct user_memory *mem;

	if (!IS_ENABLED(CONFIG_ZSWAP))
		kunit_skip(test, "CONFIG_ZSWAP is not set");
	SWAP_REQUIRE(test, ZSWAP_LARGE);
	mem = mthp_memory(test, 1);
	swap_kunit_set_zswap(true);
	swap_kunit_zswap_limit(0);
	swap_out(mem);
	swap_kunit_zswap_limit(20);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: zswap takes a large folio whole or not at all");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	swap_decisions_skip(test);
	expect_intact(mem);
}

/*
 * Shared memory
 */

/* A huge page of shared memory: one folio of a whole cluster, out and back. */
static void huge_shared_memory(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int n = swap_cluster_slots();
	struct user_memory *mem;
	long whole;

	swap_use_shmem_order(test, 9);
	mem = user_memory_shmem(test, n);
	user_fill(mem, 0, n);
	whole = swap_order_count(9, "swpout");
	user_page_out(mem, 0, n);
	swap_rule(test, "a huge page of shared memory goes to a cluster of its own, in one bio");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", n);
	KUNIT_EXPECT_EQ_MSG(test, swp_offset(user_entry(mem, 0)), swap_slot_at(area, 0, 0),
			    "rule: %s", swap_case_of(test)->rule);
	KUNIT_EXPECT_EQ(test, pages_swapped(mem), n);
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(9, "swpout"), whole + 1,
			    "rule: a large folio written whole counts once in its size's swpout");
	user_reclaim_cached(mem, 0, n);
	expect_intact(mem);
	swap_decisions_skip(test);
}

/* No cluster is free: it is split, counted, and as many of its pages go as have room. */
static void huge_shared_memory_without_room_is_split(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
	unsigned int n = swap_cluster_slots();
	struct user_memory *mem;
	long whole, fallback;

	swap_use_shmem_order(test, 9);
	mem = user_memory_shmem(test, n);
	user_fill(mem, 0, n);
	swap_alloc(test);
	whole = swap_order_count(9, "swpout");
	fallback = swap_order_count(9, "swpout_fallback");
	user_page_out(mem, 0, n);
	user_reclaim_cached(mem, 0, n);
	KUNIT_EXPECT_EQ_MSG(test, pages_swapped(mem), n - 1,
			    "rule: what has no room as a whole goes out page by page");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(9, "swpout_fallback"),
			    fallback + swap_has(SHMEM_FALLBACK_COUNTED),
			    "rule: a large folio that is split for want of room counts as fallback");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(9, "swpout"), whole,
			    "rule: one that was split does not count as written whole");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), n - 1);
	expect_intact(mem);
	swap_decisions_skip(test);
}

#define EVERY(name)	KUNIT_CASE_PARAM(name, every_order_gen_params)
#define MEMORY(name)	KUNIT_CASE_PARAM(name, memory_order_gen_params)
#define PROFILE(name)	KUNIT_CASE_PARAM(name, profile_gen_params)

static struct kunit_case swap_mthp_cases[] = {
	KUNIT_CASE(ptes_are_of_pages_in_a_row),
	EVERY(large_folio_is_one_bio),
	MEMORY(large_folio_goes_out_whole),
	MEMORY(large_folio_without_room_is_split),
	PROFILE(single_pages_between_large_folios),
	PROFILE(cgroup_has_swap_for_a_part),
	PROFILE(write_error_keeps_the_folio),
	MEMORY(large_folio_comes_back),
	KUNIT_CASE_PARAM(large_folio_comes_back_by_pages, small_reason_gen_params),
	MEMORY(part_of_a_folio_is_given_up),
	PROFILE(swapoff_brings_all_back),
	MEMORY(split_folio_keeps_its_slots),
	MEMORY(folio_gives_all_its_slots_up),
	PROFILE(zswap_and_large_folios),
	PROFILE(zswap_takes_all_of_a_folio_or_nothing),
	PROFILE(huge_shared_memory),
	PROFILE(huge_shared_memory_without_room_is_split),
	{}
};

SWAP_KUNIT_SUITE(swap_mthp, swap_mthp_cases);

MODULE_DESCRIPTION("KUnit suite of large folios in swap");
MODULE_LICENSE("GPL");
