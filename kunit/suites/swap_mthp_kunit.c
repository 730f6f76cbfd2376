// SPDX-License-Identifier: GPL-2.0
/*
 * Large folios, out and in: the bios they are written and read by, when they
 * are split, and what is counted.
 */
#include <linux/mm.h>
#include "order_devices.h"

static bool synchronous(struct kunit *test)
{
	return case_of(test)->disk->synchronous;
}

/* Memory made of folios of the case's order, filled. */
static struct user_memory *large_memory(struct kunit *test, unsigned int folios)
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

/* Page all of a memory out, and leave nothing in the swap cache. */
static void swap_out_all(struct user_memory *mem)
{
	user_page_out(mem, 0, mem->pages);
	user_reclaim_cached(mem, 0, mem->pages);
}

static void zswap_remember(void *arg)
{
	swap_kunit_zswap_forget(false);
}

/* Make the kernel believe that zswap has never been enabled. */
static void zswap_pretend_never_enabled(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_ZSWAP))
		return;
	swap_defer(test, zswap_remember, NULL);
	swap_kunit_zswap_forget(true);
}

#if SWAP_API_SET_PTES
#define PTES	16

/* UML's set_ptes() maps consecutive pages: all pages of a large folio are mapped by it. */
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
	kunit_skip(test, "this kernel has no set_ptes()");
}
#endif

/*
 * Out
 */

/*
 * "mm, swap: fix THP swap out": a folio of any size is written by one bio of one
 * segment, each page to its own slot.
 */
static void folio_is_written_by_one_bio(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
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
			    "rule: a large folio is written as one segment");
	swap_rule(test, "a large folio is written by one bio");
	if (nr > 1)
		SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	else
		SWAP_EXPECT_BIOS(test, area->disk, "W0:0");
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, *(u64 *)fake_disk_page(area->disk,
								 swap_slot_at(area, 0, i)),
				    0x1000ULL + i,
				    "rule: each slot on the disk holds its page's data: slot %u",
				    i);
	swap_free_slots(entry, nr);
}

/* Reclaim swaps a large folio out as a whole, and counts it once. */
static void large_folio_goes_out_whole(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	struct user_memory *mem = large_memory(test, 1);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	unsigned long pages = swap_vmstat(PSWPOUT);
	long whole = swap_order_count(order, "swpout");
	long fallback = swap_order_count(order, "swpout_fallback");

	swap_out_all(mem);
	swap_rule(test, "a large folio is swapped out whole");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u W0:0+%u", order, nr);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), nr);
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout"), whole + 1,
			    "rule: swpout counts a large folio swapped out whole, once");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout_fallback"), fallback,
			    "rule: a large folio swapped out whole is not a fallback");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPOUT) - pages, (unsigned long)nr,
			    "rule: PSWPOUT counts every page of a large folio");
	USER_EXPECT_INTACT(test, mem);
}

/* Without contiguous free slots a large folio is split and swapped out page by page. */
static void large_folio_without_room_is_split(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
	struct user_memory *mem = large_memory(test, 1);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	long whole = swap_order_count(order, "swpout");
	long fallback = swap_order_count(order, "swpout_fallback");

	swap_alloc(test);
	swap_decisions_skip(test);
	swap_out_all(mem);
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), nr,
			    "rule: a split folio is swapped out page by page");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout_fallback"), fallback + 1,
			    "rule: swpout_fallback counts a large folio split because no slots were free");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout"), whole,
			    "rule: swpout does not count a split folio");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "split") > 0, true,
			    "rule: split counts the folio");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), nr + 1UL);
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
}

/* Single pages between large folios take slots of the order-0 cluster. */
static void single_pages_between_large_folios(struct kunit *test)
{
	struct swap_area *area = order_area(test, 3);
	unsigned int page, order = case_of(test)->order, nr = folio_pages(test);
	struct user_memory *mem;

	swap_use_order(test, order);
	mem = user_memory_new(test, 3 * nr);
	user_fill(mem, 0, nr);
	user_fill(mem, 2 * nr, nr);
	swap_use_small(test, order);
	user_fill(mem, nr, nr);
	KUNIT_EXPECT_EQ(test, user_folio_order(mem, nr), 0);
	swap_out_all(mem);
	swap_rule(test, "single pages between large folios take slots of the order-0 cluster");
	for (page = 0; page < 3 * nr; page++) {
		bool small = page / nr == 1;
		unsigned int slot = small ? page - nr : page < nr ? page : page - nr;

		KUNIT_EXPECT_EQ_MSG(test, swp_offset(user_entry(mem, page)),
				    swap_slot_at(area, small, slot),
				    "rule: %s: page %u", swap_rule_shown(test), page);
	}
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 3 * nr);
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
}

