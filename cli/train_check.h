/* train_check.h: `omnigram train --check`. */
#ifndef OMNIGRAM_CLI_TRAIN_CHECK_H
#define OMNIGRAM_CLI_TRAIN_CHECK_H

#include "options.h"

/* Checks --config and every further config named, each with the overrides, against packs and held-out packs where they
 * are given. Prints a line a config; 0 when all are fine. */
int og_train_check_verb(const char *config, const og_arguments *arguments, const char *packs, const char *val,
                        const char *json);

#endif
