// SPDX-License-Identifier: GPL-2.0
/*
 * Stress: two CPUs work on the same memory and areas, in random steps. After each
 * round all rules hold, and every page is what was last written to it.
 *
 * A seed gives each CPU the same steps again. How they interleave is the host's choice.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include "swap_fixture.h"

#define STRESS_CPUS	2
#define STRESS_ROUNDS	10
#define STRESS_PAGES	320
/* The most pages that one step swaps out, or frees from the cache. */
#define STRESS_RUN	16

static unsigned int seed = 0x5747a9;
static unsigned int steps = 200000;
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "swap_stress."
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of the random steps; a failure prints it");
module_param(steps, uint, 0444);
MODULE_PARM_DESC(steps, "number of steps of both CPUs, over all cases");

/*
 * struct stress_mix - parameter: what the two CPUs work on
 * @area: one area, or each of two
 * @areas: number of areas; of two, one is switched off and on again all the time
 * @zswap: zswap is on, and switched off now and then
 * @shmem: the memory is shared
 * @forked: a child has the same pages, and writes to its own copies
 */
struct stress_mix {
	SWAP_PARAM_NAME;
	struct swap_area_config area;
	unsigned int areas;
	bool zswap;
	bool shmem;
	bool forked;
};

static const struct stress_mix stress_mixes[] = {
	{ "ssd", { .disk = &FAKE_DISK_SSD, .clusters = 2 }, 1 },
	{ "full zram", { .disk = &FAKE_DISK_ZRAM, .clusters = 1, .tail_slots = 20 }, 1 },
	{ "ssd+discard", { .disk = &FAKE_DISK_SSD_DISCARD, .clusters = 2,
			   .swap_flags = SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_PAGES }, 1 },
	{ "hdd, forked", { .disk = &FAKE_DISK_HDD, .clusters = 3 }, 1, .forked = true },
	{ "shared memory", { .disk = &FAKE_DISK_SSD, .clusters = 2 }, 1, .shmem = true },
	{ "swapoff", { .disk = &FAKE_DISK_ZRAM, .clusters = 2 }, 2, .forked = true },
	{ "swapoff, shared memory", { .disk = &FAKE_DISK_SSD, .clusters = 2 }, 2,
	  .shmem = true },
#if IS_ENABLED(CONFIG_ZSWAP)
	{ "zswap", { .disk = &FAKE_DISK_SSD, .clusters = 1 }, 1, .zswap = true },
	{ "zswap, swapoff", { .disk = &FAKE_DISK_ZRAM, .clusters = 2 }, 2, .zswap = true },
	{ "zswap, shared memory", { .disk = &FAKE_DISK_ZRAM, .clusters = 1 }, 1,
	  .zswap = true, .shmem = true },
#endif
};

SWAP_PARAMS(stress_mix, stress_mixes);

struct stress_cpu;

/*
 * struct stress - two CPUs at work
 * @test: the test
 * @mix: its parameter
 * @area: the areas
 * @mem: the memory. Page n is written, read and freed by CPU n % 2 only
 * @child: the memory of a child, with the CPUs the other way round, or NULL
 * @cpus: the CPUs
 */
struct stress {
	struct kunit *test;
	const struct stress_mix *mix;
	struct swap_area *area[2];
	struct user_memory *mem;
	struct user_memory *child;
	struct stress_cpu {
		struct stress *stress;
		unsigned int id;
		unsigned int steps;
		struct rnd_state random;
		struct completion done;
		u64 page[PAGE_SIZE / sizeof(u64)];
	} cpus[STRESS_CPUS];
};

static unsigned int random_below(struct stress_cpu *cpu, unsigned int end)
{
	return prandom_u32_state(&cpu->random) % end;
}

/* The parent's memory, or the child's. */
static struct user_memory *random_memory(struct stress_cpu *cpu)
{
	struct stress *s = cpu->stress;

	return s->child && random_below(cpu, 2) ? s->child : s->mem;
}

static unsigned int own_page(struct stress_cpu *cpu, struct user_memory *mem)
{
	unsigned int mine = mem == cpu->stress->child ? !cpu->id : cpu->id;

	return random_below(cpu, STRESS_PAGES / STRESS_CPUS) * STRESS_CPUS + mine;
}

static bool transfer(struct stress_cpu *cpu, struct user_memory *mem, unsigned int page,
		     unsigned int flags)
{
	return access_remote_vm(mem->mm, mem->start + page * PAGE_SIZE, cpu->page, PAGE_SIZE,
				flags) == PAGE_SIZE;
}

