// SPDX-License-Identifier: GPL-2.0
/*
 * Which slot an allocation gets, and what becomes of the clusters; order 0.
 */
#include <linux/mm.h>
#include "swap_fixture.h"

struct alloc_profile {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	int swap_flags;
};

#define DISCARD_PAGES	(SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_PAGES)

static const struct alloc_profile profiles[] = {
	{ .name = "zram", .disk = &FAKE_DISK_ZRAM },
	{ .name = "ssd", .disk = &FAKE_DISK_SSD },
	{ .name = "ssd+discard", .disk = &FAKE_DISK_SSD_DISCARD, .swap_flags = DISCARD_PAGES },
	{ .name = "hdd", .disk = &FAKE_DISK_HDD },
	{ .name = "stable writes", .disk = &FAKE_DISK_STABLE },
};

SWAP_PARAMS(profile, profiles);

static const struct alloc_profile *profile_of(struct kunit *test)
{
	return swap_param(test);
}

/* An area on the case's profile. */
static struct swap_area *area_on(struct kunit *test, struct swap_area_config config)
{
	config.disk = profile_of(test)->disk;
	config.swap_flags |= profile_of(test)->swap_flags;
	return swap_area_on(test, &config);
}

#define AREA_ON(test, ...) \
	area_on(test, (struct swap_area_config){ __VA_ARGS__ })

static bool rotational(struct kunit *test)
{
	return profile_of(test)->disk->rotational;
}

/* Clusters freed whole are discarded. */
static bool discards(struct kunit *test)
{
	return profile_of(test)->swap_flags;
}

/* Rotational devices of older kernels: slots are found by scanning, no clusters. */
static bool has_clusters(struct kunit *test)
{
	return !rotational(test) || swap_has(CLUSTERS_EVERYWHERE);
}

/*
 * Clusters in use are on no list: with no free one left, all of the area is
 * scanned for a slot, as on a rotational device.
 */
static bool scans(struct kunit *test)
{
	return !has_clusters(test) || !swap_has(CLUSTER_ALLOCATOR);
}

/* Policy P3: which list comes first when the current cluster is drained. */
static bool nonfull_first(struct kunit *test)
{
	return swap_has(NONFULL_FIRST) && !discards(test);
}

/* The CPU's current cluster is known without asking the areas in order. */
static bool hint_before_areas(struct kunit *test)
{
	return swap_has(CPU_HINT_SHARED) && !rotational(test);
}

#define EXPECT_LISTS(test, area, fmt, ...) do {				\
	if (has_clusters(test))						\
		SWAP_EXPECT_LISTS(test, area, fmt, ##__VA_ARGS__);	\
} while (0)

/*
 * What a scan takes of a device that is not rotational: it passes over a slot
 * after each it took, to the end of the area, then starts again from the first.
 */
static char *scanned_slots(struct kunit *test, unsigned int first, unsigned int end,
			   unsigned int from, const unsigned long *bad)
{
	unsigned int n = swap_cluster_slots(), left = end - first, slot;
	bool *taken = kunit_kcalloc(test, end, sizeof(*taken), GFP_KERNEL);
	size_t size = left * 10 + 1, len = 0;
	char *text = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, taken && text);
	for (; bad && *bad; bad++, left--)
		taken[*bad] = true;
	for (; left; left--, from = slot + 2) {
		for (slot = from; slot < end && taken[slot]; slot++)
			;
		if (slot >= end)
			for (slot = first; taken[slot]; slot++)
				;
		taken[slot] = true;
		len += scnprintf(text + len, size - len, "%sA%u:%u", len ? " " : "", slot / n,
				 slot % n);
	}
	return text;
}

static void free_slot_at(struct swap_area *area, unsigned int cluster, unsigned int slot)
{
	swap_free_slot(swap_entry_at(area, cluster, slot));
}

static unsigned long pages_in_use(struct swap_area *area)
{
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	return facts.inuse;
}

/* A device that got full, or a cluster that got empty, sets workers going. */
static void settle(struct kunit *test)
{
	struct swap_area *area;

	list_for_each_entry(area, &swap_case_of(test)->areas, node)
		swap_area_settle(area);
}

/* Full from here on: the next slot, if there is one, opens a cluster. */
static void fill_clusters(struct kunit *test, unsigned int clusters)
{
	unsigned int nr = clusters * swap_cluster_slots();

	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, nr, NULL), nr);
	settle(test);
	swap_decisions_skip(test);
}

/* Slots only the swap cache has. */
static void fill_cached(struct kunit *test, unsigned int nr)
{
	while (nr--)
		KUNIT_ASSERT_NE(test, swap_alloc_cached(test, NULL).val, 0UL);
}

static void see_first_full(void *ctx, enum swap_list list, unsigned int order,
			   unsigned int cluster)
{
	unsigned int *first = ctx;

	if (list == SWAP_LIST_FULL && *first == UINT_MAX)
		*first = cluster;
}

/*
 * The cluster of bad slots before the first whole one may be the first of the
 * full ones: whether it is, is another case's. Look at it once.
 */
static void pass_bad_cluster(struct swap_area *area)
{
	unsigned int first = UINT_MAX;

	swap_kunit_walk_lists(area->si, see_first_full, &first);
	if (first < area->base / swap_cluster_slots())
		swap_kunit_reclaim_full(area->si, false);
}

/*
 * From empty to full
 */

/* Slots come in ascending order, cluster after cluster, and each exactly once. */
static void fills_in_order(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int slots = 3 * swap_cluster_slots();

	swap_rule(test, "an empty area fills in ascending order");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, slots + 1, NULL), slots,
			    "rule: as many slots as the area has pages");
	SWAP_EXPECT_DECISIONS(test, area, "A0:* A1:* A2:*");
}

/* All devices have clusters, or all but the rotational ones. */
static void rotational_devices_and_clusters(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.clusters > 0, has_clusters(test),
			    "rule: %s has clusters: %d", profile_of(test)->name,
			    has_clusters(test));
}

/*
 * The header makes cluster 0 a partly used one: first where nonfull clusters
 * come first, last where free ones do. A scan begins after the header.
 */
