// SPDX-License-Identifier: GPL-2.0
/*
 * Which clusters are discarded, when, and how often; order 0.
 */
#include "swap_fixture.h"

#define DISCARD_ONCE	(SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_ONCE)

/* An area that discards freed clusters; members given here override. */
#define AREA_ON(test, ...)							\
	swap_area_on(test, &(struct swap_area_config){				\
		.disk = &FAKE_DISK_SSD_DISCARD, .swap_flags = SWAP_DISCARD_PAGES,	\
		##__VA_ARGS__ })

static void fill_clusters(struct kunit *test, unsigned int clusters)
{
	unsigned int nr = clusters * swap_cluster_slots();

	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, nr, NULL), nr);
	swap_decisions_skip(test);
}

static void free_cluster(struct swap_area *area, unsigned int cluster)
{
	swap_free_slots(swap_entry_at(area, cluster, 0), swap_cluster_slots());
}

/*
 * Free cluster 0 and allocate before the worker can discard it. Nothing sleeps
 * in between: the folio is there before.
 */
static struct folio *free_cluster_and_alloc(struct kunit *test, struct swap_area *area)
{
	struct folio *folio = swap_new_folio(test, 0);

	free_cluster(area, 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_folio_alloc_swap(folio), 0,
			    "rule: no allocation fails while a cluster waits for its discard");
	return folio;
}

static void use_and_empty(struct kunit *test, struct swap_area *area)
{
	swap_alloc_many(test, 1, NULL);
	swap_free_slot(swap_entry_at(area, 0, 0));
	swap_area_settle(area);
}

/*
 * Freed clusters
 */

/* A cluster that becomes empty is discarded by one bio, then it is free. */
static void whole_cluster_is_discarded_once(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	fill_clusters(test, 2);
	free_cluster(area, 0);
	swap_area_settle(area);
	swap_rule(test, "an emptied cluster is discarded once");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:*");
	SWAP_EXPECT_BIOS(test, area->disk, "D0:0+%u", swap_cluster_slots());
	SWAP_EXPECT_LISTS(test, area, "free:2,3,0 full:1");
	swap_area_settle(area);
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* Slots may be freed in any order; the last one triggers the discard. */
static void last_slot_triggers_the_discard(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 1);
	swap_free_slots(swap_entry_at(area, 0, 100), n - 100);
	swap_free_slots(swap_entry_at(area, 0, 0), 99);
	swap_area_settle(area);
	swap_rule(test, "a cluster with a slot in use is not discarded");
	SWAP_EXPECT_DECISIONS(test, area, "F0:100.. F0:0+99");
	swap_free_slot(swap_entry_at(area, 0, 99));
	swap_area_settle(area);
	swap_rule(test, "freeing its last slot discards a cluster");
	SWAP_EXPECT_DECISIONS(test, area, "F0:99 D0:*");
}

/* Several clusters are discarded one by one, in the order they became empty. */
static void clusters_are_discarded_in_order(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int n = swap_cluster_slots();

	fill_clusters(test, 3);
	/* One range: the worker cannot run before both are empty. */
	swap_free_slots(swap_entry_at(area, 1, 0), 2 * n);
	swap_area_settle(area);
	swap_rule(test, "one discard per cluster, the first emptied first");
	SWAP_EXPECT_DECISIONS(test, area, "F1:* F2:* D1:* D2:*");
	SWAP_EXPECT_BIOS(test, area->disk, "D1:0+%u D2:0+%u", n, n);
	SWAP_EXPECT_LISTS(test, area, "free:3,1,2 full:0");
}

/* A cluster of which only a few slots were used is discarded whole. */
static void barely_used_cluster_is_discarded(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);

	swap_alloc_many(test, 3, NULL);
	swap_free_slots(swap_entry_at(area, 0, 0), 3);
	swap_area_settle(area);
	swap_rule(test, "the whole cluster is discarded, however little was used");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+3 F0:0+3 D0:*");
}

