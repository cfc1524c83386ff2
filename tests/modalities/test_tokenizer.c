/* test_tokenizer.c: any UTF-8 comes back unchanged; text that looks like a marker stays text; the same input gives the
 * same model. */
#include "fixtures.h"

static og_error err;

/* Every line of a small corpus in five scripts, many times with different numbers. */
static char **corpus(int64_t **sizes, int64_t *n) {
    static const char *const lines[] = {"the red fox %d jumps over the lazy dog",
                                        "el zorro rojo %d salta sobre el perro", "рыжая лиса %d прыгает через собаку",
                                        "η αλεπού %d πηδάει", "赤い狐が%d回跳ぶ"};
    *n = 400;
    char **texts = og_alloc(*n, sizeof *texts);
    *sizes = og_alloc(*n, sizeof **sizes);
    for (int64_t i = 0; i < *n; i++) {
        texts[i] = og_alloc(128, 1);
        (*sizes)[i] = snprintf(texts[i], 128, lines[i % 5], (int)(i * i % 1000));
    }
    return texts;
}

static void round_trip(const og_tokenizer *tokenizer, const char *text, int64_t n) {
    int32_t *ids = NULL;
    int64_t count = 0;
    char *back = NULL;
    CHECK_OK(og_tokenizer_encode(tokenizer, text, n, &ids, &count, &err));
    for (int64_t i = 0; i < count; i++)
        CHECK(ids[i] > 0 && ids[i] < og_tokenizer_vocab(tokenizer)); /* 0 is the unknown */
    CHECK_OK(og_tokenizer_decode(tokenizer, ids, count, &back, &err));
    if (memcmp(back, text, (size_t)n) || back[n]) {
        fprintf(stderr, "'%s' became '%s'\n", text, back);
        exit(1);
    }
    og_release(ids);
    og_release(back);
}

static og_status there_and_back(const og_tokenizer *tokenizer) {
    int32_t *ids = NULL;
    int64_t count;
    char *back = NULL;
    OG_TRY(og_tokenizer_encode(tokenizer, "the red fox", 11, &ids, &count, &err));
    og_status status = og_tokenizer_decode(tokenizer, ids, count, &back, &err);
    og_release(back);
    og_release(ids);
    return status;
}

static og_status open_again(const char *path) {
    og_tokenizer *tokenizer;
    OG_TRY(og_tokenizer_open(path, &tokenizer, &err));
    og_tokenizer_free(tokenizer);
    return OG_OK;
}

