/* omnigram eval: held-out measures, the unigram control, and the isolation audit. */
#ifndef OMNIGRAM_EVAL_H
#define OMNIGRAM_EVAL_H

#include <omnigram/train.h>

OG_BEGIN

/* ---- bits on held-out packs ----------------------------------------------------------------------------------- */

typedef struct og_bits {             /* per modality; markers are counted apart */
    double bits[OG_N_MODALITIES];    /* summed, log2; a token of loss weight 0 is not a target */
    int64_t tokens[OG_N_MODALITIES]; /* targets */
} og_bits;

typedef struct og_eval og_eval;
/* Whether a model of the training packs can be measured on val: packs no longer, the same ids, codebooks and tokenizer.
 * The error names what differs. */
OG_API og_status og_eval_check(const og_packs *train, const og_packs *val, og_error *err) OG_MUST_USE;
/* Measures a trainer's model on val (borrowed), which og_eval_check must take. train (may be NULL)
 * gives the unigram control and the measure on training packs. */
OG_API og_status og_eval_new(og_trainer *trainer, const og_packs *train, const og_packs *val, og_eval **out,
                             og_error *err) OG_MUST_USE;
OG_API void og_eval_free(og_eval *eval);
OG_API og_trainer *og_eval_trainer(const og_eval *eval); /* what og_eval_new was given; borrowed */
OG_API const og_packs *og_eval_train_packs(const og_eval *eval);
OG_API const og_packs *og_eval_val_packs(const og_eval *eval);
/* The first n held-out packs (0: all). documents (may be NULL): a CSV file of one line a document and modality: shard,
 * index, offset, length (the document's origin), modality, tokens, bits. It appears whole or not at all. */
OG_API og_status og_eval_measure(og_eval *eval, int64_t n, const char *documents, og_bits *out,
                                 og_error *err) OG_MUST_USE;
/* n packs that were trained on (0: all), spread evenly over the run. */
OG_API og_status og_eval_trained(og_eval *eval, int64_t n, og_bits *out, og_error *err) OG_MUST_USE;
/* JSON object (og_release). final 0: val_bits of eval.packs packs. final 1: val_bits and val_tokens of
 * eval.final_packs, train_bits of eval.train_packs packs that were trained on, controls.unigram.val_bits; documents as
 * above. */
OG_API og_status og_eval_report(og_eval *eval, int32_t final, const char *documents, char **json,
                                og_error *err) OG_MUST_USE;
/* og_eval_report as an og_eval_fn (context: the og_eval), with eval_documents.csv in the run folder at the end. */
OG_API og_status og_eval_hook(void *context, og_trainer *trainer, int64_t step, int32_t final, char **json,
                              og_error *err);

/* Bits of val under p(token | its modality) = (count + 1) / (total + ids of the modality), counted over the targets of
 * train. */
OG_API og_status og_eval_unigram(const og_packs *train, const og_packs *val, og_bits *out, og_error *err) OG_MUST_USE;

/* ---- isolation ------------------------------------------------------------------------------------------------ */

typedef struct og_isolation_options {
    const og_config *config; /* as for a trainer; rows are set to normal so that a leak through tables shows */
    const og_packs *packs;
    int64_t n_packs; /* the first packs that hold several documents; 0: 4 */
    int64_t n_docs;  /* documents poked in each; 0: 8 */
} og_isolation_options;

/* Pokes documents and looks at all others, bit for bit: row ids, activations after the fusion and after every layer,
 * the loss of each target, and gradients at the inputs. Then takes down one guard at a time (attention, positions,
 * targets, window) and does the same again: there the probe must find leaks, or it proves nothing. JSON (og_release):
 * leaks, twin_leaks, channels.NAME.{leaks, twin_leaks}, and counts of what was looked at. */
OG_API og_status og_audit_isolation(const og_isolation_options *options, char **json, og_error *err) OG_MUST_USE;

OG_END
#endif
