/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE(NAME): code that compiles where, and only where, the kernel has NAME.
 */

PROBE(FOLIO_ALLOC_SWAP)		/* int folio_alloc_swap(folio): slots straight into the cache */
int probe(struct folio *folio) { return folio_alloc_swap(folio); }

PROBE(FOLIO_ALLOC_SWAP_ENTRY)	/* swp_entry_t folio_alloc_swap(folio), else get_swap_page(page) */
swp_entry_t probe(struct folio *folio) { return folio_alloc_swap(folio); }

PROBE(FOLIO_DUP_SWAP)		/* counts go up by folio, else swap_duplicate(entry) */
int probe(struct folio *folio) { return folio_dup_swap(folio, NULL); }

PROBE(SWAP_PUT_ENTRIES_DIRECT)	/* counts go down by range, else swap_free(entry) */
void probe(swp_entry_t entry) { swap_put_entries_direct(entry, 1); }

PROBE(SWAP_DUP_ENTRY_DIRECT)
int probe(swp_entry_t entry) { return swap_dup_entry_direct(entry); }

PROBE(PTE_SWP_EXCLUSIVE)	/* a swapped page knows whether it is its owner's alone */
int probe(pte_t pte) { return pte_swp_exclusive(pte_swp_clear_exclusive(pte)); }

PROBE(SWAP_CACHE_DEL_FOLIO)	/* else delete_from_swap_cache(folio) */
void probe(struct folio *folio) { swap_cache_del_folio(folio); }

PROBE(SWAP_CACHE_GET_FOLIO_ENTRY) /* one argument, else (entry, vma, addr) */
struct folio *probe(swp_entry_t entry) { return swap_cache_get_folio(entry); }

PROBE(FOLIO_SWAP)		/* else the entry is in page_private() */
swp_entry_t probe(struct folio *folio) { return folio->swap; }

PROBE(SWAP_FREE_NR)
void probe(swp_entry_t entry) { swap_free_nr(entry, 1); }

PROBE(FREE_SWAP_AND_CACHE_NR)
void probe(swp_entry_t entry) { free_swap_and_cache_nr(entry, 1); }

PROBE(SWAP_CACHE_INDEX)
pgoff_t probe(swp_entry_t entry) { return swap_cache_index(entry); }

PROBE(SWAP_CLUSTER_READAHEAD_MPOL) /* else it takes a fault */
void *probe(swp_entry_t entry)
{ return swap_cluster_readahead(entry, GFP_KERNEL, (struct mempolicy *)NULL, 0); }

PROBE(SWAP_CACHE_GET_SHADOW)	/* else get_shadow_from_swap_cache(entry) */
void *probe(swp_entry_t entry) { return swap_cache_get_shadow(entry); }

PROBE(SWAP_CACHE_ALLOC_ORDERS)	/* folios of several sizes, in the swap cache, to read into */
struct folio *probe(swp_entry_t entry, unsigned long orders, struct vm_fault *vmf)
{ return swap_cache_alloc_folio(entry, 0, orders, vmf, NULL, 0); }

PROBE(FREE_FOLIO_AND_SWAP_CACHE) /* else free_page_and_swap_cache(page) */
void probe(struct folio *folio) { free_folio_and_swap_cache(folio); }

PROBE(SWAP_TABLE)		/* clusters carry their slots' state, else si->swap_map */
void *probe(struct swap_cluster_info *ci) { return (void *)ci->table; }

PROBE(SWAP_CLUSTER_LISTS)	/* allocator with lists of clusters by order */
struct list_head *probe(struct swap_info_struct *si) { return &si->frag_clusters[0]; }

PROBE(SWAP_CLUSTER_INDEX_LISTS)	/* lists of clusters, free and to be discarded, by index */
unsigned int probe(struct swap_info_struct *si)
{ return si->free_clusters.head.data + si->discard_clusters.head.data; }

PROBE(SWAP_CLUSTER_NEXT_CPU)	/* where each CPU looks for a slot next */
unsigned int __percpu *probe(struct swap_info_struct *si) { return si->cluster_next_cpu; }

PROBE(FRONTSWAP)		/* zswap sits behind it */
int probe(struct page *page) { return frontswap_store(page) + frontswap_load(page); }

PROBE(SWAP_GLOBAL_CLUSTER)
void *probe(struct swap_info_struct *si) { return si->global_cluster; }

PROBE(SWAP_PERCPU_CLUSTER_IN_AREA)
void *probe(struct swap_info_struct *si) { return (void __force *)si->percpu_cluster; }

PROBE(SWAP_INUSE_ATOMIC)
long probe(struct swap_info_struct *si) { return atomic_long_read(&si->inuse_pages); }

PROBE(SWAP_USERS_REF)		/* faults pin the device by a reference */
struct percpu_ref *probe(struct swap_info_struct *si) { return &si->users; }

PROBE(SCOPED_WITH_INIT_FS)	/* kthreads have an empty fs */
void probe(void) { scoped_with_init_fs() { barrier(); } }

PROBE(QUEUE_LIMITS_FEATURES)	/* a device's nature is in its queue limits */
blk_features_t probe(struct queue_limits *lim) { return lim->features; }

PROBE(BLK_ALLOC_DISK_LIMITS)
struct gendisk *probe(struct queue_limits *lim) { return blk_alloc_disk(lim, NUMA_NO_NODE); }

