// SPDX-License-Identifier: GPL-2.0
/*
 * Swap files: where their slots lie on the disk, which files are refused, and
 * I/O through the file system.
 */
#include "swap_fixture.h"

/*
 * Extents: first block on the disk, number of blocks.
 *
 * Three of them, the middle one first on the disk, in one cluster: these cases
 * do not depend on the order of clusters.
 */
static const struct fake_fs_extent file_three_extents[] = {
	{ 1000, 60 }, { 200, 60 }, { 2000, 80 }, { }
};

static const struct fake_fs_extent file_one_extent[] = { { 64, 1024 }, { } };

struct file_way {
	SWAP_PARAM_NAME;
	struct fake_fs_config fs;
	int result;	/* of I/O that fails: negative errno, or bytes */
};

static const struct file_way file_device_ways[] = {
	{ "bmap, ssd", { &FAKE_DISK_SSD, FAKE_FS_BMAP, .extents = file_three_extents } },
	{ "bmap, zram", { &FAKE_DISK_ZRAM, FAKE_FS_BMAP, .extents = file_three_extents } },
	{ "bmap, hdd", { &FAKE_DISK_HDD, FAKE_FS_BMAP, .extents = file_three_extents } },
	{ "extents, ssd", { &FAKE_DISK_SSD, FAKE_FS_EXTENTS, .extents = file_three_extents } },
	{ "extents, hdd", { &FAKE_DISK_HDD, FAKE_FS_EXTENTS, .extents = file_three_extents } },
};

static const struct file_way file_direct_ways[] = {
	{ "direct", { &FAKE_DISK_HDD, FAKE_FS_DIRECT, .extents = file_three_extents } },
	{ "direct, queued", { &FAKE_DISK_HDD, FAKE_FS_DIRECT, .extents = file_three_extents,
			      .queued = true } },
};

#define FILE_FAILURE(text, how, is_queued)					\
	{ text, { &FAKE_DISK_HDD, FAKE_FS_DIRECT, .extents = file_three_extents,	\
		  .queued = is_queued }, .result = how }

static const struct file_way file_direct_failures[] = {
	FILE_FAILURE("error", -EIO, false),
	FILE_FAILURE("error, queued", -EIO, true),
	FILE_FAILURE("short", PAGE_SIZE / 2, false),
	FILE_FAILURE("short, queued", PAGE_SIZE / 2, true),
};

SWAP_PARAMS(file_device_way, file_device_ways);
SWAP_PARAMS(file_direct_failure, file_direct_failures);
SWAP_PARAMS(file_direct_way, file_direct_ways);

static struct swap_area *file_on(struct kunit *test, const struct fake_fs_config *config)
{
	struct swap_area *area = fake_fs_prepare(test, config);

	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapon(area, 0), 0, "swapon of a file");
	return area;
}

static struct swap_area *file_area(struct kunit *test)
{
	const struct file_way *way = swap_param(test);

	return file_on(test, &way->fs);
}

/* The page of the disk that holds a slot, by the extents of the file. */
static unsigned long file_disk_page(const struct fake_fs_extent *extent, unsigned long slot)
{
	for (; slot >= extent->nr; extent++)
		slot -= extent->nr;
	return extent->block + slot;
}

/*
 * "swap: fix swapfile read/write offset": the data of a slot goes to the block that
 * the extents of the file name, not to the block numbered as the slot.
 */
static void io_follows_the_extents(struct kunit *test)
{
	const struct file_way *way = swap_param(test);
	struct swap_area *area = file_area(test);
	struct user_memory *mem = user_memory_new(test, 24);
	unsigned long slot, disk_page;
	unsigned int page;

	/* Almost to the end of the first extent. */
	swap_alloc_many(test, 50, NULL);
	user_fill(mem, 0, 24);
	user_page_out(mem, 0, 24);
	user_reclaim_cached(mem, 0, 24);
	for (page = 0; page < 24; page++) {
		slot = swp_offset(user_entry(mem, page));
		disk_page = file_disk_page(way->fs.extents, slot);
		KUNIT_EXPECT_EQ_MSG(test, *(u64 *)fake_disk_page(area->disk, disk_page),
				    mem->value[page],
				    "rule: swap I/O follows the extents of the file: slot %lu",
				    slot);
		KUNIT_EXPECT_FALSE_MSG(test, fake_disk_has(area->disk, slot),
				       "rule: swap I/O follows the extents of the file, not page %lu of the disk",
				       slot);
	}
	USER_EXPECT_INTACT(test, mem);
}

