/* test_digest.c: SHA-256 of the messages that FIPS 180-2 publishes. */
#include "test.h"

#include <omnigram/digest.h>
#include <omnigram/file.h>
#include <omnigram/memory.h>

#include <unistd.h>

int main(void) {
    og_error err;
    char text[OG_DIGEST_TEXT];
    CHECK_OK(og_digest_of("", 0, text, &err));
    CHECK(strcmp(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") == 0);
    CHECK_OK(og_digest_of("abc", 3, text, &err));
    CHECK(strcmp(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") == 0);
    char *million = og_alloc(1000000, 1);
    memset(million, 'a', 1000000);
    const char *wanted = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    og_digest *digest;
    CHECK_OK(og_digest_new(&digest, &err));
    for (int64_t at = 0; at < 1000000; at += 999) /* in pieces */
        CHECK_OK(og_digest_add(digest, million + at, 1000000 - at < 999 ? 1000000 - at : 999, &err));
    CHECK_FAILS(og_digest_add(digest, "", -1, &err), OG_EINVAL, "-1");
    CHECK_OK(og_digest_end(digest, text, &err));
    CHECK(strcmp(text, wanted) == 0);
    char path[512];
    snprintf(path, sizeof path, "%s/digest-%ld", OG_TEST_BINARY_DIR, (long)getpid());
    CHECK_OK(og_file_write(path, million, 1000000, &err));
    CHECK_OK(og_digest_of_file(path, text, &err));
    CHECK(strcmp(text, wanted) == 0);
    remove(path);
    CHECK_FAILS(og_digest_of_file(path, text, &err), OG_EIO, "No such file");
    og_release(million);
    og_digest_free(NULL);
    CHECK(og_alloc_count() == 0);
    return 0;
}
