#pragma once

#include "framewire/core/rows/channel_rows.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/background/background.hpp"
#include "framewire/detect/detected_objects.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/morphology/operation.hpp"
#include "framewire/filters/morphology/structuring_element.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <variant>

namespace framewire {

class MaskRegion;
class ParameterValues;

/// The side of a MaskMedian's window.
struct MedianWindow {
    int size_px = 9;
    friend bool operator==(const MedianWindow&, const MedianWindow&) = default;
};

/// What closes gaps in a mask and drops its specks.
using MaskCleaning = std::variant<MorphologyOperation, MedianWindow>;

/// Their defaults find what moves on scenes that nobody tuned for; those with a FirstFrame are the report's chain.
struct DetectorParameters {
    BackgroundModel background = MixtureParameters{};  ///< what frames are compared with
    int blur_px = 15;                          ///< side of the Gaussian that both are blurred with, 1..255; 1 is none
    int threshold = 20;                        ///< foreground is where gray and background differ by more, 0..255
    std::optional<MaskCleaning> morphology{};  ///< none: as fits the background, see cleaning_of()
    ElementShape shape = ElementShape::disc;
    int diameter_px = 15;  ///< of the morphology's element, odd, 1..63; a median has none
    int connectivity = 8;  ///< neighbours of a pixel, 4 or 8
    int min_area = 100;    ///< in pixels
    int max_area = std::numeric_limits<std::int32_t>::max();
    int capacity = 8192;  ///< objects kept of a frame, the first in raster order; 1..max_detector_capacity
};

inline constexpr int max_detector_capacity = 1 << 20;

/// What the parameters say of it, or what suits the background: a median with a mixture, whose masks are as grainy as
/// the frames, a close with others, whose masks are of blurred frames.
MaskCleaning cleaning_of(const DetectorParameters& parameters);

template <class Aggregate>
class ParameterFields;

/// Their names, ranges and help, but for the capacity: the filter `boxes` and the command line go by them. As text,
/// max-area is 0 where there is no limit, and method is what the background makes of the chain: mixture, or the
/// report's.
const ParameterFields<DetectorParameters>& detector_fields();

/// The parameters from checked values of those fields. Throws Error{usage} where a value was given that another one
/// makes void, such as a blur with a mixture.
DetectorParameters detector_parameters(const ParameterValues& values);

/// Moving objects (moving-object report): gray, blur, difference from the background, threshold, morphology, connected
/// components, boxes. With a mixture background that background says itself what is foreground, from the frames as they
/// are: blur and threshold do not count. Masks are one bit a pixel from the threshold on.
///
/// The background is the detector's own and goes from run to run: frames are given in the order of time, in batches of
/// one size. For one run at a time.
class MotionDetector {
public:
    /// `frames`: a batch, 1 or 3 channels. Looks only in `region` where there is one, which lives longer. Throws
    /// Error{usage} on parameters or a shape that are not allowed, Error{config} without memory.
    MotionDetector(const DetectorParameters& parameters, const Shape& frames, Executor& executor,
                   const MaskRegion* region = nullptr);
    ~MotionDetector();
    MotionDetector(MotionDetector&&) noexcept;
    MotionDetector& operator=(MotionDetector&&) noexcept;

    const Shape& shape() const;

    /// The picture that frames are compared with from now on in place of the first one, for a BackgroundImage: one
    /// frame of the frames' size, 1 or 3 channels, on the host whatever the backend. Waits for the executor's stream.
    void set_background(HostView<const std::uint8_t> picture);
    /// Forgets the background: the next run begins anew. One that was set stays.
    void reset();

    /// The next batch, any strides. Allocates nothing. Host: returns when done. Device: queued on the executor's
    /// stream.
    void run(HostView<const std::uint8_t> frames);
    void run(DeviceView<const std::uint8_t> frames);
    /// The same with the objects into lists of make_objects(), which the next run leaves alone.
    void run(HostView<const std::uint8_t> frames, const ComponentLists<MemorySpace::host>& objects);
    void run(DeviceView<const std::uint8_t> frames, const ComponentLists<MemorySpace::device>& objects);

    /// The same for one frame whose rows `make` makes, on the executor's threads: each once, or twice where this frame
    /// is the background. Where goes_by_rows() and rows_are_gray(): they have one channel.
    void run(const MakeRows& make, const ComponentLists<MemorySpace::host>& objects);
    /// The same where rows are not gray: they have the frames' channels, which lie apart.
    void run(const MakeChannelRows& make, const ComponentLists<MemorySpace::host>& objects);
    /// Whether it takes rows by themselves: on the CPU, for batches of one frame.
    bool goes_by_rows() const;
    /// Whether those rows are to be gray, as the filter `gray` (weighted) has it: of all but a mixture.
    bool rows_are_gray() const;

    /// For the objects of one run.
    DetectedObjects make_objects() const;

    /// Of the last run that was given no lists, in the memory of the backend that ran, until the next one.
    template <MemorySpace space>
    ComponentLists<space> objects() const;
    /// The same objects on the host, whatever the backend; waits for the executor's stream. Until the next such run.
    const DetectedObjects& fetch();
    /// Of the last run, in the memory of the backend that ran, until the next one.
    template <MemorySpace space>
    BitMaskView<const std::uint32_t, space> mask() const;

    /// The same before its gaps were closed and its specks dropped; of the CPU backend.
    HostBitMaskView<const std::uint32_t> foreground_on_host() const;
    /// What the last frame was compared with, of the CPU backend: gray and blurred, one channel; but of a mixture,
    /// which has learned from that frame by now, in the frames' channels. One frame, any strides.
    void draw_background(HostView<std::uint8_t> picture) const;

    /// How many of the last run's first frames came before there was a background (frames_before_background()): what is
    /// said of them tells little. As many as the run had frames, if all did.
    int frames_before_background() const;
    /// Whether all frames from now on have a background.
    bool has_background() const;

private:
    template <class Rows>
    void run_rows(const Rows& rows, bool gray, const ComponentLists<MemorySpace::host>& objects);

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire
