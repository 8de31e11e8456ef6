#pragma once

#include "framewire/delta/delta.hpp"
#include "framewire/media/sinks/sink_kind.hpp"

#include <optional>
#include <string>

namespace framewire::fwd {

/// From one picture of a recording to the next, where nothing else is said.
inline constexpr double usual_key_seconds = 10;

/// What is said behind the name of a `.fwd` file.
struct Settings {
    delta::EncoderParameters encoder{};
    double key_seconds = 0;  ///< from one picture to the next, at most
};

/// Settings of frames that come from a difference stream of `source_threshold`, if from one: unless mode or threshold
/// are given, its bytes are kept as they are. Throws Error{usage} on settings that do not go together.
Settings settings_of(const SinkCall& call, std::optional<int> source_threshold = {});

/// The same of a stream that is made already, whose encoder is not chosen here: seconds from picture to picture of the
/// file that `text` names. Throws Error{usage} on what is no `.fwd` file, and on an encoder's settings.
struct RecordCall {
    std::string path;
    double key_seconds;
};
RecordCall parse_record(const std::string& text);

/// When a frame is written as a whole picture.
class PictureClock {
public:
    explicit PictureClock(double seconds) : seconds_(seconds) {}

    bool is_due(double seconds) const { return !last_ || seconds >= *last_ + seconds_ || seconds < *last_; }
    void wrote_one(double seconds) { last_ = seconds; }

private:
    double seconds_;
    std::optional<double> last_;
};

}  // namespace framewire::fwd
