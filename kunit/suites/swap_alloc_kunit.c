// SPDX-License-Identifier: GPL-2.0
/*
 * Which slot an allocation gets, and which lists the clusters are on; order 0.
 */
#include "swap_fixture.h"

static const struct swap_device profiles[] = {
	SWAP_DEVICES_PLAIN(),
	SWAP_DEVICE("ssd+discard", FAKE_DISK_SSD_DISCARD, .swap_flags = SWAP_DISCARD_PAGES),
	SWAP_DEVICE("stable writes", FAKE_DISK_STABLE),
};

SWAP_PARAMS(profile, profiles);

static const struct swap_area_config *profile_of(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);

	return &device->area;
}

static struct swap_area *area_on(struct kunit *test, struct swap_area_config config)
{
	config.disk = profile_of(test)->disk;
	config.swap_flags |= profile_of(test)->swap_flags;
	return swap_area_on(test, &config);
}

/* An area on the device of this case. */
#define AREA_ON(test, ...) \
	area_on(test, (struct swap_area_config){ __VA_ARGS__ })

static bool rotational(struct kunit *test)
{
	return profile_of(test)->disk->rotational;
}

/* Empty clusters are discarded. */
static bool discards(struct kunit *test)
{
	return profile_of(test)->swap_flags;
}

/* Older kernels scan a rotational device for slots, without clusters. */
static bool has_clusters(struct kunit *test)
{
	return !rotational(test) || swap_has(CLUSTERS_EVERYWHERE);
}

/*
 * The whole area is scanned for a slot if no cluster is free: on a rotational
 * device, and on kernels that keep clusters in use on no list.
 */
static bool scans(struct kunit *test)
{
	return !has_clusters(test) || !swap_has(CLUSTER_ALLOCATOR);
}

/* When the current cluster is drained, nonfull clusters come before free ones. */
static bool nonfull_first(struct kunit *test)
{
	return swap_has(NONFULL_FIRST) && !discards(test);
}

/* The CPU has one current cluster, which is used before the areas are searched. */
static bool hint_before_areas(struct kunit *test)
{
	return swap_has(CPU_HINT_SHARED) && !rotational(test);
}

static void require_full_list(struct kunit *test)
{
	SWAP_REQUIRE(test, RECLAIM_FULL);
	if (!has_clusters(test))
		kunit_skip(test, "this kernel has no clusters on rotational devices");
}

static void require_cpu_hint(struct kunit *test)
{
	if (rotational(test))
		kunit_skip(test, "a rotational device has no current cluster per CPU");
}

#define EXPECT_LISTS(test, area, fmt, ...) do {				\
	struct kunit *__test = test;					\
									\
	if (has_clusters(__test))					\
		SWAP_EXPECT_LISTS(__test, area, fmt, ##__VA_ARGS__);	\
} while (0)

/*
 * What a scan of an SSD takes: after each slot it skips one, continues to the
 * end of the area, and starts again from the first slot.
 */
static char *scanned_slots(struct kunit *test, unsigned int first, unsigned int end,
			   unsigned int from, const unsigned long *bad)
{
	unsigned int left = end - first, slot;
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
		len += scnprintf(text + len, size - len, len ? " A" : "A");
		len += swap_print_slot(text + len, size - len, slot);
	}
	return text;
}

static void free_slot_at(struct swap_area *area, unsigned int cluster, unsigned int slot)
{
	swap_free_slot(swap_entry_at(area, cluster, slot));
}

/* Wait for the workers that a full device or an empty cluster wakes. */
static void settle(struct kunit *test)
{
	struct swap_area *area;

	list_for_each_entry(area, &swap_areas, node)
		swap_area_settle(area);
}

/* Fill clusters: the next slot is in another one. */
static void fill_clusters(struct kunit *test, unsigned int clusters)
{
	unsigned int nr = clusters * swap_cluster_slots();

	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, nr, NULL), nr);
	settle(test);
	swap_decisions_skip(test);
}

/* Allocate slots that only the swap cache holds. */
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
 * The cluster of bad slots in front of the area may be the first full one. Have
 * reclaim move it to the end of the list.
 */
static void pass_bad_cluster(struct swap_area *area)
{
	unsigned int first = UINT_MAX;

	swap_kunit_walk_lists(area->si, see_first_full, &first);
	if (first < area->log.base / swap_cluster_slots())
		swap_kunit_reclaim_full(area->si, false);
}

/*
 * From empty to full
 */

/* Slots come in ascending order, cluster after cluster, each exactly once. */
static void fills_in_order(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int slots = 3 * swap_cluster_slots();

	swap_rule(test, "an empty area fills in ascending order");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, slots + 1, NULL), slots,
			    "rule: as many slots as the area has pages");
	SWAP_EXPECT_DECISIONS(test, area, "A0:* A1:* A2:*");
}

