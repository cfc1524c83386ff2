// kmeans_faiss.cpp: FAISS's k-means over our own assignment, so that its result depends on neither threads nor BLAS.
#include "kmeans_module.h"

#include <omnigram/internal/shim.hpp>

#include <faiss/Clustering.h>
#include <faiss/Index.h>
#include <omp.h>

#include <climits>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

// What Clustering asks of an index: hold the centroids and name the nearest one.
class FixedOrderIndex : public faiss::Index {
  public:
    FixedOrderIndex(int dim, og_kmeans_assign_fn *nearest, void *context)
        : faiss::Index(dim), assign_(nearest), context_(context) {}

    void add(idx_t n, const float *x) override {
        codes_.insert(codes_.end(), x, x + n * d);
        ntotal += n;
    }

    void reset() override {
        codes_.clear();
        ntotal = 0;
    }

    void search(idx_t n, const float *x, idx_t k, float *distances, idx_t *labels,
                const faiss::SearchParameters *) const override {
        if (k != 1) throw std::logic_error("clustering asked for more than the nearest code");
        std::vector<int32_t> found(static_cast<size_t>(n));
        og_error err{};
        og_status status = assign_(context_, codes_.data(), ntotal, d, x, n, found.data(), distances, &err);
        if (status == OG_ENOMEM) throw std::bad_alloc(); // the fence gives it back as what it is
        if (status != OG_OK) throw std::runtime_error(err.message);
        for (idx_t i = 0; i < n; i++) labels[i] = found[static_cast<size_t>(i)];
    }

  private:
    og_kmeans_assign_fn *assign_;
    void *context_;
    std::vector<float> codes_;
};

// FAISS averages with OpenMP: the pool's width, and the caller's own setting back afterwards.
class OpenMPThreads {
  public:
    explicit OpenMPThreads(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
    ~OpenMPThreads() { omp_set_num_threads(before_); }

  private:
    int before_;
};

} // namespace

extern "C" og_status og_faiss_kmeans(const float *vectors, const float *weights, int64_t n, int64_t dim, int64_t size,
                                     int64_t iterations, int64_t seed, int32_t n_threads, og_kmeans_assign_fn *assign,
                                     void *context, float *codes, og_error *err) {
    return og_fence(err, "k-means by FAISS", [&] {
        OpenMPThreads threads(n_threads);
        faiss::ClusteringParameters parameters;
        parameters.niter = static_cast<int>(iterations);
        parameters.seed = static_cast<int>(seed);
        parameters.min_points_per_centroid = 1;       // fewer is the caller's policy, not a warning on stderr
        parameters.max_points_per_centroid = INT_MAX; // never a silent sub-sample
        faiss::Clustering clustering(static_cast<int>(dim), static_cast<int>(size), parameters);
        clustering.centroids.assign(codes, codes + size * dim);
        FixedOrderIndex index(static_cast<int>(dim), assign, context);
        clustering.train(n, vectors, index, weights);
        std::memcpy(codes, clustering.centroids.data(), static_cast<size_t>(size * dim) * sizeof(float));
        return og_status{OG_OK};
    });
}
