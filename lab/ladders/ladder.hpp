#pragma once

#include "kit/session.hpp"

#include <optional>
#include <string>
#include <utility>

namespace framewire::bench {

/// What a report of 2021 or 2022 has of one thing on its Jetson Nano: a figure, or a line of nvprof's.
struct OnJetson {
    const char* place = "";  ///< "table 4"
    double mean_us = 0;      ///< 0: the report has nothing
    double least_us = 0, most_us = 0;
};

/// That as a row has it.
inline std::optional<Reported> reported_of(const OnJetson& on_jetson) {
    if (on_jetson.mean_us == 0) return {};
    return Reported{std::string("streaming and filters 2022, ") + on_jetson.place, "Jetson Nano", on_jetson.mean_us,
                    on_jetson.least_us, on_jetson.most_us};
}

/// The frames of the ladders: those of the reports, and smaller ones where nothing is timed. Their bytes are a multiple
/// of 96: of three chunks of 32, which end where a pixel ends.
inline Shape ladder_frame(const Session& session) { return session.check_only() ? Shape{1, 270, 480, 3} : bench_frame; }

/// How many bytes of a frame change from one to the next: the 70,000 of 1920x1080 that the report counted.
inline constexpr double ladder_share = 70000.0 / static_cast<double>(bench_frame.bytes());

/// The threads of a block that the sweeps try.
inline constexpr int most_threads = 1024;

}  // namespace framewire::bench
