// SPDX-License-Identifier: GPL-2.0
/*
 * Which slots a large folio gets: clusters and their lists by order, and what
 * one order may take from another.
 */
#include <linux/mm.h>
#include "order_devices.h"

/* A cluster has room for at least three of these. */
static const struct order_case small_orders[] = {
	LARGE_ON_PROFILES(", order 2", 2),
	LARGE_ON_PROFILES(", order 4", 4),
	LARGE_ON_PROFILES(", order 6", 6),
};

LARGE_PARAMS(small_order, small_orders)

static unsigned int order_of(struct kunit *test)
{
	return case_of(test)->order;
}

/* Folios of the case's order in one cluster. */
static unsigned int per_cluster(struct kunit *test)
{
	return swap_cluster_slots() >> order_of(test);
}

/* Does a nonfull cluster come before a free one when the current cluster is drained? */
static bool nonfull_first(struct kunit *test)
{
	return swap_has(NONFULL_FIRST) && !case_of(test)->swap_flags;
}

/* The list of a cluster that has just been allocated from and still has room. */
static const char *taken_from(void)
{
	return swap_has(CPU_HINT_SHARED) ? "frag" : "nonfull";
}

/* One run of the notation: @nr folios of @order from @slot of @cluster on. */
static const char *run_of(struct kunit *test, char what, unsigned int cluster,
			  unsigned int slot, unsigned int order, unsigned int nr)
{
	char *text = kunit_kzalloc(test, 40, GFP_KERNEL);
	unsigned int n = swap_cluster_slots(), len;

	KUNIT_ASSERT_NOT_NULL(test, text);
	len = scnprintf(text, 40, "%c%u:", what, cluster);
	if (order && nr > 1)
		scnprintf(text + len, 40 - len, "%u^%ux%u", slot, order, nr);
	else if (order)
		scnprintf(text + len, 40 - len, "%u^%u", slot, order);
	else if (nr == n)
		scnprintf(text + len, 40 - len, "*");
	else if (nr > 1 && slot + nr == n)
		scnprintf(text + len, 40 - len, "%u..", slot);
	else if (nr > 1)
		scnprintf(text + len, 40 - len, "%u+%u", slot, nr);
	else
		scnprintf(text + len, 40 - len, "%u", slot);
	return text;
}

/* Folio number @folio of @cluster, of the case's order, is allocated; slots are freed. */
static const char *taken(struct kunit *test, unsigned int cluster, unsigned int folio)
{
	return run_of(test, 'A', cluster, folio << order_of(test), order_of(test), 1);
}

static const char *freed(struct kunit *test, unsigned int cluster, unsigned int slot,
			 unsigned int nr)
{
	return run_of(test, 'F', cluster, slot, 0, nr);
}

/* The name of a list of this order: "nonfull", "nonfull^4". */
static const char *list_of(struct kunit *test, const char *name, unsigned int order)
{
	char *text = kunit_kzalloc(test, 24, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	if (order)
		snprintf(text, 24, "%s^%u", name, order);
	else
		snprintf(text, 24, "%s", name);
	return text;
}

static void settle(struct kunit *test)
{
	struct swap_area *area;

	list_for_each_entry(area, &swap_areas, node)
		swap_area_settle(area);
}

/* Fill clusters with folios of this order. */
static void fill_clusters(struct kunit *test, unsigned int order, unsigned int clusters)
{
	unsigned int nr = clusters * (swap_cluster_slots() >> order);

	while (nr--)
		KUNIT_ASSERT_NE(test, swap_alloc_order(test, order).val, 0UL);
	settle(test);
	swap_decisions_skip(test);
}

static void free_folio_at(struct swap_area *area, unsigned int order, unsigned int cluster,
			  unsigned int folio)
{
	swap_free_slots(swap_entry_at(area, cluster, folio << order), 1U << order);
}

/*
 * Position
 */

/* Folios of one order fill a cluster from its start to its end, then the next one. */
static void order_fills_in_order(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int order = order_of(test), per = per_cluster(test), i;

	for (i = 0; i < 2 * per; i++)
		KUNIT_EXPECT_NE(test, swap_alloc_order(test, order).val, 0UL);
	swap_rule(test, "folios of one order fill cluster after cluster");
	SWAP_EXPECT_DECISIONS(test, area, "%s %s", run_of(test, 'A', 0, 0, order, per),
			      run_of(test, 'A', 1, 0, order, per));
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: allocation from a full area fails");
}

/* Each order has a cluster of its own: its first folio does not share another order's. */
static void each_order_has_its_own_cluster(struct kunit *test)
{
	struct swap_area *area = order_area(test, 4);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		swap_alloc_order(test, other);
		swap_alloc_order(test, order);
	}
	swap_rule(test, "each order has its own cluster");
	SWAP_EXPECT_DECISIONS(test, area, "%s %s %s %s",
			      run_of(test, 'A', 0, 0, other, 1), taken(test, 1, 0),
			      run_of(test, 'A', 0, 1U << other, other, 1),
			      order == 9 ? taken(test, 2, 0) : taken(test, 1, 1));
	if (order == 9)
		SWAP_EXPECT_LISTS(test, area, "free:3 %s:0 full:1,2",
				  list_of(test, taken_from(), other));
	else if (order == 8)
		SWAP_EXPECT_LISTS(test, area, "free:2,3 %s:0 full:1",
				  list_of(test, taken_from(), other));
	else if (order < other)
		SWAP_EXPECT_LISTS(test, area, "free:2,3 %s:1 %s:0",
				  list_of(test, taken_from(), order),
				  list_of(test, taken_from(), other));
	else
		SWAP_EXPECT_LISTS(test, area, "free:2,3 %s:0 %s:1",
				  list_of(test, taken_from(), other),
				  list_of(test, taken_from(), order));
}

