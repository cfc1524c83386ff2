/* fp8_row.c: rows of e4m3 values with ue8m0 block scales. */
#include <omnigram/fp8_row.h>

#include <omnigram/dtype.h>

og_status og_fp8_row_decode(const uint8_t *e4m3, int64_t n, const uint8_t *ue8m0, int64_t n_scales, float *out,
                            og_error *err) {
    if (n < 0 || n_scales < 1 || n % n_scales)
        return og_fail(err, OG_EINVAL, "a row of %lld fp8 values with %lld scales; the scales must divide it",
                       (long long)n, (long long)n_scales);
    int64_t group = n / n_scales;
    for (int64_t i = 0; i < n; i++) out[i] = og_f32_from_e4m3(e4m3[i]) * og_f32_from_ue8m0(ue8m0[i / group]);
    return OG_OK;
}