static int64_t put_code(char *out, uint32_t c) {
    if (c < 0x80) return out[0] = (char)c, 1;
    if (c < 0x800) return out[0] = (char)(0xC0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return out[0] = (char)(0xE0 | c >> 12), out[1] = (char)(0x80 | (c >> 6 & 63)), out[2] = (char)(0x80 | (c & 63)),
               3;
    out[0] = (char)(0xF0 | c >> 18), out[1] = (char)(0x80 | (c >> 12 & 63)), out[2] = (char)(0x80 | (c >> 6 & 63));
    return out[3] = (char)(0x80 | (c & 63)), 4;
}

int main(void) {
#ifndef OG_HAVE_SENTENCEPIECE
    SKIP("built without SentencePiece");
#endif
    char *folder = temporary_folder(), path[200], again[200];
    snprintf(path, sizeof path, "%s/a.model", folder);
    snprintf(again, sizeof again, "%s/b.model", folder);
    int64_t *sizes = NULL, n = 0;
    char **texts = corpus(&sizes, &n);
    og_tokenizer *tokenizer = NULL, *second = NULL;
    CHECK_OK(og_tokenizer_train((const char *const *)texts, sizes, n, 500, path, &err));
    CHECK_OK(og_tokenizer_train((const char *const *)texts, sizes, n, 500, again, &err));
    CHECK_OK(og_tokenizer_open(path, &tokenizer, &err));
    CHECK_OK(og_tokenizer_open(again, &second, &err));
    CHECK(og_tokenizer_vocab(tokenizer) <= 500 && og_tokenizer_vocab(tokenizer) > 300);
    CHECK(strlen(og_tokenizer_fingerprint(tokenizer)) == 64 &&
          !strcmp(og_tokenizer_fingerprint(tokenizer), og_tokenizer_fingerprint(second)));
    og_tokenizer_free(second);

    int32_t *ids = NULL;
    int64_t count = 0;
    CHECK_OK(og_tokenizer_encode(tokenizer, texts[0], sizes[0], &ids, &count, &err));
    CHECK(count > 1 && count < sizes[0] / 2); /* it learnt something */
    og_release(ids);

    static const char *const tricky[] = {"",
                                         " ",
                                         "  two  spaces  ",
                                         "\ttab\tand\nnewline\r\n",
                                         "<s>",
                                         "</s>",
                                         "<unk>",
                                         "<0x41>",
                                         "<image_begin>",
                                         "<pad>",
                                         "\xE2\x96\x81",
                                         "a\xE2\x96\x81 b\xE2\x96\x81",
                                         " \xE2\x96\x81 ",
                                         "e\xCC\x81 is not \xC3\xA9",
                                         "\xEF\xBC\xA1\xEF\xAC\x81",
                                         "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80",
                                         "\xEF\xBB\xBF"
                                         "bom",
                                         "ขอบคุณ",
                                         "\xE2\x96\x85",
                                         "\xE2\x81\x87",
                                         "\x01\x02"};
    for (size_t i = 0; i < sizeof tricky / sizeof *tricky; i++)
        round_trip(tokenizer, tricky[i], (int64_t)strlen(tricky[i]));
    round_trip(tokenizer, "zero\0inside", 11);
    for (uint64_t k = 0; k < 2000; k++) { /* random code points of all planes */
        char text[256];
        int64_t length = 0, points = (int64_t)og_random_below(7, 3 * k, 40);
        for (int64_t i = 0; i < points; i++) {
            uint64_t at = 1000 * k + (uint64_t)i, plane = og_random_below(8, at, 4);
            uint32_t c = (uint32_t)og_random_below(9, at,
                                                   plane == 0   ? 128
                                                   : plane == 1 ? 0x800
                                                   : plane == 2 ? 0xD800
                                                                : 0x110000);
            if (c >= 0xD800 && c < 0xE000) c = ' ';
            length += put_code(text + length, c);
        }
        text[length] = 0;
        round_trip(tokenizer, text, length);
    }

    char *back = NULL;
    const int32_t wild[2] = {5, 100000}, minus = -1;
    CHECK_FAILS(og_tokenizer_decode(tokenizer, wild, 2, &back, &err), OG_EINVAL, "text id 100000 at 1");
    CHECK_FAILS(og_tokenizer_decode(tokenizer, &minus, 1, &back, &err), OG_EINVAL, "-1");
    CHECK_FAILS(og_tokenizer_encode(tokenizer, "a\xFF", 2, &ids, &count, &err), OG_EFORMAT, "offset 1");
    CHECK_ALLOC_FAILS(there_and_back(tokenizer), 2);
    CHECK_ALLOC_FAILS(open_again(path), 2);
    CHECK_ALLOC_FAILS(og_tokenizer_train((const char *const *)texts, sizes, n, 500, again, &err), 2);
    og_tokenizer_free(tokenizer);

    CHECK_FAILS(og_tokenizer_train((const char *const *)texts, sizes, n, 100, path, &err), OG_EINVAL, "vocab 100");
    CHECK_FAILS(og_tokenizer_train(NULL, NULL, 0, 500, path, &err), OG_EINVAL, "no text");
    const char *blank[1] = {"\xE2\x96\x81"};
    const int64_t three = 3;
    CHECK_FAILS(og_tokenizer_train(blank, &three, 1, 500, path, &err), OG_EINVAL, "without a character");
    CHECK_FAILS(og_tokenizer_train((const char *const *)texts, sizes, n, 500, "/nowhere/at/all.model", &err), OG_EIO,
                "/nowhere");
    CHECK_FAILS(og_tokenizer_open("/nowhere.model", &tokenizer, &err), OG_EIO, "/nowhere.model");
    write_file(folder, "bad.model", "not a model", 11);
    snprintf(again, sizeof again, "%s/bad.model", folder);
    CHECK_FAILS(og_tokenizer_open(again, &tokenizer, &err), OG_EFORMAT, "bad.model");
    for (int64_t i = 0; i < n; i++) og_release(texts[i]);
    og_release(texts);
    og_release(sizes);
    remove_tree(folder);
    CHECK(og_alloc_count() == 0);
    return 0;
}
