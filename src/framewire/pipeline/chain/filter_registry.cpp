#include "framewire/pipeline/chain/filter_registry.hpp"

// One line per filter, in alphabetical order.
// clang-format off
#define FRAMEWIRE_FILTERS(filter) \
    filter(adjust) \
    filter(binarize) \
    filter(boxes) \
    filter(close) \
    filter(compare) \
    filter(convolve) \
    filter(crop) \
    filter(deinterlace) \
    filter(dilate) \
    filter(erode) \
    filter(flip) \
    filter(fps) \
    filter(gaussian) \
    filter(gray) \
    filter(heatmap) \
    filter(mean) \
    filter(median) \
    filter(mosaic) \
    filter(noise) \
    filter(open) \
    filter(pad) \
    filter(rotate) \
    filter(scale) \
    filter(text)
// clang-format on

namespace framewire {

// The folder of each filter defines NAME_info().
#define FRAMEWIRE_DECLARE(name) FilterInfo name##_info();
FRAMEWIRE_FILTERS(FRAMEWIRE_DECLARE)
#undef FRAMEWIRE_DECLARE

// Built on first use, from the info function of each filter.
const std::vector<FilterInfo>& filter_registry() {
#define FRAMEWIRE_CALL(name) name##_info(),
    static const std::vector<FilterInfo> filters = {FRAMEWIRE_FILTERS(FRAMEWIRE_CALL)};
#undef FRAMEWIRE_CALL
    return filters;
}

}  // namespace framewire
