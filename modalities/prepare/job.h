/* job.h: the state of one og_prepare call; its parts lie in prepare.c (reading), job_store.c (decoding, storing),
 * job_index.c. */
#ifndef OMNIGRAM_MODALITIES_JOB_H
#define OMNIGRAM_MODALITIES_JOB_H

#include "data/strings.h"
#include "prepare/keymap.h"
#include "prepare/shard.h"
#include "prepare/sources.h"
#include "prepare/tally.h"

enum { OG_BAD_ITEM_ERROR, OG_BAD_ITEM_SKIP };
enum { OG_ITEM_PENDING = -2, OG_ITEM_DROPPED = -1 };

typedef struct og_job_settings {
    const og_config *dataset, *modalities[3];
    int32_t bad_item;
    int64_t shard_bytes;
    const og_config *split_node, *wanted_node;
    og_split_policy split;
    int32_t left_out[3]; /* by modality */
} og_job_settings;

typedef struct og_job_entry { /* a distinct item */
    int64_t unique;           /* number, OG_ITEM_PENDING or OG_ITEM_DROPPED */
    int64_t slot;             /* in the batch while pending */
    int64_t elements;         /* of a stored item */
    int32_t cause;            /* of a dropped one */
} og_job_entry;

typedef struct og_job_slot { /* a distinct item of the batch */
    og_item item;            /* strings live in `strings`; media is a copy */
    const char *place;
    og_media own;   /* copy of item.media */
    og_media media; /* decoded */
    og_status status;
    og_error error;
} og_job_slot;

typedef struct og_job_document {
    const char *id, *group;
    int32_t split;
    int64_t first, n; /* references */
} og_job_document;

typedef struct og_job {
    og_job_settings settings;
    const og_modality_type *types[3];
    og_modality_impl *impls[3];
    og_pool *pool;
    og_keymap items, ids;
    og_job_entry *entries;
    int64_t n_entries, cap_entries;
    og_job_slot *slots;
    int64_t n_slots, cap_slots, slot_bytes;
    og_job_document *documents;
    int64_t n_documents, cap_documents;
    int64_t *refs; /* entry numbers */
    int32_t *ref_modality;
    int64_t n_refs, cap_refs, cap_ref_modality;
    int64_t *kept;
    int64_t cap_kept;
    og_strings strings;
    og_shard shard;
    og_staged_folder output;
    og_sources sources;
    int64_t uniques;
    json_t *shards;
    json_t *moved; /* by og_job_cover: list of {group, from, to} */
    og_tally tally;
} og_job;

/* Decodes the batch on the pool, stores or drops its items, writes its documents, empties it. */
og_status og_job_flush(og_job *job, og_error *err);
void og_job_clear_batch(og_job *job);
og_status og_job_close_shard(og_job *job, og_error *err);
/* cover.c: where train lacks a modality that the data set has, or val is empty, moves a group there. */
og_status og_job_cover(og_job *job, og_error *err);
og_status og_job_write_index(og_job *job, const og_config *config, const og_dataset_type *type,
                             const og_dataset_impl *dataset, og_error *err);

#endif
