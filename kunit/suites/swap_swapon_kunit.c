// SPDX-License-Identifier: GPL-2.0
/*
 * swapon(2): refused paths, headers and flags, and the area of a device.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>
#include <linux/kdev_t.h>
#include <linux/major.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/swab.h>
#include "swap_fixture.h"
#include <linux/poll.h>

/* A refused swapon leaves nothing behind. */
static void expect_nothing_left(struct kunit *test, int allocations)
{
	swap_expect_no_areas(test, "after a refused swapon");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_SWAPFILE), allocations,
			    "rule: a refused swapon frees everything it allocated");
}

static const struct {
	unsigned long flag;
	const char *name;
} flag_names[] = {
	{ SWP_USED, "used" }, { SWP_WRITEOK, "writeok" }, { SWP_BLKDEV, "blkdev" },
	{ SWP_SOLIDSTATE, "solidstate" }, { SWP_SYNCHRONOUS_IO, "synchronous" },
	{ SWP_STABLE_WRITES, "stable" }, { SWP_DISCARDABLE, "discardable" },
	{ SWP_AREA_DISCARD, "area-discard" }, { SWP_PAGE_DISCARD, "page-discard" },
	{ SWP_ACTIVATED, "activated" },
};

static const char *flags_text(struct kunit *test, unsigned long flags)
{
	char *text = kunit_kzalloc(test, 200, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 0; i < ARRAY_SIZE(flag_names); i++) {
		if (!(flags & flag_names[i].flag))
			continue;
		if (*text)
			strlcat(text, " ", 200);
		strlcat(text, flag_names[i].name, 200);
		flags &= ~flag_names[i].flag;
	}
	KUNIT_EXPECT_EQ_MSG(test, flags, 0UL, "rule: an area has no other flags");
	return text;
}

/* Headers that swapon must refuse. */

static void header_magic(union swap_header *header)
{
	memcpy(header->magic.magic, "SWAPSPACE1", 10);
}

static void header_blank(union swap_header *header)
{
	memset(header, 0, PAGE_SIZE);
}

static void header_version_0(union swap_header *header)
{
	header->info.version = 0;
}

static void header_version_2(union swap_header *header)
{
	header->info.version = 2;
}

static void header_no_pages(union swap_header *header)
{
	header->info.last_page = 0;
}

static void header_past_device(union swap_header *header)
{
	header->info.last_page++;
}

static void header_endless(union swap_header *header)
{
	header->info.last_page = UINT_MAX;
}

/* The last bad page is stored over the magic: a page number of a very large device. */
static void header_too_many_bad(union swap_header *header)
{
	unsigned int i;

	header->info.last_page = 0x7fffffff;
	header->info.nr_badpages = MAX_SWAP_BADPAGES + 1;
	for (i = 0; i < MAX_SWAP_BADPAGES; i++)
		header->info.badpages[i] = 1 + i;
}

static void header_most_bad(union swap_header *header)
{
	header_too_many_bad(header);
	header->info.nr_badpages--;
}

static void header_all_bad(union swap_header *header)
{
	unsigned int i;

	header->info.last_page = 10;
	header->info.nr_badpages = 10;
	for (i = 0; i < 10; i++)
		header->info.badpages[i] = 1 + i;
}

static void header_bad_page_0(union swap_header *header)
{
	header->info.badpages[header->info.nr_badpages++] = 0;
}

static void header_bad_page_past_end(union swap_header *header)
{
	header->info.badpages[header->info.nr_badpages++] = header->info.last_page + 1;
}

static void header_bad_page(union swap_header *header)
{
	header->info.badpages[header->info.nr_badpages++] = header->info.last_page;
}

static void header_bad_page_twice(union swap_header *header)
{
	header_bad_page(header);
	header_bad_page(header);
}

/* As written by a machine of the other endianness. */
static void header_swapped(union swap_header *header)
{
	unsigned int i;

	for (i = 0; i < header->info.nr_badpages; i++)
		swab32s(&header->info.badpages[i]);
	swab32s(&header->info.version);
	swab32s(&header->info.last_page);
	swab32s(&header->info.nr_badpages);
}

static void header_swapped_too_many_bad(union swap_header *header)
{
	header_swapped(header);
	header->info.nr_badpages = swab32(0xffffff);
}

static void header_swapped_past_device(union swap_header *header)
{
	header_past_device(header);
	header_swapped(header);
}

struct header_param {
	SWAP_PARAM_NAME;
	void (*mangle)(union swap_header *header);
	const struct fake_disk_profile *disk;
	bool limited;	/* the kernel's limit of an area is the device's size */
};

