// SPDX-License-Identifier: GPL-2.0
/*
 * The fixture itself, which every other suite relies on.
 */
#include <linux/bug.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include "swap_fixture.h"

static const struct swap_device fixture_devices[] = { SWAP_DEVICES_ALL() };

SWAP_PARAMS(fixture_device, fixture_devices);

/* A new area is empty and of the requested size; swapoff removes it. */
static void area_is_switched_on_and_off(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.pages, 4UL * swap_cluster_slots());
	KUNIT_EXPECT_EQ(test, facts.inuse, 0UL);
	KUNIT_EXPECT_EQ(test, total_swap_pages, 4L * swap_cluster_slots());
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, total_swap_pages, 0L);
}

static unsigned long fixture_slab_pages(void)
{
	swap_fold_counters();
	return global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B) +
	       global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B);
}

/* A hundred cycles of swapon and swapoff leak no memory. */
static void hundred_swapons_leak_nothing(struct kunit *test)
{
	/* Large enough for a leak of the area's own structures to show. */
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 256 });
	unsigned long before = 0;
	unsigned int i;

	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "CONFIG_KASAN delays the freeing of slab pages");
	/* The log would keep a note of each swapon until the case ends. */
	swap_decisions_pause(true);
	for (i = 0; i < 101; i++) {
		if (i == 1)
			before = fixture_slab_pages();
		KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
		KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	}
	swap_decisions_pause(false);
	KUNIT_EXPECT_LT_MSG(test, fixture_slab_pages(), before + 16,
			    "rule: swapoff frees what swapon allocated");
}

/* On each device, pages read back what was written to them. */
static void data_is_read_back(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 4);
	unsigned int page;

	for (page = 0; page < 4; page++) {
		KUNIT_EXPECT_EQ(test, user_page_is(mem, page), USER_PAGE_SWAPPED);
		KUNIT_EXPECT_TRUE(test, fake_disk_has(area->disk,
						      swp_offset(user_entry(mem, page))));
	}
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 3), USER_PAGE_PRESENT);
}

/* The log holds what the kernel did: slots written, slots read. */
static void log_holds_what_happened(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 2);

	user_fill(mem, 0, 2);
	SWAP_EXPECT_DECISIONS(test, area, "");
	user_swap_out(mem, 0, 2);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0 A0:1 W0:1");
	user_fault(mem, 1);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 1U);
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_WRITE), 0U);
	SWAP_EXPECT_DECISIONS(test, area, "R0:1!1 F0:1");
	user_memory_exit(mem);
}

struct fixture_note {
	enum swap_decision what;
	unsigned int cluster;
	unsigned int slot;
	unsigned int nr;
	unsigned int order;
	bool failed;
	bool step;
};

struct fixture_notation {
	SWAP_PARAM_NAME;
	const char *text;
	struct fixture_note notes[5];	/* the last one is empty */
	unsigned int target;
};