/* A cgroup with swap left for part of a large folio only: the folio is split. */
static void cgroup_limit_below_the_folio_size_splits_it(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	long fallback = swap_order_count(order, "swpout_fallback");
	struct memory_cgroup *cgroup;
	struct user_memory *mem;

	cgroup = memory_cgroup_new(test);
	swap_use_order(test, order);
	mem = user_memory_new(test, nr);
	user_memory_join(mem, cgroup);
	user_fill(mem, 0, nr);
	KUNIT_ASSERT_EQ(test, user_folio_order(mem, 0), (int)order);
	KUNIT_ASSERT_EQ(test, memory_cgroup_write(cgroup, "memory.swap.max", "8192"), 0);
	user_page_out(mem, 0, nr);
	user_reclaim_cached(mem, 0, nr);
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), 2U,
			    "rule: a cgroup swaps out no more than memory.swap.max");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpout_fallback"), fallback + 1,
			    "rule: a large folio that cannot be charged as a whole is split");
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 2UL,
			    "rule: a refused charge frees all slots of the folio");
	KUNIT_EXPECT_EQ(test, memory_cgroup_read(cgroup, "memory.swap.current"), 8192L);
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
}

/* A large folio whose write fails stays in memory, and is written again later. */
static void failed_write_keeps_the_folio_in_memory(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	struct user_memory *mem = large_memory(test, 1);

	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_IOERR);
	swap_out_all(mem);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, 0) && user_page_cached(mem, 3),
			      "rule: a folio whose write failed stays in memory");
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_OK);
	USER_EXPECT_INTACT(test, mem);
	swap_out_all(mem);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 0),
			       "rule: a failed write is repeated");
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
}

/*
 * In
 */

/* A synchronous device reads a swapped-out folio back as one; others read single pages. */
static void synchronous_device_reads_the_folio_whole(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	struct user_memory *mem = large_memory(test, 1);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	unsigned int page = nr / 2 + 1;
	long in;

	SWAP_REQUIRE(test, SWAPIN_LARGE);
	zswap_pretend_never_enabled(test);
	swap_kunit_set_page_cluster(0);
	swap_out_all(mem);
	swap_decisions_skip(test);
	fake_disk_forget_bios(area->disk);
	in = swap_order_count(order, "swpin");
	KUNIT_EXPECT_FALSE(test, user_fault(mem, page) & VM_FAULT_ERROR);
	if (synchronous(test)) {
		swap_rule(test, "a synchronous device reads a large folio back whole");
		SWAP_EXPECT_BIOS(test, area->disk, "R0:0+%u", nr);
		SWAP_EXPECT_DECISIONS(test, area, "R0:0+%u!%u F0:0+%u", nr, page, nr);
		KUNIT_EXPECT_EQ_MSG(test, user_folio_order(mem, page), (int)order,
				    "rule: %s", swap_rule_shown(test));
		KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), 0U);
		if (in >= 0)
			KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "swpin"), in + 1,
					    "rule: swpin counts a large folio read whole, once");
	} else {
		swap_rule(test, "other devices read single pages, not large folios");
		SWAP_EXPECT_BIOS(test, area->disk, "R0:%u", page);
		KUNIT_EXPECT_EQ_MSG(test, user_folio_order(mem, page), 0,
				    "rule: %s", swap_rule_shown(test));
		KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), nr - 1);
		if (in >= 0)
			KUNIT_EXPECT_EQ(test, swap_order_count(order, "swpin"), in);
		swap_decisions_skip(test);
	}
	USER_EXPECT_INTACT(test, mem);
}

struct small_reason {
	SWAP_PARAM_NAME;
	bool zswap;	/* zswap has been enabled */
	bool size_off;	/* folios of this size are disabled by now */
	bool page_gone;	/* one of the pages has been freed */
	bool moved;	/* slots are not where the pages would be in a folio */
};

static const struct small_reason small_reasons[] = {
	{ "zswap was enabled", .zswap = true },
	{ "size disabled", .size_off = true },
	{ "one page freed", .page_gone = true },
	{ "slots not aligned", .moved = true },
};

LARGE_PARAMS(small_reason, small_reasons)

