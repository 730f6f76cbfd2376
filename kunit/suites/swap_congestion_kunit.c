// SPDX-License-Identifier: GPL-2.0
/*
 * A device that is saturated: all it was given is in flight, nothing completes.
 *
 * Policy P1: cluster readahead asks whether the device is congested, and reads the
 * faulting page alone then. Where drivers tell, it is they who know; else the
 * block layer can be asked what is in flight. A kernel that asks neither issues
 * its full windows however long the queue is, and so does one whose driver says
 * nothing. These cases say so, and what waits for what.
 */
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

/*
 * Faults on pages 100 and 20 with hits enough for eight pages: what each reads,
 * and how many pages of the first window come before its target.
 */
struct saturated_device {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	const char *first;
	const char *second;
	const char *second_asking;	/* where readahead asks for congestion */
	unsigned int before;
};

static const struct saturated_device devices[] = {
	{ "hdd", &FAKE_DISK_HDD, "R0:96+8!100", "R0:16+8!20", "R0:20!20", 4 },
	{ "ssd", &FAKE_DISK_SSD, "R0:97+8!100", "R0:17+8!20", "R0:17+8!20", 3 },
	{ "stable writes", &FAKE_DISK_STABLE, "R0:97+8!100", "R0:17+8!20", "R0:17+8!20", 3 },
};

SWAP_PARAMS(devices, devices);

/* Readahead asks the block layer itself, without the driver's word. */
static bool asks_the_queue(void)
{
	return swap_has(CONGESTION_CHECK) && !swap_has(CONGESTION_STATE);
}

struct saturation {
	struct swap_area *area;
	struct user_memory *mem;
};

/* One bio is as much as the disk takes. */
static void saturation_start(struct kunit *test, struct saturation *s,
			     const struct fake_disk_profile *disk)
{
	s->area = swap_area_on(test, &(struct swap_area_config){ .disk = disk, .clusters = 1 });
	fake_disk_set_depth(s->area->disk, 1);
	s->mem = user_memory_new(test, 128);
	user_fill(s->mem, 0, 128);
	user_swap_out(s->mem, 0, 128);
	swap_decisions_skip(test);
	fake_disk_forget_bios(s->area->disk);
	fake_disk_hold(s->area->disk, BIT(FAKE_DISK_READ));
}

/* A fault with six hits before it, on a thread: its window is under way on return. */
static struct user_fault_thread *fault_eight(struct kunit *test, struct saturation *s,
					     unsigned int page)
{
	unsigned int held = fake_disk_held(s->area->disk);
	struct user_fault_thread *thread;

	swap_kunit_set_readahead_hits(6);
	swap_kunit_set_vma_history(user_vma(s->mem), s->mem->start + 60 * PAGE_SIZE, 1, 6);
	thread = user_fault_start(s->mem, page);
	KUNIT_EXPECT_TRUE_MSG(test, fake_disk_wait_held(s->area->disk, held +
							(swap_has(READ_BATCHED) ? 1 : 8)),
			      "the window is issued");
	return thread;
}

/* Nothing completes, and still the next fault issues its whole window. */
static void saturated_device_gets_whole_windows(struct kunit *test)
{
	const struct saturated_device *device = swap_param(test);
	unsigned long ra = swap_vmstat(SWAP_RA);
	struct user_fault_thread *first, *second;
	struct saturation s;

	saturation_start(test, &s, device->disk);
	first = fault_eight(test, &s, 100);
	SWAP_EXPECT_DECISIONS(test, s.area, device->first);
	second = fault_eight(test, &s, 20);
	SWAP_EXPECT_DECISIONS(test, s.area, asks_the_queue() ? device->second_asking :
							       device->second);
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(first) || user_fault_done(second),
			       "rule: a fault waits for its page");
	KUNIT_EXPECT_EQ(test, user_page_is(s.mem, 100), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_EQ(test, user_page_is(s.mem, 20), USER_PAGE_SWAPPED);
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, s.area, "");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra,
			    asks_the_queue() && device->disk->rotational ? 7UL : 14UL,
			    "rule: swap_ra counts what was read ahead");
}