static void cluster0_is_a_nonfull_one(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2, .use_cluster0 = true);

	swap_rule(test, "cluster 0 is nonfull from the start: the header takes a slot");
	EXPECT_LISTS(test, area, "free:1 nonfull:0");
	swap_alloc_many(test, UINT_MAX, NULL);
	if (has_clusters(test) && scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A1:* %s",
				      scanned_slots(test, 1, swap_cluster_slots(), 1, NULL));
	else
		SWAP_EXPECT_DECISIONS(test, area,
			      nonfull_first(test) || !has_clusters(test) ?
			      "A0:1.. A1:*" : "A1:* A0:1..");
}

/* The slots past the end of the device take part of the last cluster. */
static void partial_last_cluster_is_a_nonfull_one(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1, .tail_slots = 10);

	swap_rule(test, "a last, partial cluster is nonfull from the start");
	EXPECT_LISTS(test, area, "free:0 nonfull:1");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, UINT_MAX, NULL),
			    swap_cluster_slots() + 10,
			    "rule: no slot past the end of the device");
	if (has_clusters(test) && scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A0:* A1:1 A1:3 A1:5 A1:7 A1:9 A1:0 A1:2 A1:4 A1:6 A1:8");
	else
		SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ?
				      "A1:0+10 A0:*" : "A0:* A1:0+10");
}

/* Bad slots are never taken; a cluster with one is nonfull from the start. */
static void bad_slots_are_never_taken(struct kunit *test)
{
	unsigned int last = swap_cluster_slots() - 1;
	unsigned long bad[] = { 3, last, last + 1, last + 8, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 3, .bad_slots = bad);
	char first[64];

	swap_rule(test, "bad slots are never allocated");
	EXPECT_LISTS(test, area, "free:2 nonfull:0,1");
	KUNIT_EXPECT_EQ(test, swap_alloc_many(test, UINT_MAX, NULL), 3 * (last + 1) - 4);
	snprintf(first, sizeof(first), "A0:0+3 A0:4+%u A1:1+6 A1:8..", last - 4);
	if (!has_clusters(test))
		/* A run as long as a cluster is looked for, wherever it starts. */
		SWAP_EXPECT_DECISIONS(test, area, "A1:8.. A2:0+8 A0:0+3 A0:4+%u A1:1+6 A2:8..",
				      last - 4);
	else if (scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A2:* %s",
				      scanned_slots(test, 0, 2 * (last + 1), 0, bad));
	else if (nonfull_first(test))
		SWAP_EXPECT_DECISIONS(test, area, "%s A2:*", first);
	else
		SWAP_EXPECT_DECISIONS(test, area, "A2:* %s", first);
}

/* A cluster without a usable slot is put away by the first allocation that meets it. */
static void cluster_of_bad_slots_is_put_away(struct kunit *test)
{
	unsigned int n = swap_cluster_slots(), i;
	unsigned long *bad = kunit_kcalloc(test, n + 1, sizeof(*bad), GFP_KERNEL);
	struct swap_area *area;

	KUNIT_ASSERT_NOT_NULL(test, bad);
	for (i = 0; i + 1 < n; i++)
		bad[i] = i + 1;
	area = AREA_ON(test, .clusters = 2, .use_cluster0 = true, .bad_slots = bad);
	swap_rule(test, "a cluster of bad slots gives none");
	EXPECT_LISTS(test, area, "free:1 nonfull:0");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A1:0");
	if (nonfull_first(test))
		EXPECT_LISTS(test, area, "frag:1 full:0");
	else if (swap_has(FRAG_WHEN_TAKEN))
		EXPECT_LISTS(test, area, "nonfull:0 frag:1");
	else
		EXPECT_LISTS(test, area, "nonfull:0,1");
}

/* A full area gives nothing, and is asked again once a slot is free. */
static void full_area_gives_nothing(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1, .tail_slots = 3);
	struct swap_area_facts facts;

	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), 0L, "rule: a full area leaves no pages");
	KUNIT_EXPECT_FALSE_MSG(test, facts.available, "rule: a full area is off the list of areas");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc(test).val, 0UL, "rule: a full area gives nothing");
	swap_decisions_skip(test);

	settle(test);
	free_slot_at(area, 0, 77);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_TRUE_MSG(test, facts.available, "rule: with a slot free it is on again");
	swap_rule(test, "the one free slot is found");
	swap_alloc_many(test, 2, NULL);
	SWAP_EXPECT_DECISIONS(test, area, "F0:77 A0:77");
}

/*
 * Whichever slot of a full area is freed, it is found: also the one after the
 * slot taken last, where a search begins.
 */
static void one_free_slot_is_found_anywhere(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	static const unsigned int slots[] = { 100, 101, 99, 0 };
	unsigned int i;

	fill_clusters(test, 1);
	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		swp_entry_t entry;

		free_slot_at(area, 0, slots[i]);
		entry = swap_alloc(test);
		KUNIT_EXPECT_NE_MSG(test, entry.val, 0UL,
				    "rule: no allocation fails while the area has a free slot");
		settle(test);
		if (!entry.val)
			break;
	}
	swap_decisions_skip(test);
}

