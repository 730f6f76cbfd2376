// SPDX-License-Identifier: GPL-2.0
/*
 * Experiments in virtual time: workloads on models of disks.
 *
 * `make lab` describes an experiment by the parameters below, one boot for each
 * side and seed, and reads the lines that are printed. Virtual time passes only
 * while all threads sleep, and where a model says that the CPU is busy, so the
 * machine that this runs on makes no difference.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include "swap_fixture.h"
#include "counters.h"
#include "lab_device.h"
#include "lab_latency.h"

#define LAB_DEVICES	4
#define LAB_THREADS	256
#define LAB_SAMPLES	BIT(20)
/* Pages reclaimed at a time, as by memory.high. */
#define LAB_RECLAIM	32
/* Readahead hits at boot. */
#define LAB_HITS	4
/* Tries to reclaim them; memory.high fails nobody either. */
#define LAB_TRIES	16
/* Words of a page that do not compress: the Silesia corpus compresses to 35 % with zstd. */
#define LAB_WORDS	(PAGE_SIZE / sizeof(u32) * 35 / 100)
/* Pages that a compiler touches in its turn. */
#define LAB_TURN	16

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "swap_lab."

static char *workload = "";
module_param(workload, charp, 0444);
MODULE_PARM_DESC(workload, "the case that runs: faults or allocations; none by default");
static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of all that is random");

/* The devices, one value for each. */
static char *kind[LAB_DEVICES];
static unsigned int devices;
module_param_array(kind, charp, &devices, 0444);
MODULE_PARM_DESC(kind, "of each device: spindle, flash or ram");
static unsigned int read_ns[LAB_DEVICES];
module_param_array(read_ns, uint, NULL, 0444);
static unsigned int write_ns[LAB_DEVICES];
module_param_array(write_ns, uint, NULL, 0444);
static unsigned int discard_ns[LAB_DEVICES];
module_param_array(discard_ns, uint, NULL, 0444);
static unsigned int page_ns[LAB_DEVICES];
module_param_array(page_ns, uint, NULL, 0444);
static unsigned int servers[LAB_DEVICES];
module_param_array(servers, uint, NULL, 0444);
static unsigned int queues[LAB_DEVICES];
module_param_array(queues, uint, NULL, 0444);
static unsigned int depth[LAB_DEVICES];
module_param_array(depth, uint, NULL, 0444);
static unsigned int rpm[LAB_DEVICES];
module_param_array(rpm, uint, NULL, 0444);
static unsigned int seek_ns[LAB_DEVICES];
module_param_array(seek_ns, uint, NULL, 0444);
static unsigned int seek_avg_ns[LAB_DEVICES];
module_param_array(seek_avg_ns, uint, NULL, 0444);
static unsigned int span[LAB_DEVICES];
module_param_array(span, uint, NULL, 0444);
static unsigned int batch[LAB_DEVICES];
module_param_array(batch, uint, NULL, 0444);
static unsigned int reports[LAB_DEVICES];
module_param_array(reports, uint, NULL, 0444);

/* The workload. */
static unsigned int threads = 1;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "processes, each with memory of its own");
static unsigned int pages = 1024;
module_param(pages, uint, 0444);
MODULE_PARM_DESC(pages, "memory of each process, in pages");
static unsigned int touches = 1024;
module_param(touches, uint, 0444);
MODULE_PARM_DESC(touches, "pages that each process touches; of allocations, slots in all");
static char *pattern = "sequential";
module_param(pattern, charp, 0444);
MODULE_PARM_DESC(pattern, "sequential, strided, random, zipf or build");
static unsigned int stride = 16;
module_param(stride, uint, 0444);
MODULE_PARM_DESC(stride, "pages from one touch to the next, if strided");
static unsigned int writes;
module_param(writes, uint, 0444);
MODULE_PARM_DESC(writes, "touches that write, in percent");
static unsigned int think_ns;
module_param(think_ns, uint, 0444);
MODULE_PARM_DESC(think_ns, "mean time between two touches of a process; it takes no CPU");
static unsigned int phase_ns = 1000000;
module_param(phase_ns, uint, 0444);
MODULE_PARM_DESC(phase_ns, "processes start within this time");
static char *layout = "separate";
module_param(layout, charp, 0444);
MODULE_PARM_DESC(layout, "order in which pages were swapped out: separate, interleaved or random");
static unsigned int holes;
module_param(holes, uint, 0444);
MODULE_PARM_DESC(holes, "pages that are freed after they were swapped out, in percent, evenly spaced");
static unsigned int limit;
module_param(limit, uint, 0444);
MODULE_PARM_DESC(limit, "memory that all processes together may use, in percent of theirs; 0: all is swapped out at first");
static char *readahead = "";
module_param(readahead, charp, 0444);
MODULE_PARM_DESC(readahead, "vma or cluster; default: the kernel's");
static unsigned int page_cluster = 3;
module_param(page_cluster, uint, 0444);
MODULE_PARM_DESC(page_cluster, "vm.page-cluster");
static unsigned int others;
module_param(others, uint, 0444);
MODULE_PARM_DESC(others, "requests that others keep in flight on the first device, at random pages");
static unsigned int other_writes;
module_param(other_writes, uint, 0444);
MODULE_PARM_DESC(other_writes, "of these, writes, in percent");

