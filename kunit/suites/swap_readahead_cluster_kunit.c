// SPDX-License-Identifier: GPL-2.0
/*
 * Cluster readahead: reads an aligned block of slots around the slot of the
 * fault. Rotational devices, shmem and swapoff use it.
 */
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

/* A slot far from that of any other fault. */
#define FAR_SLOT	100000

/*
 * The window has two pages more than there were hits since the last window, rounded up to a
 * power of two. Without hits it has two pages if the fault is next to the last one, else one.
 * It has at most 1 << page_cluster pages, and at least half of the last window.
 */
struct window_case {
	SWAP_PARAM_NAME;
	int page_cluster;
	int hits;
	long step;		/* slots from the last fault without hits to this one */
	unsigned int previous;	/* last window, in pages */
	unsigned int window;	/* expected, in pages */
};

static const struct window_case windows[] = {
	/* name, page_cluster, hits, step, previous, window */
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

/* Set the last fault without hits to @offset, and the last window to @window pages. */
static void last_window_was(unsigned long offset, unsigned int window)
{
	swap_kunit_cluster_window(offset);
	if (window < 4) {
		/* Two neighbouring faults without hits make a window of two. */
		if (window == 2)
			swap_kunit_cluster_window(offset - 1);
		swap_kunit_cluster_window(offset);
		if (window == 1)
			swap_kunit_cluster_window(offset);
		return;
	}
	swap_kunit_set_page_cluster(10);
	swap_kunit_set_readahead_hits(window - 2);
	swap_kunit_cluster_window(offset);
}

static void window_depends_on_hits_and_distance(struct kunit *test)
{
	const struct window_case *c = swap_param(test);
	unsigned int window;

	last_window_was(FAR_SLOT, c->previous);
	swap_kunit_set_page_cluster(c->page_cluster);
	swap_kunit_set_readahead_hits(c->hits);
	window = swap_kunit_cluster_window(FAR_SLOT + c->step);
	KUNIT_EXPECT_EQ_MSG(test, window, c->window,
			    "rule: hits, distance, page_cluster and the last window make the window");
}

/* A window uses up the hits it is made from; with page_cluster 0 they are kept. */
static void hits_are_used_once(struct kunit *test)
{
	swap_kunit_set_readahead_hits(6);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT), 8U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 0,
			    "rule: a window uses up its hits");
	swap_kunit_set_readahead_hits(6);
	swap_kunit_set_page_cluster(0);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(FAR_SLOT), 1U);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 6,
			    "rule: page_cluster 0 uses up no hits");
}

/* The distance is measured from the last fault without hits. */
static void distance_is_from_the_last_fault_without_hits(struct kunit *test)
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
			    "rule: the distance is measured from the last fault without hits");
}

/* Without hits each window is half of the last one. */
static void windows_shrink_by_half_without_hits(struct kunit *test)
{
	static const unsigned int expected[] = { 8, 4, 2, 1, 1 };
	unsigned int i;

	swap_kunit_set_readahead_hits(6);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_cluster_window(FAR_SLOT + 100 * i),
				    expected[i], "rule: a window is at least half of the last one");
}

static void free_slots(void *arg)
{
	swp_entry_t *entries = arg;

	for (; entries->val; entries++)
		swap_free_slot(*entries);
}

/* @nr slots in use, from the area's first on, without an owner; freed after the case. */
static swp_entry_t *slots_in_use(struct kunit *test, unsigned int nr)
{
	swp_entry_t *entries = kunit_kcalloc(test, nr + 1, sizeof(*entries), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, entries);
	swap_defer(test, free_slots, entries);
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, nr, entries), nr);
	swap_decisions_skip(test);
	return entries;
}

/* Free a slot before the end of the case. */
static void free_early(swp_entry_t *slots, unsigned int i)
{
	swap_free_slot(slots[i]);
	for (; slots[i].val; i++)
		slots[i] = slots[i + 1];
}

/* Read one slot as shmem does, with the hits that make a window of @window pages. */
static void read_slot(struct kunit *test, swp_entry_t entry, unsigned int window)
{
	struct folio *folio;

	swap_kunit_set_readahead_hits(window - 2);
	folio = swap_read_slot(entry);
	KUNIT_EXPECT_NOT_NULL_MSG(test, folio, "rule: the requested slot is read");
	if (folio)
		folio_put(folio);
}

