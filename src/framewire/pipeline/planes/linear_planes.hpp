#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_picture.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/planes/planes_pass.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire {

/// A chain that does no more than move pixels, scale, take means of neighbours or of cells, change levels, and put the
/// original beside what became of it, on the planes of a YUV picture as they are: no colours are converted, and chroma
/// stays as coarse as it is. Luma goes as a gray image through such a chain. Chroma lies between luma's pixels where
/// its siting says, before and after: where that is between two samples, as behind turns by right angles, it is blended
/// of both, linearly, and scaled by the scale's own method. A mean weighs of chroma what it would by way of BGR
/// (chroma_window(), chroma_cells()). Where only the coding of the result is another, it is changed at last, by way of
/// BGR. Not for two threads at once.
class LinearPlanes {
public:
    /// Wider windows go over BGR, which a GPU does sooner.
    static constexpr std::size_t widest_window_px = 63;
    /// Of levels: where channels are spread further, so many of them reach black or white that BGR is the better place.
    static constexpr double steepest_levels = 2;

    /// Of a chain whose filters all do so, from pictures of `from` to those of `to`; nothing for others, for planes of
    /// more than 8 bits or interleaved ones, where `to` is not of the chain's size or differs in format or siting, and
    /// where 4:2:2 is turned. Keeps a reference to `executor`, which is of the CPU backend. Throws as the filters'
    /// plans do.
    static std::optional<LinearPlanes> of(const Chain& chain, const YuvInfo& from, const YuvInfo& to,
                                          Executor& executor);

    /// Whether run() takes such pictures: of the form that it is for.
    bool takes(const YuvInfo& from) const;
    /// What becomes of a picture. Returns when done; allocates nothing where the results before have been given back.
    /// Throws Error{usage} on one that it does not take.
    std::shared_ptr<const YuvPicture> run(const HostYuv<const std::uint8_t>& from);

    /// Whether some samples are blended of several; else all of them are only moved.
    bool blends() const { return blends_; }
    /// What the filters would tell of the last run by way of BGR; empty before the first one.
    std::vector<ChainFigures> figures() const;
    /// Of the step that this is: the filters' names.
    const std::string& name() const { return name_; }

private:
    class Step;
    LinearPlanes(Chain chain, const YuvInfo& from) : chain_(std::move(chain)), from_(from) {}

    Chain chain_;
    YuvInfo from_;
    std::string name_;
    bool blends_ = false, has_run_ = false;
    std::vector<std::shared_ptr<Step>> steps_;
    std::vector<YuvPicturePool> pools_;  // of what each step gives
    // Where the coding changes.
    std::unique_ptr<ChainPlan> no_filter_;
    std::optional<PlanesPass> recoding_;
};

}  // namespace framewire