/* A cluster is discarded each time it becomes empty. */
static void every_emptying_is_discarded(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	unsigned int i;

	swap_rule(test, "one discard each time a cluster is emptied");
	for (i = 0; i < 3; i++) {
		swap_alloc_many(test, UINT_MAX, NULL);
		swap_area_settle(area);
		free_cluster(area, 0);
		swap_area_settle(area);
		SWAP_EXPECT_DECISIONS(test, area, "A0:* F0:* D0:*");
	}
}

/* The header, a bad slot and the end of the area keep their clusters from being empty. */
static void cluster_with_a_bad_slot_is_never_discarded(struct kunit *test)
{
	unsigned long bad[] = { 2 * swap_cluster_slots() - 1, 0 };
	struct swap_area *area = AREA_ON(test, .clusters = 2, .tail_slots = 5,
					 .use_cluster0 = true, .bad_slots = bad);
	unsigned int n = swap_cluster_slots();

	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_settle(area);
	swap_decisions_skip(test);
	swap_free_slots(swap_entry_at(area, 0, 1), n - 1);
	swap_free_slots(swap_entry_at(area, 1, 0), n - 1);
	swap_free_slots(swap_entry_at(area, 2, 0), 5);
	swap_area_settle(area);
	swap_rule(test, "no discard of a cluster with the header, a bad slot or the end in it");
	SWAP_EXPECT_DECISIONS(test, area, "F0:1.. F1:0+%u F2:0+5", n - 1);
	SWAP_EXPECT_LISTS(test, area, "nonfull:0,1,2");
}

/* A discard removes the data of its own cluster only. */
static void neighbours_keep_their_data(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test);
	unsigned int n = swap_cluster_slots();
	struct user_memory *mem = user_memory_swapped(test, 2 * n);

	/* Pages that are written to give their slots back. */
	user_fill(mem, 0, n);
	swap_area_settle(area);
	KUNIT_EXPECT_FALSE_MSG(test, fake_disk_has(area->disk, swap_slot_at(area, 0, n - 1)),
			       "rule: the emptied cluster is discarded");
	KUNIT_EXPECT_TRUE_MSG(test, fake_disk_has(area->disk, swap_slot_at(area, 1, 0)),
			      "rule: no slot of another cluster is discarded");
	USER_EXPECT_INTACT(test, mem);
}

/*
 * Before reuse
 */

/* While its discard is in flight, a cluster is on no list and gives no slots. */
static void no_slot_of_a_cluster_being_discarded(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);

	fill_clusters(test, 2);
	swap_area_settle(area);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_DISCARD));
	free_cluster(area, 0);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	swap_rule(test, "a cluster being discarded is on no list and gives no slot");
	SWAP_EXPECT_LISTS(test, area, "full:1");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc(test).val, 0UL,
			    "rule: a cluster gives no slot before its discard completes");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:*");
	fake_disk_release(area->disk);
	swap_area_settle(area);
	SWAP_EXPECT_LISTS(test, area, "free:0 full:1");
	swap_alloc(test);
	swap_rule(test, "a discarded cluster is free");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
}

/* A current cluster that became empty is not used further before its discard. */
static void current_cluster_is_discarded_too(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);

	swap_alloc_many(test, 3, NULL);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_DISCARD));
	swap_free_slots(swap_entry_at(area, 0, 0), 3);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	swap_alloc(test);
	fake_disk_release(area->disk);
	swap_rule(test, "an emptied current cluster is not used before its discard");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+3 F0:0+3 D0:* A1:0");
}

struct discards_seen {
	unsigned int nr;
	unsigned int atomic;
};

static void see_discard(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct discards_seen *seen = ctx;

	if (bio->op != FAKE_DISK_DISCARD)
		return;
	seen->nr++;
	seen->atomic += bio->atomic;
}

/*
 * "mm, swap: do not perform synchronous discard during allocation": if the only
 * cluster left waits for its discard, the allocation issues the discard once,
 * where it may sleep, and takes the cluster. (The cluster is more than half of
 * the area. Nearly full, older kernels would reclaim and let the worker in.)
 */
