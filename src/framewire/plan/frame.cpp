#include "framewire/plan/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace framewire {

std::shared_ptr<const YuvPicture> FramePlanes::download() {
    if (executor_->backend() == Backend::cuda) {
        const auto& info = result_->info();
        const DeviceYuv<const std::uint8_t> from = on_gpu(to_, info);
        transfer_.down([&](const cuda::Stream& stream) {
            for (int plane = 0; plane < info.planes(); ++plane)
                cuda::download(image_of_plane(from, plane), image_of_plane(result_->view(), plane), stream);
        });
    }
    return std::exchange(result_, nullptr);
}

DeviceYuv<const std::uint8_t> FramePlanes::upload(const HostYuv<const std::uint8_t>& picture) {
    const auto& info = picture.info;
    if (!pinned_ || pinned_->info() != info) pinned_ = std::make_unique<YuvPicture>(info, executor_->frame_memory());
    const auto to = on_gpu(from_, info);
    for (int plane = 0; plane < info.planes(); ++plane)
        copy(image_of_plane(picture, plane), image_of_plane(pinned_->view(), plane));
    transfer_.up([&](const cuda::Stream& stream) {
        for (int plane = 0; plane < info.planes(); ++plane)
            cuda::upload(image_of_plane(std::as_const(*pinned_).view(), plane), image_of_plane(to, plane), stream);
    });
    return to;
}

DeviceYuv<const std::uint8_t> FramePlanes::source(const PictureOnGpu& picture) {
    const auto to = on_gpu(from_, picture.info);
    transfer_.up([&](const cuda::Stream& stream) {
        picture.read(stream, [&](const DeviceYuv<const std::uint8_t>& from) {
            for (int plane = 0; plane < to.info.planes(); ++plane)
                cuda::copy(image_of_plane(from, plane), image_of_plane(to, plane), stream);
        });
    });
    return to;
}

DeviceYuv<std::uint8_t> FramePlanes::on_gpu(cuda::DeviceBuffer& buffer, const YuvInfo& info) {
    const auto bytes = static_cast<std::size_t>(info.frame_bytes());
    if (buffer.bytes() < bytes) buffer = cuda::DeviceBuffer(bytes);
    return {buffer.data(), info};
}

}  // namespace framewire
