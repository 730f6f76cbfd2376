// SPDX-License-Identifier: GPL-2.0
/*
 * Cluster readahead: an aligned block of slots around the one that is wanted.
 * It is for rotational devices, for shmem, and for whoever asks by slot.
 */
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

/* A slot that no other fault of the case is near to. */
#define FAR_SLOT	100000

/*
 * The window: two pages more than there were hits since the last window,
 * rounded up to a power of two; without hits two pages next to the last fault
 * and else one; at most 1 << page_cluster; never less than half the last window.
 */
struct window_case {
	SWAP_PARAM_NAME;
	int page_cluster;
	int hits;
	long step;		/* from the last fault without hits */
	unsigned int previous;	/* window */
	unsigned int window;
};

static const struct window_case windows[] = {
	{ "no hits, far away",			3, 0, 100, 1, 1 },
	{ "no hits, next slot",			3, 0, 1, 1, 2 },
	{ "no hits, slot before",		3, 0, -1, 1, 2 },
	{ "no hits, same slot",			3, 0, 0, 1, 1 },
	{ "no hits, next but one",		3, 0, 2, 1, 1 },
	{ "no hits, last but one",		3, 0, -2, 1, 1 },
	{ "1 hit",				3, 1, 100, 1, 4 },
	{ "2 hits",				3, 2, 100, 1, 4 },
	{ "3 hits",				3, 3, 100, 1, 8 },
	{ "6 hits",				3, 6, 100, 1, 8 },
	{ "7 hits",				4, 7, 100, 1, 16 },
	{ "14 hits",				4, 14, 100, 1, 16 },
	{ "15 hits",				5, 15, 100, 1, 32 },
	{ "30 hits",				5, 30, 100, 1, 32 },
	{ "hits count, not nearness",		3, 1, 1, 1, 4 },
	{ "page_cluster 0, next slot",		0, 0, 1, 1, 1 },
	{ "page_cluster 0, 30 hits",		0, 30, 100, 1, 1 },
	{ "page_cluster 1, next slot",		1, 0, 1, 1, 2 },
	{ "page_cluster 1, 30 hits",		1, 30, 100, 1, 2 },
	{ "page_cluster 2, 2 hits",		2, 2, 100, 1, 4 },
	{ "page_cluster 2, 30 hits",		2, 30, 100, 1, 4 },
	{ "page_cluster 3, 30 hits",		3, 30, 100, 1, 8 },
	{ "page_cluster 4, 30 hits",		4, 30, 100, 1, 16 },
	{ "page_cluster 5, 100 hits",		5, 100, 100, 1, 32 },
	{ "page_cluster 6, 100 hits",		6, 100, 100, 1, 64 },
	{ "after 2 pages, far away",		3, 0, 100, 2, 1 },
	{ "after 4 pages, far away",		3, 0, 100, 4, 2 },
	{ "after 8 pages, far away",		3, 0, 100, 8, 4 },
	{ "after 8 pages, next slot",		3, 0, 1, 8, 4 },
	{ "after 8 pages, 1 hit",		3, 1, 100, 8, 4 },
	{ "after 32 pages, 1 hit",		5, 1, 100, 32, 16 },
	{ "after 32 pages, 15 hits",		5, 15, 100, 32, 32 },
	{ "after 32 pages, page_cluster 2",	2, 1, 100, 32, 16 },
};

SWAP_PARAMS(windows, windows);

/* Make the last fault without hits one at @offset, the last window @window. */
static void last_window_was(unsigned long offset, unsigned int window)
{
	swap_kunit_cluster_window(offset);
	if (window < 4) {
		/* Two pages where they touch. */
		if (window == 2)
			swap_kunit_cluster_window(offset - 1);
		swap_kunit_cluster_window(offset);
		if (window == 1)
			swap_kunit_cluster_window(offset);
		return;
	}
	swap_set_page_cluster(10);
	swap_kunit_set_readahead_hits(window - 2);
	swap_kunit_cluster_window(offset);
}

static void window_follows_hits_and_nearness(struct kunit *test)
{
	const struct window_case *c = swap_param(test);
	unsigned int window;

	last_window_was(FAR_SLOT, c->previous);
	swap_set_page_cluster(c->page_cluster);
	swap_kunit_set_readahead_hits(c->hits);
	window = swap_kunit_cluster_window(FAR_SLOT + c->step);
	KUNIT_EXPECT_EQ_MSG(test, window, c->window,
			    "rule: window from hits, nearness, page_cluster and the last window");
}

