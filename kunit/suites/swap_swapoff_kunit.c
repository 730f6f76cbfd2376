// SPDX-License-Identifier: GPL-2.0
/*
 * swapoff(2): every page returns to memory and nothing is left behind; or it
 * fails, and the area stays as it was.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>
#include <linux/kdev_t.h>
#include <linux/mman.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

static const struct swap_device disks[] = { SWAP_DEVICES_ALL(.clusters = 1) };

SWAP_PARAMS(disk, disks);

/* Have a signal pending for the calling thread, or none. */
static void set_signal(bool pending)
{
	if (pending) {
		allow_signal(SIGINT);
		send_sig(SIGINT, current, 1);
	} else {
		flush_signals(current);
		disallow_signal(SIGINT);
	}
}

static void uncommit_memory(void *arg)
{
	sysctl_overcommit_memory = (long)arg;
	vm_unacct_memory(totalram_pages() * 2);
}

/* Processes were promised all memory there is, swap included, without overcommit. */
static void commit_all_memory(struct kunit *test)
{
	swap_defer(test, uncommit_memory, (void *)(long)sysctl_overcommit_memory);
	sysctl_overcommit_memory = OVERCOMMIT_NEVER;
	vm_acct_memory(totalram_pages() * 2);
}

/* Each of some pages is in this state. */
static void expect_pages(struct kunit *test, struct user_memory *mem, unsigned int first,
			 unsigned int nr, enum user_page is, const char *rule)
{
	unsigned int page;

	for (page = first; page < first + nr; page++)
		KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, page), is,
				    "rule: %s: page %u", rule, page);
}

/* No area, no pages, nothing counted. */
static void expect_nothing_left(struct kunit *test)
{
	struct sysinfo info = { };

	si_swapinfo(&info);
	swap_expect_no_areas(test, "after swapoff");
	KUNIT_EXPECT_EQ_MSG(test, info.totalswap, 0UL, "rule: SwapTotal is 0 after swapoff");
	KUNIT_EXPECT_EQ_MSG(test, info.freeswap, 0UL, "rule: SwapFree is 0 after swapoff");
}

/* A failed swapoff leaves the area as it was, and usable. */
static void expect_still_on(struct kunit *test, struct swap_area *area,
			    const struct swap_area_facts *before)
{
	struct swap_area_facts now;
	swp_entry_t entry;

	KUNIT_ASSERT_TRUE_MSG(test, area->on, "rule: a failed swapoff leaves the area on");
	swap_area_facts(area, &now);
	KUNIT_EXPECT_EQ_MSG(test, now.flags, before->flags,
			    "rule: a failed swapoff restores the area's flags");
	KUNIT_EXPECT_EQ_MSG(test, now.prio, before->prio,
			    "rule: a failed swapoff restores the area's priority");
	KUNIT_EXPECT_TRUE_MSG(test, now.available,
			      "rule: a failed swapoff makes the area available again");
	KUNIT_EXPECT_EQ_MSG(test, total_swap_pages, (long)before->pages,
			    "rule: a failed swapoff restores total_swap_pages");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), (long)(now.pages - now.inuse),
			    "rule: a failed swapoff restores nr_swap_pages");
	entry = swap_alloc(test);
	KUNIT_EXPECT_NE_MSG(test, entry.val, 0UL,
			    "rule: the area can be allocated from after a failed swapoff");
	if (entry.val)
		swap_free_slot(entry);
}

/* Wait until a swapoff on another thread searches for the users of its slots. */
static void wait_until_begun(struct kunit *test)
{
	unsigned long end = jiffies + 2 * HZ;

	while (total_swap_pages && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ_MSG(test, total_swap_pages, 0L,
			    "rule: swapoff first subtracts the area from total_swap_pages");
}

/* Every page returns, each slot is read once, and nothing stays allocated. */
static void everything_is_freed(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_prepare(test, &device->area);
	struct user_memory *mem = user_memory_new(test, 24);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, device->area.swap_flags), 0);
	user_fill(mem, 0, 24);
	user_swap_out(mem, 0, 20);
	swap_decisions_skip(test);

	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: swapoff succeeds");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 20U,
			    "rule: swapoff reads each slot in use once, and no others");
	expect_pages(test, mem, 0, 24, USER_PAGE_PRESENT, "swapoff swaps every page in");
	USER_EXPECT_INTACT(test, mem);
	expect_nothing_left(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_SWAPFILE), allocations,
			    "rule: swapoff frees everything that swapon allocated");
}

