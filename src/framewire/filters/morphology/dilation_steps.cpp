#include "framewire/filters/morphology/dilation_steps.hpp"

#include <algorithm>

namespace framewire {

// Rows are grouped by their reach, from the middle outwards. After each group, `a` is widened by as much as the group
// reaches further than the next one.
DilationSteps::DilationSteps(const StructuringElement& element, int largest_shift_px) : radius(element.radius()) {
    for (int row = 0; row <= radius;) {
        const int reach = element.reach(row);
        while (row <= radius && element.reach(row) == reach) ++row;
        const int missing = reach - (row <= radius ? element.reach(row) : 0);
        int done = 0;
        do {
            // A run of 2 * done + 1 pixels joined with copies directly beside it leaves no gap.
            const int shift = std::min({2 * done + 1, missing - done, largest_shift_px});
            steps[count++] = {static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(shift)};
            done += shift;
        } while (done < missing);
    }
}

}  // namespace framewire
