// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead on a saturated device: requests are in flight and none completes.
 *
 * The congestion policy: if the device is congested, cluster readahead reads the
 * faulting page alone. Up to 5.17 the driver sets a congested state; the policy
 * patch for newer kernels asks the block layer how many requests are in flight.
 * A kernel that asks neither issues whole windows however long the queue is, and
 * so does a kernel whose driver does not set the state.
 */
#include "swap_fixture.h"

static const struct swap_device devices[] = {
	SWAP_DEVICE("hdd", FAKE_DISK_HDD, .clusters = 1),
	SWAP_DEVICE("ssd", FAKE_DISK_SSD, .clusters = 1),
	SWAP_DEVICE("stable writes", FAKE_DISK_STABLE, .clusters = 1),
};

SWAP_PARAMS(devices, devices);

struct saturation {
	struct swap_area *area;
	struct user_memory *mem;
	bool by_address;	/* VMA readahead, which does not ask for congestion */
};

/* 128 pages swapped out to a disk that takes one request at a time; reads are held. */
static void saturate(struct kunit *test, struct saturation *s,
		     const struct swap_area_config *config)
{
	s->area = swap_area_on(test, config);
	s->by_address = swap_kunit_use_vma_readahead();
	fake_disk_set_depth(s->area->disk, 1);
	s->mem = user_memory_swapped(test, 128);
	fake_disk_forget_bios(s->area->disk);
	fake_disk_hold(s->area->disk, BIT(FAKE_DISK_READ));
}

static void saturate_device(struct kunit *test, struct saturation *s)
{
	const struct swap_device *device = swap_param(test);

	saturate(test, s, &device->area);
}

/* Readahead asks the block layer, not a state that the driver sets. */
static bool asks_the_queue(struct saturation *s)
{
	return swap_has(CONGESTION_CHECK) && !swap_has(CONGESTION_STATE) && !s->by_address;
}

/* What a fault reads: eight pages around its slot, by address or by slot, or its slot alone. */
static const char *window(struct kunit *test, unsigned long slot, bool by_address, bool alone)
{
	char *text = kunit_kzalloc(test, 32, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	if (alone)
		snprintf(text, 32, "R0:%lu!%lu", slot, slot);
	else
		snprintf(text, 32, "R0:%lu+8!%lu", by_address ? slot - 3 : round_down(slot, 8),
			 slot);
	return text;
}

/* Six hits make the next window eight pages. */
static void set_six_hits(struct user_memory *mem)
{
	swap_kunit_set_readahead_hits(6);
	swap_kunit_set_vma_history(user_vma(mem), mem->start + 60 * PAGE_SIZE, 1, 6);
}

/* A fault on a thread, with a window of eight pages; returns once that is in flight. */
static struct user_fault_thread *fault_eight(struct kunit *test, struct saturation *s,
					     unsigned int page)
{
	unsigned int held = fake_disk_held(s->area->disk);
	struct user_fault_thread *thread;

	set_six_hits(s->mem);
	thread = user_fault_start(s->mem, page);
	KUNIT_EXPECT_TRUE_MSG(test, fake_disk_wait_held(s->area->disk, held +
							(swap_has(READ_BATCHED) ? 1 : 8)),
			      "the whole window is in flight");
	return thread;
}

/* While nothing completes, the next fault still issues its whole window. */
static void saturated_device_gets_whole_windows(struct kunit *test)
{
	unsigned long ra = swap_vmstat(SWAP_RA);
	struct user_fault_thread *first, *second;
	struct saturation s;

	saturate_device(test, &s);
	first = fault_eight(test, &s, 100);
	SWAP_EXPECT_DECISIONS(test, s.area, "%s", window(test, 100, s.by_address, false));
	second = fault_eight(test, &s, 20);
	SWAP_EXPECT_DECISIONS(test, s.area, "%s",
			      window(test, 20, s.by_address, asks_the_queue(&s)));
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(first) || user_fault_done(second),
			       "rule: a fault waits for its page");
	KUNIT_EXPECT_EQ(test, user_page_is(s.mem, 100), USER_PAGE_SWAPPED);
	KUNIT_EXPECT_EQ(test, user_page_is(s.mem, 20), USER_PAGE_SWAPPED);
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, s.area, "");
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA) - ra, asks_the_queue(&s) ? 7UL : 14UL,
			    "rule: swap_ra counts the pages read ahead");
}

/* A device with reads in flight that can take more is not saturated. */
static void busy_device_gets_whole_windows(struct kunit *test)
{
	struct user_fault_thread *first, *second;
	struct saturation s;

	saturate_device(test, &s);
	fake_disk_set_depth(s.area->disk, 128);
	first = fault_eight(test, &s, 100);
	second = fault_eight(test, &s, 20);
	swap_rule(test, "congestion: whole windows as long as the device takes more");
	SWAP_EXPECT_DECISIONS(test, s.area, "%s %s", window(test, 100, s.by_address, false),
			      window(test, 20, s.by_address, false));
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second), VM_FAULT_MAJOR);
}

