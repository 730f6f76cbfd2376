// SPDX-License-Identifier: GPL-2.0
/*
 * VMA readahead: the pages around a fault in its own mapping, wherever their
 * slots are. It is for anonymous memory as long as no area is rotational.
 */
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

static const struct swap_area_config ssd_first = {
	.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 10 };

/*
 * The size of the window: as in cluster readahead, but from what this mapping
 * remembers, and 32 pages at most. Its place: ahead of a fault next to the last
 * one, behind a fault before the last one, else around it with the larger half
 * behind; cut at the edges of the mapping and of the page table.
 */
#define NEVER	-1L		/* the mapping was not faulted yet */
#define PAGES	600		/* of the mapping: past the end of a page table */

struct window_case {
	SWAP_PARAM_NAME;
	int page_cluster;
	long last;		/* page faulted before */
	unsigned int last_window;
	unsigned int hits;	/* since then */
	unsigned int page;
	unsigned int window;
	unsigned int start;	/* pages of the mapping */
	unsigned int end;
};

static const struct window_case windows[] = {
	{ "first fault",			3, NEVER, 0, 0, 100, 8, 97, 105 },
	{ "first fault, page_cluster 5",	5, NEVER, 0, 0, 100, 8, 97, 105 },
	{ "first fault, page_cluster 2",	2, NEVER, 0, 0, 100, 4, 99, 103 },
	{ "first fault, page_cluster 1",	1, NEVER, 0, 0, 100, 2, 100, 102 },
	{ "first fault, page_cluster 0",	0, NEVER, 0, 0, 100, 1 },
	{ "no hits, far away",			3, 300, 1, 0, 100, 1 },
	{ "no hits, same page",			3, 100, 1, 0, 100, 1 },
	{ "no hits, next but one",		3, 98, 1, 0, 100, 1 },
	{ "no hits, next page",			3, 99, 1, 0, 100, 2, 100, 102 },
	{ "no hits, page before",		3, 101, 1, 0, 100, 2, 99, 101 },
	{ "forwards, 1 hit",			3, 99, 1, 1, 100, 4, 100, 104 },
	{ "forwards, 3 hits",			3, 99, 1, 3, 100, 8, 100, 108 },
	{ "backwards, 1 hit",			3, 101, 1, 1, 100, 4, 97, 101 },
	{ "backwards, 3 hits",			3, 101, 1, 3, 100, 8, 93, 101 },
	{ "around, 1 hit",			3, 300, 1, 1, 100, 4, 99, 103 },
	{ "around, 2 hits",			3, 300, 1, 2, 100, 4, 99, 103 },
	{ "around, 3 hits",			3, 300, 1, 3, 100, 8, 97, 105 },
	{ "around, 6 hits",			3, 300, 1, 6, 100, 8, 97, 105 },
	{ "around, 30 hits",			3, 300, 1, 30, 100, 8, 97, 105 },
	{ "around, 7 hits, page_cluster 4",	4, 300, 1, 7, 100, 16, 93, 109 },
	{ "around, 30 hits, page_cluster 5",	5, 300, 1, 30, 100, 32, 85, 117 },
	{ "page_cluster 6: 32 at most",		6, 300, 1, 63, 100, 32, 85, 117 },
	{ "page_cluster 31: 32 at most",	31, 300, 1, 63, 100, 32, 85, 117 },
	{ "after 8 pages, far away",		3, 300, 8, 0, 100, 4, 99, 103 },
	{ "after 4 pages, far away",		3, 300, 4, 0, 100, 2, 100, 102 },
	{ "after 2 pages, far away",		3, 300, 2, 0, 100, 1 },
	{ "after 32 pages, next page",		5, 99, 32, 0, 100, 16, 100, 116 },
	{ "first page of the mapping",		3, 300, 1, 3, 0, 8, 0, 5 },
	{ "second page of the mapping",		3, 300, 1, 3, 1, 8, 0, 6 },
	{ "backwards to the first page",	3, 1, 1, 3, 0, 8, 0, 1 },
	{ "backwards near the first page",	3, 3, 1, 3, 2, 8, 0, 3 },
	{ "last page of the mapping",		3, 300, 1, 3, 599, 8, 596, 600 },
	{ "forwards to the last page",		3, 598, 1, 3, 599, 8, 599, 600 },
	{ "last page of a page table",		3, 300, 1, 3, 511, 8, 508, 512 },
	{ "near the end of a page table",	3, 300, 1, 3, 509, 8, 506, 512 },
	{ "forwards to the end of a page table", 3, 509, 1, 3, 510, 8, 510, 512 },
	{ "first page of a page table",		3, 300, 1, 3, 512, 8, 512, 517 },
	{ "backwards to a page table's start",	3, 514, 1, 3, 513, 8, 512, 514 },
};

