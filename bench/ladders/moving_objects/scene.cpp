#include "ladders/moving_objects/scene.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/session.hpp"

#include <utility>

namespace framewire::bench::moving_objects {

DetectorParameters report_parameters() {
    DetectorParameters parameters;
    parameters.background = BackgroundImage{};
    parameters.min_area = 1;
    parameters.threshold = foreground_threshold;
    parameters.blur_px = parameters.diameter_px = matrix_px;
    return parameters;
}

MovingScene::MovingScene(FrameSize frame_size, int count)
    : size(frame_size), room({1, size.height, size.width, 3}), frames({count, size.height, size.width, 3}) {
    // The room is in the lower half of the brightness, so that the object is the same amount brighter everywhere.
    const auto darken = [](HostView<std::uint8_t> image, int y) {
        for (int x = 0; x < image.shape().row_bytes(); ++x) image.row(0, y)[x] /= 2;
    };
    fill_scene(room.view(), 1);
    for (int index = 0; index < count; ++index) {
        const auto frame = frames.view().frames(index, 1);
        fill_later(std::as_const(room).view(), frame, 0, false, static_cast<std::uint32_t>(index + 2));
        const int radius = size.height / 8;
        const int middle_x = size.width * (index + 1) / (count + 1), middle_y = size.height * 3 / 5;
        for (int y = 0; y < size.height; ++y) {
            darken(frame, y);
            for (int x = 0; x < size.width; ++x) {
                if ((x - middle_x) * (x - middle_x) + (y - middle_y) * (y - middle_y) > radius * radius) continue;
                for (int channel = 0; channel < 3; ++channel) {
                    auto& byte = frame.row(0, y)[x * 3 + channel];
                    byte = static_cast<std::uint8_t>(byte + 100);
                }
            }
        }
    }
    for (int y = 0; y < size.height; ++y) darken(room.view(), y);
    objects = detector_reference(report_parameters(), std::as_const(frames).view(), std::as_const(room).view());
}

void MovingScene::require_objects(const std::vector<Component>& found, int index, const std::string& variant) const {
    const auto& want = objects[static_cast<std::size_t>(index % count())];
    if (found != want)
        fail(ErrorCode::internal, "{}: frame {} has {} objects, not the reference's {}, or they lie elsewhere", variant,
             index, found.size(), want.size());
}

}  // namespace framewire::bench::moving_objects
