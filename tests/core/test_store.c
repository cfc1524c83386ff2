/* test_store.c: row stores of every type: round trips, limits, what the kernel granted, fill. */
#include "test.h"

#include "store/limits.h"
#include "store/numa_split.h"

#include <omnigram/memory.h>
#include <omnigram/pool.h>
#include <omnigram/random.h>
#include <omnigram/store.h>

#include <sys/stat.h>
#include <unistd.h>

static og_error err;

/* The error of one value after a round trip, by the definition of the type. */
static void round_trip(int32_t dtype, int64_t dim, int32_t group, int32_t state) {
    og_store_options o = og_store_defaults(50, dim, dtype);
    o.group = group;
    o.state = state;
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK(og_store_row_bytes(store) % 64 == 0 && og_store_dim(store) == dim && og_store_rows(store) == 50 &&
          og_store_dtype(store) == dtype);
    CHECK((uintptr_t)og_store_row(store, 7) % 64 == 0);
    float *in = og_alloc(3 * dim, 4), *out = og_alloc(3 * dim, 4);
    for (int64_t i = 0; i < 3 * dim; i++) in[i] = (float)(3 * og_random_normal(1, (uint64_t)i));
    in[0] = -0.0f;
    int64_t rows[3] = {49, 0, 7};
    CHECK_OK(og_store_write(store, rows, 3, in, &err));
    CHECK_OK(og_store_read(store, rows, 3, out, &err));
    int32_t g = group ? group : 32;
    for (int64_t r = 0; r < 3; r++)
        for (int64_t i = 0; i < dim; i++) {
            double most = 0, x = (double)in[r * dim + i], got = (double)out[r * dim + i], step = 0;
            for (int64_t k = i / g * g; k < dim && k < i / g * g + g; k++)
                most = fmax(most, fabs((double)in[r * dim + k]));
            if (dtype == OG_BF16) step = fabs(x) * 0x1p-8;
            if (dtype == OG_F16) step = fabs(x) * 0x1p-11;
            if (dtype == OG_INT8) step = most / 127 * 0.5001;
            if (dtype == OG_NF4) step = most * 0.1521; /* half of the widest gap */
            if (dtype == OG_FP8_E4M3)
                step = fmax(fabs(x) * 0x1p-4, most * 0x1p-17); /* 3 bits; subnormal steps of the group */
            CHECK(fabs(got - x) <= step);
        }
    CHECK_FAILS(og_store_read(store, (int64_t[]){50}, 1, out, &err), OG_EINVAL, "50");
    CHECK_FAILS(og_store_write(store, (int64_t[]){-1}, 1, in, &err), OG_EINVAL, "-1");
    og_store_free(store);
    og_release(in);
    og_release(out);
}

static void fp8_rows_have_the_layout_of_v41(void) {
    og_store_options o = og_store_defaults(3, 256, OG_FP8_E4M3);
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    uint8_t *row = og_store_row(store, 1);
    for (int i = 0; i < 256; i++) row[i] = (uint8_t)(i == 0x7f || i == 0xff ? 0 : i);
    for (int i = 0; i < 8; i++) row[256 + i] = (uint8_t)(120 + i); /* byte 256: the scale of channels 0..31 */
    float out[256];
    int64_t id = 1;
    CHECK_OK(og_store_read(store, &id, 1, out, &err));
    for (int i = 0; i < 256; i++)
        CHECK(out[i] == og_f32_from_e4m3(row[i]) * og_f32_from_ue8m0((uint8_t)(120 + i / 32)));
    og_store_free(store);
}

static void same_dtype_keeps_every_bit(void) {
    og_store_options o = og_store_defaults(1, 4, OG_F32);
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    uint32_t in[4] = {0x80000000u, 0x000116c2u, 0x7fc12345u, 0xff812345u}, out[4];
    int64_t id = 0;
    CHECK_OK(og_store_write(store, &id, 1, (const float *)(const void *)in, &err));
    CHECK_OK(og_store_read(store, &id, 1, (float *)(void *)out, &err));
    CHECK(memcmp(in, out, 16) == 0);
    og_store_free(store);
}

/* Row r of a shard that begins at row `first` is not what fill promises for a shard, but rows of
 * one store for any pool are. */
