#include "framewire/filters/convolve.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/window_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

// Returns parameters with an irregular matrix that contains no 0.
ConvolveParameters parameters_of(int size) {
    std::vector<int> matrix;
    for (int index = 0; index < size * size; ++index)
        matrix.push_back(index * 37 % 11 - 5 == 0 ? 1 : index * 37 % 11 - 5);
    return {.matrix = std::move(matrix), .divisor = size * size};
}

void bench_convolve(Session& session) {
    const auto info = convolve_info();
    for (const int size : {3, 5, 15}) {
        const auto parameters = parameters_of(size);
        WindowBench bench{
            .suite = "convolve",
            .operation = fmt::format("{0}x{0}", size),
            .channels = 3,
            .info = info,
            .values = with_defaults(info, {{"matrix", fmt::format("{}", fmt::join(parameters.matrix, " "))},
                                           {"divisor", fmt::to_string(parameters.divisor)}}),
            .reference = [=](auto in, auto out) { convolve_reference(parameters, in, out); },
            .peer_name = {},
            .peer = {}};
#if FRAMEWIRE_OPENCV
        cv::setNumThreads(session.threads());
        bench.peer_name = "OpenCV's filter2D";
        cv::Mat matrix(size, size, CV_32F);
        for (int index = 0; index < size * size; ++index)
            matrix.at<float>(index / size, index % size) =
                static_cast<float>(parameters.matrix[static_cast<std::size_t>(index)]) /
                static_cast<float>(parameters.divisor);
        bench.peer = [matrix](HostView<std::uint8_t> in, HostView<std::uint8_t> out) {
            const auto& shape = in.shape();
            const cv::Mat from(shape.height, shape.width, CV_8UC3, in.data());
            cv::Mat to(shape.height, shape.width, CV_8UC3, out.data());
            cv::filter2D(from, to, CV_8U, matrix, {-1, -1}, 0, cv::BORDER_REFLECT_101);
        };
#endif
        bench_window(session, bench);
    }
}

const SuiteEntry convolve_suite{"operations", "convolve", bench_convolve};

}  // namespace
}  // namespace framewire::bench