/* Hits are spent by the window they make; page_cluster 0 spends none. */
static void hits_are_spent_once(struct kunit *test)
{
	swap_kunit_set_readahead_hits(6);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT), 8U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 0,
			    "rule: a window spends the hits that made it");
	swap_kunit_set_readahead_hits(6);
	swap_set_page_cluster(0);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT), 1U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 6,
			    "rule: without readahead no hits are spent");
}

/* Nearness is to the last fault that had no hits to judge by. */
static void faults_with_hits_move_no_mark(struct kunit *test)
{
	last_window_was(FAR_SLOT, 1);
	swap_kunit_set_readahead_hits(1);
	swap_kunit_cluster_window(FAR_SLOT + 500);
	swap_kunit_reset_readahead();
	last_window_was(FAR_SLOT, 1);
	swap_kunit_set_readahead_hits(1);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT + 500), 4U);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT + 700), 2U);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT + 800), 1U);
	swap_kunit_set_readahead_hits(1);
	swap_kunit_cluster_window(FAR_SLOT);
	swap_kunit_set_readahead_hits(1);
	swap_kunit_cluster_window(FAR_SLOT);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT + 900), 2U);
	swap_kunit_set_readahead_hits(1);
	swap_kunit_cluster_window(FAR_SLOT);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_cluster_window(FAR_SLOT + 901), 2U,
			    "rule: a fault with hits is no mark for nearness");
}

/* Without hits, windows halve: 8, 4, 2, 1, and stay there. */
static void windows_shrink_by_half(struct kunit *test)
{
	static const unsigned int expected[] = { 8, 4, 2, 1, 1 };
	unsigned int i;

	swap_kunit_set_readahead_hits(6);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_cluster_window(FAR_SLOT + 100 * i),
				    expected[i], "rule: readahead does not shrink too fast");
}

static void free_slots(void *arg)
{
	swp_entry_t *entries = arg;

	for (; entries->val; entries++)
		swap_free_slot(*entries);
}

/* Slots of nobody's in use, from the area's first on; freed after the case. */
static swp_entry_t *slots_in_use(struct kunit *test, unsigned int nr)
{
	swp_entry_t *entries = kunit_kcalloc(test, nr + 1, sizeof(*entries), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entries);
	swap_defer(test, free_slots, entries);
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, nr, entries), nr);
	swap_decisions_skip(test);
	return entries;
}

/* Read one slot as shmem does, with as many hits as make the window wanted. */
static void read_slot(struct kunit *test, swp_entry_t entry, unsigned int window)
{
	struct folio *folio;

	swap_kunit_set_readahead_hits(window - 2);
	folio = swap_read_slot(swap_area_of(test, entry), entry);
	KUNIT_EXPECT_NOT_NULL_MSG(test, folio, "the slot that is asked for is read");
	if (folio)
		folio_put(folio);
}

/* The window is the aligned block of its size that has the slot. */
struct block_case {
	SWAP_PARAM_NAME;
	unsigned int slot;
	unsigned int window;
	const char *reads;
};

static const struct block_case blocks[] = {
	{ "4 pages, first",	20, 4, "R0:20+4!20" },
	{ "4 pages, second",	21, 4, "R0:20+4!21" },
	{ "4 pages, last",	23, 4, "R0:20+4!23" },
	{ "8 pages, first",	16, 8, "R0:16+8!16" },
	{ "8 pages, middle",	20, 8, "R0:16+8!20" },
	{ "8 pages, last",	23, 8, "R0:16+8!23" },
	{ "16 pages",		20, 16, "R0:16+16!20" },
	{ "16 pages, below",	15, 16, "R0:0+16!15" },
	{ "32 pages",		40, 32, "R0:32+32!40" },
	{ "64 pages",		40, 64, "R0:0+64!40" },
};

SWAP_PARAMS(blocks, blocks);

static void window_is_an_aligned_block(struct kunit *test)
{
	const struct block_case *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 80);

	swap_set_page_cluster(6);
	read_slot(test, slots[c->slot], c->window);
	SWAP_EXPECT_DECISIONS(test, area, c->reads);
}