static const struct header_param refused_headers[] = {
	/* name, mangle, disk */
	{ "magic of version 0", header_magic, &FAKE_DISK_SSD },
	{ "blank", header_blank, &FAKE_DISK_SSD },
	{ "version 0", header_version_0, &FAKE_DISK_SSD },
	{ "version 2", header_version_2, &FAKE_DISK_SSD },
	{ "no pages", header_no_pages, &FAKE_DISK_SSD },
	{ "one page more than the device", header_past_device, &FAKE_DISK_SSD },
	{ "2^32 pages", header_endless, &FAKE_DISK_SSD },
	{ "too many bad pages", header_too_many_bad, &FAKE_DISK_SSD, .limited = true },
	{ "all pages bad", header_all_bad, &FAKE_DISK_SSD },
	{ "all pages bad, hdd", header_all_bad, &FAKE_DISK_HDD },
	{ "page 0 bad", header_bad_page_0, &FAKE_DISK_SSD },
	{ "page 0 bad, hdd", header_bad_page_0, &FAKE_DISK_HDD },
	{ "bad page past the end", header_bad_page_past_end, &FAKE_DISK_SSD },
	{ "bad page past the end, hdd", header_bad_page_past_end, &FAKE_DISK_HDD },
	{ "byte-swapped, too many bad pages", header_swapped_too_many_bad, &FAKE_DISK_SSD },
	{ "byte-swapped, one page more than the device", header_swapped_past_device,
	  &FAKE_DISK_SSD },
};

SWAP_PARAMS(refused_header, refused_headers);

/* An invalid header is refused. */
static void bad_header_is_refused(struct kunit *test)
{
	const struct header_param *param = swap_param(test);
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 3, .mangle = param->mangle });
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	if (param->limited)
		swap_limit_area_size(test, 4 * swap_cluster_slots());
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EINVAL,
			    "rule: swapon refuses an invalid header: %s", param->name);
	expect_nothing_left(test, allocations);
}

/*
 * A bad page listed twice is refused by kernels that check for it; others must not count it
 * twice.
 */
static void bad_page_twice(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .mangle = header_bad_page_twice });
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);
	struct swap_area_facts facts;
	int err;

	err = swap_area_swapon(area, 0);
	if (swap_has(BAD_SLOT_TWICE_REFUSED)) {
		KUNIT_EXPECT_EQ_MSG(test, err, -EINVAL, "rule: a bad page listed twice is refused");
		expect_nothing_left(test, allocations);
		return;
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.pages, swap_cluster_slots() - 1UL,
			    "rule: a bad page listed twice is one bad page");
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
}

/* A device that was refused several times is accepted once its header is valid. */
static void refused_device_is_accepted_later(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .clusters = 1, .mangle = header_bad_page_past_end });
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE), i;
	union swap_header *header;

	for (i = 0; i < 5; i++)
		if (swap_area_swapon(area, 0) != -EINVAL)
			break;
	KUNIT_EXPECT_EQ(test, i, 5);
	expect_nothing_left(test, allocations);

	header = fake_disk_page(area->disk, 0);
	header->info.nr_badpages--;
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), 0,
			    "rule: a refused device is accepted once its header is valid");
}

static const struct swap_device devices[] = { SWAP_DEVICES_ALL(.clusters = 1) };

SWAP_PARAMS(device, devices);

/* If any of its allocations fails, swapon fails and frees the others. */
static void every_allocation_may_fail(struct kunit *test)
{
	const struct swap_device *device = swap_param(test);
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = device->area.disk, .clusters = 1, .tail_slots = 10 });
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE), err;
	unsigned int nth;

	if (swap_has(FRONTSWAP_MAP))
		swap_expect_report(test, "mm/frontswap.c");
	for (nth = 1; nth < 50; nth++) {
		swap_fail(test, SWAP_FAIL_ALLOC, nth, 1);
		err = swap_area_swapon(area, device->area.swap_flags);
		if (!swap_failed(SWAP_FAIL_ALLOC))
			break;
		KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM,
				    "rule: swapon fails with its allocation %u", nth);
		if (!err)
			KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
		expect_nothing_left(test, allocations);
	}
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "rule: swapon succeeds once no allocation fails");
	KUNIT_EXPECT_EQ_MSG(test, swap_reached(SWAP_FAIL_ALLOC), nth - 1,
			    "each allocation of swapon must have failed once");
	swap_fail(test, SWAP_FAIL_ALLOC, 1, 0);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_SWAPFILE), allocations,
			    "rule: swapoff frees everything that swapon allocated");
}

