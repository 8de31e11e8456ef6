#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace framewire::bench {

/// Frames of one scene, all in memory.
struct Film {
    Shape shape;
    std::vector<HostImage> frames;
};

/// The first `count` frames of a source. Throws Error{no_input} where there is none.
Film read_film(const std::string& source, int count);
/// `count` frames of one still picture under fresh Gaussian noise in every byte; the same for the same numbers.
Film noisy_film(const HostImage& still, int count, double sigma);

/// What a coder made of a film. Frame 0 is a whole picture, the others are steps.
struct Coded {
    std::vector<std::size_t> bytes;  ///< of each frame
    std::vector<double> encode_ms;   ///< processor time of each step
    double decode_ms = 0;            ///< of all steps
    int largest_error = 0;           ///< of any byte of any frame
    std::uint64_t squared_error = 0;
    std::uint64_t samples = 0;

    /// Compares a frame with what a viewer sees.
    void score(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> seen);
    double psnr() const;  ///< dB; infinite where nothing differs
    double bytes_per_step() const;
    double encode_ms_per_step() const { return per_step(std::accumulate(encode_ms.begin(), encode_ms.end(), 0.0)); }
    double decode_ms_per_step() const { return per_step(decode_ms); }

private:
    double per_step(double total) const { return bytes.size() > 1 ? total / static_cast<double>(bytes.size() - 1) : 0; }
};

/// Processor time of this process, all threads, in milliseconds.
double processor_ms();

}  // namespace framewire::bench