/* Free slots are of use to a folio only where they begin at a multiple of its size. */
static void slots_are_aligned_to_the_folio_size(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
	unsigned int order = order_of(test), nr = folio_pages(test);

	fill_clusters(test, order, 1);
	swap_free_slots(swap_entry_at(area, 0, nr / 2), nr);
	swap_rule(test, "slots of a folio are aligned to its size");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: unaligned free slots cannot hold a folio");
	SWAP_EXPECT_DECISIONS(test, area, "%s", freed(test, 0, nr / 2, nr));
	swap_free_slots(swap_entry_at(area, 0, 3 * nr / 2), nr / 2);
	swap_alloc_order(test, order);
	SWAP_EXPECT_DECISIONS(test, area, "%s %s", freed(test, 0, 3 * nr / 2, nr / 2),
			      taken(test, 0, 1));
}

/* An order-0 slot in the cluster of a larger order does not disturb the alignment. */
static void folio_after_a_single_slot_is_aligned(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int order = order_of(test), nr = folio_pages(test);

	fill_clusters(test, 0, 1);
	swap_alloc_order(test, order);
	/* No other cluster has a free slot. */
	swap_alloc(test);
	swap_alloc_order(test, order);
	swap_rule(test, "a folio is aligned after order 0 took a slot of its cluster");
	SWAP_EXPECT_DECISIONS(test, area, "%s A1:%u %s", taken(test, 1, 0), nr,
			      taken(test, 1, 2));
}

/*
 * Lists by order
 */

/* A cluster with free slots is on the list of its order; other large orders do not use it. */
static void lists_are_by_order(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;
	unsigned int nr = max(folio_pages(test), 1U << other);
	bool whole = order == 9;

	fill_clusters(test, order, 1);
	swap_free_slots(swap_entry_at(area, 0, 0), whole ? nr / 2 : nr);
	swap_rule(test, "a cluster with free slots is on the list of its order");
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, other).val, 0UL,
			    "rule: a large order does not take slots of another order's cluster");
	SWAP_EXPECT_DECISIONS(test, area, "");
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	if (whole)
		return;
	swap_alloc_order(test, order);
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 0, 0));
}

/* An emptied cluster loses its order: another order can take it. */
static void emptied_cluster_loses_its_order(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;

	fill_clusters(test, order, 1);
	swap_free_slots(swap_entry_at(area, 0, 0), swap_cluster_slots());
	settle(test);
	swap_rule(test, "an emptied cluster is free for any order");
	SWAP_EXPECT_LISTS(test, area, "free:0");
	swap_decisions_skip(test);
	swap_alloc_order(test, other);
	SWAP_EXPECT_DECISIONS(test, area, "%s", run_of(test, 'A', 0, 0, other, 1));
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, taken_from(), other));
}

/*
 * The current cluster of this order was emptied and taken by another order. Newer kernels
 * notice that it has changed hands; older ones continue to use it.
 */
