#include "view/newest_picture.hpp"

#include <utility>

namespace framewire::app {

void NewestPicture::put(HostView<const std::uint8_t> picture) {
    const std::lock_guard lock(mutex_);
    copy(picture, picture_.view());
    fresh_ = true;
}

void NewestPicture::show_in(Window& window) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(fresh_, false)) return;
    window.show(std::as_const(picture_).view());
}

}  // namespace framewire::app
