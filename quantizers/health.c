/* health.c: figures of a codebook on vectors. */
#include <omnigram/memory.h>
#include <omnigram/quantizers.h>

#include "nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8192 };

/* Sums over all vectors, in their order, in double: the same for any thread count. */
typedef struct sums {
    double *mean;    /* [dim] */
    double *error;   /* [levels]: of the vectors decoded from so many levels */
    double spread;   /* about the mean */
    int64_t *counts; /* [levels][size] */
    int64_t finite;
} sums;

static void add_means(const float *vectors, int64_t n, int64_t dim, sums *s) {
    for (int64_t i = 0; i < n; i++) {
        if (!og_all_finite(vectors + i * dim, dim)) continue;
        s->finite++;
        for (int64_t j = 0; j < dim; j++) s->mean[j] += (double)vectors[i * dim + j];
    }
    for (int64_t j = 0; j < dim && s->finite; j++) s->mean[j] /= (double)s->finite;
}

static void add_counts(const og_codebook *codebook, const float *vectors, const int32_t *codes, int64_t n, sums *s) {
    int64_t dim = codebook->dim;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *code = codes + i * codebook->levels;
        if (code[0] < 0) continue;
        for (int32_t l = 0; l < codebook->levels; l++) s->counts[l * codebook->size + code[l]] += 1;
        for (int64_t j = 0; j < dim; j++) {
            double from_mean = (double)vectors[i * dim + j] - s->mean[j];
            s->spread += from_mean * from_mean;
        }
    }
}

static double squares(const float *vectors, const float *decoded, const int32_t *codes, int32_t levels, int64_t n,
                      int64_t dim, double sum) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < dim && codes[i * levels] >= 0; j++) {
            double off = (double)vectors[i * dim + j] - (double)decoded[i * dim + j];
            sum += off * off;
        }
    return sum;
}

typedef struct memory {
    int32_t *codes, *prefix; /* [CHUNK][levels] */
    float *decoded;          /* [CHUNK][dim] */
} memory;

static og_status measure(const og_codebook *codebook, const og_quantizer_type *type, const float *vectors, int64_t n,
                         og_pool *pool, int32_t by_level, const memory *m, sums *s, og_error *err) {
    int32_t levels = codebook->levels;
    add_means(vectors, n, codebook->dim, s);
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
        const float *chunk = vectors + begin * codebook->dim;
        OG_TRY(type->encode(codebook, chunk, count, m->codes, NULL, pool, err));
        add_counts(codebook, chunk, m->codes, count, s);
        for (int64_t i = 0; i < count * levels; i++) m->prefix[i] = by_level ? -1 : m->codes[i]; /* -1 adds nothing */
        for (int32_t l = by_level ? 0 : levels - 1; l < levels; l++) {
            for (int64_t i = 0; i < count; i++) m->prefix[i * levels + l] = m->codes[i * levels + l];
            OG_TRY(type->decode(codebook, m->prefix, count, m->decoded, err));
            s->error[l] = squares(chunk, m->decoded, m->codes, levels, count, codebook->dim, s->error[l]);
        }
    }
    return OG_OK;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts counts[size]. */
static og_code_use use_of(int64_t *counts, int64_t size, int64_t n) {
    og_code_use use = {0};
    if (!n) return use;
    qsort(counts, (size_t)size, sizeof *counts, by_size);
    double entropy = 0, ranked = 0, top = 0, total = (double)n;
    for (int64_t k = 0; k < size; k++) {
        if (!counts[k]) continue; /* where p > 0: a constant inside the logarithm would bias large codebooks */
        double p = (double)counts[k] / total;
        use.used++;
        use.used_tenth += 10.0 * (double)counts[k] * (double)size >= total;
        entropy -= p * log(p);
        ranked += (double)(2 * k + 1 - size) * p;
        if (k >= size - (size + 99) / 100) top += (double)counts[k];
    }
    use.perplexity = exp(entropy);
    use.perplexity_corrected = exp(entropy + (double)(use.used - 1) / (2 * total));
    use.gini = ranked / (double)size;
    use.top_percent = top / total;
    return use;
}

static double relative(double error, double spread) { return spread > 0 ? error / spread : error > 0 ? INFINITY : 0; }

static void conclude(const og_codebook *codebook, sums *s, int64_t n, og_codebook_health *out,
                     og_level_health *levels) {
    double size = (double)codebook->size, finite = (double)s->finite, values = finite * (double)codebook->dim;
    double error = s->error[codebook->levels - 1];
    *out = (og_codebook_health){.vectors = n, .not_finite = n - s->finite};
    for (int32_t l = 0; l < codebook->levels; l++) {
        og_code_use use = use_of(s->counts + l * codebook->size, codebook->size, s->finite);
        if (l == 0) out->use = use;
        if (levels) levels[l] = (og_level_health){use, relative(s->error[l], s->spread)};
    }
    out->expected_used = -size * expm1(finite * log1p(-1.0 / size));
    if (codebook->size == 1) out->expected_used = s->finite ? 1 : 0;
    out->mse = s->finite ? error / values : 0;
    out->relative_mse = relative(error, s->spread);
    out->snr_db = out->relative_mse > 0 ? -10 * log10(out->relative_mse) : s->finite ? INFINITY : 0;
}

og_status og_codebook_measure(const og_codebook *codebook, const float *vectors, int64_t n, og_pool *pool,
                              og_codebook_health *out, og_level_health *levels, og_error *err) {
    const og_quantizer_type *type = og_quantizer_find(codebook->quantizer);
    if (!type)
        return og_fail(err, OG_ENOTSUP,
                       "the codebook %.12s was made by the quantizer '%s', which this build does not have",
                       codebook->fingerprint, codebook->quantizer);
    int64_t chunk = n < CHUNK ? n : CHUNK;
    sums s = {.mean = og_alloc_zero(codebook->dim, sizeof(double)),
              .error = og_alloc_zero(codebook->levels, sizeof(double)),
              .counts = og_alloc_zero(codebook->levels * codebook->size, sizeof(int64_t))};
    memory m = {og_alloc(chunk * codebook->levels, sizeof *m.codes),
                og_alloc(chunk * codebook->levels, sizeof *m.prefix),
                og_alloc(chunk * codebook->dim, sizeof *m.decoded)};
    og_status status =
        s.mean && s.error && s.counts && m.codes && m.prefix && m.decoded
            ? measure(codebook, type, vectors, n, pool, levels != NULL, &m, &s, err)
            : og_fail(err, OG_ENOMEM, "no memory to measure a codebook of %lld codes", (long long)codebook->size);
    if (status == OG_OK) conclude(codebook, &s, n, out, levels);
    og_release(s.mean);
    og_release(s.error);
    og_release(s.counts);
    og_release(m.codes);
    og_release(m.prefix);
    og_release(m.decoded);
    return status;
}
