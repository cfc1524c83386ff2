// test_faiss_agreement.cpp: the fixed-order search against FAISS's own, which differ only where distances all but tie.
#include "nearest.h"
extern "C" {
#include "test.h"
#include <omnigram/memory.h>
#include <omnigram/random.h>
}
#include <cstdio>
#include <vector>

#ifdef OG_HAVE_FAISS
#include <faiss/IndexFlat.h>

static og_error err;

int main() {
    const int64_t n = 5000, dims[] = {4, 17, 64, 192}, sizes[] = {30, 256, 1000};
    for (int64_t dim : dims)
        for (int64_t size : sizes) {
            std::vector<float> vectors(n * dim), codes(size * dim);
            for (int64_t i = 0; i < n * dim; i++) vectors[i] = (float)og_random_normal(1, (uint64_t)i);
            for (int64_t i = 0; i < size * dim; i++) codes[i] = (float)og_random_normal(2, (uint64_t)i);
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
                CHECK(margin[i] <= 1e-5f * (1 + distance[i] + (float)dim)); // within the rounding of |x|^2 - 2xy + |y|^2
            }
            printf("dim %lld size %lld: %lld of %lld differ, all near-ties\n", (long long)dim, (long long)size, (long long)differ, (long long)n);
            CHECK(differ < n / 500);
        }
    return 0;
}
#else
int main() { SKIP("built without FAISS"); }
#endif
