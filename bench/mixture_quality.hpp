#pragma once

#include "kit/session.hpp"

namespace framewire::bench {

/// Prints precision, recall and F-measure of the pixels that the mixture, and OpenCV's beside it, finds moving in
/// session.cdnet_folder(), a scene of changedetection.net: input/in%06d.jpg and groundtruth/gt%06d.png, where 255
/// moves, 170 (unknown) and 85 (outside) do not count, and all else, shadows included, does not move. Frames without
/// ground truth are learned from. Throws Error{no_input} where there is no such scene.
void print_mixture_quality(Session& session);

}  // namespace framewire::bench