/* A page that repeats one word, sometimes 0, or that does not. */
static void step_write(struct stress_cpu *cpu, struct user_memory *mem)
{
	unsigned int page = own_page(cpu, mem), dice = random_below(cpu, 8);
	u64 value = dice ? (u64)prandom_u32_state(&cpu->random) << 32 | page : 0;

	memset64(cpu->page, value, ARRAY_SIZE(cpu->page));
	if (dice > 1)
		cpu->page[ARRAY_SIZE(cpu->page) - 1] = ~value;
	if (!transfer(cpu, mem, page, FOLL_WRITE)) {
		KUNIT_FAIL(cpu->stress->test, "writing page %u failed: seed %#x", page, seed);
		return;
	}
	mem->value[page] = value;
	mem->mixed[page] = dice > 1;
	mem->written[page] = true;
}

static void step_read(struct stress_cpu *cpu, struct user_memory *mem)
{
	unsigned int page = own_page(cpu, mem), last = ARRAY_SIZE(cpu->page) - 1;
	u64 value = mem->value[page];

	if (!mem->written[page])
		return;
	if (!transfer(cpu, mem, page, 0) ||
	    cpu->page[0] != value || cpu->page[last / 2] != value ||
	    cpu->page[last] != (mem->mixed[page] ? ~value : value))
		KUNIT_FAIL(cpu->stress->test,
			   "rule: what is read back is what was last written: page %u of %s: %#llx for %#llx: seed %#x",
			   page, mem == cpu->stress->mem ? "the parent" : "the child",
			   cpu->page[0], value, seed);
}

static void step_fault(struct stress_cpu *cpu, struct user_memory *mem)
{
	vm_fault_t ret = user_fault(mem, random_below(cpu, STRESS_PAGES));

	if (ret & VM_FAULT_ERROR)
		KUNIT_FAIL(cpu->stress->test, "a fault failed with %#x: seed %#x", ret, seed);
}

static void step_page_out(struct stress_cpu *cpu, struct user_memory *mem)
{
	unsigned int first = random_below(cpu, STRESS_PAGES - STRESS_RUN);

	user_page_out(mem, first, 1 + random_below(cpu, STRESS_RUN));
}

static void step_reclaim(struct stress_cpu *cpu, struct user_memory *mem)
{
	unsigned int first = random_below(cpu, STRESS_PAGES - STRESS_RUN);

	user_reclaim_cached(mem, first, 1 + random_below(cpu, STRESS_RUN));
}

static void step_free(struct stress_cpu *cpu, struct user_memory *mem)
{
	unsigned int page = own_page(cpu, mem);

	if (cpu->stress->mix->shmem)
		user_punch(mem, page, 1);
	else
		user_dontneed(mem, page, 1);
}

/* A slot without memory, with several references. */
static void step_slot(struct stress_cpu *cpu, struct user_memory *mem)
{
	swp_entry_t entry = swap_alloc(cpu->stress->test);
	unsigned int count = 1, end = 1 + random_below(cpu, 8);

	if (!entry.val)
		return;
	while (count < end && !swap_dup_slot(entry))
		count++;
	while (count--)
		swap_free_slot(entry);
}

/* Read ahead around the slot of any page. */
static void step_read_slot(struct stress_cpu *cpu, struct user_memory *mem)
{
	swp_entry_t entry = user_entry(mem, random_below(cpu, STRESS_PAGES));
	struct swap_area *area;
	struct folio *folio;

	if (!entry.val || !swap_get_device(entry))
		return;
	area = swap_area_of(entry);
	folio = swap_read_slot(entry);
	if (folio)
		folio_put(folio);
	swap_put_device(area->si);
}

static void step_zswap(struct stress_cpu *cpu, struct user_memory *mem)
{
#if IS_ENABLED(CONFIG_ZSWAP)
	if (!cpu->stress->mix->zswap)
		return;
	if (random_below(cpu, 8))
		swap_kunit_zswap_write_back(1 + random_below(cpu, STRESS_RUN));
	else
		swap_kunit_set_zswap(random_below(cpu, 4));
#endif
}