static void fill_depends_on_seed_row_and_channel_only(void) {
    og_store *a, *b;
    og_store_options o = og_store_defaults(5000, 24, OG_F32);
    CHECK_OK(og_store_new(&o, &a, &err));
    CHECK_OK(og_store_new(&o, &b, &err));
    og_pool *pool;
    CHECK_OK(og_pool_new(3, &pool, &err));
    CHECK_OK(og_store_fill(a, 42, 0.5, NULL, &err));
    CHECK_OK(og_store_fill(b, 42, 0.5, pool, &err));
    double sum = 0, square = 0;
    for (int64_t r = 0; r < 5000; r++) {
        CHECK(memcmp(og_store_row(a, r), og_store_row(b, r), 96) == 0);
        const float *w = og_store_row(a, r);
        for (int i = 0; i < 24; i++) sum += (double)w[i], square += (double)(w[i] * w[i]);
    }
    CHECK(fabs(sum / 120000) < 0.01 && fabs(square / 120000 - 0.25) < 0.01);
    CHECK_FAILS(og_store_fill(a, 1, -1.0, NULL, &err), OG_EINVAL, "-1");
    CHECK_OK(og_store_fill(a, 1, 0, NULL, &err));
    for (int64_t r = 0; r < 5000; r++) CHECK(((const float *)og_store_row(a, r))[5] == 0);
    og_pool_free(pool);
    og_store_free(a);
    og_store_free(b);
}

static void report_tells_what_was_granted(void) {
    og_store_options o = og_store_defaults(1 << 15, 256, OG_F32); /* 32 MiB */
    for (int huge = 0; huge < 2; huge++) {
        o.huge = huge;
        og_store *store, *neighbour;
        og_store_report r;
        CHECK_OK(og_store_new(&o, &store, &err));
        CHECK_OK(og_store_new(&o, &neighbour, &err));
        memset(og_store_row(neighbour, 0), 1, 32 << 20);
        CHECK_OK(og_store_inspect(store, &r, &err));
        CHECK(r.bytes == 32 << 20 && r.resident_bytes < 4 << 20 && r.locked_bytes == 0);
        memset(og_store_row(store, 0), 1, 16 << 20);
        CHECK_OK(og_store_inspect(store, &r, &err));
        CHECK(r.resident_bytes >= 16 << 20 && r.resident_bytes <= 18 << 20); /* never a neighbour's */
        CHECK(r.anonymous_bytes == r.resident_bytes && r.file_bytes == 0 && r.nodes >= 1);
        if (!huge)
            CHECK(r.huge_bytes == 0 && r.page_bytes == 4096);
        else
            CHECK(r.page_bytes == (r.huge_bytes ? 2097152 : 4096));
        og_store_free(store);
        og_store_free(neighbour);
    }
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A machine of 8 GiB whose process sits in a group of a group with limits. What the group is charged for files that
 * were read is room all the same; shared memory is not. */
static void limits_are_read_and_named(void) {
    char root[] = "/tmp/og-limits-XXXXXX", path[300];
    CHECK(mkdtemp(root));
    const char *folders[] = {"proc",
                             "proc/self",
                             "sys",
                             "sys/fs",
                             "sys/fs/cgroup",
                             "sys/fs/cgroup/a",
                             "sys/fs/cgroup/a/b",
                             "sys/fs/cgroup/memory",
                             "sys/fs/cgroup/memory/c"};
    for (int i = 0; i < 9; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        CHECK(mkdir(path, 0700) == 0);
    }
    const char *files[][2] = {{"proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8388608 kB\n"},
                              {"proc/self/cgroup", "0::/a/b\n"},
                              {"sys/fs/cgroup/a/b/memory.max", "max\n"},
                              {"sys/fs/cgroup/a/b/memory.current", "5\n"},
                              {"sys/fs/cgroup/a/memory.max", "1073741824\n"},
                              {"sys/fs/cgroup/a/memory.current", "123741824\n"},
                              {"sys/fs/cgroup/a/memory.stat", "anon 60000000\nfile 63741824\nshmem 13741824\n"
                                                              "inactive_file 30000000\nactive_file 20000000\n"},
                              {"sys/fs/cgroup/memory/c/memory.limit_in_bytes", "600000000\n"},
                              {"sys/fs/cgroup/memory/c/memory.usage_in_bytes", "300000000\n"},
                              {"sys/fs/cgroup/memory/c/memory.stat", "inactive_file 1\nactive_file 2\n"
                                                                     "total_inactive_file 60000000\n"
                                                                     "total_active_file 40000000\n"}};
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i][0]);
        write_text(path, files[i][1]);
    }
    og_limits limits;
    og_limits_read(root, &limits);
    CHECK(limits.available_bytes == INT64_C(8) << 30);
    CHECK(limits.group_bytes == 1000000000); /* the parent's limit binds */
    CHECK_OK(og_limits_check(&limits, 1000000000, 0, "a store", &err));
    CHECK_FAILS(og_limits_check(&limits, 1000000001, 0, "a store", &err), OG_ENOMEM,
                "1000000000 bytes left in the memory limit");
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    write_text(path, "5:cpu:/\n4:memory:/c\n0::/\n"); /* version 1 */
    og_limits_read(root, &limits);
    CHECK(limits.group_bytes == 400000000);
    limits = (og_limits){INT64_MAX, INT64_MAX, 65536, INT64_MAX, 0, 0};
    CHECK_FAILS(og_limits_check(&limits, 1 << 20, 1, "a store", &err), OG_ENOMEM, "65536 bytes left to lock");
    CHECK_OK(og_limits_check(&limits, 1 << 20, 2, "a store", &err));
    snprintf(path, sizeof path, "rm -r %s", root);
    CHECK(system(path) == 0);
}

