/* train_library.h: libomnigram_train is opened on first use, so that verbs without torch start in milliseconds. */
#ifndef OMNIGRAM_TRAIN_LIBRARY_H
#define OMNIGRAM_TRAIN_LIBRARY_H

#include <omnigram/status.h>

/* *function is the exported function `name`; an error says what is missing and how to get it. */
og_status og_train_symbol(const char *name, void (**function)(void), og_error *err) OG_MUST_USE;

#endif
