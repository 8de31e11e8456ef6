#include "framewire/session/web/pictures/camera_pictures.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/images/jpeg.hpp"
#include "framewire/media/images/png.hpp"

namespace framewire::session::web {

std::string CameraPictures::as_jpeg(HostView<const std::uint8_t> image) { return encode_jpeg(image); }

std::string CameraPictures::as_png(HostView<const std::uint8_t> image) {
    const auto bytes = encode_png(image);
    return {bytes.begin(), bytes.end()};
}

// The version may advance between the check and the copy; then the newer picture is encoded, with its own version.
CameraPictures::File CameraPictures::newest(Newest& kind) {
    const std::lock_guard lock(kind.mutex);
    if (kind.file && camera_->picture_version() == kind.version) return kind.file;
    const auto picture = camera_->picture();
    if (!picture) fail(ErrorCode::config, "camera '{}' has had no frame yet", camera_->name());
    kind.file = std::make_shared<const std::string>(kind.encode(picture->image.view()));
    kind.version = picture->version;
    return kind.file;
}

}  // namespace framewire::session::web
