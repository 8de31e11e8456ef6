#include "framewire/codec/encoder_ref.hpp"
#include "framewire/core/error.hpp"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/ladder.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "stream/film.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <utility>

namespace framewire::bench {
namespace feedback_ladder {

// Error of a viewer's picture over time (streaming and filters 2022, section 2.1, figures 1 and 2): with feedback each
// frame is compared with what the viewer holds, without it with the previous frame.

// Returns frames of a room with people whose camera adjusts its exposure as webcams do: slowly back and forth, each
// colour slightly differently.
Film drifting_film(const Shape& shape, int frames) {
    auto film = read_film(fmt::format("synth:size={}x{}:noise=2:objects=3:seed=1", shape.width, shape.height), frames);
    for (std::size_t number = 0; number < film.frames.size(); ++number) {
        const double phase = 2 * std::numbers::pi * static_cast<double>(number) / 150;
        const double gains[] = {1 + 0.28 * std::sin(phase), 1 + 0.25 * std::sin(phase), 1 + 0.22 * std::sin(phase)};
        auto* bytes = film.frames[number].view().data();
        for (std::int64_t i = 0; i < shape.bytes(); ++i)
            bytes[i] = static_cast<std::uint8_t>(std::min(std::lround(bytes[i] * gains[i % 3]), 255l));
    }
    return film;
}

struct Distance {
    double mean = 0;
    int largest = 0;
};

Distance distance(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> seen) {
    std::int64_t sum = 0;
    Distance found;
    for (std::int64_t i = 0; i < camera.shape().bytes(); ++i) {
        const int error = std::abs(camera.data()[i] - seen.data()[i]);
        sum += error;
        found.largest = std::max(found.largest, error);
    }
    found.mean = static_cast<double>(sum) / static_cast<double>(camera.shape().bytes());
    return found;
}

// Adds the changes between a frame and the previous one to the viewer's picture. Bytes wrap, as in the report.
void add_changes(HostView<const std::uint8_t> frame, HostView<const std::uint8_t> before,
                 HostView<std::uint8_t> viewer) {
    for (std::int64_t i = 0; i < frame.shape().bytes(); ++i) {
        const int difference = frame.data()[i] - before.data()[i];
        if (std::abs(difference) > ladder_threshold)
            viewer.data()[i] = static_cast<std::uint8_t>(viewer.data()[i] + difference);
    }
}

// Returns four pictures in one. Top: the camera's frame, and the viewer's picture with feedback. Bottom: the viewer's
// picture without feedback, and its error multiplied by four.
HostImage side_by_side(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> with,
                       HostView<const std::uint8_t> without) {
    const auto& shape = camera.shape();
    HostImage error(shape), picture({1, 2 * shape.height, 2 * shape.width, shape.channels});
    for (std::int64_t i = 0; i < shape.bytes(); ++i)
        error.view().data()[i] =
            static_cast<std::uint8_t>(std::min(4 * std::abs(camera.data()[i] - without.data()[i]), 255));
    const HostView<const std::uint8_t> panels[] = {camera, with, without, error.view()};
    for (int panel = 0; panel < 4; ++panel)
        copy(panels[panel], {picture.view().row(0, panel / 2 * shape.height) + panel % 2 * shape.row_bytes(), shape,
                             2 * shape.row_bytes(), 4 * shape.frame_bytes()});
    return picture;
}

void run_feedback(Session& session) {
    const bool small = session.check_only();
    const Shape shape{1, small ? 180 : 360, small ? 320 : 640, 3};
    const int frames = 301, row_each = 10;
    const auto film = drifting_film(shape, frames);
    HostImage with(shape), without(shape);
    codec::HostChanges changes(shape);
    copy(film.frames[0].view(), with.view());
    copy(film.frames[0].view(), without.view());
    const auto add = [&](const char* operation, int frame, const Distance& error) {
        session.add({.suite = "ladders/feedback",
                     .operation = operation,
                     .runner = "viewer",
                     .timing = {},
                     .details = {{"frame", std::to_string(frame)},
                                 {"size", fmt::format("{}x{}", shape.width, shape.height)},
                                 {"mean_error", fmt::format("{:.3f}", error.mean)},
                                 {"max_error", std::to_string(error.largest)}},
                     .note = fmt::format("after {} frames, the error is {:.2f} on average and at most {}", frame,
                                         error.mean, error.largest)});
    };
    Distance off, kept;
    for (int frame = 1; frame < frames; ++frame) {
        const auto& now = film.frames[static_cast<std::size_t>(frame)];
        add_changes(now.view(), film.frames[static_cast<std::size_t>(frame) - 1].view(), without.view());
        codec::encode_reference(ladder_threshold, now.view(), with.view(), changes.view());
        kept = distance(now.view(), std::as_const(with).view());
        off = distance(now.view(), std::as_const(without).view());
        if (kept.largest > ladder_threshold)
            fail(ErrorCode::internal, "with feedback, a byte of frame {} is off by {}", frame, kept.largest);
        if (frame % row_each == 0) {
            add("with feedback", frame, kept);
            add("without feedback", frame, off);
        }
        // In this frame the camera is darkest.
        if (frame == 262)
            write_picture(session, "feedback", side_by_side(now.view(), with.view(), without.view()).view());
    }
    if (off.largest <= ladder_threshold)
        fail(ErrorCode::internal, "without feedback, no byte is off by more than {}", off.largest);
}

const SuiteEntry feedback_suite{"ladders", "feedback", run_feedback};

}  // namespace feedback_ladder
}  // namespace framewire::bench
