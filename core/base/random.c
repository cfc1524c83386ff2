/* random.c: counter-based random numbers. */
#include <omnigram/random.h>

#include <string.h>

uint64_t og_splitmix64(uint64_t value) {
    uint64_t z = value + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t og_random_bits(uint64_t key, uint64_t counter) {
    return og_splitmix64(og_splitmix64(key) + counter * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t og_random_below(uint64_t key, uint64_t counter, uint64_t n) {
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)og_random_bits(key, counter) * n >> 64);
}

double og_random_unit(uint64_t key, uint64_t counter) { return (double)(og_random_bits(key, counter) >> 11) * 0x1p-53; }

/* log of x in (0, 1) by additions, products and quotients only, so that it has the same bits everywhere;
 * within 2 ulp. */
static double portable_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0xFFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000);
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    double s = (m - 1) / (m + 1), s2 = s * s, sum = 0; /* log m = 2 atanh s, |s| < 0.172 */
    for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * s2;
    return (double)exponent * 0.6931471805599453 + 2 * (s + s * sum);
}

static double square_root(double x) { return __builtin_sqrt(x); } /* IEEE 754: rounded correctly */

static double ratio(const double top[8], const double bottom[8], double x) {
    double a = top[7], b = bottom[7];
    for (int i = 6; i >= 0; i--) {
        a = a * x + top[i];
        b = b * x + bottom[i];
    }
    return a / b;
}

/* Inverse of the normal distribution function: Wichura 1988, algorithm AS 241 (PPND16). p in (0, 1). */
static double normal_quantile(double p) {
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
    double r = square_root(-portable_log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
    return q < 0 ? -x : x;
}

double og_random_normal(uint64_t key, uint64_t counter) {
    /* The middles of 2^52 equal parts of (0, 1): 1 - p is exact, so the two tails mirror each other. */
    return normal_quantile(((double)(og_random_bits(key, counter) >> 12) + 0.5) * 0x1p-52);
}
