#include "framewire/filters/median.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/window_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

void bench_median(Session& session) {
    const auto info = median_info();
    for (const int size : {3, 5, 7, 9, 11, 13, 15, 21, 31, 51, 75, 255}) {
        const MedianParameters parameters{.size = size,
                                          // The only border that OpenCV's medianBlur supports.
                                          .border = Border::replicate};
        WindowBench bench{.suite = "median",
                          .operation = fmt::format("size {}", size),
                          .info = info,
                          .values = with_defaults(info, {{"size", std::to_string(size)}, {"border", "replicate"}}),
                          .reference = [=](auto in, auto out) { median_reference(parameters, in, out); },
                          .peer_name = {},
                          .peer = {}};
#if FRAMEWIRE_OPENCV
        cv::setNumThreads(session.threads());
        bench.peer_name = "OpenCV";
        bench.peer = [=](HostView<std::uint8_t> in, HostView<std::uint8_t> out) {
            const auto& shape = in.shape();
            const cv::Mat from(shape.height, shape.width, CV_8UC3, in.data());
            cv::Mat to(shape.height, shape.width, CV_8UC3, out.data());
            cv::medianBlur(from, to, size);
        };
#endif
        bench_window(session, bench);
    }
}

const SuiteEntry median_suite{"operations", "median", bench_median};

}  // namespace
}  // namespace framewire::bench
