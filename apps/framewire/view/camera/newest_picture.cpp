#include "view/camera/newest_picture.hpp"

#include <utility>

namespace framewire::app {

void NewestPicture::put(HostView<const std::uint8_t> picture) {
    const std::lock_guard lock(mutex_);
    if (picture_.shape() != picture.shape()) picture_ = HostImage(picture.shape());
    copy(picture, picture_.view());
    fresh_ = true;
}

bool NewestPicture::give(const TakePicture& take, std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(fresh_, false)) return false;
    take(std::as_const(picture_).view(), number);
    return true;
}

}  // namespace framewire::app
