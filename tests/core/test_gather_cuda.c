/* test_gather_cuda.c: rows gathered by the device against a plain C loop: dtypes, widths, strides, places
 * of the table. */
#include "test.h"

#include <omnigram/offload.h>
#include <omnigram/random.h>

#define ROWS   5000
#define WIDEST 600

static og_error err;

static uint64_t size_of(int32_t dtype) { return dtype == OG_F32 ? 4 : 2; }

/* The oracle: one value at a time. */
static void plain_gather(const char *table, const og_cuda_gather *job, const int64_t *rows, char *out) {
    for (int64_t i = 0; i < job->n; i++)
        for (int64_t d = 0; d < job->dim; d++) {
            const char *from = table + rows[i] * job->row_stride + d * (int64_t)size_of(job->row_dtype);
            char *to = out + i * job->out_stride + d * (int64_t)size_of(job->out_dtype);
            float wide = 0;
            uint16_t narrow = 0;
            if (rows[i] >= 0 && job->row_dtype == OG_F32) memcpy(&wide, from, 4);
            if (rows[i] >= 0 && job->row_dtype == OG_BF16) memcpy(&narrow, from, 2);
            if (job->row_dtype == OG_F32)
                narrow = og_bf16_from_f32(wide);
            else
                wide = og_f32_from_bf16(narrow);
            memcpy(to, job->out_dtype == OG_F32 ? (void *)&wide : (void *)&narrow, size_of(job->out_dtype));
        }
}

/* pad: bytes between rows; shift: of the table's base. */
static void check(int32_t row_dtype, int32_t out_dtype, int64_t dim, int64_t pad, int64_t shift, int64_t n,
                  int on_device) {
    og_cuda_gather job = {.dim = dim, .row_dtype = row_dtype, .out_dtype = out_dtype, .n = n};
    job.row_stride = dim * (int64_t)size_of(row_dtype) + pad;
    job.out_stride = 2 * dim * (int64_t)size_of(out_dtype); /* the first of two columns */
    int64_t table_bytes = ROWS * job.row_stride + shift, out_bytes = (n + 1) * job.out_stride;
    void *table, *rows, *out, *device = NULL;
    CHECK_OK(og_cuda_pinned_new(table_bytes, &table, &err));
    CHECK_OK(og_cuda_pinned_new((n + 1) * 8, &rows, &err));
    CHECK_OK(og_cuda_pinned_new(out_bytes, &out, &err));
    for (int64_t i = 0; i < table_bytes / 2; i++) ((uint16_t *)table)[i] = (uint16_t)og_random_bits(1, (uint64_t)i);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)rows)[i] = i % 7 == 3 ? -1 : (int64_t)og_random_below(2, (uint64_t)i, ROWS);
    memset(out, 0x5A, (size_t)out_bytes);
    char *wanted = malloc((size_t)out_bytes);
    CHECK(wanted);
    memset(wanted, 0x5A, (size_t)out_bytes); /* what lies between the columns must stay */
    plain_gather((char *)table + shift, &job, rows, wanted);
    job.table = (char *)table + shift;
    if (on_device) {
        CHECK_OK(og_cuda_device_new(table_bytes, &device, &err));
        CHECK_OK(og_cuda_copy(device, table, table_bytes, NULL, &err));
        job.table = (char *)device + shift;
    }
    job.rows = rows;
    job.out = out;
    CHECK_OK(og_gather_cuda(&job, NULL, &err));
    CHECK_OK(og_cuda_sync(NULL, &err));
    if (memcmp(out, wanted, (size_t)out_bytes) != 0) {
        fprintf(stderr, "dtype %d to %d, dim %lld, pad %lld, shift %lld, n %lld, device %d\n", (int)row_dtype,
                (int)out_dtype, (long long)dim, (long long)pad, (long long)shift, (long long)n, on_device);
        exit(1);
    }
    free(wanted);
    og_cuda_device_free(device);
    og_cuda_pinned_free(table);
    og_cuda_pinned_free(rows);
    og_cuda_pinned_free(out);
}

static void test_refusals(void) {
    int64_t row = 0;
    float value[4];
    og_cuda_gather job = {.table = value,
                          .row_stride = 16,
                          .dim = 4,
                          .row_dtype = OG_F32,
                          .out_dtype = OG_F32,
                          .rows = &row,
                          .n = 1,
                          .out = value,
                          .out_stride = 16};
    og_cuda_gather wrong = job;
    wrong.row_stride = 12;
    CHECK_FAILS(og_gather_cuda(&wrong, NULL, &err), OG_EINVAL, "strides 12 and 16 for rows of 16");
    wrong = job;
    wrong.row_dtype = OG_F64;
    CHECK_FAILS(og_gather_cuda(&wrong, NULL, &err), OG_ENOTSUP, "F32 and BF16 are supported");
    wrong = job;
    wrong.dim = 0;
    CHECK_FAILS(og_gather_cuda(&wrong, NULL, &err), OG_EINVAL, "dim 0");
    wrong = job;
    wrong.rows = NULL;
    CHECK_FAILS(og_gather_cuda(&wrong, NULL, &err), OG_EINVAL, "a pointer is NULL");
}

/* More rows than a grid has threads: head, middle and tail are all there. */
static void more_rows_than_threads(void) {
    int64_t n = (INT64_C(1) << 26) + 2;
    void *table, *rows, *out;
    CHECK_OK(og_cuda_pinned_new(4 * 2, &table, &err));
    CHECK_OK(og_cuda_pinned_new(n * 8, &rows, &err));
    CHECK_OK(og_cuda_pinned_new(n * 2, &out, &err));
    for (int i = 0; i < 4; i++) ((uint16_t *)table)[i] = (uint16_t)(i + 1);
    for (int64_t i = 0; i < n; i++) ((int64_t *)rows)[i] = i % 4;
    og_cuda_gather job = {table, 2, 1, OG_BF16, OG_BF16, rows, n, out, 2};
    CHECK_OK(og_gather_cuda(&job, NULL, &err));
    CHECK_OK(og_cuda_sync(NULL, &err));
    for (int64_t i = 0; i < n; i++) CHECK(((uint16_t *)out)[i] == i % 4 + 1);
    og_cuda_pinned_free(table);
    og_cuda_pinned_free(rows);
    og_cuda_pinned_free(out);
}

int main(void) {
    if (og_cuda_available(&err) != OG_OK) {
        char reason[sizeof err.message];
        memcpy(reason, err.message, sizeof reason);
        void *memory = NULL;
        CHECK_FAILS(og_cuda_pinned_new(64, &memory, &err), OG_ENOTSUP, "CUDA"); /* says why, touches nothing */
        CHECK(memory == NULL);
        SKIP(reason);
    }
    test_refusals();
    const int32_t dtypes[] = {OG_F32, OG_BF16};
    const int64_t dims[] = {1, 2, 3, 7, 8, 16, 24, 32, 100, 128, 255, 256, WIDEST};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int d = 0; d < 13; d++) {
                int64_t bytes = (int64_t)size_of(dtypes[a]);
                check(dtypes[a], dtypes[b], dims[d], 0, 0, 333, 0);
                check(dtypes[a], dtypes[b], dims[d], bytes, bytes, 100, d % 2);
            }
    check(OG_BF16, OG_BF16, 64, 0, 0, 1000003, 0); /* more rows than blocks at once */
    check(OG_F32, OG_F32, 64, 64, 0, 1, 1);
    check(OG_F32, OG_F32, 64, 0, 0, 0, 0);
    more_rows_than_threads();
    return 0;
}