/* A device with room for more is not saturated, be there reads in flight. */
static void busy_device_gets_whole_windows(struct kunit *test)
{
	const struct saturated_device *device = swap_param(test);
	struct user_fault_thread *first, *second;
	struct saturation s;

	saturation_start(test, &s, device->disk);
	fake_disk_set_depth(s.area->disk, 128);
	first = fault_eight(test, &s, 100);
	second = fault_eight(test, &s, 20);
	swap_rule(test, "P1: whole windows as long as the device takes more");
	SWAP_EXPECT_DECISIONS(test, s.area, "%s %s", device->first, device->second);
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second), VM_FAULT_MAJOR);
}

/* Once it is released, readahead goes on as if nothing had been. */
static void released_device_is_as_before(struct kunit *test)
{
	const struct saturated_device *device = swap_param(test);
	struct user_fault_thread *first;
	struct saturation s;

	saturation_start(test, &s, device->disk);
	first = fault_eight(test, &s, 100);
	SWAP_EXPECT_DECISIONS(test, s.area, device->first);
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	swap_kunit_set_readahead_hits(6);
	swap_kunit_set_vma_history(user_vma(s.mem), s.mem->start + 60 * PAGE_SIZE, 1, 6);
	KUNIT_EXPECT_EQ(test, user_fault(s.mem, 20), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, s.area, device->second);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(s.mem, 21), 0U,
			    "rule: what was read ahead is there without waiting");
}

/*
 * A fault ends when its own page is there: with the first bio where windows are
 * one bio, else with its page's, the rest of its window still in flight.
 */
static void fault_ends_with_its_own_read(struct kunit *test)
{
	const struct saturated_device *device = swap_param(test);
	struct user_fault_thread *first, *second;
	unsigned int left = swap_has(READ_BATCHED) ? 1 : device->before + 1;
	struct saturation s;

	saturation_start(test, &s, device->disk);
	first = fault_eight(test, &s, 100);
	second = fault_eight(test, &s, 20);
	for (; left > 1; left--)
		fake_disk_release_one(s.area->disk);
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(first),
			       "rule: a fault waits for its page");
	fake_disk_release_one(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(second),
			       "rule: a fault waits for its page");
	KUNIT_EXPECT_EQ(test, fake_disk_held(s.area->disk),
			swap_has(READ_BATCHED) ? 1U : 15U - device->before);
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second), VM_FAULT_MAJOR);
}

/* A fault on a neighbour under read waits for that read and issues none. */
static void neighbour_under_read_is_not_read_again(struct kunit *test)
{
	const struct saturated_device *device = swap_param(test);
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);
	struct user_fault_thread *first, *second;
	struct saturation s;

	saturation_start(test, &s, device->disk);
	first = fault_eight(test, &s, 100);
	second = user_fault_start(s.mem, 101);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault_wait_blocked(second),
			      "rule: a fault waits for its page");
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ_MSG(test, user_fault_wait(second) & VM_FAULT_ERROR, 0U,
			    "rule: a fault on a page under read succeeds with that read");
	SWAP_EXPECT_DECISIONS(test, s.area, device->first);
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL,
			    "rule: a page read ahead is hit while it is still under read");
}

/* Writes that do not complete: pages stay at hand, and reads pass them. */
static void saturated_writes_keep_pages_at_hand(struct kunit *test)
{
	const struct saturated_device *device = swap_param(test);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = device->disk, .clusters = 1 });
	struct user_memory *mem = user_memory_new(test, 16);

	user_fill(mem, 0, 16);
	user_swap_out(mem, 8, 8);
	fake_disk_hold(area->disk, BIT(FAKE_DISK_WRITE));
	user_page_out(mem, 0, 8);
	KUNIT_EXPECT_EQ(test, fake_disk_held(area->disk), swap_has(WRITE_BATCHED) ? 1U : 8U);
	KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, 3),
			      "rule: a page under write stays in the swap cache");
	swap_decisions_skip(test);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 3), 0U,
			    "rule: a fault on a page under write need not wait");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_set_page_cluster(0);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 12), VM_FAULT_MAJOR,
			    "rule: reads pass writes that do not complete");
	SWAP_EXPECT_DECISIONS(test, area, "R0:4!4");
	fake_disk_release(area->disk);
}

