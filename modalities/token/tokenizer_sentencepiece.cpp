// tokenizer_sentencepiece.cpp: SentencePiece BPE with byte fallback: any UTF-8 text comes back unchanged.
#include <omnigram/internal/shim.hpp>
#include <omnigram/modalities.h>

#include "utf8.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

// SentencePiece writes a space as U+2581 inside its pieces, so that character itself never goes through it: it is spelt
// in byte pieces, as are the zero byte and the tab, which the trainer uses as marks of its own.
constexpr std::string_view kSpace = "\xE2\x96\x81";

bool is_reserved(std::string_view rest, size_t *length) {
    if (rest.substr(0, 3) == kSpace) return *length = 3, true;
    if (rest[0] == '\0' || rest[0] == '\t') return *length = 1, true;
    return false;
}

class Texts : public sentencepiece::SentenceIterator {
  public:
    explicit Texts(const std::vector<std::string> &texts) : texts_(texts) {}
    bool done() const override { return at_ >= texts_.size(); }
    void Next() override { at_++; }
    const std::string &value() const override { return texts_[at_]; }
    sentencepiece::util::Status status() const override { return sentencepiece::util::Status(); }

  private:
    const std::vector<std::string> &texts_;
    size_t at_ = 0;
};

// The share of characters to keep as pieces of their own, so that they fill at most half of what the 256 bytes leave;
// the rest is spelt in bytes. The trainer refuses a vocabulary that its required characters do not fit into.
double coverage(const std::vector<std::string> &texts, int64_t vocab) {
    std::map<std::string, int64_t> counts;
    int64_t total = 0;
    for (const std::string &text : texts)
        for (size_t i = 0; i < text.size();) {
            const auto n = static_cast<size_t>(og_utf8_length(static_cast<unsigned char>(text[i])));
            counts[text.substr(i, n)]++;
            total++;
            i += n;
        }
    std::vector<int64_t> sorted;
    for (const auto &[character, count] : counts) sorted.push_back(count);
    std::sort(sorted.rbegin(), sorted.rend());
    const size_t room = static_cast<size_t>(std::max<int64_t>((vocab - 257) / 2, 1));
    if (sorted.size() <= room) return 1.0;
    int64_t kept = 0;
    for (size_t i = 0; i + 1 < room; i++) kept += sorted[i];
    return std::max(static_cast<double>(kept) / static_cast<double>(total), 0.98); // the least that the trainer takes
}

og_status status_of(const sentencepiece::util::Status &status, const char *what, og_error *err) {
    if (status.ok()) return OG_OK;
    return og_fence_fail(err, OG_EFORMAT, what, status.error_message());
}

} // namespace

struct og_tokenizer {
    sentencepiece::SentencePieceProcessor processor;
    std::vector<std::string> pieces; // text of each id; of a byte piece its byte
    int32_t bytes[256];              // id of each byte piece
    int32_t unknown;
    char fingerprint[OG_DIGEST_TEXT];
};

extern "C" og_status og_tokenizer_train(const char *const *texts, const int64_t *bytes, int64_t n, int64_t vocab,
                                        const char *path, og_error *err) {
    if (vocab < 300 || vocab > 1000000)
        return og_fail(err, OG_EINVAL,
                       "tokenizer: vocab %lld, must be in 300..1000000 (256 bytes and the unknown come first)",
                       (long long)vocab);
    if (n < 1) return og_fail(err, OG_EINVAL, "tokenizer: no text to learn from");
    return og_fence(err, "SentencePiece", [&]() -> og_status {
        std::vector<std::string> parts; // texts without the reserved characters
        for (int64_t i = 0; i < n; i++) {
            char place[64];
            std::snprintf(place, sizeof place, "tokenizer text %lld", (long long)i);
            OG_TRY(og_utf8_check(place, texts[i], bytes[i], err));
            std::string_view rest(texts[i], static_cast<size_t>(bytes[i]));
            std::string part;
            while (!rest.empty()) {
                size_t length = 1;
                if (is_reserved(rest, &length)) {
                    if (!part.empty()) parts.push_back(std::move(part));
                    part.clear();
                } else {
                    part += rest[0];
                }
                rest.remove_prefix(length);
            }
            if (!part.empty()) parts.push_back(std::move(part));
        }
        if (parts.empty())
            return og_fail(err, OG_EINVAL, "tokenizer: %lld texts without a character to learn from", (long long)n);
        char share[64];
        std::snprintf(share, sizeof share, "%.17g", coverage(parts, vocab));
        const std::unordered_map<std::string, std::string> options = {
            {"model_type", "bpe"},
            {"vocab_size", std::to_string(vocab)},
            {"hard_vocab_limit", "false"}, // a small corpus may have fewer merges
            {"character_coverage", share},
            {"byte_fallback", "true"},
            {"normalization_rule_name", "identity"},
            {"remove_extra_whitespaces", "false"},
            {"add_dummy_prefix", "false"},
            {"bos_id", "-1"},
            {"eos_id", "-1"},
            {"pad_id", "-1"},
            {"max_sentence_length", "1000000000"},
            {"num_threads", "1"},
            {"minloglevel", "3"},
        };
        Texts source(parts);
        std::string model;
        OG_TRY(status_of(sentencepiece::SentencePieceTrainer::Train(options, &source, &model),
                         "SentencePiece cannot learn", err));
        return og_file_write(path, model.data(), static_cast<int64_t>(model.size()), err);
    });
}

