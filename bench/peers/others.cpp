#include "peers/others.hpp"

namespace framewire::bench {

std::vector<OtherContest> other_contests() {
    return {{"difference", true, hold_difference_contest},    {"labels with boxes", true, hold_labels_contest},
            {"moving objects", true, hold_objects_contest},   {"HOG", false, hold_hog_contest},
            {"BGR to YUV 4:2:0", false, hold_to_yuv_contest}, {"YUV 4:2:0 to BGR", false, hold_from_yuv_contest}};
}

}  // namespace framewire::bench
