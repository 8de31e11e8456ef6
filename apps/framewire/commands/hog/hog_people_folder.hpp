#pragma once

#include "commands/hog/hog_people.hpp"

#include <stop_token>

namespace framewire::app {

/// People in a folder's images of any sizes: a record for each, with its name, and NAME.png with boxes and scores for
/// an image NAME.jpg in the folder of `--annotate`, which is made where it is missing. An image smaller than the
/// smallest window has nobody, and a warning. Throws as the parts do, with the image's name, after what was found
/// before was written; Error{usage} when `--annotate` names no folder or that of the images, and when two images have
/// one name but for their endings.
void find_people_in_folder(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop);

}  // namespace framewire::app
