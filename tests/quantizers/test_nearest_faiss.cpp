// test_nearest_faiss.cpp: the fixed-order search against FAISS's own, which differ only where distances all but tie;
// with --bench, its speed against the usual way by BLAS.
#include "nearest.h"
extern "C" {
#include "test.h"
#include <omnigram/internal/cpu.h>
#include <omnigram/memory.h>
#include <omnigram/random.h>
}
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#ifdef OG_HAVE_FAISS
#include <faiss/IndexFlat.h>

extern "C" {
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
            const int *, const float *, const int *, const float *, float *, const int *);
void openblas_set_num_threads(int);
}

static og_error err;

static std::vector<float> normals(int64_t n, uint64_t key) {
    std::vector<float> out((size_t)n);
    for (int64_t i = 0; i < n; i++) out[i] = (float)og_random_normal(key, (uint64_t)i);
    return out;
}

static double cpu_seconds() {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// |c|^2 - 2vc by sgemm, then an argmin over the products.
static void by_blas(const std::vector<float> &vectors, int n, int dim, const std::vector<float> &codes, int size,
                    std::vector<float> &products, std::vector<int32_t> &code) {
    const int most = 4096;
    const float minus_two = -2, zero = 0;
    std::vector<float> norms(size);
    for (int k = 0; k < size; k++)
        for (int j = 0; j < dim; j++) norms[k] += codes[k * dim + j] * codes[k * dim + j];
    for (int begin = 0; begin < n; begin += most) {
        int rows = std::min(most, n - begin);
        sgemm_("T", "N", &size, &rows, &dim, &minus_two, codes.data(), &dim, vectors.data() + (int64_t)begin * dim,
               &dim, &zero, products.data(), &size);
        for (int r = 0; r < rows; r++) {
            float least = INFINITY;
            for (int k = 0; k < size; k++) {
                float d = products[(int64_t)r * size + k] + norms[k];
                if (d < least) least = d, code[begin + r] = k;
            }
        }
    }
}

// Interleaved, one thread, the least of five: each level's time over that of BLAS.
static int bench() {
    openblas_set_num_threads(1);
    for (int dim : {8, 16, 64, 192})
        for (int size : {256, 512, 1024}) {
            int n = 1000000000 / dim / size;
            std::vector<float> vectors = normals((int64_t)n * dim, 1), codes = normals((int64_t)size * dim, 2),
                               products(4096 * size);
            std::vector<int32_t> code(n);
            og_nearest nearest;
            CHECK_OK(og_nearest_make(codes.data(), size, dim, &nearest, &err));
            double least[OG_LEVEL_AVX512 + 1], blas = 1e9;
            std::fill(least, least + OG_LEVEL_AVX512 + 1, 1e9);
            for (int repeat = 0; repeat < 5; repeat++) {
                double begin = cpu_seconds();
                by_blas(vectors, n, dim, codes, size, products, code);
                blas = std::min(blas, cpu_seconds() - begin);
                for (int32_t level = OG_LEVEL_AVX2; level <= OG_LEVEL_AVX512; level++) {
                    nearest.take = og_nearest_level(level);
                    if (!nearest.take) continue;
                    begin = cpu_seconds();
                    og_nearest_find(&nearest, vectors.data(), n, nullptr, code.data(), 1, nullptr, nullptr);
                    least[level] = std::min(least[level], cpu_seconds() - begin);
                }
            }
            printf(
                "dim %3d, %4d codes, %7d vectors: sgemm and argmin %.1f ms; direct avx2 %.2fx, avx512 %.2fx of that\n",
                dim, size, n, 1e3 * blas, least[OG_LEVEL_AVX2] / blas, least[OG_LEVEL_AVX512] / blas);
            og_nearest_drop(&nearest);
        }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--bench")) return bench();
    const int64_t n = 5000, dims[] = {4, 17, 64, 192}, sizes[] = {30, 256, 1000};
    for (int64_t dim : dims)
        for (int64_t size : sizes) {
            std::vector<float> vectors = normals(n * dim, 1), codes = normals(size * dim, 2);
            for (int64_t j = 0; j < dim; j++) codes[7 * dim + j] = codes[3 * dim + j];
            og_nearest nearest;
            CHECK_OK(og_nearest_make(codes.data(), size, dim, &nearest, &err));
            std::vector<int32_t> ours(n);
            std::vector<float> distance(n), margin(n), faiss_distance(n);
            og_nearest_find(&nearest, vectors.data(), n, nullptr, ours.data(), 1, distance.data(), margin.data());
            og_nearest_drop(&nearest);
            std::vector<faiss::Index::idx_t> theirs(n);
            faiss::IndexFlatL2 index((int)dim);
            index.add(size, codes.data());
            index.search(n, vectors.data(), 1, faiss_distance.data(), theirs.data());
            int64_t differ = 0;
            for (int64_t i = 0; i < n; i++) {
                CHECK(ours[i] != 7); // of two equal codes always the lower
                if (ours[i] == theirs[i] || (ours[i] == 3 && theirs[i] == 7)) continue;
                differ++;
                CHECK(margin[i] <=
                      1e-5f * (1 + distance[i] + (float)dim)); // within the rounding of |x|^2 - 2xy + |y|^2
            }
            printf("dim %lld size %lld: %lld of %lld differ, all near-ties\n", (long long)dim, (long long)size,
                   (long long)differ, (long long)n);
            CHECK(differ < n / 500);
        }
    return 0;
}
#else
int main() { SKIP("built without FAISS"); }
#endif
