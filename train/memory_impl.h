/* memory_impl.h: what memory.c, memory_update.c and memory_state.c share. */
#ifndef OMNIGRAM_TRAIN_MEMORY_IMPL_H
#define OMNIGRAM_TRAIN_MEMORY_IMPL_H

#include "memory.h"

#include <omnigram/lookup.h>
#include <omnigram/update.h>

#include <pthread.h>

enum { OG_MEMORY_SLOTS = 3 }; /* the step that computes and two ahead of it */
enum { OG_SLOT_FREE, OG_SLOT_WANTED, OG_SLOT_PLANNED, OG_SLOT_GATHERING, OG_SLOT_TAKEN };
typedef struct og_memory_slot {
    int64_t step, n_packs, micro;
    int64_t *packs;     /* [n_packs] */
    int64_t *starts;    /* [n_packs + 1] first position of each pack, pads left out */
    int64_t *rows;      /* [positions][columns] */
    int64_t *by_column; /* [columns][positions]: what updates read */
    float *vectors;     /* [positions][width] */
    og_ticket *tickets; /* one a micro batch */
    int64_t waited;     /* micro batches taken */
    _Atomic int state;  /* WANTED -> PLANNED by the planning thread under the mutex, the rest by the trainer's thread */
    og_status status;
    og_error err;
} og_memory_slot;

struct og_memory {
    og_memory_options options;
    uint64_t seed;
    const og_packs *packs;
    og_pool *pool;
    og_table_set *set;
    og_store **stores;
    int32_t n_tables;
    int32_t *store_of;  /* [columns] */
    int64_t *offset_of; /* [columns] first value in a position's vector */
    int64_t columns, width, bytes, batch;
    og_lookup *lookup;
    og_memory_slot slots[OG_MEMORY_SLOTS];
    int64_t *read_rows; /* of og_memory_read */
    struct og_memory_update *update;
    og_memory_times times;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int started, stop;
};

og_memory_slot *og_memory_slot_of(og_memory *memory, int64_t step); /* NULL when it was not planned */
og_status og_memory_update_new(og_memory *memory, og_error *err) OG_MUST_USE;
void og_memory_update_free(og_memory *memory);

#endif
