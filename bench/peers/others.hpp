#pragma once

#include "peers/contest.hpp"

#include <vector>

namespace framewire::bench {

/// An operation that gives more than an image, or takes more.
struct OtherContest {
    const char* name;
    bool by_content;  ///< its time depends on what frames show
    void (*hold)(Session&, const Setting&);
};

/// All of them.
std::vector<OtherContest> other_contests();

void hold_difference_contest(Session& session, const Setting& setting);
void hold_labels_contest(Session& session, const Setting& setting);
void hold_hog_contest(Session& session, const Setting& setting);
void hold_objects_contest(Session& session, const Setting& setting);
void hold_to_yuv_contest(Session& session, const Setting& setting);
void hold_from_yuv_contest(Session& session, const Setting& setting);

}  // namespace framewire::bench
