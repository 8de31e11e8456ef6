#pragma once

#include "framewire/session/live/live_camera.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace framewire::session::web {

/// What a camera's viewers see, as files: encoded when somebody asks, once for each version, and shared by all who ask.
/// Thread-safe.
class CameraPictures {
public:
    using File = std::shared_ptr<const std::string>;

    explicit CameraPictures(std::shared_ptr<LiveCamera> camera) : camera_(std::move(camera)) {}

    /// Each throws Error{config} where there was no frame yet.
    File jpeg() { return newest(jpeg_); }
    File png() { return newest(png_); }

private:
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
