// SPDX-License-Identifier: GPL-2.0
/*
 * The allocator against a slow, obvious model of its published rules, over
 * thousands of random steps; order 0.
 *
 * The rules. A cluster is on one list: free, nonfull, frag or full. The current
 * cluster goes on until its end. Then the lists are asked: nonfull before free
 * ones, or free before nonfull ones where the device discards and on older
 * kernels; then frag. A slot freed makes a cluster nonfull, the last one free.
 */
#include <linux/mm.h>
#include <linux/prandom.h>
#include "swap_fixture.h"

/* Fixed: every run takes the same steps. */
#define MODEL_SEED	0x5357a94b
#define MODEL_STEPS	6000
#define MODEL_CLUSTERS	6
#define MODEL_RECENT	16
#define NO_SLOT		0U

struct model_profile {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	int swap_flags;
};

static const struct model_profile profiles[] = {
	{ .name = "zram", .disk = &FAKE_DISK_ZRAM },
	{ .name = "ssd", .disk = &FAKE_DISK_SSD },
	{ .name = "ssd+discard", .disk = &FAKE_DISK_SSD_DISCARD,
	  .swap_flags = SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_PAGES },
	{ .name = "hdd", .disk = &FAKE_DISK_HDD },
	{ .name = "stable writes", .disk = &FAKE_DISK_STABLE },
};

SWAP_PARAMS(profile, profiles);

enum model_slot { SLOT_FREE, SLOT_USED, SLOT_BAD };

struct model {
	unsigned int cluster_slots;
	unsigned int clusters;
	bool nonfull_first;
	u8 *slots;
	unsigned int count[MODEL_CLUSTERS];
	enum swap_list on[MODEL_CLUSTERS];
	/* Lists, first to last. */
	unsigned int list[SWAP_LIST_NR][MODEL_CLUSTERS];
	unsigned int len[SWAP_LIST_NR];
	/* Where the current cluster goes on, or NO_SLOT. */
	unsigned int next;
	/* What was decided last, for a failure's text. */
	struct {
		char what;
		unsigned int slot;
	} recent[MODEL_RECENT];
	unsigned int steps;
	/* How often there was no slot: the steps must come by that, too. */
	unsigned int refused;
};

/*
 * The model
 */

static void model_take_off(struct model *m, unsigned int cluster)
{
	enum swap_list list = m->on[cluster];
	unsigned int i;

	for (i = 0; i < m->len[list] && m->list[list][i] != cluster; i++)
		;
	if (i < m->len[list])
		for (m->len[list]--; i < m->len[list]; i++)
			m->list[list][i] = m->list[list][i + 1];
	m->on[cluster] = SWAP_LIST_NONE;
}

/* To the end of a list; a cluster that is on it keeps its place. */
static void model_put(struct model *m, unsigned int cluster, enum swap_list list)
{
	if (m->on[cluster] == list)
		return;
	model_take_off(m, cluster);
	m->on[cluster] = list;
	m->list[list][m->len[list]++] = cluster;
}

static void model_put_last(struct model *m, unsigned int cluster, enum swap_list list)
{
	model_take_off(m, cluster);
	model_put(m, cluster, list);
}

/* The first free slot of a cluster from a place on. */
static unsigned int model_find(struct model *m, unsigned int from)
{
	unsigned int slot, end = round_up(from + 1, m->cluster_slots);

	for (slot = from; slot < end; slot++)
		if (m->slots[slot] == SLOT_FREE)
			return slot;
	return NO_SLOT;
}

static unsigned int model_take(struct model *m, unsigned int from)
{
	unsigned int cluster = from / m->cluster_slots, slot = model_find(m, from);

	m->next = NO_SLOT;
	if (slot == NO_SLOT)
		return NO_SLOT;
	m->slots[slot] = SLOT_USED;
	m->count[cluster]++;
	if (m->count[cluster] < m->cluster_slots && (slot + 1) % m->cluster_slots)
		m->next = slot + 1;
	return slot;
}

