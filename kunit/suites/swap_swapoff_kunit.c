// SPDX-License-Identifier: GPL-2.0
/*
 * swapoff(2): all comes back to memory, nothing stays behind; or it fails, and
 * the area is as good as before.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>
#include <linux/kdev_t.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

static const struct swap_device disks[] = { SWAP_DEVICES_ALL(.clusters = 1) };

SWAP_PARAMS(disk, disks);

/* All pages of a memory are of one kind. */
static void expect_pages(struct kunit *test, struct user_memory *mem, unsigned int first,
			 unsigned int nr, enum user_page is, const char *rule)
{
	unsigned int page;

	for (page = first; page < first + nr; page++)
		KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, page), is,
				    "rule: %s: page %u", rule, page);
}

/* As if there had never been a swap area. */
static void expect_nothing_left(struct kunit *test)
{
	struct sysinfo info = { };

	si_swapinfo(&info);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_areas_used(), 0U, "rule: swapoff gives the area back");
	KUNIT_EXPECT_EQ_MSG(test, total_swap_pages, 0L,
			    "rule: swapoff takes the area's pages away");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), 0L, "rule: swapoff leaves no free pages");
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_rotate_swap), 0,
			    "rule: swapoff counts its rotational device down");
	KUNIT_EXPECT_EQ_MSG(test, info.totalswap, 0UL, "rule: SwapTotal after swapoff");
	KUNIT_EXPECT_EQ_MSG(test, info.freeswap, 0UL, "rule: SwapFree after swapoff");
}

/* A failed swapoff leaves the area as it was, and it can be used. */
static void expect_still_on(struct kunit *test, struct swap_area *area,
			    const struct swap_area_facts *before)
{
	struct swap_area_facts now;
	swp_entry_t entry;

	KUNIT_ASSERT_TRUE_MSG(test, area->on, "rule: a failed swapoff leaves the area on");
	swap_area_facts(area, &now);
	KUNIT_EXPECT_EQ_MSG(test, now.flags, before->flags,
			    "rule: a failed swapoff leaves the area's flags as they were");
	KUNIT_EXPECT_EQ_MSG(test, now.prio, before->prio,
			    "rule: a failed swapoff leaves the area's priority as it was");
	KUNIT_EXPECT_TRUE_MSG(test, now.available,
			      "rule: a failed swapoff leaves the area available");
	KUNIT_EXPECT_EQ_MSG(test, total_swap_pages, (long)before->pages,
			    "rule: a failed swapoff leaves the pages there are");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), (long)(now.pages - now.inuse),
			    "rule: a failed swapoff leaves the free pages");
	entry = swap_alloc(test);
	KUNIT_EXPECT_NE_MSG(test, entry.val, 0UL,
			    "rule: the area can be used after a failed swapoff");
	if (entry.val)
		swap_free_slot(entry);
}

/* A swapoff on another thread has taken the pages away, and looks for who has them. */
static void wait_until_begun(struct kunit *test)
{
	unsigned long end = jiffies + 2 * HZ;

	while (total_swap_pages && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ_MSG(test, total_swap_pages, 0L,
			    "rule: swapoff takes the area's pages away at once");
}

/* All pages come back, each slot is read once, and nothing stays allocated. */
static void everything_is_given_back(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_prepare(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 24);
	int allocations;

	KUNIT_EXPECT_EQ(test, swap_swapon_path("/swapkunit-nowhere", 0), -ENOENT);
	allocations = swap_kunit_allocations();
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, device->area.swap_flags), 0);
	user_fill(mem, 0, 24);
	user_swap_out(mem, 0, 20);
	swap_decisions_skip(test);

	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: swapoff succeeds");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 20U,
			    "rule: swapoff reads each slot in use once, and no other");
	expect_pages(test, mem, 0, 24, USER_PAGE_PRESENT, "swapoff brings every page back");
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem), "rule: swapoff brings the data back");
	expect_nothing_left(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_allocations(), allocations,
			    "rule: swapoff frees all that was allocated for the area");
}

