// SPDX-License-Identifier: GPL-2.0
/*
 * VMA readahead: reads the pages around a fault in its mapping, wherever their
 * slots are. Anonymous memory uses it as long as no area is rotational.
 */
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

/*
 * The window is as large as in cluster readahead, but hits and last window are those of the
 * mapping, and it has at most 32 pages. It is ahead of a fault next to the last one, behind a
 * fault before the last one, else around the fault with the larger half behind. It is cut at the
 * edges of the mapping and of the page table.
 */
#define NEVER	-1L		/* the mapping had no fault yet */
#define PAGES	600		/* of the mapping: more than a page table */

struct window_case {
	SWAP_PARAM_NAME;
	int page_cluster;
	long last;		/* page of the last fault */
	unsigned int last_window; /* pages */
	unsigned int hits;	/* since then */
	unsigned int page;	/* of the fault */
	unsigned int window;	/* expected, in pages */
	unsigned int start;	/* first page of the window */
	unsigned int end;	/* page after its last one */
};

static const struct window_case windows[] = {
	/* name, page_cluster, last, last_window, hits, page, window, start, end */
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

static void window_depends_on_the_mapping(struct kunit *test)
{
	const struct window_case *c = swap_param(test);
	struct user_memory *mem = user_memory_new(test, PAGES);
	struct vm_area_struct *vma = user_vma(mem);
	unsigned long start = 0, end = 0;
	unsigned int window;

	if (c->last != NEVER)
		swap_kunit_set_vma_history(vma, mem->start + c->last * PAGE_SIZE, c->last_window,
					   c->hits);
	swap_kunit_set_page_cluster(c->page_cluster);
	window = swap_kunit_vma_window(vma, mem->start + (unsigned long)c->page * PAGE_SIZE,
				       &start, &end);
	KUNIT_EXPECT_EQ_MSG(test, window, c->window,
			    "rule: hits, distance and last window of the mapping make the window");
	if (c->window == 1)
		return;
	KUNIT_EXPECT_EQ_MSG(test, (long)(start - mem->start) >> PAGE_SHIFT, (long)c->start,
			    "rule: direction of the faults, mapping and page table decide where the window starts");
	KUNIT_EXPECT_EQ_MSG(test, (long)(end - mem->start) >> PAGE_SHIFT, (long)c->end,
			    "rule: direction of the faults, mapping and page table decide where the window ends");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(vma), 0U,
			    "rule: a window uses up its hits");
}

/* In a mapping at address 0, the window does not start below it. */
struct address0_case {
	SWAP_PARAM_NAME;
	unsigned int page;	/* of the fault */
	unsigned int end;	/* of the window */
	const char *reads;
};

static const struct address0_case address0[] = {
	/* name, page, end, reads */
	{ "page 0", 0, 5, "R0:0+5!0" },
	{ "page 1", 1, 6, "R0:0+6!1" },
	{ "page 2", 2, 7, "R0:0+7!2" },
	{ "page 3", 3, 8, "R0:0+8!3" },
};

SWAP_PARAMS(address0, address0);

/* With three hits since, the next window is eight pages around the fault. */
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
			      "rule: the window contains the fault and has at most eight pages");
	KUNIT_EXPECT_EQ(test, end, c->end * PAGE_SIZE);
}

/* Swap all of a memory out: page n takes slot n. */
static void swap_all(struct kunit *test, struct user_memory *mem)
{
	user_fill(mem, 0, mem->pages);
	user_swap_out(mem, 0, mem->pages);
	swap_decisions_skip(test);
}

static void reads_start_at_address_0(struct kunit *test)
{
	const struct address0_case *c = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	unsigned long start = ~0UL, end = 0;
	struct user_memory *mem = user_memory_at(test, 0, 16);

	/* With a window below 0, the fault would read before the page table. */
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
	unsigned long skip;	/* pages of the page table before it */
	unsigned int page;	/* of the fault */
	const char *reads;
};

static const struct edge_case edges[] = {
	/* name, pages, skip, page, reads */
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
 * A sequence of scattered faults: the first window has eight pages, each later one half of the
 * last, and a fault before the last one reads backwards.
 */
static void scattered_faults_shrink_the_window(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 128);

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

/* Sequential faults hit what was read ahead, and the next window is ahead of them. */
static void forward_faults_read_ahead(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 64);
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

/* Backward faults read behind. */
static void backward_faults_read_behind(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 64);
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

/* Memory swapped out from its last page to its first: the last page has the first slot. */
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

/* The window goes by address, whatever the order of the slots. */
static void reads_go_by_address(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = reversed_memory(test, 16);

	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, area,
			      "R0:15 R0:14 R0:13 R0:12!12 R0:11 R0:10 R0:9 R0:8");
}

