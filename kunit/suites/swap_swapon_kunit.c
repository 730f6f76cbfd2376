// SPDX-License-Identifier: GPL-2.0
/*
 * swapon(2): what it refuses, what it makes of a device, what it gives back.
 */
#include <kunit/test.h>
#include <linux/major.h>
#include <linux/swab.h>
#include "swap_fixture.h"

static const struct swap_area_config ssd = { .disk = &FAKE_DISK_SSD };

/*
 * What swapon has allocated by now. A first, refused swapon makes sure that
 * the kernel has its structure of area 0, which it keeps.
 */
static int allocations_before(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, swap_swapon_path("/swapkunit-nowhere", 0), -ENOENT);
	return swap_kunit_allocations();
}

/* As if swapon had never been called. */
static void expect_given_back(struct kunit *test, int allocations)
{
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_areas_used(), 0U,
			    "a refused swapon gives its area back");
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_allocations(), allocations,
			    "a refused swapon frees all it allocated");
	KUNIT_EXPECT_EQ_MSG(test, total_swap_pages, 0L, "a refused swapon adds no pages");
	KUNIT_EXPECT_EQ_MSG(test, get_nr_swap_pages(), 0L, "a refused swapon adds no free pages");
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_rotate_swap), 0,
			    "a refused swapon counts no rotational device");
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

static void header_too_many_bad(union swap_header *header)
{
	header->info.nr_badpages = MAX_SWAP_BADPAGES + 1;
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

static void header_bad_page_twice(union swap_header *header)
{
	unsigned int last = header->info.last_page;

	header->info.badpages[header->info.nr_badpages++] = last;
	header->info.badpages[header->info.nr_badpages++] = last;
}

/* As a machine of the other endianness writes it. */
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
	header->info.nr_badpages = swab32(MAX_SWAP_BADPAGES + 1);
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
};

static const struct header_param refused_headers[] = {
	{ "magic of version 0", header_magic, &FAKE_DISK_SSD },
	{ "blank", header_blank, &FAKE_DISK_SSD },
	{ "version 0", header_version_0, &FAKE_DISK_SSD },
	{ "version 2", header_version_2, &FAKE_DISK_SSD },
	{ "no pages", header_no_pages, &FAKE_DISK_SSD },
	{ "one page more than the device", header_past_device, &FAKE_DISK_SSD },
	{ "2^32 pages", header_endless, &FAKE_DISK_SSD },
	{ "too many bad pages", header_too_many_bad, &FAKE_DISK_SSD },
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

/* A header that makes no sense is refused, and nothing of it stays. */
static void bad_header_is_refused(struct kunit *test)
{
	const struct header_param *param = test->param_value;
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 1, .mangle = param->mangle });
	int allocations = allocations_before(test);

	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EINVAL,
			    "swapon refuses a header: %s", param->name);
	expect_given_back(test, allocations);
}

/*
 * A bad page named twice is refused where the kernel looks for it; elsewhere
 * it must not count twice: the area has all its good pages.
 */
static void bad_page_twice(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 1, .mangle = header_bad_page_twice });
	int allocations = allocations_before(test);
	struct swap_area_facts facts;
	int err;

	err = swap_area_swapon(area, 0);
	if (swap_has(BAD_SLOT_TWICE_REFUSED)) {
		KUNIT_EXPECT_EQ_MSG(test, err, -EINVAL, "a bad page named twice is refused");
		expect_given_back(test, allocations);
		return;
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ_MSG(test, facts.pages, swap_cluster_slots() - 1UL,
			    "a bad page named twice is one bad page");
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
}

/* However often a device was refused: nothing of it stays, and it is as good as new. */
static void refused_device_is_taken_later(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_HDD, .clusters = 1, .mangle = header_bad_page_past_end });
	int allocations = allocations_before(test), i;
	union swap_header *header;

	for (i = 0; i < 5; i++)
		if (swap_area_swapon(area, 0) != -EINVAL)
			break;
	KUNIT_EXPECT_EQ(test, i, 5);
	expect_given_back(test, allocations);

	header = fake_disk_page(area->disk, 0);
	header->info.nr_badpages--;
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), 0,
			    "a refused device is taken once its header is right");
}

struct disk_param {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	int swap_flags;
	const char *flags;
	bool rotational;
};

