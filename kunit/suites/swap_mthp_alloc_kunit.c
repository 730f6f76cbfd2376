// SPDX-License-Identifier: GPL-2.0
/*
 * Which slots a folio of several pages gets, and what becomes of the clusters:
 * lists by order, and what one order takes from another.
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

/* Those of which a cluster holds several: it can have room for one more. */
static const struct order_case orders_in_clusters[] = {
	LARGE_ON_PROFILES(", order 2", 2),
	LARGE_ON_PROFILES(", order 4", 4),
	LARGE_ON_PROFILES(", order 6", 6),
	LARGE_ON_PROFILES(", order 8", 8),
};

/* Of these a cluster with a folio in it has room for others, twice and more. */
static const struct order_case small_orders[] = {
	LARGE_ON_PROFILES(", order 2", 2),
	LARGE_ON_PROFILES(", order 4", 4),
	LARGE_ON_PROFILES(", order 6", 6),
};

static const struct order_case profiles[] = { LARGE_ON_PROFILES("", 0) };

LARGE_PARAMS(every_order, every_order)
LARGE_PARAMS(order_in_cluster, orders_in_clusters)
LARGE_PARAMS(small_order, small_orders)
LARGE_PARAMS(profile, profiles)

static unsigned int order_of(struct kunit *test)
{
	return ((const struct order_case *)swap_param(test))->order;
}

static unsigned int folio_slots(struct kunit *test)
{
	return 1U << order_of(test);
}

/* Folios of the case's order in one cluster. */
static unsigned int per_cluster(struct kunit *test)
{
	return swap_cluster_slots() >> order_of(test);
}

static bool rotational(struct kunit *test)
{
	return ((const struct order_case *)swap_param(test))->disk->rotational;
}

static bool discards(struct kunit *test)
{
	return ((const struct order_case *)swap_param(test))->swap_flags;
}

/* Policy P3: which list comes first when the current cluster is drained. */
static bool nonfull_first(struct kunit *test)
{
	return swap_has(NONFULL_FIRST) && !discards(test);
}

/* A cluster taken from leaves its list for that of frag ones, or does so only later. */
static const char *taken_from(void)
{
	return swap_has(CPU_HINT_SHARED) ? "frag" : "nonfull";
}

/* An area of so many clusters on the case's profile, where large folios find slots. */
static struct swap_area *mthp_area(struct kunit *test, unsigned int clusters)
{
	const struct order_case *c = swap_param(test);

	SWAP_REQUIRE_LARGE_ON(test, c->disk);
	return swap_area_on(test, &(struct swap_area_config){
		.disk = c->disk, .swap_flags = c->swap_flags, .clusters = clusters });
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

/* Folio number @folio of @cluster taken, by the case's order; and its slots freed. */
static const char *taken(struct kunit *test, unsigned int cluster, unsigned int folio)
{
	return run_of(test, 'A', cluster, folio << order_of(test), order_of(test), 1);
}

static const char *freed(struct kunit *test, unsigned int cluster, unsigned int slot,
			 unsigned int nr)
{
	return run_of(test, 'F', cluster, slot, 0, nr);
}

/* A list of this order by its name: "nonfull", "nonfull^4". */
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

	list_for_each_entry(area, &swap_case_of(test)->areas, node)
		swap_area_settle(area);
}

/* Clusters full of folios of this order. */
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

static unsigned long pages_in_use(struct swap_area *area)
{
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	return facts.inuse;
}

/*
 * Where
 */

/* An order's folios follow one another from the start of its own cluster to the end. */
static void order_fills_in_order(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int order = order_of(test), per = per_cluster(test), i;

	for (i = 0; i < 2 * per; i++)
		KUNIT_EXPECT_NE(test, swap_alloc_order(test, order).val, 0UL);
	swap_rule(test, "folios of one order fill cluster after cluster");
	SWAP_EXPECT_DECISIONS(test, area, "%s %s", run_of(test, 'A', 0, 0, order, per),
			      run_of(test, 'A', 1, 0, order, per));
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: a full area gives nothing");
}