SWAP_PARAMS(windows, windows);

static void window_follows_the_mapping(struct kunit *test)
{
	const struct window_case *c = swap_param(test);
	struct user_memory *mem = user_memory_new(test, PAGES);
	struct vm_area_struct *vma = user_vma(mem);
	unsigned long start = 0, end = 0;
	unsigned int window;

	if (c->last != NEVER)
		swap_kunit_set_vma_history(vma, mem->start + c->last * PAGE_SIZE, c->last_window,
					   c->hits);
	swap_set_page_cluster(c->page_cluster);
	window = swap_kunit_vma_window(vma, mem->start + (unsigned long)c->page * PAGE_SIZE,
				       &start, &end);
	KUNIT_EXPECT_EQ_MSG(test, window, c->window,
			    "rule: window from the mapping's hits, nearness and last window");
	if (c->window == 1)
		return;
	KUNIT_EXPECT_EQ_MSG(test, (long)(start - mem->start) >> PAGE_SHIFT, (long)c->start,
			    "rule: where the window starts");
	KUNIT_EXPECT_EQ_MSG(test, (long)(end - mem->start) >> PAGE_SHIFT, (long)c->end,
			    "rule: where the window ends");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(vma), 0U,
			    "rule: a window spends the hits that made it");
}

/* A mapping at address 0: the window does not reach below it. */
struct address0_case {
	SWAP_PARAM_NAME;
	unsigned int page;
	unsigned int end;
	const char *reads;
};

static const struct address0_case address0[] = {
	{ "page 0", 0, 5, "R0:0+5!0" },
	{ "page 1", 1, 6, "R0:0+6!1" },
	{ "page 2", 2, 7, "R0:0+7!2" },
	{ "page 3", 3, 8, "R0:0+8!3" },
};

SWAP_PARAMS(address0, address0);

/* And three hits since: eight pages around the next fault. */
static void last_fault_far_away(struct user_memory *mem)
{
	swap_kunit_set_vma_history(user_vma(mem), 15 * PAGE_SIZE, 1, 3);
}

static void window_starts_at_address_0(struct kunit *test)
{
	const struct address0_case *c = swap_param(test);
	unsigned long addr = c->page * PAGE_SIZE, start = ~0UL, end = 0;
	struct user_memory *mem = user_memory_at(test, 0, 16);

	last_fault_far_away(mem);
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_window(user_vma(mem), addr, &start, &end), 8U);
	KUNIT_ASSERT_EQ_MSG(test, start, 0UL, "rule: no window below address 0");
	KUNIT_EXPECT_TRUE_MSG(test, start <= addr && addr < end && end - start <= 8 * PAGE_SIZE,
			      "rule: the window holds the fault and is no larger than it may be");
	KUNIT_EXPECT_EQ(test, end, c->end * PAGE_SIZE);
}

/* Memory swapped out page for slot, from the area's first slot on. */
static void swap_all(struct kunit *test, struct user_memory *mem)
{
	user_fill(mem, 0, mem->pages);
	user_swap_out(mem, 0, mem->pages);
	swap_decisions_skip(test);
}

