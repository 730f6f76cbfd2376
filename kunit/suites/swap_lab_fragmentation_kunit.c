// SPDX-License-Identifier: GPL-2.0
/*
 * An experiment: how often large folios fall back to order 0 for lack of slots.
 *
 * It imitates a kernel build under memory pressure. Compilers run side by side.
 * Each touches its memory from start to end, in mappings of various lengths; when
 * it exits, all its memory is freed. A fault allocates the largest enabled folio
 * that fits, as the kernel does. When memory is short, the folio untouched for
 * longest is swapped out; it is swapped in when its compiler looks at it again. A
 * folio that gets no slots is split and swapped out page by page. In some parts of
 * the build small programs prevail, in others long mappings, so the mix of folio
 * sizes changes: then one order needs clusters that another order uses.
 *
 * The published numbers are for make -j96 on 96 CPUs, with 4096 to 5120 clusters.
 * This is 96 compilers on 8 CPUs with some 400 clusters, so the current clusters
 * of the CPUs are the same share. The area is a little larger than what is swapped
 * at most (tight), or a tenth larger (roomy).
 *
 * Every slot is the decision of the real allocator. Everything else comes from a
 * seed and is the same on every kernel. Runs only with swap_lab_fragmentation.steps=,
 * as `make lab` sets it.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include "swap_fixture.h"
#include "lab_device.h"
#include "lab_latency.h"

#define BUILD_SEED	0x5357a94b
#define BUILD_JOBS	96
#define BUILD_CPUS	8
#define BUILD_ORDERS	10
/* Steps of one part of the build. */
#define BUILD_PART	80000
/* Steps between two pauses in virtual time, which passes only then: RCU frees memory. */
#define BUILD_BREATH	1024
/* Pages of memory, for all compilers together. */
#define BUILD_MEMORY	32768
/* Folios in the LRU ring. */
#define LRU_FOLIOS	BIT(18)

/* Pages that a compiler touches before it exits; a small program a quarter. */
#define JOB_PAGES_MIN	512
#define JOB_PAGES	6144
/* Pages it touches in its turn, and how many turns in 1000 look at old pages. */
#define JOB_TURN	16
#define JOB_LOOKS_BACK	300
/* Longest mapping of a small program. */
#define SMALL_MAPPING	16
/* One large folio in this many is swapped in by a single page. */
#define SWAP_IN_PARTS	8

/* The size of the area, in percent of what is swapped at most. */
#define AREA_TIGHT	102
#define AREA_ROOMY	110

static unsigned int seed = BUILD_SEED;
static unsigned int steps;
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "swap_lab_fragmentation."
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of the build");
module_param(steps, uint, 0444);
MODULE_PARM_DESC(steps, "length of the build; 0, the default, skips it");
static bool discard;
module_param(discard, bool, 0444);
MODULE_PARM_DESC(discard, "the device discards clusters");

struct bench {
	SWAP_PARAM_NAME;	/* and that of its figures */
	/* BIT()s of the enabled orders, order 0 included. */
	unsigned long orders;
	bool roomy;
};

#define ORDERS_64K	(BIT(0) | BIT(4))
#define ORDERS_ALL	(BIT(0) | GENMASK(9, 2))

static const struct bench benches[] = {
	{ "tight64k", ORDERS_64K },
	{ "roomy64k", ORDERS_64K, .roomy = true },
	{ "roomyall", ORDERS_ALL, .roomy = true },
};

SWAP_PARAMS(bench, benches);

/* A touched page of a job is in memory, or in a slot. */
struct build_page {
	u32 slot;
	/* Of its folio. */
	u8 order;
};

struct build_job {
	struct build_page page[JOB_PAGES];
	unsigned int pages;
	unsigned int touched;
	/* Pages touched in advance: a large folio is touched at once and takes several turns. */
	int ahead;
	/* Its mappings do not depend on other jobs. */
	struct rnd_state random;
	/* A shell, a compiler driver or an assembler: its mappings are short. */
	bool small;
	/* In percent: mappings that may be twice as long as the rest, of those again, and so on. */
	unsigned int longer;
	/* End of the mapping that is being touched. */
	unsigned int mapping_end;
	/* Number of the compiler: folios of one that has exited are gone. */
	unsigned int generation;
};

