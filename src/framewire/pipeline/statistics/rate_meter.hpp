#pragma once

#include <array>
#include <cstdint>

namespace framewire {

/// Measures what goes out over the frames' own times: in the mean, and in the busiest second. In bounded memory. Not
/// thread-safe.
class RateMeter {
public:
    /// `bytes` of the frame at `seconds`. Where times make no sense a frame is as long after the last as that was.
    void add(double seconds, std::int64_t bytes);
    /// Nothing goes out from now on; the time until the next add() does not count.
    void pause() { runs_ = false; }

    double mean_bits_per_second() const;
    /// Of any second, to a hundredth of one.
    double most_bits_per_second() const { return 8.0 * static_cast<double>(most_); }

private:
    void forget_until(std::int64_t bin);

    static constexpr int bins_per_second = 100;

    bool runs_ = false;
    double last_ = 0, gap_ = 1.0 / 30, elapsed_ = 0;
    std::int64_t count_ = 0, total_ = 0;
    std::array<std::int64_t, bins_per_second> bins_{};  // of the last second
    std::int64_t bin_ = 0, in_window_ = 0, most_ = 0;
};

}  // namespace framewire