/* name, text, { { what, cluster, slot, nr, order }, ... } */
static const struct fixture_notation fixture_notations[] = {
	{ "one slot", "A0:5", { { SWAP_ALLOC, 0, 5, 1 } } },
	{ "letters", "F1:2 D1:2 S1:2 L1:2", {
		{ SWAP_FREE, 1, 2, 1 }, { SWAP_DISCARD, 1, 2, 1 },
		{ SWAP_ZSWAP_STORE, 1, 2, 1 }, { SWAP_ZSWAP_LOAD, 1, 2, 1 } } },
	{ "neighbours grow", "A0:5+3", { { SWAP_ALLOC, 0, 5, 1 }, { SWAP_ALLOC, 0, 6, 2 } } },
	{ "descending stay apart", "A0:6 A0:5", {
		{ SWAP_ALLOC, 0, 6, 1 }, { SWAP_ALLOC, 0, 5, 1 } } },
	{ "allocations grow over steps", "A0:5+2", {
		{ SWAP_ALLOC, 0, 5, 1 }, { SWAP_ALLOC, 0, 6, 1, .step = true } } },
	{ "bios grow within a step", "R0:5+8", { { SWAP_READ, 0, 5, 4 }, { SWAP_READ, 0, 9, 4 } } },
	{ "reads end with their step", "R0:5+4 R0:9+4", {
		{ SWAP_READ, 0, 5, 4 }, { SWAP_READ, 0, 9, 4, .step = true } } },
	{ "to the end of the cluster", "A2:5..", { { SWAP_ALLOC, 2, 5, UINT_MAX } } },
	{ "whole cluster", "D2:*", { { SWAP_DISCARD, 2, 0, UINT_MAX } } },
	{ "cut at clusters", "D1:* D2:0", {
		{ SWAP_DISCARD, 1, 0, UINT_MAX }, { SWAP_DISCARD, 2, 0, 1 } } },
	{ "large folio", "A0:16^4", { { SWAP_ALLOC, 0, 16, 16, 4 } } },
	{ "large folios in a row", "A0:16^4x2", {
		{ SWAP_ALLOC, 0, 16, 16, 4 }, { SWAP_ALLOC, 0, 32, 16, 4 } } },
	{ "target", "R0:18+8!20", { { SWAP_READ, 0, 18, 8 } }, .target = 20 },
	{ "target in a later bio", "R0:18+8!24", {
		{ SWAP_READ, 0, 18, 4 }, { SWAP_READ, 0, 22, 4 } }, .target = 24 },
	{ "target beside the window", "R0:18+8", { { SWAP_READ, 0, 18, 8 } }, .target = 30 },
	{ "writes have no target", "W0:18+8", { { SWAP_WRITE, 0, 18, 8 } }, .target = 20 },
	{ "failed", "R0:5x R0:6", {
		{ SWAP_READ, 0, 5, 1, .failed = true }, { SWAP_READ, 0, 6, 1 } } },
};

SWAP_PARAMS(fixture_notation, fixture_notations);

/* Decisions are written in the notation of decisions.h. */
static void notation(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	const struct fixture_notation *notation = swap_param(test);
	const struct fixture_note *note;

	if (notation->target)
		swap_step(&area->log, swap_slot_at(area, 0, notation->target));
	for (note = notation->notes; note->nr; note++) {
		if (note->step)
			swap_step(NULL, SWAP_NO_TARGET);
		swap_log_decision(&area->log, note->what,
				  swap_slot_at(area, note->cluster, note->slot),
				  min(note->nr, swap_cluster_slots() - note->slot), note->order,
				  note->failed);
	}
	SWAP_EXPECT_DECISIONS(test, area, "%s", notation->text);
}

/* An expectation consumes the log: the next one sees only newer decisions. */
static void expectation_consumes_the_log(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);

	swap_log_decision(&area->log, SWAP_ALLOC, area->log.base, 1, 0, false);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_log_decision(&area->log, SWAP_ALLOC, area->log.base + 1, 1, 0, false);
	SWAP_EXPECT_DECISIONS(test, area, "A0:1");
	swap_log_decision(&area->log, SWAP_FREE, area->log.base + 1, 1, 0, false);
	swap_decisions_skip(test);
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_decisions_pause(true);
	swap_log_decision(&area->log, SWAP_FREE, area->log.base + 1, 1, 0, false);
	swap_decisions_pause(false);
	SWAP_EXPECT_DECISIONS(test, area, "");
}

/* With several areas each decision names its area, unless only one is asked for. */
static void decisions_name_their_area(struct kunit *test)
{
	struct swap_area *a = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 5 });
	struct swap_area *b = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 9 });
	swp_entry_t entry = swap_alloc(test);

	KUNIT_EXPECT_PTR_EQ(test, swap_area_of(entry), b);
	SWAP_EXPECT_DECISIONS(test, NULL, "b/A0:0");
	swap_log_decision(&a->log, SWAP_DISCARD, a->log.base, 1, 0, false);
	swap_free_slot(entry);
	SWAP_EXPECT_DECISIONS(test, NULL, "a/D0:0 b/F0:0");
	entry = swap_alloc(test);
	SWAP_EXPECT_DECISIONS(test, a, "");
	swap_free_slot(entry);
}

/*
 * The artefact has notes about rules, areas, lists and faults between the decisions.
 * They split no run, and no expectation sees them.
 */
