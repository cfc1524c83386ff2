/* test_store_shared.c: shared stores between processes: attach, stale segments, live segments, one
 * copy of the pages. */
#include "test.h"

#include "store/limits.h"

#include <omnigram/memory.h>
#include <omnigram/store.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static og_error err;
static char name[64];

static og_store_options shared(int64_t rows) {
    og_store_options o = og_store_defaults(rows, 16, OG_F32);
    o.backing = OG_BACK_SHARED;
    o.name = name;
    o.state = 1;
    return o;
}

static int segment_exists(void) {
    char path[100];
    struct stat info;
    snprintf(path, sizeof path, "/dev/shm/omnigram.%s", name);
    return stat(path, &info) == 0;
}

/* A child that makes the segment, says so, and then sleeps until it is killed. */
static pid_t owner_that_sleeps(int64_t rows) {
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        og_store *store;
        og_store_options o = shared(rows);
        if (og_store_new(&o, &store, &err) != OG_OK) _exit(1);
        ((float *)og_store_row(store, 3))[2] = 42;
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void writes_are_seen_by_all(void) {
    og_store_options o = shared(100);
    og_store *store, *same, *view;
    CHECK_OK(og_store_new(&o, &store, &err));
    CHECK_OK(og_store_attach(name, 1, &same, &err));
    CHECK_OK(og_store_attach(name, 0, &view, &err));
    CHECK(og_store_rows(view) == 100 && og_store_dim(view) == 16 &&
          og_store_row_bytes(view) == og_store_row_bytes(store));
    float values[16] = {1, 2, 3}, back[16];
    int64_t row = 99;
    CHECK_OK(og_store_write(same, &row, 1, values, &err));
    CHECK_OK(og_store_read(view, &row, 1, back, &err));
    CHECK(memcmp(values, back, sizeof back) == 0);
    CHECK_FAILS(og_store_write(view, &row, 1, values, &err), OG_EINVAL, "read-only");
    CHECK_FAILS(og_store_new(&o, &same, &err), OG_EINVAL, "in use");
    og_store_free(same);
    og_store_free(store);
    CHECK(!segment_exists());
    CHECK_OK(og_store_read(view, &row, 1, back, &err)); /* the rows live as long as somebody has them */
    og_store_free(view);
    CHECK_FAILS(og_store_attach(name, 0, &view, &err), OG_EIO, "/omnigram.test-");
}

/* The creator is killed after publishing; the name is reclaimed at the next start. */
static void a_killed_owner_leaves_nothing_that_blocks(void) {
    pid_t child = owner_that_sleeps(100);
    og_store *store;
    og_store_options o = shared(50);
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "runs"); /* alive: never removed */
    CHECK_OK(og_store_attach(name, 0, &store, &err));
    CHECK(((float *)og_store_row(store, 3))[2] == 42);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(segment_exists());
    og_store *other;
    CHECK_FAILS(og_store_new(&o, &other, &err), OG_EINVAL, "has ended, but others hold it"); /* we still live in it */
    og_store_free(store);
    CHECK_FAILS(og_store_attach(name, 0, &store, &err), OG_EINVAL, "stale");
    CHECK_OK(og_store_new(&o, &store, &err)); /* reclaimed */
    CHECK(og_store_rows(store) == 50 && ((float *)og_store_row(store, 3))[2] == 0);
    og_store_free(store);
    CHECK(!segment_exists());
}

/* Eight processes race for the name of a dead one; one wins and the others
 * see it alive. */
static void one_of_many_reclaims(void) {
    pid_t child = owner_that_sleeps(100);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    int go[2], hold[2], winners = 0;
    CHECK(pipe(go) == 0 && pipe(hold) == 0);
    pid_t racers[8];
    for (int i = 0; i < 8; i++) {
        racers[i] = fork();
        CHECK(racers[i] >= 0);
        if (racers[i] == 0) {
            og_store *store;
            og_store_options o = shared(20);
            og_status status = og_store_new(&o, &store, &err);
            char byte = status == OG_OK ? 'w' : status == OG_EINVAL ? 'l' : 'e';
            close(hold[1]);
            if (write(go[1], &byte, 1) != 1) _exit(1);
            if (read(hold[0], &byte, 1) < 0) _exit(1); /* until all have tried */
            if (status == OG_OK) og_store_free(store);
            _exit(0);
        }
    }
    for (int i = 0; i < 8; i++) {
        char byte;
        CHECK(read(go[0], &byte, 1) == 1 && byte != 'e');
        winners += byte == 'w';
    }
    close(hold[1]);
    for (int i = 0; i < 8; i++) CHECK(waitpid(racers[i], NULL, 0) == racers[i]);
    CHECK(winners == 1);
    CHECK(!segment_exists());
}

