// SPDX-License-Identifier: GPL-2.0
/*
 * Synchronous devices: a read waits for no queue, so reading ahead would only
 * take memory. A fault reads its slot alone, and frees it early.
 */
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

static const struct swap_device devices[] = {
	SWAP_DEVICE("zram", FAKE_DISK_ZRAM, .clusters = 1),
	SWAP_DEVICE("ssd", FAKE_DISK_SSD, .clusters = 1),
};

SWAP_PARAMS(devices, devices);

static bool synchronous(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);

	return device->area.disk->synchronous;
}

/*
 * A fault on a synchronous device reads its slot alone and frees it. Other devices read a window,
 * and keep slots that may be needed again.
 */
static void fault_reads_one_slot(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 32);
	unsigned long ra = swap_vmstat(SWAP_RA);

	KUNIT_EXPECT_EQ(test, user_fault(mem, 20), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, area, synchronous(test) ? "R0:20!20 F0:20" : "R0:17+8!20");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, synchronous(test) ? 0UL : 7UL,
			    "rule: a fault on a synchronous device reads nothing ahead");
}

/* A write fault frees its slot on every device. */
static void write_fault_reads_one_slot(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 32);

	KUNIT_EXPECT_EQ(test, user_fault_write(mem, 20), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, area, synchronous(test) ?
			      "R0:20!20 F0:20" : "R0:17+8!20 F0:20");
}

/* A slot with other users keeps its page in the swap cache. */
static void shared_slot_stays_in_the_swap_cache(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 32);
	swp_entry_t entry = user_share_slot(mem, 20);
	struct swap_slot_facts facts;

	user_fault(mem, 20);
	SWAP_EXPECT_DECISIONS(test, area, synchronous(test) && swap_has(SYNC_SWAPIN_CACHED) ?
			      "R0:20!20" : "R0:17+8!20");
	swap_slot_facts(area, swp_offset(entry), &facts);
	KUNIT_EXPECT_TRUE_MSG(test, facts.cached,
			      "rule: the page of a shared slot stays in the swap cache");
	KUNIT_EXPECT_EQ(test, facts.count, 1U);
	swap_free_slot(entry);
}

/* Shmem reads a window by slot, or, on kernels that bypass it, the slot alone. */
static void shmem_fault_reads_one_slot(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped_shmem(test, 32);

	swap_kunit_set_readahead_hits(6);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, 20) & VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, area, synchronous(test) && swap_has(SYNC_SWAPIN_SHMEM) ?
			      "R0:20!20 F0:20" : "R0:16+8!20 F0:20");
}

/* A single read does not change the state of readahead. */
static void readahead_state_is_left_alone(struct kunit *test)
{
	struct vm_area_struct *vma;
	struct user_memory *mem;

	swap_device_area(test);
	mem = user_memory_swapped(test, 32);
	vma = user_vma(mem);
	swap_kunit_set_readahead_hits(6);
	swap_kunit_set_vma_history(vma, mem->start + 19 * PAGE_SIZE, 4, 5);
	user_fault(mem, 20);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_vma_hits(vma), synchronous(test) ? 5U : 0U,
			    "rule: a single read uses up no hits of the mapping");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 6,
			    "rule: a single read uses up no hits");
}

/* Cluster readahead itself is the same on synchronous devices. */
static void cluster_readahead_reads_its_window(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 32);
	struct folio *folio;

	swap_kunit_set_readahead_hits(6);
	folio = swap_read_slot(user_entry(mem, 20));
	KUNIT_ASSERT_NOT_NULL(test, folio);
	folio_put(folio);
	SWAP_EXPECT_DECISIONS(test, area,
			      synchronous(test) && swap_has(SYNC_READAHEAD_BYPASS) ?
			      "R0:20!20" : "R0:16+8!20");
}

/*
 * Pages that MADV_WILLNEED read stay in the swap cache until a fault; some kernels then free the
 * slot on a synchronous device at once.
 */
static void willneed_then_fault(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 16);

	KUNIT_EXPECT_EQ(test, do_madvise(mem->mm, mem->start + 4 * PAGE_SIZE, 6 * PAGE_SIZE,
					 MADV_WILLNEED), 0);
	SWAP_EXPECT_DECISIONS(test, area, "R0:4+6");
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 5) & VM_FAULT_MAJOR, 0U,
			    "rule: a page in the swap cache is not read again");
	SWAP_EXPECT_DECISIONS(test, area, synchronous(test) && swap_has(SYNC_CACHE_FREED) ?
			      "F0:5" : "");
}

/* Each page is written to a synchronous device by its own bio, and freed at once. */
static void writes_are_not_batched(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_new(test, 8);
	unsigned int page;

	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	SWAP_EXPECT_BIOS(test, area->disk, !synchronous(test) && swap_has(WRITE_BATCHED) ?
			 "W0:0+8" : "W0:0 W0:1 W0:2 W0:3 W0:4 W0:5 W0:6 W0:7");
	for (page = 0; synchronous(test) && page < 8; page++)
		KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, page),
				       "rule: a page written synchronously leaves the swap cache at once");
}

