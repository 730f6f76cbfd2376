// SPDX-License-Identifier: GPL-2.0
/*
 * The allocator and a slow, simple model of its rules run side by side over many
 * random steps. After each step both must have taken the same slots, and every
 * cluster must be on the same list.
 *
 * The rules. A cluster is on one list: free, nonfull, frag, full or discard.
 * Nonfull and frag lists are by order; the order of a cluster is that of the first
 * folio in it. The slots of a folio are aligned to its size. The current cluster
 * of an order is used to its end. Then the lists are searched: nonfull before
 * free, or free before nonfull if the device discards or on older kernels; then
 * one frag cluster; then order 0 steals from higher orders, the lowest first, frag
 * before nonfull. Freeing a slot makes a cluster nonfull; freeing the last one
 * makes it free. When the device is more than half full, slots that only the swap
 * cache holds may be taken.
 *
 * Functions that end in _old have the rules of older kernels.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include "swap_fixture.h"

/* The default seed: every run takes the same steps. */
#define MODEL_SEED	0x5357a94b
#define MODEL_STEPS	20000
#define MODEL_CLUSTERS	12
#define MODEL_ORDERS	10
#define MODEL_RECENT	16
#define NO_SLOT		0U
#define NO_CLUSTER	UINT_MAX

static unsigned int seed = MODEL_SEED;
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "swap_alloc_model."
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "seed of the random steps; a failure prints it, and it replays the failure");

struct model_mix {
	SWAP_PARAM_NAME;
	const struct fake_disk_profile *disk;
	int swap_flags;
	/* BIT()s of the orders that are allocated. */
	unsigned long orders;
};

#define ORDERS_0	BIT(0)
#define ORDERS_0_4	(BIT(0) | BIT(4))
#define ORDERS_ALL	(BIT(0) | BIT(2) | BIT(4) | BIT(6) | BIT(8) | BIT(9))

static const struct model_mix mixes[] = {
	{ "zram", &FAKE_DISK_ZRAM, 0, ORDERS_0 },
	{ "zram, orders 0 4", &FAKE_DISK_ZRAM, 0, ORDERS_0_4 },
	{ "zram, orders 0 2 4 6 8 9", &FAKE_DISK_ZRAM, 0, ORDERS_ALL },
	{ "ssd", &FAKE_DISK_SSD, 0, ORDERS_0 },
	{ "ssd, orders 0 4", &FAKE_DISK_SSD, 0, ORDERS_0_4 },
	{ "ssd, orders 0 2 4 6 8 9", &FAKE_DISK_SSD, 0, ORDERS_ALL },
	{ "ssd+discard", &FAKE_DISK_SSD_DISCARD, SWAP_DISCARD_PAGES, ORDERS_0 },
	{ "ssd+discard, orders 0 4", &FAKE_DISK_SSD_DISCARD, SWAP_DISCARD_PAGES, ORDERS_0_4 },
	{ "ssd+discard, orders 0 2 4 6 8 9", &FAKE_DISK_SSD_DISCARD, SWAP_DISCARD_PAGES,
	  ORDERS_ALL },
	{ "hdd", &FAKE_DISK_HDD, 0, ORDERS_0 },
	{ "hdd, orders 0 4", &FAKE_DISK_HDD, 0, ORDERS_0_4 },
	{ "hdd, orders 0 2 4 6 8 9", &FAKE_DISK_HDD, 0, ORDERS_ALL },
	{ "stable writes", &FAKE_DISK_STABLE, 0, ORDERS_0 },
	{ "stable writes, orders 0 4", &FAKE_DISK_STABLE, 0, ORDERS_0_4 },
	{ "stable writes, orders 0 2 4 6 8 9", &FAKE_DISK_STABLE, 0, ORDERS_ALL },
};

SWAP_PARAMS(mix, mixes);

enum model_state {
	SLOT_FREE,
	SLOT_USED,	/* has a reference */
	SLOT_CACHED,	/* only a folio in the swap cache holds it */
	SLOT_BAD,
};

struct model_slot {
	u8 state;
	/* Of the folio in the slot, or the last one there. */
	u8 order;
};

