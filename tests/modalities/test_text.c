/* test_text.c: strict UTF-8, named by place and offset; the split rule. */
#include "fixtures.h"

#include "utf8.h"

static og_error err;

static void test_utf8(void) {
    static const struct {
        const char *text;
        int64_t n, fault;
    } cases[] = {
        {"", 0, -1},
        {"plain", 5, -1},
        {"a\0b", 3, -1},
        {"\xC2\x80\xDF\xBF", 4, -1},
        {"\xE0\xA0\x80\xEF\xBF\xBF", 6, -1},
        {"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, -1},
        {"\xED\x9F\xBF\xEE\x80\x80", 6, -1},
        {"ab\x80", 3, 2},   /* stray continuation */
        {"\xC0\x80", 2, 0}, /* overlong */
        {"\xC1\xBF", 2, 0},
        {"\xE0\x9F\xBF", 3, 0},
        {"\xF0\x8F\xBF\xBF", 4, 0},
        {"x\xED\xA0\x80", 4, 1},    /* surrogate */
        {"\xF4\x90\x80\x80", 4, 0}, /* above U+10FFFF */
        {"\xF5\x80\x80\x80", 4, 0},
        {"\xFF", 1, 0},
        {"abc\xE2\x82", 5, 3}, /* cut short */
        {"\xE2\x28\xA1", 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(og_utf8_fault(cases[i].text, cases[i].n) == cases[i].fault);
    CHECK_FAILS(og_utf8_check("page.txt", "ab\xFFz", 4, &err), OG_EFORMAT,
                "page.txt: not UTF-8: byte 0xff at offset 2 of 4");
}

static void test_modality(void) {
    const og_modality_type *type = og_modality_find("text");
    og_modality_impl *impl = make(type, "");
    og_media media = {0};
    CHECK_OK(type->decode(impl, "t", "h\xC3\xA9", 3, &media, &err));
    CHECK(media.modality == OG_TEXT && media.shape[0] == 3 && !memcmp(media.data, "h\xC3\xA9", 3));
    og_media_free(&media);
    CHECK_FAILS(type->decode(impl, "empty.txt", "", 0, &media, &err), OG_EFORMAT, "empty.txt: empty text (0 bytes)");
    CHECK_FAILS(type->decode(impl, "b.txt", "\xC0", 1, &media, &err), OG_EFORMAT, "b.txt: not UTF-8");
    type->destroy(impl);
    impl = make(type, "max_bytes: 2\nempty: keep");
    CHECK_OK(type->decode(impl, "t", "", 0, &media, &err));
    og_media_free(&media);
    CHECK_FAILS(type->decode(impl, "t", "abc", 3, &media, &err), OG_EFORMAT, "3 bytes is over the limit of 2");
    type->destroy(impl);
}

/* Sides worked out with another SHA-256 (Python's hashlib): first 8 bytes, big-endian, modulo 1000. */
static void test_split(void) {
    static const struct {
        const char *group;
        int32_t side;
    } cases[] = {{"cat", OG_VAL} /* 183 */,    {"dog", OG_TRAIN} /* 964 */, {"scene-0", OG_TRAIN} /* 695 */,
                 {"tux", OG_VAL} /* 161 */,    {"", OG_TRAIN} /* 624 */,    {"g1270", OG_TEST} /* 0 */,
                 {"g335", OG_TEST} /* 99 */,   {"g1502", OG_VAL} /* 100 */, {"g4156", OG_VAL} /* 199 */,
                 {"g286", OG_TRAIN} /* 200 */, {"g908", OG_TRAIN} /* 999 */};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t side = -1;
        CHECK_OK(og_split_of(NULL, cases[i].group, &side, &err));
        CHECK(side == cases[i].side);
    }
    int64_t count[3] = {0}, moved = 0;
    for (int i = 0; i < 20000; i++) {
        char group[32];
        int32_t side;
        snprintf(group, sizeof group, "group-%d", i);
        CHECK_OK(og_split_of(NULL, group, &side, &err));
        count[side]++;
    }
    CHECK(labs(count[OG_TEST] - 2000) < 200 && labs(count[OG_VAL] - 2000) < 200); /* five standard deviations */
    og_config *config = yaml("{val: 0.25, test: 0.001, seed: 7}");
    og_split_policy policy;
    CHECK_OK(og_split_read(config, &policy, &err));
    og_config_free(config);
    memset(count, 0, sizeof count);
    for (int i = 0; i < 20000; i++) {
        char group[32];
        int32_t side, other;
        snprintf(group, sizeof group, "group-%d", i);
        CHECK_OK(og_split_of(&policy, group, &side, &err));
        count[side]++;
        policy.seed = 8;
        CHECK_OK(og_split_of(&policy, group, &other, &err));
        policy.seed = 7;
        moved += side != other;
    }
    CHECK(labs(count[OG_VAL] - 5000) < 310 && count[OG_TEST] < 50 && labs(moved - 7500) < 600);
    int32_t tux, none; /* hashlib: 88 and 374 for "split-7:tux" and "split-7:" */
    CHECK_OK(og_split_of(&policy, "tux", &tux, &err));
    CHECK_OK(og_split_of(&policy, "", &none, &err));
    CHECK(tux == OG_VAL && none == OG_TRAIN);
    static const struct {
        const char *text, *word;
    } bad[] = {{"{val: 0.5, test: 0.5}", "leave nothing for train"},
               {"{val: 0.0005}", "thousandths"},
               {"{val: -0.1}", "val"},
               {"{vall: 0.1}", "vall"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        config = yaml(bad[i].text);
        CHECK(og_split_read(config, &policy, &err) == OG_EINVAL && strstr(err.message, bad[i].word));
        og_config_free(config);
    }
    CHECK(!strcmp(og_split_name(OG_TRAIN), "train") && !og_split_name(3));
}

int main(void) {
    test_utf8();
    test_modality();
    test_split();
    CHECK(og_alloc_count() == 0);
    return 0;
}
