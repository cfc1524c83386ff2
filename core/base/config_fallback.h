/* config_fallback.h: lists that key tables give as defaults; private to config_read.c. */
#ifndef OMNIGRAM_BASE_CONFIG_FALLBACK_H
#define OMNIGRAM_BASE_CONFIG_FALLBACK_H

#include <omnigram/config.h>

/* The integers of "[1, 2]" or "3". Equal texts share one array, which lives as long as the process: key tables are
 * constants, so there are few, and a struct filled from no map at all can still borrow its list. Safe for threads. */
og_status og_fallback_list(const char *text, og_i64_list *out, og_error *err) OG_MUST_USE;

#endif