/* Consecutive slots in two extents are two bios. */
static void bio_ends_with_its_extent(struct kunit *test)
{
	static const struct fake_fs_extent extents[] = { { 40, 8 }, { 20, 8 }, { } };
	struct swap_area *area = file_on(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .extents = extents });
	struct user_memory *mem = user_memory_new(test, 8);

	SWAP_REQUIRE(test, WRITE_BATCHED);
	swap_alloc_many(test, 3, NULL);
	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	SWAP_EXPECT_DECISIONS(test, area, "A0:1+8 W0:4+4 A0:9+3 W0:8+4");
	SWAP_EXPECT_BIOS(test, area->disk, "W0:44+4 W0:20+4");
	user_reclaim_cached(mem, 0, 8);
	USER_EXPECT_INTACT(test, mem);
}

/* Consecutive pages of the disk whose slots are in another order keep their data. */
static void disk_order_is_not_slot_order(struct kunit *test)
{
	static const struct fake_fs_extent extents[] = { { 41, 4 }, { 40, 1 }, { 45, 4 }, { } };
	struct user_memory *mem = user_memory_new(test, 8);

	file_on(test, &(struct fake_fs_config){ .disk = &FAKE_DISK_SSD, .extents = extents });
	user_fill(mem, 0, 8);
	user_page_out(mem, 0, 8);
	user_reclaim_cached(mem, 0, 8);
	USER_EXPECT_INTACT(test, mem);
}

static const struct fake_fs_extent file_hole[] = { { 64, 16 }, { 0, 4 }, { 128, 16 }, { } };
static const struct fake_fs_extent file_hole_in_page[] = { { 64, 17 }, { 0, 1 }, { 82, 22 }, { } };
static const struct fake_fs_extent file_unaligned[] = { { 65, 3 }, { 73, 3 }, { 81, 2 }, { } };

struct file_refused {
	SWAP_PARAM_NAME;
	struct fake_fs_config fs;
	int error;
	bool read_fails;
};

static const struct file_refused file_refusals[] = {
	{ "hole", { &FAKE_DISK_SSD, FAKE_FS_BMAP, .extents = file_hole }, -EINVAL },
	{ "hole within a page", { &FAKE_DISK_SSD, FAKE_FS_BMAP, .extents = file_hole_in_page,
				  .block_bits = 10 }, -EINVAL },
	{ "no whole page", { &FAKE_DISK_SSD, FAKE_FS_BMAP, .extents = file_unaligned,
			     .block_bits = 10 }, -EINVAL },
	{ "file system says no", { &FAKE_DISK_SSD, FAKE_FS_EXTENTS, .extents = file_three_extents,
				   .activate_error = -ETXTBSY }, -ETXTBSY },
	{ "nothing but the header", { &FAKE_DISK_SSD, FAKE_FS_EXTENTS, .activate_pages = 1,
				      .extents = file_three_extents }, -EINVAL },
	{ "encrypted", { &FAKE_DISK_SSD, FAKE_FS_BMAP, .extents = file_three_extents,
			 .encrypted = true }, -EINVAL },
	{ "header cannot be read", { &FAKE_DISK_SSD, FAKE_FS_BMAP, .extents = file_three_extents },
	  -EIO, .read_fails = true },
};

SWAP_PARAMS(file_refused, file_refusals);

/* An unsuitable file is refused and deactivated again. */
static void file_is_refused(struct kunit *test)
{
	const struct file_refused *refused = swap_param(test);
	struct swap_area *area = fake_fs_prepare(test, &refused->fs);

	if (refused->read_fails)
		fake_fs_fail_all(area, FAKE_DISK_READ, -EIO);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), refused->error,
			    "rule: swapon refuses this file: %s", refused->name);
	KUNIT_EXPECT_FALSE_MSG(test, fake_fs_activated(area),
			       "rule: a refused file is deactivated");
}

/*
 * With blocks of 1 KiB only whole, aligned pages of the disk become slots. Blocks
 * 64 and 65 are too few; blocks 33 to 35 lie before the start of a page.
 */
