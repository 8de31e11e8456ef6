#include "framewire/detect/detected_objects.hpp"

#include <algorithm>
#include <cstddef>

namespace framewire {
namespace {

constexpr int downloaded_at_once = 256;  // objects of each frame that travel before it is known how many there are

}  // namespace

DetectedObjects::DetectedObjects(int frames, int capacity, Executor& executor)
    : host_(frames, capacity, executor.frame_memory()), transfer_(executor) {
    if (executor.backend() == Backend::cpu) return;
    device_ = DeviceComponents(frames, capacity);
    // Copies take along places that no object may have taken yet.
    cuda::fill(device_.lists().components, 0,
               static_cast<std::size_t>(frames) * static_cast<std::size_t>(capacity) * sizeof(Component),
               executor.stream());
}

void DetectedObjects::download(int first) {
    downloaded_ = first;
    transfer_.down([&](const cuda::Stream& stream) { framewire::download(device_, host_, downloaded_, stream); });
}

void DetectedObjects::download() { download(std::min(downloaded_at_once, host_.capacity())); }

void DetectedObjects::wait() {
    transfer_.wait();
    const auto lists = host_.lists();
    const int most = std::min(*std::max_element(lists.found, lists.found + host_.frames()), lists.capacity);
    if (downloaded_ == 0 || most <= downloaded_) return;
    download(most);
    transfer_.wait();
}

std::span<const Component> DetectedObjects::of_frame(int frame) const {
    const auto lists = host_.lists();
    return {lists.of_frame(frame), static_cast<std::size_t>(std::min(lists.found[frame], lists.capacity))};
}

}  // namespace framewire
