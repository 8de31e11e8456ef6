#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace framewire {

/// Owns a YUV picture on the host, uninitialised. Rows start at multiples of 64 bytes, and 64 bytes after the
/// last sample may be read. Move-only.
class YuvPicture {
public:
    /// Allocates a picture. Throws Error{usage} if `info` is not allowed, Error{config} if there is not enough
    /// memory.
    explicit YuvPicture(const YuvInfo& info);

    /// Returns the description that the picture was made with.
    const YuvInfo& info() const { return info_; }
    /// Size of the memory from the start of the first plane.
    std::int64_t bytes() const { return static_cast<std::int64_t>(buffer_.bytes()); }
    /// Return a view of all planes; valid as long as the picture.
    HostYuv<std::uint8_t> view() { return view_; }
    HostYuv<const std::uint8_t> view() const { return view_; }

private:
    YuvInfo info_;
    HostBuffer buffer_;
    HostYuv<std::uint8_t> view_;
};

/// Reuses pictures of one kind. A picture returns to the pool when its last owner releases it, from any thread,
/// even after the pool itself has been destroyed. Thread-safe.
class YuvPicturePool {
public:
    YuvPicturePool() : free_(std::make_shared<Free>()) {}

    /// Returns a picture of `info` with unspecified samples. A different `info` than before discards the unused
    /// pictures. Throws what YuvPicture throws.
    std::shared_ptr<YuvPicture> take(const YuvInfo& info);

private:
    // The unused pictures, shared with the deleters of the used ones.
    struct Free {
        std::mutex mutex;
        std::vector<std::unique_ptr<YuvPicture>> pictures;
    };
    std::shared_ptr<Free> free_;
};

}  // namespace framewire
