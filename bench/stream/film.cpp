#include "stream/film.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <numbers>
#include <random>
#include <utility>

namespace framewire::bench {

Film read_film(const std::string& source, int count) {
    const auto input = open_source(source);
    Film film{input->info().shape, {}};
    FrameTime time;
    for (int i = 0; i < count; ++i) {
        HostImage frame(film.shape);
        if (!input->read(frame.view(), time)) break;
        film.frames.push_back(std::move(frame));
    }
    if (film.frames.empty()) fail(ErrorCode::no_input, "{} has no frames", source);
    return film;
}

Film noisy_film(const HostImage& still, int count, double sigma) {
    Film film{still.shape(), {}};
    std::mt19937_64 random(1);
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0; };
    for (int i = 0; i < count; ++i) {
        HostImage frame(film.shape);
        for (int y = 0; y < film.shape.height; ++y) {
            const auto* from = still.view().row(0, y);
            auto* to = frame.view().row(0, y);
            for (std::int64_t x = 0; x < film.shape.row_bytes(); ++x) {
                // Box and Muller (1958).
                const double noise = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
                to[x] = static_cast<std::uint8_t>(std::clamp(std::lround(from[x] + sigma * noise), 0l, 255l));
            }
        }
        film.frames.push_back(std::move(frame));
    }
    return film;
}

void Coded::score(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> seen) {
    const auto& shape = camera.shape();
    for (int y = 0; y < shape.height; ++y)
        for (std::int64_t x = 0; x < shape.row_bytes(); ++x) {
            const int error = std::abs(camera.row(0, y)[x] - seen.row(0, y)[x]);
            largest_error = std::max(largest_error, error);
            squared_error += static_cast<std::uint64_t>(error * error);
        }
    samples += static_cast<std::uint64_t>(shape.frame_bytes());
}

double Coded::psnr() const {
    if (squared_error == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(255.0 * 255 * static_cast<double>(samples) / static_cast<double>(squared_error));
}

double Coded::bytes_per_step() const {
    double all = 0;
    for (std::size_t i = 1; i < bytes.size(); ++i) all += static_cast<double>(bytes[i]);
    return per_step(all);
}

double processor_ms() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace framewire::bench
