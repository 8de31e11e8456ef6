#include "framewire/filters/geometry.hpp"
#include "framewire/filters/geometry_ref.hpp"
#include "framewire/filters/rotate.hpp"
#include "kit/window_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace framewire::bench {
namespace {

using Reference = std::function<void(HostView<const std::uint8_t>, HostView<std::uint8_t>)>;

void bench_one(Session& session, const FilterInfo& info,
               std::initializer_list<std::pair<std::string, std::string>> values, const char* operation, int channels,
               Reference reference) {
    bench_window(session, {.suite = "geometry",
                           .operation = fmt::format("{}{}", operation, channels == 1 ? ", gray" : ""),
                           .channels = channels,
                           .info = info,
                           .values = with_defaults(info, values),
                           .reference = std::move(reference),
                           .peer_name = {},
                           .peer = {}});
}

// Runs all filters that move pixels, in one suite.
void bench_geometry(Session& session) {
    for (const int channels : {3, 1}) {
        bench_one(session, crop_info(), {{"w", "50%"}, {"h", "50%"}}, "crop to 960x540", channels,
                  [](auto in, auto out) {
                      crop_reference({480, 270, 960, 540}, in, out);
                  });
        bench_one(session, pad_info(), {{"w", "2000"}, {"h", "1100"}}, "pad to 2000x1100", channels,
                  [](auto in, auto out) {
                      pad_reference({2000, 1100, 0, 0, 0}, in, out);
                  });
        bench_one(session, flip_info(), {}, "flip", channels, [](auto in, auto out) {
            flip_reference({true, false}, in, out);
        });
        bench_one(session, rotate_info(), {{"angle", "90"}}, "rotate by 90", channels,
                  [](auto in, auto out) { quarter_turns_reference(1, in, out); });
        bench_one(session, rotate_info(), {{"angle", "11"}, {"size", "same"}}, "rotate by 11", channels,
                  [&](auto in, auto out) {
                      const Rotate rotate({.degrees = 11, .whole = false}, in.shape(), session.cpu());
                      rotate_reference(rotate.map(), 0, in, out);
                  });
    }
}

const SuiteEntry geometry_suite{"operations", "geometry", bench_geometry};

}  // namespace
}  // namespace framewire::bench