/* Two neighbouring slots, each read by its own: no hits, but near: 2 pages. */
static void next_slot_reads_two(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 64);
	struct folio *folio;

	folio = swap_read_slot(area, slots[41]);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:41!41");
	folio = swap_read_slot(area, slots[42]);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:42+2!42");
}

/* Slots that are unused are left out; the rest of the window is read. */
static void unused_slots_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_dup_slot(slots[18]);	/* the one the end of the case frees */
	swap_free_slot(slots[18]);
	swap_free_slot(slots[18]);
	swap_decisions_skip(test);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2 R0:19+5!20");
	slots[18] = slots[23];
	slots[23].val = 0;
}

/* Slots past the last that is in use: nothing is read ahead there. */
static void nothing_is_read_beyond_use(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 18);

	read_slot(test, slots[17], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2!17");
}

static const unsigned long two_bad_slots[] = { 17, 18, 0 };
static const struct swap_area_config ssd_with_bad_slots = {
	.disk = &FAKE_DISK_SSD, .clusters = 1, .bad_slots = two_bad_slots };

/* With a cluster that is not whole older kernels take every other slot, then the rest. */
static unsigned int slots_up_to_30(void)
{
	return swap_has(CLUSTER_ALLOCATOR) ? 30 : swap_cluster_slots() / 2 + 30;
}

/* Bad slots are no swapped-out pages: they are not read. */
static void bad_slots_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &ssd_with_bad_slots);
	unsigned long ra = swap_vmstat(SWAP_RA);
	struct swap_slot_facts facts;
	unsigned int i;

	slots_in_use(test, slots_up_to_30());
	read_slot(test, swap_entry_at(area, 0, 20), 8);	/* slot 20: two are bad before it */
	SWAP_EXPECT_DECISIONS(test, area, "R0:16 R0:19+5!20");
	for (i = 0; i < 2; i++) {
		unsigned long slot = swap_slot_at(area, 0, two_bad_slots[i]);

		swap_slot_facts(area, slot, &facts);
		KUNIT_EXPECT_TRUE_MSG(test, facts.bad && !facts.cached,
				      "rule: readahead leaves a bad slot as it is, and out of the swap cache");
		if (facts.bad)
			continue;
		/* The area is to be fit for swapoff all the same. */
		swap_reclaim_cached(swap_entry_at(area, 0, two_bad_slots[i]));
		swap_kunit_set_bad(area->si, slot);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 5UL,
			    "rule: readahead leaves a bad slot as it is, and out of the swap cache");
}

/* No folio is allocated for a bad slot only to be dropped. */
static void bad_slots_take_no_memory(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &ssd_with_bad_slots);
	struct folio *folio;

	slots_in_use(test, slots_up_to_30());
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	swap_kunit_set_readahead_hits(6);
	folio = swap_read_slot(area, swap_entry_at(area, 0, 20));
	KUNIT_EXPECT_NULL(test, folio);
	/* Once each for 16 and 19 to 23, and once more for the target. */
	KUNIT_EXPECT_EQ_MSG(test, swap_failed(SWAP_FAIL_SWAPIN_ALLOC), 7U,
			    "rule: readahead allocates no folio for a bad slot");
}

/* What the swap cache has already is not read again. */
static void cached_slots_are_not_read_again(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);
	struct folio *folio;

	folio = swap_read_slot(area, slots[19]);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:19!19");
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+3 R0:20+4!20");
	folio = swap_cached_folio(slots[19]);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_readahead(folio),
			       "rule: only what readahead read is marked as read ahead");
	folio_put(folio);
}

/* A slot only the swap cache has is not read either. */
static void slots_in_cache_alone_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 18);
	swp_entry_t cached = swap_alloc_cached(test, NULL);

	KUNIT_ASSERT_EQ(test, swp_offset(cached), swap_slot_at(area, 0, 18));
	swap_decisions_skip(test);
	read_slot(test, slots[16], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2!16");
}

/* The whole window is there already: nothing is read. */
static void cached_target_reads_nothing(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+8!20");
	read_slot(test, slots[21], 8);
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* The slot with the swap header is never read. */
static void header_slot_is_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .clusters = 1, .use_cluster0 = true });
	swp_entry_t *slots = slots_in_use(test, 12);

	KUNIT_ASSERT_EQ(test, swp_offset(slots[0]), 1UL);
	fake_disk_forget_bios(area->disk);
	read_slot(test, slots[2], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:1+7!3");
}