/* Freed slots of a full area are all found again, the first cluster freed first. */
static void freed_slots_are_taken_again(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	fill_clusters(test, 3);
	free_slot_at(area, 2, 9);
	free_slot_at(area, 0, 200);
	free_slot_at(area, 2, 4);
	free_slot_at(area, 0, 0);
	EXPECT_LISTS(test, area, "nonfull:2,0 full:1");
	SWAP_EXPECT_DECISIONS(test, area, "F2:9 F0:200 F2:4 F0:0");

	swap_rule(test, "nonfull clusters in the order they became so, slots in ascending order");
	KUNIT_EXPECT_EQ(test, swap_alloc_many(test, UINT_MAX, NULL), 4U);
	if (scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A0:0 A0:200 A2:4 A2:9");
	else
		SWAP_EXPECT_DECISIONS(test, area, "A2:4 A2:9 A0:0 A0:200");
}

/*
 * The current cluster
 */

/* The current cluster goes on, whatever was freed elsewhere. */
static void current_cluster_goes_on(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	fill_clusters(test, 1);
	swap_alloc_many(test, 3, NULL);
	free_slot_at(area, 0, 5);
	swap_alloc_many(test, 2, NULL);
	swap_rule(test, "the current cluster before any list");
	SWAP_EXPECT_DECISIONS(test, area, "A1:0+3 F0:5 A1:3+2");
}

/*
 * A slot freed behind the place of the next is passed over until its cluster is
 * scanned from its start again: as a nonfull one, before or after free ones.
 */
static void slots_behind_wait(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int n = swap_cluster_slots();

	swap_alloc_many(test, 5, NULL);
	free_slot_at(area, 0, 1);
	swap_alloc_many(test, n - 5, NULL);
	swap_rule(test, "the current cluster is not scanned backwards");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+5 F0:1 A0:5..");
	/* Drained with a hole: in 7.x it has become a frag one meanwhile. */
	if (swap_has(CPU_HINT_SHARED))
		EXPECT_LISTS(test, area, "free:1,2 frag:0");
	else
		EXPECT_LISTS(test, area, "free:1,2 nonfull:0");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A1:0");
}

/* An emptied current cluster is a free one like others. */
static void emptied_current_cluster(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	swap_alloc_many(test, 3, NULL);
	swap_free_slots(swap_entry_at(area, 0, 0), 3);
	swap_area_settle(area);
	EXPECT_LISTS(test, area, "free:1,2,0");
	swap_decisions_skip(test);
	swap_alloc(test);
	swap_rule(test, "an emptied current cluster waits its turn, or goes on where it was");
	SWAP_EXPECT_DECISIONS(test, area, swap_has(SWAP_TABLE) ||
			      (has_clusters(test) && scans(test)) ? "A1:0" : "A0:3");
}

/* Switched off and on again, an area knows no current cluster of before. */
static void current_cluster_goes_with_its_area(struct kunit *test)
{
	unsigned long bad[] = { swap_cluster_slots() - 1, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 1, .bad_slots = bad);
	swp_entry_t entries[3];
	unsigned int i;

	/* The bad slot makes the cluster a usable one, empty or not. */
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, 3, entries), 3U);
	for (i = 0; i < 3; i++)
		swap_free_slot(entries[i]);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, profile_of(test)->swap_flags), 0);
	swap_decisions_skip(test);
	swap_alloc(test);
	swap_rule(test, "a new area starts with its first cluster");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
}

/*
 * Drained: which list comes first (P3)
 */

/*
 * The current cluster is drained: a nonfull cluster before a free one, unless
 * the device discards; older kernels take a free one first on every device.
 */
static void drain_takes_nonfull_or_free(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_clusters(test, 2);
	swap_free_slots(swap_entry_at(area, 0, 10), 3);
	swap_decisions_skip(test);
	EXPECT_LISTS(test, area, "free:2,3 nonfull:0 full:1");

	swap_alloc_many(test, 3, NULL);
	if (nonfull_first(test)) {
		swap_rule(test, "P3: nonfull clusters before free ones");
		SWAP_EXPECT_DECISIONS(test, area, "A0:10+3");
		EXPECT_LISTS(test, area, "free:2,3 full:1,0");
	} else {
		swap_rule(test, "P3: free clusters before nonfull ones");
		SWAP_EXPECT_DECISIONS(test, area, "A2:0+3");
		if (swap_has(FRAG_WHEN_TAKEN))
			EXPECT_LISTS(test, area, "free:3 nonfull:0 frag:2 full:1");
		else
			EXPECT_LISTS(test, area, "free:3 nonfull:0,2 full:1");
	}
}

/* Both lists are used up in the end, each in its turn. */
static void drain_uses_up_both_lists(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_clusters(test, 3);
	free_slot_at(area, 1, 8);
	free_slot_at(area, 0, 3);
	swap_decisions_skip(test);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, nonfull_first(test) ? "P3: nonfull, then free" : "P3: free, then nonfull");
	if (scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A3:* A0:3 A1:8");
	else
		SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ?
				      "A1:8 A0:3 A3:*" : "A3:* A1:8 A0:3");
}

/* A free cluster that was in use goes to the end of the free list. */
static void free_clusters_take_turns(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_clusters(test, 2);
	swap_free_slots(swap_entry_at(area, 0, 0), swap_cluster_slots());
	swap_area_settle(area);
	swap_decisions_skip(test);
	EXPECT_LISTS(test, area, "free:2,3,0 full:1");
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, "free clusters in the order they became so");
	SWAP_EXPECT_DECISIONS(test, area,
			      has_clusters(test) ? "A2:* A3:* A0:*" : "A0:* A2:* A3:*");
}

/*
 * Frag: a cluster taken from, that nobody has as current one. Another CPU had
 * it; here the hint is lost instead.
 */
static void frag_clusters_come_last(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	SWAP_REQUIRE(test, CPU_HINT_SHARED);
	if (rotational(test))
		kunit_skip(test, "the current cluster of a rotational device is not a CPU's");
	swap_alloc_many(test, 3, NULL);
	swap_kunit_drain_hints();
	swap_alloc_many(test, 2, NULL);
	swap_kunit_drain_hints();
	EXPECT_LISTS(test, area, "free:2 frag:0,1");
	swap_rule(test, "frag clusters after all free ones");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+3 A1:0+2");
	swap_alloc_many(test, UINT_MAX, NULL);
	SWAP_EXPECT_DECISIONS(test, area, "A2:* A0:3.. A1:2..");
}

/* A slot freed makes a frag cluster a nonfull one. */
static void freed_slot_makes_frag_nonfull(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	SWAP_REQUIRE(test, CPU_HINT_SHARED);
	swap_alloc_many(test, 3, NULL);
	EXPECT_LISTS(test, area, "free:1,2 frag:0");
	free_slot_at(area, 0, 0);
	swap_rule(test, "a cluster with a slot freed is nonfull");
	EXPECT_LISTS(test, area, "free:1,2 nonfull:0");
	swap_alloc(test);
	swap_rule(test, "a cluster taken from is frag");
	EXPECT_LISTS(test, area, "free:1,2 frag:0");
}

/*
 * Several areas
 */