/* Two tables of which each fits, and not both: the second is refused though nothing of the first was touched. */
static void what_is_promised_is_no_room(void) {
    og_limits limits;
    og_limits_read("", &limits);
    int64_t least = limits.group_bytes < limits.available_bytes ? limits.group_bytes : limits.available_bytes;
    og_store_options o = og_store_defaults(least / 1000 * 600 / 1024, 256, OG_F32);
    og_store *first, *second;
    CHECK_OK(og_store_new(&o, &first, &err));
    CHECK_FAILS(og_store_new(&o, &second, &err), OG_ENOMEM, "promised to its other tables");
    og_store_free(first);
    CHECK_OK(og_store_new(&o, &second, &err));
    og_store_free(second);
}

static void refuses_what_is_wrong(void) {
    og_store *store = NULL;
    og_store_options o = og_store_defaults(0, 8, OG_F32);
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "rows 0");
    o = og_store_defaults(8, 65537, OG_F32);
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "65537");
    o = og_store_defaults(8, 8, OG_I64);
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "I64");
    o = og_store_defaults(INT64_C(1) << 47, 65536, OG_F32);
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_ENOMEM, "2^46");
    o = og_store_defaults(INT64_C(1) << 40, 8, OG_F32); /* 64 TiB */
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_ENOMEM, "70368744177664");
    o = og_store_defaults(8, 8, OG_F32);
    o.numa = 999;
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "999");
    float bad[8] = {1, INFINITY};
    o = og_store_defaults(8, 8, OG_INT8);
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_FAILS(og_store_write(store, (int64_t[]){3}, 1, bad, &err), OG_EINVAL, "channel 1");
    og_store_free(store);
    og_store_free(NULL);
}

int main(void) {
    int64_t before = og_alloc_count();
    for (int64_t dim = 1; dim < 300; dim = dim * 3 + 1) {
        round_trip(OG_F32, dim, 0, 0);
        round_trip(OG_BF16, dim, 0, 1);
        round_trip(OG_F16, dim, 0, 3);
        round_trip(OG_FP8_E4M3, dim, 0, 1);
        round_trip(OG_INT8, dim, 16, 1);
        round_trip(OG_NF4, dim, 0, 2);
    }
    fp8_rows_have_the_layout_of_v41();
    same_dtype_keeps_every_bit();
    fill_depends_on_seed_row_and_channel_only();
    report_tells_what_was_granted();
    limits_are_read_and_named();
    what_is_promised_is_no_room();
    refuses_what_is_wrong();
    CHECK(og_alloc_count() == before);
    return 0;
}