/* All devices have clusters; on older kernels all but rotational ones. */
static void device_has_clusters(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.clusters > 0, has_clusters(test),
			    "rule: %s has clusters: %d", profile_of(test)->disk->name,
			    has_clusters(test));
}

/*
 * The header takes a slot of cluster 0, so the cluster is nonfull: it comes first
 * if nonfull clusters come first, else last. A scan starts after the header.
 */
static void cluster0_is_nonfull(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2, .use_cluster0 = true);

	swap_rule(test, "cluster 0 starts nonfull: the header takes a slot");
	EXPECT_LISTS(test, area, "free:1 nonfull:0");
	swap_alloc_many(test, UINT_MAX, NULL);
	if (has_clusters(test) && scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A1:* %s",
				      scanned_slots(test, 1, swap_cluster_slots(), 1, NULL));
	else
		SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) || !has_clusters(test) ?
				      "A0:1.. A1:*" : "A1:* A0:1..");
}

/* The end of the device cuts the last cluster: it is nonfull. */
static void partial_last_cluster_is_nonfull(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1, .tail_slots = 10);
	unsigned int n = swap_cluster_slots();

	swap_rule(test, "a partial last cluster starts nonfull");
	EXPECT_LISTS(test, area, "free:0 nonfull:1");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, UINT_MAX, NULL), n + 10,
			    "rule: no slot past the end of the device");
	if (has_clusters(test) && scans(test))
		SWAP_EXPECT_DECISIONS(test, area, "A0:* %s",
				      scanned_slots(test, n, n + 10, n + 1, NULL));
	else
		SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ?
				      "A1:0+10 A0:*" : "A0:* A1:0+10");
}

/* Bad slots are never allocated; a cluster with one starts nonfull. */
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
		/* The scan looks for a run as long as a cluster, wherever it starts. */
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

/* A cluster without usable slots gives none, and moves to another list when met. */
static void cluster_of_bad_slots_gives_none(struct kunit *test)
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
	EXPECT_LISTS(test, area, nonfull_first(test) ? "frag:1 full:0" :
		     swap_has(FRAG_WHEN_TAKEN) ? "nonfull:0 frag:1" : "nonfull:0,1");
}

/* A full area gives no slot, and is available again when a slot is freed. */
static void full_area_gives_nothing(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1, .tail_slots = 3);
	struct swap_area_facts facts;

	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), 0L, "rule: a full area leaves no pages");
	KUNIT_EXPECT_FALSE_MSG(test, facts.available, "rule: a full area is not available");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc(test).val, 0UL, "rule: a full area gives no slot");
	swap_decisions_skip(test);

	settle(test);
	free_slot_at(area, 0, 77);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_TRUE_MSG(test, facts.available, "rule: an area with a free slot is available");
	swap_rule(test, "the one free slot is found");
	swap_alloc_many(test, 2, NULL);
	SWAP_EXPECT_DECISIONS(test, area, "F0:77 A0:77");
}

/*
 * Whichever slot of a full area is freed, it is found, also the one after the
 * slot allocated last, where a search starts.
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

/* All freed slots of a full area are found, in the order their clusters became nonfull. */
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
	SWAP_EXPECT_DECISIONS(test, area, scans(test) ? "A0:0 A0:200 A2:4 A2:9" :
							"A2:4 A2:9 A0:0 A0:200");
}

/*
 * The current cluster
 */

/* The current cluster is used to its end, whatever is freed elsewhere. */
static void current_cluster_is_used_to_its_end(struct kunit *test)
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
 * A slot freed behind the position of the next one is not used until the cluster
 * is searched from its start again, as a nonfull or frag one.
 */
static void slots_behind_wait(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int n = swap_cluster_slots();

	swap_alloc_many(test, 5, NULL);
	free_slot_at(area, 0, 1);
	swap_alloc_many(test, n - 5, NULL);
	swap_rule(test, "the current cluster is not searched backwards");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+5 F0:1 A0:5..");
	/* On 7.x the slots taken after the free have made it a frag cluster. */
	EXPECT_LISTS(test, area, swap_has(CPU_HINT_SHARED) ? "free:1,2 frag:0" :
							     "free:1,2 nonfull:0");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A1:0");
}

/* A current cluster that became empty is a free cluster like any other. */
static void emptied_current_cluster_is_free(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	swap_alloc_many(test, 3, NULL);
	swap_free_slots(swap_entry_at(area, 0, 0), 3);
	swap_area_settle(area);
	EXPECT_LISTS(test, area, "free:1,2,0");
	swap_decisions_skip(test);
	swap_alloc(test);
	swap_rule(test, "an emptied current cluster waits its turn, or continues where it was");
	SWAP_EXPECT_DECISIONS(test, area, swap_has(SWAP_TABLE) ||
			      (has_clusters(test) && scans(test)) ? "A1:0" : "A0:3");
}

