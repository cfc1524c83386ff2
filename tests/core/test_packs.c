/* Packs by hand: positions, boundaries, weights, policies, and the reported faults of other
 * systems. */
#include "core/pack_maker.h"

#include <omnigram/memory.h>

static og_error err;

static og_packs *build(const char *text, int32_t row_end, og_pack_policy policy) {
    og_documents *documents = make_documents(text, row_end);
    og_packs *packs;
    if (!policy.seed) policy.seed = -1;
    CHECK_OK(og_packs_build(documents, &policy, &packs, &err));
    og_documents_free(documents); /* packs must not need them */
    CHECK(balanced(packs, "documents") >= 0 && balanced(packs, "tokens") >= 0 && balanced(packs, "images") >= 0);
    return packs;
}
static og_pack get(const og_packs *packs, int64_t i) {
    og_pack pack;
    CHECK_OK(og_packs_get(packs, i, &pack, &err));
    CHECK_OK(og_pack_check(&pack, og_packs_ids(packs), &err));
    return pack;
}
#define SAME(got, ...)                                                                                                 \
    do {                                                                                                               \
        const int64_t wanted_[] = {__VA_ARGS__};                                                                       \
        for (size_t i_ = 0; i_ < sizeof wanted_ / sizeof *wanted_; i_++) CHECK((got)[i_] == wanted_[i_]);              \
    } while (0)

/* Texts of 3, 0 and 2 codes in every order, all written out. A document of n codes has n + 2
 * tokens. */
static void test_lengths_by_hand(void) {
    og_packs *p = build("t3 | t0 | t2", 0, (og_pack_policy){.capacity = 12, .method = OG_PACK_CONCAT});
    og_pack a = get(p, 0);
    CHECK(og_packs_count(p) == 1 && a.n_docs == 2 && a.n_valid == 9 && a.n_tokens == 12);
    SAME(a.cu_seqlens, 0, 5, 9);
    SAME(a.doc_id, 0, 0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1);
    SAME(a.pos, 0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0, 0);
    SAME(a.loss_weight, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0);
    SAME(a.segment_id, -1, 0, 0, 0, -1, -1, 1, 1, -1, -1, -1, -1);
    int64_t m = og_packs_ids(p)->base[OG_MARKER];
    SAME(a.tokens, m + OG_MARK_DOC_BEGIN, 1, 2, 3, m + OG_MARK_DOC_END, m + OG_MARK_DOC_BEGIN, 4, 5,
         m + OG_MARK_DOC_END, m, m, m);
    SAME(a.modality, OG_MARKER, 0, 0, 0, OG_MARKER, OG_MARKER, 0, 0, OG_MARKER, OG_MARKER);
    CHECK(a.origin[0].shard == 7 && a.origin[0].index == 0 && a.origin[1].index == 2 && a.origin[1].length == 4);
    CHECK(a.segments[1].start == 6 && a.segments[1].doc == 1 && a.segments[1].length == 2);
    og_packs_free(p);
    p = build("t0 | t3 | t2", 0, (og_pack_policy){.capacity = 9, .method = OG_PACK_BEST_FIT});
    a = get(p, 0);
    CHECK(og_packs_count(p) == 1 && a.n_docs == 2 && a.n_valid == 9);
    SAME(a.cu_seqlens, 0, 5, 9);
    og_packs_free(p);
    p = build("t3 | t2 | t0", 0, (og_pack_policy){.capacity = 5, .method = OG_PACK_BEST_FIT});
    CHECK(og_packs_count(p) == 2 && get(p, 0).n_valid == 5 && get(p, 1).n_valid == 4);
    og_packs_free(p);
    p = build("t1 | t1 | t1", 0, (og_pack_policy){.capacity = 6, .method = OG_PACK_FIRST_FIT});
    CHECK(og_packs_count(p) == 2 && get(p, 0).n_docs == 2 && get(p, 1).n_docs == 1);
    og_packs_free(p);
}