/* zswap. */
static unsigned int in_zswap;
module_param(in_zswap, uint, 0444);
MODULE_PARM_DESC(in_zswap, "pages that are in zswap at first, not on a disk, in percent");
static bool zswap;
module_param(zswap, bool, 0444);
MODULE_PARM_DESC(zswap, "zswap is on");
static bool shrinker;
module_param(shrinker, bool, 0444);
MODULE_PARM_DESC(shrinker, "zswap's shrinker is on");
static unsigned int zswap_max;
module_param(zswap_max, uint, 0444);
MODULE_PARM_DESC(zswap_max, "memory.zswap.max, in percent of the memory of all processes; 0: none");
static unsigned int zswap_store_ns;
module_param(zswap_store_ns, uint, 0444);
MODULE_PARM_DESC(zswap_store_ns, "CPU time to compress a page");
static unsigned int zswap_load_ns;
module_param(zswap_load_ns, uint, 0444);
MODULE_PARM_DESC(zswap_load_ns, "CPU time to decompress a page");

/* Allocations. */
static char *discard = "none";
module_param(discard, charp, 0444);
MODULE_PARM_DESC(discard, "none, once or pages");
static unsigned int clusters = 64;
module_param(clusters, uint, 0444);
MODULE_PARM_DESC(clusters, "size of the area of allocations, in clusters");
static unsigned int used = 75;
module_param(used, uint, 0444);
MODULE_PARM_DESC(used, "slots of that area that are in use, in percent");
static unsigned int burst = 512;
module_param(burst, uint, 0444);
MODULE_PARM_DESC(burst, "slots that are freed at a time, the oldest first");

struct lab_thread {
	struct lab *lab;
	unsigned int nr;
	struct user_memory *mem;
	struct rnd_state random;
	/* Of a compiler: pages it will touch and has touched, and touches left of its turn. */
	unsigned int length;
	unsigned int touched;
	unsigned int turn;
	bool looks_back;
	unsigned int next;
};

struct lab {
	struct kunit *test;
	struct swap_area *area[LAB_DEVICES];
	struct lab_device *device[LAB_DEVICES];
	struct memory_cgroup *cgroup;
	struct lab_thread *thread;
	struct rnd_state random;
	unsigned long limit;	/* in pages; 0: none */
	struct completion start;
	struct completion ended;
	atomic_t running;
	struct lab_latency faults;
	struct lab_latency major;	/* of these, faults that waited for their own read */
};

static unsigned int below(struct rnd_state *random, unsigned int end)
{
	return end ? prandom_u32_state(random) % end : 0;
}

static bool percent(struct rnd_state *random, unsigned int chance)
{
	return below(random, 100) < chance;
}

/* -- devices -- */

static enum lab_kind lab_kind_of(struct kunit *test, const char *name)
{
	static const char * const names[] = {
		[LAB_SPINDLE] = "spindle", [LAB_FLASH] = "flash", [LAB_RAM] = "ram" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (name && !strcmp(name, names[i]))
			return i;
	KUNIT_ASSERT_TRUE_MSG(test, false, "kind=%s is none of spindle, flash, ram", name);
	return LAB_RAM;
}

static struct lab_model lab_model_of(struct kunit *test, unsigned int i)
{
	struct lab_model model = {
		.kind = lab_kind_of(test, kind[i]),
		.read_ns = read_ns[i], .write_ns = write_ns[i], .discard_ns = discard_ns[i],
		.page_ns = page_ns[i], .servers = servers[i], .queues = queues[i],
		.depth = depth[i], .rpm = rpm[i], .seek_ns = seek_ns[i],
		.seek_avg_ns = seek_avg_ns[i], .span = span[i], .batch = batch[i],
		.reports = reports[i],
	};

