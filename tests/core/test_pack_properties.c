/* Packs of random documents under every policy and capacity, against what the documents say (not
 * against the builder's own code). */
#include "core/pack_maker.h"

#include <omnigram/memory.h>

static og_error err;
static uint64_t state = 0x9E3779B97F4A7C15u;
static int64_t below(int64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

/* Items whose sizes sit on the edges: nothing, one, a row, a column, an image alone, two images
 * side by side. */
static void random_line(char *out, size_t room, int64_t docs) {
    size_t n = 0;
    for (int64_t d = 0; d < docs; d++) {
        if (d) n += (size_t)snprintf(out + n, room - n, "| ");
        for (int64_t items = below(5); items > 0; items--) {
            int64_t kind = below(8);
            if (kind < 4)
                n += (size_t)snprintf(out + n, room - n, "t%d ", (int)(below(4) ? below(6) : below(40)));
            else if (kind == 4)
                n += (size_t)snprintf(out + n, room - n, "i1x1 ");
            else if (kind < 7)
                n += (size_t)snprintf(out + n, room - n, "i%dx%d ", (int)(1 + below(4)), (int)(1 + below(5)));
            else
                n += (size_t)snprintf(out + n, room - n, "a%dx%d ", (int)(1 + below(6)), (int)(1 + below(3)));
        }
    }
}

/* Tokens that this piece must hold: the document from `offset` on, with images that no pack can
 * hold left out if the policy says so. */
static void check_piece(const og_documents *d, const og_pack *pack, int64_t i, int64_t doc, int64_t capacity,
                        int32_t drop_image, int32_t *seen, int32_t *learnt) {
    int64_t from = d->offsets[doc] + pack->origin[i].offset, begin = pack->cu_seqlens[i], end = pack->cu_seqlens[i + 1];
    for (int64_t t = begin; t < end; t++, from++) {
        for (int64_t s = d->segment_offsets[doc]; drop_image && s < d->segment_offsets[doc + 1]; s++) {
            const og_segment *image = &d->segments[s];
            if (image->modality == OG_IMAGE && image->length + 2 > capacity &&
                from == d->offsets[doc] + image->start - 1)
                from += image->length + 2;
        }
        CHECK(from < d->offsets[doc + 1]);
        seen[from]++;
        learnt[from] += pack->loss_weight[t] > 0;
        CHECK(pack->tokens[t] == d->tokens[from] && pack->modality[t] == d->modality[from] &&
              pack->row[t] == d->row[from] && pack->level[t] == d->level[from]);
        CHECK((pack->segment_id[t] < 0) == (d->segment[from] < 0));
        if (pack->segment_id[t] >= 0) {
            const og_segment *made = &pack->segments[pack->segment_id[t]], *source = &d->segments[d->segment[from]];
            CHECK(made->modality == source->modality && made->levels == source->levels &&
                  made->codebook == source->codebook);
            CHECK(made->doc == i && t >= made->start && t < made->start + made->length);
            if (made->modality == OG_IMAGE) {
                CHECK(made->rows == source->rows && made->columns == source->columns && made->length == source->length);
                CHECK(pack->column[t] == d->column[from]);
            }
        }
    }
}

static int64_t n_packs, n_refused, n_repeated;

static void check_build(const og_documents *d, const og_pack_policy *policy) {
    og_packs *packs;
    err.message[0] = 0;
    og_status status = og_packs_build(d, policy, &packs, &err);
    int64_t longest = 0, largest_image = 0, deepest = 0;
    for (int64_t i = 0; i < d->n_docs; i++)
        if (d->offsets[i + 1] - d->offsets[i] > longest) longest = d->offsets[i + 1] - d->offsets[i];
    for (int64_t s = 0; s < d->n_segments; s++) {
        if (d->segments[s].modality == OG_IMAGE && d->segments[s].length + 2 > largest_image)
            largest_image = d->segments[s].length + 2;
        if (d->segments[s].levels > deepest) deepest = d->segments[s].levels;
    }
    if (status != OG_OK) { /* only where the policy says error, and says what */
        CHECK(status == OG_EINVAL && longest > policy->capacity && strstr(err.message, "document 7:"));
        CHECK(policy->long_doc == OG_LONG_ERROR ||
              (policy->image == OG_IMAGE_ATOMIC && largest_image > policy->capacity) || deepest > policy->capacity);
        n_refused++;
        return;
    }
    int32_t *seen = calloc((size_t)d->n_tokens + 1, sizeof *seen), *learnt = calloc((size_t)d->n_tokens + 1, 4);
    CHECK(seen && learnt);
    int64_t tokens = 0, repeated = 0, images = 0, whole = 0, part = 0,
            *got = calloc((size_t)d->n_docs + 1, sizeof *got), *pieces = calloc((size_t)d->n_docs + 1, sizeof *pieces);
    for (int64_t p = 0; p < og_packs_count(packs); p++) {
        og_pack pack;
        CHECK_OK(og_packs_get(packs, p, &pack, &err));
        CHECK_OK(og_pack_check(&pack, og_packs_ids(packs), &err));
        CHECK(pack.n_valid <= policy->capacity && pack.n_tokens == policy->capacity && pack.n_docs >= 1);
        for (int64_t i = 0; i < pack.n_docs; i++) {
            int64_t doc = 0;
            while (d->origins[doc].index != pack.origin[i].index) doc++;
            check_piece(d, &pack, i, doc, policy->capacity, policy->image == OG_IMAGE_DROP_IMAGE, seen, learnt);
            pieces[doc]++;
            int32_t first = pack.pos[pack.cu_seqlens[i]];
            CHECK(policy->fragment_context == OG_FRAGMENT_CARRY && pack.origin[i].offset > 0
                      ? pack.continues[i] == (first > 0)
                      : first == 0);
        }
        for (int64_t s = 0; s < pack.n_segments; s++) images += pack.segments[s].modality == OG_IMAGE;
        n_packs++;
    }
    int64_t carried = policy->fragment_context == OG_FRAGMENT_CARRY ? policy->fragment_overlap : 0;
    for (int64_t i = 0; i < d->n_docs; i++) {
        int32_t has_image = 0;
        for (int64_t s = d->segment_offsets[i]; s < d->segment_offsets[i + 1]; s++)
            has_image |= d->segments[s].modality == OG_IMAGE || d->segments[s].levels > carried;
        for (int64_t t = d->offsets[i]; t < d->offsets[i + 1]; t++) {
            got[i] += seen[t] > 0;
            tokens += seen[t] > 0;
            repeated += seen[t] > 1 ? seen[t] - 1 : 0;
            CHECK(learnt[t] <= 1 && learnt[t] <= seen[t]);
            if (!carried) CHECK(seen[t] <= 1);
            if (carried && !has_image && seen[t] && policy->capacity > 4 * (carried + 2))
                CHECK(learnt[t] == (t > d->offsets[i])); /* with context, all but the first token is a target */
        }
        whole += got[i] == d->offsets[i + 1] - d->offsets[i];
        part += got[i] > 0 && got[i] < d->offsets[i + 1] - d->offsets[i];
        if (policy->long_doc != OG_LONG_FRAGMENT) CHECK(pieces[i] <= 1);
    }
    balanced(packs, "documents");
    balanced(packs, "images");
    CHECK(balanced(packs, "tokens") == d->n_tokens);
    CHECK(counter(packs, "packing.tokens.kept") == tokens && counter(packs, "packing.images.kept") == images &&
          counter(packs, "packing.images.cut") == 0);
    CHECK(counter(packs, "packing.kept_tokens.context") == repeated && (carried || !repeated));
    n_repeated += repeated;
    CHECK(counter(packs, "packing.documents.kept") == whole && counter(packs, "packing.documents.cut") == part);
    CHECK(counter(packs, "packing.bins") == og_packs_count(packs) &&
          counter(packs, "packing.lower_bound") <= og_packs_count(packs));
    CHECK(counter(packs, "packing.kept_tokens.text") + counter(packs, "packing.kept_tokens.image") +
              counter(packs, "packing.kept_tokens.audio") + counter(packs, "packing.kept_tokens.marker") ==
          tokens);
    if (policy->long_doc == OG_LONG_FRAGMENT && policy->image == OG_IMAGE_ATOMIC)
        CHECK(tokens == d->n_tokens); /* nothing is lost */
    free(seen);
    free(learnt);
    free(got);
    free(pieces);
    og_packs_free(packs);
}

/* 200 layouts, every capacity, every policy for long documents; the other policies take turns. */
static void test_every_capacity(void) {
    for (int layout = 0; layout < 200; layout++) {
        char line[4096] = "";
        random_line(line, sizeof line, 1 + below(7));
        og_documents *d = make_documents(line, layout & 1);
        for (int64_t capacity = 1; capacity <= 64; capacity++)
            for (int32_t long_doc = OG_LONG_ERROR; long_doc <= OG_LONG_FRAGMENT; long_doc++) {
                og_pack_policy policy = {.capacity = capacity,
                                         .long_doc = long_doc,
                                         .method = (int32_t)below(4),
                                         .image = (int32_t)below(3),
                                         .fragment_context = (int32_t)below(2),
                                         .fragment_overlap = below(2) ? below(capacity / 2 + 1) : 0,
                                         .seed = below(2) - 1};
                check_build(d, &policy);
            }
        og_documents_free(d);
    }
}

/* The layout of the isolation probes: images side by side, first, last, alone, 1 x 1; every
 * capacity and every combination of policies. */
static void test_probe_layouts(void) {
    static const char *const lines[] = {"t1 i2x3 t1 | i1x1 i1x3 | t1", "t1 i2x2 t1 i1x3 t1", "i1x1 | i3x1 i1x4 | i2x2"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        for (int32_t row_end = 0; row_end < 2; row_end++) {
            og_documents *d = make_documents(lines[k], row_end);
            og_pack_policy p = {.seed = -1};
            for (p.capacity = 1; p.capacity <= 20; p.capacity++)
                for (p.long_doc = 0; p.long_doc < 4; p.long_doc++)
                    for (p.image = 0; p.image < 3; p.image++)
                        for (p.method = 0; p.method < 4; p.method++)
                            for (p.fragment_context = 0; p.fragment_context < 2; p.fragment_context++)
                                check_build(d, &p);
            og_documents_free(d);
        }
}

/* Where documents may be cut, concatenation leaves no token free but in the last pack. */
static void test_concat_fills(void) {
    og_documents *d = make_documents("t9 | t1 | t30 | t2 | t17", 0);
    og_pack_policy policy = {.capacity = 8, .method = OG_PACK_CONCAT, .long_doc = OG_LONG_FRAGMENT, .seed = -1};
    og_packs *packs;
    CHECK_OK(og_packs_build(d, &policy, &packs, &err));
    CHECK(og_packs_count(packs) == (d->n_tokens + 7) / 8);
    og_packs_free(packs);
    og_documents_free(d);
}

int main(void) {
    test_probe_layouts();
    test_concat_fills();
    test_every_capacity();
    printf("%lld packs checked, %lld builds refused\n", (long long)n_packs, (long long)n_refused);
    CHECK(n_packs > 100000 && n_refused > 1000 && n_repeated > 10000);
    CHECK(og_alloc_count() == 0);
    return 0;
}
