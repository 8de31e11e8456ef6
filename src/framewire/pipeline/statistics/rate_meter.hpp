#pragma once

#include <array>
#include <cstdint>

namespace framewire {

/// Measures the output rate over the frames' own times: the mean, and the busiest second. Bounded memory. Not
/// thread-safe.
class RateMeter {
public:
    /// Adds `bytes` of the frame at `seconds`. A frame with an implausible time is placed after the last one by
    /// the last valid gap.
    void add(double seconds, std::int64_t bytes);
    /// Pauses the output; the time until the next add() does not count.
    void pause() { runs_ = false; }

    /// Returns the mean rate over all frames that were added.
    double mean_bits_per_second() const;
    /// Returns the largest rate of any second, at a resolution of 10 ms.
    double most_bits_per_second() const { return 8.0 * static_cast<double>(most_); }

private:
    void forget_until(std::int64_t bin);

    static constexpr int bins_per_second = 100;

    bool runs_ = false;
    double last_ = 0, gap_ = 1.0 / 30, elapsed_ = 0;
    std::int64_t count_ = 0, total_ = 0;
    std::array<std::int64_t, bins_per_second> bins_{};  // bytes of the last second
    std::int64_t bin_ = 0, in_window_ = 0, most_ = 0;
};

}  // namespace framewire
