#include "framewire/colour/yuv_picture.hpp"

#include <utility>

namespace framewire {
namespace {

constexpr std::int64_t row_alignment = 64;
// Vector code of encoders may read past the last sample.
constexpr std::int64_t readable_behind = 64;

// Returns the row stride of a plane: its bytes, rounded up to the alignment.
std::int64_t aligned_row_bytes(const YuvInfo& info, int plane) {
    return (info.plane_row_bytes(plane) + row_alignment - 1) / row_alignment * row_alignment;
}

std::int64_t picture_bytes(const YuvInfo& info) {
    std::int64_t bytes = readable_behind;
    for (int plane = 0; plane < info.planes(); ++plane)
        bytes += aligned_row_bytes(info, plane) * info.plane_rows(plane) * info.frames;
    return bytes;
}

}  // namespace

YuvPicture::YuvPicture(const YuvInfo& info)
    : info_((validate(info, "the YUV picture"), info)), buffer_(static_cast<std::size_t>(picture_bytes(info))) {
    view_.info = info;
    auto* at = buffer_.data();
    for (int plane = 0; plane < info.planes(); ++plane) {
        const auto row_bytes = aligned_row_bytes(info, plane), plane_bytes = row_bytes * info.plane_rows(plane);
        view_.planes[static_cast<std::size_t>(plane)] = {at, row_bytes, plane_bytes};
        at += plane_bytes * info.frames;
    }
}

// Takes a free picture of the same kind, or allocates one outside of the lock.
std::shared_ptr<YuvPicture> YuvPicturePool::take(const YuvInfo& info) {
    std::unique_ptr<YuvPicture> picture;
    {
        const std::lock_guard lock(free_->mutex);
        auto& pictures = free_->pictures;
        // All free pictures are of one kind; another kind replaces them.
        if (!pictures.empty() && pictures.back()->info() != info) pictures.clear();
        if (!pictures.empty()) {
            picture = std::move(pictures.back());
            pictures.pop_back();
        }
    }
    if (!picture) picture = std::make_unique<YuvPicture>(info);
    // The deleter returns the picture. It holds the list, so this works after the pool itself is gone.
    return {picture.release(), [free = free_](YuvPicture* returned) {
                std::unique_ptr<YuvPicture> owned(returned);
                const std::lock_guard lock(free->mutex);
                free->pictures.push_back(std::move(owned));
            }};
}

}  // namespace framewire
