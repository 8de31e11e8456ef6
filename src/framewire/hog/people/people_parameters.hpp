#pragma once

#include "framewire/core/parameters/named_value.hpp"

namespace framewire {

/// How windows above the threshold that show the same person are combined.
enum class PeopleGrouping {
    overlap,     ///< the best of overlapping windows is kept: suppress_overlapping()
    neighbours,  ///< adjacent windows become one box, their mean: NeighbourGroups
};

/// Names on the command line and in messages.
inline constexpr NamedValue<PeopleGrouping> people_grouping_names[] = {{"overlap", PeopleGrouping::overlap},
                                                                       {"neighbours", PeopleGrouping::neighbours}};

/// Parameters of PeopleDetector.
struct PeopleParameters {
    float threshold = 0;      ///< windows with a higher score become candidates; finite
    double scale_step = 1.1;  ///< ratio of one window size to the next, 1.05 to 2
    PeopleGrouping group = PeopleGrouping::neighbours;
    /// Intersection over union above which the worse of two detections is dropped, 0 to 1. Only for
    /// PeopleGrouping::overlap.
    double overlap = 0.3;
    /// Groups of at most this many windows are dropped, 0 to 1000. Only for PeopleGrouping::neighbours.
    int neighbours = 2;
    int least_height_px = 0;  ///< smallest window height in frame pixels, at least half of the model's; 0: the model's
    /// Largest window height in frame pixels, not below the least; 0: limited by the frame only.
    int most_height_px = 0;
    int capacity = 4096;  ///< the best candidates that are grouped, 1 to 65536
};

template <class Aggregate>
class ParameterFields;

/// Returns names, ranges and help of all parameters but the capacity.
const ParameterFields<PeopleParameters>& people_fields();

}  // namespace framewire