/* The window is the aligned block of its size around the slot. */
struct block_case {
	SWAP_PARAM_NAME;
	unsigned int slot;
	unsigned int window;	/* pages */
	const char *reads;
};

static const struct block_case blocks[] = {
	/* name, slot, window, reads */
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

	swap_kunit_set_page_cluster(6);
	read_slot(test, slots[c->slot], c->window);
	SWAP_EXPECT_DECISIONS(test, area, c->reads);
}

/* Without hits, a read next to the last one reads two pages. */
static void next_slot_reads_two(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 64);
	struct folio *folio;

	folio = swap_read_slot(slots[41]);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:41!41");
	folio = swap_read_slot(slots[42]);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:42+2!42");
}

/* Free slots of a window are skipped, the others are read. */
static void free_slots_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	free_early(slots, 18);
	swap_decisions_skip(test);
	read_slot(test, swap_entry_at(area, 0, 20), 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2 R0:19+5!20");
}

/* Nothing is read past the last slot in use. */
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

/* Older kernels take every other slot of a cluster with bad slots first, then the rest. */
static unsigned int slots_up_to_30(void)
{
	return swap_has(CLUSTER_ALLOCATOR) ? 30 : swap_cluster_slots() / 2 + 30;
}

/* Bad slots are not read. */
static void bad_slots_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &ssd_with_bad_slots);
	unsigned long ra = swap_vmstat(SWAP_RA);
	struct swap_slot_facts facts;
	unsigned int i;

	slots_in_use(test, slots_up_to_30());
	read_slot(test, swap_entry_at(area, 0, 20), 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16 R0:19+5!20");
	for (i = 0; i < 2; i++) {
		unsigned long slot = swap_slot_at(area, 0, two_bad_slots[i]);

		swap_slot_facts(area, slot, &facts);
		KUNIT_EXPECT_TRUE_MSG(test, facts.bad && !facts.cached,
				      "rule: readahead does not add a bad slot to the swap cache");
		if (facts.bad)
			continue;
		/* Otherwise swapoff would fail too. */
		swap_reclaim_cached(swap_entry_at(area, 0, two_bad_slots[i]));
		swap_kunit_set_bad(area->si, slot);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 5UL,
			    "rule: readahead does not add a bad slot to the swap cache");
}

/* No folio is allocated for a bad slot. */
static void bad_slots_take_no_memory(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &ssd_with_bad_slots);
	struct folio *folio;

	slots_in_use(test, slots_up_to_30());
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	swap_kunit_set_readahead_hits(6);
	folio = swap_read_slot(swap_entry_at(area, 0, 20));
	KUNIT_EXPECT_NULL(test, folio);
	/* One each for 16 and 19 to 23, and a second one for the target. */
	KUNIT_EXPECT_EQ_MSG(test, swap_failed(SWAP_FAIL_SWAPIN_ALLOC), 7U,
			    "rule: readahead allocates no folio for a bad slot");
}

/* Slots in the swap cache are not read again. */
static void cached_slots_are_not_read_again(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);
	struct folio *folio;

	folio = swap_read_slot(slots[19]);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:19!19");
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+3 R0:20+4!20");
	folio = swap_cached_folio(slots[19]);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_readahead(folio),
			       "rule: only folios that readahead read are marked");
	folio_put(folio);
}

/* Nor are slots that only the swap cache refers to. */
static void slots_only_in_the_cache_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 18);
	swp_entry_t cached = swap_alloc_cached(test, NULL);

	KUNIT_ASSERT_EQ(test, swp_offset(cached), swap_slot_at(area, 0, 18));
	swap_decisions_skip(test);
	read_slot(test, slots[16], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2!16");
}

/* If the whole window is in the swap cache, nothing is read. */
static void cached_window_reads_nothing(struct kunit *test)
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

/* The window ends with the device. */
static void window_ends_with_the_device(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .tail_slots = 21 });
	swp_entry_t *slots = slots_in_use(test, 21);

	read_slot(test, slots[18], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+5!18");
}

/* A window may span clusters, and extend into one without slots in use. */
static void window_may_span_clusters(struct kunit *test)
{
	unsigned int cluster = swap_cluster_slots();
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 3, .use_cluster0 = true });
	swp_entry_t *slots = slots_in_use(test, 8);
	unsigned long first = swp_offset(slots[0]);

	swap_kunit_set_page_cluster(16);
	read_slot(test, slots[4], 2 * cluster);
	SWAP_EXPECT_DECISIONS(test, area, "R%lu:%lu+8!%lu", first / cluster, first % cluster,
			      first % cluster + 4);
}