/* A second fault on a slot that is being read does not read it again. */
static void slot_under_read_is_read_once(struct kunit *test)
{
	struct user_fault_thread *first, *second;
	struct swap_area *area = swap_device_area(test);
	struct user_memory *mem = user_memory_swapped(test, 4);

	swap_kunit_set_page_cluster(0);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_READ));
	first = user_fault_start(mem, 3);
	KUNIT_EXPECT_TRUE(test, fake_disk_wait_held(area->disk, 1));
	second = user_fault_start(mem, 3);
	/* A fault that would bypass the swap cache returns instead, to be retried. */
	KUNIT_EXPECT_TRUE_MSG(test, user_fault_wait_blocked(second) ||
			      (synchronous(test) && swap_has(SYNC_SWAPIN_BYPASS)),
			      "rule: a fault waits for its read");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 3), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(first),
			       "rule: a fault waits for its read");
	fake_disk_release(area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first) & VM_FAULT_ERROR, 0U);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second) & VM_FAULT_ERROR, 0U);
	KUNIT_EXPECT_EQ_MSG(test, fake_disk_bios(area->disk, FAKE_DISK_READ), 1U,
			    "rule: a slot under read is not read again");
}

struct reentry {
	struct user_memory *mem;
	bool again;
	vm_fault_t ret;
};

/* During the read of page 3: fault it in, change it and swap it out again. */
static void fault_meanwhile(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct reentry *reentry = ctx;

	if (!reentry->again)
		return;
	reentry->again = false;
	reentry->ret = user_fault_write(reentry->mem, 3);
	if (user_page_is(reentry->mem, 3) != USER_PAGE_PRESENT)
		return;
	user_write(reentry->mem, 3, 0x6e657764617461);
	user_page_out(reentry->mem, 3, 1);
}

/*
 * While a fault reads a slot past the swap cache, no other fault may get at it. Otherwise the slot
 * could be freed and reused for newer data before the first fault maps what it read. The area is
 * full, so that the same slot would be reused.
 */
static void slot_under_read_is_not_reused(struct kunit *test)
{
	struct swap_area *area;
	struct reentry reentry = { .again = true };
	u64 value;

	SWAP_REQUIRE(test, SYNC_SWAPIN_BYPASS);
	area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_ZRAM, .tail_slots = 8 });
	reentry.mem = user_memory_swapped(test, 8);
	fake_disk_on_read(area->disk, fault_meanwhile, &reentry);
	KUNIT_EXPECT_EQ(test, user_fault(reentry.mem, 3) & VM_FAULT_ERROR, 0U);
	fake_disk_on_read(area->disk, NULL, NULL);
	KUNIT_EXPECT_FALSE_MSG(test, reentry.again, "the fault must read its page");
	KUNIT_EXPECT_EQ(test, user_read(reentry.mem, 3, &value), 0);
	KUNIT_EXPECT_EQ_MSG(test, value, reentry.mem->value[3],
			    "rule: a fault does not map a page that was replaced during its read");
	KUNIT_EXPECT_EQ_MSG(test, fake_disk_bios(area->disk, FAKE_DISK_READ), 1U,
			    "rule: a slot under read is not read again");
}

/* The device of the target decides: no neighbour is read from another device either. */
static void target_device_decides(struct kunit *test)
{
	struct user_memory *mem = user_memory_new(test, 8);
	unsigned int page;

	swap_area_on(test, &SWAP_AREA_SSD_1);
	user_fill(mem, 0, 8);
	for (page = 0; page < 8; page += 2)
		user_swap_out(mem, page, 1);
	swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_ZRAM, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 10 });
	swap_kunit_drain_hints();	/* they point to the first area */
	for (page = 1; page < 8; page += 2)
		user_swap_out(mem, page, 1);
	swap_decisions_skip(test);
	user_fault(mem, 3);
	SWAP_EXPECT_DECISIONS(test, NULL, "b/R0:1!1 b/F0:1");
}

/*
 * swapoff reads ahead on every device. Windows stay large only on kernels where swapoff looks
 * pages up as a fault does, and so counts hits.
 */
static void swapoff_reads_windows(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
	unsigned int page;
	char one_by_one[160];
	int len = 0;

	user_memory_swapped(test, 12);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	for (page = 0; page < 12; page++)
		len += scnprintf(one_by_one + len, sizeof(one_by_one) - len,
				 "%sR0:%u F0:%u", len ? " " : "", page, page);
	if (synchronous(test) && swap_has(SYNC_READAHEAD_BYPASS))
		SWAP_EXPECT_DECISIONS(test, area, "%s", one_by_one);
	else
		SWAP_EXPECT_DECISIONS(test, area, swap_has(HITS_TOLD_BY_CALLER) ?
			"R0:0+5 F0:0+5 R0:5+3 F0:5+3 R0:8+2 F0:8+2 R0:10 F0:10 R0:11 F0:11" :
			"R0:0+5 F0:0+5 R0:5+7 F0:5+7");
}

static struct kunit_case swap_sync_io_cases[] = {
	KUNIT_CASE_PARAM(fault_reads_one_slot, devices_gen_params),
	KUNIT_CASE_PARAM(write_fault_reads_one_slot, devices_gen_params),
	KUNIT_CASE_PARAM(shared_slot_stays_in_the_swap_cache, devices_gen_params),
	KUNIT_CASE_PARAM(shmem_fault_reads_one_slot, devices_gen_params),
	KUNIT_CASE_PARAM(readahead_state_is_left_alone, devices_gen_params),
	KUNIT_CASE_PARAM(cluster_readahead_reads_its_window, devices_gen_params),
	KUNIT_CASE_PARAM(willneed_then_fault, devices_gen_params),
	KUNIT_CASE_PARAM(writes_are_not_batched, devices_gen_params),
	KUNIT_CASE_PARAM(slot_under_read_is_read_once, devices_gen_params),
	KUNIT_CASE(slot_under_read_is_not_reused),
	KUNIT_CASE(target_device_decides),
	KUNIT_CASE_PARAM(swapoff_reads_windows, devices_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_sync_io, swap_sync_io_cases);

MODULE_DESCRIPTION("KUnit suite of swap on synchronous devices");
MODULE_LICENSE("GPL");