/* Grids by hand: 2 x 3 with row ends, then text, then 1 x 2. */
static void test_image_layout_by_hand(void) {
    og_packs *p = build("i2x3 t2 i1x2", 1, (og_pack_policy){.capacity = 20});
    og_pack a = get(p, 0);
    int64_t m = og_packs_ids(p)->base[OG_MARKER], v = og_packs_ids(p)->base[OG_IMAGE];
    SAME(a.tokens, m + OG_MARK_DOC_BEGIN, m + OG_MARK_IMAGE_BEGIN, v + 1, v + 2, v + 3, m + OG_MARK_ROW_END, v + 4,
         v + 5, v + 6, m + OG_MARK_ROW_END, m + OG_MARK_IMAGE_END, 7, 8, m + OG_MARK_IMAGE_BEGIN, v + 9, v + 10,
         m + OG_MARK_ROW_END, m + OG_MARK_IMAGE_END, m + OG_MARK_DOC_END, m + OG_MARK_PAD);
    SAME(a.row, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1, -1, 0, 0, 0, -1, -1, -1);
    SAME(a.column, -1, -1, 0, 1, 2, -1, 0, 1, 2, -1, -1, -1, -1, -1, 0, 1, -1, -1, -1, -1);
    SAME(a.level, -1, -1, 0, 0, 0, -1, 0, 0, 0, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, -1);
    SAME(a.segment_id, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, 1, -1, 2, 2, 2, -1, -1, -1);
    /* (time, row, column): the image's codes share time 2; it takes 4 = 3 columns and a row end */
    SAME(a.pos3, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 2, 2, 4, 2, 2, 5, 2, 3, 2, 2, 3, 3, 2, 3, 4, 2, 3, 5, 6, 6, 6, 7,
         7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 10, 10, 11, 10, 10, 12, 13, 13, 13, 14, 14, 14, 0, 0, 0);
    CHECK(a.segments[0].length == 8 && a.segments[0].start == 2 && a.segments[2].start == 14 &&
          a.segments[2].length == 3);
    og_packs_free(p);
}

static void test_audio_levels(void) {
    og_packs *p = build("a2x3", 0, (og_pack_policy){.capacity = 10});
    og_pack a = get(p, 0);
    int64_t m = og_packs_ids(p)->base[OG_MARKER], v = og_packs_ids(p)->base[OG_AUDIO];
    SAME(a.tokens, m + OG_MARK_DOC_BEGIN, m + OG_MARK_AUDIO_BEGIN, v + 1, v + MAKER_AUDIO + 2, v + 2 * MAKER_AUDIO + 3,
         v + 4, v + MAKER_AUDIO + 5, v + 2 * MAKER_AUDIO + 6, m + OG_MARK_AUDIO_END, m + OG_MARK_DOC_END);
    SAME(a.column, -1, -1, 0, 0, 0, 1, 1, 1, -1, -1);
    SAME(a.level, -1, -1, 0, 1, 2, 0, 1, 2, -1, -1);
    SAME(a.pos3, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5);
    og_packs_free(p);
}

static void test_positions_restart(void) {
    og_packs *p = build("t3 | t2", 0, (og_pack_policy){.capacity = 16, .method = OG_PACK_CONCAT});
    og_pack a = get(p, 0);
    for (int64_t d = 0; d < a.n_docs; d++) CHECK(a.pos[a.cu_seqlens[d]] == 0);
    og_packs_free(p);
}

/* Boundaries win over positions: a carried fragment starts at its place in the document. */
static void test_continued_positions(void) {
    og_packs *p = build("t6 | t1", 0,
                        (og_pack_policy){.capacity = 5,
                                         .method = OG_PACK_CONCAT,
                                         .long_doc = OG_LONG_FRAGMENT,
                                         .fragment_context = OG_FRAGMENT_CARRY});
    og_pack a = get(p, 0), b = get(p, 1);
    CHECK(og_packs_count(p) == 3 && a.n_docs == 1 && b.n_docs == 2);
    SAME(a.pos, 0, 1, 2, 3, 4);
    SAME(b.pos, 5, 6, 7, 0, 1);
    SAME(b.continues, 1, 0);
    SAME(b.cu_seqlens, 0, 3, 5);
    SAME(b.loss_weight, 0, 1, 1, 0, 1);
    CHECK(b.origin[0].offset == 5 && b.origin[0].length == 3);
    og_packs_free(p);
}

/* A carried fragment begins with the last tokens of the one before, at weight 0: its own first token is
 * a target too. */
