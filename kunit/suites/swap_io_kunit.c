// SPDX-License-Identifier: GPL-2.0
/*
 * page_io.c: what is written and read, how it is split into bios, what is
 * counted, and what remains after an error.
 */
#include "swap_fixture.h"

static const struct swap_device io_devices[] = { SWAP_DEVICES_ALL() };

SWAP_PARAMS(io_device, io_devices);

/* An area on the device of this case; the discards of swapon are skipped. */
static struct swap_area *io_area(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);

	fake_disk_forget_bios(area->disk);
	swap_decisions_skip(test);
	return area;
}

/* The word that a slot on the disk is filled with. */
static u64 io_on_disk(struct swap_area *area, unsigned int cluster, unsigned int slot)
{
	return *(u64 *)fake_disk_page(area->disk, swap_slot_at(area, cluster, slot));
}

/* How a run of slots is split: up to 32 pages a bio if the kernel merges, else one. */
static const char *io_bios(struct kunit *test, char op, unsigned int slot, unsigned int nr,
			   bool merged)
{
	char *text = kunit_kzalloc(test, nr * 12 + 1, GFP_KERNEL);
	unsigned int pages, len = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (; nr; nr -= pages, slot += pages) {
		pages = merged ? min(nr, 32U) : 1;
		len += sprintf(text + len, "%s%c0:%u", len ? " " : "", op, slot);
		if (pages > 1)
			len += sprintf(text + len, "+%u", pages);
	}
	return text;
}

/* A page reads back what was written to it, and so does its slot on the disk. */
static void data_read_equals_data_written(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_new(test, 40);
	unsigned int page;

	user_fill(mem, 0, 40);
	user_page_out(mem, 0, 40);
	user_reclaim_cached(mem, 0, 40);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), 40U);
	for (page = 0; page < 40; page++) {
		KUNIT_EXPECT_FALSE(test, user_page_cached(mem, page));
		KUNIT_EXPECT_EQ_MSG(test, io_on_disk(area, 0, page), mem->value[page],
				    "rule: a slot on the disk holds the data of its page: slot %u",
				    page);
	}
	USER_EXPECT_INTACT(test, mem);
}

/* Up to 32 pages of consecutive slots are one bio, except on a synchronous device. */
static void writes_are_merged_into_bios(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_new(test, 70);

	user_fill(mem, 0, 70);
	user_page_out(mem, 0, 70);
	SWAP_EXPECT_BIOS(test, area->disk, "%s",
			 io_bios(test, 'W', 0, 70,
				 swap_has(WRITE_BATCHED) && !swap_area_synchronous(area)));
}

/* A bio crosses the end of a cluster if the slots do. */
static void write_crosses_clusters(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 8);
	unsigned int last = swap_cluster_slots() - 4;

	SWAP_REQUIRE(test, WRITE_BATCHED);
	swap_alloc_many(test, last, NULL);
	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	SWAP_EXPECT_BIOS(test, area->disk, "W0:%u+8", last);
}

/* Bad slots between slots 0, 1 and 4, 5. */
static const unsigned long io_gap[] = { 2, 3, 0 };

/* A gap between slots ends the bio. */
static void write_ends_at_a_gap(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .bad_slots = io_gap });
	struct user_memory *mem = user_memory_new(test, 4);

	user_fill(mem, 0, 4);
	user_page_out(mem, 0, 4);
	/* Older kernels skip every other slot if no whole cluster is free. */
	SWAP_EXPECT_BIOS(test, area->disk, swap_has(WRITE_BATCHED) ? "W0:0+2 W0:4+2" :
			 swap_has(CLUSTER_ALLOCATOR) ? "W0:0 W0:1 W0:4 W0:5" :
			 "W0:0 W0:4 W0:6 W0:8");
	user_reclaim_cached(mem, 0, 4);
	USER_EXPECT_INTACT(test, mem);
}

static void io_slots_0_and_1_bad(union swap_header *header)
{
	header->info.badpages[header->info.nr_badpages++] = swap_cluster_slots();
	header->info.badpages[header->info.nr_badpages++] = swap_cluster_slots() + 1;
}