/* Often on and off, with data: no trace of it. */
static void many_times_on_and_off(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 4);
	int allocations = swap_kunit_allocations(), i;

	for (i = 0; i < 20; i++) {
		user_fill(mem, 0, 4);
		user_swap_out(mem, 0, 4);
		KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
		KUNIT_ASSERT_TRUE(test, user_data_intact(mem));
		KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_allocations(), allocations,
			    "rule: swapon and swapoff leave nothing allocated");
}

/* Every process that has pages there is looked at. */
static void pages_of_several_processes(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mem); i++) {
		mem[i] = user_memory_at(test, 0x40000000UL + i * 0x1000000UL, 8);
		user_fill(mem[i], 0, 8);
		user_swap_out(mem[i], 0, 4 + i);
	}
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	for (i = 0; i < ARRAY_SIZE(mem); i++) {
		expect_pages(test, mem[i], 0, 8, USER_PAGE_PRESENT,
			     "swapoff brings every process's pages back");
		USER_EXPECT_INTACT(test, mem[i]);
	}
}

/* A slot that several processes share comes back for each of them, read once. */
static void slots_shared_after_fork(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 4), *child[2];
	struct swap_slot_facts slot;

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	child[0] = user_memory_fork(mem);
	child[1] = user_memory_fork(child[0]);
	swap_slot_facts(area, swp_offset(user_entry(mem, 0)), &slot);
	KUNIT_ASSERT_EQ(test, slot.count, 3U);
	swap_decisions_skip(test);

	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 4U,
			    "rule: a shared slot is read once");
	expect_pages(test, mem, 0, 4, USER_PAGE_PRESENT, "a shared page comes back");
	expect_pages(test, child[0], 0, 4, USER_PAGE_PRESENT, "a shared page comes back");
	expect_pages(test, child[1], 0, 4, USER_PAGE_PRESENT, "a shared page comes back");

	/* And each still has it to itself. */
	KUNIT_ASSERT_EQ(test, user_write(child[0], 1, 0x1234), 0);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem) && user_data_intact(child[1]),
			      "rule: a page shared before swapoff is copied on write after it");
}

/* More processes than a slot's own count can hold. */
static void slot_of_very_many_processes(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 1), *child[130];
	struct swap_slot_facts slot;
	unsigned int i;
	int allocations;

	KUNIT_EXPECT_EQ(test, swap_swapon_path("/swapkunit-nowhere", 0), -ENOENT);
	allocations = swap_kunit_allocations();
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	for (i = 0; i < ARRAY_SIZE(child); i++)
		child[i] = user_memory_fork(mem);
	swap_slot_facts(area, swp_offset(user_entry(mem, 0)), &slot);
	KUNIT_ASSERT_EQ(test, slot.count, 131U);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	for (i = 0; i < ARRAY_SIZE(child); i++)
		expect_pages(test, child[i], 0, 1, USER_PAGE_PRESENT, "a shared page comes back");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_allocations(), allocations,
			    "rule: swapoff frees all that was allocated for the area");
}

/* Pages of shmem come back to the page cache. */
static void pages_of_shmem(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	struct user_memory *mem = user_memory_shmem(test, 20);

	user_fill(mem, 0, 20);
	user_swap_out(mem, 0, 18);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	expect_pages(test, mem, 0, 20, USER_PAGE_PRESENT, "swapoff brings pages of shmem back");
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: swapoff brings data of shmem back");
	expect_nothing_left(test);
}