struct model_cluster {
	unsigned int count;
	unsigned int order;
	enum swap_list list;
	/* When it was put on the list: lists are in this order. */
	unsigned long since;
};

struct model_decision {
	char what;
	unsigned int slot;
	unsigned int nr;
};

struct model {
	unsigned int cluster_slots;
	unsigned int clusters;
	/* Where the search of the last cluster ends. */
	unsigned int end;
	unsigned int pages;
	unsigned int inuse;
	/* Slots that older kernels count as taken in advance. */
	unsigned int ahead;
	bool discards;
	/* Free clusters before nonfull ones. */
	bool free_first;
	struct model_slot *slots;
	struct model_cluster cluster[MODEL_CLUSTERS];
	unsigned long clock;
	/* The next slot in the current cluster of each order, or NO_SLOT. */
	unsigned int next[MODEL_ORDERS];
	/* The last decisions, for the text of a failure. */
	struct model_decision recent[MODEL_RECENT];
	unsigned int steps;
	/* How often order 0 got no slot: the steps must reach that, too. */
	unsigned int refused;
};

/*
 * The model: clusters and their lists
 */

static struct model_cluster *model_cluster_of(struct model *m, unsigned int slot)
{
	return &m->cluster[slot / m->cluster_slots];
}

static unsigned int model_cluster_end(struct model *m, unsigned int slot)
{
	return min(round_down(slot, m->cluster_slots) + m->cluster_slots, m->end);
}

/* Move a cluster to the end of a list, unless it is on that list. */
static void model_put(struct model *m, struct model_cluster *cluster, enum swap_list list)
{
	if (cluster->list == list)
		return;
	cluster->list = list;
	cluster->since = ++m->clock;
}

/* Move a cluster to the end of a list in any case. */
static void model_put_last(struct model *m, struct model_cluster *cluster, enum swap_list list)
{
	cluster->list = SWAP_LIST_NONE;
	model_put(m, cluster, list);
}

/* The first cluster of a list, or NO_CLUSTER. */
static unsigned int model_first(struct model *m, enum swap_list list, unsigned int order)
{
	bool by_order = list == SWAP_LIST_NONFULL || list == SWAP_LIST_FRAG;
	unsigned int i, first = NO_CLUSTER;

	for (i = 0; i < m->clusters; i++) {
		struct model_cluster *cluster = &m->cluster[i];

		if (cluster->list != list || (by_order && cluster->order != order))
			continue;
		if (first == NO_CLUSTER || cluster->since < m->cluster[first].since)
			first = i;
	}
	return first;
}

/* Free slots of one cluster. */
static void model_free(struct model *m, unsigned int slot, unsigned int nr)
{
	struct model_cluster *cluster = model_cluster_of(m, slot);
	unsigned int i;

	for (i = slot; i < slot + nr; i++)
		m->slots[i].state = SLOT_FREE;
	cluster->count -= nr;
	m->inuse -= nr;
	if (cluster->count) {
		model_put(m, cluster, SWAP_LIST_NONFULL);
	} else if (m->discards) {
		model_put(m, cluster, SWAP_LIST_DISCARD);
	} else {
		cluster->order = 0;
		model_put(m, cluster, SWAP_LIST_FREE);
	}
}

/* Discard empty clusters, which makes them free. Return: whether there were any. */
static bool model_discard(struct model *m)
{
	unsigned int cluster;
	bool any = false;

	while ((cluster = model_first(m, SWAP_LIST_DISCARD, 0)) != NO_CLUSTER) {
		m->cluster[cluster].order = 0;
		model_put(m, &m->cluster[cluster], SWAP_LIST_FREE);
		any = true;
	}
	return any;
}

/* Remove the folio of a slot from the swap cache, which frees its slots. */
static void model_reclaim(struct model *m, unsigned int slot)
{
	unsigned int nr = 1 << m->slots[slot].order;

	model_free(m, round_down(slot, nr), nr);
}

static bool model_half_full(struct model *m)
{
	return (m->pages - m->inuse - m->ahead) * 2 < m->pages;
}

