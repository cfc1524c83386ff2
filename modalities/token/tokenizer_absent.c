/* tokenizer_absent.c: what the tokenizer's functions say in a build without SentencePiece. */
#include <omnigram/modalities.h>

#ifndef OG_HAVE_SENTENCEPIECE
static og_status absent(og_error *err) {
    return og_fail(err, OG_ENOTSUP, "built without SentencePiece; install libsentencepiece-dev and build again");
}
og_status og_tokenizer_train(const char *const *texts, const int64_t *bytes, int64_t n, int64_t vocab, const char *path,
                             og_error *err) {
    (void)texts, (void)bytes, (void)n, (void)vocab, (void)path;
    return absent(err);
}
og_status og_tokenizer_open(const char *path, og_tokenizer **out, og_error *err) {
    (void)path, (void)out;
    return absent(err);
}
void og_tokenizer_free(og_tokenizer *tokenizer) { (void)tokenizer; }
int64_t og_tokenizer_vocab(const og_tokenizer *tokenizer) {
    (void)tokenizer;
    return 0;
}
const char *og_tokenizer_fingerprint(const og_tokenizer *tokenizer) {
    (void)tokenizer;
    return "";
}
og_status og_tokenizer_encode(const og_tokenizer *tokenizer, const char *text, int64_t bytes, int32_t **ids, int64_t *n,
                              og_error *err) {
    (void)tokenizer, (void)text, (void)bytes, (void)ids, (void)n;
    return absent(err);
}
og_status og_tokenizer_decode(const og_tokenizer *tokenizer, const int32_t *ids, int64_t n, char **text,
                              og_error *err) {
    (void)tokenizer, (void)ids, (void)n, (void)text;
    return absent(err);
}
#endif
