/* digest.c: SHA-256 by libcrypto. */
#include <omnigram/digest.h>
#include <omnigram/memory.h>

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

struct og_digest {
    EVP_MD_CTX *context;
};

og_status og_digest_new(og_digest **out, og_error *err) {
    og_digest *digest = og_alloc_zero(1, sizeof *digest);
    if (!digest) return og_fail(err, OG_ENOMEM, "no memory for a digest");
    digest->context = EVP_MD_CTX_new();
    if (!digest->context || EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1) {
        og_digest_free(digest);
        return og_fail(err, OG_ENOMEM, "libcrypto gave no SHA-256");
    }
    *out = digest;
    return OG_OK;
}

og_status og_digest_add(og_digest *digest, const void *data, int64_t bytes, og_error *err) {
    if (bytes < 0) return og_fail(err, OG_EINVAL, "cannot digest %lld bytes", (long long)bytes);
    if (bytes && EVP_DigestUpdate(digest->context, data, (size_t)bytes) != 1)
        return og_fail(err, OG_EINTERNAL, "libcrypto failed in SHA-256");
    return OG_OK;
}

og_status og_digest_end(og_digest *digest, char out[OG_DIGEST_TEXT], og_error *err) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int done = EVP_DigestFinal_ex(digest->context, bytes, &n);
    og_digest_free(digest);
    if (done != 1 || n != 32) return og_fail(err, OG_EINTERNAL, "libcrypto failed in SHA-256");
    for (unsigned i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = 0;
    return OG_OK;
}

void og_digest_free(og_digest *digest) {
    if (!digest) return;
    EVP_MD_CTX_free(digest->context);
    og_release(digest);
}

og_status og_digest_of(const void *data, int64_t bytes, char out[OG_DIGEST_TEXT], og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    og_status status = og_digest_add(digest, data, bytes, err);
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status;
}

static og_status add_file(og_digest *digest, int fd, const char *path, og_error *err) {
    const int64_t room = 1 << 20;
    char *buffer = og_alloc(room, 1);
    if (!buffer) return og_fail(err, OG_ENOMEM, "%s: no memory to digest it", path);
    og_status status = OG_OK;
    for (;;) {
        ssize_t got = read(fd, buffer, (size_t)room);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = og_fail(err, OG_EIO, "%s: %s", path, strerror(errno));
        if (got <= 0) break;
        status = og_digest_add(digest, buffer, got, err);
        if (status != OG_OK) break;
    }
    og_release(buffer);
    return status;
}

og_status og_digest_of_file(const char *path, char out[OG_DIGEST_TEXT], og_error *err) {
    og_digest *digest;
    OG_TRY(og_digest_new(&digest, err));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    og_status status = fd < 0 ? og_fail(err, OG_EIO, "%s: %s", path, strerror(errno)) : add_file(digest, fd, path, err);
    if (fd >= 0) close(fd);
    if (status == OG_OK) return og_digest_end(digest, out, err);
    og_digest_free(digest);
    return status;
}