/* A header that cannot be read is an I/O error. */
static void unreadable_header(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EIO,
			    "rule: swapon returns a read error");
	expect_nothing_left(test, allocations);
}

/* A header of the other endianness is accepted, including its bad pages. */
static void byte_swapped_header_is_accepted(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 2, .bad_slots = (unsigned long[]){ 3, 7, 0 },
		.mangle = header_swapped });
	struct swap_area_facts facts;
	struct swap_slot_facts slot;
	unsigned int i;

	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapon(area, 0), 0,
			    "rule: a byte-swapped header is accepted");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.max, 3UL * swap_cluster_slots());
	KUNIT_EXPECT_EQ(test, facts.pages, 2UL * swap_cluster_slots() - 2);
	for (i = 0; i < 9; i++) {
		swap_slot_facts(area, swap_slot_at(area, 0, i), &slot);
		KUNIT_EXPECT_EQ_MSG(test, slot.bad, i == 3 || i == 7,
				    "rule: the slots listed in the header are bad: slot %u", i);
	}
}

/* A header may list MAX_SWAP_BADPAGES bad pages. */
static void header_may_list_max_bad_pages(struct kunit *test)
{
	unsigned long pages = 4 * swap_cluster_slots();
	struct swap_area_facts facts;
	struct swap_area *area;

	swap_limit_area_size(test, pages);
	area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 3, .mangle = header_most_bad });
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.pages, pages - 1 - MAX_SWAP_BADPAGES,
			    "rule: each bad page is subtracted from the area");
}

/*
 * Dirty page cache of the device is written before any page is swapped there. A device whose
 * page cache cannot be written is refused.
 */
static void dirty_pages_are_written_first(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);

	KUNIT_ASSERT_EQ(test, fake_disk_write_cached(area->disk, area->log.base + 5), 0);
	SWAP_EXPECT_DECISIONS(test, area, "R0:5");
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, 0), 0);
	SWAP_EXPECT_DECISIONS(test, area, "W0:5");
}

static void dirty_pages_that_cannot_be_written(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	KUNIT_ASSERT_EQ(test, fake_disk_write_cached(area->disk, area->log.base + 5), 0);
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_IOERR);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EIO,
			    "rule: swapon returns a write error");
	expect_nothing_left(test, allocations);
	fake_disk_fail_all(area->disk, FAKE_DISK_WRITE, BLK_STS_OK);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), 0,
			    "rule: a refused device can be switched on later");
}

/* Headers of swap files that are refused. */
static const struct fake_fs_extent file_extents[] = { { 40, 600 }, { } };

struct file_param {
	SWAP_PARAM_NAME;
	void (*mangle)(union swap_header *header);
};

static const struct file_param refused_files[] = {
	{ "one page more than the file", header_past_device },
	{ "bad page", header_bad_page },
	{ "magic of version 0", header_magic },
};

SWAP_PARAMS(refused_file, refused_files);

static void bad_header_of_a_file_is_refused(struct kunit *test)
{
	const struct file_param *param = swap_param(test);
	struct swap_area *area = fake_fs_prepare(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .extents = file_extents });
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	param->mangle(fake_disk_page(area->disk, file_extents[0].block));
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EINVAL,
			    "rule: swapon refuses an invalid header of a file: %s", param->name);
	expect_nothing_left(test, allocations);
}

/* Slots are not written in the order of zones. */
static void zoned_device_is_refused(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	SWAP_REQUIRE_CONFIG(test, BLK_DEV_ZONED);
	fake_disk_set_zoned(area->disk, true);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EINVAL,
			    "rule: swapon refuses a zoned device");
	fake_disk_set_zoned(area->disk, false);
	expect_nothing_left(test, allocations);
	KUNIT_EXPECT_EQ(test, swap_area_swapon(area, 0), 0);
}

/* The area of a file has the flags of its device, and /proc/swaps calls it a file. */
static void file_is_listed_as_a_file(struct kunit *test)
{
	struct swap_area *area = fake_fs_prepare(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD, .way = FAKE_FS_EXTENTS, .extents = file_extents });
	struct swap_area_facts facts;
	char *line;

	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, SWAP_FLAG_PREFER), 0);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_STREQ_MSG(test, flags_text(test, facts.flags),
			       "used writeok solidstate activated",
			       "rule: the area of a file has the flags of its device");
	KUNIT_EXPECT_EQ(test, facts.pages, 599UL);
	line = kunit_kzalloc(test, 200, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, line);
	snprintf(line, 200, "%-40sfile\t\t%d\t\t0\t\t0\n", area->path, 599 * 4);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(swap_proc_swaps(test, PAGE_SIZE), line),
				  "rule: /proc/swaps lists a file as one: %s", line);
}

