// SPDX-License-Identifier: GPL-2.0
#include "swap_kunit_seams.h"
#include "swap_slots_real.c"

/**
 * swap_kunit_disable_slot_cache() - give all cached slots back, cache no more
 *
 * swapon switches the cache on again. Context: may sleep.
 */
void swap_kunit_disable_slot_cache(void)
{
	disable_swap_slots_cache_lock();
	mutex_unlock(&swap_slots_cache_enable_mutex);
}
