// Checks that every byte that viewers see is within its bound: for session.video(), or the synthetic camera by default,
// with every possible threshold, in all modes.

#include "framewire/codec/encoder_ref.hpp"
#include "stream/film.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

using codec::Mode;

constexpr const char* made_scene = "synth:size=320x180:fps=30:noise=6:objects=3:seed=9";
constexpr int thresholds = 255, quick_stride = 16;
// Consecutive frames, then much later ones: a cut.
constexpr std::size_t before_cut = 3, after_cut = 2;
constexpr int read_frames = 32;
// In most runs the reference decoder only reads windows of this size.
constexpr int window_width = 160, window_height = 96;

/// Returns the beginning and the end of a clip's first frames.
Film with_a_cut(Film film) {
    if (film.frames.size() > before_cut + after_cut)
        film.frames.erase(film.frames.begin() + before_cut, film.frames.end() - after_cut);
    return film;
}

/// Extracts channel `channel` of a window at (left, top), or all channels if it is -1.
Film part_of(const Film& film, int left, int top, int width, int height, int channel) {
    const auto channels = film.shape.channels;
    Film part{{1, height, width, channel < 0 ? channels : 1}, {}};
    for (const auto& frame : film.frames) {
        HostImage image(part.shape);
        for (int y = 0; y < height; ++y) {
            const auto* from = frame.view().row(0, top + y) + std::int64_t{left} * channels;
            auto* to = image.view().row(0, y);
            if (channel < 0) {
                std::memcpy(to, from, static_cast<std::size_t>(part.shape.row_bytes()));
                continue;
            }
            for (int x = 0; x < width; ++x) to[x] = from[x * channels + channel];
        }
        part.frames.push_back(std::move(image));
    }
    return part;
}

/// Combined results of all variants of one mode.
struct Row {
    std::string name;
    int ways = 0, at_their_bound = 0;
    std::int64_t frames = 0, bytes = 0, packed = 0;

    void run(const Film& film, Mode mode, int effort, std::vector<int> within, bool plainly, Executor& executor) {
        codec::reference::Promise promise(film.shape, mode, effort, within, executor);
        for (const auto& frame : film.frames) promise.check(frame.view(), plainly);
        ++ways;
        at_their_bound += promise.reaches_its_bound();
        frames += std::ssize(film.frames);
        bytes += std::ssize(film.frames) * film.shape.bytes();
        packed += promise.packed_bytes();
    }
    void print() const {
        fmt::print("{:<28} {:>6} {:>10} {:>8} {:>12.1f} {:>10.1f}\n", name, ways, at_their_bound, frames,
                   1e-6 * static_cast<double>(bytes), 1e-6 * static_cast<double>(packed));
        std::fflush(stdout);
    }
};

void bench_bound(Session& session) {
    const auto film = with_a_cut(read_film(session.video().empty() ? made_scene : session.video(), read_frames));
    const auto& shape = film.shape;
    const int width = std::min(shape.width, window_width), height = std::min(shape.height, window_height);
    const auto window = part_of(film, (shape.width - width) / 2, (shape.height - height) / 2, width, height, -1);
    const auto gray = part_of(film, 0, 0, shape.width, shape.height, shape.channels / 2);
    fmt::print("\n{}x{}, {} channels, {} frames: all bytes within the threshold, in every configuration below\n",
               shape.width, shape.height, shape.channels, film.frames.size());
    fmt::print("{:<28} {:>6} {:>10} {:>8} {:>12} {:>10}\n", "", "runs", "reach it", "frames", "MB compared", "MB sent");
    auto& executor = session.cpu();
    const int stride = session.quick() ? quick_stride : 1;
    const auto row = [&](const std::string& name, auto&& runs) {
        Row to{.name = name};
        if (!session.wants(name)) return;
        runs(to);
        to.print();
    };
    // Runs every `step`-th threshold, starting with `from`.
    const auto each = [&](int step, int from, auto&& body) {
        for (int within = from; within < thresholds; within += step * stride) body(within);
    };
    row("lossless", [&](Row& to) { to.run(film, Mode::lossless, 0, {0}, true, executor); });
    row("exact", [&](Row& to) {
        each(1, 0, [&](int within) { to.run(film, Mode::exact, 0, {within}, within == 20, executor); });
    });
    row("bounded, effort 1", [&](Row& to) {
        each(1, 0, [&](int within) { to.run(film, Mode::bounded, 1, {within}, within == 20, executor); });
    });
    for (const int effort : {0, 2})
        row(fmt::format("bounded, effort {}", effort), [&](Row& to) {
            each(8, effort, [&](int within) { to.run(film, Mode::bounded, effort, {within}, false, executor); });
        });
    row("one channel", [&](Row& to) {
        each(8, 4, [&](int within) {
            to.run(gray, Mode::exact, 0, {within}, false, executor);
            to.run(gray, Mode::bounded, 1, {within}, false, executor);
        });
    });
    row("thresholds by turns", [&](Row& to) {
        each(8, 6, [&](int within) {
            const std::vector<int> all{within, thresholds - 1 - within, within / 4, within, 0};
            to.run(film, Mode::exact, 0, all, false, executor);
            to.run(film, Mode::bounded, 1, all, false, executor);
        });
    });
    row("plain decoder, a window", [&](Row& to) {
        each(3, 0, [&](int within) {
            to.run(window, Mode::exact, 0, {within}, true, executor);
            to.run(window, Mode::bounded, 1, {within}, true, executor);
        });
    });
}

const SuiteEntry bound_suite{"proofs", "bound", bench_bound};

}  // namespace
}  // namespace framewire::bench