/* After swapoff and swapon an area has no current cluster from before. */
static void swapoff_forgets_the_current_cluster(struct kunit *test)
{
	unsigned long bad[] = { swap_cluster_slots() - 1, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 1, .bad_slots = bad);
	swp_entry_t entries[3];
	unsigned int i;

	/* With the bad slot the cluster stays usable when it becomes empty. */
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
 * When the current cluster is drained
 */

/*
 * Nonfull first: a nonfull cluster comes before a free one, unless the device
 * discards. Older kernels take a free one first on every device.
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
		swap_rule(test, "nonfull clusters before free ones");
		SWAP_EXPECT_DECISIONS(test, area, "A0:10+3");
		EXPECT_LISTS(test, area, "free:2,3 full:1,0");
	} else {
		swap_rule(test, "free clusters before nonfull ones");
		SWAP_EXPECT_DECISIONS(test, area, "A2:0+3");
		EXPECT_LISTS(test, area, swap_has(FRAG_WHEN_TAKEN) ?
			     "free:3 nonfull:0 frag:2 full:1" : "free:3 nonfull:0,2 full:1");
	}
}

/* Both lists are used up, one after the other. */
static void drain_uses_up_both_lists(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_clusters(test, 3);
	free_slot_at(area, 1, 8);
	free_slot_at(area, 0, 3);
	swap_decisions_skip(test);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, nonfull_first(test) ? "nonfull clusters, then free ones" :
					      "free clusters, then nonfull ones");
	SWAP_EXPECT_DECISIONS(test, area, scans(test) ? "A3:* A0:3 A1:8" :
			      nonfull_first(test) ? "A1:8 A0:3 A3:*" : "A3:* A1:8 A0:3");
}

/* A cluster that becomes free goes to the end of the free list. */
static void free_clusters_take_turns(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_clusters(test, 2);
	swap_free_slots(swap_entry_at(area, 0, 0), swap_cluster_slots());
	swap_area_settle(area);
	swap_decisions_skip(test);
	EXPECT_LISTS(test, area, "free:2,3,0 full:1");
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_rule(test, "free clusters in the order they became free");
	SWAP_EXPECT_DECISIONS(test, area,
			      has_clusters(test) ? "A2:* A3:* A0:*" : "A0:* A2:* A3:*");
}

/*
 * A frag cluster has been allocated from and is nobody's current cluster: another
 * CPU used it or, as here, the hint was drained.
 */
static void frag_clusters_come_last(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	SWAP_REQUIRE(test, CPU_HINT_SHARED);
	require_cpu_hint(test);
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

/* Freeing a slot makes a frag cluster nonfull. */
static void freed_slot_makes_frag_nonfull(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	SWAP_REQUIRE(test, CPU_HINT_SHARED);
	swap_alloc_many(test, 3, NULL);
	EXPECT_LISTS(test, area, "free:1,2 frag:0");
	free_slot_at(area, 0, 0);
	swap_rule(test, "freeing a slot makes a cluster nonfull");
	EXPECT_LISTS(test, area, "free:1,2 nonfull:0");
	swap_alloc(test);
	swap_rule(test, "allocating a slot makes a cluster frag");
	EXPECT_LISTS(test, area, "free:1,2 frag:0");
}

/*
 * Several areas
 */

/* Higher priorities come first, whichever area was switched on first. */
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
 * Areas of equal priority take turns: cluster by cluster if the CPU has a current
 * cluster, slot by slot if the areas are searched for every slot.
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

/* A lower priority is used only when all areas of the higher one are full. */
static void lower_priority_waits_for_both(struct kunit *test)
{
	unsigned int n = swap_cluster_slots();
	struct swap_area *low = AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 1);

	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 5);
	AREA_ON(test, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 5);
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, 2 * n, NULL), 2 * n);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(low), 0UL,
			    "rule: a lower priority is not used before the higher ones are full");
	swap_alloc(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(low), 1UL,
			    "rule: a lower priority is used when the higher ones are full");
}

/*
 * A slot freed on the area of higher priority comes next if the areas are searched
 * for every slot, else after the CPU's current cluster on the lower one is drained.
 */
