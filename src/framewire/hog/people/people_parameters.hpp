#pragma once

#include "framewire/core/parameters/named_value.hpp"

namespace framewire {

/// What becomes of windows above the threshold that show one and the same.
enum class PeopleGrouping {
    overlap,     ///< the best of those that overlap stays: suppress_overlapping()
    neighbours,  ///< those that lie together become one box, their mean: NeighbourGroups
};

/// What the command line and the messages call them.
inline constexpr NamedValue<PeopleGrouping> people_grouping_names[] = {{"overlap", PeopleGrouping::overlap},
                                                                       {"neighbours", PeopleGrouping::neighbours}};

struct PeopleParameters {
    float threshold = 0;      ///< windows that score more are looked at further; finite
    double scale_step = 1.1;  ///< from one size of windows to the next, 1.05 to 2
    PeopleGrouping group = PeopleGrouping::neighbours;
    /// Of two detections, above which the worse one goes: intersection over union, 0 to 1; read only where they are
    /// grouped by overlap.
    double overlap = 0.3;
    /// A group of no more than so many windows goes, 0 to 1000; read only where they are grouped by neighbours.
    int neighbours = 2;
    int least_height_px = 0;  ///< of the windows, in pixels of the frame; at least half of the model's; 0: the model's
    int most_height_px = 0;   ///< likewise, not below the least; 0: as high as fit into the frame
    int capacity = 4096;      ///< windows above the threshold that are looked at further, the best; 1 to 65536
};

template <class Aggregate>
class ParameterFields;

/// Their names, ranges and help, but for the capacity.
const ParameterFields<PeopleParameters>& people_fields();

}  // namespace framewire