/* Two areas: the first has slots 0 and 1 only, the second lacks those two. */
static void io_two_areas(struct kunit *test, struct swap_area **a, struct swap_area **b)
{
	*a = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 2, .swap_flags = SWAP_FLAG_PREFER | 9 });
	*b = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 6, .mangle = io_slots_0_and_1_bad,
		.swap_flags = SWAP_FLAG_PREFER | 5 });
}

/* Consecutive slots on two devices are two bios, one to each device. */
static void write_ends_at_another_device(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *a, *b;

	io_two_areas(test, &a, &b);
	user_fill(mem, 0, 4);
	user_page_out(mem, 0, 4);
	/* Older kernels skip every other slot here. */
	SWAP_EXPECT_BIOS(test, a->disk, swap_has(WRITE_BATCHED) ? "W0:0+2" :
			 swap_has(CLUSTER_ALLOCATOR) ? "W0:0 W0:1" : "W0:0");
	SWAP_EXPECT_BIOS(test, b->disk, swap_has(WRITE_BATCHED) ? "W0:2+2" :
			 swap_has(CLUSTER_ALLOCATOR) ? "W0:2 W0:3" : "W0:2 W0:4 W0:3");
}

/* The same for reads: a window over two devices is two bios. */
static void read_ends_at_another_device(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *a, *b;

	io_two_areas(test, &a, &b);
	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	fake_disk_forget_bios(a->disk);
	fake_disk_forget_bios(b->disk);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	SWAP_EXPECT_BIOS(test, a->disk, swap_has(READ_BATCHED) ? "R0:0+2" :
			 swap_has(CLUSTER_ALLOCATOR) ? "R0:0 R0:1" : "R0:0");
	SWAP_EXPECT_BIOS(test, b->disk, swap_has(READ_BATCHED) ? "R0:2+2" :
			 swap_has(CLUSTER_ALLOCATOR) ? "R0:2 R0:3" : "R0:2 R0:4 R0:3");
	USER_EXPECT_INTACT(test, mem);
}

/*
 * A readahead window is one bio if the kernel merges. With the synchronous bypass
 * there is no window on a synchronous device.
 */
static void reads_are_merged_into_bios(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct folio *folio;

	swap_alloc_many(test, 32, NULL);
	swap_kunit_set_page_cluster(5);
	swap_kunit_set_readahead_hits(30);
	folio = swap_read_slot(swap_entry_at(area, 0, 5));
	KUNIT_ASSERT_NOT_NULL(test, folio);
	folio_put(folio);
	SWAP_EXPECT_BIOS(test, area->disk, "%s",
			 swap_area_synchronous(area) && swap_has(SYNC_READAHEAD_BYPASS) ? "R0:5" :
			 io_bios(test, 'R', 0, 32, swap_has(READ_BATCHED)));
}

/* A free slot inside the window ends the bio. */
static void read_ends_at_a_gap(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct folio *folio;

	swap_alloc_many(test, 8, NULL);
	swap_free_slot(swap_entry_at(area, 0, 3));
	swap_kunit_set_readahead_hits(6);
	folio = swap_read_slot(swap_entry_at(area, 0, 5));
	KUNIT_ASSERT_NOT_NULL(test, folio);
	folio_put(folio);
	SWAP_EXPECT_BIOS(test, area->disk, swap_has(READ_BATCHED) ? "R0:0+3 R0:4+4" :
			 "R0:0 R0:1 R0:2 R0:4 R0:5 R0:6 R0:7");
}

struct io_wait {
	bool sync;
	bool async;
	bool atomic;
};

static void io_see_wait(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct io_wait *wait = ctx;

	if (bio->sync)
		wait->sync = true;
	else
		wait->async = true;
	wait->atomic |= bio->atomic;
}

/* Only on a synchronous device does the submitter wait for its bio. */
static void synchronous_device_is_waited_for(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area *area = io_area(test);
	struct io_wait wait = { };

	fake_disk_on_bio(area->disk, io_see_wait, &wait);
	user_fill(mem, 0, 4);
	user_page_out(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, wait.sync, swap_area_synchronous(area), "writes");
	KUNIT_EXPECT_EQ_MSG(test, wait.async, !swap_area_synchronous(area), "writes");
	wait.sync = false;
	wait.async = false;
	user_reclaim_cached(mem, 0, 4);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	KUNIT_EXPECT_EQ_MSG(test, wait.sync, swap_area_synchronous(area), "reads");
	KUNIT_EXPECT_EQ_MSG(test, wait.async, !swap_area_synchronous(area), "reads");
	KUNIT_EXPECT_FALSE_MSG(test, wait.atomic,
			       "rule: no bio is submitted in atomic context");
}