static struct user_memory *swapped_memory(struct kunit *test, unsigned int pages)
{
	struct user_memory *mem = user_memory_new(test, pages);

	swap_all(test, mem);
	return mem;
}

static void reads_start_at_address_0(struct kunit *test)
{
	const struct address0_case *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	unsigned long start = ~0UL, end = 0;
	struct user_memory *mem = user_memory_at(test, 0, 16);

	/* A window below it would have the kernel read before the page table. */
	last_fault_far_away(mem);
	swap_kunit_vma_window(user_vma(mem), c->page * PAGE_SIZE, &start, &end);
	KUNIT_ASSERT_EQ_MSG(test, start, 0UL, "rule: no window below address 0");
	swap_all(test, mem);
	last_fault_far_away(mem);
	user_fault(mem, c->page);
	SWAP_EXPECT_DECISIONS(test, area, c->reads);
}

/* What is read at the edges of a mapping and of a page table. */
struct edge_case {
	SWAP_PARAM_NAME;
	unsigned int pages;	/* of the mapping */
	unsigned long skip;	/* pages of a page table before it */
	unsigned int page;
	const char *reads;
};

static const struct edge_case edges[] = {
	{ "inside", 16, 0, 8, "R0:5+8!8" },
	{ "mapping starts", 16, 0, 1, "R0:0+6!1" },
	{ "mapping ends", 16, 0, 14, "R0:11+5!14" },
	{ "mapping smaller than the window", 4, 0, 2, "R0:0+4!2" },
	{ "page table ends", 16, 504, 6, "R0:3+5!6" },
	{ "page table starts", 16, 504, 9, "R0:8+6!9" },
};

SWAP_PARAMS(edges, edges);

static void reads_stop_at_edges(struct kunit *test)
{
	const struct edge_case *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_at(test, 0x40000000UL + c->skip * PAGE_SIZE,
						 c->pages);

	swap_all(test, mem);
	user_fault(mem, c->page);
	SWAP_EXPECT_DECISIONS(test, area, c->reads);
}

/*
 * A whole story: eight pages of a first fault; far away, half of that and half
 * again; then the page before.
 */
static void faults_here_and_there(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 128);

	user_fault(mem, 101);
	SWAP_EXPECT_DECISIONS(test, area, "R0:98+8!101");
	user_fault(mem, 21);
	SWAP_EXPECT_DECISIONS(test, area, "R0:20+4!21");
	user_fault(mem, 61);
	SWAP_EXPECT_DECISIONS(test, area, "R0:61+2!61");
	user_fault(mem, 60);
	SWAP_EXPECT_DECISIONS(test, area, "R0:59+2!60");
	user_fault(mem, 5);
	SWAP_EXPECT_DECISIONS(test, area, "R0:5!5");
}

/* Page after page: what was read ahead is hit, and the next window lies ahead. */
static void faults_forwards(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 64);
	unsigned int page;

	for (page = 0; page < 5; page++)
		user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0+5!0");
	for (; page < 13; page++)
		user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "R0:5+8!5");
	user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "R0:13+8!13");
}

/* Page before page: the window lies behind. */
static void faults_backwards(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 64);
	unsigned int page;

	for (page = 40; page > 36; page--)
		user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "R0:37+8!40");
	for (; page > 28; page--)
		user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "R0:29+8!36");
	user_fault(mem, page);
	SWAP_EXPECT_DECISIONS(test, area, "R0:21+8!28");
}

/* Memory swapped out last page first: the last page has the first slot. */
static struct user_memory *reversed_memory(struct kunit *test, unsigned int pages)
{
	struct user_memory *mem = user_memory_new(test, pages);
	unsigned int page;

	user_fill(mem, 0, pages);
	for (page = pages; page; page--)
		user_swap_out(mem, page - 1, 1);
	swap_decisions_skip(test);
	return mem;
}

