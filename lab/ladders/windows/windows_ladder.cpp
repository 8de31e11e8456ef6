#include "framewire/core/error.hpp"
#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/mean.hpp"
#include "framewire/filters/median.hpp"
#include "framewire/filters/window_ref.hpp"
#include "ladders/kit/filter_ladder.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "ladders/windows/dim_room.hpp"
#include "ladders/windows/windows_kernels.hpp"
#include "ladders/windows/windows_pictures.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace framewire::bench {
namespace windows_ladder {

// The streaming and filters report of 2022, section 6: the times of its kernels by window and tile (figure 34, without
// numbers in the text), and the share of bytes left to send after the filters (figure 35; its column is headed
// "saved").

enum class Kind { mean, gaussian, median };

struct Window {
    Kind kind;
    int size;
    double sigma;           // sigma of a Gaussian
    double report_percent;  // share of bytes left to send; 0: not measured
};
constexpr Window windows[] = {
    {Kind::mean, 3, 0, 3.37},     {Kind::mean, 5, 0, 2.31},     {Kind::mean, 7, 0, 1.66},
    {Kind::mean, 9, 0, 1.24},     {Kind::gaussian, 3, 1, 3.58}, {Kind::gaussian, 4, 2, 2.87},
    {Kind::gaussian, 5, 3, 2.37}, {Kind::gaussian, 6, 5, 1.98}, {Kind::gaussian, 7, 8, 1.66},
    {Kind::median, 3, 0, 0},      {Kind::median, 5, 0, 2.54},
};
constexpr double report_unfiltered_percent = 5.93;

std::string name_of(const Window& window) {
    switch (window.kind) {
        case Kind::mean: return fmt::format("mean {}", window.size);
        case Kind::gaussian: return fmt::format("gaussian {} sigma {:g}", window.size, window.sigma);
        case Kind::median: break;
    }
    return fmt::format("median {}", window.size);
}

FilterInfo info_of(Kind kind) {
    switch (kind) {
        case Kind::mean: return mean_info();
        case Kind::gaussian: return gaussian_info();
        case Kind::median: break;
    }
    return median_info();
}

// Returns values of a filter with black around the image, as in the report.
ParameterValues values_of(const Window& window, const FilterInfo& info) {
    const auto size = std::to_string(window.size);
    if (window.kind == Kind::gaussian)
        return with_defaults(info, {{"size", size}, {"sigma", fmt::format("{:g}", window.sigma)}, {"border", "zero"}});
    return with_defaults(info, {{"size", size}, {"border", "zero"}});
}

void make_reference(const Window& window, HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
    switch (window.kind) {
        case Kind::mean: return mean_reference({window.size, Border::zero}, in, out);
        case Kind::gaussian:
            return gaussian_reference({window.size, window.sigma, Border::zero, GaussianRounding::fine}, in, out);
        case Kind::median: return median_reference({window.size, Border::zero}, in, out);
    }
}

#if FRAMEWIRE_BENCHES_ON_GPU
// Returns the weights of sections 6.2 and 6.3.
std::vector<double> weights_of(const Window& window) {
    const int size = window.size;
    std::vector<double> weights;
    double sum = 0;
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
            const double y = i - (size - 1) / 2.0, x = j - (size - 1) / 2.0;
            const double weight =
                window.kind == Kind::mean ? 1 : std::exp(-(x * x + y * y) / (2 * window.sigma * window.sigma));
            weights.push_back(weight);
            sum += weight;
        }
    for (auto& weight : weights) weight /= sum;
    return weights;
}

// Throws unless each byte is nearest to the formula in doubles; of two equally near values either is accepted.
ImageCheck nearest_to_formula(const Window& window, HostView<const std::uint8_t> in) {
    const auto& shape = in.shape();
    const auto weights = weights_of(window);
    std::vector<double> formula(static_cast<std::size_t>(shape.bytes()));
    auto* value = formula.data();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            for (int channel = 0; channel < 3; ++channel, ++value) {
                const auto* weight = weights.data();
                for (int v = y - window.size / 2; v < y - window.size / 2 + window.size; ++v)
                    for (int u = x - window.size / 2; u < x - window.size / 2 + window.size; ++u, ++weight)
                        if (u >= 0 && u < shape.width && v >= 0 && v < shape.height)
                            *value += *weight * in.row(0, v)[3 * u + channel];
            }
    return [formula = std::move(formula)](HostView<const std::uint8_t> got, const std::string& operation) {
        for (std::size_t i = 0; i < formula.size(); ++i)
            if (std::abs(got.data()[i] - formula[i]) > 0.501)
                fail(ErrorCode::internal, "{}: byte {} is {}, not {:.3f}; not timed", operation, i, got.data()[i],
                     formula[i]);
    };
}