static void current_cluster_taken_by_another_order(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;
	swp_entry_t entry;

	swap_alloc_order(test, order);
	free_folio_at(area, order, 0, 0);
	settle(test);
	swap_alloc_order(test, other);
	swap_decisions_skip(test);
	entry = swap_alloc_order(test, order);
	if (swap_has(HINT_OF_ORDER)) {
		swap_rule(test, "a current cluster that another order has taken is not used");
		KUNIT_EXPECT_EQ_MSG(test, entry.val, 0UL, "rule: %s", swap_rule_shown(test));
		SWAP_EXPECT_DECISIONS(test, area, "");
	} else {
		swap_rule(test, "a current cluster is used even if another order has taken it");
		SWAP_EXPECT_DECISIONS(test, area, "%s",
				      run_of(test, 'A', 0, max(folio_pages(test), 1U << other),
					     order, 1));
	}
}

/*
 * Some slots of a folio are freed: the cluster is nonfull and keeps its order, until its last
 * slot is freed.
 */
static void part_of_a_folio_is_freed(struct kunit *test)
{
	struct swap_area *area = order_area(test, 1);
	unsigned int order = order_of(test), nr = folio_pages(test);

	swap_alloc_order(test, order);
	swap_decisions_skip(test);
	swap_free_slots(swap_entry_at(area, 0, 1), nr - 2);
	swap_rule(test, "slots of a large folio are freed one by one");
	SWAP_EXPECT_DECISIONS(test, area, "%s", freed(test, 0, 1, nr - 2));
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 2UL);
	KUNIT_EXPECT_EQ(test, swp_swapcount(swap_entry_at(area, 0, nr - 1)), 1);
	swap_free_slot(swap_entry_at(area, 0, nr - 1));
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	swap_free_slot(swap_entry_at(area, 0, 0));
	settle(test);
	SWAP_EXPECT_LISTS(test, area, "free:0");
	swap_decisions_skip(test);
}

/*
 * Which list comes first when the current cluster is drained
 */

/* Nonfull first: a nonfull cluster of this order before a free one, unless the device discards. */
static void drain_takes_nonfull_or_free(struct kunit *test)
{
	struct swap_area *area = order_area(test, 4);
	unsigned int order = order_of(test);
	const char *nonfull = list_of(test, "nonfull", order);

	fill_clusters(test, order, 2);
	free_folio_at(area, order, 0, 1);
	swap_decisions_skip(test);
	SWAP_EXPECT_LISTS(test, area, "free:2,3 %s:0 full:1", nonfull);
	swap_alloc_order(test, order);
	if (nonfull_first(test)) {
		swap_rule(test, "nonfull clusters of this order before free ones");
		SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 0, 1));
		SWAP_EXPECT_LISTS(test, area, "free:2,3 full:1,0");
	} else {
		swap_rule(test, "free clusters before nonfull ones of this order");
		SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 2, 0));
		if (swap_has(FRAG_WHEN_TAKEN))
			SWAP_EXPECT_LISTS(test, area, "free:3 %s:0 %s:2 full:1", nonfull,
					  list_of(test, "frag", order));
		else
			SWAP_EXPECT_LISTS(test, area, "free:3 %s:0,2 full:1", nonfull);
	}
}

/* A folio as large as a cluster needs a free one; nonfull ones are not tried. */
static void cluster_sized_folio_needs_a_free_cluster(struct kunit *test)
{
	struct swap_area *area = order_area(test, 3);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 9, 2);
	swap_free_slots(swap_entry_at(area, 0, 0), n / 2);
	swap_free_slots(swap_entry_at(area, 1, 0), n / 2);
	swap_decisions_skip(test);
	SWAP_EXPECT_LISTS(test, area, "free:2 nonfull^9:0,1");
	swap_alloc_order(test, 9);
	swap_rule(test, "a cluster-sized folio takes a free cluster, and tries no other");
	SWAP_EXPECT_DECISIONS(test, area, "A2:0^9");
	SWAP_EXPECT_LISTS(test, area, "nonfull^9:0,1 full:2");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, 9).val, 0UL,
			    "rule: without a free cluster, a cluster-sized folio gets no slots");
	SWAP_EXPECT_DECISIONS(test, area, "");
	SWAP_EXPECT_LISTS(test, area, "nonfull^9:0,1 full:2");
}