/* By address, whatever the slots. */
static void reads_go_by_address(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = reversed_memory(test, 16);

	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, area,
			      "R0:15 R0:14 R0:13 R0:12!12 R0:11 R0:10 R0:9 R0:8");
}

/* Pages that were never there, or are there, are left out. */
static void pages_not_swapped_are_left_out(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 16);

	user_fill(mem, 0, 5);
	user_fill(mem, 6, 10);
	user_swap_out(mem, 0, 4);
	user_swap_out(mem, 6, 10);
	swap_decisions_skip(test);
	/* Page 4 is there, page 5 never was; pages from 6 on have slots from 4 on. */
	swap_kunit_set_vma_history(user_vma(mem), 0, 0, 0);
	user_fault(mem, 6);
	SWAP_EXPECT_DECISIONS(test, area, "R0:3+6!4");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 5), USER_PAGE_NONE);
}

/* What the swap cache has already is not read again, nor marked. */
static void cached_pages_are_not_read_again(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 16);
	struct folio *folio = swap_read_slot(area, user_entry(mem, 8));
	unsigned long ra = swap_vmstat(SWAP_RA);

	KUNIT_ASSERT_NOT_NULL(test, folio);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:8!8");
	user_fault(mem, 7);
	SWAP_EXPECT_DECISIONS(test, area, "R0:4+4!7 R0:9+3");
	folio = swap_cached_folio(user_entry(mem, 8));
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_readahead(folio),
			       "rule: only what readahead read is marked as read ahead");
	folio_put(folio);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 6UL,
			    "rule: swap_ra counts the neighbours read");
}

/* Neighbours carry the mark and are counted; a hit takes both into account, once. */
static void marks_are_set_and_hit(struct kunit *test)
{
	unsigned long ra = swap_vmstat(SWAP_RA), hit = swap_vmstat(SWAP_RA_HIT);
	struct user_memory *mem;
	unsigned int page;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = swapped_memory(test, 16);
	user_share_slot(mem, 7);	/* keeps the slot beyond the fault */
	user_share_slot(mem, 8);
	for (page = 4; page < 12; page++) {
		swp_entry_t entry = user_entry(mem, page);
		struct folio *folio;

		if (page == 4)
			user_fault(mem, 7);
		folio = swap_cached_folio(entry.val ? entry : swap_entry_at(
					  swap_area_of(test, user_entry(mem, 4)), 0, page));
		KUNIT_ASSERT_NOT_NULL(test, folio);
		KUNIT_EXPECT_EQ_MSG(test, folio_test_readahead(folio), page != 7,
				    "rule: neighbours carry the readahead mark, the target not: page %u",
				    page);
		folio_put(folio);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 7UL,
			    "rule: swap_ra counts the neighbours read");
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_hits(user_vma(mem)), 0U);
	user_fault(mem, 8);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(user_vma(mem)), 1U,
			    "rule: a fault on a page read ahead is a hit of its mapping");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 0,
			    "rule: a mapping's hits are its own");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL,
			    "rule: swap_ra_hit counts faults on pages read ahead");
	swap_free_slot(swap_entry_at(swap_area_of(test, user_entry(mem, 4)), 0, 7));
	swap_free_slot(swap_entry_at(swap_area_of(test, user_entry(mem, 4)), 0, 8));
}

/* A mapping remembers 63 hits, not more. */
static void hits_have_a_ceiling(struct kunit *test)
{
	struct vm_area_struct *vma;
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = swapped_memory(test, 16);
	vma = user_vma(mem);
	user_fault(mem, 7);
	swap_kunit_set_vma_history(vma, mem->start + 7 * PAGE_SIZE, 8, 62);
	user_fault(mem, 8);
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_hits(vma), 63U);
	user_fault(mem, 9);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(vma), 63U,
			    "rule: hits stop at their ceiling");
}

