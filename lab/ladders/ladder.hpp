#pragma once

#include "kit/session.hpp"

#include <optional>
#include <string>
#include <utility>

namespace framewire::bench {

/// Measurement of a report of 2021 or 2022 on its Jetson Nano: a figure, or a line of nvprof's output.
struct OnJetson {
    const char* place = "";  ///< "table 4"
    double mean_us = 0;      ///< 0: not in the report
    double least_us = 0, most_us = 0;
};

/// Converts a measurement of a report for a row.
inline std::optional<Reported> reported_of(const OnJetson& on_jetson) {
    if (on_jetson.mean_us == 0) return {};
    return Reported{std::string("streaming and filters 2022, ") + on_jetson.place, "Jetson Nano", on_jetson.mean_us,
                    on_jetson.least_us, on_jetson.most_us};
}

/// Frames of the ladders: those of the reports, and smaller ones if nothing is timed. Their size is a multiple of 96
/// bytes: three chunks of 32 bytes, which end at the end of a pixel.
inline Shape ladder_frame(const Session& session) { return session.check_only() ? Shape{1, 270, 480, 3} : bench_frame; }

/// Share of the bytes that change between frames: the 70,000 of 1920x1080 that the report counted.
inline constexpr double ladder_share = 70000.0 / static_cast<double>(bench_frame.bytes());

/// Maximum number of threads per block in the sweeps.
inline constexpr int most_threads = 1024;

}  // namespace framewire::bench