/* Repeated swapon and swapoff, with data, leak nothing. */
static void repeated_swapoff_leaks_nothing(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 4);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE), i;

	for (i = 0; i < 20; i++) {
		user_fill(mem, 0, 4);
		user_swap_out(mem, 0, 4);
		KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
		KUNIT_ASSERT_TRUE(test, user_data_intact(mem));
		KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	}
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_SWAPFILE), allocations,
			    "rule: repeated swapon and swapoff leak nothing");
}

/* Pages of every process return. */
static void pages_of_every_process_return(struct kunit *test)
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
			     "swapoff swaps in the pages of every process");
		USER_EXPECT_INTACT(test, mem[i]);
	}
}

/* A page of one process is still known to be its own, and a shared page is not. */
static void exclusive_pages_stay_exclusive(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 1), *shared = user_memory_new(test, 1);

	if (!SWAP_API_PTE_SWP_EXCLUSIVE)
		kunit_skip(test, "this kernel does not mark pages of one process in swap entries");
	user_fill(mem, 0, 1);
	user_fill(shared, 0, 1);
	user_swap_out(mem, 0, 1);
	user_swap_out(shared, 0, 1);
	user_memory_fork(shared);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_exclusive(mem, 0),
			      "rule: a page of one process is its own after swapoff");
	KUNIT_EXPECT_FALSE_MSG(test, user_page_exclusive(shared, 0),
			       "rule: a shared page is shared after swapoff");
}

/* No process is looked through for pages in swap once nothing is in swap. */
static void processes_leave_the_list(struct kunit *test)
{
	struct swap_area *a = swap_area_on(test, &SWAP_AREA_SSD_1), *b;
	struct user_memory *mem = user_memory_swapped(test, 1), *other;

	b = swap_area_on(test, &SWAP_AREA_SSD_1);
	other = user_memory_at(test, 0x50000000UL, swap_cluster_slots());
	user_fill(other, 0, other->pages);
	user_swap_out(other, 0, other->pages);
	KUNIT_ASSERT_GT(test, swap_area_inuse(b), 0UL);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(a), 0);
	KUNIT_EXPECT_FALSE_MSG(test, list_empty(&init_mm.mmlist),
			       "rule: a process stays on the list while another area is in use");
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(b), 0);
	KUNIT_EXPECT_TRUE_MSG(test, list_empty(&init_mm.mmlist),
			      "rule: no process is on the list when nothing is in swap");
	USER_EXPECT_INTACT(test, mem);
	USER_EXPECT_INTACT(test, other);
}

/* A slot shared by several processes is read once, for all of them. */
static void shared_slots_are_read_once(struct kunit *test)
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
	expect_pages(test, mem, 0, 4, USER_PAGE_PRESENT, "swapoff swaps shared pages in");
	expect_pages(test, child[0], 0, 4, USER_PAGE_PRESENT, "swapoff swaps shared pages in");
	expect_pages(test, child[1], 0, 4, USER_PAGE_PRESENT, "swapoff swaps shared pages in");

	KUNIT_ASSERT_EQ(test, user_write(child[0], 1, 0x1234), 0);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem) && user_data_intact(child[1]),
			      "rule: a page shared before swapoff is copied on write after it");
}

/* The same with more processes than the count in a slot can hold. */
static void slot_shared_by_very_many_processes(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_new(test, 1), *child[130];
	struct swap_slot_facts slot;
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	user_fill(mem, 0, 1);
	user_swap_out(mem, 0, 1);
	for (i = 0; i < ARRAY_SIZE(child); i++)
		child[i] = user_memory_fork(mem);
	swap_slot_facts(area, swp_offset(user_entry(mem, 0)), &slot);
	KUNIT_ASSERT_EQ(test, slot.count, 131U);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	for (i = 0; i < ARRAY_SIZE(child); i++)
		expect_pages(test, child[i], 0, 1, USER_PAGE_PRESENT,
			     "swapoff swaps shared pages in");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_SWAPFILE), allocations,
			    "rule: swapoff frees everything that swapon allocated");
}

