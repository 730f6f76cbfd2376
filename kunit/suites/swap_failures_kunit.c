// SPDX-License-Identifier: GPL-2.0
/*
 * Failures: of each operation, the first, the second ... call of a kind fails, until
 * it makes no more of them. Each time it returns the right error, all rules hold, no
 * data is lost, and the next try succeeds.
 */
#include "swap_fixture.h"

#define FAILURE_PAGES	8

struct failure_try;

/**
 * struct operation - what is tried
 * @area: the area, switched on before each try
 * @off: the area is off instead
 * @zswap: zswap is on
 * @shmem: the memory is shared
 * @order: order of the folios
 * @swapped: the memory is swapped out before
 * @pins: its references of the area cannot fail: slots that it works on keep the area on
 * @ready: prepares more, or NULL
 * @run: the operation; 0 or a negative error. It can be tried again
 * @done: undoes what the end of the memory and swapoff do not, or NULL
 */
struct operation {
	struct swap_area_config area;
	bool off;
	bool zswap;
	bool shmem;
	unsigned int order;
	bool swapped;
	bool pins;
	void (*ready)(struct failure_try *this);
	int (*run)(struct failure_try *this);
	void (*done)(struct failure_try *this);
};

/**
 * struct failure - parameter: a kind of call that fails
 * @name: of the parameter
 * @point: the calls
 * @err: what they fail with
 * @result: the error of the operation; 0 if it never fails for this
 * @lossy: contents are lost
 */
struct failure {
	const char *name;
	enum swap_fail_point point;
	int err;
	int result;
	bool lossy;
};

/* One try of an operation, and what it works on. */
struct failure_try {
	struct kunit *test;
	const struct operation *op;
	struct swap_area *area;
	struct user_memory *mem;
	swp_entry_t entry;
	unsigned int count;
};

static void failure_prepare(struct failure_try *this)
{
	const struct operation *op = this->op;

	if (!op->off)
		KUNIT_ASSERT_EQ(this->test, swap_area_swapon(this->area, op->area.swap_flags), 0);
	this->mem = op->shmem ? user_memory_shmem(this->test, FAILURE_PAGES << op->order) :
				user_memory_new(this->test, FAILURE_PAGES << op->order);
	user_fill_mixed(this->mem, 0, this->mem->pages);
	if (op->swapped)
		user_swap_out(this->mem, 0, this->mem->pages);
	swap_kunit_reset_readahead();
	if (op->ready)
		op->ready(this);
}

static void failure_undo(struct failure_try *this)
{
	if (this->op->done)
		this->op->done(this);
	user_memory_exit(this->mem);
	if (this->area->on)
		KUNIT_ASSERT_EQ(this->test, swap_area_swapoff(this->area), 0);
}

/* Run the operation; its nth call fails. Return: number of calls that it made. */
static unsigned int failure_try(struct failure_try *this, const struct failure *failure,
				unsigned int nth, bool *failed)
{
	struct kunit *test = this->test;
	unsigned int calls;
	int result;

	/* The log shows the operation as it should be. */
	swap_decisions_pause(nth);
	failure_prepare(this);
	swap_fail_reset();
	swap_fail_errno(test, failure->point, nth, nth ? 1 : 0, failure->err);
	result = this->op->run(this);
	calls = swap_reached(failure->point);
	*failed = swap_failed(failure->point);
	swap_fail(test, failure->point, 1, 0);
	if (result)
		KUNIT_EXPECT_EQ_MSG(test, result, *failed ? failure->result : 0,
				    "rule: if call %u of %u fails, so does the operation",
				    nth, calls);
	swap_expect_invariants(test);
	if (failure->lossy)
		goto out;
	/* A page that could not be read is read again once it is out of the swap cache. */
	user_reclaim_cached(this->mem, 0, this->mem->pages);
	if (result)
		KUNIT_EXPECT_EQ_MSG(test, this->op->run(this), 0,
				    "rule: the next try succeeds; call %u failed", nth);
	KUNIT_EXPECT_TRUE_MSG(test, user_data_intact(this->mem),
			      "rule: what is read back is what was last written; call %u failed",
			      nth);
out:
	failure_undo(this);
	return calls;
}