/* Higher priorities first, whichever was switched on first. */
static void higher_priority_fills_first(struct kunit *test)
{
	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 1);
	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 30);
	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 2);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, "areas by priority");
	SWAP_EXPECT_DECISIONS(test, NULL, "b/A0:* c/A0:* a/A0:*");
}

/*
 * Equal priorities take turns: cluster by cluster where the CPU has a current
 * cluster, slot by slot where each area is asked for every slot.
 */
static void equal_priorities_take_turns(struct kunit *test)
{
	AREA_ON(test, .clusters = 2, .swap_flags = SWAP_FLAG_PREFER | 5);
	AREA_ON(test, .clusters = 2, .swap_flags = SWAP_FLAG_PREFER | 5);
	swap_rule(test, "areas of equal priority take turns");
	if (hint_before_areas(test)) {
		swap_alloc_many(test, UINT_MAX, NULL);
		SWAP_EXPECT_DECISIONS(test, NULL, "a/A0:* b/A0:* a/A1:* b/A1:*");
	} else {
		swap_alloc_many(test, 6, NULL);
		SWAP_EXPECT_DECISIONS(test, NULL, "a/A0:0 b/A0:0 a/A0:1 b/A0:1 a/A0:2 b/A0:2");
	}
}

/* Two share a priority, the third waits until both are full. */
static void lower_priority_waits_for_both(struct kunit *test)
{
	unsigned int n = swap_cluster_slots();
	struct swap_area *low = AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 1);

	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 5);
	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 5);
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, 2 * n, NULL), 2 * n);
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(low), 0UL,
			    "rule: a lower priority is not used before the higher ones are full");
	swap_alloc(test);
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(low), 1UL, "rule: then it is");
}

/*
 * A slot freed on the higher priority comes next; but the CPU's current cluster,
 * though on the lower one, is drained first where areas are not asked for every slot.
 */
static void slot_freed_on_higher_priority(struct kunit *test)
{
	struct swap_area *high = AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 9);
	unsigned int n = swap_cluster_slots();

	AREA_ON(test, .clusters = 2, .swap_flags = SWAP_FLAG_PREFER | 1);
	fill_clusters(test, 1);
	swap_alloc_many(test, 3, NULL);
	free_slot_at(high, 0, 7);
	swap_alloc_many(test, n, NULL);
	if (hint_before_areas(test)) {
		swap_rule(test, "the current cluster is drained first, whatever its priority");
		SWAP_EXPECT_DECISIONS(test, NULL,
				      "b/A0:0+3 a/F0:7 b/A0:3.. a/A0:7 b/A1:0+2");
	} else {
		swap_rule(test, "the highest priority with a free slot");
		SWAP_EXPECT_DECISIONS(test, NULL, "b/A0:0+3 a/F0:7 a/A0:7 b/A0:3.. b/A1:0+2");
	}
}

/* A rotational device and another: only the other has a current cluster of the CPU's. */
static void rotational_and_ssd_take_turns(struct kunit *test)
{
	unsigned int n = swap_cluster_slots();

	swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 2, .swap_flags = SWAP_FLAG_PREFER | 5 });
	swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .clusters = 2, .swap_flags = SWAP_FLAG_PREFER | 5 });
	swap_rule(test, "areas of equal priority take turns");
	if (swap_has(CPU_HINT_SHARED)) {
		swap_alloc_many(test, n + 3, NULL);
		SWAP_EXPECT_DECISIONS(test, NULL, "a/A0:* b/A0:0 a/A1:0+2");
	} else {
		swap_alloc_many(test, 4, NULL);
		SWAP_EXPECT_DECISIONS(test, NULL, "a/A0:0 b/A0:0 a/A0:1 b/A0:1");
	}
}

/*
 * Nearly full: slots that only the swap cache has
 */

/*
 * The whole of a full device is the cache's: the worker gives it back. It looks
 * at as many full clusters as the pages in use would fill; one of bad slots
 * counts among them where it is a full one.
 */
static void worker_reclaims_a_full_device(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	unsigned long n = swap_cluster_slots();

	/* Discards come between the frees or after them. */
	swap_decisions_pause(discards(test));
	fill_cached(test, 2 * n);
	settle(test);
	swap_decisions_pause(false);
	swap_rule(test, "full: the worker gives back what only the swap cache has");
	if (!has_clusters(test) || !swap_has(RECLAIM_FULL)) {
		/* Without clusters there is no list to reclaim from, and no worker. */
		KUNIT_EXPECT_EQ(test, pages_in_use(area), 2 * n);
		if (!discards(test))
			SWAP_EXPECT_DECISIONS(test, area, "A0:* A1:*");
		return;
	}
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(area), nonfull_first(test) ? n : 0UL,
			    "rule: full: the worker gives back what only the swap cache has");
	if (!discards(test))
		SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ?
				      "A0:* A1:* F0:*" : "A0:* A1:* F0:* F1:*");
}

/*
 * A rotational device without clusters has no lists, initialised or not: its
 * fill-up must not set the worker on them.
 */
static void full_rotational_device_starts_no_worker(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);

	if (swap_has(CLUSTERS_EVERYWHERE))
		kunit_skip(test, "rotational devices have clusters and lists here");
	swap_kunit_zero_lists(area->si);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_settle(area);
	swap_rule(test, "no reclaim of full clusters on a device without clusters");
	SWAP_EXPECT_DECISIONS(test, area, "A0:*");
}

