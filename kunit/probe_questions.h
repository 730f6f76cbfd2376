/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE(NAME) starts code that compiles if, and only if, the kernel has NAME.
 */

PROBE(FOLIO_ALLOC_SWAP)		/* int: it also adds the folio to the swap cache */
int probe(struct folio *folio) { return folio_alloc_swap(folio); }

PROBE(FOLIO_ALLOC_SWAP_GFP)	/* the same with allocation flags, and by swap_cache_add_folio() */
int probe(struct folio *folio)
{ swap_cache_add_folio(folio, folio->swap, NULL); return folio_alloc_swap(folio, GFP_KERNEL); }

PROBE(FOLIO_ALLOC_SWAP_ENTRY)	/* else get_swap_page(page) */
swp_entry_t probe(struct folio *folio) { return folio_alloc_swap(folio); }

PROBE(FOLIO_DUP_SWAP)		/* else swap_duplicate(entry) */
int probe(struct folio *folio) { return folio_dup_swap(folio, NULL); }

PROBE(SWAP_PUT_ENTRIES_DIRECT)	/* else swap_free(entry) */
void probe(swp_entry_t entry) { swap_put_entries_direct(entry, 1); }

PROBE(SWAP_DUP_ENTRY_DIRECT)
int probe(swp_entry_t entry) { return swap_dup_entry_direct(entry); }

PROBE(PTE_SWP_EXCLUSIVE)	/* a swap PTE says whether its page is exclusive */
int probe(pte_t pte) { return pte_swp_exclusive(pte_swp_clear_exclusive(pte)); }

PROBE(SWAP_CACHE_DEL_FOLIO)	/* else delete_from_swap_cache(folio) */
void probe(struct folio *folio) { swap_cache_del_folio(folio); }

PROBE(SWAP_CACHE_GET_FOLIO_ENTRY) /* else (entry, vma, addr) */
struct folio *probe(swp_entry_t entry) { return swap_cache_get_folio(entry); }

PROBE(FOLIO_SWAP)		/* else the entry is in page_private() */
swp_entry_t probe(struct folio *folio) { return folio->swap; }

PROBE(SWAP_FREE_NR)
void probe(swp_entry_t entry) { swap_free_nr(entry, 1); }

PROBE(FREE_SWAP_AND_CACHE_NR)
void probe(swp_entry_t entry) { free_swap_and_cache_nr(entry, 1); }

PROBE(SWAP_CACHE_INDEX)
pgoff_t probe(swp_entry_t entry) { return swap_cache_index(entry); }

PROBE(SWAP_CLUSTER_READAHEAD_MPOL) /* else it takes a vmf */
void *probe(swp_entry_t entry)
{ return swap_cluster_readahead(entry, GFP_KERNEL, (struct mempolicy *)NULL, 0); }

PROBE(SWAP_CACHE_GET_SHADOW)	/* else get_shadow_from_swap_cache(entry) */
void *probe(swp_entry_t entry) { return swap_cache_get_shadow(entry); }

PROBE(SWAP_CACHE_ALLOC_ORDERS)	/* allocates folios of several sizes */
struct folio *probe(swp_entry_t entry, unsigned long orders, struct vm_fault *vmf)
{ return swap_cache_alloc_folio(entry, 0, orders, vmf, NULL, 0); }

PROBE(FREE_FOLIO_AND_SWAP_CACHE) /* else free_page_and_swap_cache(page) */
void probe(struct folio *folio) { free_folio_and_swap_cache(folio); }

PROBE(SWAP_MAP)			/* counts of slots; else they are in the tables */
unsigned char *probe(struct swap_info_struct *si) { return si->swap_map; }

PROBE(SWAP_CLUSTER_LISTS)	/* lists of clusters by order */
struct list_head *probe(struct swap_info_struct *si) { return &si->frag_clusters[0]; }

PROBE(SWAP_CLUSTER_INDEX_LISTS)	/* lists of free and discard clusters, by index */
unsigned int probe(struct swap_info_struct *si)
{ return si->free_clusters.head.data + si->discard_clusters.head.data; }

