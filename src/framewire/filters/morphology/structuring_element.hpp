#pragma once

#include "framewire/core/parameters/named_value.hpp"

#include <array>

namespace framewire {

/// Largest diameter of a structuring element, in pixels.
inline constexpr int max_element_px = 63;

/// Shape of a structuring element.
enum class ElementShape {
    disc,     ///< dx^2 + dy^2 <= (diameter / 2)^2, as in the moving-object report
    ellipse,  ///< OpenCV's MORPH_ELLIPSE
    rect      ///< the whole square
};

/// Names of the shapes in options, the usual one first.
inline constexpr NamedValue<ElementShape> element_shape_names[] = {
    {"disc", ElementShape::disc}, {"ellipse", ElementShape::ellipse}, {"rect", ElementShape::rect}};

/// A structuring element of odd diameter around its middle pixel. All shapes are symmetric and convex: row dy is the
/// run of pixels from -reach(dy) to +reach(dy).
class StructuringElement {
public:
    /// Throws Error{usage} unless the diameter is odd and in 1..63.
    StructuringElement(ElementShape shape, int diameter);

    /// Diameter in pixels.
    int diameter() const { return diameter_; }
    /// Number of rows above, and below, the middle.
    int radius() const { return diameter_ / 2; }
    /// Distance that row `dy`, -radius()..radius(), reaches to the left and to the right of the middle.
    int reach(int dy) const { return reach_[static_cast<std::size_t>(dy + radius())]; }

private:
    int diameter_;
    std::array<int, max_element_px> reach_{};
};

}  // namespace framewire