	if (model.kind == LAB_SPINDLE)
		KUNIT_ASSERT_TRUE_MSG(test, model.rpm && model.page_ns && model.span &&
				      model.seek_avg_ns >= model.seek_ns,
				      "a spindle has rpm, page_ns, span, seek_ns and seek_avg_ns");
	return model;
}

/* Switch the areas on; their disks are instantaneous at first. */
static void lab_areas_on(struct lab *lab, unsigned int nr_clusters, int swap_flags)
{
	unsigned int i;

	KUNIT_ASSERT_GT_MSG(lab->test, devices, 0U, "there is no device: kind= is missing");
	for (i = 0; i < devices; i++) {
		struct lab_model model = lab_model_of(lab->test, i);
		struct fake_disk_profile *profile;

		profile = kunit_kzalloc(lab->test, sizeof(*profile), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(lab->test, profile);
		profile->name = "lab";
		profile->synchronous = model.kind == LAB_RAM;
		profile->rotational = model.kind == LAB_SPINDLE;
		profile->discard = model.discard_ns;
		lab->area[i] = swap_area_on(lab->test, &(struct swap_area_config){
			.disk = profile, .clusters = nr_clusters,
			.swap_flags = swap_flags | SWAP_FLAG_PREFER | 1 });
	}
}

static void lab_devices_start(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < devices; i++) {
		struct lab_model model = lab_model_of(lab->test, i);
		struct swap_area_facts facts;

		swap_area_facts(lab->area[i], &facts);
		lab->device[i] = lab_device_start(lab->test, lab->area[i]->disk, &model, facts.max);
	}
}

static void lab_devices_stop(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < devices; i++)
		lab_device_stop(lab->device[i]);
}

/* -- CPU costs of zswap -- */

static void lab_zswap_stored(swp_entry_t entry, unsigned int nr, bool stored)
{
	lab_busy(nr * zswap_store_ns);
	swap_log_zswap_stored(entry, nr, stored);
}

static void lab_zswap_loaded(swp_entry_t entry, bool loaded)
{
	if (loaded)
		lab_busy(zswap_load_ns);
	swap_log_zswap_loaded(entry, loaded);
}

static const struct swap_seams lab_seams = {
	.fail = swap_fail_reached,
	.allocated = swap_log_allocated,
	.zswap_stored = lab_zswap_stored,
	.zswap_loaded = lab_zswap_loaded,
	.count = swap_count,
};

static void lab_zswap_on(struct kunit *test)
{
#if IS_ENABLED(CONFIG_ZSWAP)
	if (zswap)
		swap_kunit_set_zswap(true);
	if (shrinker)
		KUNIT_ASSERT_EQ_MSG(test, zswap_param_set(test, "shrinker_enabled", "Y"), 0,
				    "this kernel's zswap has no shrinker");
#else
	KUNIT_ASSERT_FALSE_MSG(test, zswap, "this kernel has no zswap");
#endif
}

/* -- memory -- */

/* All but the words at its start compresses to nothing. */
static void lab_write_page(struct lab_thread *thread, unsigned int page)
{
	struct folio *folio = user_folio(thread->mem, page);
	u32 *words;
	unsigned int i;

	if (!folio)
		return;
	words = page_address(folio_page(folio, 0));
	for (i = 0; i < LAB_WORDS; i++)
		words[i] = prandom_u32_state(&thread->random);
	folio_put(folio);
}

/* What all processes together use beyond the limit is reclaimed by the one that goes beyond. */
static void lab_reclaim(struct lab *lab)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;
	unsigned int tries;
	char text[16];

	if (!lab->limit)
		return;
	memcg = memory_cgroup_memcg(lab->cgroup);
	snprintf(text, sizeof(text), "%lu", LAB_RECLAIM * PAGE_SIZE);
	for (tries = 0; tries < LAB_TRIES; tries++) {
		if (page_counter_read(&memcg->memory) <= lab->limit)
			break;
		/* All may be under writeback: wait for the disk. */
		if (memory_cgroup_write(lab->cgroup, "memory.reclaim", text))
			lab_sleep(100 * NSEC_PER_USEC);
	}
#endif
}