/* In the end both lists are used up, one after the other. */
static void drain_uses_up_both_lists(struct kunit *test)
{
	struct swap_area *area = order_area(test, 4);
	unsigned int order = order_of(test), per = per_cluster(test);
	const char *a, *b, *free;
	unsigned int nr = 0;

	fill_clusters(test, order, 3);
	free_folio_at(area, order, 1, per - 1);
	free_folio_at(area, order, 0, 1);
	swap_decisions_skip(test);
	while (swap_alloc_order(test, order).val)
		nr++;
	KUNIT_EXPECT_EQ(test, nr, per + 2);
	a = taken(test, 1, per - 1);
	b = taken(test, 0, 1);
	free = run_of(test, 'A', 3, 0, order, per);
	swap_rule(test, nonfull_first(test) ? "nonfull clusters, then free ones" :
		  "free clusters, then nonfull ones");
	if (nonfull_first(test))
		SWAP_EXPECT_DECISIONS(test, area, "%s %s %s", a, b, free);
	else
		SWAP_EXPECT_DECISIONS(test, area, "%s %s %s", free, a, b);
}

/* A nonfull cluster without aligned free slots is tried once, then moved to the frag list. */
static void nonfull_without_room_becomes_frag(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int order = order_of(test);

	fill_clusters(test, order, 2);
	swap_free_slot(swap_entry_at(area, 0, 1));
	free_folio_at(area, order, 1, 0);
	SWAP_EXPECT_LISTS(test, area, "%s:0,1", list_of(test, "nonfull", order));
	swap_decisions_skip(test);
	swap_alloc_order(test, order);
	swap_rule(test, "every nonfull cluster is tried; one without room becomes frag");
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 1, 0));
	SWAP_EXPECT_LISTS(test, area, "%s:0 full:1", list_of(test, "frag", order));
}

/*
 * Three frag clusters, of which only the last has room: 7.x scans one of them for each
 * allocation and then gives up; older kernels scan them all.
 */
static void one_frag_cluster_is_scanned(struct kunit *test)
{
	struct swap_area *area = order_area(test, 3);
	unsigned int order = order_of(test), tries;
	const char *frag = list_of(test, "frag", order);

	if (case_of(test)->disk->rotational)
		kunit_skip(test, "rotational devices keep their current cluster");
	fill_clusters(test, order, 3);
	/* Clusters without room become frag when they are tried, in this order. */
	swap_free_slot(swap_entry_at(area, 0, 1));
	swap_free_slot(swap_entry_at(area, 1, 1));
	free_folio_at(area, order, 2, 0);
	free_folio_at(area, order, 2, 1);
	swap_alloc_order(test, order);
	swap_kunit_drain_hints();
	SWAP_EXPECT_LISTS(test, area, "%s:0,1,2", frag);
	swap_decisions_skip(test);

	for (tries = 1; !swap_alloc_order(test, order).val && tries < 9; tries++)
		swap_kunit_drain_hints();
	swap_rule(test, swap_has(FRAG_SCAN_ALL) ? "every frag cluster is scanned" :
		  "one frag cluster is scanned, then the allocation of a large folio fails");
	KUNIT_EXPECT_EQ_MSG(test, tries, swap_has(FRAG_SCAN_ALL) ? 1U : 3U,
			    "rule: %s", swap_rule_shown(test));
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 2, 1));
}

