// probe.hpp: what the isolation audit looks at, and packs that it may change.
#ifndef OMNIGRAM_EVAL_PROBE_HPP
#define OMNIGRAM_EVAL_PROBE_HPP

#include <omnigram/internal/trainer.hpp>

namespace og {

// A pack in memory of its own.
struct pack_copy {
    explicit pack_copy(const og_pack &from);
    pack_copy(const pack_copy &) = delete;
    og_pack view;
    std::vector<int32_t> tokens, doc_id, pos, pos3, segment_id, row, column, level;
    std::vector<int64_t> cu;
    std::vector<float> weight;
    std::vector<int8_t> modality;
    std::vector<og_segment> segments;
    std::vector<og_origin> origin;
    std::vector<uint8_t> continues;
    // Other codes for the last token of a document and for its last code of each modality.
    void poke(int64_t doc, const og_id_map &ids);
    // Takes a document out; those behind it move forward.
    void remove(int64_t doc);

  private:
    void point();
};

// Everything a document shows, in the order of its tokens.
struct sight {
    std::vector<int64_t> rows;        // [tokens][columns]
    std::vector<at::Tensor> layers;   // each [tokens][width]
    std::vector<double> nll;          // of its targets
    at::Tensor input_grad, rows_grad; // [tokens][...], undefined without tables
};
enum { PRODUCT_ROWS = 64 }; // matrix products of a look have a multiple of it
// Of all documents of these packs, computed as one batch. Threads may look through one trainer with frozen weights.
std::vector<sight> look(og_trainer *t, const std::vector<og_pack> &packs, const guards &up);

struct leak_count {
    int64_t rows = 0, activations = 0, loss = 0, gradients = 0;
    int64_t total() const { return rows + activations + loss + gradients; }
    void add(const leak_count &o) {
        rows += o.rows;
        activations += o.activations;
        loss += o.loss;
        gradients += o.gradients;
    }
};
// Which of the four kinds differ by a bit; each counts once a document.
leak_count differences(const sight &a, const sight &b);

} // namespace og
#endif
