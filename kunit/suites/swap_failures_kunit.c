// SPDX-License-Identifier: GPL-2.0
/*
 * Failures: of each operation, the first, the second ... call of a kind fails, until
 * it makes no more of them. Each time it returns the right error, all rules hold, no
 * data is lost, and the next try succeeds.
 */
#include "swap_fixture.h"
#include "operations.h"

/**
 * struct failure - parameter: a kind of call that fails
 * @name: of the parameter
 * @point: the calls
 * @err: what they fail with
 * @result: the error of the operation; 0 if it never fails for this
 * @lossy: contents are lost
 * @warning: file of the kernel that warns, where zswap is behind frontswap; or NULL
 */
struct failure {
	const char *name;
	enum swap_fail_point point;
	int err;
	int result;
	bool lossy;
	const char *warning;
};

/* Run the operation; its nth call fails. Return: number of calls that it made. */
static unsigned int failure_try(struct swap_try *this, const struct failure *failure,
				unsigned int nth, bool *failed)
{
	struct kunit *test = this->test;
	unsigned int calls;
	int result;

	/* The log shows the operation as it should be. */
	swap_decisions_pause(nth);
	swap_try_prepare(this);
	swap_fail_reset();
	swap_fail_errno(test, failure->point, nth, nth ? 1 : 0, failure->err);
	result = this->op->run(this);
	calls = swap_reached(failure->point);
	*failed = swap_failed(failure->point);
	swap_fail(test, failure->point, 1, 0);
	/* Without a reference for a page of readahead, kernels see a lack of memory. */
	if (result && !(*failed && failure->point == SWAP_FAIL_REF && result == -ENOMEM))
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
	swap_try_expect_neighbours(this);
	swap_try_undo(this);
	return calls;
}

static bool failure_listed(const struct swap_operation *op, enum swap_fail_point point,
			   const struct failure *failures, unsigned int nr)
{
	if (point == SWAP_FAIL_REF && op->pins)
		return true;
	while (nr--)
		if (failures[nr].point == point)
			return true;
	/* No failure; and a subset of all allocations. */
	return point == SWAP_FAIL_CONGESTION || point == SWAP_FAIL_KILL ||
	       point == SWAP_FAIL_SPIN || point == SWAP_FAIL_LOCK || point == SWAP_FAIL_TABLE;
}

/* Every call that the operation makes is in its table, or nobody would know. */
static void failures_are_complete(struct swap_try *this, const struct failure *failures,
				  unsigned int nr)
{
	unsigned int point;

	swap_decisions_pause(true);
	swap_try_prepare(this);
	swap_fail_reset();
	this->op->run(this);
	for (point = 0; point < SWAP_FAIL_POINTS; point++)
		if (!failure_listed(this->op, point, failures, nr))
			KUNIT_EXPECT_EQ_MSG(this->test, swap_reached(point), 0U,
					    "the table lacks failures of point %u", point);
	swap_try_undo(this);
}

static void failure_sweep(struct kunit *test, const struct swap_operation *op,
			  const struct failure *failures, unsigned int nr)
{
	const struct failure *failure = swap_param(test);
	struct swap_try this = { .test = test, .op = op, .neighbours = true };
	unsigned int nth, calls;
	bool failed;

	if (SWAP_API_SWAP_DUP_PINS && failure->point == SWAP_FAIL_REF && !op->swapped)
		kunit_skip(test, "a count takes a reference here, and a slot keeps its area on");
	if (failure->warning && swap_has(FRONTSWAP_MAP))
		swap_expect_report(test, failure->warning);
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

#define FAILURE_SWEEP(test, operation) \
	failure_sweep(test, &swap_op_##operation, operation##_failures, \
		      ARRAY_SIZE(operation##_failures))

/*
 * Slots and areas
 */

static const struct failure swapon_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -ENOMEM, .warning = "mm/frontswap.c" },
	{ "allocation of zswap", SWAP_FAIL_ZSWAP_SETUP, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO },
	{ "discard", SWAP_FAIL_DISCARD, -EIO, 0 },
};

SWAP_PARAMS(swapon_failure, swapon_failures);

static void swapon(struct kunit *test)
{
	FAILURE_SWEEP(test, swapon);
}

static const struct failure slot_allocation_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge", SWAP_FAIL_CHARGE, -ENOMEM, -ENOMEM },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -ENOMEM },
};

SWAP_PARAMS(slot_allocation_failure, slot_allocation_failures);

static void slot_allocation(struct kunit *test)
{
	FAILURE_SWEEP(test, slot_allocation);
}

static const struct failure large_count_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -ENOMEM },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -ENOENT },
};

SWAP_PARAMS(large_count_failure, large_count_failures);

static void large_count(struct kunit *test)
{
	FAILURE_SWEEP(test, large_count);
}

static const struct failure swapoff_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, 0, .lossy = true },
	{ "reference", SWAP_FAIL_REF, -ENOENT, 0 },
};

SWAP_PARAMS(swapoff_failure, swapoff_failures);

static void swapoff(struct kunit *test)
{
	FAILURE_SWEEP(test, swapoff);
}

static const struct failure swapoff_of_shmem_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO, .lossy = true },
	{ "reference", SWAP_FAIL_REF, -ENOENT, 0 },
};

