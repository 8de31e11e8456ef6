#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/objects.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/planes_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framewire {

/// The moving objects of one frame, during and after their download to the host. Move-only.
class FrameObjects {
public:
    FrameObjects() = default;

    /// Blocks until the objects are on the host. Throws if finding them failed.
    void wait();
    /// Returns the objects in raster order; their number is limited by the detector's parameters.
    std::span<const Component> objects() const { return objects_.of_frame(); }
    /// Returns how many objects of the frame were dropped because of that limit.
    std::int64_t left_out() const { return objects_.left_out(); }
    /// Writes the mask with 255 for foreground and 0 for background. `to` has one channel and any strides. Requires
    /// that masks are kept.
    void unpack_mask(HostView<std::uint8_t> to) const { framewire::unpack_mask(mask_.host().view(), to); }

    /// Returns the mask as bits. Requires that masks are kept.
    HostBitMaskView<const std::uint32_t> mask() const { return mask_.host().view(); }

private:
    friend class FrameDetector;

    DetectedObjects objects_;
    cuda::MirroredBuffer<BitMask> mask_;
    cuda::Transfer mask_transfer_;  // last member: waits before the masks are destroyed
};

/// Runs a MotionDetector on the frames of a run, several of which may be in flight. Not thread-safe.
class FrameDetector {
public:
    /// If `with_masks` is true, the foreground masks of the frames are kept as well. Keeps a reference to `executor`.
    /// Throws what MotionDetector throws.
    FrameDetector(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                  std::optional<MaskRegion> region = {}, bool with_masks = false);

    /// See MotionDetector::set_background().
    void set_background(HostView<const std::uint8_t> picture) { detector_.set_background(picture); }

    /// Allocates memory for the objects of one frame.
    FrameObjects make_objects() const;
    /// Starts detection in the next frame, in frame order. `objects` holds the result once its wait() has returned.
    /// Allocates nothing.
    void start(Frame& frame, FrameObjects& objects);
    /// Starts detection in the image that YuvToImage makes of a picture. Returns when done. Requires takes_planes().
    /// The first call allocates the image, or a gray one if the detector needs no more.
    void start(const HostYuv<const std::uint8_t>& picture, FrameObjects& objects);
    /// Returns the step of detection in frames of this format, see stage_step().
    PlannedStep planned_step(const FrameFormat& from) const {
        return stage_step("detect", detector_.needs_only_gray(), from);
    }
    /// Returns true if frames may be planes: on the CPU.
    bool takes_planes() const { return executor_->backend() == Backend::cpu; }

private:
    template <MemorySpace space>
    void keep(FrameObjects& objects);

    Executor* executor_;
    std::optional<MaskRegion> region_;
    bool with_masks_;
    MotionDetector detector_;
    PlanesImage planes_image_;
};

/// Replaces `moved` by the objects of a frame after filters have moved its pixels. Each box becomes the bounding box of
/// the moved one, rounded to pixels and clipped to `shape`, with matching area and coordinate sums. Objects of which no
/// pixel remains are dropped. Allocates only if the capacity of `moved` does not suffice.
void move_objects(std::span<const Component> objects, const PlaneMap& map, const Shape& shape,
                  std::vector<Component>& moved);

/// Moves the box of a Track or ZoneEvent as filters have moved its pixels. It becomes the bounding box of the moved
/// one.
template <class Boxed>
void move_box(Boxed& boxed, const PlaneMap& map) {
    const double x = map.xx * boxed.x + map.xy * boxed.y + map.x0, y = map.yx * boxed.x + map.yy * boxed.y + map.y0;
    const double along_x = map.xx * boxed.width, across_x = map.xy * boxed.height;
    const double along_y = map.yx * boxed.width, across_y = map.yy * boxed.height;
    boxed.x = x + std::min(along_x, 0.0) + std::min(across_x, 0.0);
    boxed.y = y + std::min(along_y, 0.0) + std::min(across_y, 0.0);
    boxed.width = std::abs(along_x) + std::abs(across_x);
    boxed.height = std::abs(along_y) + std::abs(across_y);
}

/// Replaces `moved` by the tracks of a frame after filters have moved its pixels. `objects` are those of the tracks,
/// and `moved_objects` what move_objects() made of them. Boxes are clipped to `shape`. A track whose object was dropped
/// has none. Allocates only if the capacity of `moved` does not suffice.
void move_tracks(std::span<const Track> tracks, std::span<const Component> objects,
                 std::span<const Component> moved_objects, const PlaneMap& map, const Shape& shape,
                 std::vector<Track>& moved);

}  // namespace framewire