/* A full cluster with nothing to reclaim goes back to the list of full ones. */
static void reclaim_puts_a_busy_cluster_back(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	SWAP_REQUIRE(test, RECLAIM_FULL);
	if (!has_clusters(test))
		kunit_skip(test, "no clusters on this device");
	fill_clusters(test, 2);
	pass_bad_cluster(area);
	EXPECT_LISTS(test, area, "free:2 full:0,1");
	swap_kunit_reclaim_full(area->si, false);
	swap_rule(test, "a full cluster with nothing to reclaim goes to the end of the full ones");
	EXPECT_LISTS(test, area, "free:2 full:1,0");
	swap_kunit_reclaim_full(area->si, true);
	KUNIT_EXPECT_TRUE_MSG(test, swap_expect_lists_consistent(test, area),
			      "no cluster is lost by reclaim (A10)");
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* Some of a full cluster is the cache's: that much goes, and it is nonfull. */
static void reclaim_takes_what_only_the_cache_has(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	struct folio *locked, *mapped;

	SWAP_REQUIRE(test, RECLAIM_FULL);
	if (!has_clusters(test))
		kunit_skip(test, "no clusters on this device");
	fill_cached(test, 2);
	KUNIT_ASSERT_NE(test, swap_alloc_cached(test, &locked).val, 0UL);
	KUNIT_ASSERT_NE(test, swap_alloc_cached(test, &mapped).val, 0UL);
	swap_alloc_many(test, swap_cluster_slots() - 4, NULL);
	folio_lock(mapped);
	swap_folio_dup_swap(mapped);
	folio_unlock(mapped);
	swap_decisions_skip(test);

	pass_bad_cluster(area);
	folio_lock(locked);
	swap_kunit_reclaim_full(area->si, false);
	folio_unlock(locked);
	swap_rule(test, "reclaim of a full cluster: no slot in use, no locked folio");
	SWAP_EXPECT_DECISIONS(test, area, "F0:0+2");
	EXPECT_LISTS(test, area, "free:1 nonfull:0");
}

/* One allocation reclaims at most one full cluster; the worker all of them. */
static void reclaim_takes_one_cluster_at_a_time(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 4);

	SWAP_REQUIRE(test, RECLAIM_FULL);
	if (!has_clusters(test))
		kunit_skip(test, "no clusters on this device");
	fill_cached(test, 3 * swap_cluster_slots());
	pass_bad_cluster(area);
	swap_decisions_skip(test);
	swap_kunit_reclaim_full(area->si, false);
	settle(test);
	swap_rule(test, "an allocation reclaims one full cluster at most (A12)");
	SWAP_EXPECT_DECISIONS(test, area, discards(test) ? "F0:* D0:*" : "F0:*");
	swap_decisions_pause(discards(test));
	swap_kunit_reclaim_full(area->si, true);
	settle(test);
	swap_decisions_pause(false);
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(area), 0UL,
			    "rule: the worker reclaims all full clusters");
}

/*
 * With nonfull and free lists drained and swap nearly full, one full cluster
 * is reclaimed on the way; the slot still comes from a frag cluster, or from
 * the nonfull one where older kernels reclaim before they look there.
 */
static void nearly_full_allocation_reclaims_one_cluster(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int last = swap_cluster_slots() - 1;

	SWAP_REQUIRE(test, RECLAIM_FULL);
	if (rotational(test))
		kunit_skip(test, "the current cluster of a rotational device stays");
	fill_cached(test, 2 * (last + 1));
	swap_alloc_many(test, last, NULL);
	pass_bad_cluster(area);
	if (swap_has(CPU_HINT_SHARED)) {
		swap_kunit_drain_hints();
	} else {
		/* Drain the current one, with a hole behind. */
		free_slot_at(area, 2, 3);
		swap_alloc(test);
	}
	swap_decisions_skip(test);
	/* The discard comes before the slot or after it. */
	swap_decisions_pause(discards(test));
	swap_alloc(test);
	settle(test);
	swap_decisions_pause(false);
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(area), 2UL * last + 2,
			    "rule: one full cluster is reclaimed, and one slot taken");
	if (discards(test))
		return;
	swap_rule(test, "lists drained: one full cluster is reclaimed, then frag or nonfull");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* A2:%u", swap_has(CPU_HINT_SHARED) ? last : 3);
}

/* While there is room, a slot that the cache still has is passed over. */
static void cached_slot_is_left_while_there_is_room(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_cached(test, 2);
	swap_alloc_many(test, swap_cluster_slots() - 2, NULL);
	free_slot_at(area, 0, 5);
	swap_decisions_skip(test);
	swap_alloc(test);
	swap_rule(test, "cached slots are left while swap is not half full");
	SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ? "A0:5" : "A1:0");
}

/* One slot free, two cached before it in the same cluster; nothing else. */
static struct swap_area *nearly_full_area(struct kunit *test, struct folio **first)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 1);
	KUNIT_ASSERT_NE(test, swap_alloc_cached(test, first).val, 0UL);
	fill_cached(test, 1);
	swap_alloc_many(test, n - 3, NULL);
	free_slot_at(area, 1, 5);
	swap_alloc(test);
	swap_decisions_skip(test);
	return area;
}

/* Nearly full, a cached slot that comes first in the scan is reclaimed and taken. */
static void cached_slot_is_taken_when_nearly_full(struct kunit *test)
{
	struct swap_area *area = nearly_full_area(test, NULL);

	swap_alloc(test);
	swap_rule(test, "nearly full: a cached slot is as good as a free one");
	SWAP_EXPECT_DECISIONS(test, area, "F1:0 A1:0");
}

/* ... unless its folio is locked: the next one then. */
static void locked_folio_keeps_its_slot(struct kunit *test)
{
	struct folio *first;
	struct swap_area *area = nearly_full_area(test, &first);

	folio_lock(first);
	swap_alloc(test);
	folio_unlock(first);
	swap_rule(test, "a locked folio keeps its slot");
	SWAP_EXPECT_DECISIONS(test, area, "F1:1 A1:1");
}

/*
 * A cluster whose only slot is the cache's is emptied by the scan itself. It
 * is a free cluster then: the allocation must not fail for that.
 */
static void cluster_emptied_by_the_scan(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	swp_entry_t entry;

	if (rotational(test))
		kunit_skip(test, "the current cluster of a rotational device stays");
	fill_clusters(test, 2);
	fill_cached(test, 1);
	swap_kunit_drain_hints();
	entry = swap_alloc(test);
	KUNIT_EXPECT_NE_MSG(test, entry.val, 0UL,
			    "rule: no allocation fails while the area has a free cluster");
	swap_area_settle(area);
	swap_decisions_skip(test);
}

/*
 * Failures on the way
 */