static void lab_touch(struct lab_thread *thread, unsigned int page)
{
	bool write = percent(&thread->random, writes);
	struct user_memory *mem = thread->mem;
	unsigned long addr = mem->start + (unsigned long)page * PAGE_SIZE;
	enum user_page is = user_page_is(mem, page);
	struct lab *lab = thread->lab;
	vm_fault_t ret;
	u64 start;

	if (is == USER_PAGE_NONE && !lab->limit)
		return;	/* a hole */
	write = write || is == USER_PAGE_NONE;
	start = ktime_get_ns();
	mmap_read_lock(mem->mm);
	ret = handle_mm_fault(find_vma(mem->mm, addr), addr,
			      FAULT_FLAG_REMOTE | (write ? FAULT_FLAG_WRITE : 0), NULL);
	mmap_read_unlock(mem->mm);
	start = ktime_get_ns() - start;
	if (is == USER_PAGE_SWAPPED)
		lab_latency_add(&lab->faults, start);
	if (is == USER_PAGE_SWAPPED && (ret & VM_FAULT_MAJOR))
		lab_latency_add(&lab->major, start);
	if (ret & VM_FAULT_ERROR)
		KUNIT_FAIL(lab->test, "a fault failed: %x", ret);
	if (is == USER_PAGE_NONE)
		lab_write_page(thread, page);
	lab_reclaim(lab);
}

/* -- what is touched -- */

/* Small ranks are likelier: each power of two is as likely as the next. */
static unsigned int lab_zipf(struct rnd_state *random, unsigned int end)
{
	unsigned int power = below(random, ilog2(end) + 1);
	unsigned int rank = (1 << power) - 1 + below(random, 1 << power);

	return (rank % end) * 2654435761U % end;
}

static void lab_compiler_starts(struct lab_thread *thread)
{
	if (thread->touched)
		user_dontneed(thread->mem, 0, thread->touched);
	thread->length = pages / 8 + below(&thread->random, pages - pages / 8) + 1;
	thread->touched = 0;
}

/* Compilers touch their memory from start to end, look back now and then, and exit. */
static unsigned int lab_next_of_build(struct lab_thread *thread)
{
	if (!thread->turn) {
		thread->turn = LAB_TURN;
		thread->looks_back = thread->touched && percent(&thread->random, 30);
		thread->next = below(&thread->random, thread->touched);
	}
	thread->turn--;
	if (thread->looks_back)
		return thread->next++ % thread->touched;
	if (thread->touched >= thread->length)
		lab_compiler_starts(thread);
	return thread->touched++;
}

static unsigned int lab_next_page(struct lab_thread *thread, unsigned int touch)
{
	switch (*pattern) {
	case 'b':
		return lab_next_of_build(thread);
	case 'r':
		return below(&thread->random, pages);
	case 'z':
		return lab_zipf(&thread->random, pages);
	case 's':
		if (pattern[1] == 't') /* all pages, stride by stride */
			return ((u64)touch * stride + (u64)touch * stride / pages) % pages;
		return touch % pages;
	default:
		return 0;
	}
}

static int lab_run(void *arg)
{
	struct lab_thread *thread = arg;
	struct lab *lab = thread->lab;
	unsigned int i;

	sched_set_fifo(current);
	wait_for_completion(&lab->start);
	lab_sleep(below(&thread->random, phase_ns));
	if (*pattern == 'b')
		lab_compiler_starts(thread);
	for (i = 0; i < touches; i++) {
		if (think_ns)
			lab_sleep(below(&thread->random, 2 * think_ns));
		lab_touch(thread, lab_next_page(thread, i));
		cond_resched();
	}
	if (atomic_dec_and_test(&lab->running))
		complete(&lab->ended);
	return 0;
}

/* -- the experiment -- */

static void lab_swap_out(struct lab *lab, unsigned int thread, unsigned int page)
{
	if (in_zswap)
		swap_kunit_set_zswap(percent(&lab->random, in_zswap));
	user_swap_out(lab->thread[thread].mem, page, 1);
}