static void artefact_has_notes(struct kunit *test)
{
	static const unsigned long bad[] = { 5, 0 };
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 2, .tail_slots = 9, .bad_slots = bad });
	char *got, *lists = swap_lists_note(area->si, &area->log), want[160];

	swap_log_decision(&area->log, SWAP_ALLOC, area->log.base, 1, 0, false);
	swap_step(&area->log, swap_slot_at(area, 0, 1));
	swap_log_decision(&area->log, SWAP_ALLOC, area->log.base + 1, 1, 0, false);
	swap_log_decision(&area->log, SWAP_READ, area->log.base, 2, 0, false);
	swap_step(&area->log, SWAP_NO_TARGET);
	swap_rule(test, "a rule without an expectation");
	swap_rule(test, "a rule");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+2 R0:0+2!1");
	swap_log_decision(&area->log, SWAP_FREE, area->log.base, 2, 0, false);
	swap_rule(test, "another");
	SWAP_EXPECT_DECISIONS(test, area, "F0:0+2");

	snprintf(want, sizeof(want),
		 "\"a rule\" {a 2x%u+9 bad 0:5} {a %s} A0:0+2 !0:1 R0:0+2!1 \"another\" F0:0+2",
		 swap_cluster_slots(), lists);
	got = swap_decisions_artefact();
	KUNIT_ASSERT_NOT_NULL(test, got);
	swap_expect_text(test, __FILE__, __LINE__, "artefact", want, got);
	kvfree(got);
	kfree(lists);
}

/* Slots without memory: their counts, and the lists of their clusters. */
static void slots_are_counted_and_listed(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct swap_slot_facts slot;
	swp_entry_t entry;

	SWAP_EXPECT_LISTS(test, area, "free:0,1,2,3");
	entry = swap_alloc(test);
	swap_slot_facts(area, swp_offset(entry), &slot);
	KUNIT_EXPECT_EQ(test, slot.count, 1U);
	KUNIT_EXPECT_FALSE(test, slot.cached);
	KUNIT_EXPECT_EQ(test, swap_dup_slot(entry), 0);
	swap_slot_facts(area, swp_offset(entry), &slot);
	KUNIT_EXPECT_EQ(test, slot.count, 2U);
	swap_free_slot(entry);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0");
	KUNIT_EXPECT_EQ(test, swap_alloc_many(test, swap_cluster_slots() - 1, NULL),
			swap_cluster_slots() - 1);
	SWAP_EXPECT_LISTS(test, area, "free:1,2,3 full:0");
	swap_free_slots(swap_entry_at(area, 0, 0), swap_cluster_slots());
	SWAP_EXPECT_LISTS(test, area, "free:1,2,3,0");
}

/* A slot that only its cached folio holds, and a bad slot. */
static void cached_and_bad_slots_are_seen(struct kunit *test)
{
	static const unsigned long bad[] = { 3, 0 };
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .bad_slots = bad });
	struct swap_slot_facts slot;

	swap_slot_facts(area, swap_slot_at(area, 0, 3), &slot);
	KUNIT_EXPECT_TRUE(test, slot.bad);
	swap_slot_facts(area, swp_offset(swap_alloc_cached(test, NULL)), &slot);
	KUNIT_EXPECT_TRUE(test, slot.cached);
	KUNIT_EXPECT_EQ(test, slot.count, 0U);
}

/* A failed read shows in the log and in the fault; the next read succeeds. */
static void failed_read_is_marked(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_swapped(test, 1);

	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 1, BLK_STS_IOERR);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, 0) & VM_FAULT_SIGBUS);
	SWAP_EXPECT_DECISIONS(test, area, "R0:0!0x");
	user_reclaim_cached(mem, 0, 1);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	USER_EXPECT_INTACT(test, mem);
}

/* Only the nth request of its kind fails. */
static void only_the_nth_request_fails(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 3);
	unsigned int page;

	user_fill(mem, 0, 3);
	fake_disk_fail_nth(area->disk, FAKE_DISK_WRITE, 2, BLK_STS_IOERR);
	for (page = 0; page < 3; page++) {
		user_page_out(mem, page, 1);
		user_reclaim_cached(mem, page, 1);
	}
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0 A0:1 W0:1x A0:2 W0:2");
	KUNIT_EXPECT_TRUE(test, user_page_cached(mem, 1));
	KUNIT_EXPECT_FALSE(test, fake_disk_has(area->disk, swap_slot_at(area, 0, 1)));
	USER_EXPECT_INTACT(test, mem);
}

