/* test_image.c: declared outcomes for the traps of picture files; resampling; patches and back. */
#include "fixtures.h"

#include "image/image.h"

static og_error err;
static bytes file;
static const og_modality_type *type;

#ifdef OG_HAVE_OPENCV
/* The one pixel (or the first) of a decoded file. */
static void pixel(const char *policy, const unsigned char want[3]) {
    og_modality_impl *impl = make(type, policy);
    og_media media = {0};
    CHECK_OK(type->decode(impl, "pixel.png", file.data, file.n, &media, &err));
    const unsigned char *p = media.data;
    if (memcmp(p, want, 3)) {
        fprintf(stderr, "got %d %d %d, want %d %d %d\n", p[0], p[1], p[2], want[0], want[1], want[2]);
        exit(1);
    }
    og_media_free(&media);
    type->destroy(impl);
}
#endif

static void fails(const char *policy, og_status status, const char *word) {
    og_modality_impl *impl = make(type, policy);
    og_media media = {0};
    err.message[0] = 0;
    og_status got = type->decode(impl, "bad.file", file.data, file.n, &media, &err);
    if (got != status || !strstr(err.message, word) || !strstr(err.message, "bad.file")) {
        fprintf(stderr, "%s: %s; wanted %s naming '%s' and the file\n", og_status_name(got), err.message,
                og_status_name(status), word);
        exit(1);
    }
    CHECK(!media.data);
    type->destroy(impl);
}

static void test_headers(void) {
    static const unsigned char one[3] = {1, 2, 3};
    file.n = 0;
    fails("", OG_EFORMAT, "0 bytes");
    put(&file, "hello world", 11);
    fails("", OG_EFORMAT, "not a picture");
    png_begin(&file, 0, 5, 8, 2);
    png_end(&file, one, 3);
    fails("", OG_EFORMAT, "0 x 5 pixels");
    png_begin(&file, 40000, 30000, 8, 2); /* a bomb: its header is enough */
    png_end(&file, one, 3);
    fails("", OG_EFORMAT, "40000 x 30000 pixels is over the limit of 64000000");
    png(&file, 2, 1, 8, 2, "\1\2\3\4\5\6");
    fails("max_pixels: 1", OG_EFORMAT, "image.max_pixels");
}