/* Pages of shmem return to the page cache. */
static void pages_of_shmem_return(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_shmem(test, 20);

	user_fill(mem, 0, 20);
	user_swap_out(mem, 0, 18);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	expect_pages(test, mem, 0, 20, USER_PAGE_PRESENT, "swapoff swaps pages of shmem in");
	USER_EXPECT_INTACT(test, mem);
	expect_nothing_left(test);
}

/* Pages on other areas stay there. */
static void other_areas_keep_their_pages(struct kunit *test)
{
	struct swap_area *a = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 8, .swap_flags = SWAP_FLAG_PREFER | 2 });
	struct swap_area *b = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .tail_slots = 20, .swap_flags = SWAP_FLAG_PREFER | 1 });
	struct user_memory *mem = user_memory_new(test, 12);
	struct user_memory *shmem = user_memory_shmem(test, 4);

	user_fill(mem, 0, 12);
	user_fill(shmem, 0, 4);
	user_swap_out(mem, 0, 12);
	user_swap_out(shmem, 0, 4);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(a), 0);
	expect_pages(test, mem, 0, 8, USER_PAGE_PRESENT, "swapoff swaps in the pages of its area");
	expect_pages(test, mem, 8, 4, USER_PAGE_SWAPPED, "pages on other areas stay there");
	expect_pages(test, shmem, 0, 4, USER_PAGE_SWAPPED, "pages on other areas stay there");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(b), 8UL);
	KUNIT_EXPECT_EQ(test, total_swap_pages, 20L);
	KUNIT_EXPECT_EQ(test, get_nr_swap_pages(), 12L);
}

/* Pages in the swap cache are not read again. */
static void pages_in_the_swap_cache_are_not_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped(test, 8);

	/* A fault on one of them reads its neighbours, too. */
	KUNIT_ASSERT_EQ(test, user_fault(mem, 2) & VM_FAULT_ERROR, 0U);
	KUNIT_ASSERT_TRUE(test, user_page_cached(mem, 3));
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 8U,
			    "rule: swapoff does not read pages that are in the swap cache");
	expect_pages(test, mem, 0, 8, USER_PAGE_PRESENT, "swapoff swaps every page in");
}

/* Slots that only the swap cache refers to are freed without a read. */
static void slots_only_in_the_swap_cache_are_freed(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct folio *folio;
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_NE(test, swap_alloc_cached(test, &folio).val, 0UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff frees slots that only the swap cache refers to");
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 0U,
			    "rule: swapoff does not read slots that only the swap cache refers to");
	KUNIT_EXPECT_FALSE_MSG(test, folio_test_swapcache(folio),
			       "rule: swapoff removes every folio from the swap cache");
	expect_nothing_left(test);
}

/* Zero-filled pages return as such, without a read where they were not written. */
static void zero_filled_pages_return(struct kunit *test)
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
			    swap_has(ZEROMAP) ? 0U : 4U,
			    "rule: swapoff reads zero-filled pages only if they were written");
	expect_pages(test, mem, 0, 4, USER_PAGE_PRESENT, "swapoff swaps every page in");
	USER_EXPECT_INTACT(test, mem);
}

/* Pages stored in zswap return from there. */
static void pages_in_zswap_return(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_new(test, 4);
	unsigned long stored;

	SWAP_REQUIRE_CONFIG(test, ZSWAP);
	stored = swap_kunit_zswap_stored();
	user_fill(mem, 0, 4);
	swap_kunit_set_zswap(true);
	user_swap_out(mem, 0, 4);
	swap_kunit_set_zswap(false);
	KUNIT_ASSERT_EQ(test, swap_kunit_zswap_stored(), stored + 4);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_READ), 0U,
			    "rule: swapoff does not read pages that zswap has");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_zswap_stored(), stored,
			    "rule: swapoff removes the pages of its area from zswap");
	expect_pages(test, mem, 0, 4, USER_PAGE_PRESENT, "swapoff swaps every page in");
	USER_EXPECT_INTACT(test, mem);
}

