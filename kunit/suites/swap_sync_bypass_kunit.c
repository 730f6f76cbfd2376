// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead over slots whose read waits for no device: zero-filled ones, those
 * in zswap, and those on a synchronous device. They are called synchronous here,
 * all others asynchronous.
 *
 * Released kernels read a window in order, slot by slot. With deferred
 * synchronous reads, asynchronous slots are submitted first, and synchronous
 * neighbours are read while those are in flight. With the synchronous bypass,
 * synchronous neighbours of a synchronous target are not read at all.
 */
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "swap_fixture.h"

#define PAGES	8
#define TARGET	3	/* by slot and by address, its window is all eight */

/*
 * A window of eight pages, and what is read. @slots has one letter for each page: 'd' on the first
 * device, 'z' in zswap, '0' zero-filled, 'e' on a second device, 's' on a second device that is
 * synchronous. The slots of a device are in the order of its pages.
 */
struct mix {
	SWAP_PARAM_NAME;
	const char *slots;
	const char *in_order;	/* without batching: each page by a bio of its own */
	const char *gathered;	/* with batching; NULL is as @in_order */
	const char *deferred;	/* with deferred synchronous reads; NULL is as @in_order */
	const char *bypassed;	/* with the synchronous bypass; NULL is as @deferred */
};

/* The log does not show zero-filled pages that are read. */
static const struct mix one_device[] = {
	{ "device, all on the device", "dddddddd",
	  .in_order = "R0:0+8!3" },
	{ "device, some in zswap", "dzzddddd",
	  .in_order = "R0:0 L0:1+2 R0:3+5!3",
	  .gathered = "L0:1+2 R0:0 R0:3+5!3",
	  .deferred = "R0:0 R0:3+5!3 L0:1+2" },
	{ "device, some zero-filled", "d00dddd0",
	  .in_order = "R0:0 R0:3+4!3" },
	{ "device, some of each", "dz0dz0dd",
	  .in_order = "R0:0 L0:1 R0:3!3 L0:4 R0:6+2",
	  .gathered = "L0:1 R0:0 L0:4 R0:3!3 R0:6+2",
	  .deferred = "R0:0 R0:3!3 R0:6+2 L0:1 L0:4" },
	{ "device, no neighbour is", "zzzdzz00",
	  .in_order = "L0:0+3 R0:3!3 L0:4+2",
	  .gathered = "L0:0+3 L0:4+2 R0:3!3",
	  .deferred = "R0:3!3 L0:0+3 L0:4+2" },
	{ "zswap, all others on the device", "dddzdddd",
	  .in_order = "R0:0+3 L0:3!3 R0:4+4",
	  .gathered = "L0:3!3 R0:0+3 R0:4+4",
	  .deferred = "R0:0+3 R0:4+4 L0:3!3" },
	{ "zswap, some of each", "dzdzd0dd",
	  .in_order = "R0:0 L0:1 R0:2 L0:3!3 R0:4 R0:6+2",
	  .gathered = "L0:1 R0:0 L0:3!3 R0:2 R0:4 R0:6+2",
	  .deferred = "R0:0 R0:2 R0:4 R0:6+2 L0:1 L0:3!3",
	  .bypassed = "R0:0 R0:2 R0:4 R0:6+2 L0:3!3" },
	{ "zswap, one on the device", "zzzz00zd",
	  .in_order = "L0:0+4!3 L0:6 R0:7",
	  .deferred = "R0:7 L0:0+4!3 L0:6",
	  .bypassed = "R0:7 L0:3!3" },
	{ "zswap, all in zswap", "zzzzzzzz",
	  .in_order = "L0:0+8!3",
	  .bypassed = "L0:3!3" },
	{ "zswap, none on the device", "00zz00zz",
	  .in_order = "L0:2+2!3 L0:6+2",
	  .bypassed = "L0:3!3" },
	{ "zero-filled, all others on the device", "ddd0dddd",
	  .in_order = "R0:0+3 R0:4+4" },
	{ "zero-filled, some of each", "dz00zddd",
	  .in_order = "R0:0 L0:1 L0:4 R0:5+3",
	  .gathered = "L0:1 L0:4 R0:0 R0:5+3",
	  .deferred = "R0:0 R0:5+3 L0:1 L0:4",
	  .bypassed = "R0:0 R0:5+3" },
	{ "zero-filled, all zero-filled", "00000000",
	  .in_order = "" },
	{ "zero-filled, none on the device", "zzz0zz00",
	  .in_order = "L0:0+3 L0:4+2",
	  .bypassed = "" },
};

