#pragma once

namespace framewire::delta {

/// How long an encoder looks for motion.
struct Effort {
    int range = 12;      ///< pixels that motion is looked for within, each way; 0 to 15
    int candidates = 4;  ///< vectors whose cost is found exactly, at most 8

    static constexpr int most = 2;
    /// The effort of a level that users choose: 0 no motion search, 1 a short one, 2 a thorough one. Throws
    /// Error{usage} for another level.
    static Effort of(int level);
};

}  // namespace framewire::delta
