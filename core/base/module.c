/* module.c: opening the shared objects that lie beside the library. */
#include <omnigram/internal/module.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

og_status og_module_symbol(const char *leaf, const char *symbol, void **out, og_error *err) {
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)&og_module_symbol, &info) || !info.dli_fname)
        return og_fail(err, OG_ENOTSUP, "cannot open %s: dladdr does not know where omnigram lies", leaf);
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) : 1;
    const char *base = slash ? info.dli_fname : ".";
    static const char *const tails[] = {"", "/lib", "/../lib"};
    char path[PATH_MAX], why[320] = "no such file";
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        int length = snprintf(path, sizeof path, "%.*s%s/%s", folder, base, tails[i], leaf);
        if (length < 0 || (size_t)length >= sizeof path) continue;
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* a second open of one file gives the first */
        void *found = handle ? dlsym(handle, symbol) : NULL;
        if (found) {
            *out = found;
            return OG_OK;
        }
        const char *reason = dlerror();
        if (i == 0 || (reason && !strstr(reason, "No such file")))
            snprintf(why, sizeof why, "%s", reason ? reason : path);
    }
    return og_fail(err, OG_ENOTSUP, "cannot open %s: %s", leaf, why);
}