static void current_cluster_comes_before_priority(struct kunit *test)
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
		SWAP_EXPECT_DECISIONS(test, NULL, "b/A0:0+3 a/F0:7 b/A0:3.. a/A0:7 b/A1:0+2");
	} else {
		swap_rule(test, "the highest priority with a free slot");
		SWAP_EXPECT_DECISIONS(test, NULL, "b/A0:0+3 a/F0:7 a/A0:7 b/A0:3.. b/A1:0+2");
	}
}

/* An SSD and a rotational device take turns; only the SSD has a cluster current on the CPU. */
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
 * Nearly full: slots that only the swap cache holds
 */

/*
 * When a device becomes full, the worker frees the slots that only the swap cache
 * holds. It looks at as many full clusters as the pages in use would fill; the
 * cluster of bad slots is one of them where it is on the full list.
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
	swap_rule(test, "the worker of a full device frees slots that only the swap cache holds");
	if (!has_clusters(test) || !swap_has(RECLAIM_FULL)) {
		/* There is no list of full clusters to reclaim from. */
		KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 2 * n);
		if (!discards(test))
			SWAP_EXPECT_DECISIONS(test, area, "A0:* A1:*");
		return;
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), nonfull_first(test) ? n : 0UL,
			    "rule: the worker of a full device frees slots that only the swap cache holds");
	if (!discards(test))
		SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ?
				      "A0:* A1:* F0:*" : "A0:* A1:* F0:* F1:*");
}

/*
 * "mm: swapfile: fix cluster reclaim work crash on rotational devices": a device
 * without clusters has no lists, so filling it must not start the worker.
 */
static void full_rotational_device_starts_no_worker(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);

	if (swap_has(CLUSTERS_EVERYWHERE))
		kunit_skip(test, "this kernel has clusters on rotational devices");
	swap_kunit_zero_lists(area->si);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_settle(area);
	swap_rule(test, "no reclaim of full clusters on a device without clusters");
	SWAP_EXPECT_DECISIONS(test, area, "A0:*");
}

/*
 * "mm: swap: add back full cluster when no entry is reclaimed": a full cluster
 * with nothing to reclaim stays on the full list, at its end.
 */
static void reclaim_puts_a_busy_cluster_back(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	require_full_list(test);
	fill_clusters(test, 2);
	pass_bad_cluster(area);
	EXPECT_LISTS(test, area, "free:2 full:0,1");
	swap_kunit_reclaim_full(area->si, false);
	swap_rule(test, "a full cluster with nothing to reclaim goes to the end of the full list");
	EXPECT_LISTS(test, area, "free:2 full:1,0");
	swap_kunit_reclaim_full(area->si, true);
	KUNIT_EXPECT_TRUE_MSG(test, swap_expect_lists_consistent(test, area),
			      "rule: reclaim leaves every cluster on a list");
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* Reclaim frees the slots that only the cache holds; the cluster becomes nonfull. */
static void reclaim_takes_what_only_the_cache_has(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	struct folio *locked, *mapped;

	require_full_list(test);
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
	swap_rule(test, "reclaim of a full cluster skips slots in use and locked folios");
	SWAP_EXPECT_DECISIONS(test, area, "F0:0+2");
	EXPECT_LISTS(test, area, "free:1 nonfull:0");
}

/*
 * "mm, swap: avoid over reclaim of full clusters": an allocation reclaims at most
 * one full cluster, the worker all of them.
 */
static void reclaim_takes_one_cluster_at_a_time(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 4);

	require_full_list(test);
	fill_cached(test, 3 * swap_cluster_slots());
	pass_bad_cluster(area);
	swap_decisions_skip(test);
	swap_kunit_reclaim_full(area->si, false);
	settle(test);
	swap_rule(test, "an allocation reclaims at most one full cluster");
	SWAP_EXPECT_DECISIONS(test, area, discards(test) ? "F0:* D0:*" : "F0:*");
	swap_decisions_pause(discards(test));
	swap_kunit_reclaim_full(area->si, true);
	settle(test);
	swap_decisions_pause(false);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 0UL,
			    "rule: the worker reclaims all full clusters");
}

/*
 * With the nonfull and free lists drained and swap nearly full, an allocation
 * reclaims one full cluster on its way. Its slot comes from a frag cluster, or
 * from a nonfull one on older kernels, which reclaim before they look there.
 */
static void nearly_full_allocation_reclaims_one_cluster(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int last = swap_cluster_slots() - 1;

	SWAP_REQUIRE(test, RECLAIM_FULL);
	require_cpu_hint(test);
	fill_cached(test, 2 * (last + 1));
	swap_alloc_many(test, last, NULL);
	pass_bad_cluster(area);
	if (swap_has(CPU_HINT_SHARED)) {
		swap_kunit_drain_hints();
	} else {
		/* Drain the current cluster, with a free slot behind. */
		free_slot_at(area, 2, 3);
		swap_alloc(test);
	}
	swap_decisions_skip(test);
	/* The discard comes before the slot or after it. */
	swap_decisions_pause(discards(test));
	swap_alloc(test);
	settle(test);
	swap_decisions_pause(false);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 2UL * last + 2,
			    "rule: one full cluster is reclaimed, and one slot allocated");
	if (discards(test))
		return;
	swap_rule(test, "lists drained: one full cluster is reclaimed, then frag or nonfull");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* A2:%u", swap_has(CPU_HINT_SHARED) ? last : 3);
}