static bool failure_listed(const struct operation *op, enum swap_fail_point point,
			   const struct failure *failures, unsigned int nr)
{
	if (point == SWAP_FAIL_REF && op->pins)
		return true;
	while (nr--)
		if (failures[nr].point == point)
			return true;
	/* No failure; and a subset of all allocations. */
	return point == SWAP_FAIL_CONGESTION || point == SWAP_FAIL_TABLE;
}

/* Every call that the operation makes is in its table, or nobody would know. */
static void failures_are_complete(struct failure_try *this, const struct failure *failures,
				  unsigned int nr)
{
	unsigned int point;

	swap_decisions_pause(true);
	failure_prepare(this);
	swap_fail_reset();
	this->op->run(this);
	for (point = 0; point < SWAP_FAIL_POINTS; point++)
		if (!failure_listed(this->op, point, failures, nr))
			KUNIT_EXPECT_EQ_MSG(this->test, swap_reached(point), 0U,
					    "the table lacks failures of point %u", point);
	failure_undo(this);
}

static void failure_sweep(struct kunit *test, const struct operation *op,
			  const struct failure *failures, unsigned int nr)
{
	const struct failure *failure = swap_param(test);
	struct failure_try this = { .test = test, .op = op };
	unsigned int nth, calls;
	bool failed;

	if (op->order)
		swap_use_order(test, op->order);
	swap_kunit_set_zswap(op->zswap);
	this.area = swap_area_prepare(test, &op->area);
	failures_are_complete(&this, failures, nr);
	calls = failure_try(&this, failure, 0, &failed);
	if (!calls)
		kunit_skip(test, "this kernel makes no such call there");
	for (nth = 1; nth <= calls; nth++) {
		failure_try(&this, failure, nth, &failed);
		KUNIT_EXPECT_TRUE_MSG(test, failed, "call %u of %u is to fail", nth, calls);
	}
	failure_try(&this, failure, nth, &failed);
	KUNIT_EXPECT_FALSE_MSG(test, failed, "rule: no more than %u calls", calls);
}

#define FAILURES_BY(params, operation)						\
params(operation##_failure, operation##_failures);				\
static void operation(struct kunit *test)					\
{										\
	failure_sweep(test, &operation##_operation, operation##_failures,	\
		      ARRAY_SIZE(operation##_failures));			\
}

#define FAILURES(operation)		FAILURES_BY(SWAP_PARAMS, operation)
#define LARGE_FAILURES(operation)	FAILURES_BY(LARGE_PARAMS, operation)

/*
 * Slots and areas
 */

static int run_swapon(struct failure_try *this)
{
	return swap_area_swapon(this->area, this->op->area.swap_flags);
}

static const struct operation swapon_operation = {
	.area = { .disk = &FAKE_DISK_SSD_DISCARD, .clusters = 1, .tail_slots = 10,
		  .swap_flags = SWAP_FLAG_DISCARD },
	.off = true, .run = run_swapon,
};

static const struct failure swapon_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -ENOMEM },
	{ "allocation of zswap", SWAP_FAIL_ZSWAP_SETUP, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO },
	{ "discard", SWAP_FAIL_DISCARD, -EIO, 0 },
};

FAILURES(swapon)

static int run_slot_allocation(struct failure_try *this)
{
	this->entry = swap_alloc(this->test);
	return this->entry.val ? 0 : -ENOMEM;
}

static void done_slot_allocation(struct failure_try *this)
{
	swap_free_slot(this->entry);
}

static const struct operation slot_allocation_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .run = run_slot_allocation,
	.done = done_slot_allocation,
};

static const struct failure slot_allocation_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge", SWAP_FAIL_CHARGE, -ENOMEM, -ENOMEM },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -ENOMEM },
};

FAILURES(slot_allocation)

static void ready_large_count(struct failure_try *this)
{
	this->entry = swap_alloc(this->test);
	this->count = 1;
}

static int run_large_count(struct failure_try *this)
{
	int err = 0;

	while (!err && this->count < 1000) {
		err = swap_dup_slot(this->entry);
		this->count += !err;
	}
	return err;
}

static void done_large_count(struct failure_try *this)
{
	while (this->count--)
		swap_free_slot(this->entry);
}

static const struct operation large_count_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .ready = ready_large_count,
	.run = run_large_count, .done = done_large_count,
};

static const struct failure large_count_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -ENOMEM },
};

FAILURES(large_count)

static int run_swapoff(struct failure_try *this)
{
	return swap_area_swapoff(this->area);
}

