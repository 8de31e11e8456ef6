#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/window_ref.hpp"
#include "kit/window_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

void bench_gaussian(Session& session) {
    const auto info = gaussian_info();
    for (const int channels : {3, 1})
        for (const int size : {3, 4, 5, 7, 15, 63}) {
            const GaussianParameters parameters{.size = size};
            WindowBench bench{.suite = "gaussian",
                              .operation = fmt::format("size {}{}", size, channels == 1 ? ", gray" : ""),
                              .channels = channels,
                              .info = info,
                              .values = with_defaults(info, {{"size", std::to_string(size)}}),
                              .reference = [=](auto in, auto out) { gaussian_reference(parameters, in, out); },
                              .peer_name = {},
                              .peer = {}};
#if FRAMEWIRE_OPENCV
            cv::setNumThreads(session.threads());
            if (size % 2) {  // OpenCV supports no even sizes
                bench.peer_name = "OpenCV";
                bench.peer = [=](HostView<std::uint8_t> in, HostView<std::uint8_t> out) {
                    const auto& shape = in.shape();
                    const cv::Mat from(shape.height, shape.width, CV_8UC(channels), in.data());
                    cv::Mat to(shape.height, shape.width, CV_8UC(channels), out.data());
                    cv::GaussianBlur(from, to, {size, size}, 0, 0, cv::BORDER_REFLECT_101);
                };
            }
#endif
            bench_window(session, bench);
        }
}

const SuiteEntry gaussian_suite{"operations", "gaussian", bench_gaussian};

}  // namespace
}  // namespace framewire::bench