/* Only what is in this area comes back: other areas keep theirs. */
static void other_areas_keep_their_pages(struct kunit *test)
{
	struct swap_area *a = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 8, .swap_flags = SWAP_FLAG_PREFER | 2 });
	struct swap_area *b = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .tail_slots = 20, .swap_flags = SWAP_FLAG_PREFER | 1 });
	struct user_memory *mem = user_memory_new(test, 12);
	struct user_memory *shmem = user_memory_shmem(test, 4);
	struct swap_area_facts facts;

	user_fill(mem, 0, 12);
	user_fill(shmem, 0, 4);
	user_swap_out(mem, 0, 12);
	user_swap_out(shmem, 0, 4);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(a), 0);
	expect_pages(test, mem, 0, 8, USER_PAGE_PRESENT, "swapoff brings its own pages back");
	expect_pages(test, mem, 8, 4, USER_PAGE_SWAPPED, "pages of another area stay there");
	expect_pages(test, shmem, 0, 4, USER_PAGE_SWAPPED, "pages of another area stay there");
	swap_area_facts(b, &facts);
	KUNIT_EXPECT_EQ(test, facts.inuse, 8UL);
	KUNIT_EXPECT_EQ(test, total_swap_pages, 20L);
	KUNIT_EXPECT_EQ(test, get_nr_swap_pages(), 12L);
}

/* What is in the swap cache is not read again. */
static void swap_cache_is_used(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 8);

	user_fill(mem, 0, 8);
	user_swap_out(mem, 0, 8);
	/* A fault on one of them has read its neighbours, too. */
	KUNIT_ASSERT_EQ(test, user_fault(mem, 2) & VM_FAULT_ERROR, 0U);
	KUNIT_ASSERT_TRUE(test, user_page_cached(mem, 3));
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 8U,
			    "rule: swapoff reads nothing that is in the swap cache");
	expect_pages(test, mem, 0, 8, USER_PAGE_PRESENT, "swapoff brings every page back");
}

/* Slots that only the swap cache still has are let go. */
static void slots_of_the_swap_cache_alone(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct folio *folio;
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_NE(test, swap_alloc_cached(test, &folio).val, 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff lets slots go that only the swap cache has");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 0U,
			    "rule: without a read");
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_swapcache(folio),
			       "rule: no folio is in the swap cache of an area that is off");
	expect_nothing_left(test);
}

/* Zero-filled pages come back as such, without a read where they were none. */
static void zero_pages(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 4);
	unsigned int page;

	for (page = 0; page < 4; page++)
		KUNIT_ASSERT_EQ(test, user_write(mem, page, 0), 0);
	user_swap_out(mem, 0, 4);
	swap_decisions_skip(test);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ),
			    swap_has(ZEROMAP) ? 0U : 4U, "rule: reads of zero-filled pages");
	expect_pages(test, mem, 0, 4, USER_PAGE_PRESENT, "swapoff brings every page back");
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: zero pages are zero after swapoff");
}

/* What zswap has is taken from there. */
static void pages_in_zswap(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 4);
	unsigned long stored;

	SWAP_REQUIRE_CONFIG(test, CONFIG_ZSWAP);
	stored = swap_kunit_zswap_stored();
	user_fill(mem, 0, 4);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 4);
	swap_kunit_set_zswap(false);
	KUNIT_ASSERT_EQ(test, swap_kunit_zswap_stored(), stored + 4);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 0U,
			    "rule: swapoff reads nothing that zswap has");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), stored,
			    "rule: zswap has nothing of an area that is off");
	expect_pages(test, mem, 0, 4, USER_PAGE_PRESENT, "swapoff brings every page back");
	USER_EXPECT_INTACT(test, mem);
}

/* A page that cannot be read is lost, and said to be; its neighbours are not. */
static void read_error_poisons_the_page(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 4);
	unsigned int page;
	u64 value;

	swap_set_page_cluster(0);
	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 2, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: a read error does not keep the area on");
	for (page = 0; page < 4; page++) {
		if (page == 1)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, user_read(mem, page, &value), 0, "rule: page %u", page);
		KUNIT_EXPECT_EQ_MSG(test, value, mem->value[page], "rule: data of page %u", page);
	}
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 1), USER_PAGE_POISON,
			    "rule: a page that swapoff could not read is poisoned, never other data");
	KUNIT_EXPECT_NE_MSG(test, user_fault(mem, 1) & VM_FAULT_ERROR, 0U,
			    "rule: and a fault on it is an error");
	expect_nothing_left(test);
}