/* With no whole cluster free, older kernels take every other slot first: "a/A0:0 a/A0:2 ...". */
static char *every_other_slot(struct kunit *test, const char *areas, unsigned int slots)
{
	char *text = kunit_kzalloc(test, 400, GFP_KERNEL);
	unsigned int len = 0, i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (; *areas; areas++)
		for (i = 0; i < slots; i++)
			len += scnprintf(text + len, 400 - len, "%s%c/A0:%u", len ? " " : "",
					 *areas, i * 2 % slots + i * 2 / slots);
	return text;
}

/* Pages of the device past the header's last one are not used. */
static void device_may_be_larger_than_the_header_says(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 20, .pages = 4 * swap_cluster_slots() });
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.max, swap_cluster_slots() + 20UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 100, NULL), 20U,
			    "rule: no slot past the header's last page is allocated");
	SWAP_EXPECT_DECISIONS(test, NULL, swap_has(CLUSTER_ALLOCATOR) ? "a/A0:0+20" :
			      every_other_slot(test, "a", 20));
	swap_free_slots(swap_entry_at(area, 0, 0), 20);
}

/* Paths that are not a swap area. */
struct path_param {
	SWAP_PARAM_NAME;
	const char *path;
	umode_t mode;
	dev_t dev;
	int err;
};

static const struct path_param refused_paths[] = {
	{ "missing file", .path = "/swapkunit-nowhere", .err = -ENOENT },
	{ "empty path", .path = "", .err = -ENOENT },
	{ "bad address", .err = -EFAULT },
	{ "directory", .mode = S_IFDIR, .err = -EISDIR },
	{ "file without a header", .mode = S_IFREG, .err = -EINVAL },
	{ "fifo", .mode = S_IFIFO, .err = -EINVAL },
	{ "socket", .mode = S_IFSOCK, .err = -ENXIO },
	{ "character device", .mode = S_IFCHR, .dev = MKDEV(MEM_MAJOR, 3), .err = -EINVAL },
	{ "missing character device", .mode = S_IFCHR, .dev = MKDEV(MEM_MAJOR, 200),
	  .err = -ENXIO },
	{ "missing block device", .mode = S_IFBLK, .dev = MKDEV(MEM_MAJOR, 200),
	  .err = -ENXIO },
};

SWAP_PARAMS(refused_path, refused_paths);

/* A path that is neither a block device nor a file with a header is refused. */
static void bad_path_is_refused(struct kunit *test)
{
	const struct path_param *param = swap_param(test);
	const char *path = param->mode ? swap_node_new(test, param->mode, param->dev) :
					 param->path;
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	KUNIT_EXPECT_EQ_MSG(test, swap_swapon_path(path, 0), param->err,
			    "rule: swapon is refused: %s", param->name);
	expect_nothing_left(test, allocations);
}

/* Every unknown flag is refused. */
static void unknown_flags_are_refused(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE), bit;

	for (bit = 0; bit < 32; bit++)
		if (!(BIT(bit) & SWAP_FLAGS_VALID))
			KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, BIT(bit)), -EINVAL,
					    "rule: swapon refuses the unknown flag %#lx", BIT(bit));
	expect_nothing_left(test, allocations);
}

static void swapon_needs_privilege(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	int allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);

	swap_drop_privilege(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EPERM,
			    "rule: swapon is refused without CAP_SYS_ADMIN");
	expect_nothing_left(test, allocations);
}

/* A device that is on is busy, by any device node; its area does not change. */
static void busy_device_is_refused(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_SSD);
	dev_t dev = disk_devt(fake_disk_gendisk(area->disk));
	long pages = total_swap_pages;

	KUNIT_EXPECT_EQ_MSG(test, swap_swapon_path(fake_disk_path(area->disk), 0), -EBUSY,
			    "rule: a device cannot be switched on twice");
	KUNIT_EXPECT_EQ_MSG(test, swap_swapon_path(swap_node_new(test, S_IFBLK, dev), 0), -EBUSY,
			    "rule: a device cannot be switched on twice by another node");
	KUNIT_EXPECT_EQ(test, swap_kunit_areas_used(), 1U);
	KUNIT_EXPECT_EQ(test, total_swap_pages, pages);
	KUNIT_EXPECT_NE_MSG(test, swap_alloc(test).val, 0UL,
			    "rule: a refused second swapon leaves the area usable");
	swap_free_slot(swap_entry_at(area, 0, 0));
}

