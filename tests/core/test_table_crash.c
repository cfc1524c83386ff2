/* test_table_crash.c: the writer dies, or the disk fails, at every call that changes a file: the
 * previous table stays whole. */
#include "test.h"

#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>
#include <omnigram/table_file.h>

#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static og_error err;
static char folder[] = "/tmp/og-crash-XXXXXX";
static const og_table_identity identity = {"text", "aaaa", "{}", NULL};

static og_store *store_with(float value) {
    og_store_options o = og_store_defaults(50, 8, OG_F32);
    og_store *store;
    CHECK_OK(og_store_new(&o, &store, &err));
    for (int64_t r = 0; r < 50; r++)
        for (int i = 0; i < 8; i++) ((float *)og_store_row(store, r))[i] = value;
    return store;
}

/* The value that all rows of the table have; -1 when they differ. */
static float value_in(const char *path) {
    og_store *store = store_with(0);
    og_table_file *file;
    CHECK_OK(og_table_file_open(path, &identity, &file, &err));
    CHECK_OK(og_table_file_load(file, 0, store, &err));
    float value = ((float *)og_store_row(store, 0))[0];
    for (int64_t r = 0; r < 50; r++)
        for (int i = 0; i < 8; i++)
            if (((float *)og_store_row(store, r))[i] != value) value = -1;
    og_table_file_close(file);
    og_store_free(store);
    return value;
}

static int64_t calls, fatal;
static int32_t fault_number;

static int32_t hook(const char *call, const char *path) {
    (void)call, (void)path;
    if (++calls != fatal) return 0;
    if (!fault_number) _exit(9); /* as SIGKILL would: no handler, no flush */
    return fault_number;
}

static int files_in_folder(void) {
    int n = 0;
    DIR *dir = opendir(folder);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void killed_at_every_call(const char *path, int32_t shards, int32_t layout) {
    og_store *old = store_with(1), *new = store_with(2);
    CHECK_OK(og_table_save(path, old, &identity, layout, shards, &err));
    int files = files_in_folder(), seen_old = 0, done = 0;
    for (int64_t k = 1; !done; k++) {
        CHECK(k < 1000);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            fatal = k;
            og_fault_io(hook);
            _exit(og_table_save(path, new, &identity, layout, shards, NULL) == OG_OK ? 0 : 1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        float value = value_in(path);
        CHECK(value == 1 || value == 2);
        if (WEXITSTATUS(status) == 0) {
            CHECK(value == 2);
            done = 1;
        } else {
            CHECK(WEXITSTATUS(status) == 9);
            seen_old += value == 1;
        }
        if (value == 2 && !done) CHECK_OK(og_table_save(path, old, &identity, layout, shards, &err));
    }
    CHECK(seen_old >= 4);
    CHECK(files_in_folder() == files); /* what the dead left is gone */
    og_store_free(old);
    og_store_free(new);
}

/* A writer of five shards dies; the next one writes two of the same generation: nothing of the first stays. */
static void another_number_of_shards_after_a_crash(const char *path) {
    og_store *old = store_with(1), *new = store_with(2);
    CHECK_OK(og_table_save(path, old, &identity, 0, 2, &err));
    int files = files_in_folder();
    for (int32_t part = 0; part < 3; part++)
        CHECK_OK(og_table_save_part(path, new, part * 10, 10, &identity, 0, part, 5, part * 10, 50, &err));
    CHECK(files_in_folder() == files + 3 && value_in(path) == 1);
    CHECK_OK(og_table_save(path, new, &identity, 0, 2, &err));
    CHECK(files_in_folder() == files && value_in(path) == 2);
    og_store_free(old);
    og_store_free(new);
}

static void fails_at_every_call(const char *path, int32_t shards) {
    og_store *old = store_with(1), *new = store_with(2);
    CHECK_OK(og_table_save(path, old, &identity, 0, shards, &err));
    int files = files_in_folder();
    fault_number = ENOSPC;
    for (int64_t k = 1;; k++) {
        CHECK(k < 1000);
        calls = 0;
        fatal = k;
        int64_t before = og_alloc_count();
        og_fault_io(hook);
        og_status status = og_table_save(path, new, &identity, 0, shards, &err);
        og_fault_io(NULL);
        CHECK(status == OG_OK || err.message[0]);
        CHECK(og_alloc_count() == before);
        if (calls < k) {
            CHECK(status == OG_OK && value_in(path) == 2);
            break;
        }
        float value = value_in(path);
        CHECK(value == 1 || value == 2);
        if (value == 2) CHECK_OK(og_table_save(path, old, &identity, 0, shards, &err));
    }
    CHECK(files_in_folder() == files);
    fault_number = 0;
    og_store_free(old);
    og_store_free(new);
}

static void every_allocation_may_fail(const char *path) {
    og_store *old = store_with(1), *new = store_with(2);
    for (int64_t k = 1, hit = 1; hit; k++) {
        CHECK_OK(og_table_save(path, old, &identity, 0, 2, &err));
        int64_t before = og_alloc_count();
        og_fault_alloc(k);
        og_status status = og_table_save(path, new, &identity, 0, 2, &err);
        hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        CHECK(og_alloc_count() == before);
        if (hit)
            CHECK(status != OG_OK ? err.message[0] != 0 : 1);
        else
            CHECK(status == OG_OK);
        float value = value_in(path); /* whole in any case; the new one when it was said to be */
        CHECK(value == 2 || (value == 1 && status != OG_OK));
    }
    for (int64_t k = 1, hit = 1; hit; k++) {
        int64_t before = og_alloc_count();
        og_table_file *file = NULL;
        og_fault_alloc(k);
        og_status status = og_table_file_open(path, &identity, &file, &err);
        if (status == OG_OK) {
            status = og_table_file_load(file, 0, new, &err);
            og_table_file_close(file);
        }
        hit = og_fault_alloc_hit();
        og_fault_alloc(0);
        CHECK(og_alloc_count() == before);
        if (!hit) CHECK(status == OG_OK);
    }
    og_store_free(old);
    og_store_free(new);
}

int main(void) {
    CHECK(mkdtemp(folder));
    char one[200], many[200];
    snprintf(one, sizeof one, "%s/one.safetensors", folder);
    snprintf(many, sizeof many, "%s/many.json", folder);
    killed_at_every_call(one, 1, 0);
    killed_at_every_call(many, 3, 1);
    another_number_of_shards_after_a_crash(many);
    fails_at_every_call(one, 1);
    fails_at_every_call(many, 2);
    every_allocation_may_fail(many);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return 0;
}