/* The same on a disk that reads ahead, with every read failing. */
static void failing_disk(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 10);

	user_fill(mem, 0, 10);
	user_swap_out(mem, 0, 10);
	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: a failing disk can be switched off");
	expect_pages(test, mem, 0, 10, USER_PAGE_POISON,
		     "a page that swapoff could not read is poisoned, never other data");
	expect_nothing_left(test);
}

/* A page of shmem that cannot be read is lost to all who map it. */
static void failing_disk_with_shmem(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_shmem(test, 4);
	struct swapoff_thread off;
	unsigned int page;
	u64 value;

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	swapoff_start(&off, area);
	swapoff_wait_briefly(&off);
	if (!swapoff_done(&off)) {
		/* It tries for ever: let it have an end. */
		fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_OK);
		swapoff_wait(&off);
		KUNIT_FAIL(test, "rule: a failing disk can be switched off");
		return;
	}
	KUNIT_ASSERT_EQ_MSG(test, swapoff_wait(&off), 0,
			    "rule: a failing disk can be switched off");
	for (page = 0; page < 4; page++)
		KUNIT_EXPECT_EQ_MSG(test, user_read(mem, page, &value), -EFAULT,
				    "rule: page %u of shmem is lost, never other data", page);
	expect_nothing_left(test);
}

/* swapoff with a signal pending stops where something is in use. */
static void interrupted_before_it_began(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area_facts before;
	int err;

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	swap_area_facts(area, &before);
	swap_decisions_skip(test);
	swap_signal(true);
	err = swap_area_swapoff(area);
	swap_signal(false);
	KUNIT_EXPECT_EQ_MSG(test, err, -EINTR, "rule: a signal interrupts swapoff");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 0U);
	expect_pages(test, mem, 0, 4, USER_PAGE_SWAPPED, "an interrupted swapoff");
	expect_still_on(test, area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: the next swapoff succeeds");
	USER_EXPECT_INTACT(test, mem);
}

/* A signal in its midst: who was looked at has his pages, others have slots. */
static void signal_at_a_read(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	if (bio->op == FAKE_DISK_READ)
		swap_signal(true);
}

static void interrupted_halfway(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem[2];
	struct swap_area_facts before, after;
	int err, i;

	for (i = 0; i < 2; i++) {
		mem[i] = user_memory_at(test, 0x40000000UL + i * 0x1000000UL, 4);
		user_fill(mem[i], 0, 4);
		user_swap_out(mem[i], 0, 4);
	}
	swap_area_facts(area, &before);
	fake_disk_on_bio(area->disk, signal_at_a_read, NULL);
	err = swap_area_swapoff(area);
	fake_disk_on_bio(area->disk, NULL, NULL);
	swap_signal(false);
	KUNIT_ASSERT_EQ_MSG(test, err, -EINTR, "rule: a signal interrupts swapoff");
	swap_area_facts(area, &after);
	KUNIT_EXPECT_EQ_MSG(test, after.inuse, 4UL,
			    "rule: the process at hand is done with, the next is not begun");
	expect_still_on(test, area, &before);
	KUNIT_EXPECT_TRUE(test, user_data_intact(mem[0]) && user_data_intact(mem[1]));
}

/* Where nothing is in use, there is nothing to interrupt. */
static void empty_area_goes_off_at_once(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	int err;

	swap_signal(true);
	err = swap_area_swapoff(area);
	swap_signal(false);
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "rule: swapoff of an empty area is not interrupted");
	expect_nothing_left(test);
}

/* Memory that processes were promised is not taken away. */
static void promised_memory_keeps_it_on(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct swap_area_facts before;

	swap_area_facts(area, &before);
	swap_commit_memory(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), -ENOMEM,
			    "rule: swapoff is refused where memory was promised");
	expect_still_on(test, area, &before);
}