PROBE(BLK_ALLOC_DISK)		/* a disk and its queue in one */
void *probe(void) { return blk_alloc_disk(NUMA_NO_NODE); }

PROBE(SUBMIT_BIO_VOID)
void probe(const struct block_device_operations *fops, struct bio *bio)
{ void (*fn)(struct bio *) = fops->submit_bio; fn(bio); }

PROBE(BIO_BDEV)			/* else bio->bi_disk */
void *probe(struct bio *bio) { return bio->bi_bdev; }

PROBE(ADD_DISK_FAILS)
int probe(struct gendisk *disk) { return add_disk(disk); }

PROBE(GENHD_FL_NO_PART)
int probe(void) { return GENHD_FL_NO_PART; }

PROBE(QUEUE_FLAG_DISCARD)
int probe(void) { return QUEUE_FLAG_DISCARD; }

PROBE(ENUM_REQ_OP)
enum req_op probe(struct bio *bio) { enum req_op op = bio_op(bio); return op; }

PROBE(BDEV_RW_PAGE)		/* synchronous devices are known by fops->rw_page */
void *probe(const struct block_device_operations *fops) { return (void *)fops->rw_page; }

PROBE(SWAPFILE_MAXIMUM_SIZE)
unsigned long probe(void) { return swapfile_maximum_size; }

PROBE(KUNIT_PARAM)		/* cases may have parameters, and be skipped */
const void *probe(struct kunit *test) { return test->param_value; }

PROBE(FOLIO)			/* else there are pages alone */
size_t probe(void) { return sizeof(struct folio); }

PROBE(KUNIT_GEN_PARAMS_TEST)	/* parameter generators are given the test */
const void *probe_gen(struct kunit *test, const void *prev, char *desc);
void probe(struct kunit_case *c) { c->generate_params = probe_gen; }

PROBE(CLUSTER_FLAG_DISCARD)
int probe(void) { return CLUSTER_FLAG_DISCARD; }

PROBE(ZSWAP_LOAD_ERRNO)		/* else a bool */
typeof(zswap_load(NULL)) *probe(int *ret) { return ret; }

PROBE(HRTIMER_SETUP)		/* else hrtimer_init() */
void probe(struct hrtimer *timer) { hrtimer_setup(timer, NULL, CLOCK_MONOTONIC, HRTIMER_MODE_REL); }

PROBE(SWAP_FS_ACTIVATE)		/* file systems bring operations, else a_ops->swap_rw */
int probe(struct swap_info_struct *si, const struct swap_ops *ops) { return swap_fs_activate(si, ops); }

PROBE(SWAP_WRITEOUT)		/* folios are written in a context of the caller's */
int probe(struct swap_io_ctx *ctx, struct folio *folio) { return swap_writeout(ctx, folio); }

PROBE(MM_SWAP_H)		/* the swap files' own header */
#if !__has_include("swap.h")
#error
#endif

PROBE(FILE_OPEN_ROOT_PATH)
void *probe(struct path *root) { return file_open_root(root, "x", 0, 0); }

PROBE(ZSWPOUT)
int probe(void) { return ZSWPOUT + ZSWPIN; }

PROBE(ZSWPWB)
int probe(void) { return ZSWPWB; }

PROBE(VMA_START_WRITE)		/* mappings have a lock of their own */
void probe(struct vm_area_struct *vma) { vma_start_write(vma); }

PROBE(READ_FOLIO)		/* else a_ops->readpage */
void *probe(const struct address_space_operations *ops) { return (void *)ops->read_folio; }

PROBE(SWAP_RW)			/* else a_ops->direct_IO writes swap, and ->readpage reads it */
void *probe(const struct address_space_operations *ops) { return (void *)ops->swap_rw; }

PROBE(KI_COMPLETE_RET2)
void probe(struct kiocb *iocb) { iocb->ki_complete(iocb, 0, 0); }

PROBE(SWAP_SWAPCOUNT)		/* else __swp_swapcount(entry) */
int probe(struct swap_info_struct *si, swp_entry_t entry) { return swap_swapcount(si, entry); }

PROBE(FOLIO_ISOLATE_LRU_BOOL)	/* else 0 is success */
typeof(folio_isolate_lru(NULL)) *probe(bool *ret) { return ret; }

PROBE(VM_FAULT_WRITE)		/* a write fault says that it was one */
vm_fault_t probe(void) { return VM_FAULT_WRITE; }

PROBE(SWAP_HIGHEST_BIT)		/* the last free slot is noted, by file systems as well */
unsigned int probe(struct swap_info_struct *si) { return si->highest_bit; }

PROBE(SWP_VALID)
unsigned long probe(void) { return SWP_VALID; }

PROBE(SWPOUT_ZERO)
int probe(void) { return SWPOUT_ZERO + SWPIN_ZERO; }

PROBE(DISABLE_WORK)		/* a worker can be kept from running */
bool probe(struct work_struct *work) { return disable_work_sync(work); }

PROBE(SET_PTES)			/* several pages are mapped in one call */
void probe(struct mm_struct *mm, pte_t *ptep, pte_t pte) { set_ptes(mm, 0, ptep, pte, 2); }

PROBE(SPLIT_FOLIO)
int probe(struct folio *folio) { return split_folio(folio); }
