// probe.cpp: changing packs, and looking at documents bit for bit.
#include "probe.hpp"

#include <mutex>

namespace og {

template <class T> static std::vector<T> copy(const T *p, int64_t n) { return std::vector<T>(p, p + n); }

pack_copy::pack_copy(const og_pack &p) : view(p) {
    int64_t n = p.n_tokens;
    tokens = copy(p.tokens, n);
    doc_id = copy(p.doc_id, n);
    pos = copy(p.pos, n);
    pos3 = copy(p.pos3, 3 * n);
    weight = copy(p.loss_weight, n);
    modality = copy(p.modality, n);
    segment_id = copy(p.segment_id, n);
    row = copy(p.row, n);
    column = copy(p.column, n);
    level = copy(p.level, n);
    cu = copy(p.cu_seqlens, p.n_docs + 1);
    segments = copy(p.segments, p.n_segments);
    origin = copy(p.origin, p.n_docs);
    continues = copy(p.continues, p.n_docs);
    point();
}

void pack_copy::point() {
    view.tokens = tokens.data();
    view.doc_id = doc_id.data();
    view.pos = pos.data();
    view.pos3 = pos3.data();
    view.loss_weight = weight.data();
    view.modality = modality.data();
    view.segment_id = segment_id.data();
    view.row = row.data();
    view.column = column.data();
    view.level = level.data();
    view.cu_seqlens = cu.data();
    view.segments = segments.data();
    view.origin = origin.data();
    view.continues = continues.data();
}

void pack_copy::poke(int64_t doc, const og_id_map &ids) {
    bool done[OG_N_MODALITIES] = {false};
    for (int64_t t = cu[(size_t)doc + 1] - 1, last = t; t >= cu[(size_t)doc]; t--) {
        int m = modality[(size_t)t];
        if (done[m] || (m == OG_MARKER && t != last)) continue;
        done[m] = true;
        int32_t size = ids.codes[m]; // the next code of the same level
        int32_t local = tokens[(size_t)t] - ids.base[m], first = local / size * size;
        tokens[(size_t)t] = ids.base[m] + first + (local - first + 1) % size;
    }
}

template <class T> static void cut(std::vector<T> &v, int64_t begin, int64_t end, T pad, int64_t width = 1) {
    v.erase(v.begin() + begin * width, v.begin() + end * width);
    v.insert(v.end(), (size_t)((end - begin) * width), pad);
}

void pack_copy::remove(int64_t doc) {
    int64_t begin = cu[(size_t)doc], end = cu[(size_t)doc + 1], length = end - begin;
    int32_t pad = view.n_valid < view.n_tokens ? tokens.back() : tokens[0];
    cut(tokens, begin, end, pad);
    cut(doc_id, begin, end, (int32_t)-1);
    cut(pos, begin, end, (int32_t)0);
    cut(pos3, begin, end, (int32_t)0, 3);
    cut(weight, begin, end, 0.0f);
    cut(modality, begin, end, (int8_t)OG_MARKER);
    cut(segment_id, begin, end, (int32_t)-1);
    cut(row, begin, end, (int32_t)-1);
    cut(column, begin, end, (int32_t)-1);
    cut(level, begin, end, (int32_t)-1);
    int32_t before = 0, gone = 0;
    for (const og_segment &s : segments) {
        before += s.doc < doc;
        gone += s.doc == doc;
    }
    segments.erase(segments.begin() + before, segments.begin() + before + gone);
    for (og_segment &s : segments)
        if (s.doc > doc) {
            s.doc--;
            s.start -= length;
        }
    view.n_valid -= length;
    for (int64_t t = begin; t < view.n_valid; t++) {
        doc_id[(size_t)t]--;
        if (segment_id[(size_t)t] >= 0) segment_id[(size_t)t] -= gone;
    }
    cu.erase(cu.begin() + doc);
    for (size_t d = (size_t)doc; d < cu.size(); d++) cu[d] -= length;
    origin.erase(origin.begin() + doc);
    continues.erase(continues.begin() + doc);
    view.n_docs--;
    view.n_segments -= gone;
    point();
}

// Puts a document of padding at the end of a batch, and targets in it, so that the products of a scene have one shape
// before and after a document is taken out: the last rows of other sizes may round otherwise.
static void level(batch &b) {
    int64_t rows = (b.n_padded / PRODUCT_ROWS + 1) * PRODUCT_ROWS, pads = rows - b.n, at = b.n,
            targets = rows - b.targets.size(0);
    b.tokens = at::cat({b.tokens, at::zeros({pads}, at::kLong)});
    b.pos = at::cat({b.pos, at::zeros({pads}, at::kLong)});
    b.sources = at::cat({b.sources, at::full({targets}, at, at::kLong)});
    b.targets = at::cat({b.targets, at::zeros({targets}, at::kLong)});
    b.weights = at::cat({b.weights, at::zeros({targets}, at::kDouble)});
    b.lengths.push_back(pads);
    b.n = rows;
}

std::vector<sight> look(og_trainer *t, const std::vector<og_pack> &packs, const guards &up) {
    batch b = make_batch(packs.data(), (int64_t)packs.size(), up);
    int64_t n = b.n;
    level(b);
    std::vector<int64_t> rows;
    std::vector<at::Tensor> parts;
    for (const og_pack &pack : packs) {
        std::vector<int64_t> own;
        {
            static std::mutex reading; // a trainer has one buffer of row ids
            std::lock_guard<std::mutex> lock(reading);
            parts.push_back(pack_vectors(t, pack, &own));
        }
        rows.insert(rows.end(), own.begin(), own.end());
    }
    at::Tensor vectors, input, nll;
    if (parts[0].defined()) {
        parts.push_back(at::zeros({b.n - n, parts[0].size(1)}, parts[0].options()));
        vectors = at::cat(parts);
    }
    if (vectors.defined()) vectors.requires_grad_(true);
    std::vector<at::Tensor> layers;
    at::Tensor hidden = model_of(t).hidden(b, vectors, &layers, &input);
    model_of(t).loss(hidden, b, 1, &nll).backward();
    int64_t columns = columns_of(t), begin = 0;
    std::vector<sight> out;
    for (const og_pack &pack : packs)
        for (int64_t d = 0; d < pack.n_docs; d++) {
            sight s;
            int64_t length = pack.cu_seqlens[d + 1] - pack.cu_seqlens[d];
            s.rows.assign(rows.begin() + begin * columns, rows.begin() + (begin + length) * columns);
            for (auto &l : layers) s.layers.push_back(l.detach().narrow(0, begin, length).clone());
            s.input_grad = input.grad().narrow(0, begin, length).clone();
            if (vectors.defined()) s.rows_grad = vectors.grad().narrow(0, begin, length).clone();
            out.push_back(std::move(s));
            begin += length;
        }
    for (size_t i = 0; i < b.target_doc.size(); i++)
        out[(size_t)b.target_doc[i]].nll.push_back(nll.data_ptr<double>()[i]);
    return out;
}

static bool same_bits(const at::Tensor &a, const at::Tensor &b) {
    if (!a.defined() || !b.defined()) return a.defined() == b.defined();
    return a.sizes() == b.sizes() && !memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), (size_t)a.nbytes());
}

leak_count differences(const sight &a, const sight &b) {
    leak_count n;
    n.rows = a.rows != b.rows;
    for (size_t i = 0; i < a.layers.size() && !n.activations; i++) n.activations = !same_bits(a.layers[i], b.layers[i]);
    n.loss = a.nll.size() != b.nll.size() ||
             (!a.nll.empty() && memcmp(a.nll.data(), b.nll.data(), a.nll.size() * sizeof(double)));
    n.gradients = !same_bits(a.input_grad, b.input_grad) || !same_bits(a.rows_grad, b.rows_grad);
    return n;
}

} // namespace og
