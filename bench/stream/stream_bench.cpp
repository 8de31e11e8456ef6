// Measures the bytes and the time that framewire's and other coders need for a scene: session.video(), or the synthetic
// camera by default.

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
#include <vector>

namespace framewire::bench {
namespace {

constexpr const char* made_scene = "synth:size=640x360:fps=30:noise=4:objects=3:seed=7";
constexpr int quick_frames = 12, checked_frames = 3;
constexpr double noisy_sigma = 8;

void print(const std::string& coder, const std::optional<Coded>& coded) {
    if (!coded) {
        fmt::print("{:<44} not found\n", coder);
        return;
    }
    fmt::print("{:<44} {:>9} {:>10.0f} {:>7} {:>7} {:>9.2f} {:>9.2f}\n", coder, coded->bytes.front(),
               coded->bytes_per_step(), coded->largest_error,
               coded->squared_error ? fmt::format("{:.2f}", coded->psnr()) : "-", coded->encode_ms_per_step(),
               coded->decode_ms_per_step());
    std::fflush(stdout);
}

/// Returns the total bytes of all frames; infinity if there is no result.
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

/// Finds the largest rate factor of x264 with at least `psnr`, and takes 4:2:0 or 4:4:4, whichever needs fewer bytes.
/// If none reaches it, returns the best one.
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

/// Finds the rate factor at which x264 with corrections needs the fewest bytes.
Found find_corrected(const Film& film, int threshold, bool full_chroma) {
    Found best;
    for (int rate_factor = 8; rate_factor <= 44; rate_factor += 3) {
        const X264 settings{static_cast<double>(rate_factor), full_chroma};
        auto coded = code_x264_corrected(film, settings, threshold);
        if (!coded) return {};
        if (coded->largest_error > threshold) fail(ErrorCode::internal, "x264 with corrections exceeds the bound");
        if (total(coded) < total(best.coded)) best = {settings, std::move(coded)};
    }
    return best;
}

// Returns a row with a coder's CPU time per delta frame, without the search for settings, for which other coders need
// many runs.
Row row_of(const std::string& coder, const Coded& coded, const Film& film, const std::string& content) {
    Row row;
    row.suite = "peers";
    row.runner = coder;
    std::vector<double> samples_us;
    for (const double ms : coded.encode_ms) samples_us.push_back(1000 * ms);
    row.timing = summarize(std::move(samples_us));
    row.cpu_us = row.timing.median_us;
    row.details = {{"film", fmt::format("{}x{}", film.shape.width, film.shape.height)},
                   {"content", content},
                   {"bytes per step", fmt::format("{:.0f}", coded.bytes_per_step())},
                   {"furthest off", fmt::to_string(coded.largest_error)},
                   {"decode us", fmt::format("{:.0f}", 1000 * coded.decode_ms_per_step())}};
    if (coded.squared_error) row.details["dB"] = fmt::format("{:.2f}", coded.psnr());
    return row;
}

constexpr const char *bounded_operation = "stream, encode within the bound",
                     *other_operation = "stream, encode otherwise";
constexpr const char *jpeg_ls_name = "JPEG-LS near-lossless, CharLS", *x264_name = "x264 ultrafast zerolatency",
                     *corrected_x264_name = "x264 and corrections";

// Adds rows. framewire's rows are also compared with those of other coders that keep the bound.
void add_rows(Session& session, std::vector<Row> rows) {
    double fastest_us = HUGE_VAL;
    const auto is_own = [](const Row& row) { return row.runner.starts_with("framewire"); };
    for (auto& row : rows) {
        const bool is_peer = row.runner == jpeg_ls_name || row.runner == corrected_x264_name;
        row.operation = is_own(row) || is_peer ? bounded_operation : other_operation;
        if (is_peer) fastest_us = std::min(fastest_us, row.timing.median_us);
    }
    for (auto& row : rows) {
        if (is_own(row) && fastest_us < HUGE_VAL) row.to_peer = fastest_us / row.timing.median_us;
        session.add(std::move(row));
    }
}

void bench_film(Session& session, const Film& film, const std::string& content) {
    const int threshold = session.stream().threshold;
    const auto& shape = film.shape;
    fmt::print("\n{}x{}, {} frames, threshold {}, {}\n", shape.width, shape.height, film.frames.size(), threshold,
               content);
    fmt::print("{:<44} {:>9} {:>10} {:>7} {:>7} {:>9} {:>9}\n", "bytes; CPU time in ms per step", "picture", "per step",
               "error", "dB", "encode", "decode");
    const auto is_wanted = [&](const std::string& coder) { return session.wants(coder); };
    std::vector<Row> rows;
    const auto show = [&](const std::string& line, const std::string& coder, const std::optional<Coded>& coded) {
        print(line, coded);
        if (coded && !coded->encode_ms.empty()) rows.push_back(row_of(coder, *coded, film, content));
    };
    const auto row = [&](const std::string& coder, auto&& code) {
        if (is_wanted(coder)) session.attempt(coder, [&] { show(coder, coder, code()); });
    };
    row("the report's format", [&] { return std::optional(code_as_report(film, threshold)); });
    row("bitmap and differences, zstd -3", [&] { return code_as_bitmaps(film, threshold); });
    row("framewire exact", [&] { return std::optional(code_exact(film, threshold)); });
    std::optional<double> bounded_psnr;
    for (int effort = 0; effort <= 2; ++effort)
        row(fmt::format("framewire bounded, effort {}", effort), [&] {
            const auto coded = code_bounded(film, threshold, effort);
            if (coded.largest_error > threshold) fail(ErrorCode::internal, "bounded exceeds its bound");
            if (effort == 1) bounded_psnr = coded.psnr();
            return std::optional(coded);
        });
    row("framewire lossless", [&] { return std::optional(code_exact(film, 0)); });
    row(jpeg_ls_name, [&] { return code_jpeg_ls(film, threshold); });
    if (bounded_psnr && std::isfinite(*bounded_psnr) && is_wanted(x264_name))
        session.attempt(x264_name, [&] {
            const auto describe = [&](const char* what, const Found& found) {
                return !found.coded ? std::string(what)
                                    : fmt::format("{}, crf {:.1f}{}", what, found.settings.rate_factor,
                                                  found.settings.full_chroma ? ", 4:4:4" : "");
            };
            const auto equal = find_equal(film, *bounded_psnr);
            show(describe(x264_name, equal), x264_name, equal.coded);
            const auto corrected = find_corrected(film, threshold, equal.settings.full_chroma);
            show(describe(corrected_x264_name, corrected), corrected_x264_name, corrected.coded);
        });
    fmt::print("\n");
    add_rows(session, std::move(rows));
}

void bench_stream(Session& session) {
    const auto& choices = session.stream();
    const int frames = session.check_only() ? checked_frames
                       : session.quick()    ? std::min(choices.frames, quick_frames)
                                            : choices.frames;
    auto film = read_film(session.video().empty() ? made_scene : session.video(), frames);
    const auto noisy = [&](double sigma) {
        bench_film(session, noisy_film(film.frames.front(), frames, sigma),
                   fmt::format("a still under noise of sigma {}", sigma));
    };
    if (choices.noise > 0) return noisy(choices.noise);
    bench_film(session, film, session.video().empty() ? "made" : "real");
    noisy(noisy_sigma);
    for (std::size_t frame = 1; frame < film.frames.size(); ++frame)
        copy(std::as_const(film.frames.front()).view(), film.frames[frame].view());
    bench_film(session, film, "constant");
}

const SuiteEntry stream_suite{"peers", "stream", bench_stream};

}  // namespace
}  // namespace framewire::bench
