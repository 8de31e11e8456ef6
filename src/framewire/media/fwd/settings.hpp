#pragma once

#include "framewire/delta/delta.hpp"
#include "framewire/media/sinks/sink_kind.hpp"

#include <optional>
#include <string>

namespace framewire::fwd {

/// Default interval between the keyframes of a recording.
inline constexpr double usual_key_seconds = 10;

/// Parameters of a `.fwd` sink.
struct Settings {
    delta::EncoderParameters encoder{};
    double key_seconds = 0;  ///< longest interval between keyframes
};

/// Settings for frames from a difference stream with `source_threshold`, or from another source if it is empty: unless
/// the call gives mode or threshold, bytes of a difference stream are kept unchanged. Throws Error{usage} on settings
/// that contradict each other.
Settings settings_of(const SinkCall& call, std::optional<int> source_threshold = {});

/// Path and keyframe interval of a recording of a stream that is already encoded.
struct RecordCall {
    std::string path;
    double key_seconds;
};
/// Parses the text of such a recording. Throws Error{usage} if it is not a `.fwd` file, and on encoder parameters,
/// which cannot be chosen here.
RecordCall parse_record(const std::string& text);

/// Decides when a frame is written as a keyframe.
class PictureClock {
public:
    explicit PictureClock(double seconds) : seconds_(seconds) {}

    /// True if no keyframe was written yet, the last one is older than the interval, or time went backwards.
    bool is_due(double seconds) const { return !last_ || seconds >= *last_ + seconds_ || seconds < *last_; }
    /// Call it for each keyframe that is written.
    void wrote_one(double seconds) { last_ = seconds; }

private:
    double seconds_;
    std::optional<double> last_;
};

}  // namespace framewire::fwd