/* For VMA readahead only: a window of cluster readahead is on one device. */
static const struct mix two_devices[] = {
	{ "device, others on a synchronous one", "sssdssss",
	  .in_order = "b/R0:0+3 a/R0:0!0 b/R0:3+4",
	  .deferred = "a/R0:0!0 b/R0:0+7" },
	{ "device, every other on a synchronous one", "sdsdsdsd",
	  .in_order = "b/R0:0 a/R0:0 b/R0:1 a/R0:1!1 b/R0:2 a/R0:2 b/R0:3 a/R0:3",
	  .deferred = "a/R0:0+4!1 b/R0:0+4" },
	{ "device, some of each", "dszd0sdd",
	  .in_order = "a/R0:0 b/R0:0 a/L0:1 a/R0:2!2 b/R0:1 a/R0:4+2",
	  .gathered = "a/R0:0 a/L0:1 b/R0:0 a/R0:2!2 b/R0:1 a/R0:4+2",
	  .deferred = "a/R0:0 a/R0:2!2 a/R0:4+2 a/L0:1 b/R0:0+2" },
	{ "zswap, some on a synchronous device", "sddzsddd",
	  .in_order = "b/R0:0 a/R0:0+2 a/L0:2!2 b/R0:1 a/R0:3+3",
	  .gathered = "b/R0:0 a/L0:2!2 a/R0:0+2 b/R0:1 a/R0:3+3",
	  .deferred = "a/R0:0+2 a/R0:3+3 a/L0:2!2 b/R0:0+2",
	  .bypassed = "a/R0:0+2 a/R0:3+3 a/L0:2!2" },
	{ "zswap, all others on a synchronous device", "ssszssss",
	  .in_order = "b/R0:0+3 a/L0:0!0 b/R0:3+4",
	  .gathered = "a/L0:0!0 b/R0:0+7",
	  .deferred = "a/L0:0!0 b/R0:0+7",
	  .bypassed = "a/L0:0!0" },
	{ "zero-filled, some of each", "sdd0zdsd",
	  .in_order = "b/R0:0 a/R0:0+2 a/L0:3 a/R0:4 b/R0:1 a/R0:5",
	  .gathered = "b/R0:0 a/L0:3 a/R0:0+2 a/R0:4 b/R0:1 a/R0:5",
	  .deferred = "a/R0:0+2 a/R0:4+2 a/L0:3 b/R0:0+2",
	  .bypassed = "a/R0:0+2 a/R0:4+2" },
	{ "zswap, some on another device", "ezdzeded",
	  .in_order = "b/R0:0 a/L0:0 a/R0:1 a/L0:2!2 b/R0:1 a/R0:3 b/R0:2 a/R0:4",
	  .gathered = "a/L0:0 b/R0:0 a/L0:2!2 a/R0:1 b/R0:1 a/R0:3 b/R0:2 a/R0:4",
	  .deferred = "b/R0:0 a/R0:1 b/R0:1 a/R0:3 b/R0:2 a/R0:4 a/L0:0 a/L0:2!2",
	  .bypassed = "b/R0:0 a/R0:1 b/R0:1 a/R0:3 b/R0:2 a/R0:4 a/L0:2!2" },
};