/* Whatever keeps a folio from being read whole: the page of the fault is read alone. */
static void page_is_read_alone(struct kunit *test)
{
	const struct small_reason *reason = swap_param(test);
	struct swap_area *area;
	struct user_memory *mem;

	SWAP_REQUIRE_LARGE(test);
	SWAP_REQUIRE(test, SWAPIN_LARGE);
	area = swap_area_on(test, &SWAP_AREA_ZRAM);
	if (reason->zswap)
		SWAP_REQUIRE_CONFIG(test, ZSWAP);
	else
		zswap_pretend_never_enabled(test);
	if (reason->moved) {
		/* Single pages, from slot 1 on; then the size is enabled. */
		mem = user_memory_new(test, 16);
		user_fill(mem, 0, 16);
		swap_alloc(test);
		swap_use_order(test, 4);
	} else {
		swap_use_order(test, 4);
		mem = user_memory_new(test, 16);
		user_fill(mem, 0, 16);
	}
	swap_out_all(mem);
	if (reason->size_off)
		swap_use_small(test, 4);
	if (reason->page_gone)
		user_dontneed(mem, 15, 1);
	swap_decisions_skip(test);
	fake_disk_forget_bios(area->disk);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 5) & VM_FAULT_ERROR);
	swap_rule(test, "a page is read alone unless all of its large folio can be read");
	SWAP_EXPECT_BIOS(test, area->disk, reason->moved ? "R0:6" : "R0:5");
	KUNIT_EXPECT_EQ(test, user_folio_order(mem, 5), 0);
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
}

/* Unmapping part of a swapped-out folio frees its slots only; the others keep their data. */
static void unmapping_part_of_a_folio_frees_its_slots(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	struct user_memory *mem = large_memory(test, 1);
	unsigned int nr = folio_pages(test);

	swap_out_all(mem);
	swap_decisions_skip(test);
	user_dontneed(mem, 1, nr - 2);
	swap_rule(test, "unmapping part of a swapped-out folio frees its slots");
	SWAP_EXPECT_DECISIONS(test, area, nr == 4 ? "F0:1+2" : "F0:1+%u", nr - 2);
	SWAP_EXPECT_LISTS(test, area, "free:1 nonfull^%u:0", case_of(test)->order);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, nr - 1), USER_PAGE_SWAPPED);
	USER_EXPECT_INTACT(test, mem);
}

/* swapoff reads a large folio back, page by page. */
static void swapoff_reads_the_folio_back(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	struct user_memory *mem = large_memory(test, 1);

	swap_out_all(mem);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), 0U);
	USER_EXPECT_INTACT(test, mem);
}

/*
 * Split
 */

/* Splitting a folio with slots: each page keeps its slot. */
static void split_folio_keeps_its_slots(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	struct user_memory *mem = large_memory(test, 1);
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
				      "rule: each page frees its own slot: %u", page);
		folio_unlock(folio);
		folio_put(folio);
	}
	swap_rule(test, "each page of a split folio keeps its slot");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u F0:0+%u", case_of(test)->order, nr);
	USER_EXPECT_INTACT(test, mem);
}

/* A folio in the swap cache frees all its slots at once, or none while one is in use. */
static void folio_frees_all_its_slots_or_none(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int nr = folio_pages(test);
	struct folio *folio;
	swp_entry_t entry = swap_alloc_cached_order(test, case_of(test)->order, &folio);

	KUNIT_ASSERT_NE(test, entry.val, 0UL);
	folio_lock(folio);
	KUNIT_ASSERT_EQ(test, swap_folio_dup_swap(folio), 0);
	if (nr > 2)
		swap_free_slots(entry, nr - 1);
	KUNIT_EXPECT_FALSE_MSG(test, swap_folio_free_swap(folio),
			       "rule: a folio keeps all its slots while one of them is in use");
	swap_rule(test, "a folio in the swap cache pins all its slots");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u", case_of(test)->order);
	swap_free_slots(swap_entry_at(area, 0, nr - 1), 1);
	KUNIT_EXPECT_TRUE(test, swap_folio_free_swap(folio));
	folio_unlock(folio);
	swap_area_settle(area);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), nr,
			    "rule: a folio without users frees all its slots");
	swap_decisions_skip(test);
}

/*
 * zswap
 */

/* Kernels whose zswap stores large folios store them page by page. */
static void zswap_stores_large_folios_by_page(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int order = case_of(test)->order, nr = folio_pages(test);
	struct user_memory *mem;
	long stored;

	SWAP_REQUIRE_CONFIG(test, ZSWAP);
	swap_kunit_set_zswap(true);
	mem = large_memory(test, 1);
	stored = swap_order_count(order, "zswpout");
	swap_out_all(mem);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), nr);
	if (swap_has(ZSWAP_LARGE)) {
		swap_rule(test, "zswap stores a large folio page by page");
		SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u S0:0^%u", order, order);
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), (unsigned long)nr,
				    "rule: zswap stores each page of a large folio");
		KUNIT_EXPECT_EQ_MSG(test, swap_order_count(order, "zswpout"), stored + 1,
				    "rule: zswpout counts a large folio stored whole, once");
		SWAP_EXPECT_BIOS(test, area->disk, "");
	} else {
		swap_rule(test, "zswap does not store large folios");
		SWAP_EXPECT_DECISIONS(test, area, "A0:0^%u W0:0+%u", order, nr);
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
				    "rule: zswap does not store large folios");
		SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	}
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, user_folio_order(mem, 0), 0,
			    "rule: pages that zswap may have are read one by one");
}

