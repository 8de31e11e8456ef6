#include "framewire/filters/morphology/structuring_element.hpp"

#include "framewire/core/error.hpp"

#include <cmath>

namespace framewire {

StructuringElement::StructuringElement(ElementShape shape, int diameter) : diameter_(diameter) {
    if (diameter < 1 || diameter > max_element_px || diameter % 2 == 0)
        fail(ErrorCode::usage, "a structuring element of diameter {}; allowed are odd ones from 1 to {}", diameter,
             max_element_px);
    const int r = radius();
    for (int dy = -r; dy <= r; ++dy) {
        const double chord = std::sqrt(static_cast<double>(r * r - dy * dy));
        // The disc contains the pixels inside the circle. OpenCV's ellipse rounds its chords to nearest, ties to even.
        const int reach = shape == ElementShape::rect   ? r
                          : shape == ElementShape::disc ? static_cast<int>(chord)
                                                        : static_cast<int>(std::nearbyint(chord));
        reach_[static_cast<std::size_t>(dy + r)] = reach;
    }
}

}  // namespace framewire
