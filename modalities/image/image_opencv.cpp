// image_opencv.cpp: the module libomnigram_opencv.so: bytes of a picture file to raw planes, and nothing else.
// It calls no function of omnigram, so it can be opened from a program that has its own copy of the library inside.
#include "image/image.h"

#include <omnigram/internal/shim.hpp>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include <cstring>

extern "C" OG_API og_status og_opencv_decode(const void *bytes, int64_t n, og_allocate_fn *allocate,
                                             og_raw_picture *out, og_error *err) {
    return og_fence(err, "OpenCV", [&]() -> og_status {
        static const bool quiet = [] {
            cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
            cv::setNumThreads(1); // the caller's pool is the only source of threads
            return true;
        }();
        (void)quiet;
        if (n > INT32_MAX) return og_fence_fail(err, OG_EFORMAT, "OpenCV", "a picture file over 2 GiB");
        const cv::Mat file(1, static_cast<int>(n), CV_8U, const_cast<void *>(bytes));
        // UNCHANGED: no rotation, alpha and 16 bits kept; the policies are applied by our own code.
        const cv::Mat mat = cv::imdecode(file, cv::IMREAD_UNCHANGED);
        if (mat.empty())
            return og_fence_fail(err, OG_EFORMAT, "OpenCV",
                                 "cannot decode this picture (damaged or of an unknown kind)");
        const int depth = mat.depth(), channels = mat.channels();
        if ((depth != CV_8U && depth != CV_16U) || channels < 1 || channels > 4)
            return og_fence_fail(err, OG_EFORMAT, "OpenCV", "a picture that is not 8 or 16 bits with 1 to 4 channels");
        const int64_t width = mat.cols, height = mat.rows, sample = depth == CV_16U ? 2 : 1;
        char *pixels = static_cast<char *>(allocate(width * height * channels, static_cast<size_t>(sample)));
        if (!pixels) return og_fence_fail(err, OG_ENOMEM, "OpenCV", "no memory for the pixels");
        for (int64_t y = 0; y < height; y++) {
            char *to = pixels + y * width * channels * sample;
            std::memcpy(to, mat.ptr(static_cast<int>(y)), static_cast<size_t>(width * channels * sample));
            if (channels < 3) continue;
            for (int64_t x = 0; x < width; x++, to += channels * sample) { // BGR(A) to RGB(A)
                char swap[2];
                std::memcpy(swap, to, static_cast<size_t>(sample));
                std::memcpy(to, to + 2 * sample, static_cast<size_t>(sample));
                std::memcpy(to + 2 * sample, swap, static_cast<size_t>(sample));
            }
        }
        out->width = width;
        out->height = height;
        out->channels = channels;
        out->depth = depth == CV_16U ? 16 : 8;
        out->pixels = pixels;
        return OG_OK;
    });
}