struct build_folio {
	u16 job;
	u16 page;
	u32 generation;
};

struct build {
	struct kunit *test;
	struct swap_area *area;
	/* Whose turn it is, and what is done now and then. */
	struct rnd_state random;
	struct rnd_state sometimes;
	unsigned long orders;
	/* Swap nothing, only find out how much there is to swap. */
	bool dry;
	struct build_job *jobs;
	/* The hints of each CPU; a job stays on its CPU. */
	struct swap_hints cpu[BUILD_CPUS];
	struct build_folio *lru;
	unsigned long lru_first;
	unsigned long lru_end;
	/* Of jobs that start now: percentage of small ones, and how the others map. */
	unsigned int small;
	unsigned int longer;
	/* Pages: now, most in swap, most in memory and swap. */
	unsigned long in_memory;
	unsigned long in_swap;
	unsigned long peak;
	unsigned long demand;
	unsigned long started;
	/* How often no slot was left at all. */
	unsigned long full;
	unsigned long swpout[BUILD_ORDERS];
	unsigned long fallback[BUILD_ORDERS];
};

static unsigned int below(struct rnd_state *random, unsigned int end)
{
	return prandom_u32_state(random) % end;
}

static unsigned int between(struct rnd_state *random, unsigned int first, unsigned int last)
{
	return first + below(random, last - first + 1);
}

static void job_start(struct build *b, struct build_job *job)
{
	memset(job->page, 0, sizeof(job->page));
	job->generation++;
	prandom_seed_state(&job->random, (u64)seed + b->started++);
	job->pages = between(&job->random, JOB_PAGES_MIN, JOB_PAGES);
	job->small = below(&job->random, 100) < b->small;
	if (job->small)
		job->pages /= 4;
	job->longer = b->longer;
	job->touched = 0;
	job->ahead = 0;
	job->mapping_end = 0;
}

static void build_free(struct build *b, unsigned int slot, unsigned int nr)
{
	swap_free_slots(swp_entry(b->area->si->type, slot), nr);
	b->in_swap -= nr;
}

/* Free all memory of a job at once, neighbouring slots together, as munmap() does. */
static void job_end(struct build *b, struct build_job *job)
{
	unsigned int i, nr, size = swap_cluster_slots();

	for (i = 0; i < job->touched; i += nr) {
		unsigned int slot = job->page[i].slot;

		nr = 1;
		if (!slot) {
			b->in_memory--;
			continue;
		}
		while (i + nr < job->touched && job->page[i + nr].slot == slot + nr &&
		       (slot + nr) % size)
			nr++;
		build_free(b, slot, nr);
	}
	job_start(b, job);
}

static void lru_add(struct build *b, struct build_job *job, unsigned int page)
{
	struct build_folio *folio = &b->lru[b->lru_end % LRU_FOLIOS];

	if (b->dry)
		return;
	b->lru_end++;
	KUNIT_ASSERT_LT(b->test, b->lru_end - b->lru_first, LRU_FOLIOS);
	*folio = (struct build_folio){ .job = job - b->jobs, .page = page,
				       .generation = job->generation };
}

/* The longer mappings are, the rarer they are. */
static unsigned int job_map(struct build_job *job)
{
	unsigned int order = 0;

	if (job->small)
		return between(&job->random, 1, SMALL_MAPPING);
	while (order < 12 && below(&job->random, 100) < job->longer)
		order++;
	return between(&job->random, 1, 1 << order);
}

/* Touch the largest folio that fits at the next address. */
static void job_touch(struct build *b, struct build_job *job)
{
	unsigned int i, nr, order = BUILD_ORDERS - 1;

	if (job->touched == job->mapping_end)
		job->mapping_end += job_map(job);
	job->mapping_end = min(job->mapping_end, job->pages);
	while (!(b->orders & BIT(order)) || job->touched % (1 << order) ||
	       job->touched + (1 << order) > job->mapping_end)
		order--;
	nr = 1 << order;
	for (i = job->touched; i < job->touched + nr; i++)
		job->page[i].order = order;
	lru_add(b, job, job->touched);
	job->touched += nr;
	job->ahead += nr;
	b->in_memory += nr;
}

