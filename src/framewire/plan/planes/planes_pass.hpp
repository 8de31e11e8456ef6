#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/plan/chain_plan.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// A chain of the CPU from the planes of a YUV picture to those of another, some rows at a time: as BGR they are in a
/// core's cache from their first conversion to their last, and nothing of a frame's size is written but the result. Its
/// bytes are those of the way over whole images: YuvToImage, the chain, ImageToYuv.
///
/// If the filters draw on a part of a picture that already has the form of the result, the remaining samples
/// are copied: all luma outside of RowFilter::changed_area(), and all chroma whose pixels are outside. Not for
/// concurrent use.
class PlanesPass {
public:
    /// Makes a pass for a chain whose filters all work by rows, for results of `to`. Returns nothing for other
    /// chains, and if `to` does not have the chain's size. A pass without filters only changes the form of
    /// pictures. Keeps references to both.
    static std::optional<PlanesPass> of(ChainPlan& plan, const YuvInfo& to, const ThreadPool& threads);

    /// Returns true if run() accepts such pictures: they have the chain's size.
    bool takes(const YuvInfo& from) const;
    /// Returns true if run() keeps the samples outside of the part that the filters draw on.
    bool keeps_rest(const YuvInfo& from) const;
    /// Processes a picture of any coding, siting and format that YuvToImage accepts. Returns when done;
    /// allocates nothing if earlier results have been released. Throws Error{usage} if it does not accept the
    /// picture.
    std::shared_ptr<const YuvPicture> run(const HostYuv<const std::uint8_t>& from);

    /// Returns the plan of the chain.
    ChainPlan& plan() const { return *plan_; }
    /// Returns the description of the results of run().
    const YuvInfo& result() const { return to_; }
    /// Returns the name of the step: the filters' names.
    const std::string& name() const { return name_; }

private:
    PlanesPass(ChainPlan& plan, std::vector<ChainPlan::RowStep> steps, const YuvInfo& to, const ThreadPool& threads);

    // The rows that each step makes, and in front the picture's, for some rows of the result.
    void find_rows(const RowRange& made, std::vector<RowRange>& rows) const;
    void plan_strips();
    ImageArea changed_area() const;
    struct Scratch;
    void make_strip(int strip, const HostYuv<const std::uint8_t>& from, Scratch& scratch,
                    const HostYuv<std::uint8_t>& to);
    void draw_strip(int strip, const HostYuv<const std::uint8_t>& from, const ImageArea& area, Scratch& scratch,
                    const HostYuv<std::uint8_t>& drawn, const HostYuv<std::uint8_t>& to);
    RowRange rows_of(int strip) const;

    ChainPlan* plan_;
    std::vector<ChainPlan::RowStep> steps_;
    YuvInfo to_;
    const ThreadPool* threads_;
    std::string name_;
    std::optional<ChannelWeights> gray_;  // where the first step takes the picture as gray
    std::vector<Shape> shapes_;           // of the picture as an image, and behind each step; a strip's have fewer rows
    int rows_each_ = 0;                   // of the result, that a thread makes at a time
    int strips_ = 0;

    // Working memory of one thread.
    struct Scratch {
        std::vector<HostBuffer> images;  // one for each of shapes_
        std::vector<RowRange> rows;
    };
    std::vector<Scratch> scratch_;
    YuvPicturePool pool_;
};

}  // namespace framewire