/* The memcg has no swap left: the slot goes back, and every book balances. */
static void failed_charge_gives_the_slot_back(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int nth;

	swap_alloc_many(test, 3, NULL);
	for (nth = 1; nth <= 3; nth++) {
		unsigned long inuse = pages_in_use(area) + nth - 1;
		long left = get_nr_swap_pages() - (nth - 1);

		swap_decisions_skip(test);
		swap_fail(test, SWAP_FAIL_CHARGE, nth, 1);
		KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 10, NULL), nth - 1,
				    "rule: a failed charge fails the allocation");
		KUNIT_EXPECT_EQ_MSG(test, pages_in_use(area), inuse,
				    "rule: a failed charge leaves no slot in use");
		KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), left,
				    "nr_swap_pages after a failed charge (A19)");
		KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), 1U,
				    "rule: the slot of a failed charge is freed once");
	}
}

/* No memory at once for a cluster's table: it is waited for, and the slot comes. */
static void table_is_waited_for(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int nth;

	SWAP_REQUIRE(test, SWAP_TABLE);
	swap_rule(test, "a cluster's table is waited for");
	for (nth = 1; nth <= 2; nth++) {
		swap_fail(test, SWAP_FAIL_TABLE, nth, 1);
		swap_alloc_many(test, swap_cluster_slots(), NULL);
		SWAP_EXPECT_DECISIONS(test, area, "A%u:*", nth - 1);
	}
}

/* No memory at all: no slot, and the cluster is the last of the free ones. */
static void no_table_no_slot(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	SWAP_REQUIRE(test, SWAP_TABLE);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 2);
	swap_rule(test, "without a table no slot, and the cluster stays free");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc(test).val, 0UL, "rule: no table, no slot");
	SWAP_EXPECT_DECISIONS(test, area, "");
	EXPECT_LISTS(test, area, "free:1,2,3,0");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A1:0");
}

/* An area being switched off gives no slot, current cluster or not. */
static void off_going_hook(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct kunit *test = ctx;
	swp_entry_t entry = swap_alloc(test);

	KUNIT_EXPECT_EQ_MSG(test, entry.val, 0UL,
			    "rule: an area being switched off gives no slot (A14)");
	if (entry.val)
		swap_free_slot(entry);
}

static void area_going_off_gives_no_slot(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	struct user_memory *mem = user_memory_new(test, 1);

	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	swap_decisions_skip(test);
	fake_disk_on_bio(area->disk, off_going_hook, test);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	swap_rule(test, "swapoff reads what is in use, and nothing is taken meanwhile");
	SWAP_EXPECT_DECISIONS(test, area, "R0:0 F0:0");
}

/* The allocator itself looks at the flag, for those who chose the area before. */
static void allocator_asks_whether_area_is_on(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	struct folio *folio;

	if (!has_clusters(test))
		kunit_skip(test, "no clusters on this device");
	swap_alloc_many(test, 3, NULL);
	swap_kunit_set_writeok(area->si, false);
	folio = swap_new_folio(test, 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_alloc_slot(area->si, folio), 0UL,
			    "rule: no slot of an area that is not SWP_WRITEOK (A14)");
	swap_folio_del_put(folio);
	swap_kunit_set_writeok(area->si, true);
	KUNIT_EXPECT_EQ_MSG(test, pages_in_use(area), 3UL, "rule: and nothing is counted");
}

/*
 * Counts
 */

static const unsigned int counts[] = { 2, 61, 62, 63, 64, 126, 127, 128, 254, 255, 256, 257, 510,
				       511, 512, 513, 1023, 1024, 1025, 8125, 8126, 8127, 9000 };

/*
 * Up and over the most a slot's own field can hold, and down again: what is
 * over goes to a table or a continuation page. A neighbour's count is its own.
 */
static void count_goes_over_the_maximum(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	swp_entry_t neighbour = swap_alloc(test), entry = swap_alloc(test);
	unsigned int count = 1, i;

	swap_decisions_skip(test);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		for (; count < counts[i]; count++)
			KUNIT_ASSERT_EQ_MSG(test, swap_dup_slot(entry), 0, "up to %u", count + 1);
		KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), (int)count,
				    "rule: counts go up by one");
		if (count == 1024)
			for (; swp_swapcount(neighbour) < 600;)
				KUNIT_ASSERT_EQ(test, swap_dup_slot(neighbour), 0);
	}
	while (i--) {
		for (; count > counts[i]; count--)
			swap_free_slot(entry);
		KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), (int)count,
				    "rule: counts go down by one");
	}
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(neighbour), 600,
			    "rule: a neighbour's count is its own");
	KUNIT_EXPECT_EQ(test, pages_in_use(area), 2UL);
	swap_rule(test, "a slot is free when its last reference goes");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_free_slots(entry, 1);
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_free_slots(entry, 1);
	SWAP_EXPECT_DECISIONS(test, area, "F0:1");
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, __swap_count(entry), 0);
	rcu_read_unlock();
}

/* No memory for the table at once: the fork that asks again gets it. */
static void count_table_is_asked_for_again(struct kunit *test)
{
	swp_entry_t entry;
	int count;

	AREA_ON(test, .clusters = 1);
	entry = swap_alloc(test);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 1);
	for (count = 1; count < 1000; count++)
		KUNIT_ASSERT_EQ(test, swap_dup_slot(entry), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1000,
			    "rule: a count that needed a table first is no less exact");
}

/* No memory for the table at all: -ENOMEM, and the count is what it was. */
static void count_without_a_table_stays(struct kunit *test)
{
	swp_entry_t entry;
	int count, err = 0;

	AREA_ON(test, .clusters = 1);
	entry = swap_alloc(test);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 2);
	for (count = 1; !err && count < 1000; count += !err)
		err = swap_dup_slot(entry);
	KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "rule: no table, no reference more");
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), count, "rule: and none counted");
	KUNIT_EXPECT_EQ(test, swap_dup_slot(entry), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), count + 1, "rule: the next try counts");
}

/* The table goes when no count needs it any more, and is asked for again. */
static void count_table_goes_with_large_counts(struct kunit *test)
{
	swp_entry_t entry;
	int count, err = 0;

	SWAP_REQUIRE(test, SWAP_TABLE);
	AREA_ON(test, .clusters = 1);
	entry = swap_alloc(test);
	for (count = 1; count < 1000; count++)
		KUNIT_ASSERT_EQ(test, swap_dup_slot(entry), 0);
	for (; count > 1; count--)
		swap_free_slot(entry);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 2);
	for (; !err && count < 1000; count++)
		err = swap_dup_slot(entry);
	KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "rule: the table went with the last large count");
}