/* The window ends where the device does. */
static void window_ends_with_the_device(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .tail_slots = 21 });
	swp_entry_t *slots = slots_in_use(test, 21);

	read_slot(test, slots[18], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+5!18");
}

/* A window may reach over clusters, also into one where nothing is in use. */
static void window_reaches_over_clusters(struct kunit *test)
{
	unsigned int cluster = swap_cluster_slots();
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 3, .use_cluster0 = true });
	swp_entry_t *slots = slots_in_use(test, 8);
	unsigned long first = swp_offset(slots[0]);

	swap_set_page_cluster(16);
	read_slot(test, slots[4], 2 * cluster);
	SWAP_EXPECT_DECISIONS(test, area, "R%lu:%lu+8!%lu", first / cluster, first % cluster,
			      first % cluster + 4);
}

/*
 * Neighbours are marked as read ahead and counted; the one that was asked for
 * is neither.
 */
static void neighbours_are_marked_and_counted(struct kunit *test)
{
	unsigned long ra = swap_vmstat(SWAP_RA), i;
	swp_entry_t *slots;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	slots = slots_in_use(test, 24);
	read_slot(test, slots[20], 8);
	for (i = 16; i < 24; i++) {
		struct folio *folio = swap_cached_folio(slots[i]);

		KUNIT_ASSERT_NOT_NULL(test, folio);
		KUNIT_EXPECT_EQ_MSG(test, folio_test_readahead(folio), i != 20,
				    "rule: neighbours carry the readahead mark, the target not: slot %lu",
				    i);
		folio_put(folio);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 7UL,
			    "rule: swap_ra counts the neighbours read");
}

/* Nothing is read ahead, and counted so, where the window is one page. */
static void single_reads_are_not_counted(struct kunit *test)
{
	unsigned long ra = swap_vmstat(SWAP_RA);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_set_page_cluster(0);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:20!20");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 0UL,
			    "rule: swap_ra counts the neighbours read");
}

/* Memory swapped out to an area, page for slot. */
static struct user_memory *swapped_memory(struct kunit *test, unsigned int pages)
{
	struct user_memory *mem = user_memory_new(test, pages);

	user_fill(mem, 0, pages);
	user_swap_out(mem, 0, pages);
	swap_decisions_skip(test);
	return mem;
}

/*
 * A whole story on a rotational device: one page far from anywhere; its
 * neighbour, two; a hit for the page read ahead, which makes four of the next;
 * three hits, which make eight.
 */
static void faults_on_rotational_devices(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = swapped_memory(test, 64);
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);

	user_fault(mem, 41);
	SWAP_EXPECT_DECISIONS(test, area, "R0:41!41");
	user_fault(mem, 42);
	SWAP_EXPECT_DECISIONS(test, area, "R0:42+2!42");
	user_fault(mem, 43);
	SWAP_EXPECT_DECISIONS(test, area, "");
	user_fault(mem, 21);
	SWAP_EXPECT_DECISIONS(test, area, "R0:20+4!21");
	user_fault(mem, 22);
	user_fault(mem, 23);
	user_fault(mem, 20);
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 4UL,
			    "rule: swap_ra_hit counts faults on pages read ahead");
	user_fault(mem, 59);
	SWAP_EXPECT_DECISIONS(test, area, "R0:56+8!59");
}

/* A hit takes the mark away and counts once. */
static void a_hit_counts_once(struct kunit *test)
{
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);
	struct user_memory *mem;
	swp_entry_t entry;
	struct folio *folio;

	swap_area_on(test, &SWAP_AREA_HDD_1);
	mem = swapped_memory(test, 16);
	entry = user_share_slot(mem, 9);	/* keeps the folio's slot beyond the fault */
	swap_kunit_set_readahead_hits(6);
	user_fault(mem, 10);
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
	user_fault(mem, 9);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 1,
			    "rule: a fault on a page read ahead is a hit");
	KUNIT_EXPECT_EQ(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL);
	folio = swap_cached_folio(entry);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_readahead(folio),
			       "rule: a hit clears the readahead mark");
	folio_put(folio);
	swap_free_slot(entry);
}

/* The fault that read a page is no hit, nor one on a page that was written back. */
static void pages_not_read_ahead_are_no_hits(struct kunit *test)
{
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_HDD_1);
	mem = user_memory_new(test, 4);
	user_fill(mem, 0, 4);
	user_page_out(mem, 0, 1);
	user_fault(mem, 0);
	user_swap_out(mem, 1, 1);
	user_fault(mem, 1);
	user_fault(mem, 1);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 0UL,
			    "rule: only pages read ahead make hits");
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
}

