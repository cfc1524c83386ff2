/* store.c: makes, joins and frees row stores; the layout of a record. */
#include "store/store_internal.h"

#include "store/limits.h"

#include <omnigram/safetensors.h>

#include <string.h>

og_store_options og_store_defaults(int64_t rows, int64_t dim, int32_t dtype) {
    return (og_store_options){.rows = rows, .dim = dim, .dtype = dtype, .huge = 1, .numa = -1, .writable = 1};
}

int32_t og_group_of(const og_store_options *options) {
    if (options->dtype != OG_FP8_E4M3 && options->dtype != OG_INT8 && options->dtype != OG_NF4) return 0;
    return options->group ? options->group : 32;
}

int64_t og_group_count(int64_t dim, int32_t group) { return group ? (dim + group - 1) / group : 0; }

static int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

og_status og_record_of(const og_store_options *o, og_record *out, og_error *err) {
    if (o->rows < 1 || o->rows > (INT64_C(1) << 47))
        return og_fail(err, OG_EINVAL, "store rows %lld: must be in 1..2^47", (long long)o->rows);
    if (o->dim < 1 || o->dim > 65536)
        return og_fail(err, OG_EINVAL, "store dim %lld: must be in 1..65536", (long long)o->dim);
    if (o->state < 0 || o->state > 4 * 65536)
        return og_fail(err, OG_EINVAL, "store state %d: must be in 0..262144 values", o->state);
    int32_t group = og_group_of(o);
    if (group < 0 || group > 65536)
        return og_fail(err, OG_EINVAL, "store group %d: must be in 1..65536, or 0 for 32", group);
    og_record r = {0};
    switch (o->dtype) {
    case OG_F32: r.value_bytes = o->dim * 4; break;
    case OG_BF16:
    case OG_F16: r.value_bytes = o->dim * 2; break;
    case OG_FP8_E4M3:
    case OG_INT8: r.value_bytes = o->dim; break;
    case OG_NF4: r.value_bytes = (o->dim + 1) / 2; break;
    default:
        return og_fail(err, OG_EINVAL, "store dtype %d (%s): must be F32, BF16, F16, FP8_E4M3, INT8 or NF4", o->dtype,
                       og_dtype_name(o->dtype) ? og_dtype_name(o->dtype) : "unknown");
    }
    /* fp8 rows are values then one-byte scales, touching, as DeepSeek V4.1 stores them */
    r.scale_bytes = og_group_count(o->dim, group) * (o->dtype == OG_FP8_E4M3 ? 1 : 4);
    r.scale_offset = o->dtype == OG_FP8_E4M3 ? r.value_bytes : round_up(r.value_bytes, 4);
    r.state_offset = round_up(group ? r.scale_offset + r.scale_bytes : r.value_bytes, 4);
    r.bytes = round_up(r.state_offset + (int64_t)o->state * 4, 64);
    if (r.bytes > (INT64_C(1) << 46) / o->rows)
        return og_fail(err, OG_ENOMEM, "store of %lld rows x %lld bytes: more than 2^46 bytes", (long long)o->rows,
                       (long long)r.bytes);
    *out = r;
    return OG_OK;
}

static void lay_out(og_store *store) { /* records, one after the other */
    store->values = store->memory;
    store->value_stride = store->scale_stride = store->state_stride = store->record.bytes;
    store->scales = store->group ? store->memory + store->record.scale_offset : NULL;
    store->states = store->state ? store->memory + store->record.state_offset : NULL;
}

og_status og_store_new(const og_store_options *options, og_store **out, og_error *err) {
    if (options->backing < OG_BACK_ANONYMOUS || options->backing > OG_BACK_FILE)
        return og_fail(err, OG_EINVAL, "store backing %d: must be 0 (anonymous), 1 (shared) or 2 (file)",
                       options->backing);
    if (options->backing != OG_BACK_ANONYMOUS && (!options->name || !*options->name))
        return og_fail(err, OG_EINVAL, "a %s store needs a name", options->backing == OG_BACK_FILE ? "file" : "shared");
    if (options->numa < OG_NUMA_SPLIT)
        return og_fail(err, OG_EINVAL,
                       "store numa %d: must be a node, -1 (default), -2 (interleave) or -3 (split rows)",
                       options->numa);
    og_record record = {0};
    if (options->backing != OG_BACK_FILE) OG_TRY(og_record_of(options, &record, err));
    og_store *store = og_alloc_zero(1, sizeof *store);
    if (!store) return og_fail(err, OG_ENOMEM, "no memory for a store");
    store->rows = options->rows;
    store->dim = options->dim;
    store->dtype = options->dtype;
    store->group = og_group_of(options);
    store->state = options->state;
    store->backing = options->backing;
    store->writable = options->backing == OG_BACK_FILE ? options->writable != 0 : 1;
    store->record = record;
    store->descriptor = -1;
    og_status status;
    if (options->backing == OG_BACK_FILE) {
        status = og_store_map_file(store, options, err);
    } else {
        int64_t bytes = record.bytes * options->rows;
        status = options->backing == OG_BACK_SHARED ? og_store_map_shared(store, options, bytes, err)
                                                    : og_store_map_anonymous(store, options, bytes, err);
        if (status == OG_OK) {
            lay_out(store);
            og_limits_promise(&store->promise, bytes, store->descriptor);
        }
    }
    if (status != OG_OK) {
        og_store_free(store);
        return status;
    }
    *out = store;
    return OG_OK;
}

og_status og_store_attach(const char *name, int32_t writable, og_store **out, og_error *err) {
    og_store *store = og_alloc_zero(1, sizeof *store);
    if (!store) return og_fail(err, OG_ENOMEM, "no memory for a store");
    store->backing = OG_BACK_SHARED;
    store->writable = writable != 0;
    store->descriptor = -1;
    og_status status = og_store_join_shared(store, name, err);
    if (status != OG_OK) {
        og_store_free(store);
        return status;
    }
    lay_out(store);
    *out = store;
    return OG_OK;
}

void og_store_free(og_store *store) {
    if (!store) return;
    og_store_unmap(store);
    og_release(atomic_load(&store->scratch));
    og_release(store->name);
    og_release(store);
}

int64_t og_store_rows(const og_store *store) { return store->rows; }
int64_t og_store_dim(const og_store *store) { return store->dim; }
int32_t og_store_dtype(const og_store *store) { return store->dtype; }
int64_t og_store_row_bytes(const og_store *store) { return store->value_stride; }
void *og_store_row(const og_store *store, int64_t row) { return og_store_values(store, row); }
