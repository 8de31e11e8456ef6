#include "framewire/filters/morphology.hpp"
#include "framewire/filters/morphology_ref.hpp"
#include "kit/window_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include "framewire/filters/opencv_morphology_ref.hpp"
#endif

namespace framewire::bench {
namespace {

void bench_morphology(Session& session) {
    struct Case {
        FilterInfo info;
        MorphologyOperation operation;
        ElementShape shape;
        const char* shape_name;
        int size, channels;
    };
    using enum MorphologyOperation;
    using enum ElementShape;
    const Case cases[] = {{dilate_info(), dilate, disc, "disc", 15, 1}, {close_info(), close, disc, "disc", 15, 1},
                          {dilate_info(), dilate, disc, "disc", 15, 3}, {erode_info(), erode, rect, "rect", 3, 3},
                          {dilate_info(), dilate, rect, "rect", 15, 1}, {dilate_info(), dilate, disc, "disc", 63, 1}};
    for (const auto& one : cases) {
        const StructuringElement element(one.shape, one.size);
        WindowBench bench{
            .suite = "morphology",
            .operation = fmt::format("{} {} {}, {}", one.info.name, one.shape_name, one.size,
                                     one.channels == 1 ? "gray" : "BGR"),
            .channels = one.channels,
            .info = one.info,
            .values = with_defaults(one.info, {{"size", std::to_string(one.size)}, {"shape", one.shape_name}}),
            .reference = [&](auto in, auto out) { morphology_reference(one.operation, element, in, out); },
            .peer_name = {},
            .peer = {}};
#if FRAMEWIRE_OPENCV
        cv::setNumThreads(session.threads());
        bench.peer_name = "OpenCV";
        bench.peer = [&, kernel = opencv_element(element)](HostView<std::uint8_t> in, HostView<std::uint8_t> out) {
            const auto& shape = in.shape();
            const cv::Mat from(shape.height, shape.width, CV_8UC(shape.channels), in.data());
            cv::Mat to(shape.height, shape.width, CV_8UC(shape.channels), out.data());
            opencv_morphology(one.operation, from, to, kernel);
        };
#endif
        bench_window(session, bench);
    }
}

const SuiteEntry morphology_suite{"operations", "morphology", bench_morphology};

}  // namespace
}  // namespace framewire::bench
