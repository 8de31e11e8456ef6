#include "framewire/pipeline/filter_registry.hpp"

#include "framewire/detect/boxes/boxes.hpp"
#include "framewire/filters/adjust/adjust.hpp"
#include "framewire/filters/binarize/binarize.hpp"
#include "framewire/filters/gaussian/gaussian.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/filters/heatmap/heatmap.hpp"
#include "framewire/filters/mean/mean.hpp"
#include "framewire/filters/median/median.hpp"
#include "framewire/filters/morphology/morphology.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"
#include "framewire/filters/noise/noise.hpp"
#include "framewire/filters/text/text.hpp"

namespace framewire {

const std::vector<FilterInfo>& filter_registry() {
    static const std::vector<FilterInfo> filters = {
        adjust_info(), binarize_info(), boxes_info(), close_info(),   dilate_info(),
        erode_info(),  gaussian_info(), gray_info(),  heatmap_info(), mean_info(),
        median_info(), mosaic_info(),   noise_info(), open_info(),    text_info(),
    };
    return filters;
}

}  // namespace framewire
