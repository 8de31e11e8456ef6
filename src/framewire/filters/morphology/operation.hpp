#pragma once

#include <array>
#include <string_view>

namespace framewire {

enum class MorphologyOperation {
    none,
    dilate,
    erode,
    open,       ///< erode, then dilate
    close,      ///< dilate, then erode
    close_open  ///< close, then open
};

/// Reads "none", "dilate", "erode", "open", "close" or "close-open"; throws Error{usage} on anything else.
MorphologyOperation parse_morphology_operation(std::string_view text);

/// What an operation does one after the other, at most four times.
struct MorphologyPhases {
    enum class Phase { dilate, erode };
    std::array<Phase, 4> phases{};
    int count = 0;

    bool erodes(int index) const { return phases[static_cast<std::size_t>(index)] == Phase::erode; }
};

MorphologyPhases phases_of(MorphologyOperation operation);

}  // namespace framewire