/* There can be MAX_SWAPFILES areas and no more. */
static void number_of_areas_is_limited(struct kunit *test)
{
	const struct swap_area_config small = { .disk = &FAKE_DISK_SSD, .tail_slots = 4,
						.use_cluster0 = true };
	struct swap_area *first = NULL, *area;
	int i, allocations;

	for (i = 0; i < MAX_SWAPFILES; i++) {
		area = swap_area_on(test, &small);
		first = first ?: area;
	}
	allocations = swap_kunit_live(SWAP_LIVE_SWAPFILE);
	area = swap_area_prepare(test, &small);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EPERM,
			    "rule: swapon refuses more than MAX_SWAPFILES areas");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_live(SWAP_LIVE_SWAPFILE), allocations,
			    "rule: a refused swapon frees everything it allocated");
	KUNIT_EXPECT_EQ(test, swap_kunit_areas_used(), (unsigned int)MAX_SWAPFILES);
	KUNIT_EXPECT_EQ(test, total_swap_pages, 3L * MAX_SWAPFILES);

	/* A swapoff makes room for a new area. */
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(first), 0);
	KUNIT_EXPECT_EQ(test, swap_area_swapon(area, 0), 0);
}

/* The flags of an area follow from its device and the flags of swapon. */
struct disk_param {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	int swap_flags;
	const char *flags;	/* expected, of the area */
};

static const struct disk_param disks[] = {
	/* name, disk, swap_flags, flags */
	{ "zram", &FAKE_DISK_ZRAM, 0, "used writeok blkdev solidstate synchronous" },
	{ "ssd", &FAKE_DISK_SSD, 0, "used writeok blkdev solidstate" },
	{ "hdd", &FAKE_DISK_HDD, 0, "used writeok blkdev" },
	{ "stable writes", &FAKE_DISK_STABLE, 0, "used writeok blkdev solidstate stable" },
	{ "ssd, discard asked for", &FAKE_DISK_SSD, SWAP_FLAG_DISCARD,
	  "used writeok blkdev solidstate" },
	{ "ssd+discard, not asked for", &FAKE_DISK_SSD_DISCARD, 0,
	  "used writeok blkdev solidstate" },
	{ "ssd+discard", &FAKE_DISK_SSD_DISCARD, SWAP_FLAG_DISCARD,
	  "used writeok blkdev solidstate discardable area-discard page-discard" },
	{ "ssd+discard once", &FAKE_DISK_SSD_DISCARD, SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_ONCE,
	  "used writeok blkdev solidstate discardable area-discard" },
	{ "ssd+discard pages", &FAKE_DISK_SSD_DISCARD,
	  SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_PAGES,
	  "used writeok blkdev solidstate discardable page-discard" },
	{ "ssd+discard once and pages", &FAKE_DISK_SSD_DISCARD,
	  SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_ONCE | SWAP_FLAG_DISCARD_PAGES,
	  "used writeok blkdev solidstate discardable area-discard" },
	{ "ssd+discard, policies without discard", &FAKE_DISK_SSD_DISCARD,
	  SWAP_FLAG_DISCARD_ONCE | SWAP_FLAG_DISCARD_PAGES,
	  "used writeok blkdev solidstate" },
};

SWAP_PARAMS(disk, disks);

static void area_flags_follow_the_device(struct kunit *test)
{
	const struct disk_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 1, .swap_flags = param->swap_flags });
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_STREQ_MSG(test, flags_text(test, facts.flags), param->flags,
			       "rule: flags follow from the device and swapon's flags: %s",
			       param->name);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_rotate_swap), (int)param->disk->rotational,
			    "rule: nr_rotate_swap counts rotational areas only");
}

/* swapon discards an area that is to be discarded, except its header. */
static void swapon_discards_the_area(struct kunit *test)
{
	const struct disk_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 1, .swap_flags = param->swap_flags,
		.use_cluster0 = true });

	SWAP_EXPECT_DECISIONS(test, area, strstr(param->flags, "area-discard") ? "D0:1.." : "");
	KUNIT_EXPECT_TRUE_MSG(test, fake_disk_has(area->disk, 0),
			      "rule: the header is never discarded");
}

/* Of a file, each extent is discarded, except the header at the start of the first. */
static void swapon_discards_each_extent(struct kunit *test)
{
	static const struct fake_fs_extent extents[] = { { 40, 10 }, { 90, 20 }, { 60, 5 }, { } };
	struct swap_area *area = fake_fs_prepare(test, &(struct fake_fs_config){
		.disk = &FAKE_DISK_SSD_DISCARD, .way = FAKE_FS_EXTENTS, .extents = extents });

	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, SWAP_FLAG_DISCARD), 0);
	SWAP_EXPECT_BIOS(test, area->disk, "D0:41+9 D0:90+20 D0:60+5");

	/* A discard that fails is the last one; the file is accepted all the same. */
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	fake_disk_fail_nth(area->disk, FAKE_DISK_DISCARD, 2, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ(test, swap_area_swapon(area, SWAP_FLAG_DISCARD), 0);
	SWAP_EXPECT_BIOS(test, area->disk, "D0:41+9 D0:90+20");
}