/* Reclaim the cached slots of the first full cluster, or of all; it goes to the end. */
static void model_reclaim_full(struct model *m, bool all)
{
	unsigned int todo = all ? max(m->inuse / m->cluster_slots, 1U) : 1;

	for (; todo; todo--) {
		unsigned int i = model_first(m, SWAP_LIST_FULL, 0), slot = i * m->cluster_slots;

		if (i == NO_CLUSTER)
			return;
		model_put_last(m, &m->cluster[i], SWAP_LIST_FULL);
		for (; slot < (i + 1) * m->cluster_slots; slot++)
			if (m->slots[slot].state == SLOT_CACHED)
				model_reclaim(m, slot);
	}
}

/*
 * The model: slots for a folio
 */

/* Whether all these slots are free, or may be taken from the swap cache. */
static bool model_fits(struct model *m, unsigned int slot, unsigned int nr)
{
	unsigned int i;

	for (i = slot; i < slot + nr; i++) {
		if (m->slots[i].state == SLOT_FREE)
			continue;
		if (m->slots[i].state != SLOT_CACHED || !model_half_full(m))
			return false;
	}
	return true;
}

/* Reclaim these slots from the swap cache. Return: whether any was cached. */
static bool model_reclaim_range(struct model *m, unsigned int slot, unsigned int nr)
{
	bool any = false;
	unsigned int i;

	for (i = slot; i < slot + nr; i++) {
		if (m->slots[i].state != SLOT_CACHED)
			continue;
		model_reclaim(m, i);
		any = true;
	}
	return any;
}

static void model_take(struct model *m, unsigned int slot, unsigned int order)
{
	unsigned int i, nr = 1 << order, end = model_cluster_end(m, slot);
	struct model_cluster *cluster = model_cluster_of(m, slot);

	for (i = slot; i < slot + nr; i++)
		m->slots[i] = (struct model_slot){ .state = SLOT_USED, .order = order };
	if (!cluster->count)
		cluster->order = order;
	cluster->count += nr;
	m->inuse += nr;
	if (cluster->count < m->cluster_slots && slot + nr < end)
		m->next[order] = slot + nr;
}

/*
 * Search a cluster from a slot for the first place that fits. The cluster becomes
 * frag or full. One that reclaim has just emptied becomes free and is not searched
 * further.
 */
static unsigned int model_search(struct model *m, unsigned int from, unsigned int order)
{
	unsigned int slot, nr = 1 << order, end = model_cluster_end(m, from);
	struct model_cluster *cluster = model_cluster_of(m, from);
	unsigned int found = NO_SLOT;

	m->next[order] = NO_SLOT;
	for (slot = from; slot < end && cluster->count + nr <= m->cluster_slots; slot += nr) {
		if (!model_fits(m, slot, nr))
			continue;
		if (model_reclaim_range(m, slot, nr) && !cluster->count)
			return NO_SLOT;
		model_take(m, slot, order);
		found = slot;
		break;
	}
	model_put(m, cluster, cluster->count == m->cluster_slots ? SWAP_LIST_FULL : SWAP_LIST_FRAG);
	return found;
}

/* Search the first cluster of a list, or all of them. */
static unsigned int model_search_list(struct model *m, enum swap_list list, unsigned int of_order,
				      unsigned int order, bool all)
{
	unsigned int cluster, slot = NO_SLOT;

	do {
		cluster = model_first(m, list, of_order);
		if (cluster == NO_CLUSTER)
			break;
		m->cluster[cluster].list = SWAP_LIST_NONE;
		slot = model_search(m, cluster * m->cluster_slots, order);
	} while (all && slot == NO_SLOT);
	return slot;
}

static unsigned int model_search_current(struct model *m, unsigned int order)
{
	struct model_cluster *cluster = model_cluster_of(m, m->next[order]);

	if (m->next[order] == NO_SLOT)
		return NO_SLOT;
	if (cluster->list != SWAP_LIST_NONFULL && cluster->list != SWAP_LIST_FRAG)
		return NO_SLOT;
	/* Order 0 fits everywhere; other orders do not mix. */
	if (order && cluster->order != order)
		return NO_SLOT;
	return model_search(m, m->next[order], order);
}

