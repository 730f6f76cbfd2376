// SPDX-License-Identifier: GPL-2.0
/*
 * Re-entry: where an operation may sleep in a call to another file, another party
 * does its work, on the same pages or beside them. With a CPU of its own it does so at
 * every call, also where the operation holds locks that spin. All rules hold afterwards.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/timekeeping.h>
#include "swap_fixture.h"
#include "operations.h"

/*
 * The places where the other party can come in. On one CPU it does not come in where a
 * lock is held that spins: in unmapping everywhere. Some of those with @locked are made under
 * such a lock, or with memory of the CPU. With @again, the call fails before, and it
 * is the next one of the kind that sleeps.
 */
static const struct {
	enum swap_fail_point point;
	const char *name;
	bool again;
	bool locked;
} meeting_points[] = {
	{ SWAP_FAIL_CHARGE, "charge of slots" },
	{ SWAP_FAIL_ALLOC, "allocation", .locked = true },
	{ SWAP_FAIL_ALLOC, "allocation tried again", .again = true, .locked = true },
	{ SWAP_FAIL_SWAPIN_ALLOC, "allocation of a folio" },
	{ SWAP_FAIL_SWAPIN_CHARGE, "charge of a folio" },
	{ SWAP_FAIL_ZSWAP_ENTRY, "allocation of an entry" },
	{ SWAP_FAIL_ZSWAP_COMPRESS, "compression", .locked = true },
	{ SWAP_FAIL_ZSWAP_POOL, "memory of the pool", .locked = true },
	{ SWAP_FAIL_ZSWAP_TREE, "entering the tree" },
	{ SWAP_FAIL_ZSWAP_LRU, "memory of the list" },
	{ SWAP_FAIL_ZSWAP_SETUP, "setup of a pool" },
	{ SWAP_FAIL_TRYLOCK, "try-lock", .locked = true },
	{ SWAP_FAIL_LOCK, "lock of a folio" },
	{ SWAP_FAIL_REF, "reference", .locked = true },
	{ SWAP_FAIL_READ, "read" },
	{ SWAP_FAIL_WRITE, "write" },
	{ SWAP_FAIL_DISCARD, "discard" },
	{ SWAP_FAIL_KILL, "last reference" },
#ifdef CONFIG_SMP
	{ SWAP_FAIL_SPIN, "lock that spins", .locked = true },
#endif
};

/* Pages of the other party, and those of them that are swapped out. */
#define PARTY_PAGES	(2 * SWAP_TRY_PAGES)
#define PARTY_SWAPPED	(SWAP_TRY_PAGES / 2)

/* Of more calls of a kind, some are left out: more of them on two CPUs, which are slow. */
#define MEETINGS_MAX	(IS_ENABLED(CONFIG_SMP) ? 3 : 8)

/* Where there are two. */
#define CPU_OF_OPERATION	0
#define CPU_OF_PARTY		1

/*
 * How long an operation stands still for a party on another CPU that spins, for a lock of
 * the operation, or that sleeps, in nanoseconds.
 */
#define STANDSTILL_SPINNING	(4 * NSEC_PER_MSEC)
#define STANDSTILL_ASLEEP	(NSEC_PER_MSEC / 2)

struct meeting;

/* Parameter: what the other party does. */
struct party {
	SWAP_PARAM_NAME;
	void (*run)(struct meeting *m);
};

/**
 * struct meeting - an operation, and another party that comes in
 * @try: the operation
 * @party: the other party
 * @other: memory of the other party; a part of it is swapped out
 * @entry: a slot of the other party
 * @count: its references
 * @go: the other party may begin
 * @task: its thread
 * @done: it has ended
 * @met: the operation has come to the point, where the other party could come in
 */
struct meeting {
	struct swap_try try;
	const struct party *party;
	struct user_memory *other;
	swp_entry_t entry;
	unsigned int count;
	struct completion go;
	struct task_struct *task;
	struct completion done;
	bool met;
};

static void party_fault(struct meeting *m)
{
	user_fault(m->try.mem, 0);
}

static void party_fault_beside(struct meeting *m)
{
	user_fault(m->try.mem, 3);
}

static void party_write(struct meeting *m)
{
	user_write(m->try.mem, 0, 0x5245454e54525900ULL);
}

