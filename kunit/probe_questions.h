/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE(NAME): code that compiles where, and only where, the kernel has NAME.
 */

PROBE(FOLIO_ALLOC_SWAP)		/* int folio_alloc_swap(folio): slots straight into the cache */
int probe(struct folio *folio) { return folio_alloc_swap(folio); }

PROBE(ADD_TO_SWAP)		/* bool add_to_swap(folio) */
bool probe(struct folio *folio) { return add_to_swap(folio); }

PROBE(FOLIO_DUP_SWAP)		/* counts go up by folio, else swap_duplicate(entry) */
int probe(struct folio *folio) { return folio_dup_swap(folio, NULL); }

PROBE(SWAP_PUT_ENTRIES_DIRECT)	/* counts go down by range, else swap_free(entry) */
void probe(swp_entry_t entry) { swap_put_entries_direct(entry, 1); }

PROBE(SWAP_DUP_ENTRY_DIRECT)
int probe(swp_entry_t entry) { return swap_dup_entry_direct(entry); }

PROBE(SWAP_CACHE_DEL_FOLIO)	/* else delete_from_swap_cache(folio) */
void probe(struct folio *folio) { swap_cache_del_folio(folio); }

PROBE(SWAP_CACHE_GET_FOLIO_ENTRY) /* one argument, else (entry, vma, addr) */
struct folio *probe(swp_entry_t entry) { return swap_cache_get_folio(entry); }

PROBE(SWAP_TABLE)		/* clusters carry their slots' state, else si->swap_map */
void *probe(struct swap_cluster_info *ci) { return (void *)ci->table; }

PROBE(SWAP_MAP)
unsigned char *probe(struct swap_info_struct *si) { return si->swap_map; }

PROBE(SWAP_CLUSTER_LISTS)	/* allocator with lists of clusters by order */
struct list_head *probe(struct swap_info_struct *si) { return &si->frag_clusters[0]; }

PROBE(SWAP_GLOBAL_CLUSTER)
void *probe(struct swap_info_struct *si) { return si->global_cluster; }

PROBE(SWAP_PERCPU_CLUSTER_IN_AREA)
void *probe(struct swap_info_struct *si) { return (void __force *)si->percpu_cluster; }

PROBE(SWAP_INUSE_ATOMIC)
long probe(struct swap_info_struct *si) { return atomic_long_read(&si->inuse_pages); }

PROBE(SWAP_USERS_REF)		/* faults pin the device by a reference */
struct percpu_ref *probe(struct swap_info_struct *si) { return &si->users; }

PROBE(SWAP_IO_CTX)		/* reads are batched in a context of the caller's */
void probe(struct swap_io_ctx *ctx, struct folio *folio) { swap_read_folio(ctx, folio); }

PROBE(SCOPED_WITH_INIT_FS)	/* kthreads have an empty fs */
void probe(void) { scoped_with_init_fs() { barrier(); } }

PROBE(QUEUE_LIMITS_FEATURES)	/* a device's nature is in its queue limits */
blk_features_t probe(struct queue_limits *lim) { return lim->features; }

PROBE(BLK_ALLOC_DISK_LIMITS)
struct gendisk *probe(struct queue_limits *lim) { return blk_alloc_disk(lim, NUMA_NO_NODE); }

PROBE(BDEV_RW_PAGE)		/* synchronous devices are known by fops->rw_page */
void *probe(const struct block_device_operations *fops) { return (void *)fops->rw_page; }

PROBE(SWAPFILE_MAXIMUM_SIZE)
unsigned long probe(void) { return swapfile_maximum_size; }

PROBE(VMA_RA_ENABLED)
bool probe(void) { return READ_ONCE(enable_vma_readahead); }

PROBE(KUNIT_GEN_PARAMS_TEST)	/* parameter generators are given the test */
const void *probe_gen(struct kunit *test, const void *prev, char *desc);
void probe(struct kunit_case *c) { c->generate_params = probe_gen; }

PROBE(CLUSTER_FLAG_DISCARD)
int probe(void) { return CLUSTER_FLAG_DISCARD; }

PROBE(ZSWAP_LOAD_ERRNO)		/* else a bool */
typeof(zswap_load(NULL)) *probe(int *ret) { return ret; }

PROBE(HRTIMER_SETUP)		/* else hrtimer_init() */
void probe(struct hrtimer *timer) { hrtimer_setup(timer, NULL, CLOCK_MONOTONIC, HRTIMER_MODE_REL); }
