#pragma once

#include "peers/contest.hpp"
#include "peers/cpu/ffmpeg_step.hpp"
#include "peers/cpu/opencv_steps.hpp"
#include "peers/gpu/gpu_setting.hpp"
#include "peers/gpu/npp_steps.hpp"

#include <string>
#include <vector>

namespace framewire::bench {

/// A filter and its equivalents in other libraries.
struct FilterPeers {
    std::string name;
    std::string chain;  ///< framewire's chain of one filter
    HostStep opencv;
    Tolerance opencv_tolerance;
    FfmpegFilter ffmpeg;
    Tolerance ffmpeg_tolerance;
    npp::Step npp;
    Tolerance npp_tolerance;
    bool by_content = false;  ///< the filter's time depends on the frames' content
    bool npp_slow = false;    ///< NPP would take too long for a batch of more than one frame
};

/// Returns all filters that have equivalents.
std::vector<FilterPeers> filter_peers();

/// Compares framewire, OpenCV and FFmpeg on the CPU, one frame at a time.
void hold_filter_contest(Session& session, const Setting& setting, const FilterPeers& peers);

/// Compares framewire and NPP on the GPU.
void hold_filter_contest(Session& session, GpuSetting& setting, const FilterPeers& peers);

}  // namespace framewire::bench