static void test_fragments_with_context(void) {
    og_pack_policy policy = {.capacity = 5,
                             .method = OG_PACK_CONCAT,
                             .long_doc = OG_LONG_FRAGMENT,
                             .fragment_context = OG_FRAGMENT_CARRY,
                             .fragment_overlap = 2};
    og_packs *p = build("t6 | t1", 0, policy);
    og_pack a = get(p, 0), b = get(p, 1);
    CHECK(og_packs_count(p) == 3 && a.n_docs == 1 && b.n_docs == 1);
    SAME(b.pos, 3, 4, 5, 6, 7);
    SAME(b.loss_weight, 0, 0, 1, 1, 1);
    CHECK(!memcmp(b.tokens, a.tokens + 3, 2 * sizeof *b.tokens) && b.continues[0] == 1);
    CHECK(b.origin[0].offset == 3 && b.origin[0].length == 5 && counter(p, "packing.kept_tokens.context") == 2);
    CHECK(counter(p, "packing.kept_tokens.pad") == 2 && counter(p, "packing.tokens.kept") == 11);
    og_packs_free(p);
    policy.capacity = 8; /* whole frames only: one of three codes, though four tokens were asked for */
    policy.fragment_overlap = 4;
    p = build("a4x3", 0, policy);
    a = get(p, 0), b = get(p, 1);
    og_pack c = get(p, 2);
    CHECK(og_packs_count(p) == 3 && a.n_valid == 8 && b.n_valid == 6 && c.n_valid == 8);
    SAME(b.loss_weight, 0, 0, 0, 1, 1, 1);
    SAME(c.loss_weight, 0, 0, 0, 1, 1, 1, 1, 1);
    CHECK(!memcmp(b.tokens, a.tokens + 5, 3 * sizeof *b.tokens) &&
          !memcmp(c.tokens, b.tokens + 3, 3 * sizeof *b.tokens));
    CHECK(b.pos[0] == 5 && b.pos3[0] == 3 && c.pos[0] == 8 && c.pos3[0] == 4);
    og_packs_free(p);
    policy.capacity = 12; /* nothing of an image */
    policy.fragment_overlap = 6;
    p = build("t2 i2x2 t1 t8", 0, policy);
    a = get(p, 0), b = get(p, 1);
    CHECK(a.n_valid == 12 && a.tokens[8] == og_packs_ids(p)->base[OG_MARKER] + OG_MARK_IMAGE_END);
    SAME(b.loss_weight, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1);
    CHECK(b.pos[0] == 9 && !memcmp(b.tokens, a.tokens + 9, 3 * sizeof *b.tokens));
    og_packs_free(p);
}

static void test_pos3_as_alone(void) {
    og_packs *together = build("i2x2 t2 | i1x3 t1", 0, (og_pack_policy){.capacity = 64, .method = OG_PACK_CONCAT});
    og_packs *alone = build("i2x2 t2 | i1x3 t1", 0, (og_pack_policy){.capacity = 64, .method = OG_PACK_NONE});
    og_pack a = get(together, 0);
    for (int64_t d = 0; d < 2; d++) {
        og_pack b = get(alone, d);
        CHECK(b.n_docs == 1 && b.n_valid == a.cu_seqlens[d + 1] - a.cu_seqlens[d]);
        CHECK(!memcmp(a.pos3 + 3 * a.cu_seqlens[d], b.pos3, (size_t)b.n_valid * 3 * sizeof *b.pos3));
        CHECK(!memcmp(a.loss_weight + a.cu_seqlens[d], b.loss_weight, (size_t)b.n_valid * sizeof *b.loss_weight));
    }
    og_packs_free(together);
    og_packs_free(alone);
}

/* Boundaries are not begin markers: pieces without one, and documents that are only markers and one
 * code, keep their own ids. */
static void test_no_boundary_from_a_token(void) {
    og_packs *p = build("t7 | t1 | t1", 0,
                        (og_pack_policy){.capacity = 7, .method = OG_PACK_CONCAT, .long_doc = OG_LONG_FRAGMENT});
    og_pack a = get(p, 1); /* the last two tokens of document 0, then 1, then the begin marker and code of 2 */
    SAME(a.cu_seqlens, 0, 2, 5, 7);
    SAME(a.doc_id, 0, 0, 1, 1, 1, 2, 2);
    SAME(a.pos, 0, 1, 0, 1, 2, 0, 1);
    SAME(a.loss_weight, 0, 1, 0, 1, 1, 0, 1);
    CHECK(a.tokens[0] == 7 && get(p, 2).n_valid == 1);
    og_packs_free(p);
}