static void full_device_discards_at_once(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1, .tail_slots = 100);
	/* A worker may still discard when the stack of the case is gone. */
	struct discards_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	struct folio *folio;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_settle(area);
	swap_decisions_skip(test);
	fake_disk_on_bio(area->disk, see_discard, seen);
	folio = free_cluster_and_alloc(test, area);
	swap_area_settle(area);
	swap_rule(test, "the discard first, once, then the slot");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:* A0:0");
	KUNIT_EXPECT_EQ_MSG(test, seen->nr, 1U, "rule: one discard per emptied cluster");
	KUNIT_EXPECT_EQ_MSG(test, seen->atomic, 0U,
			    "rule: no allocation waits for a discard in atomic context");
	swap_folio_del_put(folio);
}

/* The same if the waiting cluster is on another area. */
static void another_area_discards_at_once(struct kunit *test)
{
	struct swap_area *high = AREA_ON(test, .clusters = 1,
					 .swap_flags = SWAP_DISCARD_PAGES | SWAP_FLAG_PREFER | 9);
	struct swap_area *low = AREA_ON(test, .clusters = 1,
					.swap_flags = SWAP_DISCARD_PAGES | SWAP_FLAG_PREFER | 1);
	struct folio *folio;

	fill_clusters(test, 2);
	swap_area_settle(high);
	swap_area_settle(low);
	folio = free_cluster_and_alloc(test, low);
	swap_rule(test, "all areas are searched for clusters to discard");
	SWAP_EXPECT_DECISIONS(test, NULL, "b/F0:* b/D0:* b/A0:0");
	swap_folio_del_put(folio);
}

/* A free cluster is preferred to one that waits for its discard. */
static void free_cluster_before_a_waiting_one(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	struct folio *folio;

	fill_clusters(test, 2);
	folio = free_cluster_and_alloc(test, area);
	swap_area_settle(area);
	swap_rule(test, "an allocation discards only if nothing else is left");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* A2:0 D0:*");
	swap_folio_del_put(folio);
}

/*
 * Errors
 */

/* A failed discard loses no cluster: discards are advice. */
static void failed_discard_loses_no_cluster(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);

	fill_clusters(test, 2);
	swap_area_settle(area);
	fake_disk_fail_nth(area->disk, FAKE_DISK_DISCARD, 1, BLK_STS_IOERR);
	free_cluster(area, 0);
	swap_area_settle(area);
	swap_rule(test, "after a failed discard the cluster is free");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:*x");
	SWAP_EXPECT_LISTS(test, area, "free:0 full:1");
	swap_alloc_many(test, UINT_MAX, NULL);
	swap_area_settle(area);
	free_cluster(area, 0);
	swap_area_settle(area);
	swap_rule(test, "the next time it is discarded again");
	SWAP_EXPECT_DECISIONS(test, area, "A0:* F0:* D0:*");
}

/* The same if an allocation waits for the discard. */
static void failed_discard_at_once_gives_the_slot(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 1);
	struct folio *folio;

	fill_clusters(test, 1);
	swap_area_settle(area);
	fake_disk_fail_nth(area->disk, FAKE_DISK_DISCARD, 1, BLK_STS_NOTSUPP);
	folio = free_cluster_and_alloc(test, area);
	swap_rule(test, "an allocation takes the cluster even if its discard fails");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:*x A0:0");
	swap_folio_del_put(folio);
}

/* A failed discard of the whole area fails neither swapon nor later discards. */
static void failed_discard_at_swapon(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD_DISCARD, .clusters = 1 });

	fake_disk_fail_nth(area->disk, FAKE_DISK_DISCARD, 1, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapon(area, SWAP_FLAG_DISCARD), 0,
			    "rule: a failed discard of the area does not fail swapon");
	use_and_empty(test, area);
	swap_rule(test, "a failed discard of the area changes nothing");
	SWAP_EXPECT_DECISIONS(test, area, "D-1:1..x D0:*x A0:0 F0:0 D0:*");
}

/*
 * The flags of swapon
 */

struct discard_policy {
	SWAP_PARAM_NAME;
	int swap_flags;
	bool at_swapon;
	bool when_freed;
};