extern "C" og_status og_tokenizer_open(const char *path, og_tokenizer **out, og_error *err) {
    return og_fence(err, path, [&]() -> og_status {
        char *data = nullptr;
        int64_t n = 0;
        OG_TRY(og_file_read(path, 1 << 28, &data, &n, err));
        const std::unique_ptr<char, void (*)(void *)> owner(data, og_release);
        auto made = std::make_unique<og_tokenizer>();
        OG_TRY(og_digest_of(data, n, made->fingerprint, err));
        if (!made->processor.LoadFromSerializedProto(std::string_view(data, static_cast<size_t>(n))).ok())
            return og_fail(err, OG_EFORMAT, "%s: is no tokenizer: not a SentencePiece model, or damaged", path);
        std::fill(std::begin(made->bytes), std::end(made->bytes), -1);
        const int size = made->processor.GetPieceSize();
        made->unknown = made->processor.unk_id();
        for (int id = 0; id < size; id++) {
            std::string piece = made->processor.IdToPiece(id);
            unsigned value = 0;
            if (made->processor.IsByte(id) && std::sscanf(piece.c_str(), "<0x%2X>", &value) == 1) {
                made->bytes[value & 0xFF] = id;
                piece.assign(1, static_cast<char>(value));
            } else if (made->processor.IsUnknown(id) || made->processor.IsControl(id)) {
                piece.clear();
            } else {
                for (size_t at = 0; (at = piece.find(kSpace, at)) != std::string::npos; at++)
                    piece.replace(at, kSpace.size(), " ");
            }
            made->pieces.push_back(std::move(piece));
        }
        for (int i = 0; i < 256; i++)
            if (made->bytes[i] < 0)
                return og_fail(err, OG_EFORMAT, "%s: a model without byte fallback (no piece for byte 0x%02x)", path,
                               i);
        *out = made.release();
        return OG_OK;
    });
}

extern "C" void og_tokenizer_free(og_tokenizer *tokenizer) { delete tokenizer; }
extern "C" int64_t og_tokenizer_vocab(const og_tokenizer *tokenizer) {
    return static_cast<int64_t>(tokenizer->pieces.size());
}
extern "C" const char *og_tokenizer_fingerprint(const og_tokenizer *tokenizer) { return tokenizer->fingerprint; }

extern "C" og_status og_tokenizer_encode(const og_tokenizer *tokenizer, const char *text, int64_t bytes, int32_t **ids,
                                         int64_t *n, og_error *err) {
    OG_TRY(og_utf8_check("text to encode", text, bytes, err));
    return og_fence(err, "SentencePiece", [&]() -> og_status {
        std::vector<int32_t> all;
        std::vector<int> some;
        std::string_view rest(text, static_cast<size_t>(bytes));
        while (!rest.empty()) {
            size_t plain = 0, length = 0;
            while (plain < rest.size() && !is_reserved(rest.substr(plain), &length)) plain++;
            if (plain) {
                OG_TRY(status_of(tokenizer->processor.Encode(rest.substr(0, plain), &some),
                                 "SentencePiece cannot encode", err));
                all.insert(all.end(), some.begin(), some.end());
            }
            rest.remove_prefix(plain);
            if (rest.empty()) break;
            for (size_t i = 0; i < length; i++) all.push_back(tokenizer->bytes[static_cast<unsigned char>(rest[i])]);
            rest.remove_prefix(length);
        }
        for (const int32_t id : all)
            if (id == tokenizer->unknown)
                return og_fence_fail(err, OG_EINTERNAL, "SentencePiece",
                                     "gave the unknown id in spite of byte fallback");
        auto *copy = static_cast<int32_t *>(og_alloc(static_cast<int64_t>(all.size()), sizeof(int32_t)));
        if (!copy) return og_fence_fail(err, OG_ENOMEM, "SentencePiece", "no memory for the ids");
        if (!all.empty()) std::memcpy(copy, all.data(), all.size() * sizeof(int32_t));
        *ids = copy;
        *n = static_cast<int64_t>(all.size());
        return OG_OK;
    });
}

extern "C" og_status og_tokenizer_decode(const og_tokenizer *tokenizer, const int32_t *ids, int64_t n, char **text,
                                         og_error *err) {
    return og_fence(err, "SentencePiece", [&]() -> og_status {
        std::string all;
        const int64_t size = og_tokenizer_vocab(tokenizer);
        for (int64_t i = 0; i < n; i++) {
            if (ids[i] < 0 || ids[i] >= size)
                return og_fail(err, OG_EINVAL, "text id %d at %lld, must be in 0..%lld", ids[i], (long long)i,
                               (long long)size - 1);
            all += tokenizer->pieces[static_cast<size_t>(ids[i])];
        }
        auto *copy = static_cast<char *>(og_alloc(static_cast<int64_t>(all.size()) + 1, 1));
        if (!copy) return og_fence_fail(err, OG_ENOMEM, "SentencePiece", "no memory for the text");
        std::memcpy(copy, all.c_str(), all.size() + 1);
        *text = copy;
        return OG_OK;
    });
}