/* Return: whether there were slots. */
static bool swap_out_pages(struct build *b, struct build_job *job, unsigned int page,
			   unsigned int order)
{
	swp_entry_t entry = swap_alloc_order(b->test, order);
	unsigned int i, nr = 1 << order;

	if (!entry.val) {
		b->fallback[order]++;
		return false;
	}
	b->swpout[order]++;
	for (i = 0; i < nr; i++)
		job->page[page + i].slot = swp_offset(entry) + i;
	b->in_memory -= nr;
	b->in_swap += nr;
	b->peak = max(b->peak, b->in_swap);
	return true;
}

/* Swap out a folio, whole or by pages; pages that get no slot stay. Return: whether all went. */
static bool swap_out(struct build *b, struct build_job *job, unsigned int page)
{
	unsigned int i, order = job->page[page].order, nr = 1 << order;
	bool good = true;

	if (order && swap_out_pages(b, job, page, order))
		return true;
	for (i = page; i < page + nr; i++)
		job->page[i].order = 0;
	for (i = page; i < page + nr; i++) {
		good = good && swap_out_pages(b, job, i, 0);
		if (!good)
			lru_add(b, job, i);
	}
	return good;
}

/* Swap out folios, the longest untouched first. If swap is full, file pages go instead. */
static void build_reclaim(struct build *b)
{
	b->demand = max(b->demand, b->in_memory + b->in_swap);
	while (!b->dry && b->in_memory > BUILD_MEMORY && b->lru_first != b->lru_end) {
		struct build_folio folio = b->lru[b->lru_first++ % LRU_FOLIOS];
		struct build_job *job = &b->jobs[folio.job];

		if (folio.generation != job->generation || job->page[folio.page].slot)
			continue;
		if (swap_out(b, job, folio.page))
			continue;
		b->full++;
		break;
	}
}

/* Swap in a folio, or now and then one page of it. */
static void swap_in(struct build *b, struct build_job *job, unsigned int page)
{
	unsigned int i, order = job->page[page].order, nr = 1 << order;
	unsigned int first = round_down(page, nr);

	if (order && !below(&b->sometimes, SWAP_IN_PARTS)) {
		for (i = first; i < first + nr; i++)
			job->page[i].order = 0;
		first = page;
		nr = 1;
	}
	build_free(b, job->page[first].slot, nr);
	for (i = first; i < first + nr; i++)
		job->page[i].slot = 0;
	b->in_memory += nr;
	lru_add(b, job, first);
}

static void build_step(struct build *b)
{
	struct build_job *job = &b->jobs[below(&b->random, BUILD_JOBS)];
	bool looks_back = below(&b->random, 1000) < JOB_LOOKS_BACK;
	unsigned int page = prandom_u32_state(&b->random);
	struct swap_hints *hints = &b->cpu[(job - b->jobs) % BUILD_CPUS];

	if (!b->dry)
		swap_kunit_exchange_hints(b->area->si, hints);
	if (looks_back && job->touched) {
		page %= job->touched;
		if (job->page[page].slot)
			swap_in(b, job, page);
	} else {
		job->ahead -= JOB_TURN;
		if (job->ahead < 0 && job->touched == job->pages)
			job_end(b, job);
		while (job->ahead < 0 && job->touched < job->pages)
			job_touch(b, job);
	}
	build_reclaim(b);
	if (!b->dry)
		swap_kunit_exchange_hints(b->area->si, hints);
}

static void build_free_memory(void *arg)
{
	struct build *b = arg;

	kvfree(b->jobs);
	kvfree(b->lru);
}