/* While swap is less than half full, slots that the cache holds are skipped. */
static void cached_slot_is_left_while_there_is_room(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_cached(test, 2);
	swap_alloc_many(test, swap_cluster_slots() - 2, NULL);
	free_slot_at(area, 0, 5);
	swap_decisions_skip(test);
	swap_alloc(test);
	swap_rule(test, "cached slots are skipped while swap is less than half full");
	SWAP_EXPECT_DECISIONS(test, area, nonfull_first(test) ? "A0:5" : "A1:0");
}

/* All slots are in use but one; two cached ones come before it in its cluster. */
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

/* When swap is nearly full, the first cached slot that the search meets is reused. */
static void cached_slot_is_taken_when_nearly_full(struct kunit *test)
{
	struct swap_area *area = nearly_full_area(test, NULL);

	swap_alloc(test);
	swap_rule(test, "nearly full: a cached slot is as good as a free one");
	SWAP_EXPECT_DECISIONS(test, area, "F1:0 A1:0");
}

/* If its folio is locked, the next one is reused. */
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
 * If the search itself reclaims the only slot in use of a cluster, the cluster
 * becomes free, and the allocation must use it.
 */
static void cluster_emptied_by_the_scan(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	require_cpu_hint(test);
	fill_clusters(test, 2);
	fill_cached(test, 1);
	swap_kunit_drain_hints();
	KUNIT_EXPECT_NE_MSG(test, swap_alloc(test).val, 0UL,
			    "rule: no allocation fails while the area has a free cluster");
	swap_area_settle(area);
	swap_decisions_skip(test);
}

/*
 * Failures during an allocation
 */

/*
 * "mm: swap: move nr_swap_pages counter decrement from folio_alloc_swap() to
 * swap_range_alloc()": if the memory cgroup has no swap left, the slot is freed
 * and all counters agree.
 */
static void failed_charge_gives_the_slot_back(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int nth;

	swap_alloc_many(test, 3, NULL);
	for (nth = 1; nth <= 3; nth++) {
		unsigned long inuse = swap_area_inuse(area) + nth - 1;
		long left = get_nr_swap_pages() - (nth - 1);

		swap_decisions_skip(test);
		swap_fail(test, SWAP_FAIL_CHARGE, nth, 1);
		KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 10, NULL), nth - 1,
				    "rule: a failed charge fails the allocation");
		KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), inuse,
				    "rule: a failed charge leaves no slot in use");
		KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), left,
				    "rule: a failed charge leaves nr_swap_pages as it was");
		KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), 1U,
				    "rule: a failed charge frees its slot once");
	}
}

/* If the table of a cluster cannot be allocated at once, the allocation waits for memory. */
static void table_is_waited_for(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int nth;

	SWAP_REQUIRE(test, SWAP_TABLE);
	swap_rule(test, "an allocation waits for memory for the table of its cluster");
	for (nth = 1; nth <= 2; nth++) {
		swap_fail(test, SWAP_FAIL_TABLE, nth, 1);
		swap_alloc_many(test, swap_cluster_slots(), NULL);
		SWAP_EXPECT_DECISIONS(test, area, "A%u:*", nth - 1);
	}
}

/* Without memory for the table there is no slot; the cluster goes to the end of the free list. */
static void no_table_no_slot(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	SWAP_REQUIRE(test, SWAP_TABLE);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 2);
	swap_rule(test, "without a table there is no slot, and the cluster stays free");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc(test).val, 0UL, "rule: no slot without a table");
	SWAP_EXPECT_DECISIONS(test, area, "");
	EXPECT_LISTS(test, area, "free:1,2,3,0");
	swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, area, "A1:0");
}

static void alloc_during_swapoff(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct kunit *test = ctx;
	swp_entry_t entry = swap_alloc(test);

	KUNIT_EXPECT_EQ_MSG(test, entry.val, 0UL,
			    "rule: no slot of an area that is being switched off");
	if (entry.val)
		swap_free_slot(entry);
}

