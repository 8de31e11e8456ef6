#include "framewire/detect/detector.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/detect/background/mean/mean_background.hpp"
#include "framewire/detect/background/mixture/mixture.hpp"
#include "framewire/detect/foreground/foreground.hpp"
#include "framewire/detect/masks/mask_morphology.hpp"
#include "framewire/detect/masks/mask_region.hpp"
#include "framewire/detect/masks/median/mask_median.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

// Moving objects, step by step. The masks and images between the steps belong to the detector:
//
//     mixture:       frame -> MixtureBackground -> foreground_mask
//     first, image:  frame -> Foreground (gray, blur, difference from `background`) -> foreground_mask
//     mean:          frame -> blurred -> MeanBackground -> backgrounds; difference of both -> foreground_mask
//
//     foreground_mask -> region -> MaskMedian or MaskMorphology -> region -> objects_mask -> ComponentLabelling
//
// Without a cleaning operation the foreground mask is labelled directly.

namespace framewire {
namespace {

// Checks the parameters that detector_fields() cannot: pairs of values, and the capacity.
void validate(const DetectorParameters& parameters) {
    detector_fields().check(parameters, "moving objects");
    if (parameters.max_area < parameters.min_area)
        fail(ErrorCode::usage, "objects of {} to {} pixels; allowed are 1 and up, the first not above the second",
             parameters.min_area, parameters.max_area);
    if (parameters.capacity < 1 || parameters.capacity > max_detector_capacity)
        fail(ErrorCode::usage, "room for {} objects of a frame; allowed are 1 to {}", parameters.capacity,
             max_detector_capacity);
}

}  // namespace

// Plans and memory of a detector. Which plans exist depends on the background and the cleaning operation.
struct MotionDetector::State {
    // Makes only the plans that the background and the cleaning operation need.
    State(const DetectorParameters& parameters_, const Shape& frames, Executor& executor_, const MaskRegion* region_)
        : parameters((validate(parameters_), parameters_)),
          shape(frames),
          executor(&executor_),
          region(region_),
          labelling({.connectivity = parameters.connectivity,
                     .min_area = parameters.min_area,
                     .max_area = parameters.max_area,
                     .capacity = parameters.capacity},
                    frames, executor_),
          foreground_mask(frames, executor_),
          objects_mask(frames, executor_),
          objects(frames.frames, parameters.capacity, executor_) {
        const auto gray = frames.with_channels(1);
        if (const auto* gaussians = std::get_if<MixtureParameters>(&parameters.background))
            mixture.emplace(*gaussians, frames, executor_);
        else {
            const ForegroundParameters before{parameters.blur_px, parameters.threshold};
            foreground.emplace(before, frames, executor_);
            first_frame.emplace(before, frames.with_frames(1), executor_);
            background = BackendImage(gray.with_frames(1), executor_);
        }
        // The mean is of blurred frames, so frames are blurred once, and a plan without blur compares them.
        if (const auto* running = std::get_if<RunningMean>(&parameters.background)) {
            mean.emplace(running->rate, gray, executor_);
            blurred = BackendImage(gray, executor_);
            backgrounds = BackendImage(gray, executor_);
            difference.emplace(ForegroundParameters{.blur = 1, .threshold = parameters.threshold}, gray, executor_);
        }
        const auto cleaning = cleaning_of(parameters);
        if (const auto* window = std::get_if<MedianWindow>(&cleaning))
            median.emplace(window->size_px, frames, executor_);
        else if (const auto operation = std::get<MorphologyOperation>(cleaning); operation != MorphologyOperation::none)
            morphology.emplace(operation, StructuringElement(parameters.shape, parameters.diameter_px), frames,
                               executor_);
    }

    // Returns the first frame of a batch; rows always are those of one frame.
    template <MemorySpace space>
    static View<const std::uint8_t, space> first_of(const View<const std::uint8_t, space>& frames) {
        return frames.frames(0, 1);
    }
    // Rows always are those of a single frame.
    static const MakeRows& first_of(const MakeRows& make) { return make; }

    // `frames` is a view of a batch, or a function that writes the rows of one frame.
    template <MemorySpace space, class Frames>
    void find_foreground(const Frames& frames) {
        const auto mask = foreground_mask.view<space>();
        if constexpr (!std::is_same_v<Frames, MakeRows>)
            if (mixture) return mixture->run(frames, mask);
        if constexpr (!std::is_same_v<Frames, MakeChannelRows>) find_difference<space>(frames);
    }