/* swapoff of the synchronous device, whose one page is the target. */
static const struct mix swapoffs[] = {
	{ "some on the other device", "dzdsd0dd",
	  .in_order = "a/R0:0 a/L0:1 a/R0:2 b/R0:0 a/R0:3 a/R0:5+2 b/F0:0",
	  .gathered = "a/L0:1 a/R0:0 a/R0:2 b/R0:0 a/R0:3 a/R0:5+2 b/F0:0",
	  .deferred = "a/R0:0 a/R0:2+2 a/R0:5+2 a/L0:1 b/R0:0 b/F0:0",
	  .bypassed = "a/R0:0 a/R0:2+2 a/R0:5+2 b/R0:0 b/F0:0" },
	{ "none on the other device", "zzzs0zzz",
	  .in_order = "a/L0:0+3 b/R0:0 a/L0:4+3 b/F0:0",
	  .gathered = "a/L0:0+3 a/L0:4+3 b/R0:0 b/F0:0",
	  .deferred = "a/L0:0+3 a/L0:4+3 b/R0:0 b/F0:0",
	  .bypassed = "b/R0:0 b/F0:0" },
};

SWAP_PARAMS(one_device, one_device);
SWAP_PARAMS(two_devices, two_devices);
SWAP_PARAMS(swapoffs, swapoffs);

static const char *reads_of(struct kunit *test, const struct mix *mix)
{
	const char *deferred = mix->deferred ?: mix->in_order;

	if (swap_has(SYNC_READAHEAD_BYPASS)) {
		swap_rule(test,
			  "synchronous bypass: a synchronous target has no synchronous neighbours");
		return mix->bypassed ?: deferred;
	}
	if (swap_has(SYNC_READAHEAD_DEFERRED)) {
		swap_rule(test, "deferred synchronous reads: asynchronous slots first");
		return deferred;
	}
	swap_rule(test, "a window is read in order");
	return swap_has(READ_BATCHED) && mix->gathered ? mix->gathered : mix->in_order;
}

static bool synchronous(const struct mix *mix, unsigned int page)
{
	return strchr("z0s", mix->slots[page]);
}

static bool read_ahead(const struct mix *mix, unsigned int page)
{
	return !swap_has(SYNC_READAHEAD_BYPASS) || !synchronous(mix, TARGET) ||
	       !synchronous(mix, page);
}

static unsigned int count(const char *text, char c)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == c;
	return nr;
}

struct mixed_window {
	const struct mix *mix;
	const char *reads;
	struct swap_area *area;
	struct swap_area *second;
	struct user_memory *mem;
	unsigned long zeroes;	/* SWPIN_ZERO at the last bio */
	bool bios;		/* there was one */
};

static void note_zeroes(struct fake_disk *disk, const struct fake_bio *bio, void *ctx)
{
	struct mixed_window *w = ctx;

	w->zeroes = swap_vmstat(SWPIN_ZERO);
	w->bios = true;
}

static bool second_has(const struct mix *mix, unsigned int page)
{
	return strchr("se", mix->slots[page]);
}

/* Swap each page out to where the mix has it. */
static void mix_out(struct kunit *test, struct mixed_window *w,
		    const struct fake_disk_profile *disk)
{
	const struct mix *mix = w->mix = swap_param(test);
	unsigned int page;

	if (strchr(mix->slots, 'z'))
		SWAP_REQUIRE_CONFIG(test, ZSWAP);
	if (strchr(mix->slots, '0'))
		SWAP_REQUIRE(test, ZEROMAP);
	w->reads = reads_of(test, mix);
	w->area = swap_area_on(test, &(struct swap_area_config){ .disk = disk, .clusters = 1 });
	w->mem = user_memory_new(test, PAGES);
	user_fill(w->mem, 0, PAGES);
	for (page = 0; page < PAGES; page++) {
		if (mix->slots[page] == '0')
			user_write(w->mem, page, 0);
		if (second_has(mix, page))
			continue;
		swap_kunit_set_zswap(mix->slots[page] == 'z');
		user_swap_out(w->mem, page, 1);
	}
	swap_kunit_set_zswap(false);
	if (strpbrk(mix->slots, "se")) {
		w->second = swap_area_on(test, &(struct swap_area_config){
			.disk = strchr(mix->slots, 's') ? &FAKE_DISK_ZRAM : &FAKE_DISK_SSD,
			.clusters = 1, .swap_flags = SWAP_FLAG_PREFER | 10 });
		swap_kunit_drain_hints();	/* they point to the first area */
		for (page = 0; page < PAGES; page++)
			if (second_has(mix, page))
				user_swap_out(w->mem, page, 1);
	}
	swap_decisions_skip(test);
	swap_kunit_set_readahead_hits(6);
}