/* Shmem reads by slot on every device that waits for its reads, and hits count for all. */
static void shmem_reads_by_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_shmem(test, 32);
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);

	user_fill(mem, 0, 32);
	user_swap_out(mem, 0, 32);
	swap_decisions_skip(test);
	swap_kunit_set_readahead_hits(6);
	KUNIT_EXPECT_TRUE(test, swap_kunit_use_vma_readahead());
	user_fault(mem, 19);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+8!19 F0:19");
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
	user_fault(mem, 20);
	SWAP_EXPECT_DECISIONS(test, area, "F0:20");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 1,
			    "rule: hits without a mapping count for everybody");
	KUNIT_EXPECT_EQ(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL);
}

/* No memory for a neighbour: it is left out. None for the target: the fault says so. */
static void neighbours_without_memory_are_left_out(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2 R0:19+5!20");
}

static void target_without_memory_fails_the_fault(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = swapped_memory(test, 4);

	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 2) & VM_FAULT_ERROR, VM_FAULT_OOM,
			    "rule: no memory to read into is an out-of-memory fault");
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 2), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_EQ(test, user_fault(mem, 2) & VM_FAULT_ERROR, 0U);
	SWAP_EXPECT_DECISIONS(test, area, "R0:2!2");
}

/* A neighbour over its group's limit is left out, and is as it was before. */
static void neighbours_over_the_limit_are_left_out(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);
	struct swap_slot_facts facts;

	SWAP_REQUIRE_CONFIG(test, CONFIG_MEMCG);
	swap_fail(test, SWAP_FAIL_SWAPIN_CHARGE, 3, 1);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2 R0:19+5!20");
	swap_slot_facts(area, swap_slot_at(area, 0, 18), &facts);
	KUNIT_EXPECT_FALSE_MSG(test, facts.cached,
			       "rule: a folio that could not be charged leaves the swap cache");
	KUNIT_EXPECT_EQ(test, facts.count, 1U);
}

static void free_slot_meanwhile(void *ctx)
{
	swap_free_slot(*(swp_entry_t *)ctx);
}

/* A slot freed while its folio is allocated is not read. */
static void slot_freed_meanwhile_is_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1, free_slot_meanwhile, &slots[18]);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(READ_BATCHED) ?
			      "F0:18 R0:16+2 R0:19+5!20" : "R0:16+2 F0:18 R0:19+5!20");
	slots[18] = slots[23];
	slots[23].val = 0;
}

static struct swap_area *race_area;
static swp_entry_t race_slot;

static void read_slot_meanwhile(void *ctx)
{
	struct folio *folio;

	swap_set_page_cluster(0);
	folio = swap_read_slot(race_area, race_slot);
	if (folio)
		folio_put(folio);
}

/* A slot somebody else reads while its folio is allocated is read once. */
static void slot_read_meanwhile_is_read_once(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	race_area = area;
	race_slot = slots[18];
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1, read_slot_meanwhile, NULL);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(READ_BATCHED) ?
			      "R0:18!18 R0:16+2 R0:19+5" : "R0:16+2 R0:18!18 R0:19+5");
}

/* vm.page-cluster takes 0 to 31; everything else leaves it as it was. */
struct page_cluster_case {
	SWAP_PARAM_NAME;
	int err;
	const char *then;
	unsigned int window;	/* with 100 hits */
};

static const struct page_cluster_case page_clusters[] = {
	{ "0", 0, "0", 1 },
	{ "1", 0, "1", 2 },
	{ "2", 0, "2", 4 },
	{ "3", 0, "3", 8 },
	{ "4", 0, "4", 16 },
	{ "5", 0, "5", 32 },
	{ "31", 0, "31", 128 },
	{ "32", -EINVAL, "3", 8 },
	{ "33", -EINVAL, "3", 8 },
	{ "64", -EINVAL, "3", 8 },
	{ "-1", -EINVAL, "3", 8 },
	{ "-2147483648", -EINVAL, "3", 8 },
	{ "4294967296", -EINVAL, "3", 8 },
	{ "many", -EINVAL, "3", 8 },
};

SWAP_PARAMS(page_clusters, page_clusters);