/* A failed attempt moves the frag cluster it scanned to the end of the list. */
static void scanned_frag_cluster_moves_to_the_end(struct kunit *test)
{
	struct swap_area *area = order_area(test, 3);
	unsigned int order = order_of(test), nr = folio_pages(test), cluster;
	const char *frag = list_of(test, "frag", order);

	fill_clusters(test, order, 3);
	/* Enough free slots, but in no cluster for an aligned folio. */
	for (cluster = 0; cluster < 3; cluster++)
		swap_free_slots(swap_entry_at(area, cluster, nr / 2), nr);
	SWAP_EXPECT_LISTS(test, area, "%s:0,1,2", list_of(test, "nonfull", order));
	swap_decisions_skip(test);
	/* The first attempt makes them frag, and scans the first one again. */
	KUNIT_EXPECT_EQ(test, swap_alloc_order(test, order).val, 0UL);
	swap_rule(test, "a scanned frag cluster moves to the end of its list");
	if (swap_has(FRAG_SCAN_ALL)) {
		SWAP_EXPECT_LISTS(test, area, "%s:0,1,2", frag);
	} else {
		SWAP_EXPECT_LISTS(test, area, "%s:1,2,0", frag);
		swap_alloc_order(test, order);
		SWAP_EXPECT_LISTS(test, area, "%s:2,0,1", frag);
	}
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/*
 * When all else is used up, order 0 takes slots from larger orders: the smallest order first,
 * and in each order frag clusters before nonfull ones.
 */
static void order_0_takes_from_larger_orders(struct kunit *test)
{
	struct swap_area *area = order_area(test, 6);
	unsigned int last = swap_cluster_slots() - 256;
	unsigned int i;

	fill_clusters(test, 2, 2);
	fill_clusters(test, 4, 2);
	fill_clusters(test, 8, 1);
	fill_clusters(test, 9, 1);
	/* A frag cluster: of two free places one has been taken again. */
	for (i = 1; i <= 2; i++) {
		free_folio_at(area, 2 * i, 2 * i - 1, 4);
		free_folio_at(area, 2 * i, 2 * i - 1, 6);
		swap_alloc_order(test, 2 * i);
	}
	free_folio_at(area, 2, 0, 3);
	free_folio_at(area, 4, 2, 3);
	free_folio_at(area, 8, 4, 1);
	swap_free_slots(swap_entry_at(area, 5, last), 256);
	SWAP_EXPECT_LISTS(test, area,
			  "nonfull^2:0 nonfull^4:2 nonfull^8:4 nonfull^9:5 frag^2:1 frag^4:3");
	swap_decisions_skip(test);

	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, "order 0 takes from larger orders, smallest first, frag before nonfull");
	SWAP_EXPECT_DECISIONS(test, area,
			      "A1:24+4 A0:12+4 A3:96+16 A2:48+16 A4:256.. A5:%u..", last);
}

/* But its own clusters and free ones come first. */
static void order_0_takes_its_own_first(struct kunit *test)
{
	struct swap_area *area = order_area(test, 4);
	unsigned int n = swap_cluster_slots();
	const char *own = "A0:7";

	fill_clusters(test, 0, 1);
	fill_clusters(test, 4, 2);
	free_folio_at(area, 4, 1, 3);
	swap_free_slot(swap_entry_at(area, 0, 7));
	swap_decisions_skip(test);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, "order 0 takes from its own lists and free clusters first");
	if (nonfull_first(test))
		SWAP_EXPECT_DECISIONS(test, area, "%s A3:* A1:48+16", own);
	else
		SWAP_EXPECT_DECISIONS(test, area, "A3:* %s A1:48+16", own);
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 4UL * n);
}

/* A large order never takes slots from order 0. */
static void large_order_does_not_take_from_order_0(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);
	unsigned int order = order_of(test);

	swap_alloc(test);
	fill_clusters(test, order, 1);
	swap_rule(test, "a large order does not take slots from order 0");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: a large order does not take slots from order 0");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A0:1");
}

/* Allocations of several orders in turn: each order continues in its own cluster. */
static void orders_take_turns(struct kunit *test)
{
	struct swap_area *area = order_area(test, 6);
	static const unsigned int orders[] = { 4, 0, 2, 0, 4, 6, 2, 0, 8 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++)
		swap_alloc_order(test, orders[i]);
	swap_rule(test, "each order continues in its own cluster");
	SWAP_EXPECT_DECISIONS(test, area,
			      "A0:0^4 A1:0 A2:0^2 A1:1 A0:16^4 A3:0^6 A2:4^2 A1:2 A4:0^8");
}

/*
 * Several areas, and areas without clusters
 */

/* A large folio tries the first area only, even if the next one has room. */
static void large_folio_tries_one_area(struct kunit *test)
{
	const struct order_case *c = swap_param(test);
	struct swap_area_config config = { .disk = c->disk, .clusters = 1 };
	struct swap_area *high, *low;

	SWAP_REQUIRE_LARGE_ON(test, c->disk);
	config.swap_flags = c->swap_flags | SWAP_FLAG_PREFER | 9;
	high = swap_area_on(test, &config);
	config.swap_flags = c->swap_flags | SWAP_FLAG_PREFER | 1;
	low = swap_area_on(test, &config);
	swap_alloc(test);
	swap_rule(test, "a large folio tries the first area, and no other");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, 4).val, 0UL,
			    "rule: a large folio does not try a second area");
	SWAP_EXPECT_DECISIONS(test, NULL, "a/A0:0");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(high), 1UL);
	KUNIT_EXPECT_EQ(test, swap_area_inuse(low), 0UL);
}