/* No memory for a page to come back: swapoff fails, and can be tried again. */
static void no_memory_for_a_page(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 4);
	struct swap_area_facts before;

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	swap_area_facts(area, &before);
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 3, SWAP_FAIL_ALL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), -ENOMEM,
			    "rule: swapoff fails where a page cannot come back");
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 0);
	expect_still_on(test, area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: the next swapoff succeeds");
	USER_EXPECT_INTACT(test, mem);
}

/* The same for shmem. */
static void no_memory_for_a_page_of_shmem(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_shmem(test, 4);
	struct swap_area_facts before;

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	swap_area_facts(area, &before);
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), -ENOMEM,
			    "rule: swapoff fails where a page cannot come back");
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 0);
	expect_still_on(test, area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: the next swapoff succeeds");
	USER_EXPECT_INTACT(test, mem);
}

/* A page that its process gives up while swapoff reads it is let go. */
static void give_up_at_a_read(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	if (bio->op == FAKE_DISK_READ)
		user_dontneed(ctx, 0, 1);
}

static void page_given_up_during_its_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 2);

	swap_set_page_cluster(0);
	user_fill(mem, 0, 2);
	user_swap_out(mem, 0, 2);
	fake_disk_on_bio(area->disk, give_up_at_a_read, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff minds no page given up meanwhile");
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 0), USER_PAGE_NONE,
			    "rule: a page given up does not come back");
	expect_pages(test, mem, 1, 1, USER_PAGE_PRESENT, "swapoff brings every other page back");
	expect_nothing_left(test);
}

/* No memory for a page that nobody needs any more is no error. */
static void give_up_all(void *ctx)
{
	struct user_memory *mem = ctx;

	user_dontneed(mem, 0, mem->pages);
}

static void page_given_up_for_want_of_memory(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 2);

	user_fill(mem, 0, 2);
	user_swap_out(mem, 0, 2);
	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1, give_up_all, mem);
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: no memory for a slot that is free by now is no error");
	expect_pages(test, mem, 0, 2, USER_PAGE_NONE, "a page given up does not come back");
}

/* Slots whose owner cannot be found, as of one that exits: swapoff goes on looking. */
static void last_owner_is_waited_for(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 2 });
	unsigned int cluster = swap_cluster_slots();
	struct swapoff_thread off;
	swp_entry_t last;

	if (IS_ENABLED(CONFIG_UML_TIME_TRAVEL_SUPPORT))
		kunit_skip(test,
			   "CONFIG_UML_TIME_TRAVEL_SUPPORT: no time passes while swapoff searches");
	/* The search lets others run between clusters, so the slot is in a later one. */
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, cluster + 1, NULL), cluster + 1);
	swap_free_slots(swap_entry_at(area, 0, 0), cluster);
	last = swap_entry_at(area, 1, 0);
	swapoff_start(&off, area);
	wait_until_begun(test);
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off), "rule: swapoff leaves no slot in use");
	swap_free_slot(last);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: and ends with the last");
	expect_nothing_left(test);
}

/*
 * While it goes on, an area gives no slots, not even to who was allocating
 * there and whose hint still leads to a cluster with room. What is in use still
 * counts in /proc, as used.
 */
struct midst {
	struct kunit *test;
	struct swap_area *area;
	bool seen;
	struct swap_area_facts facts;
	struct sysinfo info;
	swp_entry_t entry;
};

static void look_in_the_midst(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct midst *midst = ctx;

	if (midst->seen || bio->op != FAKE_DISK_READ)
		return;
	midst->seen = true;
	swap_area_facts(midst->area, &midst->facts);
	si_swapinfo(&midst->info);
	midst->entry = swap_alloc(midst->test);
	if (midst->entry.val)
		swap_free_slot(midst->entry);
}