static void party_unmap(struct meeting *m)
{
	user_dontneed(m->try.mem, 0, 1);
}

static void party_swap_out(struct meeting *m)
{
	user_page_out(m->try.mem, 0, m->try.mem->pages);
	user_page_out(m->other, 0, m->other->pages);
}

/* All slots are freed, and others get them. */
static void party_reuse(struct meeting *m)
{
	user_dontneed(m->try.mem, 0, m->try.mem->pages);
	user_page_out(m->other, 0, m->other->pages);
	user_reclaim_cached(m->other, 0, m->other->pages);
}

static void party_swap_in(struct meeting *m)
{
	unsigned int page;

	for (page = 0; page < m->other->pages; page++)
		user_fault_write(m->other, page);
}

static void party_read(struct meeting *m)
{
	swp_entry_t entry = user_entry(m->try.mem, 0);
	struct folio *folio;

	if (!entry.val || !swap_get_device(entry))
		return;
	folio = swap_read_slot(entry);
	if (folio)
		folio_put(folio);
	if (m->try.area->si)
		swap_put_device(m->try.area->si);
}

static void party_reclaim(struct meeting *m)
{
	user_reclaim_cached(m->try.mem, 0, m->try.mem->pages);
}

static void party_count_undo(struct meeting *m)
{
	while (m->count) {
		swap_free_slot(m->entry);
		m->count--;
	}
}

/* A slot beside, with as many references as need a table. */
static void party_count(struct meeting *m)
{
	if (m->try.op->off)
		return;
	m->entry = swap_alloc(m->try.test);
	if (!m->entry.val)
		return;
	for (m->count = 1; m->count < 500 && !swap_dup_slot(m->entry); m->count++)
		;
	/* Swapoff would search for its owner. */
	if (!m->try.op->ownerless)
		party_count_undo(m);
}

static void party_swapoff(struct meeting *m)
{
	if (m->try.area->on)
		swap_area_swapoff(m->try.area);
}

#define PARTIES									\
	{ "fault", party_fault },						\
	{ "fault beside", party_fault_beside },					\
	{ "write", party_write },						\
	{ "unmap", party_unmap },						\
	{ "reuse of the slots", party_reuse },					\
	{ "swap-out", party_swap_out },						\
	{ "swap-in beside", party_swap_in },					\
	{ "read of the slot", party_read },					\
	{ "large count beside", party_count },					\
	{ "reclaim", party_reclaim }

#define PARTY_SWAPOFF	{ "swapoff of the area", party_swapoff }

static const struct party slot_parties[] = { PARTIES };
static const struct party parties[] = { PARTIES, PARTY_SWAPOFF };

SWAP_PARAMS(slot_party, slot_parties);
SWAP_PARAMS(party, parties);
LARGE_PARAMS(large_party, parties);

static int meeting_thread(void *arg)
{
	struct meeting *m = arg;

	wait_for_completion(&m->go);
	if (m->met)
		m->party->run(m);
	complete(&m->done);
	return 0;
}

static bool two_cpus(void)
{
	return num_online_cpus() > 1;
}

/* A party that waits for the operation may do so without sleeping. */
static void meeting_give_way(struct meeting *m)
{
	unsigned long end = jiffies + 2;
	unsigned int turns;

	for (turns = 0; turns < 30 && !completion_done(&m->done) && time_before(jiffies, end);
	     turns++)
		yield();
}

static void meeting_stand_still(struct meeting *m, bool sleeps)
{
	u64 now = ktime_get_mono_fast_ns(), end = now + STANDSTILL_SPINNING, asleep = 0;

	while (!completion_done(&m->done) && now < end &&
	       (!asleep || now < asleep + STANDSTILL_ASLEEP)) {
		if (sleeps)
			yield();
		else
			cpu_relax();
		now = ktime_get_mono_fast_ns();
		if (task_state_to_char(m->task) == 'R')
			asleep = 0;
		else if (!asleep)
			asleep = now;
	}
}

