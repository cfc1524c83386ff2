/* measure.c: bits a token of each modality on held-out packs, and the losses of each document. */
#include <omnigram/eval.h>

#include <omnigram/file.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct og_eval {
    og_trainer *trainer;
    const og_packs *train, *val;
    double *nll; /* [capacity] of one pack */
};

og_status og_eval_new(og_trainer *trainer, const og_packs *train, const og_packs *val, og_eval **out, og_error *err) {
    const og_packs *own = og_trainer_packs(trainer);
    OG_TRY(og_eval_check(own, val, err));
    og_eval *e = og_alloc_zero(1, sizeof *e);
    double *nll = og_alloc(og_packs_capacity(own), sizeof *nll);
    if (!e || !nll) {
        og_release(e);
        og_release(nll);
        return og_fail(err, OG_ENOMEM, "eval: no memory");
    }
    e->trainer = trainer;
    e->train = train;
    e->val = val;
    e->nll = nll;
    *out = e;
    return OG_OK;
}

void og_eval_free(og_eval *e) {
    if (!e) return;
    og_release(e->nll);
    og_release(e);
}

typedef struct text {
    char *data;
    int64_t n, capacity;
} text;
static og_status append(text *t, og_error *err, const char *format, ...) OG_PRINTF(3, 4);
static og_status append(text *t, og_error *err, const char *format, ...) {
    char part[256];
    va_list args;
    va_start(args, format);
    int64_t n = vsnprintf(part, sizeof part, format, args);
    va_end(args);
    OG_TRY(og_grow((void **)&t->data, &t->capacity, t->n + n, 1, err));
    memcpy(t->data + t->n, part, (size_t)n);
    t->n += n;
    return OG_OK;
}

/* One pack into sum, and one line a document and modality into lines (may be NULL). */
static og_status measure_pack(og_eval *e, const og_packs *packs, int64_t number, og_bits *sum, text *lines,
                              og_error *err) {
    og_pack pack;
    OG_TRY(og_packs_get(packs, number, &pack, err));
    OG_TRY(og_trainer_nll(e->trainer, &pack, e->nll, err));
    for (int64_t d = 0; d < pack.n_docs; d++) {
        og_bits own;
        memset(&own, 0, sizeof own);
        for (int64_t t = pack.cu_seqlens[d]; t < pack.cu_seqlens[d + 1]; t++) {
            if (isnan(e->nll[t])) continue;
            own.bits[pack.modality[t]] += e->nll[t] / 0.69314718055994530942;
            own.tokens[pack.modality[t]]++;
        }
        const og_origin *o = &pack.origin[d];
        for (int m = 0; m < OG_N_MODALITIES; m++) {
            sum->bits[m] += own.bits[m];
            sum->tokens[m] += own.tokens[m];
            if (lines && own.tokens[m])
                OG_TRY(append(lines, err, "%lld,%lld,%lld,%lld,%s,%lld,%.12g\n", (long long)o->shard,
                              (long long)o->index, (long long)o->offset, (long long)o->length, og_modality_name(m),
                              (long long)own.tokens[m], own.bits[m]));
        }
    }
    return OG_OK;
}

og_status og_eval_measure(og_eval *e, int64_t n, const char *documents, og_bits *out, og_error *err) {
    og_bits sum;
    memset(&sum, 0, sizeof sum);
    text lines = {0};
    int64_t count = og_packs_count(e->val);
    if (n > 0 && n < count) count = n;
    og_status status = documents ? append(&lines, err, "shard,index,offset,length,modality,tokens,bits\n") : OG_OK;
    for (int64_t i = 0; i < count && status == OG_OK; i++) {
        status = measure_pack(e, e->val, i, &sum, documents ? &lines : NULL, err);
        if (status != OG_OK) status = og_fail_at(err, status, "held-out pack %lld", (long long)i);
    }
    if (status == OG_OK && documents) status = og_file_write(documents, lines.data, lines.n, err);
    og_release(lines.data);
    if (status == OG_OK) *out = sum;
    return status;
}

og_status og_eval_trained(og_eval *e, int64_t n, og_bits *out, og_error *err) {
    og_bits sum;
    memset(&sum, 0, sizeof sum);
    if (!e->train) return og_fail(err, OG_EINVAL, "no training packs were given to measure on");
    int64_t done = og_trainer_done(e->trainer), *seen = NULL, capacity = 0, total = 0;
    og_status status = OG_OK;
    for (int64_t step = 0; step < done && status == OG_OK; step++) {
        int64_t batch = og_trainer_batch(e->trainer, step, NULL, 0);
        status = og_grow((void **)&seen, &capacity, total + batch, sizeof *seen, err);
        if (status == OG_OK) og_trainer_batch(e->trainer, step, seen + total, batch);
        total += batch;
    }
    if (n <= 0 || n > total) n = total;
    for (int64_t i = 0; i < n && status == OG_OK; i++)
        status = measure_pack(e, e->train, seen[i * total / n], &sum, NULL, err);
    og_release(seen);
    if (status == OG_OK) *out = sum;
    return status;
}

og_trainer *og_eval_trainer(const og_eval *e) { return e->trainer; }
const og_packs *og_eval_train_packs(const og_eval *e) { return e->train; }
const og_packs *og_eval_val_packs(const og_eval *e) { return e->val; }