    // With a running mean each frame has its own background; else one picture serves all frames.
    template <MemorySpace space, class Frames>
    void find_difference(const Frames& frames) {
        const auto mask = foreground_mask.view<space>();
        if (mean) {
            foreground->blur(frames, blurred.view<space>());
            mean->run(std::as_const(blurred).view<space>(), backgrounds.view<space>());
            return difference->run(std::as_const(blurred).view<space>(), std::as_const(backgrounds).view<space>(),
                                   mask);
        }
        if (!has_background) first_frame->blur(first_of(frames), background.view<space>());
        has_background = true;
        foreground->run(frames, std::as_const(background).view<space>(), mask);
    }

    // Counts how many of the frames about to run have no background yet.
    void count(int frames) {
        without_background = static_cast<int>(std::min<std::int64_t>(background_due, frames));
        background_due -= without_background;
    }

    template <MemorySpace space>
    void run(View<const std::uint8_t, space> frames, const ComponentLists<space>& into) {
        framewire::validate(frames, shape, "the detector's frames");
        run_on<space>([&] { find_foreground<space>(frames); }, into);
    }

    // The four steps of the chain, each reported to the executor: foreground, morphology, labelling.
    template <MemorySpace space, class FindForeground>
    void run_on(FindForeground&& find, const ComponentLists<space>& into) {
        count(shape.frames);
        executor->step("foreground", [&] {
            find();
            if (region) region->apply(foreground_mask.view<space>());
        });
        if (cleans())
            executor->step("morphology", [&] {
                clean(std::as_const(foreground_mask).view<space>(), objects_mask.view<space>());
                if (region) region->apply(objects_mask.view<space>());  // removes what grew out of the region
            });
        executor->step("labelling", [&] { labelling.run(mask<space>(), into); });
    }

    // Returns true if the mask is cleaned; objects_mask is unused otherwise.
    bool cleans() const { return morphology || median; }

    template <MemorySpace space>
    void clean(BitMaskView<const std::uint32_t, space> in, BitMaskView<std::uint32_t, space> out) {
        if (morphology)
            morphology->run(in, out);
        else
            median->run(in, out);
    }

    template <MemorySpace space>
    BitMaskView<const std::uint32_t, space> mask() const {
        return (cleans() ? objects_mask : foreground_mask).view<space>();
    }

