#pragma once

#include "framewire/session/live/live_camera.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace framewire::session::web {

/// The picture that a camera's viewers see, as image files. Each format is encoded on request, once per version, and
/// shared by all requests. Thread-safe.
class CameraPictures {
public:
    /// Encoded file, shared.
    using File = std::shared_ptr<const std::string>;

    /// Keeps the camera alive.
    explicit CameraPictures(std::shared_ptr<LiveCamera> camera) : camera_(std::move(camera)) {}

    /// Returns the newest picture as JPEG. Throws Error{config} before the first frame, as png() does.
    File jpeg() { return newest(jpeg_); }
    /// Returns the newest picture as PNG, losslessly compressed.
    File png() { return newest(png_); }

private:
    // Newest file of one format. The mutex is held while encoding, so that simultaneous requests encode once.
    struct Newest {
        std::string (*encode)(HostView<const std::uint8_t> image);
        std::mutex mutex{};
        std::uint64_t version = 0;
        File file{};
    };

    File newest(Newest& kind);
    static std::string as_jpeg(HostView<const std::uint8_t> image);
    static std::string as_png(HostView<const std::uint8_t> image);

    std::shared_ptr<LiveCamera> camera_;
    Newest jpeg_{as_jpeg}, png_{as_png};
};

}  // namespace framewire::session::web