/* A held write reaches the disk when it is released. */
static void held_write_waits(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 2);
	unsigned long first = swap_slot_at(area, 0, 0);

	user_fill(mem, 0, 2);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 0, 1);
	user_page_out(mem, 1, 1);
	KUNIT_EXPECT_EQ(test, fake_disk_held(area->disk), 2U);
	KUNIT_EXPECT_FALSE(test, fake_disk_has(area->disk, first));
	KUNIT_EXPECT_TRUE(test, fake_disk_release_one(area->disk));
	KUNIT_EXPECT_TRUE(test, fake_disk_has(area->disk, first));
	KUNIT_EXPECT_FALSE(test, fake_disk_has(area->disk, first + 1));
	fake_disk_release(area->disk);
	KUNIT_EXPECT_TRUE(test, fake_disk_has(area->disk, first + 1));
	KUNIT_EXPECT_FALSE(test, fake_disk_release_one(area->disk));
}

/* A fault sleeps while its read is held. */
static void held_read_blocks_the_fault(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_swapped(test, 1);
	struct user_fault_thread *fault;

	fake_disk_hold(area->disk, BIT(FAKE_DISK_READ));
	fault = user_fault_start(mem, 0);
	KUNIT_EXPECT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	KUNIT_EXPECT_FALSE(test, user_fault_done(fault));
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_SWAPPED);
	fake_disk_release(area->disk);
	KUNIT_EXPECT_FALSE(test, user_fault_wait(fault) & VM_FAULT_ERROR);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_PRESENT);
}

/* A disk with latency serves one request after the other. */
static void latency_is_served_in_order(struct kunit *test)
{
	static const struct fake_disk_profile slow = { .name = "slow", .latency_us = 2000 };
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &slow });
	struct user_memory *mem = user_memory_new(test, 2);
	ktime_t start;

	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	user_fill(mem, 0, 2);
	start = ktime_get();
	user_page_out(mem, 0, 1);
	user_page_out(mem, 1, 1);
	user_reclaim_cached(mem, 0, 2);
	KUNIT_EXPECT_GE(test, ktime_us_delta(ktime_get(), start), 2 * 2000LL);
	SWAP_EXPECT_DECISIONS(test, area, "A0:0 W0:0 A0:1 W0:1");
	KUNIT_EXPECT_FALSE(test, user_page_cached(mem, 1));
}

struct fixture_seen {
	struct fake_bio bio;
	unsigned int bios;
	unsigned long freed;
};

static void fixture_see_bio(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct fixture_seen *seen = ctx;

	seen->bio = *bio;
	seen->bios++;
}

static void fixture_see_free(struct fake_disk *disk, unsigned long offset, void *ctx)
{
	struct fixture_seen *seen = ctx;

	seen->freed = offset;
}

/* Hooks see each bio, and each slot that the kernel frees. */
static void hooks_see_bios_and_frees(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 1);
	struct fixture_seen seen = { };

	fake_disk_on_bio(area->disk, fixture_see_bio, &seen);
	fake_disk_on_free(area->disk, fixture_see_free, &seen);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	KUNIT_EXPECT_EQ(test, seen.bios, 1U);
	KUNIT_EXPECT_EQ(test, seen.bio.op, FAKE_DISK_WRITE);
	KUNIT_EXPECT_EQ(test, seen.bio.offset, swap_slot_at(area, 0, 0));
	KUNIT_EXPECT_EQ(test, seen.bio.nr, 1U);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:0");
	SWAP_EXPECT_BIOS(test, area->disk, "");
	user_memory_exit(mem);
	KUNIT_EXPECT_EQ(test, seen.freed, swap_slot_at(area, 0, 0));
}

struct fixture_turn {
	SWAP_PARAM_NAME;
};

static const struct fixture_turn fixture_turns[] = { { "first" }, { "again" } };

SWAP_PARAMS(fixture_turn, fixture_turns);