/* Pages that are present or were never touched are skipped. */
static void pages_not_swapped_are_skipped(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 16);

	user_fill(mem, 0, 5);
	user_fill(mem, 6, 10);
	user_swap_out(mem, 0, 4);
	user_swap_out(mem, 6, 10);
	swap_decisions_skip(test);
	/* Page 4 is present, page 5 was never touched; pages from 6 on have slots from 4 on. */
	swap_kunit_set_vma_history(user_vma(mem), 0, 0, 0);
	user_fault(mem, 6);
	SWAP_EXPECT_DECISIONS(test, area, "R0:3+6!4");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 5), USER_PAGE_NONE);
}

/* Pages in the swap cache are neither read again nor marked. */
static void cached_pages_are_not_read_again(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 16);
	struct folio *folio = swap_read_slot(user_entry(mem, 8));
	unsigned long ra = swap_vmstat(SWAP_RA);

	KUNIT_ASSERT_NOT_NULL(test, folio);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area, "R0:8!8");
	user_fault(mem, 7);
	SWAP_EXPECT_DECISIONS(test, area, "R0:4+4!7 R0:9+3");
	folio = swap_cached_folio(user_entry(mem, 8));
	KUNIT_ASSERT_NOT_NULL(test, folio);
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_readahead(folio),
			       "rule: only folios that readahead read are marked");
	folio_put(folio);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 6UL,
			    "rule: swap_ra counts the neighbours that are read");
}

/* Neighbours get the readahead mark and count in swap_ra; the first fault on one is a hit. */
static void neighbours_are_marked_and_hit(struct kunit *test)
{
	unsigned long ra = swap_vmstat(SWAP_RA), hit = swap_vmstat(SWAP_RA_HIT);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 16);
	unsigned int page;

	user_share_slot(mem, 7);	/* keeps the slot in use */
	user_share_slot(mem, 8);
	user_fault(mem, 7);
	for (page = 4; page < 12; page++) {
		struct folio *folio = swap_cached_folio(swap_entry_at(area, 0, page));

		KUNIT_ASSERT_NOT_NULL(test, folio);
		KUNIT_EXPECT_EQ_MSG(test, folio_test_readahead(folio), page != 7,
				    "rule: neighbours get the readahead mark, the target does not: page %u",
				    page);
		folio_put(folio);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, 7UL,
			    "rule: swap_ra counts the neighbours that are read");
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_hits(user_vma(mem)), 0U);
	user_fault(mem, 8);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(user_vma(mem)), 1U,
			    "rule: a fault on a page that was read ahead is a hit of its mapping");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 0,
			    "rule: hits of VMA readahead are not global");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL,
			    "rule: swap_ra_hit counts faults on pages that were read ahead");
	swap_free_slot(swap_entry_at(area, 0, 7));
	swap_free_slot(swap_entry_at(area, 0, 8));
}

/* A mapping counts up to 63 hits. */
static void hits_have_a_ceiling(struct kunit *test)
{
	struct vm_area_struct *vma;
	struct user_memory *mem;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	mem = user_memory_swapped(test, 16);
	vma = user_vma(mem);
	user_fault(mem, 7);
	swap_kunit_set_vma_history(vma, mem->start + 7 * PAGE_SIZE, 8, 62);
	user_fault(mem, 8);
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_hits(vma), 63U);
	user_fault(mem, 9);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(vma), 63U,
			    "rule: a mapping counts up to 63 hits");
}

/* A fault served by the swap cache is remembered as the last one, too. */
static void cached_faults_are_remembered(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 64);

	user_fault(mem, 20);
	SWAP_EXPECT_DECISIONS(test, area, "R0:17+8!20");
	user_fault(mem, 24);
	SWAP_EXPECT_DECISIONS(test, area, "");
	/* One hit makes four pages; next to the last fault, the window is ahead. */
	user_fault(mem, 25);
	SWAP_EXPECT_DECISIONS(test, area, "R0:25+4!25");
}

/* While any area is rotational, all faults use cluster readahead. */
static void rotational_device_turns_it_off(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = reversed_memory(test, 16);
	struct swap_area *disk;

	KUNIT_EXPECT_TRUE(test, swap_kunit_use_vma_readahead());
	disk = swap_area_on(test, &SWAP_AREA_HDD_1);
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_use_vma_readahead(),
			       "rule: VMA readahead is off while an area is rotational");
	swap_kunit_set_readahead_hits(6);
	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, area, "R0:8+8!12");
	/* Its hits are global, not those of the mapping. */
	user_fault(mem, 4);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 1,
			    "rule: hits of cluster readahead are global");
	KUNIT_EXPECT_EQ(test, swap_kunit_vma_hits(user_vma(mem)), 0U);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(disk), 0);
	KUNIT_EXPECT_TRUE_MSG(test, swap_kunit_use_vma_readahead(),
			      "rule: VMA readahead is on again once no area is rotational");
	user_fault(mem, 11);
	SWAP_EXPECT_DECISIONS(test, area,
			      "R0:7 R0:6 R0:5 R0:4!4 R0:3 R0:2 R0:1 R0:0");
}