/* A child of a fork frees the handle that it has got; the parent's segment keeps its name. */
static void a_forked_child_leaves_the_name_alone(void) {
    og_store_options o = shared(10);
    og_store *store, *same;
    CHECK_OK(og_store_new(&o, &store, &err));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        og_store_free(store);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK_OK(og_store_attach(name, 0, &same, &err));
    og_store_free(same);
    og_store_free(store);
    CHECK(!segment_exists());
}

static void one_physical_copy(void) {
    og_store_options o = shared(INT64_C(1) << 16); /* 8 MiB */
    og_store *store, *view;
    CHECK_OK(og_store_new(&o, &store, &err));
    memset(og_store_row(store, 0), 1, (size_t)(og_store_row_bytes(store) << 16));
    CHECK_OK(og_store_attach(name, 0, &view, &err));
    volatile uint8_t sum = 0;
    for (int64_t r = 0; r < 1 << 16; r++) sum = (uint8_t)(sum + *(uint8_t *)og_store_row(view, r));
    og_store_report a, b;
    CHECK_OK(og_store_inspect(store, &a, &err));
    CHECK_OK(og_store_inspect(view, &b, &err));
    CHECK(a.resident_bytes >= 8 << 20 && b.resident_bytes >= 8 << 20);
    CHECK(a.anonymous_bytes == 0 && b.anonymous_bytes == 0); /* shared pages, none of them private */
    struct stat info;
    char path[100];
    snprintf(path, sizeof path, "/dev/shm/omnigram.%s", name);
    CHECK(stat(path, &info) == 0 && (int64_t)info.st_blocks * 512 <= INT64_C(13) << 20);
    og_store_free(view);
    og_store_free(store);
}

static void refuses_strangers_and_bad_names(void) {
    og_store *store;
    og_store_options o = shared(8);
    o.name = "a/b";
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "a/b");
    o.name = "";
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_EINVAL, "name");
    o = shared(INT64_C(1) << 38);
    CHECK_FAILS(og_store_new(&o, &store, &err), OG_ENOMEM, "35184372088832");
    CHECK(!segment_exists());
    /* not one of ours, but alive: its own lock */
    char path[100];
    snprintf(path, sizeof path, "/omnigram.%s", name);
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = owner_that_sleeps(8);
    int file = shm_open(path, O_RDWR, 0);
    CHECK(file >= 0 && pwrite(file, "garbage!", 8, 0) == 8);
    CHECK_FAILS(og_store_attach(name, 0, &store, &err), OG_EFORMAT, "omnigram segment");
    CHECK(ftruncate(file, 10) == 0);
    CHECK_FAILS(og_store_attach(name, 0, &store, &err), OG_EFORMAT, "omnigram segment");
    close(file);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK_OK((o = shared(8), og_store_new(&o, &store, &err)));
    og_store_free(store);
    close(ready[0]);
    close(ready[1]);
}

/* What another process has touched of a segment is taken, and promised no more: not to its maker, nor to a child. */
static void what_others_touched_is_not_promised(void) {
    og_store_options o = shared(1 << 18);
    og_store *store;
    og_limits limits;
    CHECK_OK(og_store_new(&o, &store, &err));
    int64_t bytes = og_store_rows(store) * og_store_row_bytes(store);
    og_limits_read("", &limits);
    CHECK(limits.promised_shared > bytes / 10 * 9 && limits.promised_bytes >= limits.promised_shared);
    for (int touches = 1; touches >= 0; touches--) {
        int how;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            if (touches) memset(og_store_row(store, 0), 1, (size_t)bytes);
            og_limits_read("", &limits);
            _exit(limits.promised_shared >= bytes / 10);
        }
        CHECK(waitpid(child, &how, 0) == child && how == 0);
        og_limits_read("", &limits);
        CHECK(limits.promised_shared < bytes / 10);
    }
    og_store_free(store);
    og_limits_read("", &limits);
    CHECK(limits.promised_shared == 0);
}

int main(void) {
    snprintf(name, sizeof name, "test-%d", (int)getpid());
    int64_t before = og_alloc_count();
    writes_are_seen_by_all();
    a_killed_owner_leaves_nothing_that_blocks();
    one_of_many_reclaims();
    a_forked_child_leaves_the_name_alone();
    what_others_touched_is_not_promised();
    one_physical_copy();
    refuses_strangers_and_bad_names();
    CHECK(og_alloc_count() == before);
    return 0;
}