static void area_going_off(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 4);
	struct midst midst = { .test = test, .area = area };

	user_fill(mem, 0, 4);
	user_swap_out(mem, 0, 4);
	fake_disk_on_bio(area->disk, look_in_the_midst, &midst);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_ASSERT_TRUE(test, midst.seen);
	KUNIT_EXPECT_EQ_MSG(test, midst.entry.val, 0UL,
			    "rule: no slot is allocated in an area that goes off");
	KUNIT_EXPECT_EQ_MSG(test, midst.facts.flags & SWP_WRITEOK, 0UL,
			    "rule: an area that goes off is not SWP_WRITEOK");
	KUNIT_EXPECT_FALSE_MSG(test, midst.facts.available,
			       "rule: an area that goes off is not available");
	KUNIT_EXPECT_EQ_MSG(test, midst.info.totalswap, 4UL,
			    "rule: SwapTotal: what is still in use");
	KUNIT_EXPECT_EQ_MSG(test, midst.info.freeswap, 0UL, "rule: SwapFree: nothing");
}

/* A fault pins the area while it reads, and swapoff waits for it. */
static void fault_pins_the_area(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 1);
	struct user_fault_thread *fault;
	struct swapoff_thread off;

	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	if (swap_has(AREA_USERS))
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_users(area->si), 0UL,
				    "rule: nobody pins an idle area");
	fake_disk_hold(area->disk, BIT(FAKE_DISK_READ));
	fault = user_fault_start(mem, 0);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	/* That read alone is held: swapoff's own would hide that it does not wait. */
	fake_disk_hold(area->disk, 0);
	if (swap_has(AREA_USERS))
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_users(area->si), 1UL,
				    "rule: a fault pins the area while its read is under way");

	swapoff_start(&off, area);
	wait_until_begun(test);
	if (!swap_has(AREA_USERS))
		swapoff_wait_briefly(&off);
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off),
			       "rule: swapoff waits for a read under way");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(fault) & VM_FAULT_ERROR, 0U);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: and ends after it");
	USER_EXPECT_INTACT(test, mem);
}

/* swapoff waits for whoever has pinned the area, and lets nobody pin it any more. */
static void pins_are_waited_for(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &device->area);
	swp_entry_t entry = swap_entry_at(area, 0, 0);
	struct swap_info_struct *si = area->si;
	struct swapoff_thread off;

	SWAP_REQUIRE(test, AREA_USERS);
	KUNIT_ASSERT_TRUE(test, swap_pin_area(area));
	swapoff_start(&off, area);
	KUNIT_EXPECT_TRUE(test, swap_area_wait_dying(area));
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(entry),
			       "rule: an area that goes off is not pinned");
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off),
			       "rule: swapoff waits for who has pinned it");
	swap_unpin_area(si);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: and ends after it");
	expect_nothing_left(test);
}

/* Writes under way are waited for: the page is used only when it is written. */
static void writes_are_waited_for(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 2);
	struct swapoff_thread off;

	user_fill(mem, 0, 2);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 0, 2);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	swapoff_start(&off, area);
	wait_until_begun(test);
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off),
			       "rule: swapoff waits for a write under way");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: and ends after it");
	USER_EXPECT_INTACT(test, mem);
}

/* nr_rotate_swap counts up and down by what the area was at swapon. */
struct flip_param {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
};

static const struct flip_param flips[] = {
	{ "from hdd to ssd", &FAKE_DISK_HDD },
	{ "from ssd to hdd", &FAKE_DISK_SSD },
};

SWAP_PARAMS(flip, flips);

static void disk_changes_its_nature(struct kunit *test)
{
	const struct flip_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 1 });

	fake_disk_set_rotational(area->disk, !param->disk->rotational);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_rotate_swap), 0,
			    "rule: nr_rotate_swap is 0 with no area on, whatever the device says by now");
	/* Said once. */
	atomic_set(&nr_rotate_swap, 0);
}

/* What swapoff refuses. */
struct refusal_param {
	SWAP_PARAM_NAME;
	const char *path;
	umode_t mode;
	int err;
};

static const struct refusal_param refusals[] = {
	{ "nothing there", .path = "/swapkunit-nowhere", .err = -ENOENT },
	{ "bad address", .err = -EFAULT },
	{ "directory", .mode = S_IFDIR, .err = -EISDIR },
	{ "file that is no swap area", .mode = S_IFREG, .err = -EINVAL },
};