/* In the context of the operation. The other party goes as far as it can. */
static void meeting_point(void *ctx)
{
	bool sleeps = !in_atomic() && !irqs_disabled(), fifo = sleeps && rt_task(current);
	struct meeting *m = ctx;

	if (m->met || (!sleeps && !two_cpus()))
		return;
	m->met = true;
	complete(&m->go);
	/* On a par with the other party, and with the workers that it needs. */
	if (fifo)
		sched_set_normal(current, 0);
	if (two_cpus())
		meeting_stand_still(m, sleeps);
	else
		meeting_give_way(m);
	if (fifo)
		sched_set_fifo(current);
}

static void meeting_start_party(struct meeting *m)
{
	init_completion(&m->go);
	init_completion(&m->done);
	m->task = kthread_create(meeting_thread, m, "swap-kunit-party");
	KUNIT_ASSERT_FALSE(m->try.test, IS_ERR(m->task));
	if (two_cpus()) {
		kthread_bind(m->task, CPU_OF_PARTY);
		set_cpus_allowed_ptr(current, cpumask_of(CPU_OF_OPERATION));
	}
	get_task_struct(m->task);
	wake_up_process(m->task);
}

static void meeting_prepare(struct meeting *m)
{
	m->met = false;
	swap_try_prepare(&m->try);
	m->other = user_memory_at(m->try.test, 0x50000000, PARTY_PAGES);
	user_fill_mixed(m->other, 0, PARTY_PAGES);
	if (!m->try.op->off)
		user_swap_out(m->other, 0, PARTY_SWAPPED);
	swap_fail_reset();
}

static void meeting_undo(struct meeting *m)
{
	swap_fail_reset();
	party_count_undo(m);
	user_memory_exit(m->other);
	swap_try_undo(&m->try);
}

/* A race is no reason for an error, but an area that is off or full is. */
static bool meeting_result_good(struct meeting *m, int result)
{
	return !result || result == -EAGAIN ||
	       (result == -ENOMEM && m->try.op->ownerless) ||
	       (result != -EIO && !m->try.area->on);
}

static bool meet(struct meeting *m, unsigned int at, unsigned int nth)
{
	struct kunit *test = m->try.test;
	const char *name = meeting_points[at].name;
	int result;

	meeting_prepare(m);
	meeting_start_party(m);
	if (meeting_points[at].again)
		swap_fail(test, meeting_points[at].point, nth, 1);
	swap_call_before(test, meeting_points[at].point, nth + meeting_points[at].again, 1,
			 meeting_point, m);
	result = m->try.op->run(&m->try);
	complete(&m->go);
	KUNIT_ASSERT_TRUE_MSG(test, wait_for_completion_timeout(&m->done, 10 * HZ),
			      "rule: both parties end: %s %u", name, nth);
	put_task_struct(m->task);
	/* A worker may have a cluster in its hands. */
	if (m->try.area->on)
		swap_area_settle(m->try.area);
	KUNIT_EXPECT_TRUE_MSG(test, meeting_result_good(m, result),
			      "rule: a race is no error: %s %u: %d", name, nth, result);
	swap_expect_invariants(test);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(m->try.mem) && user_data_intact(m->other),
			      "rule: what is read back is what was last written: %s %u",
			      name, nth);
	meeting_undo(m);
	return m->met;
}

static void meet_everywhere(struct kunit *test, const struct swap_operation *op)
{
	struct meeting m = { .try = { .test = test, .op = op }, .party = swap_param(test) };
	unsigned int calls[ARRAY_SIZE(meeting_points)], at, nth, met = 0;
	struct swap_area_config small = op->area;

	if (op->order)
		swap_use_order(test, op->order);
	swap_kunit_set_zswap(op->zswap);
	/* So small that slots that were freed are all taken again. */
	if (!small.clusters)
		small.tail_slots = (SWAP_TRY_PAGES << op->order) + PARTY_PAGES - SWAP_TRY_PAGES;
	m.try.area = swap_area_prepare(test, &small);
	/* The order depends on who sleeps for how long. */
	swap_decisions_pause(true);
	meeting_prepare(&m);
	op->run(&m.try);
	for (at = 0; at < ARRAY_SIZE(meeting_points); at++)
		calls[at] = swap_reached(meeting_points[at].point);
	meeting_undo(&m);
	for (at = 0; at < ARRAY_SIZE(meeting_points); at++) {
		/* Nothing that fails in swapon is tried again. */
		if (meeting_points[at].again && op->off)
			continue;
		/* in_atomic() does not know. */
		if (meeting_points[at].locked && !IS_ENABLED(CONFIG_PREEMPT_COUNT) && !two_cpus())
			continue;
		for (nth = 1; nth <= calls[at]; nth += 1 + calls[at] / MEETINGS_MAX)
			met += meet(&m, at, nth);
	}
	if (!met && !IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "this kernel does not tell where it may sleep");
	KUNIT_EXPECT_GT_MSG(test, met, 0U, "the other party must come in somewhere");
	pr_info("swap_meetings: %u of %s\n", met, m.party->name);
}