/* The first folio of an order opens a cluster, whatever room those of others have. */
static void first_cluster_of_an_order_is_its_own(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 4);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		swap_alloc_order(test, other);
		swap_alloc_order(test, order);
	}
	swap_rule(test, "the first cluster of an order is its own");
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

/* Room enough, but across two folios' places: no slots. In one place: slots. */
static void slots_are_aligned(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
	unsigned int order = order_of(test), nr = folio_slots(test);

	fill_clusters(test, order, 1);
	swap_free_slots(swap_entry_at(area, 0, nr / 2), nr);
	swap_rule(test, "a folio lies at a multiple of its size");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: room that is not aligned is none");
	SWAP_EXPECT_DECISIONS(test, area, "%s", freed(test, 0, nr / 2, nr));
	swap_free_slots(swap_entry_at(area, 0, 3 * nr / 2), nr / 2);
	swap_alloc_order(test, order);
	SWAP_EXPECT_DECISIONS(test, area, "%s %s", freed(test, 0, 3 * nr / 2, nr / 2),
			      taken(test, 0, 1));
}

/* After a folio of another size the place is still a multiple of the folio's own. */
static void order_follows_its_own_place(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int order = order_of(test), nr = folio_slots(test);

	fill_clusters(test, 0, 1);
	swap_alloc_order(test, order);
	/* There is no other cluster left to take a slot from. */
	swap_alloc(test);
	swap_alloc_order(test, order);
	swap_rule(test, "order 0 takes a slot of a larger order's cluster, which goes on aligned");
	SWAP_EXPECT_DECISIONS(test, area, "%s A1:%u %s", taken(test, 1, 0), nr,
			      taken(test, 1, 2));
}

/*
 * Lists by order
 */

/* A cluster with room is of use to its own order, and to no other large one. */
static void lists_are_by_order(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;
	unsigned int nr = max(folio_slots(test), 1U << other);
	bool whole = order == 9;

	fill_clusters(test, order, 1);
	swap_free_slots(swap_entry_at(area, 0, 0), whole ? nr / 2 : nr);
	swap_rule(test, "a cluster with room is on the list of its order");
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, other).val, 0UL,
			    "rule: a large order takes nothing of another's cluster");
	SWAP_EXPECT_DECISIONS(test, area, "");
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	if (whole)
		return;
	swap_alloc_order(test, order);
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 0, 0));
}

/* Emptied, a cluster is of no order any more: the next to take it is another. */
static void emptied_cluster_has_no_order(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
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
 * A CPU's current cluster of this order has been emptied, and another order has
 * it now: it is the current one no more. Older kernels did not look.
 */
static void current_cluster_is_another_orders(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
	unsigned int order = order_of(test), other = order == 2 ? 4 : 2;
	swp_entry_t entry;

	swap_alloc_order(test, order);
	free_folio_at(area, order, 0, 0);
	settle(test);
	swap_alloc_order(test, other);
	swap_decisions_skip(test);
	entry = swap_alloc_order(test, order);
	if (swap_has(HINT_OF_ORDER)) {
		swap_rule(test, "a current cluster that is another order's by now is passed over");
		KUNIT_EXPECT_EQ_MSG(test, entry.val, 0UL, "rule: %s", swap_case_of(test)->rule);
		SWAP_EXPECT_DECISIONS(test, area, "");
	} else {
		swap_rule(test, "a current cluster goes on, whose order it may be by now");
		SWAP_EXPECT_DECISIONS(test, area, "%s",
				      run_of(test, 'A', 0, max(folio_slots(test), 1U << other),
					     order, 1));
	}
}

/*
 * Part of a folio's slots go: the cluster is nonfull, of the same order still, and
 * as free as its last slot.
 */
static void part_of_a_folio_is_freed(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 1);
	unsigned int order = order_of(test), nr = folio_slots(test);

	swap_alloc_order(test, order);
	swap_decisions_skip(test);
	swap_free_slots(swap_entry_at(area, 0, 1), nr - 2);
	swap_rule(test, "slots of a large folio are freed one by one");
	SWAP_EXPECT_DECISIONS(test, area, "%s", freed(test, 0, 1, nr - 2));
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	KUNIT_EXPECT_EQ(test, pages_in_use(area), 2UL);
	KUNIT_EXPECT_EQ(test, swp_swapcount(swap_entry_at(area, 0, nr - 1)), 1);
	swap_free_slot(swap_entry_at(area, 0, nr - 1));
	SWAP_EXPECT_LISTS(test, area, "%s:0", list_of(test, "nonfull", order));
	swap_free_slot(swap_entry_at(area, 0, 0));
	settle(test);
	SWAP_EXPECT_LISTS(test, area, "free:0");
	swap_decisions_skip(test);
}