/* An area that is being switched off gives no slot, even if it has the current cluster. */
static void swapoff_gives_no_slot(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	user_memory_swapped(test, 1);
	fake_disk_on_bio(area->disk, alloc_during_swapoff, test);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	swap_rule(test, "swapoff reads the slots in use; none is allocated meanwhile");
	SWAP_EXPECT_DECISIONS(test, area, "R0:0 F0:0");
}

/*
 * "mm, swap: fix allocation and scanning race with swapoff": the allocator checks
 * SWP_WRITEOK itself, for callers that chose the area before.
 */
static void allocator_checks_writeok(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	struct folio *folio;

	if (!has_clusters(test))
		kunit_skip(test, "this kernel has no clusters on rotational devices");
	swap_alloc_many(test, 3, NULL);
	swap_kunit_set_writeok(area->si, false);
	folio = swap_new_folio(test, 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_alloc_slot(area->si, folio), 0UL,
			    "rule: no slot of an area without SWP_WRITEOK");
	swap_folio_del_put(folio);
	swap_kunit_set_writeok(area->si, true);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_inuse(area), 3UL, "rule: and none is counted");
}

/*
 * Counts
 */

static void dup_up_to(struct kunit *test, swp_entry_t entry, int count)
{
	while (swp_swapcount(entry) < count)
		KUNIT_ASSERT_EQ_MSG(test, swap_dup_slot(entry), 0, "up to %d", count);
}

static const unsigned int counts[] = { 2, 61, 62, 63, 64, 126, 127, 128, 254, 255, 256, 257, 510,
				       511, 512, 513, 1023, 1024, 1025, 8125, 8126, 8127, 9000 };

/*
 * Counts above what the slot's own field holds go to a table or to a continuation
 * page, and come back. The count of a neighbour is separate.
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
			dup_up_to(test, neighbour, 600);
	}
	while (i--) {
		for (; count > counts[i]; count--)
			swap_free_slot(entry);
		KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), (int)count,
				    "rule: counts go down by one");
	}
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(neighbour), 600,
			    "rule: the count of a neighbour is separate");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 2UL);
	swap_rule(test, "a slot is freed with its last reference");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_free_slots(entry, 1);
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_free_slots(entry, 1);
	SWAP_EXPECT_DECISIONS(test, area, "F0:1");
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, __swap_count(entry), 0);
	rcu_read_unlock();
}

/* If the table cannot be allocated at once, the fork retries and counts exactly. */
static void count_table_is_retried(struct kunit *test)
{
	swp_entry_t entry;

	AREA_ON(test, .clusters = 1);
	entry = swap_alloc(test);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 1);
	dup_up_to(test, entry, 1000);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1000,
			    "rule: a count is exact after its table was retried");
}

/* Without memory for the table, -ENOMEM, and the count stays. */
static void count_without_a_table_stays(struct kunit *test)
{
	swp_entry_t entry;
	int count, err = 0;

	AREA_ON(test, .clusters = 1);
	entry = swap_alloc(test);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 2);
	for (count = 1; !err && count < 1000; count += !err)
		err = swap_dup_slot(entry);
	KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "rule: without a table, no more references");
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), count,
			    "rule: a failed reference is not counted");
	KUNIT_EXPECT_EQ(test, swap_dup_slot(entry), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), count + 1, "rule: the next try counts");
}

/* The table is freed with the last large count, or stays until swapoff. */
static void count_table_goes_with_large_counts(struct kunit *test)
{
	swp_entry_t entry;
	int count, err = 0;

	AREA_ON(test, .clusters = 1);
	entry = swap_alloc(test);
	dup_up_to(test, entry, 1000);
	for (count = 1000; count > 1; count--)
		swap_free_slot(entry);
	swap_fail(test, SWAP_FAIL_TABLE, 1, 2);
	for (; !err && count < 1000; count++)
		err = swap_dup_slot(entry);
	KUNIT_EXPECT_EQ_MSG(test, err, swap_has(COUNT_TABLE_FREED) ? -ENOMEM : 0,
			    swap_has(COUNT_TABLE_FREED) ?
			    "rule: the table is freed with the last large count" :
			    "rule: the table of large counts stays until swapoff");
}

/* Making room changes nothing for a small count, a free slot, or a second time. */
static void no_table_for_small_counts(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	swp_entry_t entry = swap_alloc(test);

	KUNIT_EXPECT_EQ(test, swap_make_count_room(entry), 0);
	KUNIT_EXPECT_EQ(test, swap_make_count_room(swap_entry_at(area, 1, 5)), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1, "rule: making room adds no count");
	swap_fail(test, SWAP_FAIL_TABLE, 1, 1);
	dup_up_to(test, entry, 1000);
	KUNIT_EXPECT_EQ(test, swap_make_count_room(entry), 0);
	KUNIT_EXPECT_EQ_MSG(test, swp_swapcount(entry), 1000, "rule: making room loses no count");
}

