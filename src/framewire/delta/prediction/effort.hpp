#pragma once

namespace framewire::delta {

/// How long an encoder looks for motion.
struct Effort {
    int range = 12;      ///< pixels that motion is looked for within, each way; 0 to 15
    int candidates = 4;  ///< vectors whose cost is found exactly, at most 8

    static constexpr int most = 2;
    /// Those that users choose from: 0 not at all, 1 a little, 2 well.
    static Effort of(int level) {
        constexpr int ranges[] = {0, 6, 12}, counts[] = {2, 3, 4};
        return {ranges[level], counts[level]};
    }
};

}  // namespace framewire::delta