/*
 * "mm: count zeromap read and set for swapout and swapin": a zero-filled page
 * needs no bio and has counters of its own.
 */
static void zero_page_needs_no_disk(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_new(test, 2);
	unsigned long out, in, zero_out, zero_in;

	SWAP_REQUIRE(test, ZEROMAP);
	user_write(mem, 0, 0);
	user_write(mem, 1, 0);
	out = swap_vmstat(PSWPOUT);
	in = swap_vmstat(PSWPIN);
	zero_out = swap_vmstat(SWPOUT_ZERO);
	zero_in = swap_vmstat(SWPIN_ZERO);
	user_swap_out(mem, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWPOUT_ZERO) - zero_out, 2UL,
			    "rule: swap-out of a zero page counts in SWPOUT_ZERO");
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem), "a zero page reads zero");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWPIN_ZERO) - zero_in, 2UL,
			    "rule: swap-in of a zero page counts in SWPIN_ZERO");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPOUT), out,
			    "rule: a zero page does not count in PSWPOUT");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPIN), in,
			    "rule: a zero page does not count in PSWPIN");
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* One word that is not zero makes a page not zero-filled, wherever it is. */
static void one_word_makes_a_page_not_zero(struct kunit *test)
{
	static const unsigned int words[] = { 0, 1, 255, 510, 511 };
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, ARRAY_SIZE(words));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		user_write(mem, i, 0);
		user_write_word(mem, i, words[i], 1);
	}
	user_swap_out(mem, 0, ARRAY_SIZE(words));
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		u64 *page = fake_disk_page(area->disk, swap_slot_at(area, 0, i));

		KUNIT_EXPECT_EQ_MSG(test, page[words[i]], 1ULL,
				    "rule: a page with a non-zero word is written: word %u",
				    words[i]);
	}
}

/* A zero page between others ends their bio. */
static void zero_page_ends_a_bio(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 4);

	SWAP_REQUIRE(test, ZEROMAP);
	user_fill(mem, 0, 4);
	user_write(mem, 1, 0);
	user_page_out(mem, 0, 4);
	SWAP_EXPECT_BIOS(test, area->disk, swap_has(WRITE_BATCHED) ? "W0:0 W0:2+2" :
			 "W0:0 W0:2 W0:3");
	user_reclaim_cached(mem, 0, 4);
	USER_EXPECT_INTACT(test, mem);
}

/* If a slot is written several times, with zeroes or data, the last write counts. */
static void zero_mark_follows_the_data(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_new(test, 1);
	static const u64 values[] = { 0, 0x1111, 0, 0, 0x2222, 0x3333 };
	unsigned int i;

	SWAP_REQUIRE(test, ZEROMAP);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		user_write(mem, 0, values[i]);
		user_page_out(mem, 0, 1);
		user_reclaim_cached(mem, 0, 1);
		KUNIT_EXPECT_EQ_MSG(test, swp_offset(user_entry(mem, 0)), area->log.base,
				    "this case needs the same slot each time");
		/* A read fault: the folio keeps its slot. */
		user_fault(mem, 0);
		KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
				      "zeroes or data, the last write counts, %u", i);
	}
}

/* Each page that is read or written is counted once. */
static void pages_are_counted(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_new(test, 8);
	unsigned long out = swap_vmstat(PSWPOUT), in = swap_vmstat(PSWPIN);

	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	user_reclaim_cached(mem, 0, 8);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPOUT) - out, 8UL,
			    "rule: each page written counts once in PSWPOUT");
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPIN) - in, 8UL,
			    "rule: each page read counts once in PSWPIN");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 8U);
}