static const struct discard_policy policies[] = {
	{ .name = "none" },
	{ .name = "both", .swap_flags = SWAP_FLAG_DISCARD, .at_swapon = true, .when_freed = true },
	{ .name = "pages", .swap_flags = SWAP_DISCARD_PAGES, .when_freed = true },
	{ .name = "once", .swap_flags = DISCARD_ONCE, .at_swapon = true },
	{ .name = "once and pages", .swap_flags = DISCARD_ONCE | SWAP_DISCARD_PAGES,
	  .at_swapon = true },
	{ .name = "pages alone", .swap_flags = SWAP_FLAG_DISCARD_PAGES },
	{ .name = "once alone", .swap_flags = SWAP_FLAG_DISCARD_ONCE },
};

SWAP_PARAMS(policy, policies);

/* The flags ask for a discard of the area, except its header, of freed clusters, or both. */
static void swapon_flags_choose_the_discards(struct kunit *test)
{
	const struct discard_policy *policy = swap_param(test);
	struct swap_area *area = AREA_ON(test, .clusters = 1, .swap_flags = policy->swap_flags);

	swap_rule(test, "swapon discards the whole area except its header, if asked to");
	if (policy->at_swapon)
		SWAP_EXPECT_BIOS(test, area->disk, "D-1:1+%u", 2 * swap_cluster_slots() - 1);
	else
		SWAP_EXPECT_BIOS(test, area->disk, "");
	swap_decisions_skip(test);
	use_and_empty(test, area);
	swap_rule(test, "freed clusters are discarded, if asked for");
	SWAP_EXPECT_DECISIONS(test, area, policy->when_freed ? "A0:0 F0:0 D0:*" : "A0:0 F0:0");
}

/* A disk that does not support discards gets none, whatever the flags. */
static void disk_without_discard_gets_none(struct kunit *test)
{
	const struct discard_policy *policy = swap_param(test);
	struct swap_area *area = AREA_ON(test, .disk = &FAKE_DISK_SSD, .clusters = 1,
					 .swap_flags = policy->swap_flags);

	use_and_empty(test, area);
	swap_rule(test, "no discard to a disk that does not support it");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 F0:0");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

static const struct fake_disk_profile hdd_discard = {
	.name = "hdd+discard", .rotational = true, .discard = true,
};

/* A rotational disk without clusters, on older kernels, has nothing to discard. */
static void rotational_disk_discards_by_cluster(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .disk = &hdd_discard, .clusters = 1);

	use_and_empty(test, area);
	swap_rule(test, "freed clusters are discarded on devices that have clusters");
	SWAP_EXPECT_DECISIONS(test, area,
			      swap_has(CLUSTERS_EVERYWHERE) ? "A0:0 F0:0 D0:*" : "A0:0 F0:0");
}

static void synchronous_disk_discards_too(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .disk = &FAKE_DISK_ZRAM_DISCARD, .clusters = 1);

	use_and_empty(test, area);
	swap_rule(test, "a synchronous disk is discarded like any other");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 F0:0 D0:*");
}

/* A file in two extents; the second cluster lies in both. */
static struct swap_area *file_on(struct kunit *test, int swap_flags)
{
	static struct fake_fs_extent extents[3];
	unsigned int n = swap_cluster_slots();
	struct swap_area *area;

	extents[0] = (struct fake_fs_extent){ .block = 4 * n, .nr = n + 10 };
	extents[1] = (struct fake_fs_extent){ .block = n, .nr = 2 * n - 10 };
	area = fake_fs_prepare(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD_DISCARD, .extents = extents });
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, swap_flags), 0);
	return area;
}

/* A swap file is discarded extent by extent, without its header. */
static void swap_file_is_discarded_by_extent(struct kunit *test)
{
	unsigned int n = swap_cluster_slots();
	struct swap_area *area = file_on(test, SWAP_FLAG_DISCARD);

	swap_rule(test, "swapon discards each extent of the file, without the header");
	SWAP_EXPECT_BIOS(test, area->disk, "D4:1+%u D1:0+%u", n + 9, 2 * n - 10);
	fill_clusters(test, 1);
	free_cluster(area, 1);
	swap_area_settle(area);
	swap_rule(test, "a cluster in two extents is discarded in two parts");
	SWAP_EXPECT_BIOS(test, area->disk, "D5:0+10 D1:0+%u", n - 10);
}

