/* test_file.c: reads, maps, folders, and the atomic writer killed or refused at every call. */
#include "test.h"

#include <omnigram/file.h>
#include <omnigram/internal/faults.h>
#include <omnigram/memory.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static og_error err;
static char folder[256];

static const char *in(const char *leaf) {
    static char paths[4][512];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, 512, "%s/%s", folder, leaf);
    return path;
}

static int files(void) {
    DIR *dir = opendir(folder);
    CHECK(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void clear(void) {
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.') remove(in(e->d_name));
    closedir(dir);
}

static void expect(const char *path, const void *data, int64_t bytes) {
    char *text;
    int64_t got;
    CHECK_OK(og_file_read(path, 1 << 24, &text, &got, &err));
    CHECK(got == bytes && memcmp(text, data, (size_t)bytes) == 0 && text[bytes] == 0);
    og_release(text);
}

static void test_read(void) {
    CHECK_OK(og_file_write(in("a"), "hello", 5, &err));
    expect(in("a"), "hello", 5);
    char *text;
    int64_t bytes;
    CHECK_FAILS(og_file_read(in("a"), 4, &text, &bytes, &err), OG_EINVAL, "has 5 bytes; at most 4");
    CHECK_FAILS(og_file_read(in("none"), 4, &text, &bytes, &err), OG_EIO, "No such file");
    CHECK_FAILS(og_file_read(folder, 4, &text, &bytes, &err), OG_EIO, "is a folder");
    CHECK_OK(og_file_read("/proc/self/status", 1 << 20, &text, &bytes, &err)); /* says it has 0 bytes */
    CHECK(bytes > 100 && strlen(text) == (size_t)bytes);
    og_release(text);
    CHECK_FAILS(og_file_read("/proc/self/status", 10, &text, &bytes, &err), OG_EINVAL, "more than the 10 bytes");
    CHECK(og_file_exists(in("a")) && !og_file_exists(in("none")));
    clear();
}

/* Every read but each third gives nothing, though the file goes on; then all of them. */
static int reads;
static int32_t mostly_nothing(const char *call, const char *path) {
    (void)path;
    return !strcmp(call, "read") && ++reads % 3 ? OG_FAULT_NO_BYTES : 0;
}
static int32_t always_nothing(const char *call, const char *path) {
    (void)path;
    return !strcmp(call, "read") ? OG_FAULT_NO_BYTES : 0;
}

static void test_a_read_of_nothing_is_no_end(void) {
    CHECK_OK(og_file_write(in("a"), "hello", 5, &err));
    og_fault_io(mostly_nothing);
    expect(in("a"), "hello", 5);
    CHECK(reads >= 3);
    char *text = NULL;
    int64_t bytes;
    og_fault_io(always_nothing);
    CHECK_FAILS(og_file_read(in("a"), 100, &text, &bytes, &err), OG_EIO, "has 5 bytes, but reading ends after 0");
    og_fault_io(NULL);
    CHECK(!text);
    clear();
}

/* What makes a file durable comes in this order: its bytes, its name, the folder that holds the name. */
static char order[512];
static int32_t note_order(const char *call, const char *path) {
    const char *leaf = strrchr(path, '/');
    size_t n = strlen(order);
    snprintf(order + n, sizeof order - n, "%s%s %s", n ? ", " : "", call, strcmp(path, folder) ? leaf + 1 : "folder");
    return 0;
}

static void test_flush_before_rename_before_folder(void) {
    og_fault_io(note_order);
    CHECK_OK(og_file_write(in("a"), "hello", 5, &err));
    og_fault_io(NULL);
    printf("%s\n", order);
    char *write = strstr(order, "write a"), *flush = strstr(order, "fsync a"), *rename = strstr(order, "rename a"),
         *name = strstr(order, "fsync folder");
    CHECK(write && flush && rename && name && write < flush && flush < rename && rename < name);
    CHECK(!strstr(name + 1, ",")); /* and nothing after it */
    CHECK_OK(og_folder_make(in("part"), &err));
    CHECK_OK(og_file_write(in("part/x"), "x", 1, &err));
    order[0] = 0;
    og_fault_io(note_order);
    CHECK_OK(og_folder_commit(in("part"), in("whole"), &err));
    og_fault_io(NULL);
    printf("%s\n", order);
    flush = strstr(order, "fsync part"), rename = strstr(order, "rename whole"), name = strstr(order, "fsync folder");
    CHECK(flush && rename && name && flush < rename && rename < name);
    remove(in("whole/x"));
    rmdir(in("whole"));
    clear();
}

static void test_map(void) {
    og_map *map;
    CHECK_OK(og_file_write(in("m"), "abc", 3, &err));
    CHECK_OK(og_map_open(in("m"), 1, &map, &err));
    CHECK(og_map_bytes(map) == 3 && memcmp(og_map_data(map), "abc", 3) == 0);
    ((char *)og_map_data(map))[1] = 'X';
    og_map_close(map);
    expect(in("m"), "aXc", 3);
    CHECK_OK(og_file_write(in("m"), "", 0, &err));
    CHECK_OK(og_map_open(in("m"), 0, &map, &err));
    CHECK(og_map_bytes(map) == 0);
    og_map_close(map);
    CHECK_FAILS(og_map_open(in("none"), 0, &map, &err), OG_EIO, "No such file");
    CHECK_FAILS(og_map_open(folder, 0, &map, &err), OG_EIO, "is no regular file");
    CHECK_FAILS(og_map_open("/dev/zero", 0, &map, &err), OG_EIO, "is no regular file");
    clear();
}

static void test_writer(void) {
    og_writer *w, *other;
    CHECK_OK(og_file_write(in("w"), "old", 3, &err));
    CHECK(chmod(in("w"), 0640) == 0);
    CHECK_OK(og_writer_open(in("w"), &w, &err));
    CHECK_OK(og_writer_write(w, "0123456789", 10, &err));
    CHECK_OK(og_writer_patch(w, 2, "AB", 2, &err));
    CHECK_OK(og_writer_write(w, "z", 1, &err));
    CHECK(og_writer_bytes(w) == 11);
    CHECK_FAILS(og_writer_patch(w, 10, "AB", 2, &err), OG_EINVAL, "patch 2 bytes at 10 of the 11");
    CHECK_FAILS(og_writer_patch(w, -1, "AB", 2, &err), OG_EINVAL, "at -1");
    expect(in("w"), "old", 3);
    CHECK_OK(og_writer_open(in("w"), &other, &err)); /* two at once: the last commit wins, neither is torn */
    CHECK_OK(og_writer_write(other, "other", 5, &err));
    CHECK_OK(og_writer_commit(w, &err));
    expect(in("w"), "01AB456789z", 11);
    CHECK_OK(og_writer_commit(other, &err));
    expect(in("w"), "other", 5);
    struct stat info;
    CHECK(stat(in("w"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK_OK(og_writer_open(in("w"), &w, &err));
    CHECK_OK(og_writer_write(w, "gone", 4, &err));
    og_writer_abort(w);
    og_writer_abort(NULL);
    expect(in("w"), "other", 5);
    CHECK(files() == 1);
    CHECK(symlink("w", in("link")) == 0); /* the file behind a link is replaced, the link stays */
    CHECK_OK(og_file_write(in("link"), "through", 7, &err));
    expect(in("w"), "through", 7);
    CHECK(lstat(in("link"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK_FAILS(og_writer_open(in("no/w"), &w, &err), OG_EIO, "cannot be written: No such file");
    CHECK_FAILS(og_writer_open(folder, &w, &err), OG_EIO, "is a folder");
    char big[700000];
    for (size_t i = 0; i < sizeof big; i++) big[i] = (char)(i * 7 + i / 251);
    CHECK_OK(og_writer_open(in("big"), &w, &err)); /* pieces below, at and above the buffer */
    const int64_t cuts[] = {0, 1, 262143, 262144, 262145, 650000, sizeof big};
    for (int i = 1; i < 7; i++) CHECK_OK(og_writer_write(w, big + cuts[i - 1], cuts[i] - cuts[i - 1], &err));
    CHECK_OK(og_writer_commit(w, &err));
    expect(in("big"), big, sizeof big);
    clear();
}

/* ---- death at every call ---- */
static int calls, die_at, fault_number;

static int32_t hook(const char *call, const char *path) {
    (void)call;
    (void)path;
    if (++calls != die_at) return 0;
    if (fault_number) return fault_number;
    kill(getpid(), SIGKILL);
    return 0;
}

static og_status write_new(og_error *e) {
    static char block[300000];
    og_writer *w;
    OG_TRY(og_writer_open(in("f"), &w, e));
    og_status status = OG_OK;
    memset(block, 'n', sizeof block);
    for (int i = 0; i < 3 && status == OG_OK; i++)
        status = og_writer_write(w, block, i ? (int64_t)sizeof block : 1000, e);
    if (status == OG_OK) status = og_writer_patch(w, 0, "N", 1, e);
    if (status == OG_OK) return og_writer_commit(w, e);
    og_writer_abort(w);
    return status;
}

/* The whole old or the whole new file; which. */
static int is_new(void) {
    char *text;
    int64_t bytes;
    CHECK_OK(og_file_read(in("f"), 1 << 24, &text, &bytes, &err));
    int new = bytes == 601000;
    if (new) {
        CHECK(text[0] == 'N');
        for (int64_t i = 1; i < bytes; i++) CHECK(text[i] == 'n');
    } else {
        CHECK(bytes == 8 && strcmp(text, "old file") == 0);
    }
    og_release(text);
    return new;
}

static void test_killed_at_every_call(void) {
    int finished = 0, orphans = 0, old_left = 0;
    for (die_at = 1; !finished; die_at++) {
        CHECK_OK(og_file_write(in("f"), "old file", 8, &err));
        pid_t pid = fork();
        if (pid == 0) {
            calls = fault_number = 0;
            og_fault_io(hook);
            _exit(write_new(&err) == OG_OK ? 0 : 1);
        }
        int state;
        CHECK(waitpid(pid, &state, 0) == pid);
        finished = WIFEXITED(state) && WEXITSTATUS(state) == 0;
        CHECK(finished || (WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL));
        if (!is_new()) old_left++;
        if (files() > 1) orphans++;
        CHECK_OK(og_file_write(in("f"), "old file", 8, &err)); /* the next open removes the orphan */
        CHECK(files() == 1);
    }
    CHECK(die_at > 7 && orphans >= 5 && old_left >= 6); /* open, writes, fsync, rename, fsync of the folder */
    clear();
}

static void test_refused_at_every_call(void) {
    fault_number = ENOSPC;
    int finished = 0;
    for (die_at = 1; !finished; die_at++) {
        CHECK_OK(og_file_write(in("f"), "old file", 8, &err));
        calls = 0;
        og_fault_io(hook);
        og_status status = write_new(&err);
        og_fault_io(NULL);
        finished = calls < die_at;
        CHECK((status == OG_OK) == finished);
        if (status != OG_OK)
            CHECK(status == OG_EIO && strstr(err.message, "No space left") && strstr(err.message, folder));
        is_new();
        CHECK(files() == 1); /* nothing is left */
    }
    CHECK(die_at > 7);
    fault_number = 0;
    clear();
}

static void test_full_disk(void) {
    struct rlimit old, small = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    small.rlim_max = old.rlim_max;
    CHECK_OK(og_file_write(in("f"), "old file", 8, &err));
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    og_status status = write_new(&err);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(status == OG_EIO && strstr(err.message, "/f: writing 201000 bytes at 100000: File too large"));
    expect(in("f"), "old file", 8);
    CHECK(files() == 1);
    clear();
}

static void test_orphans(void) {
    pid_t dead = fork();
    if (dead == 0) _exit(0);
    CHECK(waitpid(dead, NULL, 0) == dead);
    char name[64];
    snprintf(name, sizeof name, "f.tmp-%ld", (long)dead);
    CHECK_OK(og_file_write(in(name), "x", 1, &err));
    snprintf(name, sizeof name, "f.tmp-%ld-3", (long)dead);
    CHECK_OK(og_file_write(in(name), "x", 1, &err));
    snprintf(name, sizeof name, "f.tmp-%ld", (long)getppid()); /* lives */
    CHECK_OK(og_file_write(in(name), "x", 1, &err));
    snprintf(name, sizeof name, "ff.tmp-%ld", (long)dead); /* of another file */
    CHECK_OK(og_file_write(in(name), "x", 1, &err));
    CHECK_OK(og_file_write(in("f.tmp-notes"), "x", 1, &err));
    CHECK(files() == 5);
    og_writer *w, *other;
    CHECK_OK(og_writer_open(in("f"), &w, &err));
    CHECK_OK(og_writer_open(in("f"), &other, &err)); /* ours is locked, so it stays */
    CHECK(files() == 5);
    CHECK_OK(og_writer_commit(w, &err));
    CHECK_OK(og_writer_commit(other, &err));
    CHECK(files() == 4);
    clear();
}

static void test_folders(void) {
    CHECK_OK(og_folder_make(in("d/e/f"), &err));
    CHECK_OK(og_folder_make(in("d/e/f"), &err));
    CHECK_OK(og_folder_make(in("d/e/g/"), &err));
    CHECK_OK(og_file_write(in("d/e/f/x"), "x", 1, &err));
    CHECK_FAILS(og_folder_make(in("d/e/f/x/y"), &err), OG_EIO, "f/x: is a file");
    CHECK_FAILS(og_folder_make("", &err), OG_EINVAL, "without a name");
    CHECK_FAILS(og_folder_commit(in("d/e/f"), in("d/e/g"), &err), OG_EINVAL, "exists already");
    CHECK_FAILS(og_folder_commit(in("d/e/none"), in("d/e/h"), &err), OG_EIO, "No such file");
    CHECK_OK(og_folder_commit(in("d/e/f"), in("d/e/h"), &err));
    expect(in("d/e/h/x"), "x", 1);
    CHECK(!og_file_exists(in("d/e/f")));
    remove(in("d/e/h/x"));
    rmdir(in("d/e/h"));
    rmdir(in("d/e/g"));
    rmdir(in("d/e"));
    rmdir(in("d"));
    CHECK(files() == 0);
}

static int32_t give_up(void *context, int64_t pid) {
    *(int64_t *)context = pid;
    return 1;
}

static void test_lock(void) {
    char path[300], file[320];
    og_lock *lock = NULL;
    int64_t seen = 0;
    int pipes[2];
    snprintf(path, sizeof path, "%s/new/out/", folder);
    snprintf(file, sizeof file, "%s/new/out.lock", folder);
    CHECK(pipe(pipes) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (og_lock_take(path, NULL, NULL, &lock, NULL) != OG_OK || write(pipes[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte;
    CHECK(read(pipes[0], &byte, 1) == 1);
    char number[24];
    snprintf(number, sizeof number, "process %lld", (long long)child);
    CHECK(og_lock_take(path, NULL, NULL, &lock, &err) == OG_EINVAL && strstr(err.message, number));
    CHECK(og_lock_take(path, give_up, &seen, &lock, &err) == OG_ECANCELED && strstr(err.message, number));
    CHECK(seen == child && !lock && og_file_exists(file));
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child); /* its file stays, its lock does not */
    CHECK_OK(og_lock_take(path, NULL, NULL, &lock, &err));
    og_lock_drop(lock);
    CHECK(!og_file_exists(file));
    CHECK_FAILS(og_lock_take("/proc/none/x", NULL, NULL, &lock, &err), OG_EIO, "/proc/none");
    close(pipes[0]);
    close(pipes[1]);
    rmdir(in("new"));
}

int main(void) {
    snprintf(folder, sizeof folder, "%s/file-XXXXXX", OG_TEST_BINARY_DIR);
    CHECK(mkdtemp(folder));
    test_read();
    test_a_read_of_nothing_is_no_end();
    test_flush_before_rename_before_folder();
    test_map();
    test_writer();
    test_killed_at_every_call();
    test_refused_at_every_call();
    test_full_disk();
    test_orphans();
    test_folders();
    test_lock();
    clear();
    rmdir(folder);
    CHECK(og_alloc_count() == 0);
    return 0;
}
