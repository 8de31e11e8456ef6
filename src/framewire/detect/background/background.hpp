#pragma once

#include "framewire/detect/background/mixture/mixture_model.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace framewire {

/// The first frame.
struct FirstFrame {
    friend bool operator==(const FirstFrame&, const FirstFrame&) = default;
};

/// The mean of the frames before, each counting less the older it is.
struct RunningMean {
    double rate;  ///< share of the newest frame, above 0 up to 1
    friend bool operator==(const RunningMean&, const RunningMean&) = default;
};

/// An image the user has.
struct BackgroundImage {
    std::string path;
    friend bool operator==(const BackgroundImage&, const BackgroundImage&) = default;
};

/// What frames are compared with to find what moves; `--background` on the command line.
using BackgroundModel = std::variant<FirstFrame, RunningMean, MixtureParameters, BackgroundImage>;

/// Reads "first", "mean:RATE" (mean:0.02), "mixture" with any of MixtureParameters as options by their names
/// ("mixture:history=200:shadows=0"), or the path of an image, which has a '.' or '/' in it and is not opened here.
/// Throws Error{usage} on anything else, saying what is allowed.
BackgroundModel parse_background(std::string_view text);

/// What such a model is called there; "picture" for a BackgroundImage.
std::string_view name_of_background(const BackgroundModel& model);

/// How many frames at the start are compared with no background yet, or with one that tells little of the scene:
/// whoever stands in the first frame is part of it. None for a BackgroundImage. One for FirstFrame: that frame itself.
/// For a RunningMean and a mixture, those whose background is the first frame for more than half. Of a mixture that
/// learns nothing the first frame is all there is, so one.
std::int64_t frames_before_background(const BackgroundModel& model);

}  // namespace framewire
