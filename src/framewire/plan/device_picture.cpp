#include "framewire/plan/device_picture.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/plan/frame.hpp"

namespace framewire {

std::shared_ptr<DevicePicture> DevicePicturePool::take(const YuvInfo& info) {
    std::unique_ptr<DevicePicture> picture;
    {
        const std::lock_guard lock(shared_->mutex);
        auto& free = shared_->free;
        if (!free.empty() && free.back()->info() != info) free.clear();
        if (!free.empty()) {
            picture = std::move(free.back());
            free.pop_back();
        }
    }
    if (!picture) {
        cuda::use_device(shared_->stream.device());
        picture = std::make_unique<DevicePicture>(info);
    }
    // The stream outlives the pictures, because their deleters share it.
    return {picture.release(), [shared = shared_](DevicePicture* released) {
                std::unique_ptr<DevicePicture> back(released);
                const std::lock_guard lock(shared->mutex);
                if (shared->free.empty() || shared->free.back()->info() == back->info())
                    shared->free.push_back(std::move(back));
            }};
}

std::shared_ptr<const YuvPicture> DevicePicturePool::download(const DevicePicture& picture, const YuvInfo& info) const {
    cuda::use_device(shared_->stream.device());
    auto to = shared_->on_host.take(info);
    cuda::Event done(cuda::Event::Timing::none);
    picture.read(info, shared_->stream, [&](const DeviceYuv<const std::uint8_t>& from) {
        for (int plane = 0; plane < info.planes(); ++plane)
            cuda::download(image_of_plane(from, plane), image_of_plane(to->view(), plane), shared_->stream);
        done.record(shared_->stream);
    });
    done.synchronize();
    return to;
}

}  // namespace framewire
