/* Modules: heavy libraries in shared objects beside libomnigram.so, opened on first use. Not installed,
 * not exported. */
#ifndef OMNIGRAM_INTERNAL_MODULE_H
#define OMNIGRAM_INTERNAL_MODULE_H

#include <omnigram/status.h>

OG_BEGIN

/* *out = the symbol of the module `leaf` ("libomnigram_faiss.so"). The module lies beside the file that this code is in
 * (libomnigram.so), or in lib beside a test program's folder. ENOTSUP says why it cannot be opened. The module stays
 * open. Any thread may call. */
og_status og_module_symbol(const char *leaf, const char *symbol, void **out, og_error *err) OG_MUST_USE;

OG_END
#endif