/* A device without clusters, as rotational ones once were, has no slots for large folios. */
static void device_without_clusters_has_no_slots_for_large_folios(struct kunit *test)
{
	struct swap_area *area;

	SWAP_REQUIRE_LARGE(test);
	if (swap_has(CLUSTERS_EVERYWHERE))
		kunit_skip(test, "every device has clusters on this kernel");
	area = swap_area_on(test, &SWAP_AREA_HDD);
	swap_rule(test, "a device without clusters has no slots for large folios");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, 4).val, 0UL,
			    "rule: %s", swap_rule_shown(test));
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
}

/*
 * Failures
 */

/*
 * "mm: swap: move nr_swap_pages counter decrement from folio_alloc_swap() to
 * swap_range_alloc()": if the cgroup has no swap left for a folio, all its slots
 * are freed, once each.
 */
static void failed_charge_frees_all_slots(struct kunit *test)
{
	struct swap_area *area = order_area(test, 3);
	unsigned int order = order_of(test), nr = folio_pages(test);
	long left;

	swap_alloc_order(test, order);
	left = get_nr_swap_pages();
	swap_decisions_skip(test);
	swap_fail(test, SWAP_FAIL_CHARGE, 2, 1);
	KUNIT_EXPECT_NE(test, swap_alloc_order(test, order).val, 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: a failed charge fails the allocation");
	settle(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 2UL * nr,
			    "rule: a failed charge leaves no slot in use");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), left - (long)nr,
			    "rule: a failed charge does not change nr_swap_pages");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), nr,
			    "rule: each slot of a failed charge is freed once");
	swap_decisions_skip(test);
}

/* No memory for the swap table of a cluster: the allocation waits for it. */
static void allocation_waits_for_the_swap_table(struct kunit *test)
{
	struct swap_area *area = order_area(test, 2);

	SWAP_REQUIRE(test, SWAP_TABLE);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 1);
	swap_alloc_order(test, order_of(test));
	swap_rule(test, "allocation waits for the swap table of the cluster");
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 0, 0));
}

#define EVERY(name)	KUNIT_CASE_PARAM(name, every_order_gen_params)
#define INSIDE(name)	KUNIT_CASE_PARAM(name, partial_order_gen_params)
#define SMALL(name)	KUNIT_CASE_PARAM(name, small_order_gen_params)
#define PROFILE(name)	KUNIT_CASE_PARAM(name, profile_gen_params)

static struct kunit_case swap_mthp_alloc_cases[] = {
	EVERY(order_fills_in_order),
	EVERY(each_order_has_its_own_cluster),
	INSIDE(slots_are_aligned_to_the_folio_size),
	SMALL(folio_after_a_single_slot_is_aligned),
	EVERY(lists_are_by_order),
	EVERY(emptied_cluster_loses_its_order),
	INSIDE(current_cluster_taken_by_another_order),
	INSIDE(part_of_a_folio_is_freed),
	INSIDE(drain_takes_nonfull_or_free),
	PROFILE(cluster_sized_folio_needs_a_free_cluster),
	INSIDE(drain_uses_up_both_lists),
	INSIDE(nonfull_without_room_becomes_frag),
	SMALL(one_frag_cluster_is_scanned),
	INSIDE(scanned_frag_cluster_moves_to_the_end),
	PROFILE(order_0_takes_from_larger_orders),
	PROFILE(order_0_takes_its_own_first),
	INSIDE(large_order_does_not_take_from_order_0),
	PROFILE(orders_take_turns),
	PROFILE(large_folio_tries_one_area),
	KUNIT_CASE(device_without_clusters_has_no_slots_for_large_folios),
	EVERY(failed_charge_frees_all_slots),
	INSIDE(allocation_waits_for_the_swap_table),
	{}
};

SWAP_KUNIT_SUITE(swap_mthp_alloc, swap_mthp_alloc_cases);

MODULE_DESCRIPTION("KUnit suite of the swap slot allocator, large folios");
MODULE_LICENSE("GPL");
