#pragma once

#include "framewire/delta/entropy/models/models.hpp"
#include "stream/film.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace framewire::bench {

/// How often a block of a step has each symbol, of those that it has: places among all of step_models.
struct BlockCounts {
    struct Count {
        std::uint16_t symbol, times;
    };
    std::vector<Count> symbols;
    bool first = false;  ///< of a first picture
    int set = 0;         ///< of models, which it was coded with
};

/// The symbols of one stream. Counted as the plain decoder reads them, so that nobody but the format says what they
/// are.
struct StreamCounts {
    std::string name;                 ///< "vtest.avi, bounded, within 20"
    std::vector<BlockCounts> blocks;  ///< of steps and of bounded's first picture
    std::vector<double> picture;      ///< of a whole first picture, by their place among all of picture_models
    int steps = 0;                    ///< how many were counted
    std::int64_t step_bytes = 0, picture_bytes = 0;  ///< of all those steps; of the first picture
};

/// Sends a film and counts one frame of `stride`, and the first one. `bounded`: with effort 1; else `exact`.
StreamCounts count_symbols(const std::string& name, const Film& film, int threshold, bool bounded, int stride);

}  // namespace framewire::bench