/* A page that cannot be read is poisoned; its neighbours are not affected. */
static void read_error_poisons_the_page(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_swapped(test, 4);
	unsigned int page;
	u64 value;

	swap_kunit_set_page_cluster(0);
	fake_disk_fail_nth(area->disk, FAKE_DISK_READ, 2, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff succeeds despite a read error");
	for (page = 0; page < 4; page++) {
		if (page == 1)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, user_read(mem, page, &value), 0,
				    "rule: other pages can be read: page %u", page);
		KUNIT_EXPECT_EQ_MSG(test, value, mem->value[page],
				    "rule: other pages keep their data: page %u", page);
	}
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 1), USER_PAGE_POISON,
			    "rule: a page that swapoff cannot read is poisoned");
	KUNIT_EXPECT_NE_MSG(test, user_fault(mem, 1) & VM_FAULT_ERROR, 0U,
			    "rule: a fault on a poisoned page fails");
	expect_nothing_left(test);
}

/* The same on every device, with all reads failing. */
static void failing_disk(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 10);

	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff succeeds on a failing disk");
	expect_pages(test, mem, 0, 10, USER_PAGE_POISON,
		     "a page that swapoff cannot read is poisoned");
	expect_nothing_left(test);
}

/* A page of shmem that cannot be read is lost. */
static void failing_disk_with_shmem(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_swapped_shmem(test, 4);
	struct swapoff_thread off;
	unsigned int page;
	u64 value;

	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	swapoff_start(&off, area);
	swapoff_wait_briefly(&off);
	if (!swapoff_done(&off)) {
		/* It retries forever: let the reads succeed. */
		fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_OK);
		swapoff_wait(&off);
		KUNIT_FAIL(test, "rule: swapoff succeeds on a failing disk");
		return;
	}
	KUNIT_ASSERT_EQ_MSG(test, swapoff_wait(&off), 0,
			    "rule: swapoff succeeds on a failing disk");
	for (page = 0; page < 4; page++)
		KUNIT_EXPECT_EQ_MSG(test, user_read(mem, page, &value), -EFAULT,
				    "rule: reading a lost page of shmem fails: page %u", page);
	expect_nothing_left(test);
}

/* A pending signal interrupts swapoff of an area with slots in use. */
static void signal_before_the_first_read(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 4);
	struct swap_area_facts before;
	int err;

	swap_area_facts(area, &before);
	set_signal(true);
	err = swap_area_swapoff(area);
	set_signal(false);
	KUNIT_EXPECT_EQ_MSG(test, err, -EINTR, "rule: a signal interrupts swapoff");
	KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_READ), 0U);
	expect_pages(test, mem, 0, 4, USER_PAGE_SWAPPED,
		     "an interrupted swapoff leaves pages swapped out");
	expect_still_on(test, area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: the next swapoff succeeds");
	USER_EXPECT_INTACT(test, mem);
}

/* Interrupted halfway: processes already scanned are swapped in, the others keep their entries. */
static void signal_at_a_read(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	if (bio->op == FAKE_DISK_READ)
		set_signal(true);
}

static void signal_during_the_first_process(struct kunit *test)
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
	set_signal(false);
	KUNIT_ASSERT_EQ_MSG(test, err, -EINTR, "rule: a signal interrupts swapoff");
	swap_area_facts(area, &after);
	KUNIT_EXPECT_EQ_MSG(test, after.inuse, 4UL,
			    "rule: an interrupted swapoff finishes the current process only");
	expect_still_on(test, area, &before);
	USER_EXPECT_INTACT(test, mem[0]);
	USER_EXPECT_INTACT(test, mem[1]);
}

/* A signal does not interrupt swapoff of an empty area. */
static void signal_and_an_empty_area(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	int err;

	set_signal(true);
	err = swap_area_swapoff(area);
	set_signal(false);
	KUNIT_EXPECT_EQ_MSG(test, err, 0,
			    "rule: a signal does not interrupt swapoff of an empty area");
	expect_nothing_left(test);
}

/* swapoff is refused if committed memory would no longer fit. */
static void committed_memory_keeps_it_on(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct swap_area_facts before;

	swap_area_facts(area, &before);
	commit_all_memory(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), -ENOMEM,
			    "rule: swapoff is refused if committed memory would not fit");
	expect_still_on(test, area, &before);
}