/* A saturated synchronous device holds its callers, each with the one slot. */
static void synchronous_device_holds_single_reads(struct kunit *test)
{
	struct user_fault_thread *threads[3];
	static const unsigned int pages[] = { 100, 20, 21 };
	struct saturation s;
	unsigned int i;

	saturation_start(test, &s, &FAKE_DISK_ZRAM);
	for (i = 0; i < 3; i++) {
		threads[i] = user_fault_start(s.mem, pages[i]);
		KUNIT_EXPECT_TRUE(test, fake_disk_wait_held(s.area->disk, i + 1));
	}
	SWAP_EXPECT_DECISIONS(test, s.area, "R0:100!100 R0:20!20 R0:21!21");
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(threads[i]),
				       "rule: a fault waits for its page");
		fake_disk_release_one(s.area->disk);
		KUNIT_EXPECT_EQ(test, user_fault_wait(threads[i]), VM_FAULT_MAJOR);
	}
	SWAP_EXPECT_DECISIONS(test, s.area, "F0:100 F0:20+2");
}

/*
 * P1: the driver says that it is congested, or the block layer that as many requests
 * are in flight as there can be. Cluster readahead on a block device,
 * or on a file whose I/O goes through its file system, then reads the faulting
 * page alone; not for writes, not on other files; readahead by address, which
 * is for devices that do not rotate, does not ask.
 */
struct congested_case {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	bool file;
	bool shmem;	/* which is read by slot on any device */
	enum fake_fs_way way;
	unsigned int ops;
	bool alone;
};

static const struct congested_case congested[] = {
	{ "hdd, reads", &FAKE_DISK_HDD, .ops = BIT(FAKE_DISK_READ), .alone = true },
	{ "hdd, reads and writes", &FAKE_DISK_HDD,
	  .ops = BIT(FAKE_DISK_READ) | BIT(FAKE_DISK_WRITE), .alone = true },
	{ "hdd, writes", &FAKE_DISK_HDD, .ops = BIT(FAKE_DISK_WRITE) },
	{ "hdd, neither", &FAKE_DISK_HDD },
	{ "ssd, reads", &FAKE_DISK_SSD, .ops = BIT(FAKE_DISK_READ) },
	{ "ssd, reads and writes", &FAKE_DISK_SSD,
	  .ops = BIT(FAKE_DISK_READ) | BIT(FAKE_DISK_WRITE) },
	{ "shmem on an ssd, reads", &FAKE_DISK_SSD, .shmem = true,
	  .ops = BIT(FAKE_DISK_READ), .alone = true },
	{ "shmem on an ssd, writes", &FAKE_DISK_SSD, .shmem = true,
	  .ops = BIT(FAKE_DISK_WRITE) },
	{ "file on an hdd, reads", &FAKE_DISK_HDD, .file = true, .way = FAKE_FS_EXTENTS,
	  .ops = BIT(FAKE_DISK_READ) },
	{ "file asked block by block, reads", &FAKE_DISK_HDD, .file = true, .way = FAKE_FS_BMAP,
	  .ops = BIT(FAKE_DISK_READ) },
	{ "file through its file system, reads", &FAKE_DISK_HDD, .file = true,
	  .way = FAKE_FS_DIRECT, .ops = BIT(FAKE_DISK_READ), .alone = true },
	{ "file through its file system, writes", &FAKE_DISK_HDD, .file = true,
	  .way = FAKE_FS_DIRECT, .ops = BIT(FAKE_DISK_WRITE) },
};

SWAP_PARAMS(congested, congested);

static struct swap_area *congested_area(struct kunit *test, const struct congested_case *c)
{
	static const struct fake_fs_extent extents[] = { { 8, 256 }, { } };
	struct swap_area *area;

	if (!c->file)
		return swap_area_on(test, &(struct swap_area_config){
			.disk = c->disk, .clusters = 1 });
	area = fake_fs_prepare(test, &(struct fake_fs_config){
		.disk = c->disk, .way = c->way, .extents = extents });
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	return area;
}

enum window_way {
	WINDOW_BY_SLOT,
	WINDOW_BY_ADDRESS,
	WINDOW_SHARED,		/* by slot, and the target's slot is freed */
};

