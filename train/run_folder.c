/* run_folder.c: config.yaml, environment.json, and the figures about the process. */
#include "run_folder.h"

#include <omnigram/file.h>

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static og_status write_in(const char *run, const char *leaf, const char *text, og_error *err) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", run, leaf);
    return og_file_write(path, text, (int64_t)strlen(text), err);
}

og_status og_run_folder_check(const char *run, og_error *err) {
    char other[256] = "";
    int is_run = 0;
    DIR *dir = opendir(run);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, "metrics.jsonl") || !strcmp(entry->d_name, "ckpt")) is_run = 1;
        if (entry->d_name[0] != '.') snprintf(other, sizeof other, "%s", entry->d_name);
    }
    if (dir) closedir(dir);
    if (is_run || !*other) return OG_OK;
    return og_fail(err, OG_EINVAL, "%s: has other things in it (%s) and no run; name a new or an empty folder", run,
                   other);
}

static void first_line(const char *command, char *out, size_t bytes) {
    out[0] = 0;
    FILE *pipe = popen(command, "r");
    if (!pipe) return;
    if (fgets(out, (int)bytes, pipe)) out[strcspn(out, "\n")] = 0;
    pclose(pipe);
}

static void cpu_name(char *out, size_t bytes) {
    out[0] = 0;
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            snprintf(out, bytes, "%s", strchr(line, ':') + 2);
            out[strcspn(out, "\n")] = 0;
            break;
        }
    if (f) fclose(f);
}

og_status og_run_folder_make(const char *run, const og_config *config, const og_packs *packs, int64_t threads,
                             const char *torch_version, og_error *err) {
    OG_TRY(og_folder_make(run, err));
    char *yaml = NULL;
    OG_TRY(og_config_to_yaml(config, &yaml, err));
    og_status status = write_in(run, "config.yaml", yaml, err);
    og_release(yaml);
    if (status != OG_OK) return status;

    char revision[128], changed[128], cpu[256];
    first_line("git rev-parse HEAD 2>/dev/null", revision, sizeof revision);
    first_line("git status --porcelain --untracked-files=no 2>/dev/null | head -1", changed, sizeof changed);
    cpu_name(cpu, sizeof cpu);
    struct utsname host;
    memset(&host, 0, sizeof host);
    uname(&host);
    int64_t seed = 0;
    OG_TRY(og_config_i64(og_config_get(config, "train.seed"), &seed, err));
    json_t *root =
        json_pack("{s:s,s:s,s:s?,s:b,s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:s,s:{s:s?,s:I}}", "omnigram", og_version(), "torch",
                  torch_version, "git_revision", revision[0] ? revision : NULL, "git_changed", changed[0] != 0,
                  "compiler", __VERSION__, "system", host.sysname, "release", host.release, "cpu", cpu, "cores",
                  (json_int_t)og_run_cores(), "threads", (json_int_t)threads, "seed", (json_int_t)seed, "machine",
                  host.machine, "packs", "path", og_packs_path(packs), "count", (json_int_t)og_packs_count(packs));
    char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    status =
        text ? write_in(run, "environment.json", text, err) : og_fail(err, OG_ENOMEM, "environment.json: no memory");
    free(text);
    json_decref(root);
    return status;
}

double og_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

double og_run_median_seconds(const og_run_totals *totals) {
    int64_t n = totals->n_steps, capacity = (int64_t)(sizeof totals->step_seconds / sizeof(double));
    if (n > capacity) n = capacity;
    if (!n) return totals->median_seconds;
    double sorted[512];
    memcpy(sorted, totals->step_seconds, (size_t)n * sizeof(double));
    qsort(sorted, (size_t)n, sizeof(double), ascending);
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

int64_t og_run_peak_rss_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (int64_t)usage.ru_maxrss * 1024;
}

int64_t og_run_cores(void) {
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

void og_run_progress_line(const og_step *s, int64_t planned, double seconds_a_step, char *line, size_t bytes) {
    double left = (double)(planned - s->step) * seconds_a_step;
    int n =
        snprintf(line, bytes, "step %lld/%lld  loss %.4f  lr %.2e  grad %.3f  %.0f tokens/s (%.0f useful)  fill %.1f%%",
                 (long long)s->step, (long long)planned, s->loss, s->lr, s->grad_norm, (double)s->tokens / s->seconds,
                 (double)s->useful / s->seconds, 100.0 * (double)s->useful / (double)(s->tokens > 0 ? s->tokens : 1));
    if (n > 0 && (size_t)n < bytes && s->lookup_work_seconds > 0)
        n += snprintf(line + n, bytes - (size_t)n, "  lookup hidden %.0f%%",
                      100.0 * fmax(0, 1 - s->lookup_waited_seconds / s->lookup_work_seconds));
    if (n > 0 && (size_t)n < bytes)
        snprintf(line + n, bytes - (size_t)n, "  left %lld:%02lld", (long long)left / 60, (long long)left % 60);
}
