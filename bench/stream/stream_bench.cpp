// How many bytes a scene takes, and how much time, by framewire's coders and by others: session.video(), or the
// synthetic camera where none is given.

#include "framewire/core/error.hpp"
#include "stream/coders.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace framewire::bench {
namespace stream_bench {

constexpr const char* made_scene = "synth:size=640x360:fps=30:noise=4:objects=3:seed=7";
constexpr int quick_frames = 12;

void print(const std::string& coder, const std::optional<Coded>& coded) {
    if (!coded) {
        fmt::print("{:<44} not found\n", coder);
        return;
    }
    fmt::print("{:<44} {:>9} {:>10.0f} {:>7} {:>7} {:>9.2f} {:>9.2f}\n", coder, coded->bytes.front(),
               coded->bytes_per_step(), coded->largest_error,
               coded->squared_error ? fmt::format("{:.2f}", coded->psnr()) : "-", coded->per_step(coded->encode_ms),
               coded->per_step(coded->decode_ms));
    std::fflush(stdout);
}

/// Bytes of all frames; infinitely many where there is nothing.
double total(const std::optional<Coded>& coded) {
    if (!coded) return HUGE_VAL;
    double all = 0;
    for (const auto bytes : coded->bytes) all += static_cast<double>(bytes);
    return all;
}

struct Found {
    X264 settings;
    std::optional<Coded> coded;
};

/// x264 at the largest rate factor that is no worse than `psnr`, of 4:2:0 and 4:4:4 what takes fewer bytes. Where none
/// is as good as that: the best.
Found find_equal(const Film& film, double psnr) {
    Found best;
    bool best_is_good = false;
    for (const bool full_chroma : {false, true}) {
        if (full_chroma && film.shape.channels == 1) continue;
        Found found;
        double good = 0, bad = 52;
        while (bad - good > 0.25) {
            const X264 settings{(good + bad) / 2, full_chroma};
            auto coded = code_x264(film, settings);
            if (!coded) return {};
            const bool is_good = coded->psnr() >= psnr;
            (is_good ? good : bad) = settings.rate_factor;
            if (is_good || !found.coded || (good == 0 && coded->psnr() > found.coded->psnr()))
                found = {settings, std::move(coded)};
        }
        const bool is_good = found.coded->psnr() >= psnr;
        const bool is_better = is_good == best_is_good ? total(found.coded) < total(best.coded) : is_good;
        if (!best.coded || is_better) best = std::move(found);
        best_is_good = best.coded->psnr() >= psnr;
    }
    return best;
}

/// x264 and corrections at the rate factor that takes the fewest bytes.
Found find_corrected(const Film& film, int threshold, bool full_chroma) {
    Found best;
    for (int rate_factor = 8; rate_factor <= 44; rate_factor += 3) {
        const X264 settings{static_cast<double>(rate_factor), full_chroma};
        auto coded = code_x264_corrected(film, settings, threshold);
        if (!coded) return {};
        if (coded->largest_error > threshold) fail(ErrorCode::internal, "x264 with corrections is beyond the bound");
        if (total(coded) < total(best.coded)) best = {settings, std::move(coded)};
    }
    return best;
}

void bench_stream(Session& session) {
    const auto& choices = session.stream();
    const int frames = session.quick() ? std::min(choices.frames, quick_frames) : choices.frames;
    auto film = read_film(session.video().empty() ? made_scene : session.video(), frames);
    if (choices.noise > 0) film = noisy_film(film.frames.front(), frames, choices.noise);
    const int threshold = choices.threshold;
    const auto& shape = film.shape;
    fmt::print("\n{}x{}, {} frames, threshold {}{}\n", shape.width, shape.height, film.frames.size(), threshold,
               choices.noise > 0 ? fmt::format(", a still with noise of sigma {}", choices.noise) : "");
    fmt::print("{:<44} {:>9} {:>10} {:>7} {:>7} {:>9} {:>9}\n", "bytes; processor time in ms per step", "picture",
               "per step", "error", "dB", "encode", "decode");
    const auto is_wanted = [&](const std::string& coder) { return session.wants(coder); };
    const auto row = [&](const std::string& coder, auto&& code) {
        if (!is_wanted(coder)) return;
        const std::optional<Coded> coded = code();
        print(coder, coded);
    };
    row("the report's format", [&] { return code_as_report(film, threshold); });
    row("bitmap and differences, zstd -3", [&] { return code_as_bitmaps(film, threshold); });
    row("framewire exact", [&] { return code_exact(film, threshold); });
    std::optional<double> bounded_psnr;
    for (int effort = 0; effort <= 2; ++effort)
        row(fmt::format("framewire bounded, effort {}", effort), [&] {
            const auto coded = code_bounded(film, threshold, effort);
            if (coded.largest_error > threshold) fail(ErrorCode::internal, "bounded is beyond its bound");
            if (effort == 1) bounded_psnr = coded.psnr();
            return coded;
        });
    row("framewire lossless", [&] { return code_exact(film, 0); });
    row("JPEG-LS near-lossless, CharLS", [&] { return code_jpeg_ls(film, threshold); });
    if (bounded_psnr && std::isfinite(*bounded_psnr) && is_wanted("x264 ultrafast zerolatency")) {
        const auto describe = [&](const char* what, const Found& found) {
            return !found.coded ? std::string(what)
                                : fmt::format("{}, crf {:.1f}{}", what, found.settings.rate_factor,
                                              found.settings.full_chroma ? ", 4:4:4" : "");
        };
        const auto equal = find_equal(film, *bounded_psnr);
        print(describe("x264 ultrafast zerolatency", equal), equal.coded);
        const auto corrected = find_corrected(film, threshold, equal.settings.full_chroma);
        print(describe("the same and corrections", corrected), corrected.coded);
    }
}

const SuiteEntry stream_suite{"peers", "stream", bench_stream};

}  // namespace stream_bench
}  // namespace framewire::bench
