#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/plan/chain_plan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace framewire {

/// Converts planes to BGR, filters them and converts them back, some rows at a time, on the CPU. The rows stay in a
/// core's cache from the first conversion to the last, and nothing of a frame's size is written but the result. Its
/// bytes are those of the same steps on whole pictures: YuvToImage, the chain, ImageToYuv. Not for concurrent use.
class StripPass {
public:
    /// Makes a pass for a chain whose filters all work by rows, from pictures of `from` to pictures of `to`. Returns
    /// nothing for other chains. A pass without filters only changes the format of pictures. Keeps references to `plan`
    /// and `threads`.
    static std::optional<StripPass> of(ChainPlan& plan, const YuvInfo& from, const YuvInfo& to,
                                       const ThreadPool& threads);

    /// Processes a picture. Returns when done, and allocates nothing. Throws Error{usage} if a picture does not have
    /// the format for which the pass was made.
    void run(const HostYuv<const std::uint8_t>& from, const HostYuv<std::uint8_t>& to);

private:
    StripPass(ChainPlan& plan, std::vector<ChainPlan::RowStep> steps, const YuvInfo& from, const YuvInfo& to,
              const ThreadPool& threads);

    // Working memory of one thread: for the picture as an image and for each step's result, the rows of a strip.
    struct Scratch {
        std::vector<HostBuffer> images;
        std::vector<RowRange> rows;
    };

    // Computes the rows that each step makes, and in front the picture's, for some rows of the result.
    void find_rows(const RowRange& made, std::vector<RowRange>& rows) const;
    void plan_strips();
    void make_strip(int strip, const HostYuv<const std::uint8_t>& from, Scratch& scratch,
                    const HostYuv<std::uint8_t>& to);
    RowRange rows_of(int strip) const;

    ChainPlan* plan_;
    std::vector<ChainPlan::RowStep> steps_;
    YuvInfo from_, to_;
    const ThreadPool* threads_;
    std::optional<ChannelWeights> gray_;  // if the first step takes the picture as gray
    std::vector<Shape> shapes_;           // of the picture as an image, and after each step; a strip's have fewer rows
    int rows_each_ = 0;                   // rows of the result that a thread makes at a time
    int strips_ = 0;
    std::vector<Scratch> scratch_;
};

}  // namespace framewire
