#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/background.hpp"
#include "framewire/detect/box_overlay.hpp"
#include "framewire/detect/components.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/objects.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/morphology.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire {

class MaskRegion;
class ParameterValues;

/// Window size of a MaskMedian, as the side in pixels.
struct MedianWindow {
    int size_px = 9;
    friend bool operator==(const MedianWindow&, const MedianWindow&) = default;
};

/// The operation that closes gaps in a mask and removes specks.
using MaskCleaning = std::variant<MorphologyOperation, MedianWindow>;

/// Parameters of MotionDetector. The defaults work without tuning for a scene; with a FirstFrame they give the chain
/// of the moving-object report.
struct DetectorParameters {
    BackgroundModel background = AdaptiveParameters{};  ///< the background that frames are compared with
    int blur_px = 15;        ///< side of the Gaussian that blurs frames and background, 1 to 255; 1: no blur
    int threshold = 20;      ///< a pixel is foreground if its gray value differs by more from the background, 0 to 255
    bool stabilise = false;  ///< takes small movements of the camera out of the frames first; see Stabiliser
    std::optional<MaskCleaning> morphology{};  ///< empty: chosen for the background, see cleaning_of()
    ElementShape shape = ElementShape::disc;
    int diameter_px = 15;  ///< diameter of the morphology's element, odd, 1 to 63; a median has no element
    int connectivity = 8;  ///< neighbours of a pixel, 4 or 8
    int min_area = 100;    ///< minimum number of pixels of an object
    int max_area = std::numeric_limits<std::int32_t>::max();
    int capacity = 8192;  ///< objects kept per frame, the first in raster order; 1 to max_detector_capacity
};

/// Maximum of DetectorParameters::capacity.
inline constexpr int max_detector_capacity = 1 << 20;

/// Returns the cleaning operation that the parameters name or that suits the background: a median for
/// models that classify unfiltered frames, whose masks are as grainy as the frames, and a close for the others, whose
/// masks come from blurred frames.
MaskCleaning cleaning_of(const DetectorParameters& parameters);

template <class Aggregate>
class ParameterFields;

/// Returns names, ranges and help of all parameters but the capacity; the filter `boxes` and the command line use
/// them. As text, max-area is 0 if there is no limit, and the method is derived from the background: adaptive, mixture
/// or report. `keep` is AdaptiveParameters::keep_seconds.
const ParameterFields<DetectorParameters>& detector_fields();

/// Makes the parameters from validated values of detector_fields(). Throws Error{usage} if a given value would have
/// no effect because of another one, such as a blur with a mixture or an adaptive background, or `keep` with any
/// background but an adaptive one.
DetectorParameters detector_parameters(const ParameterValues& values);

/// Parses the parameters as "threshold=25:min-area=400"; an empty text gives the defaults. Throws Error{usage} if a
/// name or a value is not allowed, and as above.
DetectorParameters parse_detector(std::string_view text);

/// Returns the parameters for frames at this rate, so that an adaptive background keeps objects that stop for
/// AdaptiveParameters::keep_seconds. A rate that is not above 0 changes nothing.
DetectorParameters at_rate(DetectorParameters parameters, double frames_per_second);

/// Detects moving objects (moving-object report). The steps are
///
///     gray -> blur -> difference from the background -> threshold -> morphology -> connected components -> boxes
///
/// A mixture or an adaptive background replaces the steps up to the threshold: it classifies the frames without
/// blurring them.
/// From the threshold on, masks have one bit per pixel.
/// With DetectorParameters::stabilise the background sees frames without the camera's small movements, and the mask
/// after the threshold is moved back to the frame's pixels.
///
/// The detector owns the background and carries it from run to run, so frames must arrive in chronological order, in
/// batches of one size. A detector supports one run at a time.
class MotionDetector {
public:
    /// `frames` is the shape of a batch, with 1 or 3 channels. If `region` is not null, only that region is
    /// searched; it must outlive the detector. Throws Error{usage} if the parameters or the shape are not
    /// allowed, Error{config} if there is not enough memory.
    MotionDetector(const DetectorParameters& parameters, const Shape& frames, Executor& executor,
                   const MaskRegion* region = nullptr);
    ~MotionDetector();
    MotionDetector(MotionDetector&&) noexcept;
    MotionDetector& operator=(MotionDetector&&) noexcept;

    /// Returns the shape of a batch.
    const Shape& shape() const;

    /// Sets the picture that frames are compared with from now on, instead of the first frame. Only for a
    /// BackgroundImage. `picture` is one frame of the frames' size with 1 or 3 channels, in host memory with any
    /// backend. Waits for the executor's stream. Throws Error{usage} if the detector makes its own background.
    void set_background(HostView<const std::uint8_t> picture);
    /// Forgets the background: the next run starts from nothing. A picture that was set stays.
    void reset();

    /// Processes the next batch, which may have any strides, and returns when done. Allocates nothing. If
    /// needs_only_gray() is true, `frames` may already be gray, as computed by the filter `gray` (weighted).
    void run(HostView<const std::uint8_t> frames);
    /// Queues the same operation on the executor's stream.
    void run(DeviceView<const std::uint8_t> frames);
    /// Processes the next batch and writes the objects to lists from make_objects() instead of the detector's own,
    /// which every run without lists overwrites.
    void run(HostView<const std::uint8_t> frames, const ComponentLists<MemorySpace::host>& objects);
    /// Queues the same operation on the executor's stream.
    void run(DeviceView<const std::uint8_t> frames, const ComponentLists<MemorySpace::device>& objects);