static void test_all_documents_empty(void) {
    og_packs *p = build("t0 | | t0 t0", 0, (og_pack_policy){.capacity = 8});
    CHECK(og_packs_count(p) == 0 && counter(p, "layout.documents.read") == 3 &&
          counter(p, "layout.documents.dropped.empty") == 3);
    og_packs_free(p);
}

static void test_tails_are_counted(void) {
    og_packs *p =
        build("t7 | t7 | t7", 0, (og_pack_policy){.capacity = 8, .long_doc = OG_LONG_FRAGMENT}); /* 9 tokens each */
    CHECK(counter(p, "packing.pieces") == 6 && counter(p, "packing.fragmented") == 3 &&
          counter(p, "packing.short_fragments") == 3);
    CHECK(og_packs_count(p) == 4 && counter(p, "packing.documents.kept") == 3);
    og_packs_free(p);
}

/* Capacity 4, documents of 9, 3 and 3 tokens: ends under every policy, with the action counted. */
static void test_too_long_for_any_pack(void) {
    og_documents *d = make_documents("t7 | t1 | t1", 0);
    og_packs *p;
    og_pack_policy policy = {.capacity = 4, .seed = -1};
    CHECK_FAILS(og_packs_build(d, &policy, &p, &err), OG_EINVAL, "document 7:0: 9 tokens, the pack holds 4");
    policy.long_doc = OG_LONG_DROP;
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    CHECK(og_packs_count(p) == 2 && counter(p, "packing.documents.dropped.long") == 1 &&
          counter(p, "packing.tokens.dropped.long") == 9);
    og_packs_free(p);
    policy.long_doc = OG_LONG_TRUNCATE;
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    CHECK(og_packs_count(p) == 3 && counter(p, "packing.documents.cut") == 1 && counter(p, "packing.tokens.cut") == 5);
    og_packs_free(p);
    policy.long_doc = OG_LONG_FRAGMENT;
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    CHECK(og_packs_count(p) == 4 && counter(p, "packing.tokens.kept") == 15);
    og_packs_free(p);
    og_documents_free(d);
}

static void test_capacity_13(void) {
    og_packs *p = build("t9 | t8 i1x1", 0, (og_pack_policy){.capacity = 13});
    for (int64_t i = 0; i < og_packs_count(p); i++) {
        og_pack a = get(p, i); /* every array is read to its end; the sanitizer watches */
        int64_t sum = 0;
        for (int64_t t = 0; t < 13; t++)
            sum += a.tokens[t] + a.doc_id[t] + a.pos[t] + a.pos3[3 * t + 2] + a.modality[t] + a.segment_id[t] +
                   a.row[t] + a.column[t] + a.level[t] + (a.loss_weight[t] > 0);
        CHECK(a.n_tokens == 13 && sum > 0 && a.cu_seqlens[a.n_docs] == a.n_valid);
    }
    og_packs_free(p);
}

/* What position t is trained to say: the token after it in its own document, or nothing. */
static void test_no_target_across_documents(void) {
    og_packs *p = build("t2 | t2", 0, (og_pack_policy){.capacity = 8, .method = OG_PACK_CONCAT});
    og_pack a = get(p, 0);
    int64_t m = og_packs_ids(p)->base[OG_MARKER], begin = m + OG_MARK_DOC_BEGIN, end = m + OG_MARK_DOC_END;
    int64_t targets[8];
    for (int64_t t = 0; t < 8; t++) targets[t] = t + 1 < 8 && a.loss_weight[t + 1] > 0 ? a.tokens[t + 1] : -1;
    SAME(targets, 1, 2, end, -1, 3, 4, end, -1);
    for (int64_t t = 0; t < 8; t++) CHECK(targets[t] != begin); /* found in first places only */
    og_packs_free(p);
}