/* A fault the swap cache serves is the mapping's last fault, too. */
static void cached_faults_are_remembered(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 64);

	user_fault(mem, 20);
	SWAP_EXPECT_DECISIONS(test, area, "R0:17+8!20");
	user_fault(mem, 24);
	SWAP_EXPECT_DECISIONS(test, area, "");
	/* One hit: four pages; next to the last fault: ahead. */
	user_fault(mem, 25);
	SWAP_EXPECT_DECISIONS(test, area, "R0:25+4!25");
}

/* While any area is rotational, everybody reads by slot. */
static void rotational_device_turns_it_off(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = reversed_memory(test, 16);
	struct swap_area *disk;

	KUNIT_EXPECT_TRUE(test, swap_kunit_use_vma_readahead());
	disk = swap_area_on(test, &SWAP_AREA_HDD_1);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_use_vma_readahead(),
			       "rule: no VMA readahead while an area is rotational");
	swap_kunit_set_readahead_hits(6);
	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, area, "R0:8+8!12");
	/* A hit counts for all then, not for the mapping. */
	user_fault(mem, 4);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 1,
			    "rule: hits of cluster readahead count for everybody");
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_hits(user_vma(mem)), 0U);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(disk), 0);
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_use_vma_readahead(),
			      "rule: VMA readahead again once no area is rotational");
	user_fault(mem, 11);
	SWAP_EXPECT_DECISIONS(test, area,
			      "R0:7 R0:6 R0:5 R0:4!4 R0:3 R0:2 R0:1 R0:0");
}

/* vma_ra_enabled takes what is a yes or a no; all else leaves it as it was. */
struct enabled_case {
	SWAP_PARAM_NAME;	/* what is written */
	bool before;
	int err;
	bool after;
};

static const struct enabled_case enabled[] = {
	{ "0", true, 0, false },
	{ "1", false, 0, true },
	{ "n", true, 0, false },
	{ "y", false, 0, true },
	{ "off", true, 0, false },
	{ "on", false, 0, true },
	{ "maybe", true, -EINVAL, true },
	{ "2", false, -EINVAL, false },
};

SWAP_PARAMS(enabled, enabled);

static void sysfs_turns_it_off_and_on(struct kunit *test)
{
	static const char file[] = "kernel/mm/swap/vma_ra_enabled";
	const struct enabled_case *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = reversed_memory(test, 16);
	/* Older kernels know numbers only. */
	bool known = swap_has(VMA_RA_ANY_BOOL) || isdigit(c->name[0]);
	bool after = known ? c->after : c->before;
	char value[16];

	swap_kunit_set_vma_readahead(c->before);
	KUNIT_EXPECT_EQ(test, text_file_write("sysfs", file, c->name), known ? c->err : -EINVAL);
	KUNIT_ASSERT_EQ(test, text_file_read("sysfs", file, value, sizeof(value)), 0);
	KUNIT_EXPECT_STREQ(test, value, after ? "true" : "false");
	swap_kunit_set_readahead_hits(6);
	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, area, after ?
			      "R0:15 R0:14 R0:13 R0:12!12 R0:11 R0:10 R0:9 R0:8" :
			      "R0:8+8!12");
}

/* Even pages on the first area, odd pages on one that came later. */
static struct user_memory *memory_on_two(struct kunit *test, const struct swap_area_config *later,
					 unsigned int pages, struct swap_area **second)
{
	struct user_memory *mem = user_memory_new(test, pages);
	unsigned int page;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	user_fill(mem, 0, pages);
	for (page = 0; page < pages; page += 2)
		user_swap_out(mem, page, 1);
	*second = swap_area_on(test, later);
	swap_kunit_drain_hints();	/* of the first */
	for (page = 1; page < pages; page += 2)
		user_swap_out(mem, page, 1);
	swap_decisions_skip(test);
	return mem;
}