/* A device is accepted even if its discard fails. */
static void discard_error_is_ignored(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD_DISCARD, .clusters = 1, .use_cluster0 = true });
	struct swap_area_facts facts;

	fake_disk_fail_all(area->disk, FAKE_DISK_DISCARD, BLK_STS_IOERR);
	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapon(area, SWAP_FLAG_DISCARD), 0,
			    "rule: swapon succeeds even if its discard fails");
	SWAP_EXPECT_DECISIONS(test, area, "D0:1..x");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_STREQ(test, flags_text(test, facts.flags),
			   "used writeok blkdev solidstate discardable area-discard page-discard");
}

/* Only rotational devices have a cluster that all CPUs share. */
static void global_cluster_is_for_rotational(struct kunit *test)
{
	struct swap_area *area;

	SWAP_REQUIRE(test, CLUSTERS_EVERYWHERE);
	area = swap_device_area(test);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_global_cluster(area->si),
			    fake_disk_profile(area->disk)->rotational,
			    "rule: global_cluster exists on rotational devices only");
}

/* The counters include all pages of an area but its bad ones. */
static void pages_are_counted(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .tail_slots = 10,
		.bad_slots = (unsigned long[]){ 5, 6, 0 } });
	long pages = swap_cluster_slots() + 10 - 2;
	struct swap_area_facts facts;
	struct sysinfo info = { };

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.pages, (unsigned long)pages);
	KUNIT_EXPECT_EQ(test, facts.max, 2UL * swap_cluster_slots() + 10);
	KUNIT_EXPECT_EQ(test, facts.inuse, 0UL);
	KUNIT_EXPECT_TRUE(test, facts.available);
	KUNIT_EXPECT_EQ(test, total_swap_pages, pages);
	KUNIT_EXPECT_EQ(test, get_nr_swap_pages(), pages);

	swap_alloc_many(test, 3, NULL);
	si_swapinfo(&info);
	KUNIT_EXPECT_EQ_MSG(test, info.totalswap, (unsigned long)pages,
			    "rule: SwapTotal counts the pages of all areas");
	KUNIT_EXPECT_EQ_MSG(test, info.freeswap, pages - 3UL,
			    "rule: SwapFree counts the pages that are not in use");
	swap_free_slots(swap_entry_at(area, 0, 0), 3);
}

/*
 * An area larger than a swap entry can address is cut off; bad pages past that limit are neither
 * marked nor counted.
 */
static void oversized_area_is_cut_off(struct kunit *test)
{
	unsigned int cluster = swap_cluster_slots();
	struct swap_area_facts facts;
	struct swap_area *area;

	swap_limit_area_size(test, 2 * cluster);
	area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 7,
		.bad_slots = (unsigned long[]){ 9, cluster, 5 * cluster + 220, 0 } });
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.max, 2UL * cluster,
			    "rule: the area is cut off at the limit");
	KUNIT_EXPECT_EQ_MSG(test, facts.pages, cluster - 1UL,
			    "rule: bad pages past the limit are not counted");
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 2 * cluster, NULL), cluster - 1,
			    "rule: no slot past the limit is allocated");
	swap_free_slots(swap_entry_at(area, 0, 0), 9);
	swap_free_slots(swap_entry_at(area, 0, 10), cluster - 10);
}

/* The priority of an area is the given one, or a default below all that can be given. */
struct prio_param {
	SWAP_PARAM_NAME;
	int swap_flags;
	int prio;	/* expected; -1 is the default */
};

static const struct prio_param prios[] = {
	/* name, swap_flags, prio */
	{ "0", SWAP_FLAG_PREFER, 0 },
	{ "1", SWAP_FLAG_PREFER | 1, 1 },
	{ "highest", SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK, 32767 },
	{ "given without the flag", 5, -1 },
	{ "none", 0, -1 },
};

SWAP_PARAMS(prio, prios);

static void priority_is_as_given(struct kunit *test)
{
	const struct prio_param *param = swap_param(test);
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .swap_flags = param->swap_flags });
	int first_default = swap_has(DEFAULT_PRIO_COUNTS_DOWN) ? -2 : -1;
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.prio, param->prio < 0 ? first_default : param->prio,
			    "rule: the priority is the given one or the default: %s", param->name);
}