static void test_denominator(void) {
    og_packs *p = build("t1 | t1", 0, (og_pack_policy){.capacity = 9}); /* two documents of 3 tokens */
    og_pack a = get(p, 0);
    float sum = 0;
    for (int64_t t = 0; t < a.n_tokens; t++) sum += a.loss_weight[t];
    CHECK(sum == 4);
    og_packs_free(p);
}

/* t2 and an image of 2 x 3 need 12 tokens; the image alone with its markers 8. */
static void test_image_is_moved_whole_or_left_out(void) {
    og_documents *d = make_documents("t2 i2x3", 0);
    og_packs *p;
    og_pack_policy policy = {.capacity = 8, .long_doc = OG_LONG_TRUNCATE, .seed = -1};
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    og_pack a = get(p, 0);
    CHECK(a.n_valid == 3 && a.n_segments == 1 && counter(p, "packing.images.dropped.truncated") == 1 &&
          counter(p, "packing.images.cut") == 0);
    og_packs_free(p);
    policy.long_doc = OG_LONG_FRAGMENT;
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    CHECK(og_packs_count(p) == 2 && counter(p, "packing.images.kept") == 1 && counter(p, "packing.tokens.kept") == 12);
    a = get(p, 0);
    CHECK(a.n_valid == 8 && a.segments[0].modality == OG_IMAGE && a.segments[0].start == 1 && a.n_docs == 1);
    og_packs_free(p);
    policy.capacity = 7; /* now no pack can hold it */
    CHECK_FAILS(og_packs_build(d, &policy, &p, &err), OG_EINVAL,
                "an image of 2 x 3 codes takes 8 tokens with its markers, the pack holds 7");
    policy.image = OG_IMAGE_DROP_DOC;
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    CHECK(og_packs_count(p) == 0 && counter(p, "packing.documents.dropped.image_document") == 1 &&
          counter(p, "packing.images.dropped.image_document") == 1);
    og_packs_free(p);
    policy.image = OG_IMAGE_DROP_IMAGE;
    policy.long_doc = OG_LONG_ERROR;
    CHECK_OK(og_packs_build(d, &policy, &p, &err));
    a = get(p, 0);
    CHECK(og_packs_count(p) == 1 && a.n_valid == 4 && counter(p, "packing.images.dropped.image") == 1 &&
          counter(p, "packing.tokens.dropped.image") == 8 && counter(p, "packing.documents.cut") == 1);
    og_packs_free(p);
    og_documents_free(d);
}

static void test_images_go_with_their_pack(void) {
    og_packs *p = build("t2 | i1x2 i2x1 | i1x3", 0, (og_pack_policy){.capacity = 12, .method = OG_PACK_NONE});
    int64_t images[3] = {0};
    for (int64_t i = 0; i < 3; i++) {
        og_pack a = get(p, i);
        for (int64_t s = 0; s < a.n_segments; s++)
            images[a.origin[a.segments[s].doc].index] += a.segments[s].modality == OG_IMAGE;
    }
    SAME(images, 0, 2, 1);
    og_packs_free(p);
}

static void test_one_document_and_pads(void) {
    og_packs *p = build("t3", 0, (og_pack_policy){.capacity = 8});
    og_pack a = get(p, 0);
    CHECK(a.n_docs == 1 && a.n_valid == 5 && counter(p, "packing.kept_tokens.pad") == 3);
    SAME(a.cu_seqlens, 0, 5);
    og_packs_free(p);
}

static void test_order_of_packs(void) {
    og_packs *a =
        build("t1 | t2 | t3 | t4 | t5 | t6", 0, (og_pack_policy){.capacity = 8, .method = OG_PACK_NONE, .seed = 5});
    og_packs *b =
        build("t1 | t2 | t3 | t4 | t5 | t6", 0, (og_pack_policy){.capacity = 8, .method = OG_PACK_NONE, .seed = 5});
    int64_t seen = 0, moved = 0;
    for (int64_t i = 0; i < 6; i++) {
        int64_t index = get(a, i).origin[0].index;
        CHECK(index == get(b, i).origin[0].index);
        seen |= INT64_C(1) << index;
        moved += index != i;
    }
    CHECK(seen == 63 && moved > 0);
    og_packs_free(a);
    og_packs_free(b);
}