    DetectorParameters parameters;
    Shape shape;
    Executor* executor;
    const MaskRegion* region;
    std::optional<Foreground> foreground, first_frame;
    std::optional<MixtureBackground> mixture;
    std::optional<MeanBackground> mean;
    std::optional<Foreground> difference;      // between blurred frames and their own backgrounds
    std::optional<MaskMorphology> morphology;  // at most one of these two
    std::optional<MaskMedian> median;
    ComponentLabelling labelling;
    BackendImage background;                    // blurred, gray; one for all frames
    BackendImage blurred, backgrounds;          // used if each frame has its own background
    BackendMask foreground_mask, objects_mask;  // after the threshold, and after the morphology
    DetectedObjects objects;                    // for runs that were given no lists
    bool has_background = false;
    // Frames left without a background. A picture that has not been set is replaced by the first frame.
    std::int64_t background_due = std::max<std::int64_t>(1, framewire::frames_before_background(parameters.background));
    int without_background = 0;  // in the last run
};

MotionDetector::MotionDetector(const DetectorParameters& parameters, const Shape& frames, Executor& executor,
                               const MaskRegion* region)
    : state_(std::make_unique<State>(parameters, frames, executor, region)) {}
MotionDetector::~MotionDetector() = default;
MotionDetector::MotionDetector(MotionDetector&&) noexcept = default;
MotionDetector& MotionDetector::operator=(MotionDetector&&) noexcept = default;

const Shape& MotionDetector::shape() const { return state_->shape; }

// The picture is blurred like frames, on a plan of its own, since it can have another number of channels.
void MotionDetector::set_background(HostView<const std::uint8_t> picture) {
    auto& state = *state_;
    const auto shape = state.shape.with_frames(1);
    if (!std::holds_alternative<BackgroundImage>(state.parameters.background))
        fail(ErrorCode::usage, "a picture for a detector that makes its background itself");
    const auto channels = picture.shape().channels;
    validate(picture, shape.with_channels(channels == 1 ? 1 : 3), "the background");
    Foreground blurring({.blur = state.parameters.blur_px}, picture.shape(), *state.executor);
    state.executor->in_its_space([&]<MemorySpace space>() {
        BackendImage there(picture.shape(), *state.executor);
        there.put(picture);
        blurring.blur(std::as_const(there).view<space>(), state.background.view<space>());
        state.executor->synchronize();
    });
    state.has_background = true;
    state.background_due = 0;
}

// A mixture and a mean forget their models; a first frame is taken from the next run.
void MotionDetector::reset() {
    auto& state = *state_;
    if (state.mixture) state.mixture->reset();
    if (state.mean) state.mean->reset();
    if (std::holds_alternative<FirstFrame>(state.parameters.background)) state.has_background = false;
    if (!std::holds_alternative<BackgroundImage>(state.parameters.background))
        state.background_due = framewire::frames_before_background(state.parameters.background);
}

void MotionDetector::run(HostView<const std::uint8_t> frames) {
    run(frames, state_->objects.lists<MemorySpace::host>());
}

void MotionDetector::run(DeviceView<const std::uint8_t> frames) {
    run(frames, state_->objects.lists<MemorySpace::device>());
}

void MotionDetector::run(HostView<const std::uint8_t> frames, const ComponentLists<MemorySpace::host>& objects) {
    state_->executor->require_space<MemorySpace::host>("a detector");
    state_->run(frames, objects);
}

void MotionDetector::run(DeviceView<const std::uint8_t> frames, const ComponentLists<MemorySpace::device>& objects) {
    state_->executor->require_space<MemorySpace::device>("a detector");
    if constexpr (cuda::compiled) state_->run(frames, objects);
}

void MotionDetector::run(const MakeRows& make, const ComponentLists<MemorySpace::host>& objects) {
    run_rows(make, true, objects);
}

void MotionDetector::run(const MakeChannelRows& make, const ComponentLists<MemorySpace::host>& objects) {
    run_rows(make, false, objects);
}

// The detector accepts either gray rows or rows with channels, depending on its background.
template <class Rows>
void MotionDetector::run_rows(const Rows& rows, bool gray, const ComponentLists<MemorySpace::host>& objects) {
    if (!goes_by_rows()) fail(ErrorCode::usage, "rows for a detector of whole frames");
    if (gray != rows_are_gray()) fail(ErrorCode::usage, "rows that are not of the kind that the detector takes");
    auto& state = *state_;
    state.run_on<MemorySpace::host>([&] { state.find_foreground<MemorySpace::host>(rows); }, objects);
}

bool MotionDetector::goes_by_rows() const {
    return state_->executor->backend() == Backend::cpu && state_->shape.frames == 1;
}

bool MotionDetector::rows_are_gray() const { return !state_->mixture; }

template <MemorySpace space>
ComponentLists<space> MotionDetector::objects() const {
    return state_->objects.lists<space>();
}
template ComponentLists<MemorySpace::host> MotionDetector::objects<MemorySpace::host>() const;
template ComponentLists<MemorySpace::device> MotionDetector::objects<MemorySpace::device>() const;

template <MemorySpace space>
BitMaskView<const std::uint32_t, space> MotionDetector::mask() const {
    return state_->mask<space>();
}
template HostBitMaskView<const std::uint32_t> MotionDetector::mask<MemorySpace::host>() const;
template DeviceBitMaskView<const std::uint32_t> MotionDetector::mask<MemorySpace::device>() const;

HostBitMaskView<const std::uint32_t> MotionDetector::foreground_on_host() const {
    state_->executor->require_space<MemorySpace::host>("a mask of the foreground");
    return std::as_const(state_->foreground_mask).view<MemorySpace::host>();
}

void MotionDetector::draw_background(HostView<std::uint8_t> picture) const {
    const auto& state = *state_;
    state.executor->require_space<MemorySpace::host>("a picture of a background");
    // The mixture draws its heaviest Gaussians; the others have the picture in memory.
    if (state.mixture) return state.mixture->draw_background(picture);
    validate(picture, state.shape.with_frames(1).with_channels(1), "the background's picture");
    if (state.mean)
        copy(state.backgrounds.view<MemorySpace::host>().frames(state.shape.frames - 1, 1), picture);
    else
        copy(state.background.view<MemorySpace::host>(), picture);
}

int MotionDetector::frames_before_background() const { return state_->without_background; }
bool MotionDetector::has_background() const { return state_->background_due == 0; }

const DetectedObjects& MotionDetector::fetch() {
    // Downloads the objects in order with the run that found them, and waits.
    auto& objects = state_->objects;
    objects.download();
    objects.wait();
    return objects;
}

DetectedObjects MotionDetector::make_objects() const {
    // Lists of the size that the plan's labelling expects.
    return {state_->shape.frames, state_->parameters.capacity, *state_->executor};
}

}  // namespace framewire
