#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/planes/planes_pass.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire {

/// A chain that only moves pixels, scales, averages neighbours or cells, changes levels, or puts the original
/// beside the result, applied to the planes of a YUV picture directly: colours are not converted, and chroma
/// keeps its resolution. Luma passes through the chain as a gray image. Chroma is sited between luma's pixels
/// before and after: where that is between two samples, as after turns by right angles, it is interpolated
/// linearly, and a scale uses its own method. A mean weights chroma as it would through BGR (chroma_window(),
/// chroma_cells()). If only the coding of the result differs, it is converted at the end, through BGR. Not for
/// concurrent use.
class LinearPlanes {
public:
    /// Wider windows go over BGR, which a GPU does sooner.
    static constexpr std::size_t widest_window_px = 63;
    /// Limit of levels: if channels are spread more, so many of them become black or white that BGR is the
    /// better place.
    static constexpr double steepest_levels = 2;

    /// Makes the object for a chain whose filters all qualify, from pictures of `from` to those of `to`.
    /// Returns nothing for other chains, for planes with more than 8 bits or interleaved ones, if `to` does not
    /// have the chain's size or differs in format or siting, and if 4:2:2 is turned. Keeps a reference to
    /// `executor`, which must use the CPU backend. Throws what the filters' plans throw.
    static std::optional<LinearPlanes> of(const Chain& chain, const YuvInfo& from, const YuvInfo& to,
                                          Executor& executor);

    /// Returns true if run() accepts such pictures: they have the form that the object was made for.
    bool takes(const YuvInfo& from) const;
    /// Processes a picture. Returns when done; allocates nothing if earlier results have been released. Throws
    /// Error{usage} if it does not accept the picture.
    std::shared_ptr<const YuvPicture> run(const HostYuv<const std::uint8_t>& from);

    /// Returns true if some samples are interpolated; otherwise all of them are only moved.
    bool blends() const { return blends_; }
    /// Returns what the filters would report of the last run through BGR; empty before the first run.
    std::vector<ChainFigures> figures() const;
    /// Returns the name of the step: the filters' names.
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
    // Used if the coding changes.
    std::unique_ptr<ChainPlan> no_filter_;
    std::optional<PlanesPass> recoding_;
};

}  // namespace framewire
