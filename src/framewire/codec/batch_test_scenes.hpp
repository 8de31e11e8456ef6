#pragma once

#include "framewire/core/view.hpp"
#include "kit/images.hpp"

#include <cstdint>
#include <random>

// Random frames for tests of the batch packers.

namespace framewire::codec::batch_testing {

/// How a frame differs from the one before it.
enum class Scene { still, blobs, scattered, shifted, noise };
inline constexpr Scene all_scenes[] = {Scene::still, Scene::blobs, Scene::scattered, Scene::shifted, Scene::noise};

/// Fills every frame of `image` with a textured slope and sensor noise. If `later` is set, applies the change that
/// `scene` names. The same arguments and test seed give the same bytes.
inline void fill_scene(HostView<std::uint8_t> image, Scene scene, bool later, std::uint64_t salt) {
    std::mt19937_64 random(kit::seed() * 7 + salt * 2 + later);
    const auto& shape = image.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int i = 0; i < shape.width * shape.channels; ++i) {
                const int x = i / shape.channels, moved = later && scene == Scene::shifted ? x + 3 : x;
                int value = moved + y / 2 + 30 * ((moved / 9 + y / 7 + frame) % 2) + 8 * (i % shape.channels) +
                            static_cast<int>(random() % 5);
                if (later && scene == Scene::blobs && (x / 23 + y / 19 + frame) % 4 == 0)
                    value += 70 - 2 * (x % 23) + static_cast<int>(random() % 9);
                if (later && scene == Scene::scattered && random() % 40 == 0) value += 90;
                if (scene == Scene::noise) value = static_cast<int>(random());
                image.row(frame, y)[i] = static_cast<std::uint8_t>(value);
            }
}

}  // namespace framewire::codec::batch_testing