// Returns the largest possible tile and smaller ones; only a few for a profiler.
std::vector<int> tiles_of(int size, bool few) {
    const int largest = most_window_threads + 1 - size;
    if (few) return {8, 16, largest};
    std::vector<int> tiles;
    for (int tile = 4; tile < largest; tile += 4) tiles.push_back(tile);
    tiles.push_back(largest);
    return tiles;
}

void run_tiles(const Window& window, FilterLadder& ladder, HostView<const std::uint8_t> in,
               const ImageCheck& is_reference, const Session& session, const cuda::Stream& stream) {
    const auto& shape = in.shape();
    const bool is_median = window.kind == Kind::median;
    if (!is_median) {
        const auto weights = weights_of(window);
        set_window_weights(std::vector<float>(weights.begin(), weights.end()).data(), window.size, stream);
    }
    const auto check = is_median ? is_reference : nearest_to_formula(window, in);
    const auto tiles = tiles_of(window.size, session.once());
    for (const int tile : tiles) {
        const WindowsJob job{ladder.device_in(), ladder.device_out(), shape.width, shape.height, window.size, tile};
        // The report has one time for the median, without its tile size.
        const bool has_time = is_median && window.size == 5 && tile == tiles.back();
        ladder.gpu(
            {.operation = fmt::format("{}{}", name_of(window), is_median ? ", bubble sort" : ""),
             .details = {{"tile", std::to_string(tile)}},
             .note = is_median ? "" : "fixed: rounds to nearest; the report truncates",
             .reported = has_time
                             ? std::optional(Reported{"streaming and filters 2022, section 6.5", "Jetson Nano", 574670})
                             : std::nullopt},
            {{"kernel", [&] { (is_median ? median_in_tiles : convolve_in_tiles)(job, stream); }}}, check, "kernel");
    }
}
#endif

void run_window(Session& session, const Window& window, const DimRoom& room, double unfiltered_percent) {
    const auto in = HostView<const std::uint8_t>(room.first.view());
    HostImage want(in.shape());
    make_reference(window, in, want.view());
    const auto check = image_is(want.view());
    FilterLadder ladder(session, "windows", in, in.shape());
#if FRAMEWIRE_BENCHES_ON_GPU
    if (session.gpu()) {
        session.attempt(name_of(window),
                        [&] { run_tiles(window, ladder, in, check, session, session.gpu()->stream()); });
        if (&window == windows) ladder.transfers();
    }
#endif
    const auto info = info_of(window.kind);
    const auto values = values_of(window, info);
    const auto first = filtered_on_cpu(info, values, room.first.view(), session);
    const auto second = filtered_on_cpu(info, values, room.second.view(), session);
    const double percent = changed_percent(first.view(), second.view());
    write_noise_picture(session, fmt::format("noise-{}-{}", info.name, window.size), first.view(), second.view());
    LadderVariant variant{
        .operation = "framewire, " + name_of(window),
        .details = {{"changed_percent", fmt::format("{:.2f}", percent)},
                    {"unfiltered_percent", fmt::format("{:.2f}", unfiltered_percent)}},
        .note = fmt::format("reduces the bytes to send from {:.2f} % to {:.2f} %", unfiltered_percent, percent)};
    if (window.report_percent != 0) {
        variant.details["report_percent"] = fmt::format("{:.2f}", window.report_percent);
        variant.note +=
            fmt::format("; figure 35: from {:.2f} % to {:.2f} %", report_unfiltered_percent, window.report_percent);
    }
    ladder.framewire(variant, info, values, check);
}

// Writes figure 41, and the result of a median.
void write_salt_and_pepper(Session& session, const DimRoom& room) {
    if (session.pictures().empty()) return;
    const auto salted = with_salt_and_pepper(room.first.view());
    write_picture(session, "windows-salt-and-pepper", salted.view());
    const auto info = median_info();
    write_picture(session, "windows-salt-and-pepper-median-3",
                  filtered_on_cpu(info, with_defaults(info, {}), salted.view(), session).view());
}

void run_windows(Session& session) {
    // A check uses a frame whose size is not a multiple of the tile size.
    const DimRoom room(session.check_only() ? Shape{1, 181, 317, 3} : bench_frame);
    const double unfiltered_percent = changed_percent(room.first.view(), room.second.view());
    write_noise_picture(session, "noise", room.first.view(), room.second.view());
    write_salt_and_pepper(session, room);
    for (const auto& window : windows) run_window(session, window, room, unfiltered_percent);
}

const SuiteEntry windows_ladder_suite{"ladders", "windows", run_windows};

}  // namespace windows_ladder
}  // namespace framewire::bench