static void swapon(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swapon);
}

static void slot_allocation(struct kunit *test)
{
	meet_everywhere(test, &swap_op_slot_allocation);
}

static void large_count(struct kunit *test)
{
	meet_everywhere(test, &swap_op_large_count);
}

static void swapoff(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swapoff);
}

static void swapoff_of_shmem(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swapoff_of_shmem);
}

static void swap_out(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swap_out);
}

static void swap_out_of_shmem(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swap_out_of_shmem);
}

static void large_swap_out(struct kunit *test)
{
	meet_everywhere(test, &swap_op_large_swap_out);
}

static void truncation(struct kunit *test)
{
	meet_everywhere(test, &swap_op_truncation);
}

static void swap_in(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swap_in);
}

static void swap_in_of_shmem(struct kunit *test)
{
	meet_everywhere(test, &swap_op_swap_in_of_shmem);
}

static void large_swap_in(struct kunit *test)
{
	meet_everywhere(test, &swap_op_large_swap_in);
}

static void readahead(struct kunit *test)
{
	meet_everywhere(test, &swap_op_readahead);
}

static void vma_readahead(struct kunit *test)
{
	meet_everywhere(test, &swap_op_vma_readahead);
}

#if IS_ENABLED(CONFIG_ZSWAP)
static void party_writeback(struct meeting *m)
{
	swap_kunit_zswap_write_back(SWAP_TRY_PAGES);
}

static const struct party zswap_parties[] = {
	PARTIES, PARTY_SWAPOFF, { "writeback of the pool", party_writeback },
};

SWAP_PARAMS(zswap_party, zswap_parties);

static void store(struct kunit *test)
{
	meet_everywhere(test, &swap_op_store);
}

static void load(struct kunit *test)
{
	meet_everywhere(test, &swap_op_load);
}

static void writeback(struct kunit *test)
{
	meet_everywhere(test, &swap_op_writeback);
}

static void change_of_pool(struct kunit *test)
{
	meet_everywhere(test, &swap_op_change_of_pool);
}
#endif

static struct kunit_case swap_reentry_cases[] = {
	KUNIT_CASE_PARAM(swapon, party_gen_params),
	KUNIT_CASE_PARAM(slot_allocation, slot_party_gen_params),
	KUNIT_CASE_PARAM(large_count, slot_party_gen_params),
	KUNIT_CASE_PARAM(swapoff, party_gen_params),
	KUNIT_CASE_PARAM(swapoff_of_shmem, party_gen_params),
	KUNIT_CASE_PARAM(swap_out, party_gen_params),
	KUNIT_CASE_PARAM(swap_out_of_shmem, party_gen_params),
	KUNIT_CASE_PARAM(large_swap_out, large_party_gen_params),
	KUNIT_CASE_PARAM(truncation, party_gen_params),
	KUNIT_CASE_PARAM(swap_in, party_gen_params),
	KUNIT_CASE_PARAM(swap_in_of_shmem, party_gen_params),
	KUNIT_CASE_PARAM(large_swap_in, large_party_gen_params),
	KUNIT_CASE_PARAM(readahead, party_gen_params),
	KUNIT_CASE_PARAM(vma_readahead, party_gen_params),
#if IS_ENABLED(CONFIG_ZSWAP)
	KUNIT_CASE_PARAM(store, zswap_party_gen_params),
	KUNIT_CASE_PARAM(load, zswap_party_gen_params),
	KUNIT_CASE_PARAM(writeback, zswap_party_gen_params),
	KUNIT_CASE_PARAM(change_of_pool, zswap_party_gen_params),
#endif
	{}
};

SWAP_KUNIT_SUITE(swap_reentry, swap_reentry_cases);