/* A failed read is SIGBUS: nothing is mapped, and the slot keeps its data. */
static void read_error_is_sigbus(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_swapped(test, 1);
	unsigned long in = swap_vmstat(PSWPIN);
	vm_fault_t ret;

	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 1, BLK_STS_IOERR);
	ret = user_fault(mem, 0);
	KUNIT_EXPECT_TRUE_MSG(test, ret & VM_FAULT_SIGBUS,
			      "rule: a failed read is SIGBUS; the fault returned %x", ret);
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 0), USER_PAGE_SWAPPED,
			    "rule: a page whose read failed is not mapped");
	if (swap_has(READ_BATCHED))
		KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(PSWPIN), in,
				    "rule: a failed read is not counted");
	/* Without the failed folio, the slot is read again. */
	user_reclaim_cached(mem, 0, 1);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: a failed read does not harm the slot");
}

/* If a whole window fails, so does its target, and none of it is mapped. */
static void failed_window_maps_nothing(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	struct user_memory *mem = user_memory_swapped(test, 8);

	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, 0) & VM_FAULT_SIGBUS);
	KUNIT_EXPECT_EQ(test, user_pages_swapped(mem), 8U);
	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_OK);
	user_reclaim_cached(mem, 0, 8);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: a failed read does not harm the slot");
}

/* After a failed write the page stays in memory, dirty, and is written again. */
static void write_error_keeps_the_page(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_new(test, 2);

	user_fill(mem, 0, 2);
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_IOERR);
	user_page_out(mem, 0, 2);
	user_reclaim_cached(mem, 0, 2);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, 0) && user_page_cached(mem, 1),
			      "rule: a page whose write failed stays in memory");
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_OK);
	swap_decisions_skip(test);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: a failed write loses no data");
	SWAP_EXPECT_DECISIONS(test, area, swap_has(SYNC_SWAPIN_CACHED) &&
			      swap_area_synchronous(area) ? "F0:0+2" : "");
	user_page_out(mem, 0, 2);
	user_reclaim_cached(mem, 0, 2);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 0),
			       "rule: a failed write is retried");
	USER_EXPECT_INTACT(test, mem);
}

/*
 * "mm/swapfile: unuse_pte can map random data if swap read fails": swapoff marks a
 * page it cannot read as lost.
 */
static void swapoff_marks_a_page_it_cannot_read(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_new(test, 2);
	u64 value;

	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 1, BLK_STS_IOERR);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff continues after a slot it cannot read");
	KUNIT_ASSERT_EQ_MSG(test, user_page_is(mem, 0), USER_PAGE_POISON,
			    "rule: a page whose read failed is marked, not mapped");
	KUNIT_EXPECT_EQ(test, user_read(mem, 0, &value), -EFAULT);
}

/*
 * "mm: fix unexpected zeroed page mapping with zram swap": reading a shared slot
 * does not free it on the device.
 */
static void read_keeps_a_shared_slot(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	struct user_memory *mem = user_memory_swapped(test, 1);
	swp_entry_t entry;

	entry = user_share_slot(mem, 0);
	swap_decisions_skip(test);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_FREE), 0U,
			    "rule: the device keeps a slot that has references");
	KUNIT_EXPECT_EQ(test, swp_swapcount(entry), 1);
	KUNIT_EXPECT_EQ_MSG(test, io_on_disk(area, 0, 0), mem->value[0],
			    "rule: a slot in use keeps its data");
	user_memory_exit(mem);
	swap_free_slot(entry);
}

/*
 * A page under writeback is changed in place, unless the device needs stable
 * writes: then the writer gets a copy.
 */
static void stable_page_under_write_is_copied(struct kunit *test)
{
	struct swap_area *area = io_area(test);
	bool stable = fake_disk_profile(area->disk)->stable_writes;
	struct user_memory *mem = user_memory_new(test, 1);

	if (swap_area_synchronous(area))
		kunit_skip(test, "a synchronous device has no pages under writeback");
	user_write(mem, 0, 0x1111);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 0, 1);
	KUNIT_ASSERT_EQ(test, fake_disk_held(area->disk), 1U);
	user_write(mem, 0, 0x2222);
	KUNIT_EXPECT_EQ_MSG(test, fake_disk_held(area->disk), 1U,
			    "rule: a write to a page under writeback does not wait");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ_MSG(test, io_on_disk(area, 0, 0), stable || !swap_has(WRITE_IN_PLACE) ?
			    0x1111ULL : 0x2222ULL,
			    "rule: a page under writeback changes in place only if the device allows it");
	user_page_out(mem, 0, 1);
	user_reclaim_cached(mem, 0, 1);
	USER_EXPECT_INTACT(test, mem);
}