    /// Returns true if the detector reads only the gray values of frames. All backgrounds do for which
    /// classifies_frames() is false.
    bool needs_only_gray() const;

    /// Returns lists for the objects of one run.
    DetectedObjects make_objects() const;

    /// Returns the objects of the last run that was given no lists, in the backend's memory. Valid until the
    /// next such run.
    template <MemorySpace space>
    ComponentLists<space> objects() const;
    /// Returns the objects of the last run that was given no lists, in host memory with any backend. Waits for the
    /// executor's stream. Valid until the next such run.
    const DetectedObjects& fetch();
    /// Writes the mask of the last run to host memory with any backend: 255 for foreground, 0 for background. `to` has
    /// the shape of a batch with one channel, and any strides. Waits for the executor's stream.
    void fetch_mask(HostView<std::uint8_t> to) const;
    /// Returns the mask of the last run, in the backend's memory. Valid until the next run.
    template <MemorySpace space>
    BitMaskView<const std::uint32_t, space> mask() const;

    /// Returns the mask of the last run before morphology. CPU backend only.
    HostBitMaskView<const std::uint32_t> foreground_on_host() const;
    /// Draws the background of the last frame: the blurred gray image that the frame was compared with or, for a
    /// model that classifies frames, its background in the frames' channels after it has learned from the frame.
    /// `picture` is one frame with any strides. CPU backend only.
    void draw_background(HostView<std::uint8_t> picture) const;

    /// Returns the frames of the last run without the camera's movements, which the background saw: gray if
    /// needs_only_gray() is true. Requires DetectorParameters::stabilise. CPU backend only.
    HostView<const std::uint8_t> still_on_host() const;
    /// Returns how many frames of the last run had no background yet (frames_before_background()); their objects are
    /// unreliable. At most the number of frames of the run.
    int frames_before_background() const;
    /// Returns true if all later frames have a background.
    bool has_background() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The filter `boxes`: draws boxes around moving objects, or hides them under a mosaic. It runs a MotionDetector and
/// a BoxOverlay without copying the objects to the host in between. The filter owns its background, so frames must
/// arrive in chronological order. A mosaic hides the first frames (frames_before_background()) as a whole, because
/// without a background it is unknown what moves in them.
class Boxes {
public:
    /// Throws what MotionDetector and BoxOverlay throw.
    Boxes(const DetectorParameters& parameters, const BoxStyle& style, const Shape& shape, Executor& executor)
        : detector_(parameters, shape, executor), overlay_(style, shape, executor) {}

    /// Returns the shape of the result, which is that of the frames.
    Shape output_shape() const { return detector_.shape(); }

    /// Processes a batch and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues the same operation on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// Returns true if all later frames have a background, so that all later runs do the same work.
    bool is_settled() const { return detector_.has_background(); }

    /// Returns the number of objects in each frame of the last run, as the figure `objects`. Waits for the executor's
    /// stream.
    std::vector<FilterFigure> figures() const;

private:
    // figures() copies the objects to the host, which does not affect later runs.
    mutable MotionDetector detector_;
    BoxOverlay overlay_;
    bool has_run_ = false;
};

/// Returns the entry of `boxes` in the registry of filters.
FilterInfo boxes_info();

class MaskRegion;

/// Returns the names of the steps of a detector in order: `gray`, `blur`, `background`, `difference`, `threshold`,
/// `morphology` and `labels`. Models that
/// classify frames have no `gray`, `blur` or `difference`.
/// `morphology` is missing if the cleaning operation is `none`.
std::vector<std::string_view> detector_step_names(const DetectorParameters& parameters);

/// The picture of one step: 1 channel, or 3 for `labels`, and for the `background` of a model that classifies frames if
/// the frames have 3.
struct DetectorStep {
    std::string_view name;
    HostImage picture;
};

/// Draws the objects of a frame, each number always in the same colour, and components that are too small or too
/// large in dark gray. `labels` is as in LabelImages; `picture` is one frame of 3 channels with any strides.
void draw_labels(std::span<const std::int32_t> labels, std::span<const Component> objects,
                 HostView<std::uint8_t> picture);

/// Makes pictures of all steps of a detector, for people to look at. It runs its own MotionDetector on the CPU,
/// whose masks are byte for byte those of any backend.
class DetectorSteps {
public:
    /// `frame` has one frame and 1 or 3 channels. Throws what MotionDetector throws, and Error{internal} unless
    /// `executor` uses the CPU backend.
    DetectorSteps(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                  const MaskRegion* region = nullptr);
    ~DetectorSteps();
    DetectorSteps(DetectorSteps&&) noexcept;

    /// Sets the background as MotionDetector::set_background() does.
    void set_background(HostView<const std::uint8_t> picture) { detector_.set_background(picture); }
    /// Processes the next frame, which may have any strides. Frames must arrive in chronological order.
    void run(HostView<const std::uint8_t> frame);
    /// Returns the pictures of the last frame, in the order of detector_step_names(). Undefined before the
    /// first frame.
    std::span<const DetectorStep> steps() const { return steps_; }

private:
    HostView<std::uint8_t> picture_of(std::string_view name);

    Executor* executor_;
    MotionDetector detector_;
    ComponentLabelling labelling_;
    HostComponents components_;
    HostBuffer labels_;
    bool stabilises_;
    std::optional<Foreground> blurring_;  // empty for models that classify frames
    std::vector<DetectorStep> steps_;
};

}  // namespace framewire
