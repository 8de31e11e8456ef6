#pragma once

#include "framewire/detect/background/background.hpp"
#include "framewire/media/sources/frame_times.hpp"
#include "framewire/session/options.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::session {

/// What a job's filters and its detector know of earlier frames.
struct LookBack {
    int frames = 0;            ///< so many before a frame, of those that filters get
    int rated_frames = 0;      ///< likewise, behind a filter that changes the rate
    bool first_frame = false;  ///< the first frame of all
    std::string learns{};      ///< what learns from all of them; empty: nothing does
};

/// `background`: of the detector behind the filters; null where there is none. Throws as parse_chain() does.
LookBack look_back_of(const std::string& filters, const BackgroundModel* background);

/// How a long video is cut.
struct Cutting {
    double seconds = 0;                       ///< of each stretch, at the least
    std::optional<double> warm_up_seconds{};  ///< before each, for what learns
    LookBack look_back{};
};

/// Throws Error{usage} where what learns has no warm-up, and where the input is not all of a source.
void require_can_be_cut(const InputOptions& input, const Cutting& cutting);

/// The stretches that a source of these frames is cut into: each begins with a key frame, the first that is so long
/// behind the one before. One, which is all of it, where there is no other.
std::vector<Stretch> stretches_of(const FrameTimes& times, const InputOptions& input, const Cutting& cutting);

}  // namespace framewire::session