/*
 * Drained: which list comes first (P3)
 */

/* A nonfull cluster of this order before a free one, unless the device discards. */
static void drain_takes_nonfull_or_free(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 4);
	unsigned int order = order_of(test);
	const char *nonfull = list_of(test, "nonfull", order);

	fill_clusters(test, order, 2);
	free_folio_at(area, order, 0, 1);
	swap_decisions_skip(test);
	SWAP_EXPECT_LISTS(test, area, "free:2,3 %s:0 full:1", nonfull);
	swap_alloc_order(test, order);
	if (nonfull_first(test)) {
		swap_rule(test, "P3: nonfull clusters of this order before free ones");
		SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 0, 1));
		SWAP_EXPECT_LISTS(test, area, "free:2,3 full:1,0");
	} else {
		swap_rule(test, "P3: free clusters before nonfull ones of this order");
		SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 2, 0));
		if (swap_has(FRAG_WHEN_TAKEN))
			SWAP_EXPECT_LISTS(test, area, "free:3 %s:0 %s:2 full:1", nonfull,
					  list_of(test, "frag", order));
		else
			SWAP_EXPECT_LISTS(test, area, "free:3 %s:0,2 full:1", nonfull);
	}
}

/* A folio as large as a cluster never comes from a nonfull one: free, or nothing. */
static void whole_cluster_comes_from_free_ones(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 3);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 9, 2);
	swap_free_slots(swap_entry_at(area, 0, 0), n / 2);
	swap_free_slots(swap_entry_at(area, 1, 0), n / 2);
	swap_decisions_skip(test);
	SWAP_EXPECT_LISTS(test, area, "free:2 nonfull^9:0,1");
	swap_alloc_order(test, 9);
	swap_rule(test, "a folio of a whole cluster takes a free one, and looks at no other");
	SWAP_EXPECT_DECISIONS(test, area, "A2:0^9");
	SWAP_EXPECT_LISTS(test, area, "nonfull^9:0,1 full:2");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, 9).val, 0UL,
			    "rule: with no free cluster it gets none");
	SWAP_EXPECT_DECISIONS(test, area, "");
	SWAP_EXPECT_LISTS(test, area, "nonfull^9:0,1 full:2");
}

/* Both lists are used up in the end, each in its turn, and nothing of another order. */
static void drain_uses_up_both_lists(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 4);
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
	swap_rule(test, nonfull_first(test) ? "P3: nonfull, then free" : "P3: free, then nonfull");
	if (nonfull_first(test))
		SWAP_EXPECT_DECISIONS(test, area, "%s %s %s", a, b, free);
	else
		SWAP_EXPECT_DECISIONS(test, area, "%s %s %s", free, a, b);
}

/* A nonfull cluster without aligned room is passed over once, and is frag from then on. */
static void nonfull_without_room_becomes_frag(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int order = order_of(test);

	fill_clusters(test, order, 2);
	swap_free_slot(swap_entry_at(area, 0, 1));
	free_folio_at(area, order, 1, 0);
	SWAP_EXPECT_LISTS(test, area, "%s:0,1", list_of(test, "nonfull", order));
	swap_decisions_skip(test);
	swap_alloc_order(test, order);
	swap_rule(test, "every nonfull cluster is tried; one without room is frag");
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 1, 0));
	SWAP_EXPECT_LISTS(test, area, "%s:0 full:1", list_of(test, "frag", order));
}

