#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace framewire {

/// Owns a YUV picture on the host, uninitialised; rows begin at multiples of 64 bytes. Move-only.
class YuvPicture {
public:
    /// Throws Error{usage} on a picture that is not allowed, Error{config} without memory.
    explicit YuvPicture(const YuvInfo& info);

    const YuvInfo& info() const { return info_; }
    /// Of its memory, from the first plane on.
    std::int64_t bytes() const { return static_cast<std::int64_t>(buffer_.bytes()); }
    HostYuv<std::uint8_t> view() { return view_; }
    HostYuv<const std::uint8_t> view() const { return view_; }

private:
    YuvInfo info_;
    HostBuffer buffer_;
    HostYuv<std::uint8_t> view_;
};

/// Pictures of one kind that come back when nobody holds them any more, to be lent again: from any thread, after the
/// pool itself has gone, too.
class YuvPicturePool {
public:
    YuvPicturePool() : free_(std::make_shared<Free>()) {}

    /// One of `info`, its samples as they may be. Throws as YuvPicture does.
    std::shared_ptr<YuvPicture> take(const YuvInfo& info);

private:
    struct Free {
        std::mutex mutex;
        std::vector<std::unique_ptr<YuvPicture>> pictures;
    };
    std::shared_ptr<Free> free_;
};

}  // namespace framewire