/* If the discard of an extent fails, those after it are not discarded. */
static void failed_discard_stops_at_its_extent(struct kunit *test)
{
	struct swap_area *area = file_on(test, SWAP_DISCARD_PAGES);

	fill_clusters(test, 1);
	fake_disk_fail_nth(area->disk, FAKE_DISK_DISCARD, 1, BLK_STS_IOERR);
	free_cluster(area, 1);
	swap_area_settle(area);
	swap_rule(test, "a failed discard stops at its extent");
	SWAP_EXPECT_BIOS(test, area->disk, "D5:0+10");
}

/*
 * Reclaim and swapoff
 */

/* A cluster that reclaim empties is discarded like any other. */
static void reclaimed_cluster_is_discarded(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 3);
	unsigned int i;

	SWAP_REQUIRE(test, RECLAIM_FULL);
	for (i = 0; i < swap_cluster_slots(); i++)
		swap_alloc_cached(test, NULL);
	swap_decisions_skip(test);
	swap_kunit_reclaim_full(area->si, false);
	swap_area_settle(area);
	swap_rule(test, "a cluster that reclaim emptied is discarded");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:*");
	SWAP_EXPECT_LISTS(test, area, "free:1,2,0");
}

/* swapoff waits for pending discards. */
static void swapoff_waits_for_discards(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);
	struct swapoff_thread off;

	fill_clusters(test, 1);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_DISCARD));
	free_cluster(area, 0);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	swapoff_start(&off, area);
	swap_area_wait_dying(area);
	/* A swapoff that does not wait would return now. */
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off), "rule: swapoff waits for discards");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ(test, swapoff_wait(&off), 0);
	swap_rule(test, "pending discards are complete when swapoff returns");
	SWAP_EXPECT_DECISIONS(test, area, "F0:* D0:*");
}

/* Slots that swapoff frees are not discarded. */
static void swapoff_adds_no_discard(struct kunit *test)
{
	struct swap_area *area = AREA_ON(test, .clusters = 2);

	user_memory_swapped(test, 1);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	swap_rule(test, "slots freed by swapoff are not discarded");
	SWAP_EXPECT_DECISIONS(test, area, "R0:0 F0:0");
}

static struct kunit_case swap_discard_cases[] = {
	KUNIT_CASE(whole_cluster_is_discarded_once),
	KUNIT_CASE(last_slot_triggers_the_discard),
	KUNIT_CASE(clusters_are_discarded_in_order),
	KUNIT_CASE(barely_used_cluster_is_discarded),
	KUNIT_CASE(every_emptying_is_discarded),
	KUNIT_CASE(cluster_with_a_bad_slot_is_never_discarded),
	KUNIT_CASE(neighbours_keep_their_data),
	KUNIT_CASE(no_slot_of_a_cluster_being_discarded),
	KUNIT_CASE(current_cluster_is_discarded_too),
	KUNIT_CASE(full_device_discards_at_once),
	KUNIT_CASE(another_area_discards_at_once),
	KUNIT_CASE(free_cluster_before_a_waiting_one),
	KUNIT_CASE(failed_discard_loses_no_cluster),
	KUNIT_CASE(failed_discard_at_once_gives_the_slot),
	KUNIT_CASE(failed_discard_at_swapon),
	KUNIT_CASE_PARAM(swapon_flags_choose_the_discards, policy_gen_params),
	KUNIT_CASE_PARAM(disk_without_discard_gets_none, policy_gen_params),
	KUNIT_CASE(rotational_disk_discards_by_cluster),
	KUNIT_CASE(synchronous_disk_discards_too),
	KUNIT_CASE(swap_file_is_discarded_by_extent),
	KUNIT_CASE(failed_discard_stops_at_its_extent),
	KUNIT_CASE(reclaimed_cluster_is_discarded),
	KUNIT_CASE(swapoff_waits_for_discards),
	KUNIT_CASE(swapoff_adds_no_discard),
	{}
};

SWAP_KUNIT_SUITE(swap_discard, swap_discard_cases);

MODULE_DESCRIPTION("KUnit suite of discards by the swap slot allocator");
MODULE_LICENSE("GPL");