/* A window may hold slots of several devices: each is read where it is. */
static void window_over_two_devices(struct kunit *test)
{
	struct swap_area *second;
	struct user_memory *mem = memory_on_two(test, &ssd_first, 8, &second);

	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, NULL,
			      "a/R0:0 b/R0:0 a/R0:1 b/R0:1!1 a/R0:2 b/R0:2 a/R0:3 b/R0:3");
}

/* A device that swapoff has closed is left out of other devices' windows. */
static void closed_device_is_left_out(struct kunit *test)
{
	struct swap_area *second;
	struct user_memory *mem;

	SWAP_REQUIRE(test, AREA_USERS);
	mem = memory_on_two(test, &ssd_first, 8, &second);
	swap_kunit_kill_users(second->si);
	user_fault(mem, 2);
	SWAP_EXPECT_DECISIONS(test, NULL, "a/R0:0+4!1");
	swap_kunit_revive_users(second->si);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 1),
			       "rule: nothing is read from a device that cannot be pinned");
}

static unsigned long pins[8];
static unsigned int nr_pins;

static void count_pins(void *ctx)
{
	if (nr_pins < ARRAY_SIZE(pins))
		pins[nr_pins++] = swap_kunit_users(ctx);
}

/* Another device's slot is read with that device pinned. */
static void neighbours_device_is_pinned(struct kunit *test)
{
	struct swap_area *second;
	struct user_memory *mem;
	unsigned int i;

	SWAP_REQUIRE(test, READAHEAD_PINS);
	mem = memory_on_two(test, &ssd_first, 8, &second);
	nr_pins = 0;
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL, count_pins, second->si);
	user_fault(mem, 2);
	KUNIT_ASSERT_EQ(test, nr_pins, 7U);
	for (i = 1; i < nr_pins; i += 2)
		KUNIT_EXPECT_EQ_MSG(test, pins[i], 1UL,
				    "rule: a neighbour's device is pinned while its slot is read: page %u",
				    i);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_users(second->si), 0UL,
			    "rule: no pin is left after readahead");
}

/* A neighbour without memory is left out. */
static void neighbour_without_memory_is_left_out(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = swapped_memory(test, 16);

	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1);
	KUNIT_EXPECT_EQ(test, user_fault(mem, 8) & VM_FAULT_ERROR, 0U);
	SWAP_EXPECT_DECISIONS(test, area, "R0:5+2 R0:8+5!8");
}

static struct kunit_case swap_readahead_vma_cases[] = {
	KUNIT_CASE_PARAM(window_follows_the_mapping, windows_gen_params),
	KUNIT_CASE_PARAM(window_starts_at_address_0, address0_gen_params),
	KUNIT_CASE_PARAM(reads_start_at_address_0, address0_gen_params),
	KUNIT_CASE_PARAM(reads_stop_at_edges, edges_gen_params),
	KUNIT_CASE(faults_here_and_there),
	KUNIT_CASE(faults_forwards),
	KUNIT_CASE(faults_backwards),
	KUNIT_CASE(reads_go_by_address),
	KUNIT_CASE(pages_not_swapped_are_left_out),
	KUNIT_CASE(cached_pages_are_not_read_again),
	KUNIT_CASE(marks_are_set_and_hit),
	KUNIT_CASE(hits_have_a_ceiling),
	KUNIT_CASE(cached_faults_are_remembered),
	KUNIT_CASE(rotational_device_turns_it_off),
	KUNIT_CASE_PARAM(sysfs_turns_it_off_and_on, enabled_gen_params),
	KUNIT_CASE(window_over_two_devices),
	KUNIT_CASE(closed_device_is_left_out),
	KUNIT_CASE(neighbours_device_is_pinned),
	KUNIT_CASE(neighbour_without_memory_is_left_out),
	{}
};

SWAP_KUNIT_SUITE(swap_readahead_vma, swap_readahead_vma_cases);

MODULE_DESCRIPTION("KUnit suite of the kernel's swap readahead by address");
MODULE_LICENSE("GPL");