static int prio_of(struct swap_area *area)
{
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	return facts.prio;
}

/*
 * Default priorities either count down in order of swapon, and move up after a swapoff, or are
 * all the same, depending on the kernel.
 */
static void default_priorities(struct kunit *test)
{
	bool down = swap_has(DEFAULT_PRIO_COUNTS_DOWN);
	struct swap_area *area[4];
	int i;

	for (i = 0; i < 3; i++) {
		area[i] = swap_area_on(test, &(struct swap_area_config){
			.disk = &FAKE_DISK_SSD, .tail_slots = 8 });
		KUNIT_EXPECT_EQ_MSG(test, prio_of(area[i]), down ? -2 - i : -1,
				    "rule: default priorities count down or are the same: area %d",
				    i);
	}
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area[0]), 0);
	KUNIT_EXPECT_EQ_MSG(test, prio_of(area[1]), down ? -2 : -1,
			    "rule: default priorities move up after a swapoff");
	KUNIT_EXPECT_EQ_MSG(test, prio_of(area[2]), down ? -3 : -1,
			    "rule: default priorities move up after a swapoff");
	area[3] = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 8 });
	KUNIT_EXPECT_EQ_MSG(test, prio_of(area[3]), down ? -4 : -1,
			    "rule: a later area has the lowest default priority");
}

/* Areas fill in order of priority, those with a default one last. */
static void higher_priority_fills_first(struct kunit *test)
{
	static const int flags[] = { SWAP_FLAG_PREFER | 1, 0, SWAP_FLAG_PREFER | 5,
				     SWAP_FLAG_PREFER };
	struct swap_area *area[ARRAY_SIZE(flags)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		area[i] = swap_area_on(test, &(struct swap_area_config){
			.disk = &FAKE_DISK_SSD, .tail_slots = 8, .swap_flags = flags[i] });
	KUNIT_EXPECT_EQ(test, swap_alloc_many(test, 40, NULL), 32U);
	SWAP_EXPECT_DECISIONS(test, NULL, swap_has(CLUSTER_ALLOCATOR) ?
			      "c/A0:0+8 a/A0:0+8 d/A0:0+8 b/A0:0+8" :
			      every_other_slot(test, "cadb", 8));
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		swap_free_slots(swap_entry_at(area[i], 0, 0), 8);
}

/*
 * /proc/swaps has a heading and a line for each area in order of their numbers, however few
 * bytes are read at once.
 */
#define SWAPS_HEADING	"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

static void expect_swaps(struct kunit *test, const char *expected)
{
	static const size_t chunks[] = { PAGE_SIZE, 100, 7 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(chunks); i++)
		KUNIT_EXPECT_STREQ_MSG(test, swap_proc_swaps(test, chunks[i]), expected,
				       "rule: /proc/swaps has a line for each area: reads of %zu bytes",
				       chunks[i]);
}

static void proc_swaps_lists_the_areas(struct kunit *test)
{
	char *text = kunit_kzalloc(test, 400, GFP_KERNEL);
	struct swap_area *a, *b;
	swp_entry_t entries[2];

	KUNIT_ASSERT_NOT_NULL(test, text);
	expect_swaps(test, SWAPS_HEADING);
	a = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 8, .swap_flags = SWAP_FLAG_PREFER | 7 });
	b = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 3 });
	KUNIT_ASSERT_EQ(test, swap_alloc_many(test, 2, entries), 2U);
	snprintf(text, 400, SWAPS_HEADING "%-40spartition\t32\t\t8\t\t7\n"
		 "%-40spartition\t%u\t\t0\t\t3\n",
		 fake_disk_path(a->disk), fake_disk_path(b->disk), swap_cluster_slots() * 4);
	expect_swaps(test, text);
	swap_free_slot(entries[0]);
	swap_free_slot(entries[1]);

	/* swapoff removes the line of its area. */
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(a), 0);
	snprintf(text, 400, SWAPS_HEADING "%-40spartition\t%u\t\t0\t\t3\n",
		 fake_disk_path(b->disk), swap_cluster_slots() * 4);
	expect_swaps(test, text);
}

static int poll_wakes(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	*(bool *)wait->private = true;
	return 0;
}

