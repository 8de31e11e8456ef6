#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_picture.hpp"
#include "framewire/colour/yuv_to_image/yuv_to_image.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"

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
/// Where the filters draw on a part of a picture that is of the result's form already, the rest of its samples stays as
/// it is: all luma outside of RowFilter::changed_area(), and all chroma whose pixels lie outside. Not for two threads
/// at once.
class PlanesPass {
public:
    /// Of a chain whose filters all go by rows, for results of `to`; nothing for others, and where that is not of the
    /// chain's size. One without filters changes the pictures' form alone. Keeps references to both.
    static std::optional<PlanesPass> of(ChainPlan& plan, const YuvInfo& to, const ThreadPool& threads);

    /// Whether run() takes such pictures: of the chain's size.
    bool takes(const YuvInfo& from) const;
    /// Whether run() keeps what is outside of the part that the filters draw on.
    bool keeps_rest(const YuvInfo& from) const;
    /// What becomes of a picture, of any coding, siting and format of YuvToImage's. Returns when done; allocates
    /// nothing where the results before have been given back. Throws Error{usage} on one that it does not take.
    std::shared_ptr<const YuvPicture> run(const HostYuv<const std::uint8_t>& from);

    /// Of which it is.
    ChainPlan& plan() const { return *plan_; }
    /// What run() gives.
    const YuvInfo& result() const { return to_; }
    /// Of the step that this is: the filters' names.
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

    // What a thread works in.
    struct Scratch {
        std::vector<HostBuffer> images;  // one for each of shapes_
        std::vector<RowRange> rows;
    };
    std::vector<Scratch> scratch_;
    YuvPicturePool pool_;
};

}  // namespace framewire