static const struct disk_param failing_disks[] = {
	{ "zram", &FAKE_DISK_ZRAM },
	{ "ssd+discard", &FAKE_DISK_SSD_DISCARD, SWAP_FLAG_DISCARD },
	{ "hdd", &FAKE_DISK_HDD },
};

SWAP_PARAMS(failing_disk, failing_disks);

/* Whichever allocation fails: swapon says so, and gives all back. */
static void every_allocation_may_fail(struct kunit *test)
{
	const struct disk_param *param = test->param_value;
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = param->disk, .clusters = 1, .tail_slots = 10 });
	int allocations = allocations_before(test), err;
	unsigned int nth;

	for (nth = 1; nth < 50; nth++) {
		swap_fail_nth_allocation(nth);
		err = swap_area_swapon(area, param->swap_flags);
		if (!swap_allocation_failed())
			break;
		KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %u of swapon fails", nth);
		expect_given_back(test, allocations);
	}
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "swapon succeeds once no allocation fails");
	KUNIT_EXPECT_GT_MSG(test, nth, 4U, "swapon allocates");
	swap_fail_nth_allocation(0);
	KUNIT_ASSERT_EQ(test, swap_area_swapoff(area), 0);
	KUNIT_EXPECT_EQ_MSG(test, swap_kunit_allocations(), allocations,
			    "swapoff frees all that swapon allocated");
}

/* A header that cannot be read is an error of the device's. */
static void unreadable_header(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &ssd);
	int allocations = allocations_before(test);

	fake_disk_fail_all(area->disk, FAKE_DISK_READ, BLK_STS_IOERR);
	KUNIT_EXPECT_EQ_MSG(test, swap_area_swapon(area, 0), -EIO,
			    "swapon passes a read error on");
	expect_given_back(test, allocations);
}

/* A header of the other endianness is as good, its bad pages included. */
static void byte_swapped_header_is_accepted(struct kunit *test)
{
	struct swap_area *area = swap_area_prepare(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .clusters = 2, .bad_slots = (unsigned long[]){ 3, 7, 0 },
		.mangle = header_swapped });
	struct swap_area_facts facts;
	struct swap_slot_facts slot;
	unsigned int i;

	KUNIT_ASSERT_EQ_MSG(test, swap_area_swapon(area, 0), 0,
			    "a byte-swapped header is accepted");
	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.max, 3UL * swap_cluster_slots());
	KUNIT_EXPECT_EQ(test, facts.pages, 2UL * swap_cluster_slots() - 2);
	for (i = 0; i < 9; i++) {
		swap_slot_facts(area, swap_slot_at(area, 0, i), &slot);
		KUNIT_EXPECT_EQ_MSG(test, slot.bad, i == 3 || i == 7,
				    "slot %u: bad as the header says", i);
	}
}

/* A header may say less than the device has: the rest is never used. */
static void device_may_be_larger(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = &FAKE_DISK_SSD, .tail_slots = 20, .pages = 4 * swap_cluster_slots() });
	struct swap_area_facts facts;

	swap_area_facts(area, &facts);
	KUNIT_EXPECT_EQ(test, facts.max, swap_cluster_slots() + 20UL);
	KUNIT_EXPECT_EQ_MSG(test, swap_alloc_many(test, 100, NULL), 20U,
			    "no slot past the header's last page");
	SWAP_EXPECT_DECISIONS(test, area, "A0:0+20");
	swap_free_slots(swap_entry_at(area, 0, 0), 20);
}

static struct kunit_case swap_swapon_cases[] = {
	KUNIT_CASE_PARAM(bad_header_is_refused, refused_header_gen_params),
	KUNIT_CASE(bad_page_twice),
	KUNIT_CASE(refused_device_is_taken_later),
	KUNIT_CASE_PARAM(every_allocation_may_fail, failing_disk_gen_params),
	KUNIT_CASE(unreadable_header),
	KUNIT_CASE(byte_swapped_header_is_accepted),
	KUNIT_CASE(device_may_be_larger),
	{}
};

SWAP_KUNIT_SUITE(swap_swapon, swap_swapon_cases);

MODULE_DESCRIPTION("KUnit suite of swapon(2)");
MODULE_LICENSE("GPL");
