#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "kit/session.hpp"
#include "ladders/windows/dim_room.hpp"

#include <string>

namespace framewire::bench {

/// Returns frames as framewire's filter computes them on the CPU.
HostImage filtered_on_cpu(const FilterInfo& info, const ParameterValues& values, HostView<const std::uint8_t> image,
                          Session& session);

/// Returns the percentage of bytes that differ between two frames by more than the report's 20.
double changed_percent(HostView<const std::uint8_t> first, HostView<const std::uint8_t> second);

/// Writes `first` and `second` side by side with the changed pixels in red on black (figures 30 to 32, 36 to 40) to
/// `windows-NAME.png` in the session's folder for pictures; does nothing without such a folder.
void write_noise_picture(Session& session, const std::string& name, HostView<const std::uint8_t> first,
                         HostView<const std::uint8_t> second);

}  // namespace framewire::bench
