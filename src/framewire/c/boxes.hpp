#pragma once

#include "framewire/c/boundary.hpp"
#include "framewire/core/view.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::c {

/// Boxes of a handle's last frame, which the caller reads until the next call.
class Boxes {
public:
    /// Replaces the boxes by those of `components`.
    void take(std::span<const Component> components) {
        boxes_.clear();
        for (const auto& one : components) {
            fw_box box{one.x, one.y, one.width, one.height, one.area, 0, 0, 0};
            if (one.area > 0 && (one.sum_x || one.sum_y)) {
                box.centre_x = static_cast<double>(one.sum_x) / one.area;
                box.centre_y = static_cast<double>(one.sum_y) / one.area;
            }
            boxes_.push_back(box);
        }
    }
    /// Lends the boxes to the caller.
    void store(const fw_box** boxes, std::size_t* count) const {
        *boxes = boxes_.data();
        *count = boxes_.size();
    }

private:
    std::vector<fw_box> boxes_;
};

/// Throws Error{usage} unless a caller's box can be one of an image.
inline void check(const fw_box& box) {
    check_range<std::int32_t>(box.x, -max_side_px, max_side_px, "boxes->x");
    check_range<std::int32_t>(box.y, -max_side_px, max_side_px, "boxes->y");
    check_range<std::int32_t>(box.width, 1, max_side_px, "boxes->width");
    check_range<std::int32_t>(box.height, 1, max_side_px, "boxes->height");
    check_range<std::int32_t>(box.area, 1, max_side_px * max_side_px, "boxes->area");
    check_range<double>(box.centre_x, -max_side_px, 2 * max_side_px, "boxes->centre_x");
    check_range<double>(box.centre_y, -max_side_px, 2 * max_side_px, "boxes->centre_y");
}

/// Returns the component that a box of this interface was made of. Requires check().
inline Component component_of(const fw_box& box) {
    return {0,
            box.x,
            box.y,
            box.width,
            box.height,
            box.area,
            std::llround(box.centre_x * box.area),
            std::llround(box.centre_y * box.area)};
}

}  // namespace framewire::c
