#include "ladders/moving_objects/scene.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/session.hpp"
#include "ladders/moving_objects/loops.hpp"

#include <algorithm>
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

namespace {

// Blurs with the matrix of all products of the taps, so that nothing is rounded between rows and columns.
void blur_without_rounding(HostView<const std::uint8_t> frames, HostView<std::uint8_t> blurred) {
    HostImage gray(blurred.shape());
    gray_reference(GrayMethod::weighted, frames, gray.view());
    const auto taps = blur_taps();
    separable_reference(
        std::vector<int>(taps.begin(), taps.end()), matrix_reach_px, Border::reflect101, std::as_const(gray).view(),
        blurred, [](int sum) { return sum; }, [](int sum) { return (sum + (1 << 15)) >> 16; });
}

std::vector<std::vector<Component>> objects_of_matrix_blur(HostView<const std::uint8_t> frames,
                                                           HostView<const std::uint8_t> room) {
    const auto gray_shape = frames.shape().with_channels(1);
    HostImage blurred(gray_shape), still(gray_shape.with_frames(1)), dirty(gray_shape);
    HostBitMask mask(gray_shape);
    blur_without_rounding(frames, blurred.view());
    blur_without_rounding(room, still.view());
    difference_reference(foreground_threshold, std::as_const(blurred).view(), std::as_const(still).view(), mask.view());
    unpack_mask(std::as_const(mask).view(), dirty.view());
    return objects_of_masks_reference(report_parameters(), std::as_const(dirty).view());
}

}  // namespace

MovingScene::MovingScene(FrameSize frame_size, int count)
    : size(frame_size), room({1, size.height, size.width, 3}), frames({count, size.height, size.width, 3}) {
    // The room is in the lower half of the brightness range, so that the object is brighter by the same amount
    // everywhere.
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
    matrix_objects = objects_of_matrix_blur(std::as_const(frames).view(), std::as_const(room).view());
    const auto same_box = [](const Component& one, const Component& other) {
        return one.x == other.x && one.y == other.y && one.width == other.width && one.height == other.height;
    };
    for (std::size_t index = 0; index < objects.size(); ++index)
        if (!std::ranges::equal(objects[index], matrix_objects[index], same_box))
            fail(ErrorCode::internal, "frame {} of the scene has different boxes with a matrix blur", index);
}

void require_objects(const std::vector<Component>& found, const std::vector<std::vector<Component>>& want, int frame,
                     const std::string& variant) {
    const auto& of_frame = want[static_cast<std::size_t>(frame) % want.size()];
    if (found != of_frame)
        fail(ErrorCode::internal, "{}: frame {} has {} objects, the reference has {}, or their boxes differ", variant,
             frame, found.size(), of_frame.size());
}

}  // namespace framewire::bench::moving_objects
