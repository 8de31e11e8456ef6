#include "hog_options.hpp"

#include "framewire/core/error.hpp"

#include <charconv>

namespace framewire::app {

WindowModel window_of(const HogOptions& options) {
    WindowModel model{.hog = options.hog, .weights = {}};
    const auto& text = options.window;
    const auto* end = text.data() + text.size();
    const auto width = std::from_chars(text.data(), end, model.width_px);
    const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
    const auto height = cross ? std::from_chars(width.ptr + 1, end, model.height_px) : width;
    if (!cross || height.ec != std::errc() || height.ptr != end)
        fail(ErrorCode::usage, "--window is '{}'; a window is its width and height in pixels, as 64x128", text);
    return model;
}

}  // namespace framewire::app