static void parts_of_pages_are_not_used(struct kunit *test)
{
	static const struct fake_fs_extent extents[] = {
		{ 16, 8 }, { 64, 2 }, { 33, 7 }, { 44, 6 }, { }
	};
	static const unsigned long disk_pages[] = { 5, 9, 11 };
	struct swap_area *area = file_on(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .block_bits = 10, .extents = extents, .pages = 6 });
	struct user_memory *mem = user_memory_swapped(test, 3);
	struct swap_area_facts facts;
	unsigned long slot;
	unsigned int page;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.pages, 3UL,
			    "rule: only whole, aligned pages of the disk become slots");
	for (page = 0; page < 3; page++) {
		slot = swp_offset(user_entry(mem, page));
		KUNIT_ASSERT_TRUE(test, slot >= 1 && slot <= 3);
		KUNIT_EXPECT_EQ_MSG(test, *(u64 *)fake_disk_page(area->disk, disk_pages[slot - 1]),
				    mem->value[page], "rule: slot %lu lies in page %lu of the disk",
				    slot, disk_pages[slot - 1]);
	}
	USER_EXPECT_INTACT(test, mem);
}

struct file_gives {
	SWAP_PARAM_NAME;
	unsigned long pages;
};

static const struct file_gives file_gifts[] = {
	{ "part of a cluster", .pages = 100 }, { "a cluster and some", .pages = 600 },
	{ "whole clusters", .pages = 512 }, { "all but one", .pages = 1023 },
};

SWAP_PARAMS(file_gives, file_gifts);

/*
 * "mm: swap: correctly use maxpages in swapon syscall to avoid potential
 * deadloop": if the file system gives fewer pages than the header says, no slot
 * past them is used.
 */
static void file_system_gives_less(struct kunit *test)
{
	const struct file_gives *gives = swap_param(test);
	struct swap_area *area = file_on(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .way = FAKE_FS_EXTENTS, .extents = file_one_extent,
		.activate_pages = gives->pages });
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.max, gives->pages);
	/* A kernel that lists such a cluster as free would search it forever. */
	KUNIT_ASSERT_TRUE_MSG(test, swap_expect_lists_consistent(test, area),
			      "no cluster past the end of the area is on a list");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 1100, NULL), gives->pages - 1,
			    "rule: an area has only the slots that its file system gave");
	KUNIT_EXPECT_EQ(test, swap_area_inuse(area), gives->pages - 1);
}

/* A file in use for swap is busy until swapoff deactivates it. */
static void file_in_use_is_busy(struct kunit *test)
{
	struct swap_area *area = file_on(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .way = FAKE_FS_EXTENTS, .extents = file_one_extent });

	KUNIT_EXPECT_TRUE(test, fake_fs_activated(area));
	KUNIT_EXPECT_EQ_MSG(test, swap_swapon_path(area->path, 0), -EBUSY,
			    "rule: swapon of a file in use is refused");
	KUNIT_EXPECT_TRUE_MSG(test, fake_fs_activated(area),
			      "rule: a refused swapon does not affect the first one");
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_FALSE_MSG(test, fake_fs_activated(area),
			       "rule: swapoff deactivates the file");
}

/*
 * "mm, THP, swap: fix allocating cluster for swapfile by mistake": a large folio
 * gets no slots in a file, whose extents may be anywhere.
 */
static void large_folio_gets_no_slots(struct kunit *test)
{
	/* The second cluster is free and lies in two extents. */
	static const struct fake_fs_extent extents[] = { { 1000, 700 }, { 200, 700 }, { } };
	swp_entry_t entry;

	SWAP_REQUIRE_LARGE(test);
	file_on(test, &(struct fake_fs_config){ .disk = &FAKE_DISK_SSD, .extents = extents });
	entry = swap_alloc_order(test, 2);
	KUNIT_EXPECT_EQ_MSG(test, entry.val, 0UL,
			    "rule: a large folio gets no slots in a swap file");
}

/* swapoff of a file reads back every page, whatever its extent. */
static void swapoff_reads_every_page_back(struct kunit *test)
{
	struct swap_area *area = file_area(test);
	struct user_memory *mem = user_memory_swapped(test, 20);

	KUNIT_EXPECT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_PRESENT);
	USER_EXPECT_INTACT(test, mem);
}