static const struct operation swapoff_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .swapped = true, .run = run_swapoff,
};

static const struct failure swapoff_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, 0, .lossy = true },
	{ "reference", SWAP_FAIL_REF, -ENOENT, 0 },
};

FAILURES(swapoff)

static const struct operation swapoff_of_shmem_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .shmem = true, .swapped = true, .run = run_swapoff,
};

static const struct failure swapoff_of_shmem_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO, .lossy = true },
	{ "reference", SWAP_FAIL_REF, -ENOENT, 0 },
};

FAILURES(swapoff_of_shmem)

/*
 * Out
 */

static int run_swap_out(struct failure_try *this)
{
	unsigned int page;
	int err;

	/* A page of shared memory that could not be swapped out is not mapped. */
	for (page = 0; page < this->mem->pages; page++)
		if (user_page_is(this->mem, page) == USER_PAGE_PRESENT)
			user_fault(this->mem, page);
	err = user_page_out(this->mem, 0, this->mem->pages);
	return err ?: user_pages_swapped(this->mem) == this->mem->pages ? 0 : -EAGAIN;
}

static const struct operation swap_out_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .run = run_swap_out,
};

/* What is not swapped out stays in memory. */
static const struct failure swap_out_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -EAGAIN },
	{ "charge", SWAP_FAIL_CHARGE, -ENOMEM, -EAGAIN },
	{ "write", SWAP_FAIL_WRITE, -EIO, 0 },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

FAILURES(swap_out)

static const struct operation swap_out_of_shmem_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .shmem = true, .run = run_swap_out,
};

#define swap_out_of_shmem_failures swap_out_failures
FAILURES(swap_out_of_shmem)

static const struct operation large_swap_out_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .order = 4, .run = run_swap_out,
};

#define large_swap_out_failures swap_out_failures
LARGE_FAILURES(large_swap_out)

/* Memory in the swap cache is unmapped. */
static void ready_unmap(struct failure_try *this)
{
	user_page_out(this->mem, 0, this->mem->pages);
}

static int run_unmap(struct failure_try *this)
{
	user_dontneed(this->mem, 0, this->mem->pages);
	return 0;
}

static const struct operation unmap_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .pins = true, .ready = ready_unmap, .run = run_unmap,
};

static const struct failure unmap_failures[] = {
	{ "lock", SWAP_FAIL_TRYLOCK, -EBUSY, 0 },
};

FAILURES(unmap)

/*
 * In
 */

static int failure_fault(struct failure_try *this, unsigned int page)
{
	vm_fault_t ret = user_fault(this->mem, page);

	if (ret & VM_FAULT_OOM)
		return -ENOMEM;
	if (ret & VM_FAULT_SIGBUS)
		return -EIO;
	return user_page_is(this->mem, page) == USER_PAGE_PRESENT ? 0 : -EAGAIN;
}

static int run_swap_in(struct failure_try *this)
{
	return failure_fault(this, 0);
}

static const struct failure swap_in_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

static const struct operation swap_in_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .swapped = true, .run = run_swap_in,
};

FAILURES(swap_in)

/* Shared memory whose page could not be read has lost it. */
static const struct failure swap_in_of_shmem_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO, .lossy = true },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EIO },
};

static const struct operation swap_in_of_shmem_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .shmem = true, .swapped = true, .run = run_swap_in,
};

FAILURES(swap_in_of_shmem)

static const struct operation large_swap_in_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .order = 4, .swapped = true, .run = run_swap_in,
};

#define large_swap_in_failures swap_in_failures
LARGE_FAILURES(large_swap_in)

static int run_readahead(struct failure_try *this)
{
	swap_kunit_set_readahead_hits(8);
	return failure_fault(this, 3);
}

static const struct operation readahead_operation = {
	.area = { .disk = &FAKE_DISK_HDD }, .swapped = true, .run = run_readahead,
};

#define readahead_failures swap_in_failures
FAILURES(readahead)

static int run_vma_readahead(struct failure_try *this)
{
	swap_kunit_set_vma_history(user_vma(this->mem), this->mem->start, 8, 8);
	return failure_fault(this, 3);
}

static const struct operation vma_readahead_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .swapped = true, .run = run_vma_readahead,
};

#define vma_readahead_failures swap_in_failures
FAILURES(vma_readahead)

/*
 * zswap
 */