/* After the device is released, readahead is what it was before. */
static void released_device_is_as_before(struct kunit *test)
{
	struct user_fault_thread *first;
	struct saturation s;

	saturate_device(test, &s);
	first = fault_eight(test, &s, 100);
	SWAP_EXPECT_DECISIONS(test, s.area, "%s", window(test, 100, s.by_address, false));
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	set_six_hits(s.mem);
	KUNIT_EXPECT_EQ(test, user_fault(s.mem, 20), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, s.area, "%s", window(test, 20, s.by_address, false));
	KUNIT_EXPECT_EQ_MSG(test, user_fault(s.mem, 21), 0U,
			    "rule: a fault on a page read ahead does not wait");
}

/*
 * A fault returns when its own page is read: after the first bio where a window
 * is one bio, else with the rest of its window still in flight.
 */
static void fault_ends_with_its_own_read(struct kunit *test)
{
	struct user_fault_thread *first, *second;
	unsigned int before, left;
	struct saturation s;

	saturate_device(test, &s);
	before = swap_has(READ_BATCHED) ? 0 : s.by_address ? 3 : 4;
	first = fault_eight(test, &s, 100);
	second = fault_eight(test, &s, 20);
	for (left = before; left; left--)
		fake_disk_release_one(s.area->disk);
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(first),
			       "rule: a fault waits for its page");
	fake_disk_release_one(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_FALSE_MSG(test, user_fault_done(second),
			       "rule: a fault waits for its page");
	KUNIT_EXPECT_EQ(test, fake_disk_held(s.area->disk),
			swap_has(READ_BATCHED) ? 1U : 15U - before);
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(second), VM_FAULT_MAJOR);
}

/* A fault on a neighbour that is being read waits for that read. */
static void neighbour_under_read_is_not_read_again(struct kunit *test)
{
	unsigned long hit = swap_vmstat(SWAP_RA_HIT);
	struct user_fault_thread *first, *second;
	struct saturation s;

	saturate_device(test, &s);
	first = fault_eight(test, &s, 100);
	second = user_fault_start(s.mem, 101);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault_wait_blocked(second),
			      "rule: a fault waits for its page");
	fake_disk_release(s.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(first), VM_FAULT_MAJOR);
	KUNIT_EXPECT_EQ_MSG(test, user_fault_wait(second) & VM_FAULT_ERROR, 0U,
			    "rule: a fault on a page being read succeeds when that read completes");
	SWAP_EXPECT_DECISIONS(test, s.area, "%s", window(test, 100, s.by_address, false));
	KUNIT_EXPECT_EQ_MSG(test, swap_vmstat(SWAP_RA_HIT) - hit, 1UL,
			    "rule: a fault on a page still being read ahead is a hit");
}

/* While writes do not complete, their pages stay cached, and reads pass them. */
static void saturated_writes_keep_pages_cached(struct kunit *test)
{
	struct swap_area *area = swap_device_area(test);
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
			    "rule: a fault on a page under write does not wait");
	SWAP_EXPECT_DECISIONS(test, area, "");
	swap_kunit_set_page_cluster(0);
	KUNIT_EXPECT_EQ_MSG(test, user_fault(mem, 12), VM_FAULT_MAJOR,
			    "rule: reads pass writes that do not complete");
	SWAP_EXPECT_DECISIONS(test, area, "R0:4!4");
	fake_disk_release(area->disk);
}