/* I/O through the file system: no bios, up to 32 pages a call. */
static void direct_io_goes_through_the_file_system(struct kunit *test)
{
	struct swap_area *area = file_area(test);
	struct user_memory *mem = user_memory_new(test, 40);
	unsigned long out = swap_vmstat(PSWPOUT), in = swap_vmstat(PSWPIN);
	unsigned int page;

	user_fill(mem, 0, 40);
	user_page_out(mem, 0, 40);
	KUNIT_EXPECT_EQ_MSG(test, fake_fs_ios(area, FAKE_DISK_WRITE), swap_has(SWAP_RW) ? 2U : 40U,
			    "rule: up to 32 pages a call, or one where the kernel does not batch");
	KUNIT_EXPECT_EQ(test, swap_vmstat(PSWPOUT) - out, 40UL);
	user_reclaim_cached(mem, 0, 40);
	for (page = 0; page < 40; page++)
		KUNIT_EXPECT_EQ_MSG(test, user_page_cached(mem, page), false, "page %u", page);
	USER_EXPECT_INTACT(test, mem);
	KUNIT_EXPECT_EQ(test, swap_vmstat(PSWPIN) - in, 40UL);
	if (swap_has(SWAP_RW))
		KUNIT_EXPECT_LT_MSG(test, fake_fs_ios(area, FAKE_DISK_READ), 40U,
				    "rule: a readahead window is read in one call");
	else
		KUNIT_EXPECT_EQ(test, fake_fs_ios(area, FAKE_DISK_READ), 40U);
	SWAP_EXPECT_BIOS(test, area->disk, "");
}

/* A gap between slots ends a call. */
static void direct_io_ends_at_a_gap(struct kunit *test)
{
	static const struct fake_fs_extent small[] = { { 64, 8 }, { } };
	struct swap_area *area = file_on(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .way = FAKE_FS_DIRECT, .extents = small });
	struct user_memory *mem = user_memory_new(test, 4);
	int type = area->si->type;

	SWAP_REQUIRE(test, CLUSTER_ALLOCATOR);	/* which takes neighbouring slots in order */
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, 7, NULL), 7U);
	swap_free_slots(swp_entry(type, 2), 2);
	swap_free_slots(swp_entry(type, 5), 2);
	user_fill(mem, 0, 4);
	user_page_out(mem, 0, 4);
	KUNIT_EXPECT_EQ_MSG(test, fake_fs_ios(area, FAKE_DISK_WRITE), 2U,
			    "rule: a call is for consecutive slots");
	user_reclaim_cached(mem, 0, 4);
	USER_EXPECT_INTACT(test, mem);
}

/* After a failed or short write the pages stay in memory; after such a read it is SIGBUS. */
static void direct_io_fails(struct kunit *test)
{
	const struct file_way *way = swap_param(test);
	struct swap_area *area = file_area(test);
	struct user_memory *mem = user_memory_new(test, 4);
	unsigned int page;

	user_fill(mem, 0, 4);
	fake_fs_fail_all(area, FAKE_DISK_WRITE, way->result);
	user_page_out(mem, 0, 4);
	user_reclaim_cached(mem, 0, 4);
	for (page = 0; page < 4; page++)
		KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(mem, page),
				      "rule: a page whose write failed stays in memory");
	fake_fs_fail_all(area, FAKE_DISK_WRITE, 0);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem), "rule: a failed write loses no data");
	user_page_out(mem, 0, 4);
	user_reclaim_cached(mem, 0, 4);
	KUNIT_EXPECT_FALSE_MSG(test, user_page_cached(mem, 0),
			       "rule: a failed write is retried");
	fake_fs_fail_all(area, FAKE_DISK_READ, way->result);
	KUNIT_EXPECT_TRUE_MSG(test, user_fault(mem, 0) & VM_FAULT_SIGBUS,
			      "rule: a failed read is SIGBUS");
	KUNIT_EXPECT_EQ(test, user_page_is(mem, 0), USER_PAGE_SWAPPED);
	fake_fs_fail_all(area, FAKE_DISK_READ, 0);
	user_reclaim_cached(mem, 0, 4);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(mem),
			      "rule: a failed read does not harm the slot");
}

static struct kunit_case swap_file_cases[] = {
	KUNIT_CASE_PARAM(io_follows_the_extents, file_device_way_gen_params),
	KUNIT_CASE(bio_ends_with_its_extent),
	KUNIT_CASE(disk_order_is_not_slot_order),
	KUNIT_CASE_PARAM(file_is_refused, file_refused_gen_params),
	KUNIT_CASE(parts_of_pages_are_not_used),
	KUNIT_CASE_PARAM(file_system_gives_less, file_gives_gen_params),
	KUNIT_CASE(file_in_use_is_busy),
	KUNIT_CASE(large_folio_gets_no_slots),
	KUNIT_CASE_PARAM(swapoff_reads_every_page_back, file_device_way_gen_params),
	KUNIT_CASE_PARAM(direct_io_goes_through_the_file_system, file_direct_way_gen_params),
	KUNIT_CASE(direct_io_ends_at_a_gap),
	KUNIT_CASE_PARAM(direct_io_fails, file_direct_failure_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_file, swap_file_cases);

MODULE_DESCRIPTION("KUnit suite of swap files");
MODULE_LICENSE("GPL");
