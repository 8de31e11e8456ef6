#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// Images that are read each time they are used, so that a folder of them need not fit into memory.
struct TrainingImages {
    std::vector<std::string> names;                     ///< for messages
    std::function<HostImage(const std::string&)> read;  ///< reads the image of that name: one frame, 1 or 3 channels

    /// Returns the number of images.
    std::size_t size() const { return names.size(); }
};

/// Calls work(view, number) for each image until a stop is requested. Errors of `work` are rethrown with the
/// name of the image.
template <class Work>
void for_each_image(const TrainingImages& images, const std::stop_token& stop, Work&& work) {
    for (std::size_t number = 0; number < images.size() && !stop.stop_requested(); ++number) {
        const auto image = images.read(images.names[number]);
        try {
            work(image.view(), number);
        } catch (const Error& error) {
            fail(error.code(), "{}: {}", images.names[number], error.what());
        }
    }
}

}  // namespace framewire