/* poll() of /proc/swaps reports each swapon and swapoff, once, and wakes who waits. */
static void poll_of_proc_swaps_reports_changes(struct kunit *test)
{
	const __poll_t same = EPOLLIN | EPOLLRDNORM, changed = same | EPOLLERR | EPOLLPRI;
	struct swap_area *area = swap_area_prepare(test, &SWAP_AREA_SSD);
	bool woken = false;
	struct wait_queue_entry wait = { .func = poll_wakes, .private = &woken };
	struct wait_queue_head *waits;
	int event = 0, err;

	swap_kunit_proc_swaps_poll(&event, &waits);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_proc_swaps_poll(&event, &waits), same,
			    "rule: poll reports nothing without a change");
	KUNIT_ASSERT_NOT_NULL_MSG(test, waits, "rule: poll waits for a change");
	add_wait_queue(waits, &wait);
	err = swap_area_swapon(area, 0);
	KUNIT_EXPECT_TRUE_MSG(test, xchg(&woken, false), "rule: swapon wakes who polls");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_proc_swaps_poll(&event, &waits), changed,
			    "rule: poll reports a swapon");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_proc_swaps_poll(&event, &waits), same,
			    "rule: poll reports a change once");
	KUNIT_EXPECT_EQ(test, swap_swapon_path(fake_disk_path(area->disk), 0), -EBUSY);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_proc_swaps_poll(&event, &waits), same,
			    "rule: poll does not report a refused swapon");
	err = err ?: swap_area_swapoff(area);
	KUNIT_EXPECT_TRUE_MSG(test, woken, "rule: swapoff wakes who polls");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_proc_swaps_poll(&event, &waits), changed,
			    "rule: poll reports a swapoff");
	remove_wait_queue(waits, &wait);
	KUNIT_EXPECT_EQ(test, err, 0);
}

/* An entry with an invalid area number is harmless. */
static void entry_with_invalid_area_number_is_harmless(struct kunit *test)
{
	int type;

	for (type = MAX_SWAPFILES; type < 1 << MAX_SWAPFILES_SHIFT; type++) {
		struct swap_info_struct *si = swap_kunit_type_info(type);

		KUNIT_EXPECT_NULL_MSG(test, si, "rule: no area has the invalid number %d", type);
		if (!si)
			KUNIT_EXPECT_FALSE_MSG(test, swap_pin_slot(swp_entry(type, 1)),
					       "rule: an area with an invalid number cannot be pinned");
	}
}

static struct kunit_case swap_swapon_cases[] = {
	KUNIT_CASE_PARAM(bad_header_is_refused, refused_header_gen_params),
	KUNIT_CASE(bad_page_twice),
	KUNIT_CASE(refused_device_is_accepted_later),
	KUNIT_CASE_PARAM(every_allocation_may_fail, device_gen_params),
	KUNIT_CASE(unreadable_header),
	KUNIT_CASE(byte_swapped_header_is_accepted),
	KUNIT_CASE(header_may_list_max_bad_pages),
	KUNIT_CASE(device_may_be_larger_than_the_header_says),
	KUNIT_CASE(dirty_pages_are_written_first),
	KUNIT_CASE(dirty_pages_that_cannot_be_written),
	KUNIT_CASE_PARAM(bad_header_of_a_file_is_refused, refused_file_gen_params),
	KUNIT_CASE(zoned_device_is_refused),
	KUNIT_CASE(file_is_listed_as_a_file),
	KUNIT_CASE_PARAM(bad_path_is_refused, refused_path_gen_params),
	KUNIT_CASE(unknown_flags_are_refused),
	KUNIT_CASE(swapon_needs_privilege),
	KUNIT_CASE(busy_device_is_refused),
	KUNIT_CASE(number_of_areas_is_limited),
	KUNIT_CASE_PARAM(area_flags_follow_the_device, disk_gen_params),
	KUNIT_CASE_PARAM(swapon_discards_the_area, disk_gen_params),
	KUNIT_CASE(swapon_discards_each_extent),
	KUNIT_CASE(discard_error_is_ignored),
	KUNIT_CASE_PARAM(global_cluster_is_for_rotational, device_gen_params),
	KUNIT_CASE(pages_are_counted),
	KUNIT_CASE(oversized_area_is_cut_off),
	KUNIT_CASE_PARAM(priority_is_as_given, prio_gen_params),
	KUNIT_CASE(default_priorities),
	KUNIT_CASE(higher_priority_fills_first),
	KUNIT_CASE(proc_swaps_lists_the_areas),
	KUNIT_CASE(poll_of_proc_swaps_reports_changes),
	KUNIT_CASE(entry_with_invalid_area_number_is_harmless),
	{}
};

SWAP_KUNIT_SUITE(swap_swapon, swap_swapon_cases);

MODULE_DESCRIPTION("KUnit suite of swapon(2)");
MODULE_LICENSE("GPL");