static unsigned int model_steal(struct model *m)
{
	unsigned int from, slot = NO_SLOT;

	for (from = 1; from < MODEL_ORDERS && slot == NO_SLOT; from++) {
		slot = model_search_list(m, SWAP_LIST_FRAG, from, 0, true);
		if (slot == NO_SLOT)
			slot = model_search_list(m, SWAP_LIST_NONFULL, from, 0, true);
	}
	return slot;
}

static unsigned int model_alloc_once(struct model *m, unsigned int order)
{
	bool parts = 1 << order < m->cluster_slots;
	unsigned int slot = model_search_current(m, order);

	/* A full device is not searched. */
	if (slot != NO_SLOT || m->inuse == m->pages)
		return slot;
	if (m->free_first)
		slot = model_search_list(m, SWAP_LIST_FREE, 0, order, false);
	if (slot == NO_SLOT && parts)
		slot = model_search_list(m, SWAP_LIST_NONFULL, order, order, true);
	if (slot == NO_SLOT && !m->free_first)
		slot = model_search_list(m, SWAP_LIST_FREE, 0, order, false);
	if (slot != NO_SLOT)
		return slot;
	if (model_half_full(m))
		model_reclaim_full(m, false);
	if (parts)
		slot = model_search_list(m, SWAP_LIST_FRAG, order, order, false);
	if (slot == NO_SLOT && !order)
		slot = model_steal(m);
	return slot;
}

static unsigned int model_alloc(struct model *m, unsigned int order)
{
	unsigned int slot;

	/* Order 0 waits for discards. */
	do {
		slot = model_alloc_once(m, order);
	} while (slot == NO_SLOT && !order && model_discard(m));
	return slot;
}

/*
 * The model: kernels where taking a slot does not make a cluster frag
 *
 * A cluster in use is nonfull; it becomes frag when no free cluster is left and it
 * is searched. Free clusters come first, then nonfull ones, then every frag one
 * once. The current cluster is used whatever list it is on. Every order waits for
 * discards.
 */

static unsigned int model_search_old(struct model *m, unsigned int from, unsigned int order)
{
	unsigned int slot, nr = 1 << order, end = model_cluster_end(m, from);
	struct model_cluster *cluster = model_cluster_of(m, from);

	m->next[order] = NO_SLOT;
	for (slot = from; slot < end && cluster->count + nr <= m->cluster_slots; slot += nr) {
		if (!model_fits(m, slot, nr))
			continue;
		model_reclaim_range(m, slot, nr);
		/* Reclaim emptied it, and it waits for its discard. */
		if (cluster->list == SWAP_LIST_DISCARD)
			break;
		if (cluster->list == SWAP_LIST_FREE) {
			cluster->order = order;
			model_put(m, cluster, SWAP_LIST_NONFULL);
		}
		model_take(m, slot, order);
		if (cluster->count == m->cluster_slots)
			model_put(m, cluster, SWAP_LIST_FULL);
		return slot;
	}
	return NO_SLOT;
}

static unsigned int model_frags(struct model *m, unsigned int order)
{
	unsigned int i, nr = 0;

	for (i = 0; i < m->clusters; i++)
		nr += m->cluster[i].list == SWAP_LIST_FRAG && m->cluster[i].order == order;
	return nr;
}

static unsigned int model_alloc_parts_old(struct model *m, unsigned int order)
{
	unsigned int cluster, slot = NO_SLOT, searched = 0;

	while (slot == NO_SLOT) {
		cluster = model_first(m, SWAP_LIST_NONFULL, order);
		if (cluster == NO_CLUSTER) {
			if (searched >= model_frags(m, order))
				break;
			cluster = model_first(m, SWAP_LIST_FRAG, order);
		}
		model_put_last(m, &m->cluster[cluster], SWAP_LIST_FRAG);
		slot = model_search_old(m, cluster * m->cluster_slots, order);
		searched++;
	}
	return slot;
}