static void test_builder_errors(void) {
    og_id_map ids;
    og_documents_builder *b;
    og_documents *d = NULL;
    int32_t book, again;
    CHECK_OK(og_id_map_make(10, 4, 1, 0, 1, &ids, &err));
    CHECK_OK(og_documents_builder_new(&ids, 0, &b, &err));
    const int32_t good[] = {1, 2}, bad[] = {1, 4}, negative[] = {-1};
    CHECK_FAILS(og_documents_item(b, OG_TEXT, good, 1, 2, 1, -1, &err), OG_EINVAL, "no document is open");
    CHECK_FAILS(og_documents_end(b, &err), OG_EINVAL, "none is open");
    CHECK_FAILS(og_documents_codebook(b, "not hexadecimal", &book, &err), OG_EINVAL, "not hexadecimal");
    CHECK_OK(og_documents_codebook(b, "c0ffee", &book, &err));
    CHECK_OK(og_documents_codebook(b, "c0ffee", &again, &err));
    CHECK(book == 0 && again == 0);
    CHECK_OK(og_documents_begin(b, 3, 9, &err));
    CHECK_FAILS(og_documents_begin(b, 3, 10, &err), OG_EINVAL, "3:10 begins while 3:9 is open");
    CHECK_FAILS(og_documents_item(b, OG_IMAGE, bad, 1, 2, 1, book, &err), OG_EINVAL,
                "document 3:9, item 0 (image): code 4 at position 1; it must be in [0, 4)");
    CHECK_FAILS(og_documents_item(b, OG_TEXT, negative, 1, 1, 1, -1, &err), OG_EINVAL, "code -1 at position 0");
    CHECK_FAILS(og_documents_item(b, OG_IMAGE, good, 1, 2, 1, 1, &err), OG_EINVAL, "codebook 1");
    CHECK_FAILS(og_documents_item(b, OG_IMAGE, good, 1, 1, 2, book, &err), OG_EINVAL, "2 levels");
    CHECK_FAILS(og_documents_item(b, OG_IMAGE, good, 0, 2, 1, book, &err), OG_EINVAL, "0 x 2 x 1");
    CHECK_FAILS(og_documents_item(b, OG_TEXT, good, 2, 1, 1, -1, &err), OG_EINVAL, "text and audio have 1 row");
    CHECK_FAILS(og_documents_item(b, OG_IMAGE, good, INT32_MAX, INT32_MAX, INT32_MAX, book, &err), OG_EINVAL,
                "2147483647");
    CHECK_OK(og_documents_item(b, OG_TEXT, good, 1, 2, 1, -1, &err));
    CHECK_OK(og_documents_end(b, &err));
    CHECK_OK(og_documents_finish(b, NULL, &d, &err));
    CHECK_OK(og_documents_check(d, &err));
    CHECK(d->n_docs == 1 && d->n_tokens == 4); /* a refused item left nothing behind */
    og_packs *p;
    og_pack_policy policy = {.capacity = 0, .seed = -1};
    CHECK_FAILS(og_packs_build(d, &policy, &p, &err), OG_EINVAL, "pack.capacity 0");
    policy = (og_pack_policy){.capacity = 8, .long_doc = 9, .seed = -1};
    CHECK_FAILS(og_packs_build(d, &policy, &p, &err), OG_EINVAL, "pack.long_doc 9");
    og_documents_free(d);
    CHECK_OK(og_documents_builder_new(&ids, 0, &b, &err));
    CHECK_OK(og_documents_begin(b, 3, 9, &err));
    CHECK_FAILS(og_documents_finish(b, NULL, &d, &err), OG_EINVAL, "still open"); /* frees the builder */
}

static void test_policy_keys(void) {
    og_config *config;
    og_pack_policy policy;
    const char *text =
        "{capacity: 512, method: first_fit, long_doc: fragment, fragment_context: carry, fragment_overlap: 9}";
    CHECK_OK(og_config_from_yaml(text, (int64_t)strlen(text), "pack.yaml", &config, &err));
    CHECK_OK(og_config_read(config, og_pack_policy_keys(), &policy, &err));
    CHECK(policy.capacity == 512 && policy.method == OG_PACK_FIRST_FIT && policy.long_doc == OG_LONG_FRAGMENT &&
          policy.image == OG_IMAGE_ATOMIC && policy.fragment_context == OG_FRAGMENT_CARRY &&
          policy.fragment_overlap == 9 && policy.seed == -1);
    og_config_free(config);
    og_documents *d = make_documents("t9", 0);
    og_packs *p;
    policy.capacity = 16;
    CHECK_FAILS(og_packs_build(d, &policy, &p, &err), OG_EINVAL, "pack.fragment_overlap 9; it must be 0 .. 8");
    og_documents_free(d);
    text = "{capacity: 512, long_dok: drop}";
    CHECK_OK(og_config_from_yaml(text, (int64_t)strlen(text), "pack.yaml", &config, &err));
    CHECK_FAILS(og_config_read(config, og_pack_policy_keys(), &policy, &err), OG_EINVAL, "long_doc");
    og_config_free(config);
}