/* What a fault on a page of swapped memory reads, with hits enough for eight pages. */
static void expect_window(struct kunit *test, struct swap_area *area, struct user_memory *mem,
			  unsigned int page, enum window_way way, bool alone)
{
	unsigned long slot = swp_offset(user_entry(mem, page)) - area->base;
	unsigned long first = way == WINDOW_BY_ADDRESS ? slot - 3 : round_down(slot, 8);
	char freed[24] = "";

	if (way == WINDOW_SHARED)
		snprintf(freed, sizeof(freed), " F0:%lu", slot);
	swap_kunit_set_readahead_hits(6);
	swap_kunit_set_vma_history(user_vma(mem), mem->start + 60 * PAGE_SIZE, 1, 6);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, page) & VM_FAULT_MAJOR);
	if (alone)
		SWAP_EXPECT_DECISIONS(test, area, "R0:%lu!%lu%s", slot, slot, freed);
	else
		SWAP_EXPECT_DECISIONS(test, area, "R0:%lu+8!%lu%s", first, slot, freed);
}

static void congested_device_reads_the_target_alone(struct kunit *test)
{
	const struct congested_case *c = swap_param(test);
	bool alone = c->alone && swap_has(CONGESTION_CHECK);
	struct swap_area *area = congested_area(test, c);
	struct user_memory *mem = c->shmem ? user_memory_shmem(test, 128) :
					     user_memory_new(test, 128);
	enum window_way way = c->shmem ? WINDOW_SHARED :
			      swap_kunit_use_vma_readahead() ? WINDOW_BY_ADDRESS : WINDOW_BY_SLOT;

	user_fill(mem, 0, 128);
	user_swap_out(mem, 0, 128);
	swap_decisions_skip(test);
	fake_disk_congest(area->disk, c->ops);
	swap_rule(test, alone ? "P1: a device congested for reads: the faulting page alone" :
				"P1: whole windows where nobody asks, or none is congested");
	expect_window(test, area, mem, 20, way, alone);
	expect_window(test, area, mem, 100, way, alone);
	swap_rule(test, "P1: whole windows again once it is congested no more");
	fake_disk_congest(area->disk, 0);
	expect_window(test, area, mem, 44, way, false);
}

/* Where the window is one page anyway, nothing is different. */
static void congested_device_and_a_window_of_one(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = user_memory_new(test, 32);

	user_fill(mem, 0, 32);
	user_swap_out(mem, 0, 32);
	swap_decisions_skip(test);
	swap_set_page_cluster(0);
	fake_disk_congest(area->disk, BIT(FAKE_DISK_READ));
	expect_window(test, area, mem, 20, WINDOW_BY_SLOT, true);
	fake_disk_congest(area->disk, 0);
	expect_window(test, area, mem, 12, WINDOW_BY_SLOT, true);
}

/* The window that is not read counts as one that was: the next follows from it. */
static void congested_device_moves_the_window_on(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = user_memory_new(test, 128);

	user_fill(mem, 0, 128);
	user_swap_out(mem, 0, 128);
	swap_decisions_skip(test);
	fake_disk_congest(area->disk, BIT(FAKE_DISK_READ));
	expect_window(test, area, mem, 20, WINDOW_BY_SLOT, swap_has(CONGESTION_CHECK));
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 0,
			    "rule: a window spends the hits, read or not");
	fake_disk_congest(area->disk, 0);
	user_fault(mem, 100);
	swap_rule(test, "no hits: half of the window before, read or not");
	SWAP_EXPECT_DECISIONS(test, area, "R0:100+4!100");
}

static struct kunit_case swap_congestion_cases[] = {
	KUNIT_CASE_PARAM(congested_device_reads_the_target_alone, congested_gen_params),
	KUNIT_CASE(congested_device_and_a_window_of_one),
	KUNIT_CASE(congested_device_moves_the_window_on),
	KUNIT_CASE_PARAM(saturated_device_gets_whole_windows, devices_gen_params),
	KUNIT_CASE_PARAM(busy_device_gets_whole_windows, devices_gen_params),
	KUNIT_CASE_PARAM(released_device_is_as_before, devices_gen_params),
	KUNIT_CASE_PARAM(fault_ends_with_its_own_read, devices_gen_params),
	KUNIT_CASE_PARAM(neighbour_under_read_is_not_read_again, devices_gen_params),
	KUNIT_CASE_PARAM(saturated_writes_keep_pages_at_hand, devices_gen_params),
	KUNIT_CASE(synchronous_device_holds_single_reads),
	{}
};

SWAP_KUNIT_SUITE(swap_congestion, swap_congestion_cases);

MODULE_DESCRIPTION("KUnit suite of swap on a saturated device");
MODULE_LICENSE("GPL");
