#pragma once

#include <cstdint>
#include <optional>

namespace framewire::codec {

/// Bounds for the bitrate and the threshold of a stream.
struct RateLimits {
    /// Range of bits_per_second.
    static constexpr double least_bits = 1e3, most_bits = 1e12;
    /// Default of threshold_max.
    static constexpr int usual_threshold_max = 64;

    double bits_per_second = 0;  ///< maximum in any second; least_bits to most_bits
    /// Optional. Maximum threshold. If empty, usual_threshold_max, or the minimum threshold if that is larger.
    std::optional<int> threshold_max{};

    /// Returns the maximum threshold if the minimum is `least`.
    int greatest_threshold(int least) const;
};

/// Throws Error{usage} unless the limits are valid for a stream whose minimum threshold is `threshold`.
void validate(const RateLimits& limits, int threshold);

/// Rate control: chooses the threshold of each frame so that the delta frames of a stream stay within a bitrate.
/// Keyframes do not count. Uses frame times instead of a clock. Not thread-safe.
///
/// The model is a leaky bucket that holds the bytes of one second and drains at slightly less than the allowed rate. As
/// in MPEG-2 Test Model 5 (section 10, step 2), where the fullness of a virtual buffer sets the quantizer, the fullness
/// sets the threshold: the minimum while the bucket is nearly empty, the maximum when it is nearly full, and an
/// exponential curve in between. The threshold thus rises as fast as the bucket fills. The bucket is initially half
/// full, so that the first second also keeps the rate.
///
/// When the threshold falls, all changes that the higher threshold withheld are sent at once. It therefore falls in
/// small steps, each of which waits until the cost of the previous one is known.
class RateControl {
public:
    /// Creates rate control with the minimum threshold `threshold`. `frames_per_second` (above 0) determines the
    /// interval to assume for frames with implausible times. Throws Error{usage} if an argument is invalid.
    RateControl(const RateLimits& limits, int threshold, double frames_per_second);

    /// Returns the threshold of the next frame, whose time is `seconds`. It may be called for several frames before
    /// their sizes are known. The first frame is a keyframe and gets the minimum.
    int threshold(double seconds);
    /// Changes the minimum threshold from the next frame on; the maximum stays. Throws Error{usage} if `threshold` is
    /// not in 0..maximum.
    void set_least(int threshold);
    /// Reports that the delta frame at time `seconds` with `threshold` took `bytes` bytes, or 0 if none was sent. Call
    /// it in frame order.
    void took(double seconds, int threshold, std::int64_t bytes);

    /// Returns how many additional bytes may be sent after the last reported frame without raising the threshold; 0
    /// while the threshold is above the minimum.
    double room_bytes() const;

    /// Returns the fullness of the bucket after the last reported frame: 1 means full; above 1, more was sent than the
    /// rate allows.
    double fullness() const { return bytes_ / capacity_bytes_; }
    /// Returns how many delta frames found the bucket full although the maximum threshold was in force and the stream
    /// exceeded the rate.
    std::int64_t over() const { return over_; }

private:
    double seconds_between(double earlier, double later) const;
    double wanted(double fullness) const;

    int least_, greatest_;
    double bytes_per_second_, frame_seconds_, capacity_bytes_;
    // State of the reported frames.
    double bytes_, known_at_ = 0;
    double flow_ = 0;  // recent bytes per second at the last threshold
    int known_threshold_;
    std::int64_t over_ = 0;
    // State of the frames for which threshold() was called.
    bool asked_ = false;
    double asked_at_ = 0, steady_seconds_ = 0;
    int threshold_;
};

}  // namespace framewire::codec
