#include "framewire/detect/detected_objects.hpp"

#include <algorithm>
#include <cstddef>

namespace framewire {
namespace {

constexpr int downloaded_at_once = 256;  // objects per frame that are copied before their number is known

}  // namespace

DetectedObjects::DetectedObjects(int frames, int capacity, Executor& executor)
    : lists_(executor, frames, capacity), transfer_(executor) {
    if (executor.backend() == Backend::cpu) return;
    // Copies include entries that no object has used yet, so they must be initialised.
    cuda::fill(lists<MemorySpace::device>().components, 0,
               static_cast<std::size_t>(frames) * static_cast<std::size_t>(capacity) * sizeof(Component),
               executor.stream());
}

// Queues the download of the counts and of the first `first` entries per frame.
void DetectedObjects::download(int first) {
    downloaded_ = first;
    transfer_.down(
        [&](const cuda::Stream& stream) { framewire::download(lists_.device(), lists_.host(), downloaded_, stream); });
}

void DetectedObjects::download() { download(std::min(downloaded_at_once, lists_.host().capacity())); }

// Almost always one copy suffices. Only if a frame has more objects are they copied again, as many as there
// are.
void DetectedObjects::wait() {
    transfer_.wait();
    const auto lists = this->lists<MemorySpace::host>();
    const int most = std::min(*std::max_element(lists.found, lists.found + lists_.host().frames()), lists.capacity);
    // Nothing more is needed if every frame's objects have been copied.
    if (downloaded_ == 0 || most <= downloaded_) return;
    download(most);
    transfer_.wait();
}

std::span<const Component> DetectedObjects::of_frame(int frame) const {
    const auto lists = this->lists<MemorySpace::host>();
    return {lists.of_frame(frame), static_cast<std::size_t>(std::min(lists.found[frame], lists.capacity))};
}

}  // namespace framewire