static unsigned int model_steal_old(struct model *m)
{
	static const enum swap_list lists[] = { SWAP_LIST_FRAG, SWAP_LIST_NONFULL };
	unsigned int from, i, cluster, slot;

	for (from = 1; from < MODEL_ORDERS; from++) {
		for (i = 0; i < ARRAY_SIZE(lists); i++) {
			while ((cluster = model_first(m, lists[i], from)) != NO_CLUSTER) {
				slot = model_search_old(m, cluster * m->cluster_slots, 0);
				if (slot != NO_SLOT)
					return slot;
			}
		}
	}
	return NO_SLOT;
}

static unsigned int model_alloc_once_old(struct model *m, unsigned int order)
{
	unsigned int slot = NO_SLOT, cluster;

	if (m->next[order] != NO_SLOT)
		slot = model_search_old(m, m->next[order], order);
	if (slot != NO_SLOT)
		return slot;
	cluster = model_first(m, SWAP_LIST_FREE, 0);
	if (cluster != NO_CLUSTER)
		return model_search_old(m, cluster * m->cluster_slots, order);
	if (model_half_full(m))
		model_reclaim_full(m, false);
	if (1 << order < m->cluster_slots)
		slot = model_alloc_parts_old(m, order);
	return slot;
}

static unsigned int model_alloc_old(struct model *m, unsigned int order)
{
	unsigned int slot, nr = 1 << order, next = m->next[order];

	if (m->pages - m->inuse < nr)
		return NO_SLOT;
	m->ahead = nr;
	do {
		/* Start again, at the current cluster. */
		m->next[order] = next;
		slot = model_alloc_once_old(m, order);
	} while (slot == NO_SLOT && model_discard(m));
	if (slot == NO_SLOT && !order)
		slot = model_steal_old(m);
	m->ahead = 0;
	return slot;
}

static struct model *model_new(struct kunit *test, struct swap_area *area)
{
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct swap_slot_facts slot_facts;
	struct swap_area_facts facts;
	unsigned int slot, i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	swap_area_facts(area, &facts);
	m->cluster_slots = swap_cluster_slots();
	m->clusters = facts.clusters;
	m->end = swap_has(SEARCH_ENDS_WITH_AREA) ? facts.max : m->clusters * m->cluster_slots;
	m->pages = facts.pages;
	m->discards = facts.flags & SWP_PAGE_DISCARD;
	m->free_first = m->discards || !swap_has(NONFULL_FIRST);
	KUNIT_ASSERT_LE(test, m->clusters, (unsigned int)MODEL_CLUSTERS);
	m->slots = kunit_kcalloc(test, m->clusters * m->cluster_slots, sizeof(*m->slots),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->slots);
	for (slot = 0; slot < m->clusters * m->cluster_slots; slot++) {
		slot_facts.bad = true;
		if (slot < facts.max)
			swap_slot_facts(area, slot, &slot_facts);
		if (!slot_facts.bad)
			continue;
		m->slots[slot].state = SLOT_BAD;
		model_cluster_of(m, slot)->count++;
	}
	for (i = 0; i < m->clusters; i++)
		model_put(m, &m->cluster[i],
			  m->cluster[i].count ? SWAP_LIST_NONFULL : SWAP_LIST_FREE);
	return m;
}

/*
 * The kernel and the model side by side
 */

struct both {
	struct kunit *test;
	struct swap_area *area;
	struct model *m;
	struct rnd_state random;
	unsigned long orders;
	/* Allocate more than is freed, until more slots are refused than @refused. */
	bool filling;
	unsigned int refused;
	unsigned int since;
	/* Discard only when the allocator waits for it. */
	bool lazy;
	bool agree;
};

static unsigned int random_below(struct both *b, unsigned int end)
{
	return prandom_u32_state(&b->random) % end;
}

static void both_note(struct both *b, char what, unsigned int slot, unsigned int nr)
{
	b->m->recent[b->m->steps % MODEL_RECENT] =
		(struct model_decision){ .what = what, .slot = slot, .nr = nr };
	b->m->steps++;
}

static int slot_text(struct model *m, char *buf, unsigned int slot, unsigned int nr)
{
	return swap_print_run(buf, 32, (long)slot - m->cluster_slots, nr);
}