/* One of two areas, by one of the CPUs; the other area has room for all. */
static void step_swapoff(struct stress_cpu *cpu, struct user_memory *mem)
{
	const struct stress_mix *mix = cpu->stress->mix;
	struct swap_area *area = cpu->stress->area[1];
	int err;

	if (mix->areas < 2 || cpu->id)
		return;
	err = area->on ? swap_area_swapoff(area) :
			 swap_area_swapon(area, mix->area.swap_flags);
	if (err)
		KUNIT_FAIL(cpu->stress->test, "swapoff or swapon failed with %d: seed %#x", err,
			   seed);
}

/* Of 200 steps. */
static const struct {
	unsigned int weight;
	void (*run)(struct stress_cpu *cpu, struct user_memory *mem);
} stress_steps[] = {
	{ 48, step_write }, { 40, step_read }, { 20, step_fault }, { 40, step_page_out },
	{ 12, step_reclaim }, { 12, step_free }, { 12, step_slot }, { 8, step_read_slot },
	{ 7, step_zswap }, { 1, step_swapoff },
};

static int stress_thread(void *arg)
{
	struct stress_cpu *cpu = arg;
	unsigned int step, kind, dice;

	for (step = 0; step < cpu->steps && !swap_test_failed(cpu->stress->test); step++) {
		dice = random_below(cpu, 200);
		for (kind = 0; dice >= stress_steps[kind].weight; kind++)
			dice -= stress_steps[kind].weight;
		stress_steps[kind].run(cpu, random_memory(cpu));
	}
	complete(&cpu->done);
	return 0;
}

static void stress_round(struct stress *s, unsigned int nr)
{
	struct task_struct *task;
	unsigned int id;

	if (s->mix->forked)
		s->child = user_memory_fork(s->mem);
	for (id = 0; id < STRESS_CPUS; id++) {
		s->cpus[id].steps = nr / STRESS_CPUS;
		init_completion(&s->cpus[id].done);
		task = kthread_create(stress_thread, &s->cpus[id], "swap-kunit-stress");
		KUNIT_ASSERT_FALSE(s->test, IS_ERR(task));
		kthread_bind(task, id);
		wake_up_process(task);
	}
	for (id = 0; id < STRESS_CPUS; id++)
		wait_for_completion(&s->cpus[id].done);
	for (id = 0; id < s->mix->areas; id++)
		if (s->area[id]->on)
			swap_area_settle(s->area[id]);
	swap_expect_invariants(s->test);
	if (!user_data_intact(s->mem) || (s->child && !user_data_intact(s->child)))
		KUNIT_FAIL(s->test, "rule: what is read back is what was last written: seed %#x",
			   seed);
	if (s->child)
		user_memory_exit(s->child);
}

/* Rule: whatever two CPUs do at a time, no page is lost, and all counts agree. */
static void two_cpus(struct kunit *test)
{
	struct stress *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	const struct stress_mix *mix = swap_param(test);
	unsigned int id, round, nr = steps / ARRAY_SIZE(stress_mixes) / STRESS_ROUNDS;
	ktime_t start = ktime_get();

	KUNIT_ASSERT_NOT_NULL(test, s);
	if (num_online_cpus() < STRESS_CPUS)
		kunit_skip(test, "this kernel runs on one CPU");
	s->test = test;
	s->mix = mix;
	for (id = 0; id < mix->areas; id++)
		s->area[id] = swap_area_on(test, &mix->area);
	s->mem = mix->shmem ? user_memory_shmem(test, STRESS_PAGES) :
			      user_memory_new(test, STRESS_PAGES);
	swap_kunit_set_zswap(mix->zswap);
	swap_decisions_pause(true);
	for (id = 0; id < STRESS_CPUS; id++) {
		s->cpus[id].stress = s;
		s->cpus[id].id = id;
		prandom_seed_state(&s->cpus[id].random,
				   seed + (u64)(mix - stress_mixes) * STRESS_CPUS + id);
	}
	kunit_info(test, "seed %#x", seed);
	for (round = 0; round < STRESS_ROUNDS && !swap_test_failed(test); round++) {
		stress_round(s, nr);
		/* A kernel that is silent for a minute hangs. */
		pr_info("swap_stress: %s: round %u\n", mix->name, round);
	}
	pr_info("swap_stress: %s: %u steps, %lld ms\n", mix->name, nr * STRESS_ROUNDS,
		ktime_ms_delta(ktime_get(), start));
}

static struct kunit_case swap_stress_cases[] = {
	KUNIT_CASE_PARAM_ATTR(two_cpus, stress_mix_gen_params, { .speed = KUNIT_SPEED_SLOW }),
	{}
};

SWAP_KUNIT_SUITE(swap_stress, swap_stress_cases);
