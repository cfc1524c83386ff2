/* file_map.c: files mapped for reading, or for reading and writing in place. */
#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct og_map {
    void *data; /* NULL for an empty file */
    int64_t bytes;
};

static og_status map_file(int fd, const char *path, int32_t writable, og_map *map, og_error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0) return og_fail(err, OG_EIO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return og_fail(err, OG_EIO, "%s: is no regular file, so it cannot be mapped", path);
    map->bytes = (int64_t)info.st_size;
    if (map->bytes == 0) return OG_OK;
    void *data = mmap(NULL, (size_t)map->bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        int fault = errno;
        struct rlimit space;
        if (fault == ENOMEM && getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
            return og_fail(
                err, OG_ENOMEM,
                "%s: mapping %lld bytes: the address space of this process is limited to %lld bytes "
                "(RLIMIT_AS; raise it with ulimit -v). Memory is not what is missing: pages come as they are "
                "read",
                path, (long long)map->bytes, (long long)space.rlim_cur);
        return og_fail(err, fault == ENOMEM ? OG_ENOMEM : OG_EIO, "%s: mapping %lld bytes: %s", path,
                       (long long)map->bytes, strerror(fault));
    }
    map->data = data;
    return OG_OK;
}

og_status og_map_open(const char *path, int32_t writable, og_map **out, og_error *err) {
    int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0) return og_fail(err, OG_EIO, "%s: %s", path, strerror(errno));
    og_map *map = og_alloc_zero(1, sizeof *map);
    og_status status = map ? map_file(fd, path, writable, map, err) : og_fail(err, OG_ENOMEM, "%s: no memory", path);
    close(fd); /* the mapping keeps the file */
    if (status != OG_OK) {
        og_release(map);
        return status;
    }
    *out = map;
    return OG_OK;
}

void og_map_close(og_map *map) {
    if (!map) return;
    if (map->data) munmap(map->data, (size_t)map->bytes);
    og_release(map);
}

void *og_map_data(const og_map *map) { return map->data; }
int64_t og_map_bytes(const og_map *map) { return map->bytes; }