/* Neighbours get the readahead mark and count in swap_ra; the requested page does not. */
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
				    "rule: neighbours get the readahead mark, the target does not: slot %lu",
				    i);
		folio_put(folio);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 7UL,
			    "rule: swap_ra counts the neighbours that are read");
}

/* A window of one page reads nothing ahead and counts nothing. */
static void window_of_one_counts_nothing(struct kunit *test)
{
	unsigned long ra = swap_vmstat(SWAP_RA);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_kunit_set_page_cluster(0);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:20!20");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 0UL,
			    "rule: swap_ra counts the neighbours that are read");
}

/*
 * A sequence of faults on a rotational device: the first reads one page, its neighbour two;
 * one hit makes a window of four, three hits make one of eight.
 */
static void window_grows_with_hits_on_a_rotational_device(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = user_memory_swapped(test, 64);
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

/* A hit clears the readahead mark, so it counts once. */
static void hit_counts_once(struct kunit *test)
{
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);
	struct user_memory *mem;
	swp_entry_t entry;
	struct folio *folio;

	swap_area_on(test, &SWAP_AREA_HDD_1);
	mem = user_memory_swapped(test, 16);
	entry = user_share_slot(mem, 9);	/* keeps the slot in use */
	swap_kunit_set_readahead_hits(6);
	user_fault(mem, 10);
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
	user_fault(mem, 9);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 1,
			    "rule: a fault on a page that was read ahead is a hit");
	KUNIT_EXPECT_EQ(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL);
	folio = swap_cached_folio(entry);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_readahead(folio),
			       "rule: a hit clears the readahead mark");
	folio_put(folio);
	swap_free_slot(entry);
}

/* A fault is not a hit on the page that it read itself, nor on a page that was never read. */
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
			    "rule: only pages that were read ahead make hits");
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
}

/* Shmem always uses cluster readahead, and its hits are global. */
static void shmem_reads_by_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped_shmem(test, 32);
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);

	swap_kunit_set_readahead_hits(6);
	KUNIT_EXPECT_TRUE(test, swap_kunit_use_vma_readahead());
	user_fault(mem, 19);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+8!19 F0:19");
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
	user_fault(mem, 20);
	SWAP_EXPECT_DECISIONS(test, area, "F0:20");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 1,
			    "rule: hits of cluster readahead are global");
	KUNIT_EXPECT_EQ(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL);
}

struct lack {
	SWAP_PARAM_NAME;
	enum swap_fail_point point;
};

static const struct lack lacks[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC },
	{ "charge", SWAP_FAIL_SWAPIN_CHARGE },
};

SWAP_PARAMS(lacks, lacks);

/* A neighbour without a folio, or whose folio cannot be charged, is skipped and does not change. */
static void neighbour_without_memory_is_skipped(struct kunit *test)
{
	const struct lack *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);
	struct swap_slot_facts facts;

	if (c->point == SWAP_FAIL_SWAPIN_CHARGE)
		SWAP_REQUIRE_CONFIG(test, MEMCG);
	swap_fail(test, c->point, 3, 1);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, "R0:16+2 R0:19+5!20");
	swap_slot_facts(area, swap_slot_at(area, 0, 18), &facts);
	KUNIT_EXPECT_FALSE_MSG(test, facts.cached,
			       "rule: a slot that readahead skips is not in the swap cache");
	KUNIT_EXPECT_EQ(test, facts.count, 1U);
}

/* A target without memory fails the fault. */
static void target_without_memory_fails_the_fault(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = user_memory_swapped(test, 4);

	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 2) & VM_FAULT_ERROR, VM_FAULT_OOM,
			    "rule: a fault without memory to read into returns VM_FAULT_OOM");
	SWAP_EXPECT_DECISIONS(test, area, "");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 2), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_EQ(test, user_fault(mem, 2) & VM_FAULT_ERROR, 0U);
	SWAP_EXPECT_DECISIONS(test, area, "R0:2!2");
}

static void free_slot_18(void *slots)
{
	free_early(slots, 18);
}