SWAP_PARAMS(swapoff_of_shmem_failure, swapoff_of_shmem_failures);

static void swapoff_of_shmem(struct kunit *test)
{
	const struct failure *failure = swap_param(test);

	/* "mm/shmem: fix infinite loop when swap in shmem error at swapoff time" */
	if (!SWAP_API_SHMEM_READ_ERROR && failure->point == SWAP_FAIL_READ)
		kunit_skip(test, "on this kernel swapoff never ends after such an error");
	FAILURE_SWEEP(test, swapoff_of_shmem);
}

/*
 * Out
 */

/* What is not swapped out stays in memory. */
static const struct failure swap_out_failures[] = {
	{ "allocation", SWAP_FAIL_ALLOC, -ENOMEM, -EAGAIN },
	{ "charge", SWAP_FAIL_CHARGE, -ENOMEM, -EAGAIN },
	{ "write", SWAP_FAIL_WRITE, -EIO, 0 },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

SWAP_PARAMS(swap_out_failure, swap_out_failures);

static void swap_out(struct kunit *test)
{
	FAILURE_SWEEP(test, swap_out);
}

#define swap_out_of_shmem_failures swap_out_failures
SWAP_PARAMS(swap_out_of_shmem_failure, swap_out_of_shmem_failures);

static void swap_out_of_shmem(struct kunit *test)
{
	FAILURE_SWEEP(test, swap_out_of_shmem);
}

#define large_swap_out_failures swap_out_failures
LARGE_PARAMS(large_swap_out_failure, large_swap_out_failures);

static void large_swap_out(struct kunit *test)
{
	FAILURE_SWEEP(test, large_swap_out);
}

static const struct failure unmap_failures[] = {
	{ "lock", SWAP_FAIL_TRYLOCK, -EBUSY, 0 },
};

SWAP_PARAMS(unmap_failure, unmap_failures);

static void unmap(struct kunit *test)
{
	FAILURE_SWEEP(test, unmap);
}

static const struct failure truncation_failures[] = {
	{ "lock", SWAP_FAIL_TRYLOCK, -EBUSY, 0 },
};

SWAP_PARAMS(truncation_failure, truncation_failures);

static void truncation(struct kunit *test)
{
	FAILURE_SWEEP(test, truncation);
}

/*
 * In
 */

static const struct failure swap_in_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

SWAP_PARAMS(swap_in_failure, swap_in_failures);

static void swap_in(struct kunit *test)
{
	FAILURE_SWEEP(test, swap_in);
}

/* Shared memory whose page could not be read has lost it. */
static const struct failure swap_in_of_shmem_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "read", SWAP_FAIL_READ, -EIO, -EIO, .lossy = true },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EIO },
};

SWAP_PARAMS(swap_in_of_shmem_failure, swap_in_of_shmem_failures);

static void swap_in_of_shmem(struct kunit *test)
{
	FAILURE_SWEEP(test, swap_in_of_shmem);
}

#define large_swap_in_failures swap_in_failures
LARGE_PARAMS(large_swap_in_failure, large_swap_in_failures);

static void large_swap_in(struct kunit *test)
{
	FAILURE_SWEEP(test, large_swap_in);
}

#define readahead_failures swap_in_failures
SWAP_PARAMS(readahead_failure, readahead_failures);

static void readahead(struct kunit *test)
{
	FAILURE_SWEEP(test, readahead);
}

#define vma_readahead_failures swap_in_failures
SWAP_PARAMS(vma_readahead_failure, vma_readahead_failures);

static void vma_readahead(struct kunit *test)
{
	FAILURE_SWEEP(test, vma_readahead);
}

/*
 * zswap
 */

#if IS_ENABLED(CONFIG_ZSWAP)
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

SWAP_PARAMS(store_failure, store_failures);

static void store(struct kunit *test)
{
	FAILURE_SWEEP(test, store);
}

static const struct failure load_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -ENOMEM },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -ENOMEM },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

SWAP_PARAMS(load_failure, load_failures);

static void load(struct kunit *test)
{
	FAILURE_SWEEP(test, load);
}

static const struct failure writeback_failures[] = {
	{ "folio", SWAP_FAIL_SWAPIN_ALLOC, -ENOMEM, -EAGAIN },
	{ "charge of a folio", SWAP_FAIL_SWAPIN_CHARGE, -ENOMEM, -EAGAIN },
	{ "write", SWAP_FAIL_WRITE, -EIO, 0 },
	{ "reference", SWAP_FAIL_REF, -ENOENT, -EAGAIN },
};

SWAP_PARAMS(writeback_failure, writeback_failures);

static void writeback(struct kunit *test)
{
	FAILURE_SWEEP(test, writeback);
}

static const struct failure change_of_pool_failures[] = {
	{ "allocation", SWAP_FAIL_ZSWAP_SETUP, -ENOMEM, -ENOMEM },
};

SWAP_PARAMS(change_of_pool_failure, change_of_pool_failures);

static void change_of_pool(struct kunit *test)
{
	FAILURE_SWEEP(test, change_of_pool);
}
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
	KUNIT_CASE_PARAM(truncation, truncation_failure_gen_params),
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