static const char *recent_text(struct both *b)
{
	char *text = kunit_kzalloc(b->test, MODEL_RECENT * 32, GFP_KERNEL);
	struct model *m = b->m;
	unsigned int i, len = 0;

	if (!text)
		return "";
	for (i = max(m->steps, MODEL_RECENT + 0U) - MODEL_RECENT; i < m->steps; i++) {
		const struct model_decision *d = &m->recent[i % MODEL_RECENT];

		if (d->what == 'H') {
			len += sprintf(text + len, " (hints drained)");
		} else if (d->what == 'D') {
			len += sprintf(text + len, " (discards done)");
		} else if (!d->slot) {
			len += sprintf(text + len, " %c^%u:none", d->what, ilog2(d->nr));
		} else {
			len += sprintf(text + len, " %c", d->what);
			len += slot_text(m, text + len, d->slot, d->nr);
		}
	}
	return text;
}

static void both_differ(struct both *b, const char *what, const char *expected, const char *got)
{
	KUNIT_FAIL(b->test,
		   "rule: current cluster, then %s, then frag, then higher orders: seed %#x, step %u: the model has %s \"%s\", the kernel \"%s\"; the last decisions (C: swapped in to the cache; G: freed by the cache):%s",
		   b->m->free_first ? "free, then nonfull" : "nonfull, then free", seed,
		   b->m->steps, what, expected, got, recent_text(b));
	b->agree = false;
}

static void both_alloc(struct both *b, unsigned int order)
{
	struct model *m = b->m;
	unsigned int nr = 1 << order;
	unsigned int expected = swap_has(FRAG_WHEN_TAKEN) ? model_alloc(m, order) :
							    model_alloc_old(m, order);
	swp_entry_t entry = swap_alloc_order(b->test, order);
	unsigned int got = entry.val ? swp_offset(entry) : NO_SLOT;
	char want[32] = "none", is[32] = "none";

	both_note(b, 'A', got, nr);
	m->refused += !expected && !order;
	if (got != expected) {
		if (expected)
			slot_text(m, want, expected, nr);
		if (got)
			slot_text(m, is, got, nr);
		both_differ(b, "slot", want, is);
	} else if (expected && m->inuse == m->pages) {
		/* The device is full, which wakes the worker. */
		model_reclaim_full(m, true);
		swap_kunit_reclaim_full(b->area->si, true);
	}
}

static swp_entry_t both_entry(struct both *b, unsigned int slot)
{
	return swp_entry(b->area->si->type, slot);
}

static void both_free(struct both *b, unsigned int slot, unsigned int nr)
{
	model_free(b->m, slot, nr);
	swap_free_slots(both_entry(b, slot), nr);
	both_note(b, 'F', slot, nr);
}

/* The number of consecutive slots in use from this one, up to @most. */
static unsigned int both_used_run(struct both *b, unsigned int slot, unsigned int most)
{
	unsigned int nr = 0;

	while (nr < most && b->m->slots[slot + nr].state == SLOT_USED)
		nr++;
	return nr;
}

/* Free the slots of a folio that are still in use, or some of them. */
static void both_free_some(struct both *b, unsigned int slot)
{
	unsigned int size = 1 << b->m->slots[slot].order;
	unsigned int first = round_down(slot, size), dice = random_below(b, 4);

	if (dice < 2 && b->m->slots[first].state == SLOT_USED)
		both_free(b, first, both_used_run(b, first, size));
	else if (dice == 2)
		both_free(b, slot, both_used_run(b, slot, first + size - slot));
	else
		both_free(b, slot, 1);
}

/* Free all slots of a cluster that are in use. */
static void both_empty(struct both *b, unsigned int slot)
{
	unsigned int first = round_down(slot, b->m->cluster_slots);
	unsigned int nr, end = model_cluster_end(b->m, slot);

	for (slot = first; slot < end; slot += nr) {
		nr = both_used_run(b, slot, min(end - slot, 64U));
		if (nr)
			both_free(b, slot, nr);
		else
			nr = 1;
	}
}