/*
 * Frag clusters, the first two without room and the third with, and nothing else:
 * 7.x scans one of them an allocation and then gives up; before, all are scanned.
 */
static void one_frag_cluster_is_scanned(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 3);
	unsigned int order = order_of(test), tries;
	const char *frag = list_of(test, "frag", order);

	if (rotational(test))
		kunit_skip(test, "the current cluster of a rotational device stays");
	fill_clusters(test, order, 3);
	/* Those without room become frag when they are tried, in this order. */
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
		  "one frag cluster is scanned, then the large folio gets nothing");
	KUNIT_EXPECT_EQ_MSG(test, tries, swap_has(FRAG_SCAN_ALL) ? 1U : 3U,
			    "rule: %s", swap_case_of(test)->rule);
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 2, 1));
}

/* Each try that found nothing moves the list on by the one cluster it scanned. */
static void scanned_frag_cluster_goes_to_the_end(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 3);
	unsigned int order = order_of(test), nr = folio_slots(test), cluster;
	const char *frag = list_of(test, "frag", order);

	fill_clusters(test, order, 3);
	/* Slots enough, but in none of the three for an aligned folio. */
	for (cluster = 0; cluster < 3; cluster++)
		swap_free_slots(swap_entry_at(area, cluster, nr / 2), nr);
	SWAP_EXPECT_LISTS(test, area, "%s:0,1,2", list_of(test, "nonfull", order));
	swap_decisions_skip(test);
	/* The first try makes frag ones of them, and scans the first again. */
	KUNIT_EXPECT_EQ(test, swap_alloc_order(test, order).val, 0UL);
	swap_rule(test, "the frag list is turned by what is scanned");
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
 * Order 0 takes from larger orders, when all else is used up: the smallest order
 * first, in each order frag clusters before nonfull ones.
 */
static void order_0_takes_from_larger_orders(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 6);
	unsigned int last = swap_cluster_slots() - 256;
	unsigned int i;

	fill_clusters(test, 2, 2);
	fill_clusters(test, 4, 2);
	fill_clusters(test, 8, 1);
	fill_clusters(test, 9, 1);
	/* A frag cluster has been taken from: of two places one is left. */
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

/* ... but only then: its own clusters and free ones come first. */
static void order_0_takes_its_own_first(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 4);
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
	KUNIT_EXPECT_EQ(test, pages_in_use(area), 4UL * n);
}

/* A large order takes from no other, however much room order 0 has. */
static void large_order_takes_from_no_other(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);
	unsigned int order = order_of(test);

	swap_alloc(test);
	fill_clusters(test, order, 1);
	swap_rule(test, "a large order takes nothing of order 0's");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: a large order takes nothing of order 0's");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A0:1");
}

/*
 * Order 0 between large ones: each goes on in its own cluster.
 */
static void orders_take_turns(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 6);
	static const unsigned int orders[] = { 4, 0, 2, 0, 4, 6, 2, 0, 8 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++)
		swap_alloc_order(test, orders[i]);
	swap_rule(test, "each order goes on in its own cluster");
	SWAP_EXPECT_DECISIONS(test, area,
		"A0:0^4 A1:0 A2:0^2 A1:1 A0:16^4 A3:0^6 A2:4^2 A1:2 A4:0^8");
}

/*
 * Several areas, and none
 */

/* A large folio asks one area alone: where that has no room it gets nothing. */
static void large_folio_asks_one_area(struct kunit *test)
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
	swap_rule(test, "a large folio asks the first area, and no other");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, 4).val, 0UL,
			    "rule: no room on the first area is no room");
	SWAP_EXPECT_DECISIONS(test, NULL, "a/A0:0");
	KUNIT_EXPECT_EQ(test, pages_in_use(high), 1UL);
	KUNIT_EXPECT_EQ(test, pages_in_use(low), 0UL);
}