/* Without memory to swap a page in, swapoff fails; with memory, the next one succeeds. */
static void expect_retry_without_memory(struct kunit *test, struct swap_area *area,
					struct user_memory *mem, unsigned int nth)
{
	struct swap_area_facts before;

	swap_area_facts(area, &before);
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, nth, SWAP_FAIL_ALL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), -ENOMEM,
			    "rule: swapoff fails without memory to swap a page in");
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 0);
	expect_still_on(test, area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0, "rule: the next swapoff succeeds");
	USER_EXPECT_INTACT(test, mem);
}

static void no_memory_for_a_page(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);

	expect_retry_without_memory(test, area, user_memory_swapped(test, 4), 3);
}

static void no_memory_for_a_page_of_shmem(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct user_memory *mem = user_memory_swapped_shmem(test, 4);

	expect_retry_without_memory(test, area, mem, 1);
}

/* A page that its process unmaps while swapoff reads it does not return. */
static void unmap_at_a_read(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	if (bio->op == FAKE_DISK_READ)
		user_dontneed(ctx, 0, 1);
}

static void page_unmapped_during_its_read(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_swapped(test, 2);

	swap_kunit_set_page_cluster(0);
	fake_disk_on_bio(area->disk, unmap_at_a_read, mem);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff succeeds if a page is unmapped during its read");
	KUNIT_EXPECT_EQ_MSG(test, user_page_is(mem, 0), USER_PAGE_NONE,
			    "rule: an unmapped page does not return");
	expect_pages(test, mem, 1, 1, USER_PAGE_PRESENT, "swapoff swaps every other page in");
	expect_nothing_left(test);
}

/* An allocation failure does not matter if the slot has been freed by then. */
static void unmap_all(void *ctx)
{
	struct user_memory *mem = ctx;

	user_dontneed(mem, 0, mem->pages);
}

static void page_unmapped_before_a_failed_allocation(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM_1);
	struct user_memory *mem = user_memory_swapped(test, 2);

	swap_call_before(test, SWAP_FAIL_SWAPIN_ALLOC, 1, 1, unmap_all, mem);
	swap_fail(test, SWAP_FAIL_SWAPIN_ALLOC, 1, SWAP_FAIL_ALL);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapoff(area), 0,
			    "rule: swapoff ignores an allocation failure for a slot that is free by now");
	expect_pages(test, mem, 0, 2, USER_PAGE_NONE, "an unmapped page does not return");
}

/* swapoff keeps searching for the user of a slot that it cannot find, as of an exiting process. */
static void swapoff_waits_for_the_last_slot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 2 });
	unsigned int cluster = swap_cluster_slots();
	struct swapoff_thread off;
	swp_entry_t last;

	if (IS_ENABLED(CONFIG_UML_TIME_TRAVEL_SUPPORT))
		kunit_skip(test,
			   "CONFIG_UML_TIME_TRAVEL_SUPPORT is set: time would stand still while swapoff searches");
	/* swapoff reschedules between clusters, so the slot is in the second one. */
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, cluster + 1, NULL), cluster + 1);
	swap_free_slots(swap_entry_at(area, 0, 0), cluster);
	last = swap_entry_at(area, 1, 0);
	swapoff_start(&off, area);
	wait_until_begun(test);
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off),
			       "rule: swapoff waits while a slot is in use");
	swap_free_slot(last);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0,
			    "rule: swapoff ends when the last slot is freed");
	expect_nothing_left(test);
}

/*
 * During swapoff the area allocates no slots, even for a CPU whose current cluster is in it and
 * has room. Slots that are still in use count as used in /proc/swaps.
 */
struct swapoff_view {
	struct swap_area *area;
	bool seen;
	struct swap_area_facts facts;
	struct sysinfo info;
	swp_entry_t entry;
};

static void look_during_swapoff(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct swapoff_view *view = ctx;

	if (view->seen || bio->op != FAKE_DISK_READ)
		return;
	view->seen = true;
	swap_area_facts(view->area, &view->facts);
	si_swapinfo(&view->info);
	view->entry = swap_alloc(view->area->test);
	if (view->entry.val)
		swap_free_slot(view->entry);
}