/* A slot that is freed while its folio is allocated is not read. */
static void slot_freed_during_allocation_is_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1, free_slot_18, slots);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(READ_BATCHED) ?
			      "F0:18 R0:16+2 R0:19+5!20" : "R0:16+2 F0:18 R0:19+5!20");
}

static void read_slot_18(void *area)
{
	struct folio *folio;

	swap_kunit_set_page_cluster(0);
	folio = swap_read_slot(swap_entry_at(area, 0, 18));
	if (folio)
		folio_put(folio);
}

/* A slot that another task reads while its folio is allocated is read once. */
static void slot_read_during_allocation_is_read_once(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	swp_entry_t *slots = slots_in_use(test, 24);

	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1, read_slot_18, area);
	read_slot(test, slots[20], 8);
	SWAP_EXPECT_DECISIONS(test, area, swap_has(READ_BATCHED) ?
			      "R0:18!18 R0:16+2 R0:19+5" : "R0:16+2 R0:18!18 R0:19+5");
}

/* vm.page-cluster accepts 0 to 31; any other value is refused. */
struct page_cluster_case {
	SWAP_PARAM_NAME;
	int err;		/* of writing the name */
	const char *then;	/* value read afterwards */
	unsigned int window;	/* pages, with 100 hits */
};

static const struct page_cluster_case page_clusters[] = {
	/* name, err, then, window */
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
			    "rule: a window has at most 1 << page_cluster pages");
}

/* MADV_WILLNEED reads the given range and no more, and is not readahead. */
struct memory_kind {
	SWAP_PARAM_NAME;
	bool shmem;
};

static const struct memory_kind willneeds[] = {
	{ "anonymous", .shmem = false },
	{ "shmem", .shmem = true },
};

SWAP_PARAMS(willneeds, willneeds);

static void willneed_reads_what_is_named(struct kunit *test)
{
	const struct memory_kind *c = swap_param(test);
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
			    "rule: a fault does not wait for a page that MADV_WILLNEED read");
	KUNIT_EXPECT_EQ(test, swap_vmstat(SWAP_RA) - ra, 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 0UL,
			    "rule: a page that MADV_WILLNEED read makes no hit");
}

static struct kunit_case swap_readahead_cluster_cases[] = {
	KUNIT_CASE_PARAM(window_depends_on_hits_and_distance, windows_gen_params),
	KUNIT_CASE(hits_are_used_once),
	KUNIT_CASE(distance_is_from_the_last_fault_without_hits),
	KUNIT_CASE(windows_shrink_by_half_without_hits),
	KUNIT_CASE_PARAM(window_is_an_aligned_block, blocks_gen_params),
	KUNIT_CASE(next_slot_reads_two),
	KUNIT_CASE(free_slots_are_not_read),
	KUNIT_CASE(nothing_is_read_beyond_use),
	KUNIT_CASE(bad_slots_are_not_read),
	KUNIT_CASE(bad_slots_take_no_memory),
	KUNIT_CASE(cached_slots_are_not_read_again),
	KUNIT_CASE(slots_only_in_the_cache_are_not_read),
	KUNIT_CASE(cached_window_reads_nothing),
	KUNIT_CASE(header_slot_is_not_read),
	KUNIT_CASE(window_ends_with_the_device),
	KUNIT_CASE(window_may_span_clusters),
	KUNIT_CASE(neighbours_are_marked_and_counted),
	KUNIT_CASE(window_of_one_counts_nothing),
	KUNIT_CASE(window_grows_with_hits_on_a_rotational_device),
	KUNIT_CASE(hit_counts_once),
	KUNIT_CASE(pages_not_read_ahead_are_no_hits),
	KUNIT_CASE(shmem_reads_by_slot),
	KUNIT_CASE_PARAM(neighbour_without_memory_is_skipped, lacks_gen_params),
	KUNIT_CASE(target_without_memory_fails_the_fault),
	KUNIT_CASE(slot_freed_during_allocation_is_not_read),
	KUNIT_CASE(slot_read_during_allocation_is_read_once),
	KUNIT_CASE_PARAM(page_cluster_has_bounds, page_clusters_gen_params),
	KUNIT_CASE_PARAM(willneed_reads_what_is_named, willneeds_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_readahead_cluster, swap_readahead_cluster_cases);

MODULE_DESCRIPTION("KUnit suite of the kernel's swap readahead by slot");
MODULE_LICENSE("GPL");
