// SPDX-License-Identifier: GPL-2.0
#include "zswap_real.c"
#include "swap_kunit.h"

/**
 * swap_kunit_set_zswap() - switch zswap on or off, as its parameter does
 * @on: what it shall be
 *
 * zswap is set up at boot (its default is on), so this is the flag alone.
 *
 * Return: what it was.
 */
bool swap_kunit_set_zswap(bool on)
{
	bool was = zswap_enabled;

	zswap_enabled = on;
	return was;
}

/**
 * swap_kunit_zswap_stored() - pages in zswap's pool
 *
 * Return: their number.
 */
unsigned long swap_kunit_zswap_stored(void)
{
	return _Generic(zswap_stored_pages,
			atomic_t: atomic_read((atomic_t *)&zswap_stored_pages),
			atomic_long_t: atomic_long_read((atomic_long_t *)&zswap_stored_pages));
}
