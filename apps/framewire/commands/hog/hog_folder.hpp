#pragma once

#include "commands/hog/hog_output.hpp"

#include <stop_token>

namespace framewire::app {

/// Descriptors of a folder's images of any sizes, an image NAME.png's into NAME.npy of the folder `-o`, which is made
/// where it is missing. Each file is there when it is whole, those before an image that cannot be read too. Throws
/// Error{usage} when `-i` is no folder and when two images have one name but for their endings, and as the parts do,
/// with the image's name.
void describe_folder(const DescribeOptions& options, const std::stop_source& stop);

}  // namespace framewire::app