/* A field that lies must be found: each of these breaks one invariant. */
static void test_check_names_broken_packs(void) {
    og_packs *p = build("t2 i2x2 | t3", 1, (og_pack_policy){.capacity = 20, .method = OG_PACK_CONCAT});
    og_pack good = get(p, 0);
    const og_id_map *ids = og_packs_ids(p);
    int32_t copy[60];
    float weights[20];
    og_segment segments[8];
    og_pack bad = good;
#define BROKEN(field, at, value, word)                                                                                 \
    do {                                                                                                               \
        memcpy(copy, good.field, sizeof copy < 20 * sizeof *good.field ? sizeof copy : 20 * sizeof *good.field);       \
        copy[at] = value;                                                                                              \
        bad = good;                                                                                                    \
        bad.field = (void *)copy;                                                                                      \
        CHECK_FAILS(og_pack_check(&bad, ids, &err), OG_EFORMAT, word);                                                 \
    } while (0)
    BROKEN(tokens, 5, 3, "token 5");
    BROKEN(tokens, 19, 3, "token 19");
    BROKEN(doc_id, 3, 1, "document id 1");
    BROKEN(pos, 14, 14, "position 14");
    BROKEN(row, 6, 1, "row is 1");
    BROKEN(column, 6, 0, "column is 0");
    BROKEN(level, 6, 1, "level is 1");
    BROKEN(segment_id, 2, -1, "segment is -1");
    memcpy(copy, good.pos3, sizeof copy);
    copy[18]++;
    bad = good;
    bad.pos3 = copy;
    CHECK_FAILS(og_pack_check(&bad, ids, &err), OG_EFORMAT, "token 6: position (");
    memcpy(weights, good.loss_weight, sizeof weights);
    weights[0] = 1;
    bad = good;
    bad.loss_weight = weights;
    CHECK_FAILS(og_pack_check(&bad, ids, &err), OG_EFORMAT, "token 0: loss weight 1");
    for (int64_t s = 0; s < good.n_segments; s++)
        for (int field = 0; field < 9; field++) {
            memcpy(segments, good.segments, (size_t)good.n_segments * sizeof *segments);
            int64_t *place[3] = {&segments[s].doc, &segments[s].start, &segments[s].length};
            int32_t *grid[6] = {&segments[s].modality, &segments[s].rows,    &segments[s].columns,
                                &segments[s].levels,   &segments[s].row_end, &segments[s].codebook};
            if (field < 3)
                *place[field] += 1;
            else
                *grid[field - 3] = *grid[field - 3] == -1 ? 0 : -1;
            bad = good;
            bad.segments = segments;
            CHECK_FAILS(og_pack_check(&bad, ids, &err), OG_EFORMAT, "");
        }
    CHECK_OK(og_pack_check(&good, ids, &err));
    og_packs_free(p);
}

int main(void) {
    test_lengths_by_hand();
    test_image_layout_by_hand();
    test_audio_levels();
    test_positions_restart();
    test_continued_positions();
    test_fragments_with_context();
    test_pos3_as_alone();
    test_no_boundary_from_a_token();
    test_all_documents_empty();
    test_tails_are_counted();
    test_too_long_for_any_pack();
    test_capacity_13();
    test_no_target_across_documents();
    test_denominator();
    test_image_is_moved_whole_or_left_out();
    test_images_go_with_their_pack();
    test_one_document_and_pads();
    test_order_of_packs();
    test_builder_errors();
    test_policy_keys();
    test_check_names_broken_packs();
    CHECK(og_alloc_count() == 0);
    return 0;
}