/* Room is made where it is wanted only: not for small counts, free slots, or twice. */
static void no_table_for_small_counts(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	swp_entry_t entry = swap_alloc(test);
	int count;

	KUNIT_EXPECT_EQ(test, swap_make_count_room(entry), 0);
	KUNIT_EXPECT_EQ(test, swap_make_count_room(swap_entry_at(area, 1, 5)), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1, "rule: making room counts nothing");
	swap_fail(test, SWAP_FAIL_TABLE, 1, 1);
	for (count = 1; count < 1000; count++)
		KUNIT_ASSERT_EQ(test, swap_dup_slot(entry), 0);
	KUNIT_EXPECT_EQ(test, swap_make_count_room(entry), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1000, "rule: making room loses no count");
}

/* In use is a slot with a reference; no bad one, no free one (A40). */
static void swapped_is_what_has_a_reference(struct kunit *test)
{
	unsigned long bad[] = { 3, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 1, .bad_slots = bad);
	swp_entry_t entry = swap_alloc(test);

	KUNIT_EXPECT_TRUE_MSG(test, swap_slot_swapped(area, entry), "rule: one in use is swapped");
	KUNIT_EXPECT_FALSE_MSG(test, swap_slot_swapped(area, swap_entry_at(area, 0, 9)),
			       "rule: a free slot is not swapped");
	KUNIT_EXPECT_FALSE_MSG(test, swap_slot_swapped(area, swap_entry_at(area, 0, 3)),
			       "rule: a bad slot is not swapped (A40)");
}

/* A reference more to a slot that has none, or can have none. */
static void reference_to_a_wrong_slot(struct kunit *test)
{
	unsigned long bad[] = { 3, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 1, .bad_slots = bad);
	struct swap_slot_facts facts;

	swap_alloc(test);
	if (swap_has(DUP_CHECKED))
		swap_expect_report(test, "WARNING:");
	KUNIT_EXPECT_EQ_MSG(test, swap_dup_slot(swap_entry_at(area, 0, 3)),
			    swap_has(DUP_CHECKED) ? -EINVAL : 0,
			    "rule: no reference to a bad slot");
	KUNIT_EXPECT_EQ_MSG(test, swap_dup_slot(swap_entry_at(area, 0, 7)),
			    swap_has(DUP_CHECKED) ? -ENOENT : 0,
			    "rule: no reference to a free slot");
	swap_slot_facts(area, swap_slot_at(area, 0, 3), &facts);
	KUNIT_EXPECT_TRUE_MSG(test, facts.bad, "rule: a bad slot stays bad");
	swap_slot_facts(area, swap_slot_at(area, 0, 7), &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.count, 0U, "rule: a free slot stays free");
}

/*
 * Giving back
 */

/* A range over a cluster's end loses a reference in both; only what had one is free. */
static void range_crosses_clusters(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 2);
	swap_dup_slot(swap_entry_at(area, 1, 0));
	swap_zap_slots(swap_entry_at(area, 0, n - 2), 5);
	swap_rule(test, "a range frees the slots whose last reference it had");
	SWAP_EXPECT_DECISIONS(test, area, "F0:%u.. F1:1+2", n - 2);
	EXPECT_LISTS(test, area, "free:2 nonfull:0,1");
	KUNIT_EXPECT_EQ(test, swp_swapcount(swap_entry_at(area, 1, 0)), 1);
}

/* The same by whole clusters: what is emptied is free. */
static void range_of_whole_clusters(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 3);
	swap_free_slots(swap_entry_at(area, 0, 0), 2 * n + 1);
	swap_area_settle(area);
	swap_rule(test, "a range empties the clusters it covers");
	if (discards(test))
		SWAP_EXPECT_DECISIONS(test, area, "F0:* F1:* F2:0 D0:* D1:*");
	else
		SWAP_EXPECT_DECISIONS(test, area, "F0:* F1:* F2:0");
	EXPECT_LISTS(test, area, "free:0,1 nonfull:2");
}

/* A range past the end of the area is refused, whole. */
static void range_past_the_end(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);

	fill_clusters(test, 1);
	SWAP_REQUIRE(test, RANGE_FREED);
	swap_expect_report(test, "WARNING:");
	swap_zap_slots(swap_entry_at(area, 0, swap_cluster_slots() - 2), 3);
	swap_rule(test, "a range past the end frees nothing");
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* munmap() also takes a folio that only the swap cache has left... */
static void zap_takes_the_cached_folio(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct folio *folio;
	swp_entry_t entry = swap_alloc_cached(test, &folio);

	folio_lock(folio);
	KUNIT_ASSERT_EQ(test, swap_folio_dup_swap(folio), 0);
	KUNIT_EXPECT_FALSE_MSG(test, swap_folio_free_swap(folio),
			       "rule: a folio whose slot is in use keeps it");
	folio_unlock(folio);
	swap_rule(test, "the last reference takes the cached folio's slot with it");
	swap_zap_slots(entry, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 F0:0");
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_swapcache(folio), "rule: it is out of the cache");
	KUNIT_EXPECT_TRUE_MSG(test, folio_test_dirty(folio), "rule: its data is nowhere else");
}

/* ... but not one that somebody has locked: that keeps its slot until it is given up. */
static void zap_leaves_a_locked_folio(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct folio *folio;
	swp_entry_t entry = swap_alloc_cached(test, &folio);

	folio_lock(folio);
	KUNIT_ASSERT_EQ(test, swap_folio_dup_swap(folio), 0);
	swap_zap_slots(entry, 1);
	swap_rule(test, "a locked folio keeps its slot");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
	KUNIT_EXPECT_EQ(test, swp_swapcount(entry), 0);
	KUNIT_EXPECT_TRUE_MSG(test, swap_folio_free_swap(folio),
			      "rule: a folio whose slot nobody needs gives it up");
	SWAP_EXPECT_DECISIONS(test, area, "F0:0");
	KUNIT_EXPECT_FALSE_MSG(test, swap_folio_free_swap(folio), "rule: once");
	folio_unlock(folio);
}