struct io_warmth {
	SWAP_PARAM_NAME;
	bool workingset;
};

static const struct io_warmth io_warmths[] = { { "cold" }, { "workingset", .workingset = true } };

SWAP_PARAMS(io_warmth, io_warmths);

static void io_see_stall(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	if (bio->op == FAKE_DISK_READ)
		*(bool *)ctx = swap_kunit_in_memstall();
}

/*
 * "mm: page_io: fix psi memory pressure error on cold swapins": reading a page is a
 * memory stall only if the page was in the workingset.
 */
static void stall_is_for_the_workingset(struct kunit *test)
{
	const struct io_warmth *warmth = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 1);
	bool stalled = false;

	user_fill(mem, 0, 1);
	if (warmth->workingset)
		user_set_workingset(mem, 0);
	/* Reclaim must take it out, so that the shadow records the workingset. */
	user_page_out(mem, 0, 1);
	KUNIT_ASSERT_FALSE(test, user_page_cached(mem, 0));
	fake_disk_on_bio(area->disk, io_see_stall, &stalled);
	KUNIT_EXPECT_FALSE(test, user_fault(mem, 0) & VM_FAULT_ERROR);
	USER_EXPECT_INTACT(test, mem);
	SWAP_REQUIRE_CONFIG(test, PSI);
	KUNIT_EXPECT_EQ_MSG(test, stalled, warmth->workingset,
			    "rule: reading a page is a memory stall only if it was in the workingset");
	KUNIT_EXPECT_FALSE_MSG(test, swap_kunit_in_memstall(),
			       "rule: a memory stall ends with the read");
}

/* A bio that is not allocated is released, or the cgroup that it belongs to stays for good. */
static void bio_is_released(struct kunit *test)
{
	int live = swap_kunit_live(SWAP_LIVE_BIO_INIT);
	struct user_memory *mem = user_memory_new(test, 2);

	io_area(test);
	user_fill(mem, 0, 2);
	user_swap_out(mem, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_BIO_INIT), live,
			    "rule: a bio is released after a write");
	live = swap_kunit_live(SWAP_LIVE_BIO_INIT);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_BIO_INIT), live,
			    "rule: a bio is released after a read");
}

static struct kunit_case swap_io_cases[] = {
	KUNIT_CASE_PARAM(data_read_equals_data_written, io_device_gen_params),
	KUNIT_CASE_PARAM(writes_are_merged_into_bios, io_device_gen_params),
	KUNIT_CASE(write_crosses_clusters),
	KUNIT_CASE(write_ends_at_a_gap),
	KUNIT_CASE(write_ends_at_another_device),
	KUNIT_CASE_PARAM(reads_are_merged_into_bios, io_device_gen_params),
	KUNIT_CASE(read_ends_at_a_gap),
	KUNIT_CASE(read_ends_at_another_device),
	KUNIT_CASE_PARAM(synchronous_device_is_waited_for, io_device_gen_params),
	KUNIT_CASE_PARAM(zero_page_needs_no_disk, io_device_gen_params),
	KUNIT_CASE(one_word_makes_a_page_not_zero),
	KUNIT_CASE(zero_page_ends_a_bio),
	KUNIT_CASE(zero_mark_follows_the_data),
	KUNIT_CASE_PARAM(pages_are_counted, io_device_gen_params),
	KUNIT_CASE_PARAM(read_error_is_sigbus, io_device_gen_params),
	KUNIT_CASE(failed_window_maps_nothing),
	KUNIT_CASE_PARAM(write_error_keeps_the_page, io_device_gen_params),
	KUNIT_CASE_PARAM(swapoff_marks_a_page_it_cannot_read, io_device_gen_params),
	KUNIT_CASE_PARAM(read_keeps_a_shared_slot, io_device_gen_params),
	KUNIT_CASE_PARAM(stable_page_under_write_is_copied, io_device_gen_params),
	KUNIT_CASE_PARAM(bio_is_released, io_device_gen_params),
	KUNIT_CASE_PARAM(stall_is_for_the_workingset, io_warmth_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_io, swap_io_cases);

MODULE_DESCRIPTION("KUnit suite of swap I/O");
MODULE_LICENSE("GPL");
