// SPDX-License-Identifier: GPL-2.0
/*
 * zswap.c: enabled on a system that booted without it.
 */
/* swap-kunit: zswap.enabled=0 */
#include <linux/init.h>
#include "swap_fixture.h"

/*
 * zswap is set up when it is first enabled. Before that it stores nothing and only remembers the
 * name of a compressor; if that one does not exist, the default compressor is used.
 */
static void enabled_after_boot(struct kunit *test)
{
	struct swap_area *area = swap_area_on(test, &SWAP_AREA_ZRAM);
	struct user_memory *mem = user_memory_new(test, 3);
	bool set_up = swap_kunit_zswap_ready();
	char before[32], now[32];

	if (!strstr(saved_command_line, "zswap.enabled=0"))
		kunit_skip(test,
			   "zswap was enabled at boot: zswap.enabled=0 is not on the command line");
	swap_leaves_behind();
	user_fill_mixed(mem, 0, 3);
	user_swap_out(mem, 0, 1);
	user_fault(mem, 0);
	KUNIT_ASSERT_EQ(test, zswap_param_get("compressor", before, sizeof(before)), 0);
	if (swap_has(ZSWAP_SET_UP_LATE)) {
		KUNIT_EXPECT_FALSE_MSG(test, set_up,
				       "rule: zswap is set up when it is first enabled");
		KUNIT_EXPECT_EQ(test, zswap_param_set(test, "compressor", "nonesuch"), 0);
	}
	user_swap_out(mem, 1, 1);
	swap_decisions_skip(test);
	KUNIT_ASSERT_EQ_MSG(test, zswap_param_set(test, "enabled", "Y"), 0,
			    "rule: zswap can be enabled after boot");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_pools(), 1U);
	KUNIT_EXPECT_EQ(test, zswap_param_get("compressor", now, sizeof(now)), 0);
	KUNIT_EXPECT_STREQ_MSG(test, now, before,
			       "rule: the default compressor replaces an unknown one");
	user_swap_out(mem, 2, 1);
	KUNIT_EXPECT_EQ_MSG(test, swap_decisions_count(area, SWAP_ZSWAP_STORE), 1U,
			    "rule: zswap can be enabled after boot");
	KUNIT_EXPECT_EQ(test, swap_kunit_zswap_stored(), 1UL);
	USER_EXPECT_INTACT(test, mem);
}

static struct kunit_case swap_zswap_late_cases[] = {
	KUNIT_CASE(enabled_after_boot),
	{}
};

SWAP_KUNIT_SUITE(swap_zswap_late, swap_zswap_late_cases);

MODULE_DESCRIPTION("KUnit suite of zswap enabled after boot");
MODULE_LICENSE("GPL");