#if IS_ENABLED(CONFIG_ZSWAP)
static const struct operation store_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .zswap = true, .run = run_swap_out,
};

/* What the pool does not take goes to the device. */
static const struct failure store_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -EAGAIN },
	{ "charge", SWAP_FAIL_CHARGE, -ENOMEM, -EAGAIN },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
	{ "entry", SWAP_FAIL_ZSWAP_ENTRY, -ENOMEM, 0 },
	{ "compressor", SWAP_FAIL_ZSWAP_COMPRESS, -EINVAL, 0 },
	{ "memory of the pool", SWAP_FAIL_ZSWAP_POOL, -ENOMEM, 0 },
	{ "tree", SWAP_FAIL_ZSWAP_TREE, -ENOMEM, 0 },
	{ "list", SWAP_FAIL_ZSWAP_LRU, -ENOMEM, 0 },
};

FAILURES(store)

static const struct operation load_operation = {
	.area = { .disk = &FAKE_DISK_SSD }, .zswap = true, .swapped = true, .run = run_swap_in,
};

static const struct failure load_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

FAILURES(load)

/* The first look at a new page gives it a second chance. */
static void ready_writeback(struct failure_try *this)
{
	if (swap_has(ZSWAP_SHRINKER))
		swap_kunit_zswap_write_back(FAILURE_PAGES);
}

static int run_writeback(struct failure_try *this)
{
	return swap_kunit_zswap_write_back(1) ? 0 : -EAGAIN;
}

static const struct operation writeback_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .zswap = true, .swapped = true,
	.ready = ready_writeback, .run = run_writeback,
};

static const struct failure writeback_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -EAGAIN },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -EAGAIN },
	{ "write", SWAP_FAIL_WRITE, -EIO, 0 },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

FAILURES(writeback)

static int run_change_of_pool(struct failure_try *this)
{
	char now[ZSWAP_PARAM_LEN];
	const char *other = zswap_other_compressor(this->test, now);

	return zswap_param_set(this->test, "compressor", other) ? -ENOMEM : 0;
}

static const struct operation change_of_pool_operation = {
	.area = { .disk = &FAKE_DISK_ZRAM }, .zswap = true, .swapped = true,
	.run = run_change_of_pool,
};

static const struct failure change_of_pool_failures[] = {
	{ "allocation", SWAP_FAIL_ZSWAP_SETUP, -ENOMEM, -ENOMEM },
};

FAILURES(change_of_pool)
#endif

static struct kunit_case swap_failures_cases[] = {
	KUNIT_CASE_PARAM(swapon, swapon_failure_gen_params),
	KUNIT_CASE_PARAM(slot_allocation, slot_allocation_failure_gen_params),
	KUNIT_CASE_PARAM(large_count, large_count_failure_gen_params),
	KUNIT_CASE_PARAM(swapoff, swapoff_failure_gen_params),
	KUNIT_CASE_PARAM(swapoff_of_shmem, swapoff_of_shmem_failure_gen_params),
	KUNIT_CASE_PARAM(swap_out, swap_out_failure_gen_params),
	KUNIT_CASE_PARAM(swap_out_of_shmem, swap_out_of_shmem_failure_gen_params),
	KUNIT_CASE_PARAM(large_swap_out, large_swap_out_failure_gen_params),
	KUNIT_CASE_PARAM(unmap, unmap_failure_gen_params),
	KUNIT_CASE_PARAM(swap_in, swap_in_failure_gen_params),
	KUNIT_CASE_PARAM(swap_in_of_shmem, swap_in_of_shmem_failure_gen_params),
	KUNIT_CASE_PARAM(large_swap_in, large_swap_in_failure_gen_params),
	KUNIT_CASE_PARAM(readahead, readahead_failure_gen_params),
	KUNIT_CASE_PARAM(vma_readahead, vma_readahead_failure_gen_params),
#if IS_ENABLED(CONFIG_ZSWAP)
	KUNIT_CASE_PARAM(store, store_failure_gen_params),
	KUNIT_CASE_PARAM(load, load_failure_gen_params),
	KUNIT_CASE_PARAM(writeback, writeback_failure_gen_params),
	KUNIT_CASE_PARAM(change_of_pool, change_of_pool_failure_gen_params),
#endif
	{}
};

SWAP_KUNIT_SUITE(swap_failures, swap_failures_cases);