/* Swap all memory out, in the order of the layout. */
static void lab_swap_all_out(struct lab *lab)
{
	unsigned int i, j, total = threads * pages;
	u32 *order;

	if (*layout == 's' || *layout == 'i') {
		for (i = 0; i < total; i++)
			if (*layout == 's')
				lab_swap_out(lab, i / pages, i % pages);
			else
				lab_swap_out(lab, i % threads, i / threads);
		return;
	}
	order = kvcalloc(total, sizeof(*order), GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; i < total; i++) {
		j = below(&lab->random, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	for (i = 0; i < total; i++)
		lab_swap_out(lab, order[i] / pages, order[i] % pages);
	kvfree(order);
}

static void lab_punch_holes(struct lab *lab)
{
	unsigned int i, page;

	for (i = 0; holes && i < threads; i++)
		for (page = 0; page < pages; page++)
			if (page * holes / 100 != (page + 1) * holes / 100)
				user_dontneed(lab->thread[i].mem, page, 1);
}

static void lab_cgroup(struct lab *lab)
{
	char text[24];

	if (!limit)
		return;
	lab->cgroup = memory_cgroup_new(lab->test);
	lab->limit = (unsigned long)threads * pages * limit / 100;
	if (zswap_max) {
		snprintf(text, sizeof(text), "%lu",
			 (unsigned long)threads * pages * zswap_max / 100 * PAGE_SIZE);
		KUNIT_ASSERT_EQ_MSG(lab->test,
				    memory_cgroup_write(lab->cgroup, "memory.zswap.max", text), 0,
				    "this kernel has no memory.zswap.max");
	}
}

static void lab_memory(struct lab *lab)
{
	unsigned int i;

	lab->thread = kunit_kzalloc(lab->test, threads * sizeof(*lab->thread), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(lab->test, lab->thread);
	for (i = 0; i < threads; i++) {
		struct lab_thread *thread = &lab->thread[i];

		thread->lab = lab;
		thread->nr = i;
		thread->mem = user_memory_new(lab->test, pages);
		prandom_seed_state(&thread->random, ((u64)seed << 32) + i);
		if (lab->cgroup)
			user_memory_join(thread->mem, lab->cgroup);
	}
	if (limit)
		return;
	for (i = 0; i < threads; i++)
		user_fill_coarse(lab->thread[i].mem, 0, pages);
	lab_swap_all_out(lab);
	if (in_zswap)
		swap_kunit_set_zswap(false);
	lab_punch_holes(lab);
}

static const struct {
	const char *name;
	int item;
} lab_counters[] = {
	{ "pswpin", PSWPIN },
	{ "pswpout", PSWPOUT },
	{ "swap_ra", SWAP_RA },
	{ "swap_ra_hit", SWAP_RA_HIT },
	{ "zswpin", ZSWPIN },
	{ "zswpout", ZSWPOUT },
	{ "zswpwb", ZSWPWB },
};

struct lab_counts {
	u64 time;
	unsigned long event[ARRAY_SIZE(lab_counters)];
	unsigned long bios[FAKE_DISK_OPS];
};

static struct lab_counts lab_count(struct lab *lab)
{
	struct lab_counts counts = { .time = ktime_get_ns() };
	unsigned int i, op;

	for (i = 0; i < ARRAY_SIZE(lab_counters); i++)
		if (lab_counters[i].item != NR_VM_EVENT_ITEMS)
			counts.event[i] = swap_vmstat(lab_counters[i].item);
	for (i = 0; i < devices; i++)
		for (op = 0; op < FAKE_DISK_OPS; op++)
			counts.bios[op] += fake_disk_bios(lab->area[i]->disk, op);
	return counts;
}

static void lab_print(struct lab *lab, const struct lab_counts *from, const struct lab_counts *to)
{
	unsigned int i;

	lab_figure(lab->test, "elapsed_ns", to->time - from->time);
	for (i = 0; i < ARRAY_SIZE(lab_counters); i++)
		lab_figure(lab->test, lab_counters[i].name, to->event[i] - from->event[i]);
	lab_figure(lab->test, "reads", to->bios[FAKE_DISK_READ] - from->bios[FAKE_DISK_READ]);
	lab_figure(lab->test, "writes", to->bios[FAKE_DISK_WRITE] - from->bios[FAKE_DISK_WRITE]);
	lab_figure(lab->test, "discards",
		   to->bios[FAKE_DISK_DISCARD] - from->bios[FAKE_DISK_DISCARD]);
}

static struct lab *lab_new(struct kunit *test, const char *name)
{
	struct lab *lab;

	if (strcmp(workload, name))
		kunit_skip(test, "the kernel's command line lacks: " MODULE_PARAM_PREFIX "workload=%s",
			   name);
	lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, lab);
	lab->test = test;
	prandom_seed_state(&lab->random, seed);
	swap_decisions_pause(true);
	/* Before the first tick of the boot, timers are late. */
	schedule_timeout_uninterruptible(HZ / 10);
	return lab;
}

static void lab_settings(void)
{
	swap_kunit_set_page_cluster(page_cluster);
	if (*readahead)
		swap_kunit_set_vma_readahead(*readahead == 'v');
	swap_kunit_reset_readahead();
	swap_kunit_set_readahead_hits(LAB_HITS);
}

static void lab_threads(struct lab *lab)
{
	struct task_struct *task;
	unsigned int i;

	init_completion(&lab->start);
	init_completion(&lab->ended);
	atomic_set(&lab->running, threads);
	for (i = 0; i < threads; i++) {
		task = kthread_run(lab_run, &lab->thread[i], "lab%u", i);
		KUNIT_ASSERT_FALSE(lab->test, IS_ERR(task));
	}
	complete_all(&lab->start);
	wait_for_completion(&lab->ended);
}

static void faults(struct kunit *test)
{
	struct lab *lab = lab_new(test, "faults");
	unsigned int per_cluster = swap_cluster_slots();
	struct lab_counts from, to;

	KUNIT_ASSERT_TRUE_MSG(test, threads && threads <= LAB_THREADS && pages >= 16 && stride,
			      "threads, pages or stride is out of range");
	lab_areas_on(lab, threads * pages * 5 / 4 / per_cluster / max(devices, 1U) + 2, 0);
	lab_cgroup(lab);
	lab_memory(lab);
	lab_latency_init(test, &lab->faults, "fault", LAB_SAMPLES);
	lab_latency_init(test, &lab->major, "major", LAB_SAMPLES);
	lab_zswap_on(test);
	lab_devices_start(lab);
	lab_settings();
	if (others)
		lab_device_others(lab->device[0], others, other_writes, seed);
	WRITE_ONCE(swap_seams, &lab_seams);
	from = lab_count(lab);
	lab_threads(lab);
	to = lab_count(lab);
	lab_devices_stop(lab);
	lab_print(lab, &from, &to);
	lab_latency_print(test, &lab->faults);
	lab_latency_print(test, &lab->major);
}

static int lab_discard_flags(struct kunit *test)
{
	if (!strcmp(discard, "none"))
		return 0;
	if (!strcmp(discard, "once"))
		return SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_ONCE;
	KUNIT_ASSERT_STREQ(test, discard, "pages");
	return SWAP_DISCARD_PAGES;
}

/* Slots are allocated one by one, and freed in bursts, the oldest first. */
static void allocations(struct kunit *test)
{
	struct lab *lab = lab_new(test, "allocations");
	unsigned int i, at, first = 0, in_use = 0, missed = 0, keep, room;
	struct lab_latency latency;
	struct lab_counts from, to;
	swp_entry_t *slot;
	u64 start;

	lab_areas_on(lab, clusters, lab_discard_flags(test));
	room = clusters * swap_cluster_slots() * devices;
	keep = room / 100 * min(used, 99U);
	slot = kvcalloc(room, sizeof(*slot), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, slot);
	lab_latency_init(test, &latency, "allocation", LAB_SAMPLES);
	lab_devices_start(lab);
	from = lab_count(lab);
	for (i = 0; i < touches; i++) {
		lab_sleep(below(&lab->random, 2 * think_ns));
		start = ktime_get_ns();
		at = (first + in_use) % room;
		slot[at] = swap_alloc(test);
		lab_latency_add(&latency, ktime_get_ns() - start);
		in_use += !!slot[at].val;
		missed += !slot[at].val;
		if (in_use < keep)
			continue;
		for (at = min(burst, in_use); at; at--, in_use--)
			swap_free_slot(slot[first++ % room]);
		first %= room;
	}
	to = lab_count(lab);
	lab_devices_stop(lab);
	lab_print(lab, &from, &to);
	lab_figure(test, "missed", missed);
	lab_latency_print(test, &latency);
	while (in_use--)
		swap_free_slot(slot[first++ % room]);
	kvfree(slot);
}

static struct kunit_case swap_lab_cases[] = {
	KUNIT_CASE(faults),
	KUNIT_CASE(allocations),
	{}
};

SWAP_KUNIT_SUITE(swap_lab, swap_lab_cases);

MODULE_DESCRIPTION("KUnit experiments: swap workloads in virtual time");
MODULE_LICENSE("GPL");