/* The neighbours that were read are in the swap cache, and counted. */
static void expect_neighbours(struct kunit *test, const struct mixed_window *w,
			      unsigned long ra)
{
	unsigned int page, nr = 0;

	for (page = 0; page < PAGES; page++) {
		if (page == TARGET)
			continue;
		nr += read_ahead(w->mix, page);
		KUNIT_EXPECT_EQ_MSG(test, user_page_cached(w->mem, page), read_ahead(w->mix, page),
				    "rule: only the synchronous bypass skips a page: %s target, page %u, '%c'",
				    synchronous(w->mix, TARGET) ? "synchronous" : "asynchronous",
				    page, w->mix->slots[page]);
	}
	KUNIT_EXPECT_EQ_MSG(test, ra, nr, "rule: swap_ra counts the neighbours that are read");
}

/* The log does not show zero-filled pages: check how many were read before the last bio. */
static void expect_zeroes(struct kunit *test, const struct mixed_window *w)
{
	const char *slots = w->mix->slots, *slot;
	unsigned long before = 0;

	/* Batched reads are submitted at the end of the window. */
	for (slot = slots; slot < (swap_has(READ_BATCHED) ? slots + PAGES : strrchr(slots, 'd'));
	     slot++)
		before += *slot == '0';
	if (swap_has(SYNC_READAHEAD_DEFERRED))
		KUNIT_EXPECT_EQ_MSG(test, w->zeroes, 0UL,
				    "rule: asynchronous slots are submitted before synchronous ones are read");
	else
		KUNIT_EXPECT_EQ_MSG(test, w->zeroes, before,
				    "rule: zero-filled slots are read in order");
}

static void read_mixed_window(struct kunit *test, const struct fake_disk_profile *disk)
{
	unsigned long zeroes, ra;
	struct mixed_window w = { };

	mix_out(test, &w, disk);
	zeroes = swap_vmstat(SWPIN_ZERO);
	ra = swap_vmstat(SWAP_RA);
	fake_disk_on_bio(w.area->disk, note_zeroes, &w);
	KUNIT_EXPECT_EQ(test, user_fault(w.mem, TARGET), VM_FAULT_MAJOR);
	fake_disk_on_bio(w.area->disk, NULL, NULL);
	ra = swap_vmstat(SWAP_RA) - ra;
	SWAP_EXPECT_DECISIONS(test, w.second ? NULL : w.area, "%s", w.reads);
	expect_neighbours(test, &w, ra);
	w.zeroes -= zeroes;
	if (w.bios && !w.second)
		expect_zeroes(test, &w);
}

/* A rotational device has cluster readahead, others have VMA readahead. */
static void cluster_window(struct kunit *test)
{
	read_mixed_window(test, &FAKE_DISK_HDD);
}

static void vma_window(struct kunit *test)
{
	read_mixed_window(test, &FAKE_DISK_SSD);
}

static void vma_window_over_two_devices(struct kunit *test)
{
	read_mixed_window(test, &FAKE_DISK_SSD);
}

static bool under_read(struct user_memory *mem, unsigned int page)
{
	struct folio *folio = swap_cached_folio(user_entry(mem, page));
	bool locked;

	if (!folio)
		return false;
	locked = folio_test_locked(folio);
	folio_put(folio);
	return locked;
}

static unsigned int bios_of(const struct mixed_window *w)
{
	return swap_has(READ_BATCHED) ? count(w->reads, 'R') : count(w->mix->slots, 'd');
}

