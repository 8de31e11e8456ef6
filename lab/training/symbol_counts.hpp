#pragma once

#include "framewire/codec/models.hpp"
#include "stream/film.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::bench {

/// Symbol counts of a block of a delta frame, without zeros; symbols are indices among all of step_models.
struct BlockCounts {
    struct Count {
        std::uint16_t symbol, times;
    };
    std::vector<Count> symbols;
    bool first = false;  ///< belongs to a keyframe
    int set = 0;         ///< index of the model set that it was coded with
};

/// The symbols of one stream, counted by the reference decoder, so that they follow from the format alone.
struct StreamCounts {
    std::string name;                 ///< "vtest.avi, bounded, threshold 20"
    std::vector<BlockCounts> blocks;  ///< blocks of delta frames, and of keyframes of bounded mode
    std::vector<double> picture;      ///< counts of a complete keyframe, by index among all of picture_models
    int steps = 0;                    ///< number of counted delta frames
    std::int64_t step_bytes = 0, picture_bytes = 0;  ///< bytes of all these delta frames, and of the keyframe
};

/// Sends a film, and counts one frame of every `stride` and the first one. `bounded`: mode bounded with effort 1;
/// otherwise `exact`.
StreamCounts count_symbols(const std::string& name, const Film& film, int threshold, bool bounded, int stride);

}  // namespace framewire::bench