/* Swap a folio in; it stays in the swap cache and keeps its slots. */
static void both_swap_in(struct both *b, unsigned int slot)
{
	struct model *m = b->m;
	unsigned int i, order = swap_has(SWAPIN_LARGE_CACHED) ? m->slots[slot].order : 0;
	unsigned int first = round_down(slot, 1 << order);

	/* If part of a folio was freed, the rest is swapped in page by page. */
	if (both_used_run(b, first, 1 << order) < 1 << order) {
		first = slot;
		order = 0;
	}
	if (!swap_in_keeping_slots(both_entry(b, first), order))
		KUNIT_FAIL(b->test, "swap-in of order %u failed: seed %#x, step %u", order, seed,
			   m->steps);
	for (i = first; i < first + (1 << order); i++)
		m->slots[i] = (struct model_slot){ .state = SLOT_CACHED, .order = order };
	both_note(b, 'C', first, 1 << order);
}

/* Free the slots of a folio in the swap cache, as a write to it does. */
static void both_free_swap(struct both *b, unsigned int slot)
{
	struct folio *folio = swap_cached_folio(both_entry(b, slot));
	unsigned int nr = 1 << b->m->slots[slot].order;

	KUNIT_ASSERT_NOT_NULL(b->test, folio);
	folio_lock(folio);
	swap_folio_free_swap(folio);
	folio_unlock(folio);
	folio_put(folio);
	model_reclaim(b->m, slot);
	both_note(b, 'G', round_down(slot, nr), nr);
}

static void both_discard(struct both *b)
{
	model_discard(b->m);
	swap_kunit_run_discards(b->area->si);
	both_note(b, 'D', 0, 0);
}

static void both_drain_hints(struct both *b)
{
	memset(b->m->next, 0, sizeof(b->m->next));
	swap_kunit_drain_hints();
	both_note(b, 'H', 0, 0);
}

struct lists_seen {
	struct model *m;
	unsigned int clusters;
	unsigned long since[SWAP_LIST_NR][MODEL_ORDERS];
	bool differ;
};

static void see_list(void *ctx, enum swap_list list, unsigned int order, unsigned int cluster)
{
	struct lists_seen *seen = ctx;
	const struct model_cluster *expected = &seen->m->cluster[cluster];
	bool by_order = list == SWAP_LIST_NONFULL || list == SWAP_LIST_FRAG;

	seen->clusters++;
	if (expected->list != list || (by_order && expected->order != order) ||
	    expected->since <= seen->since[list][order])
		seen->differ = true;
	seen->since[list][order] = expected->since;
}

static const char *lists_text(struct both *b)
{
	static const char * const names[SWAP_LIST_NR] = {
		"none", "free", "nonfull", "frag", "full", "discard",
	};
	char *text = kunit_kzalloc(b->test, MODEL_CLUSTERS * 16, GFP_KERNEL);
	unsigned int i, len = 0;

	for (i = 1; text && i < b->m->clusters; i++) {
		const struct model_cluster *cluster = &b->m->cluster[i];

		len += sprintf(text + len, "%s%u:%s", i > 1 ? " " : "", i - 1,
			       names[cluster->list]);
		if (cluster->order)
			len += sprintf(text + len, "^%u", cluster->order);
	}
	return text ?: "";
}

/* Check that every cluster is on the list where the model has it. */
static void both_compare_lists(struct both *b)
{
	struct lists_seen seen = { .m = b->m };
	char *got;

	swap_kunit_walk_lists(b->area->si, see_list, &seen);
	if (!seen.differ && seen.clusters == b->m->clusters)
		return;
	got = swap_lists_note(b->area->si, &b->area->log);
	both_differ(b, "list of each cluster", lists_text(b), got);
	kfree(got);
}

/* The first slot in this state after a random one, or NO_SLOT. */
static unsigned int random_slot(struct both *b, enum model_state state)
{
	unsigned int slots = b->m->clusters * b->m->cluster_slots, i;
	unsigned int from = random_below(b, slots);

	for (i = 0; i < slots; i++)
		if (b->m->slots[(from + i) % slots].state == state)
			return (from + i) % slots;
	return NO_SLOT;
}

