#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace framewire::network {

/// Frames of a test camera: a loop of 20 to 120 frames, drawn by the constructor. The same arguments give the same
/// bytes in every process.
class Scene {
public:
    enum class Kind {
        room,  ///< a textured wall with two moving squares
        tones  ///< a dark, a gray and a bright third with a faint pattern, and a figure of low contrast in each
    };

    /// `noise` is the sensor's noise, in levels. With a `level`, the room has little contrast around that brightness,
    /// so that a threshold can cover all differences between the room and a mask.
    Scene(Kind kind, const Shape& shape, double noise, std::optional<int> level = {});

    const Shape& shape() const { return loop_.front().shape(); }
    /// Draws frame `number`, with its stamp, into a picture of the scene's shape.
    void draw(std::uint32_t number, HostView<std::uint8_t> picture) const;

private:
    std::vector<HostImage> loop_;
};

/// Parses "room" or "tones". Throws std::invalid_argument for any other text.
Scene::Kind parse_scene(std::string_view text);

}  // namespace framewire::network