PROBE(SWAP_CLUSTER_NEXT_CPU)	/* each CPU has its own next slot */
unsigned int __percpu *probe(struct swap_info_struct *si) { return si->cluster_next_cpu; }

PROBE(FRONTSWAP)		/* zswap is behind it */
int probe(struct page *page) { return frontswap_store(page) + frontswap_load(page); }

PROBE(SWAP_PERCPU_CLUSTER_IN_AREA)
void *probe(struct swap_info_struct *si) { return (void __force *)si->percpu_cluster; }

PROBE(SWAP_INUSE_ATOMIC)
long probe(struct swap_info_struct *si) { return atomic_long_read(&si->inuse_pages); }

PROBE(SWAP_USERS_REF)		/* users of an area hold a reference */
struct percpu_ref *probe(struct swap_info_struct *si) { return &si->users; }

PROBE(SCOPED_WITH_INIT_FS)	/* kthreads have an empty fs */
void probe(void) { scoped_with_init_fs() { barrier(); } }

PROBE(QUEUE_LIMITS_FEATURES)	/* else queue flags */
blk_features_t probe(struct queue_limits *lim) { return lim->features; }

PROBE(BLK_ALLOC_DISK)		/* allocates disk and queue */
void *probe(void) { return blk_alloc_disk(NUMA_NO_NODE); }

PROBE(SUBMIT_BIO_VOID)
void probe(const struct block_device_operations *fops, struct bio *bio)
{ void (*fn)(struct bio *) = fops->submit_bio; fn(bio); }

PROBE(QUEUE_BACKING_DEV_INFO)	/* else the disk has it */
void *probe(struct request_queue *q) { return q->backing_dev_info; }

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

PROBE(BDEV_RW_PAGE)		/* marks a synchronous device */
void *probe(const struct block_device_operations *fops) { return (void *)fops->rw_page; }

PROBE(SWAPFILE_MAXIMUM_SIZE)
unsigned long probe(void) { return swapfile_maximum_size; }

PROBE(KUNIT_SUITE_INIT)		/* such KUnits also list cases, and run some of a suite */
void *probe(struct kunit_suite *suite) { return suite->suite_init; }

PROBE(KUNIT_STATUS)
int probe(struct kunit *test) { return test->status == KUNIT_SKIPPED; }

PROBE(FOLIO)			/* else only pages */
size_t probe(void) { return sizeof(struct folio); }

PROBE(KUNIT_GEN_PARAMS_TEST)	/* parameter generators get the test */
const void *probe_gen(struct kunit *test, const void *prev, char *desc);
void probe(struct kunit_case *c) { c->generate_params = probe_gen; }

PROBE(CLUSTER_FLAG_DISCARD)
int probe(void) { return CLUSTER_FLAG_DISCARD; }

PROBE(ZSWAP_STORE_FOLIO)	/* page_io.c calls zswap itself, else frontswap */
bool probe(struct folio *folio) { return zswap_store(folio) && folio->swap.val; }

PROBE(ZSWAP_LOAD_ERRNO)		/* else a bool */
typeof(zswap_load(NULL)) *probe(int *ret) { return ret; }

PROBE(HRTIMER_SETUP)		/* else hrtimer_init() */
void probe(struct hrtimer *timer) { hrtimer_setup(timer, NULL, CLOCK_MONOTONIC, HRTIMER_MODE_REL); }

PROBE(SWAP_FS_ACTIVATE)		/* file systems pass swap_ops, else a_ops->swap_rw */
int probe(struct swap_info_struct *si, const struct swap_ops *ops)
{ return swap_fs_activate(si, ops); }

PROBE(SWAP_WRITEOUT)		/* the caller passes an I/O context */
int probe(struct swap_io_ctx *ctx, struct folio *folio) { return swap_writeout(ctx, folio); }

PROBE(SWAP_WRITEOUT_PLUG)	/* the caller passes a plug */
int probe(struct folio *folio, struct swap_iocb **plug) { return swap_writeout(folio, plug); }

PROBE(FILE_OPEN_ROOT_PATH)
void *probe(struct path *root) { return file_open_root(root, "x", 0, 0); }

PROBE(ZSWPOUT)
int probe(void) { return ZSWPOUT + ZSWPIN; }