static void test_other_formats(void) {
    static const struct {
        const char *text, *word;
    } bad[] = {{"P5\n1 1\n31\nx", "highest value of 31"},
               {"P6#c\n2 2 255\nabc", "truncated PNM"},
               {"P5\n0 4\n255\n", "0 x 4 pixels"},
               {"P5\n1x 1\n255\nx", "without a width"},
               {"P2 1 1 255-1", "byte 0x2d"},
               {"GIF89a", "not a picture"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        file.n = 0;
        put(&file, bad[i].text, strlen(bad[i].text));
        fails("", OG_EFORMAT, bad[i].word);
    }
}

static void test_truncated(void) {
    static const unsigned char one[3] = {1, 2, 3};
    png(&file, 1, 1, 8, 2, one);
    int64_t whole = file.n;
    for (int64_t n = 1; n < whole; n++) {
        file.n = n;
        fails("", OG_EFORMAT, "");
    }
    file.n = whole;
    file.data[whole - 20] ^= 1; /* inside IDAT */
    fails("", OG_EFORMAT, "check sum");
    jpeg(&file, 0);
    whole = file.n;
    for (int64_t n = 3; n < whole; n++) {
        file.n = n;
        fails("", OG_EFORMAT, n > 30 ? "truncated" : "");
    }
}

static void test_cmyk(void) {
    jpeg_cmyk(&file, 1);
    fails("", OG_EFORMAT, "stored inverted by Adobe");
    jpeg_cmyk(&file, 0);
    fails("", OG_EFORMAT, "no Adobe marker");
}

#ifdef OG_HAVE_OPENCV
static void test_pixels(void) {
    /* hidden colour under alpha 0 never shows */
    png(&file, 1, 1, 8, 6, "\x00\xFF\x00\x00");
    pixel("", (const unsigned char[]){255, 255, 255});
    pixel("background: [10, 20, 30]", (const unsigned char[]){10, 20, 30});
    /* gray + alpha (128, 64) over white: 128 * 64/255 + 255 * 191/255 = 223.13 */
    png(&file, 1, 1, 8, 4, "\x80\x40");
    pixel("", (const unsigned char[]){223, 223, 223});
    /* 16 bits are scaled, not shifted: 255/257 = 0.99, 256/257 = 0.996, 65535 -> 255 */
    png(&file, 1, 1, 16, 0, "\x00\xFF");
    pixel("", (const unsigned char[]){1, 1, 1});
    png(&file, 1, 1, 16, 2, "\x01\x00\xFF\xFF\x80\x00");
    pixel("", (const unsigned char[]){1, 255, 128});
    png(&file, 1, 1, 16, 6, "\x00\x00\xFF\xFF\x00\x00\x80\x00"); /* half-covered green on white */
    pixel("", (const unsigned char[]){127, 255, 127});
    png(&file, 1, 1, 8, 2, "\x0A\x14\x1E"); /* RGB order */
    pixel("", (const unsigned char[]){10, 20, 30});
    file.n = 0;
    put(&file, "P6 1 1 65535\n\x01\x00\xFF\xFF\x80\x00", 19);
    pixel("", (const unsigned char[]){1, 255, 128});
    /* a palette with tRNS: entry 1 is half-covered blue */
    static const unsigned char palette[] = {9, 9, 9, 0, 0, 255}, alpha[] = {255, 128}, row[] = {0, 1};
    png_begin(&file, 1, 1, 8, 3);
    png_chunk(&file, "PLTE", palette, 6);
    png_chunk(&file, "tRNS", alpha, 2);
    png_end(&file, row, 2);
    pixel("", (const unsigned char[]){127, 127, 255});
    /* a colour profile that libpng would complain about on standard error */
    png_begin(&file, 1, 1, 8, 2);
    png_chunk(&file, "iCCP", "icc\0\0garbage", 12);
    png_end(&file, "\0\x01\x02\x03", 4);
    pixel("", (const unsigned char[]){1, 2, 3});
}

static void test_orientation(void) {
    /* stored 16 x 8: black left, white right */
    static const struct {
        int orientation;
        int w, h;
        int first, last; /* of the raster after turning */
    } cases[] = {{0, 16, 8, 0, 255}, {1, 16, 8, 0, 255}, {2, 16, 8, 255, 0}, {3, 16, 8, 255, 0}, {4, 16, 8, 0, 255},
                 {5, 8, 16, 0, 255}, {6, 8, 16, 0, 255}, {7, 8, 16, 255, 0}, {8, 8, 16, 255, 0}, {9, 16, 8, 0, 255}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int raw = 0; raw < 2; raw++) {
            og_modality_impl *impl = make(type, raw ? "orientation: raw" : "");
            og_media media = {0};
            jpeg(&file, cases[i].orientation);
            CHECK_OK(type->decode(impl, "x.jpg", file.data, file.n, &media, &err));
            const unsigned char *p = media.data;
            if (raw) {
                CHECK(media.shape[0] == 8 && media.shape[1] == 16 && p[0] < 3 && p[383] > 252);
            } else {
                CHECK(media.shape[0] == cases[i].h && media.shape[1] == cases[i].w);
                CHECK(abs(p[0] - cases[i].first) < 3 && abs(p[383] - cases[i].last) < 3);
                CHECK(((media.notes & OG_NOTE_ROTATED) != 0) == (cases[i].orientation > 1 && cases[i].orientation < 9));
            }
            og_media_free(&media);
            type->destroy(impl);
        }
}
#endif

static void test_turns(void) {
    /* All eight on a 2 x 3 picture against the definition in EXIF 2.32: where row 0 and column 0 are seen. */
    static const char *const seen[9] = {"",       "abcdef", "cbafed", "fedcba", "defabc",
                                        "adbecf", "daebfc", "fcebda", "cfbead"};
    for (int32_t o = 1; o <= 8; o++) {
        og_media media = {.modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {2, 3, 3}, .data = og_alloc(18, 1)};
        for (int i = 0; i < 18; i++) ((unsigned char *)media.data)[i] = (unsigned char)("abcdef"[i / 3]);
        CHECK_OK(og_picture_orient(&media, o, &err));
        CHECK(media.shape[0] == (o < 5 ? 2 : 3));
        for (int i = 0; i < 18; i++) CHECK(((unsigned char *)media.data)[i] == (unsigned char)seen[o][i / 3]);
        og_media_free(&media);
    }
}

static void test_resample(void) {
    unsigned char row[24];
    float out[12];
    for (int i = 0; i < 24; i++) row[i] = i / 3 % 4 == 0 ? 255 : 0;
    CHECK_OK(og_picture_resample(row, 8, 1, (const double[]){0, 0, 8, 1}, out, 2, 1, &err));
    for (int i = 0; i < 6; i++) CHECK(out[i] == 63.75f); /* the mean: nearest or linear would give 255 or 0 */
    CHECK_OK(og_picture_resample(row, 8, 1, (const double[]){0, 0, 8, 1}, out, 3, 1, &err));
    /* thirds of 8: [0, 8/3) holds pixel 0 whole: 255 / (8/3); [8/3, 16/3) holds pixel 4; [16/3, 8) none */
    CHECK(fabsf(out[0] - 95.625f) < 1e-4f && fabsf(out[3] - 95.625f) < 1e-4f && out[6] == 0);
    const unsigned char two[6] = {0, 0, 0, 100, 100, 100};
    CHECK_OK(og_picture_resample(two, 2, 1, (const double[]){0, 0, 2, 1}, out, 4, 1, &err));
    CHECK(out[0] == 0 && out[3] == 25 && out[6] == 75 && out[9] == 100); /* linear between centres */
}

static og_media picture(int64_t w, int64_t h) {
    og_media media = {.modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {h, w, 3}, .data = og_alloc(w * h, 3)};
    for (int64_t i = 0; i < 3 * w * h; i++)
        ((unsigned char *)media.data)[i] = (unsigned char)(og_random_bits(5, (uint64_t)i) & 255);
    return media;
}

static void test_fit(void) {
    og_media in = picture(8, 4), out = {0}, mirror = {0};
    og_modality_impl *impl = make(type, "size: 8\npatch: 4\nbackground: [1, 2, 3]");
    CHECK_OK(type->fit(impl, &in, NULL, 0, &out, &err));
    const unsigned char *p = out.data, *q = in.data;
    CHECK(p[0] == 1 && p[1] == 2 && p[2] == 3 && !memcmp(p + 2 * 24, q, 4 * 24) &&
          p[6 * 24] == 1); /* rows 2..5 are the picture */
    CHECK_OK(type->fit(impl, &in, NULL, 1, &mirror, &err));
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            CHECK(!memcmp(p + 3 * (8 * y + x), (unsigned char *)mirror.data + 3 * (8 * y + 7 - x), 3));
    og_media_free(&mirror);
    og_media_free(&out);
    /* the right half, which is 4 x 4, fills the canvas; its corner is the source's */
    CHECK_OK(type->fit(impl, &in, (const double[]){0.5, 0, 0.5, 1}, 0, &out, &err));
    CHECK(!memcmp(out.data, q + 12, 3));
    og_media_free(&out);
    CHECK_FAILS(type->fit(impl, &in, (const double[]){0.6, 0, 0.5, 1}, 0, &out, &err), OG_EINVAL, "leaves the picture");
    type->destroy(impl);
    impl = make(type, "size: 4\npatch: 4\nfit: crop");
    CHECK_OK(type->fit(impl, &in, NULL, 0, &out, &err));
    CHECK(!memcmp(out.data, q + 6, 12)); /* the middle square: columns 2..5 */
    og_media_free(&out);
    type->destroy(impl);
    impl = make(type, "size: 4\npatch: 4\nfit: squash");
    CHECK_OK(type->fit(impl, &in, NULL, 0, &out, &err));
    CHECK(((unsigned char *)out.data)[0] == (q[0] + q[3] + 1) / 2); /* two columns make one */
    og_media_free(&out);
    type->destroy(impl);
    og_media_free(&in);
}

static void test_vectors(void) {
    static const char *const configs[] = {"size: 16\npatch: 8", "size: 16\npatch: 8\ncenter: image",
                                          "size: 12\npatch: 4\ncolour: gray"};
    for (int c = 0; c < 3; c++) {
        og_modality_impl *impl = make(type, configs[c]);
        int64_t side = c == 2 ? 12 : 16, patch = c == 2 ? 4 : 8, dim = type->dim(impl);
        og_media in = picture(side, side), out = {0};
        float *v = NULL;
        int32_t rows = 0, columns = 0;
        CHECK(dim == patch * patch * (c == 2 ? 1 : 3));
        CHECK_OK(type->vectors(impl, &in, &v, &rows, &columns, &err));
        CHECK(rows == side / patch && columns == rows);
        CHECK_OK(type->restore(impl, v, rows, columns, &out, &err));
        CHECK(out.shape[0] == side && out.shape[1] == side);
        const unsigned char *p = in.data;
        if (c == 0) {
            CHECK(!memcmp(in.data, out.data, (size_t)(3 * side * side)));
            /* patch (0, 1), row 2, column 3, channel 1 is pixel (2, 11), channel 1 */
            CHECK(v[dim + (2 * 8 + 3) * 3 + 1] == (float)(p[3 * (2 * 16 + 11) + 1] / 127.5 - 1));
        } else if (c == 1) {
            double mean[3] = {0};
            for (int64_t i = 0; i < rows * columns * dim; i++) mean[i % 3] += (double)v[i];
            for (int k = 0; k < 3; k++) CHECK(fabs(mean[k] / 256) < 1e-5);
        } else {
            CHECK(v[0] == (float)((299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000 / 127.5 - 1));
        }
        og_release(v);
        og_media_free(&in);
        og_media_free(&out);
        type->destroy(impl);
    }
    /* golden gray: OpenCV's own two paths give 149 and 150 for (0, 255, 0); ours is 150 */
    og_modality_impl *impl = make(type, "size: 1\npatch: 1\ncolour: gray");
    unsigned char green[3] = {0, 255, 0};
    og_media in = {.modality = OG_IMAGE, .dtype = OG_U8, .rank = 3, .shape = {1, 1, 3}, .data = green};
    float *v = NULL;
    int32_t rows, columns;
    CHECK_OK(type->vectors(impl, &in, &v, &rows, &columns, &err));
    CHECK(v[0] == (float)(150 / 127.5 - 1));
    og_release(v);
    in.shape[0] = 0;
    CHECK_FAILS(type->vectors(impl, &in, &v, &rows, &columns, &err), OG_EINVAL, "1 x 0 pixels");
    type->destroy(impl);
}

static void test_keys(void) {
    static const struct {
        const char *yaml, *word;
    } bad[] = {{"size: 10\npatch: 4", "multiple"},
               {"background: [1, 2]", "2 values"},
               {"background: [1, 2, 300]", "300"},
               {"fit: stretch", "stretch"},
               {"pach: 4", "patch"},
               {"size: 0", "size"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        og_config *config = yaml(bad[i].yaml);
        og_modality_impl *impl = NULL;
        err.message[0] = 0;
        CHECK(type->create(config, &impl, &err) == OG_EINVAL);
        if (!strstr(err.message, bad[i].word)) og_test_fail(__FILE__, __LINE__, err.message);
        og_config_free(config);
    }
}

int main(void) {
    type = og_modality_find("image");
    CHECK(type && type->modality == OG_IMAGE);
    test_resample();
    test_fit();
    test_vectors();
    test_keys();
    test_cmyk();
    test_headers();
    test_other_formats();
    test_truncated();
    test_turns();
#ifdef OG_HAVE_OPENCV
    test_pixels();
    test_orientation();
#else
    png(&file, 1, 1, 8, 2, "\1\2\3");
    og_modality_impl *impl = make(type, "");
    og_media media = {0};
    CHECK_FAILS(type->decode(impl, "x.png", file.data, file.n, &media, &err), OG_ENOTSUP, "built without OpenCV");
    type->destroy(impl);
#endif
    CHECK(og_alloc_count() == 0);
    return 0;
}
