#pragma once

#include "framewire/detect/background/mixture/mixture_model.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace framewire {

/// The background is the first frame.
struct FirstFrame {
    friend bool operator==(const FirstFrame&, const FirstFrame&) = default;
};

/// The background is an exponential running mean of the frames before.
struct RunningMean {
    double rate;  ///< weight of the newest frame, above 0 up to 1
    friend bool operator==(const RunningMean&, const RunningMean&) = default;
};

/// The background is an image file of the user.
struct BackgroundImage {
    std::string path;
    friend bool operator==(const BackgroundImage&, const BackgroundImage&) = default;
};

/// The models that frames are compared with to find motion; the option `--background`.
using BackgroundModel = std::variant<FirstFrame, RunningMean, MixtureParameters, BackgroundImage>;

/// Parses "first", "mean:RATE" (mean:0.02), "mixture" with any of MixtureParameters as options
/// ("mixture:history=200:shadows=0"), or the path of an image, which must contain a '.' or '/' and is not
/// opened here. Throws Error{usage} for anything else; the message lists what is allowed.
BackgroundModel parse_background(std::string_view text);

/// Returns the name of the model in that syntax, or "picture" for a BackgroundImage.
std::string_view name_of_background(const BackgroundModel& model);

/// Returns how many frames at the start of a stream have no background yet, or one that says little about the
/// scene because people in the first frame are part of it. 0 for a BackgroundImage. 1 for FirstFrame: that
/// frame itself. For a RunningMean and a mixture, the frames whose background is the first frame for more than
/// half; 1 for a mixture that does not learn, since it never has anything but the first frame.
std::int64_t frames_before_background(const BackgroundModel& model);

}  // namespace framewire
