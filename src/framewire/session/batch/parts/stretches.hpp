#pragma once

#include "framewire/detect/background/background.hpp"
#include "framewire/media/sources/frame_times.hpp"
#include "framewire/session/options.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::session {

/// How much of the earlier frames a job's filters and detector depend on.
struct LookBack {
    /// Number of frames before a frame, counted at the source's rate.
    int frames = 0;
    /// Number of frames behind a filter that changes the rate, counted at that rate.
    int rated_frames = 0;
    /// True if the very first frame of the source is needed.
    bool first_frame = false;
    /// Name of the background model that learns from all frames; empty: none does.
    std::string learns{};
};

/// Returns the dependencies of a chain and of the detector's `background` model; null: there is no detector. Throws as
/// parse_chain() does.
LookBack look_back_of(const std::string& filters, const BackgroundModel* background);

/// How a long video is split.
struct Cutting {
    /// Minimum duration of a time range.
    double seconds = 0;
    /// Optional. Frames before each range from which a learning background model starts.
    std::optional<double> warm_up_seconds{};
    /// Earlier frames that the job needs.
    LookBack look_back{};
};

/// Throws Error{usage} if a learning model has no warm-up, or if the input has a start or a duration.
void require_can_be_cut(const InputOptions& input, const Cutting& cutting);

/// Returns the time ranges into which a source with these frames is split. Each begins with the first key frame that is
/// at least Cutting::seconds after the begin of the previous range. Returns one range with everything if there is no
/// such key frame.
std::vector<Stretch> stretches_of(const FrameTimes& times, const InputOptions& input, const Cutting& cutting);

}  // namespace framewire::session
