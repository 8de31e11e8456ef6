#pragma once

#include "kit/session.hpp"

namespace framewire::bench {

/// Prints precision, recall and F-measure of the moving pixels found by the mixture, and by OpenCV's, in
/// session.cdnet_folder(), a scene of changedetection.net: input/in%06d.jpg and groundtruth/gt%06d.png, in which 255 is
/// moving, 170 (unknown) and 85 (outside) are not counted, and everything else, including shadows, is static. Frames
/// without ground truth only train the model. Throws Error{no_input} if there is no such scene.
void print_mixture_quality(Session& session);

}  // namespace framewire::bench