static void no_slot_is_allocated_during_swapoff(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct swapoff_view view = { .area = area };

	user_memory_swapped(test, 4);
	fake_disk_on_bio(area->disk, look_during_swapoff, &view);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_ASSERT_TRUE(test, view.seen);
	KUNIT_EXPECT_EQ_MSG(test, view.entry.val, 0UL,
			    "rule: no slot is allocated during swapoff");
	KUNIT_EXPECT_EQ_MSG(test, view.facts.flags & SWP_WRITEOK, 0UL,
			    "rule: swapoff clears SWP_WRITEOK");
	KUNIT_EXPECT_FALSE_MSG(test, view.facts.available,
			       "rule: swapoff removes the area from the available ones");
	KUNIT_EXPECT_EQ_MSG(test, view.info.totalswap, 4UL,
			    "rule: SwapTotal counts what is still in use during swapoff");
	KUNIT_EXPECT_EQ_MSG(test, view.info.freeswap, 0UL, "rule: SwapFree is 0 during swapoff");
}

/* A fault pins the area during its read, and swapoff waits for it. */
static void fault_pins_the_area(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 1);
	struct user_fault_thread *fault;
	struct swapoff_thread off;

	if (swap_has(AREA_USERS))
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_users(area->si), 0UL,
				    "rule: an idle area is not pinned");
	fake_disk_hold(area->disk, BIT(FAKE_DISK_READ));
	fault = user_fault_start(mem, 0);
	KUNIT_ASSERT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	/* Hold that read only: a held read of swapoff's own would make it wait, too. */
	fake_disk_hold(area->disk, 0);
	if (swap_has(AREA_USERS))
		KUNIT_EXPECT_EQ_MSG(test, swap_kunit_users(area->si), 1UL,
				    "rule: a fault pins the area during its read");

	swapoff_start(&off, area);
	wait_until_begun(test);
	if (!swap_has(AREA_USERS))
		swapoff_wait_briefly(&off);
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off),
			       "rule: swapoff waits for a read under way");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(fault) & VM_FAULT_ERROR, 0U);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: swapoff succeeds after the wait");
	USER_EXPECT_INTACT(test, mem);
}

/* swapoff waits for all pins, and the area cannot be pinned any more. */
static void swapoff_waits_for_pins(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	swp_entry_t entry = swap_entry_at(area, 0, 0);
	struct swap_info_struct *si = area->si;
	struct swapoff_thread off;

	SWAP_REQUIRE(test, AREA_USERS);
	KUNIT_ASSERT_TRUE(test, swap_get_device(swap_entry_at(area, 0, 0)));
	swapoff_start(&off, area);
	KUNIT_EXPECT_TRUE(test, swap_area_wait_dying(area));
	KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(entry),
			       "rule: the area cannot be pinned during swapoff");
	KUNIT_EXPECT_FALSE_MSG(test, swapoff_done(&off),
			       "rule: swapoff waits until the area is unpinned");
	swap_put_device(si);
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: swapoff succeeds after the wait");
	expect_nothing_left(test);
}

/* swapoff waits for writeback: it uses a page only after it was written. */
static void swapoff_waits_for_writeback(struct kunit *test)
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
	KUNIT_EXPECT_EQ_MSG(test, swapoff_wait(&off), 0, "rule: swapoff succeeds after the wait");
	USER_EXPECT_INTACT(test, mem);
}

/* swapoff decrements nr_rotate_swap by what the device was at swapon. */
struct flip_param {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
};

static const struct flip_param flips[] = {
	{ "from hdd to ssd", &FAKE_DISK_HDD },
	{ "from ssd to hdd", &FAKE_DISK_SSD },
};

SWAP_PARAMS(flip, flips);

static void device_changes_between_rotational_and_not(struct kunit *test)
{
	const struct flip_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 1 });

	fake_disk_set_rotational(area->disk, !param->disk->rotational);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_rotate_swap), 0,
			    "rule: nr_rotate_swap is 0 with no area on, even if the device changed while it was on");
	/* Report it once only. */
	atomic_set(&nr_rotate_swap, 0);
}

/* swapoff of a path that is not a swap area fails. */
struct refusal_param {
	SWAP_PARAM_NAME;
	const char *path;
	umode_t mode;
	int err;
};