static void page_cluster_has_bounds(struct kunit *test)
{
	const struct page_cluster_case *c = swap_param(test);
	char value[16];

	KUNIT_ASSERT_EQ_MSG(test, text_file_write("proc", "sys/vm/page-cluster", c->name), c->err,
			    "rule: vm.page-cluster is 0 to 31");
	KUNIT_ASSERT_EQ(test, text_file_read("proc", "sys/vm/page-cluster", value, sizeof(value)),
			0);
	KUNIT_EXPECT_STREQ(test, value, c->then);
	swap_kunit_set_readahead_hits(100);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_cluster_window(FAR_SLOT), c->window,
			    "rule: a window is 1 << page_cluster pages at most");
}

/* WILLNEED reads what is named, no more, as nobody's readahead. */
struct willneed_case {
	SWAP_PARAM_NAME;
	bool shmem;
};

static const struct willneed_case willneeds[] = {
	{ "anonymous", false },
	{ "shmem", true },
};

SWAP_PARAMS(willneeds, willneeds);

static void willneed_reads_what_is_named(struct kunit *test)
{
	const struct willneed_case *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = c->shmem ? user_memory_shmem(test, 16) :
					     user_memory_new(test, 16);
	unsigned long ra = swap_vmstat(SWAP_RA), hit = swap_vmstat(SWAP_RA_HIT);

	user_fill(mem, 0, 16);
	user_swap_out(mem, 0, 16);
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ(test, do_madvise(mem->mm, mem->start + 4 * PAGE_SIZE, 6 * PAGE_SIZE,
					 MADV_WILLNEED), 0);
	SWAP_EXPECT_DECISIONS(test, area, "R0:4+6");
	KUNIT_EXPECT_TRUE(test, user_page_cached(mem, 4));
	KUNIT_EXPECT_FALSE(test, user_page_cached(mem, 3));
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 5) & VM_FAULT_MAJOR, 0U,
			    "rule: what was asked for ahead need not be waited for");
	KUNIT_EXPECT_EQ(test, swap_vmstat(SWAP_RA) - ra, 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 0UL,
			    "rule: only what readahead guessed makes hits");
}

static struct kunit_case swap_readahead_cluster_cases[] = {
	KUNIT_CASE_PARAM(window_follows_hits_and_nearness, windows_gen_params),
	KUNIT_CASE(hits_are_spent_once),
	KUNIT_CASE(faults_with_hits_move_no_mark),
	KUNIT_CASE(windows_shrink_by_half),
	KUNIT_CASE_PARAM(window_is_an_aligned_block, blocks_gen_params),
	KUNIT_CASE(next_slot_reads_two),
	KUNIT_CASE(unused_slots_are_not_read),
	KUNIT_CASE(nothing_is_read_beyond_use),
	KUNIT_CASE(bad_slots_are_not_read),
	KUNIT_CASE(bad_slots_take_no_memory),
	KUNIT_CASE(cached_slots_are_not_read_again),
	KUNIT_CASE(slots_in_cache_alone_are_not_read),
	KUNIT_CASE(cached_target_reads_nothing),
	KUNIT_CASE(header_slot_is_not_read),
	KUNIT_CASE(window_ends_with_the_device),
	KUNIT_CASE(window_reaches_over_clusters),
	KUNIT_CASE(neighbours_are_marked_and_counted),
	KUNIT_CASE(single_reads_are_not_counted),
	KUNIT_CASE(faults_on_rotational_devices),
	KUNIT_CASE(a_hit_counts_once),
	KUNIT_CASE(pages_not_read_ahead_are_no_hits),
	KUNIT_CASE(shmem_reads_by_slot),
	KUNIT_CASE(neighbours_without_memory_are_left_out),
	KUNIT_CASE(target_without_memory_fails_the_fault),
	KUNIT_CASE(neighbours_over_the_limit_are_left_out),
	KUNIT_CASE(slot_freed_meanwhile_is_not_read),
	KUNIT_CASE(slot_read_meanwhile_is_read_once),
	KUNIT_CASE_PARAM(page_cluster_has_bounds, page_clusters_gen_params),
	KUNIT_CASE_PARAM(willneed_reads_what_is_named, willneeds_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_readahead_cluster, swap_readahead_cluster_cases);

MODULE_DESCRIPTION("KUnit suite of the kernel's swap readahead by slot");
MODULE_LICENSE("GPL");
