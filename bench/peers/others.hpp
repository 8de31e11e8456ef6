#pragma once

#include "peers/contest.hpp"

#include <vector>

namespace framewire::bench {

/// An operation with other outputs than an image, or with more inputs.
struct OtherContest {
    const char* name;
    bool by_content;  ///< the operation's time depends on the frames' content
    void (*hold)(Session&, const Setting&);
};

/// Returns the contests of all such operations.
std::vector<OtherContest> other_contests();

void hold_difference_contest(Session& session, const Setting& setting);
void hold_labels_contest(Session& session, const Setting& setting);
void hold_hog_contest(Session& session, const Setting& setting);
void hold_objects_contest(Session& session, const Setting& setting);
void hold_to_yuv_contest(Session& session, const Setting& setting);
void hold_from_yuv_contest(Session& session, const Setting& setting);

}  // namespace framewire::bench
