/* train_library.c: opens libomnigram_train beside libomnigram. */
#include "train_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* torch brings its own BLAS, and the program already holds the OpenBLAS that FAISS uses: without this, torch's calls
 * would go to that one, whose threads know nothing of torch's. Sanitizers cannot have it. */
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OG_OWN_SYMBOLS RTLD_DEEPBIND
#else
#define OG_OWN_SYMBOLS 0
#endif

og_status og_train_symbol(const char *name, void (**function)(void), og_error *err) {
    static void *library; /* stays open until the program ends */
    if (!library) {
        Dl_info info;
        char path[PATH_MAX];
        if (!dladdr((void *)(uintptr_t)og_version, &info) || !info.dli_fname)
            return og_fail(err, OG_EINTERNAL, "cannot tell where libomnigram lies");
        const char *slash = strrchr(info.dli_fname, '/');
        int folder = slash ? (int)(slash - info.dli_fname) : 1;
        snprintf(path, sizeof path, "%.*s/libomnigram_train.so", folder, slash ? info.dli_fname : ".");
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL | OG_OWN_SYMBOLS);
        if (!library)
            return og_fail(
                err, OG_ENOTSUP,
                "built without torch: %s; install torch in the Python of the build (`make setup`) and build again",
                dlerror());
    }
    void *symbol = dlsym(library, name);
    if (!symbol) return og_fail(err, OG_EINTERNAL, "libomnigram_train has no %s: it is of another version", name);
    memcpy(function, &symbol, sizeof symbol);
    return OG_OK;
}
