#pragma once

#include <cstdint>
#include <optional>

namespace framewire::delta {

/// What the steps of a stream may take.
struct RateLimits {
    static constexpr double least_bits = 1e3, most_bits = 1e12;
    static constexpr int usual_threshold_max = 64;

    double bits_per_second = 0;  ///< over any second, least_bits to most_bits
    /// The greatest threshold in force; none: usual_threshold_max, or the least one where that is more.
    std::optional<int> threshold_max{};

    int greatest_threshold(int least) const;
};

/// Throws Error{usage} unless the limits are allowed for a stream whose threshold is at least `threshold`.
void validate(const RateLimits& limits, int threshold);

/// Chooses the threshold of each frame so that the steps of a stream take no more than so many bits per second: higher
/// where they would, lower again where there is room. Knows no clock: times are those of the frames.
///
/// The steps fill a bucket that holds what one second may take and leaks at nearly the rate allowed. The threshold
/// follows how full it is, as in MPEG-2's Test Model 5 (section 10, step 2) quantizers follow the fullness of a virtual
/// buffer: the least while it is nearly empty, the greatest when it is nearly full, even ratios between. So it rises as
/// fast as the bucket fills. Before anything is sent the bucket counts as half full, so that the first second holds the
/// rate, too. A lower threshold sends at once all that the higher one withheld: it sinks in small steps,
/// each when it is known what the one before took.
///
/// Not for two threads at once.
class RateControl {
public:
    /// The least threshold in force is `threshold`. `frames_per_second`, above 0, counts where times make no sense.
    /// Throws as validate(limits, threshold) does.
    RateControl(const RateLimits& limits, int threshold, double frames_per_second);

    /// The threshold of the frame at `seconds`, the one after those asked for before. Several may be asked for before
    /// it is known what they took. The first frame has the least: it is a whole picture, which does not count.
    int threshold(double seconds);
    /// Another least threshold from the next frame on, no more than the greatest, which stays.
    void set_least(int threshold);
    /// The step to the frame at `seconds`, within `threshold`, took `bytes`: 0 where none was sent. In the frames'
    /// order.
    void took(double seconds, int threshold, std::int64_t bytes);

    /// What may be sent on top after the last frame known without raising the threshold: 0 while that is above the
    /// least.
    double room_bytes() const;

    /// Of the bucket after the last frame known: 1 is full. More was sent than the rate allows where it is above.
    double fullness() const { return bytes_ / capacity_bytes_; }
    /// How many steps came to a full bucket while those within the greatest threshold took more than the rate allows.
    std::int64_t over() const { return over_; }

private:
    double seconds_between(double earlier, double later) const;
    double wanted(double fullness) const;

    int least_, greatest_;
    double bytes_per_second_, frame_seconds_, capacity_bytes_;
    // Of the frames whose steps are known.
    double bytes_, known_at_ = 0;
    double flow_ = 0;  // bytes per second of late, within the threshold of the last one
    int known_threshold_;
    std::int64_t over_ = 0;
    // Of the frames asked for.
    bool asked_ = false;
    double asked_at_ = 0, steady_seconds_ = 0;
    int threshold_;
};

}  // namespace framewire::delta