/* vma_ra_enabled accepts a boolean; any other value is refused. */
struct enabled_case {
	SWAP_PARAM_NAME;	/* what is written */
	bool before;		/* enabled before the write */
	int err;		/* of the write */
	bool after;		/* enabled after it */
};

static const struct enabled_case enabled[] = {
	/* name, before, err, after */
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
	/* Older kernels accept numbers only. */
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

/* Even pages on a first area, odd pages on a second one. */
static struct user_memory *memory_on_two(struct kunit *test, struct swap_area **second)
{
	struct user_memory *mem = user_memory_new(test, 8);
	unsigned int page;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	user_fill(mem, 0, 8);
	for (page = 0; page < 8; page += 2)
		user_swap_out(mem, page, 1);
	*second = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 10 });
	swap_kunit_drain_hints();	/* they point to the first area */
	for (page = 1; page < 8; page += 2)
		user_swap_out(mem, page, 1);
	swap_decisions_skip(test);
	return mem;
}

/* A window may have slots of several devices. */
static void window_over_two_devices(struct kunit *test)
{
	struct swap_area *second;
	struct user_memory *mem = memory_on_two(test, &second);

	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, NULL,
			      "a/R0:0 b/R0:0 a/R0:1 b/R0:1!1 a/R0:2 b/R0:2 a/R0:3 b/R0:3");
}

/* Slots of a device that swapoff has closed are skipped. */
static void closed_device_is_skipped(struct kunit *test)
{
	struct swap_area *second;
	struct user_memory *mem;

	SWAP_REQUIRE(test, AREA_USERS);
	mem = memory_on_two(test, &second);
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

/* The device of a neighbour is pinned while its slot is read. */
static void neighbours_device_is_pinned(struct kunit *test)
{
	struct swap_area *second;
	struct user_memory *mem;
	unsigned int i;

	SWAP_REQUIRE(test, READAHEAD_PINS);
	mem = memory_on_two(test, &second);
	nr_pins = 0;
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL, count_pins, second->si);
	user_fault(mem, 2);
	KUNIT_ASSERT_EQ(test, nr_pins, 7U);
	for (i = 1; i < nr_pins; i += 2)
		KUNIT_EXPECT_EQ_MSG(test, pins[i], 1UL,
				    "rule: a neighbour's device is pinned while its slot is read: page %u",
				    i);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_users(second->si), 0UL,
			    "rule: readahead unpins the device");
}

/* A neighbour without memory is skipped. */
static void neighbour_without_memory_is_skipped(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 16);

	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 3, 1);
	KUNIT_EXPECT_EQ(test, user_fault(mem, 8) & VM_FAULT_ERROR, 0U);
	SWAP_EXPECT_DECISIONS(test, area, "R0:5+2 R0:8+5!8");
}

static struct kunit_case swap_readahead_vma_cases[] = {
	KUNIT_CASE_PARAM(window_depends_on_the_mapping, windows_gen_params),
	KUNIT_CASE_PARAM(window_starts_at_address_0, address0_gen_params),
	KUNIT_CASE_PARAM(reads_start_at_address_0, address0_gen_params),
	KUNIT_CASE_PARAM(reads_stop_at_edges, edges_gen_params),
	KUNIT_CASE(scattered_faults_shrink_the_window),
	KUNIT_CASE(forward_faults_read_ahead),
	KUNIT_CASE(backward_faults_read_behind),
	KUNIT_CASE(reads_go_by_address),
	KUNIT_CASE(pages_not_swapped_are_skipped),
	KUNIT_CASE(cached_pages_are_not_read_again),
	KUNIT_CASE(neighbours_are_marked_and_hit),
	KUNIT_CASE(hits_have_a_ceiling),
	KUNIT_CASE(cached_faults_are_remembered),
	KUNIT_CASE(rotational_device_turns_it_off),
	KUNIT_CASE_PARAM(sysfs_turns_it_off_and_on, enabled_gen_params),
	KUNIT_CASE(window_over_two_devices),
	KUNIT_CASE(closed_device_is_skipped),
	KUNIT_CASE(neighbours_device_is_pinned),
	KUNIT_CASE(neighbour_without_memory_is_skipped),
	{}
};

SWAP_KUNIT_SUITE(swap_readahead_vma, swap_readahead_vma_cases);

MODULE_DESCRIPTION("KUnit suite of the kernel's swap readahead by address");
MODULE_LICENSE("GPL");