/* Where a cluster belongs that was looked into: 7.x. */
static unsigned int model_take_and_put(struct model *m, unsigned int from)
{
	unsigned int cluster = from / m->cluster_slots, slot = model_take(m, from);

	model_put(m, cluster, m->count[cluster] == m->cluster_slots ? SWAP_LIST_FULL :
							       SWAP_LIST_FRAG);
	return slot;
}

static unsigned int model_first(struct model *m, enum swap_list list)
{
	unsigned int cluster = m->list[list][0], slot;

	model_take_off(m, cluster);
	slot = model_take_and_put(m, cluster * m->cluster_slots);
	return slot;
}

static unsigned int model_nonfull(struct model *m)
{
	unsigned int slot = NO_SLOT;

	while (slot == NO_SLOT && m->len[SWAP_LIST_NONFULL])
		slot = model_first(m, SWAP_LIST_NONFULL);
	return slot;
}

static unsigned int model_alloc(struct model *m)
{
	unsigned int cluster = m->next / m->cluster_slots, slot = NO_SLOT;

	if (m->next != NO_SLOT &&
	    (m->on[cluster] == SWAP_LIST_NONFULL || m->on[cluster] == SWAP_LIST_FRAG))
		slot = model_take_and_put(m, m->next);
	if (slot == NO_SLOT && m->nonfull_first)
		slot = model_nonfull(m);
	if (slot == NO_SLOT && m->len[SWAP_LIST_FREE])
		slot = model_first(m, SWAP_LIST_FREE);
	if (slot == NO_SLOT && !m->nonfull_first)
		slot = model_nonfull(m);
	if (slot == NO_SLOT && m->len[SWAP_LIST_FRAG])
		slot = model_first(m, SWAP_LIST_FRAG);
	return slot;
}

/* Before 7.x: a cluster in use is nonfull until it was searched in need, then frag. */
static unsigned int model_take_old(struct model *m, unsigned int from)
{
	unsigned int cluster = from / m->cluster_slots, slot = model_take(m, from);

	if (slot == NO_SLOT)
		return NO_SLOT;
	if (m->on[cluster] == SWAP_LIST_FREE)
		model_put(m, cluster, SWAP_LIST_NONFULL);
	if (m->count[cluster] == m->cluster_slots)
		model_put(m, cluster, SWAP_LIST_FULL);
	return slot;
}

static unsigned int model_alloc_old(struct model *m)
{
	unsigned int slot = NO_SLOT, searched = 0;

	if (m->next != NO_SLOT)
		slot = model_take_old(m, m->next);
	if (slot == NO_SLOT && m->len[SWAP_LIST_FREE])
		return model_take_old(m, m->list[SWAP_LIST_FREE][0] * m->cluster_slots);
	while (slot == NO_SLOT && searched < m->len[SWAP_LIST_NONFULL] + m->len[SWAP_LIST_FRAG]) {
		enum swap_list list = m->len[SWAP_LIST_NONFULL] ? SWAP_LIST_NONFULL :
								 SWAP_LIST_FRAG;
		unsigned int cluster = m->list[list][0];

		model_put_last(m, cluster, SWAP_LIST_FRAG);
		slot = model_take_old(m, cluster * m->cluster_slots);
		searched++;
	}
	return slot;
}

/* Return: the cluster is empty now. */
static bool model_free(struct model *m, unsigned int slot)
{
	unsigned int cluster = slot / m->cluster_slots;

	m->slots[slot] = SLOT_FREE;
	if (--m->count[cluster]) {
		model_put(m, cluster, SWAP_LIST_NONFULL);
		return false;
	}
	model_put(m, cluster, SWAP_LIST_FREE);
	return true;
}

static struct model *model_new(struct kunit *test, struct swap_area *area)
{
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct swap_slot_facts slot_facts;
	struct swap_area_facts facts;
	unsigned int slot, cluster;