SWAP_PARAMS(refusal, refusals);

static void what_is_not_on_stays_off(struct kunit *test)
{
	const struct refusal_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct swap_area_facts before;

	swap_area_facts(area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(param->mode ?
						    swap_node_new(test, param->mode, 0) :
						    param->path),
			    param->err, "rule: swapoff of: %s", param->name);
	expect_still_on(test, area, &before);
}

static void device_that_is_not_on(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD_1);

	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(fake_disk_path(area->disk)), -EINVAL,
			    "rule: swapoff of a device that was never on is refused");
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(fake_disk_path(area->disk)), -EINVAL,
			    "rule: swapoff of a device that is off already is refused");
}

/* By another name of the same device it is the same area. */
static void device_by_another_name(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	dev_t dev = disk_devt(fake_disk_gendisk(area->disk));

	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(swap_node_new(test, S_IFBLK, dev)), 0,
			    "rule: swapoff goes by the device, not by its name");
	area->on = false;
	area->si = NULL;
	expect_nothing_left(test);
}

static void swapoff_needs_privilege(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct swap_area_facts before;

	swap_area_facts(area, &before);
	swap_drop_privilege(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), -EPERM,
			    "rule: swapoff is refused without CAP_SYS_ADMIN");
	expect_still_on(test, area, &before);
}

static struct kunit_case swap_swapoff_cases[] = {
	KUNIT_CASE_PARAM(everything_is_given_back, disk_gen_params),
	KUNIT_CASE(many_times_on_and_off),
	KUNIT_CASE(pages_of_several_processes),
	KUNIT_CASE(slots_shared_after_fork),
	KUNIT_CASE(slot_of_very_many_processes),
	KUNIT_CASE_PARAM(pages_of_shmem, disk_gen_params),
	KUNIT_CASE(other_areas_keep_their_pages),
	KUNIT_CASE(swap_cache_is_used),
	KUNIT_CASE(slots_of_the_swap_cache_alone),
	KUNIT_CASE(zero_pages),
	KUNIT_CASE(pages_in_zswap),
	KUNIT_CASE(read_error_poisons_the_page),
	KUNIT_CASE_PARAM(failing_disk, disk_gen_params),
	KUNIT_CASE(failing_disk_with_shmem),
	KUNIT_CASE_PARAM(interrupted_before_it_began, disk_gen_params),
	KUNIT_CASE(interrupted_halfway),
	KUNIT_CASE_PARAM(empty_area_goes_off_at_once, disk_gen_params),
	KUNIT_CASE(promised_memory_keeps_it_on),
	KUNIT_CASE_PARAM(no_memory_for_a_page, disk_gen_params),
	KUNIT_CASE(no_memory_for_a_page_of_shmem),
	KUNIT_CASE(page_given_up_during_its_read),
	KUNIT_CASE(page_given_up_for_want_of_memory),
	KUNIT_CASE(last_owner_is_waited_for),
	KUNIT_CASE_PARAM(area_going_off, disk_gen_params),
	KUNIT_CASE_PARAM(fault_pins_the_area, disk_gen_params),
	KUNIT_CASE_PARAM(pins_are_waited_for, disk_gen_params),
	KUNIT_CASE(writes_are_waited_for),
	KUNIT_CASE_PARAM(disk_changes_its_nature, flip_gen_params),
	KUNIT_CASE_PARAM(what_is_not_on_stays_off, refusal_gen_params),
	KUNIT_CASE(device_that_is_not_on),
	KUNIT_CASE(device_by_another_name),
	KUNIT_CASE(swapoff_needs_privilege),
	{}
};

SWAP_KUNIT_SUITE(swap_swapoff, swap_swapoff_cases);

MODULE_DESCRIPTION("KUnit suite of swapoff(2)");
MODULE_LICENSE("GPL");
