/* store_report.c: what a store really got, asked of the kernel. */
#include "store/store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#ifdef OG_HAVE_NUMA
#include <numaif.h>
#endif

/* How many NUMA nodes a sample of the resident pages lies on. */
static int32_t count_nodes(const og_store *store) {
#ifdef OG_HAVE_NUMA
    enum { SAMPLE = 512 };
    void *pages[SAMPLE];
    int status[SAMPLE];
    int64_t n = store->memory_bytes / 4096 + 1;
    if (n > SAMPLE) n = SAMPLE;
    for (int64_t i = 0; i < n; i++) pages[i] = store->memory + store->memory_bytes / n * i / 4096 * 4096;
    if (move_pages(0, (unsigned long)n, pages, NULL, status, 0) == 0) {
        uint64_t seen[16] = {0};
        int32_t nodes = 0;
        for (int64_t i = 0; i < n; i++) {
            if (status[i] < 0 || status[i] >= 1024) continue; /* not resident */
            uint64_t bit = UINT64_C(1) << (status[i] % 64);
            nodes += !(seen[status[i] / 64] & bit);
            seen[status[i] / 64] |= bit;
        }
        return nodes;
    }
#endif
    (void)store;
    return 1;
}

og_status og_store_inspect(const og_store *store, og_store_report *out, og_error *err) {
    FILE *smaps = fopen("/proc/self/smaps", "re");
    if (!smaps) return og_fail(err, OG_EIO, "/proc/self/smaps: %s", strerror(errno));
    og_store_report r = {.bytes = store->memory_bytes};
    uintptr_t first = (uintptr_t)store->memory, last = first + (uintptr_t)store->memory_bytes;
    int64_t kernel_page = 4096;
    int inside = 0;
    char line[512];
    while (fgets(line, sizeof line, smaps)) {
        uintptr_t begin, end;
        char key[32];
        int64_t kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            inside = begin < last && end > first;
        } else if (inside && sscanf(line, "%31[^:]: %" SCNd64 " kB", key, &kib) == 2) {
            int64_t bytes = kib * 1024;
            if (!strcmp(key, "Rss"))
                r.resident_bytes += bytes;
            else if (!strcmp(key, "Anonymous"))
                r.anonymous_bytes += bytes;
            else if (!strcmp(key, "AnonHugePages") || !strcmp(key, "ShmemPmdMapped") || !strcmp(key, "FilePmdMapped"))
                r.huge_bytes += bytes;
            else if (!strcmp(key, "Locked"))
                r.locked_bytes += bytes;
            else if (!strcmp(key, "KernelPageSize"))
                kernel_page = bytes;
        }
    }
    fclose(smaps);
    r.file_bytes = r.resident_bytes - r.anonymous_bytes;
    r.page_bytes =
        kernel_page > 4096 || r.huge_bytes * 2 < r.resident_bytes || !r.huge_bytes ? kernel_page : INT64_C(2) << 20;
    r.nodes = count_nodes(store);
    *out = r;
    return OG_OK;
}