	KUNIT_ASSERT_NOT_NULL(test, m);
	swap_area_facts(area, &facts);
	m->cluster_slots = swap_cluster_slots();
	m->clusters = facts.clusters;
	m->nonfull_first = swap_has(NONFULL_FIRST) && !(facts.flags & SWP_PAGE_DISCARD);
	KUNIT_ASSERT_LE(test, m->clusters, (unsigned int)MODEL_CLUSTERS);
	m->slots = kunit_kzalloc(test, m->clusters * m->cluster_slots, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->slots);
	for (slot = 0; slot < m->clusters * m->cluster_slots; slot++) {
		slot_facts.bad = true;
		if (slot < facts.max)
			swap_slot_facts(area, slot, &slot_facts);
		if (!slot_facts.bad)
			continue;
		m->slots[slot] = SLOT_BAD;
		m->count[slot / m->cluster_slots]++;
	}
	for (cluster = 0; cluster < m->clusters; cluster++)
		model_put(m, cluster, m->count[cluster] ? SWAP_LIST_NONFULL : SWAP_LIST_FREE);
	return m;
}

/*
 * Both side by side
 */

static void model_note(struct model *m, char what, unsigned int slot)
{
	m->recent[m->steps % MODEL_RECENT].what = what;
	m->recent[m->steps % MODEL_RECENT].slot = slot;
	m->steps++;
}

static const char *model_recent(struct kunit *test, struct model *m)
{
	char *text = kunit_kzalloc(test, MODEL_RECENT * 16, GFP_KERNEL);
	unsigned int i, len = 0;

	if (!text)
		return "";
	for (i = max(m->steps, MODEL_RECENT + 0U) - MODEL_RECENT; i < m->steps; i++) {
		unsigned int slot = m->recent[i % MODEL_RECENT].slot;
		char what = m->recent[i % MODEL_RECENT].what;

		if (what == 'H')
			len += sprintf(text + len, " hint lost,");
		else
			len += sprintf(text + len, " %c%d:%u", what,
				       (int)(slot / m->cluster_slots) - 1,
				       slot % m->cluster_slots);
	}
	return text;
}

/* One allocation on both sides. Return: they agree. */
static bool both_alloc(struct kunit *test, struct model *m)
{
	unsigned int expected = swap_has(CPU_HINT_SHARED) ? model_alloc(m) : model_alloc_old(m);
	swp_entry_t entry = swap_alloc(test);
	unsigned int got = entry.val ? swp_offset(entry) : NO_SLOT;

	model_note(m, 'A', got);
	m->refused += !expected;
	if (got == expected)
		return true;
	KUNIT_FAIL(test,
		   "rule: current cluster, then %s, then frag: seed %#x, step %u: slot %d:%u is due, not %d:%u; the last decisions:%s",
		   m->nonfull_first ? "nonfull, then free" : "free, then nonfull",
		   MODEL_SEED, m->steps, (int)(expected / m->cluster_slots) - 1,
		   expected % m->cluster_slots, (int)(got / m->cluster_slots) - 1,
		   got % m->cluster_slots, model_recent(test, m));
	return false;
}

static void both_free(struct model *m, struct swap_area *area, unsigned int slot)
{
	swap_free_slot(swp_entry(area->si->type, slot));
	model_note(m, 'F', slot);
	/* Emptied clusters are free once they are discarded. */
	if (model_free(m, slot))
		swap_area_settle(area);
}

struct lists_seen {
	struct model *m;
	unsigned int len[SWAP_LIST_NR];
	bool differ;
};

static void see_list(void *ctx, enum swap_list list, unsigned int order, unsigned int cluster)
{
	struct lists_seen *seen = ctx;
	unsigned int place = seen->len[list]++;

	/* Reclaim turns the list of full ones as it looks at them. */
	if (list != SWAP_LIST_FULL && seen->m->list[list][place] != cluster)
		seen->differ = true;
}

