#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/mosaic.hpp"
#include "framewire/media/fwd_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace framewire::fwd {

/// A time range of a recording in which more changes than usual. It may contain motion; outside of these ranges nothing
/// moves.
struct ActiveRange {
    double begin_seconds = 0, end_seconds = 0;
    std::int64_t begin_frame = 0;  ///< number of the frame at `begin_seconds`
    Zone box{};                    ///< the blocks in which it changes, in pixels
};

/// Finds the frames of a recording in which blocks change more than usual, from the sizes of their coded blocks alone.
///
/// Noise and flicker change blocks all the time, refinement changes static ones. A block is active in a delta frame if
/// its size exceeds the block's own usual size by several times its usual variation, and by more than noise adds in
/// most blocks. Usual size and variation are quantiles below the median over the frames of a window, so a block in
/// which something moves for most of the window still has the usual size of the rest. A frame counts if a block and its
/// neighbours are active in several frames, or very much so in one. Where noise changes a block in every frame, an
/// object may add less than the noise varies: there, a cumulative sum (CUSUM; Page 1954) also finds small lasting
/// deviations. Keyframes state nothing about changes.
class BlockActivity {
public:
    /// Frames of a window: at most 5 minutes, and at most what takes about 64 MB.
    static constexpr double window_seconds = 300;
    static constexpr std::size_t most_window_blocks = std::size_t{1} << 22;  ///< frames and coded blocks in a window
    /// Active frames at most this far apart form one range.
    static constexpr double gap_seconds = 2;
    /// A range begins this long before its first active frame and ends this long after its last one.
    static constexpr double margin_seconds = 0.5;

    /// `shape` is that of the frames. Only blocks in `looked_at` count.
    BlockActivity(const Shape& shape, codec::BlockSet looked_at);

    /// Adds the next frame. `sizes` is ignored for keyframes.
    void add(std::int64_t frame, double seconds, bool keyframe, std::span<const codec::BlockSize> sizes);
    /// Returns all ranges in chronological order. Call it once, after the last frame.
    std::vector<ActiveRange> finish();

private:
    struct FrameEntry {
        std::int64_t frame;
        double seconds;
        std::size_t begin;  // index of its first size
    };

    // Finds the active frames of the window, and starts the next one.
    void end_window();
    // Finds the limit of each block.
    void learn_limits();
    // The area in which a frame has enough active blocks, in pixels, and the frame in which that began; width 0: none.
    struct ActiveFrame {
        Zone box{};
        FrameEntry since{};
    };
    ActiveFrame active_in(std::size_t frame);
    // Adds a size to the block's cumulative sums. Returns true if it deviates for long enough.
    bool drifts(const codec::BlockSize& size, const FrameEntry& frame);
    void extend_ranges(const FrameEntry& frame, const ActiveFrame& active);

    codec::BlockGrid grid_;
    codec::BlockSet looked_at_;
    std::vector<FrameEntry> frames_;  // delta frames of the window
    std::vector<codec::BlockSize> sizes_;
    std::vector<std::uint32_t> limits_;  // per block: size above which it is active
    // per block: size below which it is active, because an object hides texture or noise; 0: none
    std::vector<std::uint32_t> least_;
    // Usual size of a block that noise changes in every frame; deviation 0: another block.
    struct NoisySize {
        float mean = 0, deviation = 0;
    };
    std::vector<NoisySize> noisy_;
    bool has_limits_ = false;
    // Cumulative sums of a block's deviations, in standard deviations, and the frames in which they began to grow.
    struct Drift {
        std::array<float, 2> sums{};  // larger, smaller
        std::array<FrameEntry, 2> since{};
    };
    std::vector<Drift> drifts_;
    // Recent activity of a block: `heat` as of delta frame `at`.
    struct Heat {
        float heat = 0;
        std::int64_t at = 0;
    };
    std::vector<Heat> heats_;
    std::int64_t delta_frames_ = 0;
    std::vector<ActiveRange> ranges_;
};

/// Result of reading the changes of a recording.
struct Activity {
    std::vector<ActiveRange> ranges{};
    std::int64_t frames = 0;                    ///< frames read
    double begin_seconds = 0, end_seconds = 0;  ///< times of the first and the last of them
};

/// Reads the sizes of all blocks of a recording, without their content. `each` is called after each frame with its
/// time. Damage is reported by the reader.
Activity read_activity(Reader& reader, const codec::BlockSet& looked_at,
                       const std::function<void(double seconds)>& each = {});

}  // namespace framewire::fwd