/*
 * "mm, swap: swap entry of a bad slot should not be considered as swapped out":
 * a slot is swapped out if it has references; bad and free slots are not.
 */
static void only_referenced_slots_are_swapped(struct kunit *test)
{
	unsigned long bad[] = { 3, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 1, .bad_slots = bad);
	swp_entry_t entry = swap_alloc(test);

	KUNIT_EXPECT_TRUE_MSG(test, swap_slot_swapped(entry),
			      "rule: a slot in use is swapped");
	KUNIT_EXPECT_FALSE_MSG(test, swap_slot_swapped(swap_entry_at(area, 0, 9)),
			       "rule: a free slot is not swapped");
	KUNIT_EXPECT_FALSE_MSG(test, swap_slot_swapped(swap_entry_at(area, 0, 3)),
			       "rule: a bad slot is not swapped");
}

/* A bad slot and a free slot get no reference. */
static void no_reference_to_a_bad_or_free_slot(struct kunit *test)
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
 * Freeing
 */

/* A range may cross clusters; it frees the slots whose last reference it drops. */
static void range_crosses_clusters(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 2);
	swap_dup_slot(swap_entry_at(area, 1, 0));
	swap_zap_slots(swap_entry_at(area, 0, n - 2), 5);
	swap_rule(test, "a range frees the slots whose last reference it drops");
	SWAP_EXPECT_DECISIONS(test, area, "F0:%u.. F1:1+2", n - 2);
	EXPECT_LISTS(test, area, "free:2 nonfull:0,1");
	KUNIT_EXPECT_EQ(test, swp_swapcount(swap_entry_at(area, 1, 0)), 1);
}

/* A range of whole clusters leaves them free. */
static void range_of_whole_clusters(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 3);
	swap_free_slots(swap_entry_at(area, 0, 0), 2 * n + 1);
	swap_area_settle(area);
	swap_rule(test, "a range empties the clusters it covers");
	SWAP_EXPECT_DECISIONS(test, area, discards(test) ? "F0:* F1:* F2:0 D0:* D1:*" :
							   "F0:* F1:* F2:0");
	EXPECT_LISTS(test, area, "free:0,1 nonfull:2");
}

/* A range past the end of the area is refused as a whole. */
static void range_past_the_end_frees_nothing(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);

	fill_clusters(test, 1);
	SWAP_REQUIRE(test, RANGE_FREED);
	swap_expect_report(test, "WARNING:");
	swap_zap_slots(swap_entry_at(area, 0, swap_cluster_slots() - 2), 3);
	swap_rule(test, "a range past the end frees nothing");
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* munmap() also frees a slot of which only the cached folio is left. */
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
	swap_rule(test, "the last reference takes the slot of the cached folio with it");
	swap_zap_slots(entry, 1);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 F0:0");
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_swapcache(folio),
			       "rule: a folio without a slot is not in the swap cache");
	KUNIT_EXPECT_TRUE_MSG(test, folio_test_dirty(folio),
			      "rule: a folio without a slot is dirty");
}

/* A locked folio keeps its slot until it leaves the swap cache. */
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
			      "rule: a folio frees its slot if the slot has no references");
	KUNIT_EXPECT_TRUE_MSG(test, folio_test_dirty(folio),
			      "rule: a folio without a slot is dirty");
	SWAP_EXPECT_DECISIONS(test, area, "F0:0");
	KUNIT_EXPECT_FALSE_MSG(test, swap_folio_free_swap(folio),
			       "rule: a folio frees its slot once");
	folio_unlock(folio);
}

struct free_notified {
	struct swap_area *area;
	unsigned int times;
	unsigned long least_inuse;
};

static void slot_free_notified(struct fake_disk *disk, unsigned long offset, void *ctx)
{
	struct free_notified *seen = ctx;

	seen->times++;
	seen->least_inuse = min(seen->least_inuse, swap_area_inuse(seen->area));
}

/*
 * "mm: swap: enforce updating inuse_pages at the end of swap_range_free()": when
 * the device is notified of a freed slot, the slot still counts as in use, so that
 * swapoff does not find the area empty too early.
 */
static void slot_counts_until_the_device_is_notified(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct free_notified seen = { .area = area, .least_inuse = ULONG_MAX };

	swap_alloc_many(test, 1, NULL);
	fake_disk_on_free(area->disk, slot_free_notified, &seen);
	free_slot_at(area, 0, 0);
	KUNIT_EXPECT_EQ_MSG(test, seen.times, 1U, "rule: the device is notified once");
	KUNIT_EXPECT_EQ_MSG(test, seen.least_inuse, 1UL,
			    "rule: a slot counts as in use until the device is notified");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), 0UL);
}