/* Whatever a case changes, the next one starts from the same state. */
static void every_case_starts_alike(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, swap_kunit_readahead_hits(), 0);
	KUNIT_EXPECT_TRUE(test, swap_kunit_use_vma_readahead());
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(0x1000), 1U);
	KUNIT_EXPECT_FALSE(test, swap_kunit_set_zswap(true));
	swap_kunit_set_vma_readahead(false);
	swap_kunit_set_readahead_hits(9);
	KUNIT_EXPECT_EQ(test, swap_kunit_cluster_window(0x5000), 8U);
	swap_kunit_set_readahead_hits(7);
	swap_kunit_set_page_cluster(5);
}

/* A case may leave areas on, slots in use and bios held; its end undoes them. */
static void case_may_leave_all_behind(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 4);

	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 3, NULL), 3U,
			    "left behind by the previous turn");
	KUNIT_EXPECT_EQ(test, swap_dup_slot(swap_entry_at(area, 0, 1)), 0);
	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 2);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 2, 2);
}

/* A page, a page of zswap's kind of cache, and an address space are each missed. */
static void leftovers_are_seen(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("swap_kunit_fixture", 64, 0, 0, NULL);
	void *object = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;
	unsigned long page = __get_free_page(GFP_KERNEL);
	struct mm_struct *mm = mm_alloc();
	char left[128];

	swap_leftovers(left, sizeof(left));
	if (mm)
		mmput(mm);
	free_page(page);
	if (object)
		kmem_cache_free(cache, object);
	KUNIT_EXPECT_NOT_NULL(test, strstr(left, "swap +1"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(left, "mm_struct +1"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(left, "pages that nothing accounts for +"));
	kmem_cache_destroy(cache);
}

static noinline void fixture_warn_once(void)
{
	WARN_ONCE(1, "a warning that a case of swap-kunit expects");
}

/* A case may expect a kernel report; once-only reports are re-armed for each case. */
static void report_is_expected(struct kunit *test)
{
	swap_expect_report(test, "WARNING:");
	fixture_warn_once();
}

static void fixture_warning_work(struct work_struct *work)
{
	fixture_warn_once();
}

/* A report from a worker belongs to the case that runs at the time. */
static void report_from_a_worker_is_seen(struct kunit *test)
{
	struct work_struct work;

	swap_expect_report(test, "WARNING:");
	INIT_WORK_ONSTACK(&work, fixture_warning_work);
	schedule_work(&work);
	flush_work(&work);
	destroy_work_on_stack(&work);
}

static struct kunit_case swap_fixture_cases[] = {
	KUNIT_CASE_PARAM(area_is_switched_on_and_off, fixture_device_gen_params),
	KUNIT_CASE(hundred_swapons_leak_nothing),
	KUNIT_CASE_PARAM(data_is_read_back, fixture_device_gen_params),
	KUNIT_CASE(log_holds_what_happened),
	KUNIT_CASE_PARAM(notation, fixture_notation_gen_params),
	KUNIT_CASE(expectation_consumes_the_log),
	KUNIT_CASE(decisions_name_their_area),
	KUNIT_CASE(artefact_has_notes),
	KUNIT_CASE(slots_are_counted_and_listed),
	KUNIT_CASE(cached_and_bad_slots_are_seen),
	KUNIT_CASE(failed_read_is_marked),
	KUNIT_CASE(only_the_nth_request_fails),
	KUNIT_CASE(held_write_waits),
	KUNIT_CASE(held_read_blocks_the_fault),
	KUNIT_CASE(latency_is_served_in_order),
	KUNIT_CASE(hooks_see_bios_and_frees),
	KUNIT_CASE_PARAM(every_case_starts_alike, fixture_turn_gen_params),
	KUNIT_CASE_PARAM(case_may_leave_all_behind, fixture_turn_gen_params),
	KUNIT_CASE(leftovers_are_seen),
	KUNIT_CASE_PARAM(report_is_expected, fixture_turn_gen_params),
	KUNIT_CASE(report_from_a_worker_is_seen),
	{}
};

SWAP_KUNIT_SUITE(swap_fixture, swap_fixture_cases);

MODULE_DESCRIPTION("KUnit suite of swap-kunit's own fixture");
MODULE_LICENSE("GPL");