/*
 * The device is told of a freed slot while the slot still counts as in use:
 * swapoff must not believe the area empty before (A31).
 */
struct told {
	struct swap_area *area;
	unsigned int times;
	unsigned long least;
};

static void slot_told_free(struct fake_disk *disk, unsigned long offset, void *ctx)
{
	struct told *told = ctx;

	told->times++;
	told->least = min(told->least, pages_in_use(told->area));
}

static void slot_counts_until_the_device_is_told(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct told told = { .area = area, .least = ULONG_MAX };

	swap_alloc_many(test, 1, NULL);
	fake_disk_on_free(area->disk, slot_told_free, &told);
	free_slot_at(area, 0, 0);
	KUNIT_EXPECT_EQ_MSG(test, told.times, 1U, "rule: the device is told once");
	KUNIT_EXPECT_EQ_MSG(test, told.least, 1UL,
			    "rule: a slot counts as in use until the device is notified");
	KUNIT_EXPECT_EQ(test, pages_in_use(area), 0UL);
}

/*
 * Entries that are none
 */

/* Whatever stands in a page table: no area, no slot, past the end, switched off. */
static void wrong_entries_pin_nothing(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct swap_area_facts facts;
	swp_entry_t entry;
	int type;

	swap_area_facts(area, &facts);
	entry = swap_alloc(test);
	KUNIT_EXPECT_TRUE(test, swap_pin_slot(entry));
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot((swp_entry_t){ 0 }), "rule: entry 0 is none");
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(swp_entry(facts.type, facts.max)),
			       "rule: no slot past the end");
	for (type = 0; type < 1 << MAX_SWAPFILES_SHIFT; type++)
		if (type != facts.type)
			KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(swp_entry(type, 1)),
					       "rule: no area of type %d, of %zu types (A33)",
					       type, (size_t)MAX_SWAPFILES);
	swap_free_slot(entry);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(entry),
			       "rule: an area that is off is not pinned");
}

/* A reference to an area that cannot be. */
static void reference_to_no_area(struct kunit *test)
{
	swap_expect_report(test, swap_has(DUP_PINS) ? "Bad swap file entry" : "WARNING:");
	KUNIT_EXPECT_EQ_MSG(test, swap_dup_slot(swp_entry(MAX_SWAPFILES, 1)),
			    swap_has(DUP_CHECKED) ? -EINVAL : 0,
			    "rule: no reference to an area that cannot be (A33)");
}

/* sysinfo(2): what is left; the pages in use of an area going off are its last. */
static void sysinfo_counts_pages(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	struct sysinfo info = { };
	unsigned long pages = 2 * swap_cluster_slots();

	swap_alloc_many(test, 10, NULL);
	si_swapinfo(&info);
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.totalswap, pages, "rule: all pages");
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.freeswap, pages - 10, "rule: those left");
	swap_kunit_set_writeok(area->si, false);
	si_swapinfo(&info);
	swap_kunit_set_writeok(area->si, true);
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.totalswap, pages + 10,
			    "rule: what an area going off still has in use is added to both");
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.freeswap, pages,
			    "rule: what an area going off still has in use is added to both");
}

#define CASE(name) KUNIT_CASE_PARAM(name, profile_gen_params)

static struct kunit_case swap_alloc_cases[] = {
	CASE(fills_in_order),
	CASE(rotational_devices_and_clusters),
	CASE(cluster0_is_a_nonfull_one),
	CASE(partial_last_cluster_is_a_nonfull_one),
	CASE(bad_slots_are_never_taken),
	CASE(cluster_of_bad_slots_is_put_away),
	CASE(full_area_gives_nothing),
	CASE(one_free_slot_is_found_anywhere),
	CASE(freed_slots_are_taken_again),
	CASE(current_cluster_goes_on),
	CASE(slots_behind_wait),
	CASE(emptied_current_cluster),
	CASE(current_cluster_goes_with_its_area),
	CASE(drain_takes_nonfull_or_free),
	CASE(drain_uses_up_both_lists),
	CASE(free_clusters_take_turns),
	CASE(frag_clusters_come_last),
	CASE(freed_slot_makes_frag_nonfull),
	CASE(higher_priority_fills_first),
	CASE(equal_priorities_take_turns),
	CASE(lower_priority_waits_for_both),
	CASE(slot_freed_on_higher_priority),
	KUNIT_CASE(rotational_and_ssd_take_turns),
	CASE(worker_reclaims_a_full_device),
	KUNIT_CASE(full_rotational_device_starts_no_worker),
	CASE(reclaim_puts_a_busy_cluster_back),
	CASE(reclaim_takes_what_only_the_cache_has),
	CASE(reclaim_takes_one_cluster_at_a_time),
	CASE(nearly_full_allocation_reclaims_one_cluster),
	CASE(cached_slot_is_left_while_there_is_room),
	CASE(cached_slot_is_taken_when_nearly_full),
	CASE(locked_folio_keeps_its_slot),
	CASE(cluster_emptied_by_the_scan),
	CASE(failed_charge_gives_the_slot_back),
	CASE(table_is_waited_for),
	CASE(no_table_no_slot),
	CASE(area_going_off_gives_no_slot),
	CASE(allocator_asks_whether_area_is_on),
	CASE(count_goes_over_the_maximum),
	CASE(count_table_is_asked_for_again),
	CASE(count_without_a_table_stays),
	CASE(count_table_goes_with_large_counts),
	CASE(no_table_for_small_counts),
	CASE(swapped_is_what_has_a_reference),
	CASE(reference_to_a_wrong_slot),
	CASE(range_crosses_clusters),
	CASE(range_of_whole_clusters),
	CASE(range_past_the_end),
	CASE(zap_takes_the_cached_folio),
	CASE(zap_leaves_a_locked_folio),
	CASE(slot_counts_until_the_device_is_told),
	CASE(wrong_entries_pin_nothing),
	KUNIT_CASE(reference_to_no_area),
	CASE(sysinfo_counts_pages),
	{}
};

SWAP_KUNIT_SUITE(swap_alloc, swap_alloc_cases);

MODULE_DESCRIPTION("KUnit suite of the swap slot allocator");
MODULE_LICENSE("GPL");