/* On a saturated synchronous device each fault waits for its own slot only. */
static void synchronous_device_holds_single_reads(struct kunit *test)
{
	struct user_fault_thread *threads[3];
	static const unsigned int pages[] = { 100, 20, 21 };
	struct saturation s;
	unsigned int i;

	saturate(test, &s, &SWAP_AREA_ZRAM_1);
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
 * Cluster readahead asks on a block device, and on a file whose I/O goes through
 * its file system, about reads only. VMA readahead does not ask.
 */
struct congested_case {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	bool file;
	bool shmem;		/* cluster readahead reads it on any device */
	enum fake_fs_way way;
	unsigned int ops;	/* congested for these */
	bool alone;		/* the faulting page is read alone, if readahead asks */
};

#define READS	BIT(FAKE_DISK_READ)
#define WRITES	BIT(FAKE_DISK_WRITE)

static const struct congested_case congested[] = {
	{ "hdd, reads", &FAKE_DISK_HDD, .ops = READS, .alone = true },
	{ "hdd, reads and writes", &FAKE_DISK_HDD, .ops = READS | WRITES, .alone = true },
	{ "hdd, writes", &FAKE_DISK_HDD, .ops = WRITES },
	{ "hdd, neither", &FAKE_DISK_HDD },
	{ "ssd, reads", &FAKE_DISK_SSD, .ops = READS },
	{ "ssd, reads and writes", &FAKE_DISK_SSD, .ops = READS | WRITES },
	{ "shmem on an ssd, reads", &FAKE_DISK_SSD, .shmem = true, .ops = READS, .alone = true },
	{ "shmem on an ssd, writes", &FAKE_DISK_SSD, .shmem = true, .ops = WRITES },
	{ "file on an hdd, reads", &FAKE_DISK_HDD, .file = true, .way = FAKE_FS_EXTENTS,
	  .ops = READS },
	{ "file asked block by block, reads", &FAKE_DISK_HDD, .file = true, .way = FAKE_FS_BMAP,
	  .ops = READS },
	{ "file through its file system, reads", &FAKE_DISK_HDD, .file = true,
	  .way = FAKE_FS_DIRECT, .ops = READS, .alone = true },
	{ "file through its file system, writes", &FAKE_DISK_HDD, .file = true,
	  .way = FAKE_FS_DIRECT, .ops = WRITES },
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

/* A fault on a page reads this window; the slot of a page of shmem is freed. */
static void expect_window(struct kunit *test, struct swap_area *area, struct user_memory *mem,
			  unsigned int page, bool shmem, bool alone)
{
	unsigned long slot = swp_offset(user_entry(mem, page)) - area->log.base;
	const char *text = window(test, slot, swap_kunit_use_vma_readahead() && !shmem, alone);

	set_six_hits(mem);
	KUNIT_EXPECT_TRUE(test, user_fault(mem, page) & VM_FAULT_MAJOR);
	if (shmem)
		SWAP_EXPECT_DECISIONS(test, area, "%s F0:%lu", text, slot);
	else
		SWAP_EXPECT_DECISIONS(test, area, "%s", text);
}

static void congested_device_reads_the_target_alone(struct kunit *test)
{
	const struct congested_case *c = swap_param(test);
	bool alone = c->alone && swap_has(CONGESTION_CHECK);
	struct swap_area *area = congested_area(test, c);
	struct user_memory *mem = c->shmem ? user_memory_shmem(test, 128) :
					     user_memory_new(test, 128);

	user_fill(mem, 0, 128);
	user_swap_out(mem, 0, 128);
	swap_decisions_skip(test);
	fake_disk_congest(area->disk, c->ops);
	swap_rule(test, alone ? "congestion: the faulting page alone if reads are congested" :
				"congestion: whole windows if not asked for or not congested");
	expect_window(test, area, mem, 20, c->shmem, alone);
	expect_window(test, area, mem, 100, c->shmem, alone);
	swap_rule(test, "congestion: whole windows again afterwards");
	fake_disk_congest(area->disk, 0);
	expect_window(test, area, mem, 44, c->shmem, false);
}

/* A window of one page is the same either way. */
static void congestion_leaves_a_window_of_one(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = user_memory_swapped(test, 32);

	swap_kunit_set_page_cluster(0);
	fake_disk_congest(area->disk, READS);
	expect_window(test, area, mem, 20, false, true);
	fake_disk_congest(area->disk, 0);
	expect_window(test, area, mem, 12, false, true);
}

/* A window that was not read counts as read: the next one follows from it. */
static void congestion_still_advances_the_window(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_HDD_1);
	struct user_memory *mem = user_memory_swapped(test, 128);

	fake_disk_congest(area->disk, READS);
	expect_window(test, area, mem, 20, false, swap_has(CONGESTION_CHECK));
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_readahead_hits(), 0,
			    "rule: a window uses up the hits, read or not");
	fake_disk_congest(area->disk, 0);
	user_fault(mem, 100);
	swap_rule(test, "no hits: half of the previous window, read or not");
	SWAP_EXPECT_DECISIONS(test, area, "R0:100+4!100");
}

static struct kunit_case swap_congestion_cases[] = {
	KUNIT_CASE_PARAM(congested_device_reads_the_target_alone, congested_gen_params),
	KUNIT_CASE(congestion_leaves_a_window_of_one),
	KUNIT_CASE(congestion_still_advances_the_window),
	KUNIT_CASE_PARAM(saturated_device_gets_whole_windows, devices_gen_params),
	KUNIT_CASE_PARAM(busy_device_gets_whole_windows, devices_gen_params),
	KUNIT_CASE_PARAM(released_device_is_as_before, devices_gen_params),
	KUNIT_CASE_PARAM(fault_ends_with_its_own_read, devices_gen_params),
	KUNIT_CASE_PARAM(neighbour_under_read_is_not_read_again, devices_gen_params),
	KUNIT_CASE_PARAM(saturated_writes_keep_pages_cached, devices_gen_params),
	KUNIT_CASE(synchronous_device_holds_single_reads),
	{}
};

SWAP_KUNIT_SUITE(swap_congestion, swap_congestion_cases);

MODULE_DESCRIPTION("KUnit suite of swap on a saturated device");
MODULE_LICENSE("GPL");
