#include "framewire/filters/geometry_ref.hpp"
#include "framewire/filters/scale.hpp"
#include "kit/window_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <memory>

extern "C" {
#include <libswscale/swscale.h>
}

namespace framewire::bench {
namespace {

struct Case {
    ScaleMethod method;
    const char* name;
    int flags;  // flags of libswscale
};
constexpr Case cases[] = {{ScaleMethod::area, "area", SWS_AREA},
                          {ScaleMethod::bilinear, "bilinear", SWS_BILINEAR},
                          {ScaleMethod::bicubic, "bicubic", SWS_BICUBIC},
                          {ScaleMethod::lanczos, "lanczos", SWS_LANCZOS}};

// Scales with sws_scale(), which runs on the calling thread only. From BGR to BGR it converts through YUV.
std::function<void(HostView<std::uint8_t>, HostView<std::uint8_t>)> swscale(int channels, int width, int height,
                                                                            int flags) {
    const auto format = channels == 3 ? AV_PIX_FMT_BGR24 : AV_PIX_FMT_GRAY8;
    const std::shared_ptr<SwsContext> context(
        sws_getContext(bench_frame.width, bench_frame.height, format, width, height, format,
                       flags | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, nullptr, nullptr, nullptr),
        sws_freeContext);
    return [context](HostView<std::uint8_t> in, HostView<std::uint8_t> out) {
        const std::uint8_t* from[4] = {in.data()};
        std::uint8_t* to[4] = {out.data()};
        const int from_stride[4] = {static_cast<int>(in.row_stride_bytes())};
        const int to_stride[4] = {static_cast<int>(out.row_stride_bytes())};
        sws_scale(context.get(), from, from_stride, 0, in.shape().height, to, to_stride);
    };
}

void bench_scale(Session& session) {
    const auto info = scale_info();
    for (const int channels : {3, 1})
        for (const auto& [width, height] : {std::pair{1280, 720}, {640, 360}, {2560, 1440}}) {
            if (session.quick() && (channels == 1 || width != 1280)) continue;
            for (const auto& one : cases)
                bench_window(
                    session,
                    {.suite = "scale",
                     .operation = fmt::format("{}, to {}x{}{}", one.name, width, height, channels == 1 ? ", gray" : ""),
                     .channels = channels,
                     .info = info,
                     .values = with_defaults(
                         info, {{"w", fmt::to_string(width)}, {"h", fmt::to_string(height)}, {"method", one.name}}),
                     .reference = [&](auto in, auto out) { scale_reference(one.method, in, out); },
                     .peer_name = "libswscale, 1 thread",
                     .peer = swscale(channels, width, height, one.flags)});
        }
}

const SuiteEntry scale_suite{"operations", "scale", bench_scale};

}  // namespace
}  // namespace framewire::bench
