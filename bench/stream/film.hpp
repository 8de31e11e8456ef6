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

/// Reads the first `count` frames of a source. Throws Error{no_input} if there is no such source.
Film read_film(const std::string& source, int count);
/// Returns `count` frames of one still picture with fresh Gaussian noise in every byte; the same arguments give the
/// same frames.
Film noisy_film(const HostImage& still, int count, double sigma);

/// Results of coding a film. Frame 0 is a keyframe, the others are delta frames.
struct Coded {
    std::vector<std::size_t> bytes;  ///< size of each frame
    std::vector<double> encode_ms;   ///< CPU time per delta frame
    double decode_ms = 0;            ///< CPU time for all delta frames
    int largest_error = 0;           ///< over all bytes of all frames
    std::uint64_t squared_error = 0;
    std::uint64_t samples = 0;

    /// Compares a frame with what a viewer sees.
    void score(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> seen);
    double psnr() const;  ///< dB; infinite if there is no difference
    double bytes_per_step() const;
    double encode_ms_per_step() const { return per_step(std::accumulate(encode_ms.begin(), encode_ms.end(), 0.0)); }
    double decode_ms_per_step() const { return per_step(decode_ms); }

private:
    double per_step(double total) const { return bytes.size() > 1 ? total / static_cast<double>(bytes.size() - 1) : 0; }
};

/// Returns the CPU time of this process, all threads, in milliseconds.
double processor_ms();

}  // namespace framewire::bench