/*
 * Invalid entries
 */

/*
 * "mm, swap: bounds check swap_info array accesses": an entry of no area, past the
 * end, or of an area that is off, pins nothing.
 */
static void invalid_entries_pin_nothing(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct swap_area_facts facts;
	swp_entry_t entry;
	int type;

	swap_area_facts(area, &facts);
	entry = swap_alloc(test);
	KUNIT_EXPECT_TRUE(test, swap_pin_slot(entry));
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot((swp_entry_t){ 0 }), "rule: entry 0 is invalid");
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(swp_entry(facts.type, facts.max)),
			       "rule: no slot past the end");
	for (type = 0; type < 1 << MAX_SWAPFILES_SHIFT; type++)
		if (type != facts.type)
			KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(swp_entry(type, 1)),
					       "rule: no area of type %d, of %zu types", type,
					       (size_t)MAX_SWAPFILES);
	swap_free_slot(entry);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(entry),
			       "rule: an area that is off is not pinned");
}

/* An entry of a type past the last one gets no reference. */
static void no_reference_to_an_invalid_type(struct kunit *test)
{
	swap_expect_report(test, swap_has(DUP_PINS) ? "Bad swap file entry" : "WARNING:");
	KUNIT_EXPECT_EQ_MSG(test, swap_dup_slot(swp_entry(MAX_SWAPFILES, 1)),
			    swap_has(DUP_CHECKED) ? -EINVAL : 0,
			    "rule: no reference to an area of an invalid type");
}

/* sysinfo(2) counts the pages that are left; an area going off counts by its pages in use. */
static void sysinfo_counts_pages(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	struct sysinfo info = { };
	unsigned long pages = 2 * swap_cluster_slots();

	swap_alloc_many(test, 10, NULL);
	si_swapinfo(&info);
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.totalswap, pages,
			    "rule: totalswap counts all pages");
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.freeswap, pages - 10,
			    "rule: freeswap counts the pages that are left");
	swap_kunit_set_writeok(area->si, false);
	si_swapinfo(&info);
	swap_kunit_set_writeok(area->si, true);
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.totalswap, pages + 10,
			    "rule: pages in use of an area going off are added to both");
	KUNIT_EXPECT_EQ_MSG(test, (unsigned long)info.freeswap, pages,
			    "rule: pages in use of an area going off are added to both");
}

#define CASE(name) KUNIT_CASE_PARAM(name, profile_gen_params)

static struct kunit_case swap_alloc_cases[] = {
	CASE(fills_in_order),
	CASE(device_has_clusters),
	CASE(cluster0_is_nonfull),
	CASE(partial_last_cluster_is_nonfull),
	CASE(bad_slots_are_never_taken),
	CASE(cluster_of_bad_slots_gives_none),
	CASE(full_area_gives_nothing),
	CASE(one_free_slot_is_found_anywhere),
	CASE(freed_slots_are_taken_again),
	CASE(current_cluster_is_used_to_its_end),
	CASE(slots_behind_wait),
	CASE(emptied_current_cluster_is_free),
	CASE(swapoff_forgets_the_current_cluster),
	CASE(drain_takes_nonfull_or_free),
	CASE(drain_uses_up_both_lists),
	CASE(free_clusters_take_turns),
	CASE(frag_clusters_come_last),
	CASE(freed_slot_makes_frag_nonfull),
	CASE(higher_priority_fills_first),
	CASE(equal_priorities_take_turns),
	CASE(lower_priority_waits_for_both),
	CASE(current_cluster_comes_before_priority),
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
	CASE(swapoff_gives_no_slot),
	CASE(allocator_checks_writeok),
	CASE(count_goes_over_the_maximum),
	CASE(count_table_is_retried),
	CASE(count_without_a_table_stays),
	CASE(count_table_goes_with_large_counts),
	CASE(no_table_for_small_counts),
	CASE(only_referenced_slots_are_swapped),
	CASE(no_reference_to_a_bad_or_free_slot),
	CASE(range_crosses_clusters),
	CASE(range_of_whole_clusters),
	CASE(range_past_the_end_frees_nothing),
	CASE(zap_takes_the_cached_folio),
	CASE(zap_leaves_a_locked_folio),
	CASE(slot_counts_until_the_device_is_notified),
	CASE(invalid_entries_pin_nothing),
	KUNIT_CASE(no_reference_to_an_invalid_type),
	CASE(sysinfo_counts_pages),
	{}
};

SWAP_KUNIT_SUITE(swap_alloc, swap_alloc_cases);

MODULE_DESCRIPTION("KUnit suite of the swap slot allocator");
MODULE_LICENSE("GPL");