static const struct refusal_param refusals[] = {
	{ "missing file", .path = "/swapkunit-nowhere", .err = -ENOENT },
	{ "bad address", .err = -EFAULT },
	{ "directory", .mode = S_IFDIR, .err = -EISDIR },
	{ "file that is not a swap area", .mode = S_IFREG, .err = -EINVAL },
};

SWAP_PARAMS(refusal, refusals);

static void path_that_is_not_on_is_refused(struct kunit *test)
{
	const struct refusal_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	struct swap_area_facts before;

	swap_area_facts(area, &before);
	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(param->mode ?
						    swap_node_new(test, param->mode, 0) :
						    param->path),
			    param->err, "rule: swapoff is refused: %s", param->name);
	expect_still_on(test, area, &before);
}

static void device_that_is_not_on_is_refused(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD_1);

	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(fake_disk_path(area->disk)), -EINVAL,
			    "rule: swapoff is refused for a device that was never on");
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(fake_disk_path(area->disk)), -EINVAL,
			    "rule: swapoff is refused for a device that is off already");
}

/* Another device node of the same device names the same area. */
static void device_by_another_node(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD_1);
	dev_t dev = disk_devt(fake_disk_gendisk(area->disk));

	KUNIT_EXPECT_EQ_MSG(test, swap_swapoff_path(swap_node_new(test, S_IFBLK, dev)), 0,
			    "rule: swapoff accepts any node of the device");
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
	KUNIT_CASE_PARAM(everything_is_freed, disk_gen_params),
	KUNIT_CASE(repeated_swapoff_leaks_nothing),
	KUNIT_CASE(pages_of_every_process_return),
	KUNIT_CASE(exclusive_pages_stay_exclusive),
	KUNIT_CASE(processes_leave_the_list),
	KUNIT_CASE(shared_slots_are_read_once),
	KUNIT_CASE(slot_shared_by_very_many_processes),
	KUNIT_CASE_PARAM(pages_of_shmem_return, disk_gen_params),
	KUNIT_CASE(other_areas_keep_their_pages),
	KUNIT_CASE(pages_in_the_swap_cache_are_not_read),
	KUNIT_CASE(slots_only_in_the_swap_cache_are_freed),
	KUNIT_CASE(zero_filled_pages_return),
	KUNIT_CASE(pages_in_zswap_return),
	KUNIT_CASE(read_error_poisons_the_page),
	KUNIT_CASE_PARAM(failing_disk, disk_gen_params),
	KUNIT_CASE(failing_disk_with_shmem),
	KUNIT_CASE_PARAM(signal_before_the_first_read, disk_gen_params),
	KUNIT_CASE(signal_during_the_first_process),
	KUNIT_CASE_PARAM(signal_and_an_empty_area, disk_gen_params),
	KUNIT_CASE(committed_memory_keeps_it_on),
	KUNIT_CASE_PARAM(no_memory_for_a_page, disk_gen_params),
	KUNIT_CASE(no_memory_for_a_page_of_shmem),
	KUNIT_CASE(page_unmapped_during_its_read),
	KUNIT_CASE(page_unmapped_before_a_failed_allocation),
	KUNIT_CASE(swapoff_waits_for_the_last_slot),
	KUNIT_CASE_PARAM(no_slot_is_allocated_during_swapoff, disk_gen_params),
	KUNIT_CASE_PARAM(fault_pins_the_area, disk_gen_params),
	KUNIT_CASE_PARAM(swapoff_waits_for_pins, disk_gen_params),
	KUNIT_CASE(swapoff_waits_for_writeback),
	KUNIT_CASE_PARAM(device_changes_between_rotational_and_not, flip_gen_params),
	KUNIT_CASE_PARAM(path_that_is_not_on_is_refused, refusal_gen_params),
	KUNIT_CASE(device_that_is_not_on_is_refused),
	KUNIT_CASE(device_by_another_node),
	KUNIT_CASE(swapoff_needs_privilege),
	{}
};

SWAP_KUNIT_SUITE(swap_swapoff, swap_swapoff_cases);

MODULE_DESCRIPTION("KUnit suite of swapoff(2)");
MODULE_LICENSE("GPL");
