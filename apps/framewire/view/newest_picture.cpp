#include "view/newest_picture.hpp"

#include <utility>

namespace framewire::app {

void NewestPicture::put(HostView<const std::uint8_t> picture) {
    const std::lock_guard lock(mutex_);
    copy(picture, picture_.view());
    fresh_ = true;
}

bool NewestPicture::show_in(Window& window, std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(fresh_, false)) return false;
    window.take(std::as_const(picture_).view(), number);
    return true;
}

}  // namespace framewire::app