PROBE(ZSWPWB)
int probe(void) { return ZSWPWB; }

PROBE(VMA_START_WRITE)		/* a VMA has its own lock */
void probe(struct vm_area_struct *vma) { vma_start_write(vma); }

PROBE(READ_FOLIO)		/* else a_ops->readpage */
void *probe(const struct address_space_operations *ops) { return (void *)ops->read_folio; }

PROBE(SWAP_RW)			/* else ->direct_IO writes swap and ->readpage reads it */
void *probe(const struct address_space_operations *ops) { return (void *)ops->swap_rw; }

PROBE(KI_COMPLETE_RET2)
void probe(struct kiocb *iocb) { iocb->ki_complete(iocb, 0, 0); }

PROBE(ZSWAP_SWAPON_ERRNO)	/* else zswap_swapon(type), which cannot fail */
int probe(void) { return zswap_swapon(0, 1); }

PROBE(ZSWAP_DISK_SWAPINS)	/* else a count of protected entries */
void *probe(struct zswap_lruvec_state *state) { return &state->nr_disk_swapins; }

PROBE(SWAP_ENTRY_SWAPPED)	/* else a swap count */
bool probe(struct swap_info_struct *si, swp_entry_t entry)
{ return swap_entry_swapped(si, entry); }

PROBE(SWAP_SWAPCOUNT)		/* else __swp_swapcount(entry) */
int probe(struct swap_info_struct *si, swp_entry_t entry) { return swap_swapcount(si, entry); }

PROBE(FOLIO_ISOLATE_LRU_BOOL)	/* else 0 is success */
typeof(folio_isolate_lru(NULL)) *probe(bool *ret) { return ret; }

PROBE(VM_FAULT_WRITE)		/* a write fault returns this flag */
vm_fault_t probe(void) { return VM_FAULT_WRITE; }

PROBE(SWAP_HIGHEST_BIT)		/* the last free slot is recorded, also by file systems */
unsigned int probe(struct swap_info_struct *si) { return si->highest_bit; }

PROBE(SWP_VALID)
unsigned long probe(void) { return SWP_VALID; }

PROBE(SWAP_CGROUP_ID)		/* the cgroup that a slot is charged to */
unsigned short probe(swp_entry_t entry) { return lookup_swap_cgroup_id(entry); }

PROBE(SWAP_CGROUP_IN_CLUSTER)	/* the same */
unsigned short probe(struct swap_cluster_info *ci) { return __swap_cgroup_get(ci, 0); }

PROBE(MEM_CGROUP_PRIVATE_ID)	/* else mem_cgroup_id(memcg) */
unsigned short probe(void) { return mem_cgroup_private_id(root_mem_cgroup); }

PROBE(OBJ_CGROUP_IS_ROOT)	/* the root cgroup has an object cgroup, too */
bool probe(struct obj_cgroup *objcg) { return obj_cgroup_is_root(objcg); }

PROBE(MTHP_SWPOUT)		/* large folios are counted by order */
int probe(void) { return mthp_stats.stats[0][0] + MTHP_STAT_SWPOUT; }

PROBE(MTHP_SWPIN)
int probe(void) { return MTHP_STAT_SWPIN; }

PROBE(MTHP_ZSWPOUT)
int probe(void) { return MTHP_STAT_ZSWPOUT; }

PROBE(SWPOUT_ZERO)
int probe(void) { return SWPOUT_ZERO + SWPIN_ZERO; }

PROBE(DISABLE_WORK)		/* work can be disabled */
bool probe(struct work_struct *work) { return disable_work_sync(work); }

PROBE(SET_PTES)			/* maps several pages in one call */
void probe(struct mm_struct *mm, pte_t *ptep, pte_t pte) { set_ptes(mm, 0, ptep, pte, 2); }

PROBE(BIO_BLKCG_CSS)		/* else bio_blkcg(bio)->css */
void *probe(struct bio *bio) { return bio_blkcg_css(bio); }

PROBE(SPLIT_FOLIO)
int probe(struct folio *folio) { return split_folio(folio); }

PROBE(VMALLOC_NR_PAGES)	/* else a counter of /proc/vmstat */
unsigned long probe(void) { return vmalloc_nr_pages(); }