/* Order 0 half of the time, else any order of the mix. */
static unsigned int random_order(struct both *b)
{
	unsigned int nth = random_below(b, 2 * hweight_long(b->orders)), order;

	for_each_set_bit(order, &b->orders, MODEL_ORDERS)
		if (!nth--)
			return order;
	return 0;
}

/* Alternate: fill the device until it has been full for a while, then empty it. */
static void both_turn(struct both *b)
{
	struct model *m = b->m;

	if (b->filling) {
		b->filling = m->refused == b->refused || random_below(b, 100);
		if (!b->filling)
			b->lazy = random_below(b, 2);
	} else if (!random_below(b, m->inuse < m->pages / 4 ? 100 : 2000)) {
		b->filling = true;
		b->refused = m->refused;
		b->since = m->steps;
	}
}

/* Freeing large folios may outweigh allocating small ones: allocate more as steps go by. */
static bool both_must_fill(struct both *b)
{
	return b->filling && b->m->refused == b->refused &&
	       random_below(b, b->m->steps - b->since + 1) > 1500;
}

static void both_step(struct both *b, bool hints)
{
	unsigned int dice = random_below(b, 1000), slot = NO_SLOT;

	both_turn(b);
	if (dice < 5 && hints)
		return both_drain_hints(b);
	if (dice < 20 && b->m->discards && !b->lazy)
		return both_discard(b);
	if (dice < (b->filling ? 800 : 250))
		return both_alloc(b, random_order(b));
	if (both_must_fill(b))
		return both_alloc(b, 0);
	if (dice >= 980)
		slot = random_slot(b, SLOT_CACHED);
	if (slot != NO_SLOT)
		return both_free_swap(b, slot);
	slot = random_slot(b, SLOT_USED);
	if (slot == NO_SLOT)
		return both_alloc(b, random_order(b));
	if (dice >= 900)
		both_swap_in(b, slot);
	else if (dice < 252)
		both_empty(b, slot);
	else
		both_free_some(b, slot);
}

/*
 * From empty to full and back several times: parts of folios, folios and whole
 * clusters are freed in random order, some stay in the swap cache, and now and
 * then the current clusters are drained.
 */
static void kernel_and_model_agree(struct kunit *test)
{
	const struct model_mix *mix = swap_param(test);
	unsigned long bad[] = { 7, 2 * swap_cluster_slots() - 1, 0 };
	struct both b = { .test = test, .orders = mix->orders, .filling = true, .agree = true };
	bool hints = swap_has(CPU_HINT_SHARED) && !mix->disk->rotational;

	SWAP_REQUIRE(test, CLUSTER_ALLOCATOR);
	if (mix->disk->rotational)
		SWAP_REQUIRE(test, CLUSTERS_EVERYWHERE);
	SWAP_REQUIRE_ORDERS(test, __fls(mix->orders) + 1);
	b.area = swap_area_on(test, &(struct swap_area_config){
		.disk = mix->disk, .swap_flags = mix->swap_flags,
		.clusters = MODEL_CLUSTERS - 2, .tail_slots = 40, .bad_slots = bad });
	kunit_info(test, "seed %#x, %u steps", seed, MODEL_STEPS);
	prandom_seed_state(&b.random, seed);
	b.m = model_new(test, b.area);
	swap_kunit_set_page_cluster(0);
	swap_area_hold_work(b.area);
	swap_decisions_pause(true);
	while (b.agree && b.m->steps < MODEL_STEPS) {
		both_step(&b, hints);
		if (b.agree)
			both_compare_lists(&b);
	}
	swap_kunit_run_discards(b.area->si);
	swap_decisions_pause(false);
	KUNIT_EXPECT_TRUE_MSG(test, b.m->refused || !b.agree,
			      "the steps never filled the device: try another seed");
}

static struct kunit_case swap_alloc_model_cases[] = {
	KUNIT_CASE_PARAM(kernel_and_model_agree, mix_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_alloc_model, swap_alloc_model_cases);

MODULE_DESCRIPTION("KUnit suite: the swap slot allocator against a model");
MODULE_LICENSE("GPL");