/* Return: every cluster is where the model has it. */
static bool lists_agree(struct kunit *test, struct model *m, struct swap_area *area)
{
	struct lists_seen seen = { .m = m };
	enum swap_list list;

	swap_kunit_walk_lists(area->si, see_list, &seen);
	for (list = SWAP_LIST_FREE; list < SWAP_LIST_NR; list++)
		if (seen.len[list] != m->len[list])
			seen.differ = true;
	if (!seen.differ)
		return true;
	KUNIT_FAIL(test,
		   "rule: free, nonfull, frag, full as clusters are taken from and freed: seed %#x, step %u: not \"%s\"; free has %u clusters, nonfull %u, frag %u, full %u, the last decisions:%s",
		   MODEL_SEED, m->steps, swap_area_lists(test, area), m->len[SWAP_LIST_FREE],
		   m->len[SWAP_LIST_NONFULL], m->len[SWAP_LIST_FRAG], m->len[SWAP_LIST_FULL],
		   model_recent(test, m));
	return false;
}

/* A used slot from a random place on. */
static unsigned int random_used(struct model *m, struct rnd_state *random)
{
	unsigned int slots = m->clusters * m->cluster_slots, i;
	unsigned int from = prandom_u32_state(random) % slots;

	for (i = 0; i < slots; i++)
		if (m->slots[(from + i) % slots] == SLOT_USED)
			return (from + i) % slots;
	return NO_SLOT;
}

/* All of a cluster that is in use. */
static void both_empty(struct model *m, struct swap_area *area, unsigned int slot)
{
	unsigned int start = round_down(slot, m->cluster_slots);

	for (slot = start; slot < start + m->cluster_slots; slot++)
		if (m->slots[slot] == SLOT_USED)
			both_free(m, area, slot);
}

/*
 * From empty to full and back several times, with slots and whole clusters
 * freed in random order, and the current cluster lost now and then.
 */
static void real_and_model_decide_alike(struct kunit *test)
{
	const struct model_profile *profile = swap_param(test);
	unsigned long bad[] = { 7, 2 * swap_cluster_slots() - 1, 0 };
	struct swap_area *area = swap_area_on(test, &(struct swap_area_config){
		.disk = profile->disk, .swap_flags = profile->swap_flags,
		.clusters = MODEL_CLUSTERS - 2, .tail_slots = 40, .bad_slots = bad });
	bool agree = true, hints = swap_has(CPU_HINT_SHARED) && !profile->disk->rotational;
	struct rnd_state random;
	unsigned int slot, dice;
	struct model *m;

	SWAP_REQUIRE(test, CLUSTER_ALLOCATOR);
	if (profile->disk->rotational)
		SWAP_REQUIRE(test, CLUSTERS_EVERYWHERE);
	kunit_info(test, "seed %#x, %u steps", MODEL_SEED, MODEL_STEPS);
	prandom_seed_state(&random, MODEL_SEED);
	m = model_new(test, area);
	swap_decisions_pause(true);
	while (agree && m->steps < MODEL_STEPS) {
		/* Filling up for a while, then emptying. */
		bool filling = m->steps / 500 % 3 < 2;

		dice = prandom_u32_state(&random) % 1000;
		slot = random_used(m, &random);
		if (dice < 3 && slot && !filling) {
			both_empty(m, area, slot);
		} else if (dice < 8 && hints) {
			swap_kunit_drain_hints();
			m->next = NO_SLOT;
			model_note(m, 'H', 0);
		} else if (dice < (filling ? 950 : 300) || !slot) {
			agree = both_alloc(test, m);
		} else {
			both_free(m, area, slot);
		}
		if (m->steps % 16 == 0)
			agree = agree && lists_agree(test, m, area);
	}
	swap_decisions_pause(false);
	KUNIT_EXPECT_TRUE_MSG(test, m->refused || !agree, "the steps never filled the device");
}

static struct kunit_case swap_alloc_model_cases[] = {
	KUNIT_CASE_PARAM(real_and_model_decide_alike, profile_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_alloc_model, swap_alloc_model_cases);

MODULE_DESCRIPTION("KUnit suite: the swap slot allocator against a model");
MODULE_LICENSE("GPL");
