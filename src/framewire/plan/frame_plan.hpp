#pragma once

#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/planar_filter.hpp"
#include "framewire/plan/recorded_runs.hpp"
#include "framewire/plan/strips.hpp"
#include "framewire/plan/work_picture.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire {

/// A filter chain prepared for frames of one format. Every filter runs in the format in which its picture reaches it,
/// if it can: on planes of YUV as PlanarFilter does, else in BGR or gray. The first filter that needs colours converts
/// the picture, and all later ones run on images. So the result of a filter depends on its parameters and on the format
/// of its picture, and not on the filters beside it, the sink, the backend or the number of threads.
///
///     source -> [filters on planes] -> [to BGR -> filters on images] -> [to the sink's planes]
///
/// Not for concurrent use.
class FramePlan {
public:
    /// Plans the filters of `chain` for pictures of `source`. `original` is the format of the picture that filters such
    /// as `compare` join to their result; default: `source`. Keeps a reference to `executor`, but not to `chain`.
    /// Throws Error{usage} with the position in the text of the chain if a filter does not accept the result of its
    /// predecessor.
    FramePlan(const Chain& chain, const FrameFormat& source, Executor& executor,
              const std::optional<FrameFormat>& original = {});

    /// Plans the last conversion. `planes` is the format that the sink takes, or empty for images. On the CPU, if the
    /// filters end with an image that cannot be converted while its rows are in the cache, results remain images, which
    /// the sink converts. Once, before the first run.
    void deliver(const std::optional<YuvInfo>& planes);

    /// Returns the format of the pictures that run() takes. A picture may also be an image in BGR, which is converted
    /// to planes only for filters on planes.
    const FrameFormat& source() const { return source_; }
    /// Returns the format of the results.
    const FrameFormat& result() const { return result_; }
    /// Returns true if the chain has no filter, and the result has the source's format.
    bool empty() const { return planar_.empty() && !to_image_ && !chain_ && !strips_ && !to_sink_; }
    /// Returns true if run() should get planes: if the first step uses them, or converts them on a GPU. Otherwise the
    /// first step converts them on the CPU, and images may be passed just as well.
    bool begins_on_planes() const {
        return !planar_.empty() || strips_ || (to_image_ && executor_->backend() == Backend::cuda);
    }
    /// Returns the map from positions in the source to positions in the result.
    const PlaneMap& placement() const { return placement_; }
    /// Returns the steps in their order.
    std::vector<PlannedStep> steps() const;

    /// Returns true if a filter displays values of set_frame_values().
    bool shows_frame_values() const;
    /// Passes the values of the next frame to the filters. Call it before run().
    void set_frame_values(const FrameValues& values);
    /// Changes the settings of the first `adjust` from the next frame on. Returns false if there is no `adjust`, or if
    /// the settings need another plan. Throws Error{usage} without changing anything if a setting is not allowed.
    bool set_adjustment(const Adjustment& adjustment);
    /// Returns the results of the filters from the last run, see ChainPlan::figures().
    std::vector<ChainFigures> figures() const;

    /// Processes the next frame in host memory. Returns when done.
    void run(const PictureView<const std::uint8_t, MemorySpace::host>& in,
             const PictureView<const std::uint8_t, MemorySpace::host>& original,
             const PictureView<std::uint8_t, MemorySpace::host>& out);
    /// Processes the next frame on the GPU. The work is queued on the executor's stream. It is recorded for pictures in
    /// memory that is used again (RecordedRuns).
    void run(const PictureView<const std::uint8_t, MemorySpace::device>& in,
             const PictureView<const std::uint8_t, MemorySpace::device>& original,
             const PictureView<std::uint8_t, MemorySpace::device>& out);

private:
    // A filter on planes.
    struct PlanarStep {
        std::string name;
        std::unique_ptr<PlanarFilter> filter;
        YuvInfo from;
        std::optional<FilterCall> call;  // empty for moves of chroma that the planner adds
        WorkPicture result;              // unless the step writes the plan's result
    };

    void plan_filters(const Chain& chain);
    void begin_image(std::vector<FilterCall>& calls, std::string reason);
    void add_planar(std::string name, std::unique_ptr<PlanarFilter> filter, const std::optional<FilterCall>& call);
    void plan_chain(std::vector<FilterCall> calls);
    void plan_strips(const YuvInfo& planes);
    bool is_settled() const;
    template <MemorySpace space>
    void run_in(PictureView<const std::uint8_t, space> in, PictureView<const std::uint8_t, space> original,
                const PictureView<std::uint8_t, space>& out);
    void copy_picture(const PictureView<const std::uint8_t, MemorySpace::host>& in,
                      const PictureView<std::uint8_t, MemorySpace::host>& out) const;
    void copy_picture(const PictureView<const std::uint8_t, MemorySpace::device>& in,
                      const PictureView<std::uint8_t, MemorySpace::device>& out) const;
    template <MemorySpace space>
    PictureView<const std::uint8_t, space> planes_of(View<const std::uint8_t, space> image, const FrameFormat& format,
                                                     std::optional<ImageToYuv>& to_planes, WorkPicture& memory);
    template <MemorySpace space>
    View<const std::uint8_t, space> original_image(const PictureView<const std::uint8_t, space>& original);

    Executor* executor_;
    FrameFormat source_, original_, result_;
    std::string text_;  // of the chain
    PlaneMap placement_;
    bool delivered_ = false, joins_original_ = false, has_run_ = false;

    std::vector<PlanarStep> planar_;
    std::optional<YuvToImage> to_image_;
    std::optional<YuvInfo> sink_;        // planes that the sink takes
    std::string image_reason_;           // why the picture is converted to an image
    std::vector<FilterCall> calls_;      // filters of the chain of images
    std::unique_ptr<ChainPlan> chain_;   // filters of images; null if there are none
    std::optional<StripPass> strips_;    // instead of to_image_ and chain_
    std::string strips_name_;            // names of the filters of strips_, for times
    std::optional<ImageToYuv> to_sink_;  // on a GPU, and for images instead of strips_

    // Memory, allocated when it is first needed.
    WorkPicture arrived_;          // planes of a picture that arrived as an image
    WorkPicture image_;            // what to_image_ writes
    WorkPicture filtered_image_;   // what to_sink_ converts
    WorkPicture original_image_;   // the original, if the chain of images needs it
    WorkPicture original_planes_;  // planes of an original that arrived as an image
    std::optional<ImageToYuv> to_arrived_, original_to_planes_;
    std::optional<YuvToImage> original_to_image_;

    RecordedRuns recorded_;
};

}  // namespace framewire