/* Only the reads of the device are in flight; all others are done. */
static void expect_all_else_read(struct kunit *test, const struct mixed_window *w)
{
	unsigned int page;

	for (page = 0; page < PAGES; page++) {
		KUNIT_EXPECT_TRUE_MSG(test, user_page_cached(w->mem, page),
				      "rule: an asynchronous target reads all of its window: page %u",
				      page);
		KUNIT_EXPECT_EQ_MSG(test, under_read(w->mem, page), !synchronous(w->mix, page),
				    "rule: synchronous slots are read while others are in flight: page %u",
				    page);
	}
}

/*
 * The device completes no read. A fault waits for an asynchronous target, and all other pages
 * are read meanwhile; it does not wait for the neighbours of a synchronous target.
 */
static void hold_device(struct kunit *test, const struct fake_disk_profile *disk)
{
	struct user_fault_thread *thread;
	struct mixed_window w = { };

	mix_out(test, &w, disk);
	fake_disk_hold(w.area->disk, BIT(FAKE_DISK_READ));
	thread = user_fault_start(w.mem, TARGET);
	KUNIT_EXPECT_TRUE(test, fake_disk_wait_held(w.area->disk, bios_of(&w)));
	if (synchronous(w.mix, TARGET)) {
		KUNIT_EXPECT_EQ_MSG(test, user_fault_wait(thread), VM_FAULT_MAJOR,
				    "rule: a synchronous target does not wait for its neighbours");
		KUNIT_EXPECT_EQ(test, user_page_is(w.mem, TARGET), USER_PAGE_PRESENT);
	} else {
		KUNIT_EXPECT_TRUE_MSG(test, user_fault_wait_blocked(thread),
				      "rule: a fault waits for its page");
		expect_all_else_read(test, &w);
	}
	KUNIT_EXPECT_EQ_MSG(test, fake_disk_held(w.area->disk), bios_of(&w),
			    "rule: asynchronous neighbours are read for any target");
	SWAP_EXPECT_DECISIONS(test, w.second ? NULL : w.area, "%s", w.reads);
	fake_disk_release(w.area->disk);
	KUNIT_EXPECT_EQ(test, user_fault_wait(thread), VM_FAULT_MAJOR);
	SWAP_EXPECT_DECISIONS(test, w.area, "");
}

static void cluster_window_in_flight(struct kunit *test)
{
	hold_device(test, &FAKE_DISK_HDD);
}

static void vma_window_in_flight(struct kunit *test)
{
	hold_device(test, &FAKE_DISK_SSD);
}

/* A fault on a synchronous device reads nothing ahead, but its swapoff does. */
static void swapoff_of_a_synchronous_device(struct kunit *test)
{
	struct mixed_window w = { };

	mix_out(test, &w, &FAKE_DISK_SSD);
	KUNIT_EXPECT_EQ(test, swap_area_swapoff(w.second), 0);
	SWAP_EXPECT_DECISIONS(test, w.second ? NULL : w.area, "%s", w.reads);
	KUNIT_EXPECT_EQ(test, user_page_is(w.mem, TARGET), USER_PAGE_PRESENT);
}

static struct kunit_case swap_sync_bypass_cases[] = {
	KUNIT_CASE_PARAM(cluster_window, one_device_gen_params),
	KUNIT_CASE_PARAM(vma_window, one_device_gen_params),
	KUNIT_CASE_PARAM(vma_window_over_two_devices, two_devices_gen_params),
	KUNIT_CASE_PARAM(cluster_window_in_flight, one_device_gen_params),
	KUNIT_CASE_PARAM(vma_window_in_flight, one_device_gen_params),
	KUNIT_CASE_PARAM(swapoff_of_a_synchronous_device, swapoffs_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_sync_bypass, swap_sync_bypass_cases);

MODULE_DESCRIPTION("KUnit suite of swap readahead over slots that wait for no device");
MODULE_LICENSE("GPL");