/* If zswap rejects one page of a large folio, all of it goes to the disk. */
static void zswap_stores_a_folio_whole_or_not_at_all(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int nr = folio_pages(test);
	struct user_memory *mem;

	SWAP_REQUIRE_CONFIG(test, ZSWAP);
	SWAP_REQUIRE(test, ZSWAP_LARGE);
	mem = large_memory(test, 1);
	swap_kunit_set_zswap(true);
	swap_kunit_zswap_limit(0);
	swap_out_all(mem);
	swap_kunit_zswap_limit(20);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), 0UL,
			    "rule: zswap stores a large folio whole or not at all");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", nr);
	swap_decisions_skip(test);
	USER_EXPECT_INTACT(test, mem);
}

/*
 * Shared memory
 */

/* A PMD-sized folio of shared memory takes a whole cluster and is written by one bio. */
static void huge_shmem_folio_takes_a_cluster(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int n = swap_cluster_slots();
	struct user_memory *mem;
	long whole;

	swap_use_shmem_order(test, 9);
	mem = user_memory_shmem(test, n);
	user_fill(mem, 0, n);
	whole = swap_order_count(9, "swpout");
	user_page_out(mem, 0, n);
	swap_rule(test, "a PMD-sized folio of shared memory takes a whole cluster, by one bio");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0+%u", n);
	KUNIT_EXPECT_EQ_MSG(test, swp_offset(user_entry(mem, 0)), swap_slot_at(area, 0, 0),
			    "rule: %s", swap_rule_shown(test));
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), n);
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(9, "swpout"), whole + 1,
			    "rule: swpout counts a large folio swapped out whole, once");
	user_reclaim_cached(mem, 0, n);
	USER_EXPECT_INTACT(test, mem);
	swap_decisions_skip(test);
}

/* Without a free cluster it is split and counted, and pages are swapped out while slots last. */
static void huge_shmem_folio_without_a_cluster_is_split(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
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
	KUNIT_EXPECT_EQ_MSG(test, user_pages_swapped(mem), n - 1,
			    "rule: a split folio is swapped out page by page");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(9, "swpout_fallback"),
			    fallback + swap_has(SHMEM_FALLBACK_COUNTED),
			    "rule: swpout_fallback counts a large folio split because no slots were free");
	KUNIT_EXPECT_EQ_MSG(test, swap_order_count(9, "swpout"), whole,
			    "rule: swpout does not count a split folio");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), n - 1);
	USER_EXPECT_INTACT(test, mem);
	swap_decisions_skip(test);
}

#define EVERY(name)	KUNIT_CASE_PARAM(name, every_order_gen_params)
#define MEMORY(name)	KUNIT_CASE_PARAM(name, partial_order_gen_params)
#define PROFILE(name)	KUNIT_CASE_PARAM(name, profile_gen_params)

static struct kunit_case swap_mthp_cases[] = {
	KUNIT_CASE(ptes_are_of_pages_in_a_row),
	EVERY(folio_is_written_by_one_bio),
	MEMORY(large_folio_goes_out_whole),
	MEMORY(large_folio_without_room_is_split),
	PROFILE(single_pages_between_large_folios),
	PROFILE(cgroup_limit_below_the_folio_size_splits_it),
	PROFILE(failed_write_keeps_the_folio_in_memory),
	MEMORY(synchronous_device_reads_the_folio_whole),
	KUNIT_CASE_PARAM(page_is_read_alone, small_reason_gen_params),
	MEMORY(unmapping_part_of_a_folio_frees_its_slots),
	PROFILE(swapoff_reads_the_folio_back),
	MEMORY(split_folio_keeps_its_slots),
	MEMORY(folio_frees_all_its_slots_or_none),
	PROFILE(zswap_stores_large_folios_by_page),
	PROFILE(zswap_stores_a_folio_whole_or_not_at_all),
	PROFILE(huge_shmem_folio_takes_a_cluster),
	PROFILE(huge_shmem_folio_without_a_cluster_is_split),
	{}
};

SWAP_KUNIT_SUITE(swap_mthp, swap_mthp_cases);

MODULE_DESCRIPTION("KUnit suite of large folios in swap");
MODULE_LICENSE("GPL");