/* A device without clusters, as rotational ones were, has no slots for large folios. */
static void no_clusters_no_large_folios(struct kunit *test)
{
	struct swap_area *area;

	SWAP_REQUIRE_LARGE(test);
	if (swap_has(CLUSTERS_EVERYWHERE))
		kunit_skip(test, "rotational devices have clusters and lists here");
	area = swap_area_on(test, &SWAP_AREA_HDD);
	swap_rule(test, "no clusters, no slots for large folios");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, 4).val, 0UL,
			    "rule: no clusters, no slots for large folios");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
}

/*
 * Failures on the way
 */

/* The memcg has no swap left for a folio: all its slots go back, once each. */
static void failed_charge_gives_all_slots_back(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 3);
	unsigned int order = order_of(test), nr = folio_slots(test);
	long left;

	swap_alloc_order(test, order);
	left = get_nr_swap_pages();
	swap_decisions_skip(test);
	swap_fail_charge_nth(test, 2);
	KUNIT_EXPECT_NE(test, swap_alloc_order(test, order).val, 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_order(test, order).val, 0UL,
			    "rule: a failed charge fails the allocation");
	settle(test);
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(area), 2UL * nr,
			    "rule: a failed charge leaves no slot in use");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), left - (long)nr,
			    "nr_swap_pages after a failed charge (A19)");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), nr,
			    "rule: each slot of a failed charge is freed once");
	swap_decisions_skip(test);
}

/* No memory for a cluster's table: the large folio waits for it as others do. */
static void table_is_waited_for(struct kunit *test)
{
	struct swap_area *area = mthp_area(test, 2);

	SWAP_REQUIRE(test, SWAP_TABLE);
	swap_fail_tables(test, 1, 1);
	swap_alloc_order(test, order_of(test));
	swap_rule(test, "a cluster's table is waited for");
	SWAP_EXPECT_DECISIONS(test, area, "%s", taken(test, 0, 0));
}

#define EVERY(name)	KUNIT_CASE_PARAM(name, every_order_gen_params)
#define INSIDE(name)	KUNIT_CASE_PARAM(name, order_in_cluster_gen_params)
#define SMALL(name)	KUNIT_CASE_PARAM(name, small_order_gen_params)
#define PROFILE(name)	KUNIT_CASE_PARAM(name, profile_gen_params)

static struct kunit_case swap_mthp_alloc_cases[] = {
	EVERY(order_fills_in_order),
	EVERY(first_cluster_of_an_order_is_its_own),
	INSIDE(slots_are_aligned),
	SMALL(order_follows_its_own_place),
	EVERY(lists_are_by_order),
	EVERY(emptied_cluster_has_no_order),
	INSIDE(current_cluster_is_another_orders),
	INSIDE(part_of_a_folio_is_freed),
	INSIDE(drain_takes_nonfull_or_free),
	PROFILE(whole_cluster_comes_from_free_ones),
	INSIDE(drain_uses_up_both_lists),
	INSIDE(nonfull_without_room_becomes_frag),
	SMALL(one_frag_cluster_is_scanned),
	INSIDE(scanned_frag_cluster_goes_to_the_end),
	PROFILE(order_0_takes_from_larger_orders),
	PROFILE(order_0_takes_its_own_first),
	INSIDE(large_order_takes_from_no_other),
	PROFILE(orders_take_turns),
	PROFILE(large_folio_asks_one_area),
	KUNIT_CASE(no_clusters_no_large_folios),
	EVERY(failed_charge_gives_all_slots_back),
	INSIDE(table_is_waited_for),
	{}
};

SWAP_KUNIT_SUITE(swap_mthp_alloc, swap_mthp_alloc_cases);

MODULE_DESCRIPTION("KUnit suite of the swap slot allocator, large folios");
MODULE_LICENSE("GPL");