static struct build *build_new(struct kunit *test, const struct bench *bench)
{
	struct build *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	b->orders = bench->orders;
	b->jobs = kvcalloc(BUILD_JOBS, sizeof(*b->jobs), GFP_KERNEL);
	b->lru = kvcalloc(LRU_FOLIOS, sizeof(*b->lru), GFP_KERNEL);
	swap_defer(b->test, build_free_memory, b);
	KUNIT_ASSERT_TRUE(b->test, b->jobs && b->lru);
	prandom_seed_state(&b->random, seed);
	prandom_seed_state(&b->sometimes, seed);
	return b;
}

static void build_run(struct build *b)
{
	unsigned int i;

	for (i = 0; i < steps; i++) {
		if (i % BUILD_PART == 0) {
			b->small = between(&b->random, 10, 90);
			b->longer = between(&b->random, 40, 65);
		}
		if (!i)
			while (b->started < BUILD_JOBS)
				job_start(b, &b->jobs[b->started]);
		build_step(b);
		if (discard && !b->dry)
			swap_kunit_run_discards(b->area->si);
		cond_resched();
		if (IS_ENABLED(CONFIG_UML_TIME_TRAVEL_SUPPORT) && i % BUILD_BREATH == 0)
			lab_sleep(20 * NSEC_PER_MSEC);
	}
}

static void build_figure(struct build *b, const char *name, unsigned int order,
			 const char *what, unsigned long value)
{
	char text[48];

	snprintf(text, sizeof(text), "%s_o%u_%s", name, order, what);
	lab_figure(b->test, text, value);
}

static void build_report(struct build *b, const char *name, unsigned long pages)
{
	unsigned int order;

	for_each_set_bit(order, &b->orders, BUILD_ORDERS) {
		build_figure(b, name, order, "swpout", b->swpout[order]);
		build_figure(b, name, order, "fallback", b->fallback[order]);
	}
	kunit_info(b->test, "%s: pages %lu peak %lu started %lu full %lu", name, pages, b->peak,
		   b->started, b->full);
}

/* Pages swapped at most. */
static unsigned long build_demand(struct kunit *test, const struct bench *bench)
{
	struct build *b = build_new(test, bench);

	b->dry = true;
	b->orders = BIT(0);
	build_run(b);
	return b->demand - BUILD_MEMORY;
}

static void large_folios_find_slots(struct kunit *test)
{
	const struct bench *bench = swap_param(test);
	struct swap_area_facts facts;
	unsigned long pages;
	struct build *b;
	unsigned int i;

	if (!steps)
		kunit_skip(test, "the kernel's command line lacks: " MODULE_PARAM_PREFIX "steps");
	SWAP_REQUIRE(test, CLUSTER_ALLOCATOR);
	if (discard)
		SWAP_REQUIRE(test, NONFULL_FIRST);
	SWAP_REQUIRE_ORDERS(test, BUILD_ORDERS);
	pages = build_demand(test, bench) * (bench->roomy ? AREA_ROOMY : AREA_TIGHT) / 100;
	b = build_new(test, bench);
	b->area = swap_area_on(test, &(struct swap_area_config){
		.disk = discard ? &FAKE_DISK_ZRAM_DISCARD : &FAKE_DISK_ZRAM,
		.clusters = pages / swap_cluster_slots() + 1, .use_cluster0 = true,
		.swap_flags = discard ? SWAP_DISCARD_PAGES : 0 });
	swap_decisions_pause(true);
	swap_area_hold_work(b->area);
	build_run(b);
	swap_area_facts(b->area, &facts);
	build_report(b, bench->name, facts.pages);
	for (i = 0; i < BUILD_JOBS; i++)
		job_end(b, &b->jobs[i]);
	swap_kunit_run_discards(b->area->si);
	swap_decisions_pause(false);
}

static struct kunit_case swap_lab_fragmentation_cases[] = {
	KUNIT_CASE_PARAM(large_folios_find_slots, bench_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_lab_fragmentation, swap_lab_fragmentation_cases);

MODULE_DESCRIPTION("KUnit experiment: fallbacks of large folios when swap is fragmented");
MODULE_LICENSE("GPL");
