#pragma once

namespace framewire::delta {

/// Thoroughness of the motion search.
struct Effort {
    int range = 12;      ///< search range in pixels in each direction; 0 to 15
    int candidates = 4;  ///< number of vectors whose cost is computed exactly; at most 8

    /// Maximum level.
    static constexpr int most = 2;
    /// Returns the effort for a level as users choose it: 0 no motion search, 1 a short one, 2 a
    /// thorough one. Throws Error{usage} for another level.
    static Effort of(int level);
};

}  // namespace framewire::delta
