#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/plan/chain.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// One filter of a chain on the planes of YUV pictures, without a conversion to colours: luma is filtered as a gray
/// image, and chroma keeps its resolution. docs/formats.md says what each filter means on planes. Runs have finished on
/// the CPU when they return, and are queued on the executor's stream on a GPU; both give the same bytes. Not for
/// concurrent use.
class PlanarFilter {
public:
    virtual ~PlanarFilter() = default;

    /// Widest window that is applied to planes.
    static constexpr std::size_t widest_window_px = 63;
    /// Limit of levels: if channels are spread more, so many of them become black or white that the planes no longer
    /// give the same picture.
    static constexpr double steepest_levels = 2;

    /// Returns the filter for planes of `from`, or null if its operation needs colours. `original` describes the
    /// chain's first picture. Keeps a reference to `executor`. Throws what the filter's plan throws.
    static std::unique_ptr<PlanarFilter> of(const FilterCall& call, const YuvInfo& from, const YuvInfo& original,
                                            Executor& executor);
    /// Returns the filter that moves chroma to other sites, by linear interpolation.
    static std::unique_ptr<PlanarFilter> to_siting(const ChromaSiting& siting, const YuvInfo& from, Executor& executor);
    /// Returns the filter that mirrors pictures whose chroma sites are mirrored, so that they are not any more.
    static std::unique_ptr<PlanarFilter> unmirrored(const YuvInfo& from, Executor& executor);

    /// Returns the description of the results.
    const YuvInfo& result() const { return result_; }
    /// See Filter::is_settled().
    virtual bool is_settled() const { return true; }
    /// Returns true if samples are only moved, so that nothing is lost by it.
    virtual bool only_moves() const { return false; }

    /// Filters one picture. `original` is the chain's first picture. Memory must not overlap.
    virtual void run(const HostYuv<const std::uint8_t>& from, const HostYuv<const std::uint8_t>& original,
                     const HostYuv<std::uint8_t>& to) = 0;
    /// The same on the GPU.
    virtual void run(const DeviceYuv<const std::uint8_t>& from, const DeviceYuv<const std::uint8_t>& original,
                     const DeviceYuv<std::uint8_t>& to) = 0;

    /// See Filter::figures(). Colours are those that the filter would report of the picture in BGR.
    virtual std::vector<FilterFigure> figures() const { return {}; }
    /// See Filter::set_frame_values().
    virtual void set_frame_values(const FrameValues&) {}
    /// See Filter::shows_frame_values().
    virtual bool shows_frame_values() const { return false; }
    /// Returns true if set_adjustment() applies to the filter.
    virtual bool has_adjustment() const { return false; }
    /// Applies new settings from the next run on. Returns false if they cannot be applied to planes. Not while another
    /// thread uses the filter.
    virtual bool set_adjustment(const Adjustment&) { return false; }

protected:
    /// Makes a filter with results of this description.
    explicit PlanarFilter(const YuvInfo& result) : result_(result) {}

    YuvInfo result_;  ///< see result()
};

}  // namespace framewire
