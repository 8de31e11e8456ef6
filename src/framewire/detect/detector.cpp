#include "framewire/detect/detector.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/detect/background.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/mixture.hpp"
#include "framewire/detect/stabiliser.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

// Moving objects, step by step. The masks and images between the steps belong to the detector:
//
//     mixture:       frame -> MixtureBackground -> foreground_mask
//     adaptive:      frame -> AdaptiveBackground -> foreground_mask
//     first, image:  frame -> Foreground (gray, blur, difference from `background`) -> foreground_mask
//     mean:          frame -> blurred -> MeanBackground -> backgrounds; difference of both -> foreground_mask
//
//     foreground_mask -> region -> MaskMedian or MaskMorphology -> region -> objects_mask -> ComponentLabelling
//
// Without a cleaning operation the foreground mask is labelled directly. With a stabiliser:
//
//     frame -> gray, if the background needs no more -> Stabiliser -> still -> one of the above, into still_mask
//     still_mask -> Stabiliser -> foreground_mask

namespace framewire {
namespace {

// Checks the parameters that detector_fields() cannot: pairs of values, and the capacity.
void validate(const DetectorParameters& parameters) {
    detector_fields().check(parameters, "moving objects");
    if (parameters.max_area < parameters.min_area)
        fail(ErrorCode::usage,
             "the area limits of objects are {} to {} pixels; the minimum must be at least 1 and at most the maximum",
             parameters.min_area, parameters.max_area);
    if (parameters.capacity < 1 || parameters.capacity > max_detector_capacity)
        fail(ErrorCode::usage, "the capacity is {} objects per frame; allowed: 1 to {}", parameters.capacity,
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
        else if (const auto* samples = std::get_if<AdaptiveParameters>(&parameters.background))
            adaptive.emplace(*samples, frames, executor_);
        else {
            const ForegroundParameters before{parameters.blur_px, parameters.threshold};
            const auto compared = parameters.stabilise ? gray : frames;
            foreground.emplace(before, compared, executor_);
            first_frame.emplace(before, compared.with_frames(1), executor_);
            background = BackendImage(gray.with_frames(1), executor_);
        }
        // The mean is computed from blurred frames, so each frame is blurred once, and the plan that compares frames
        // does not blur.
        if (const auto* running = std::get_if<RunningMean>(&parameters.background)) {
            mean.emplace(running->rate, gray, executor_);
            blurred = BackendImage(gray, executor_);
            backgrounds = BackendImage(gray, executor_);
            difference.emplace(ForegroundParameters{.blur = 1, .threshold = parameters.threshold}, gray, executor_);
        }
        if (parameters.stabilise) make_stabiliser(frames);
        const auto cleaning = cleaning_of(parameters);
        if (const auto* window = std::get_if<MedianWindow>(&cleaning))
            median.emplace(window->size_px, frames, executor_);
        else if (const auto operation = std::get<MorphologyOperation>(cleaning); operation != MorphologyOperation::none)
            morphology.emplace(operation, StructuringElement(parameters.shape, parameters.diameter_px), frames,
                               executor_);
    }

    // Images become gray before they are shifted, so that gray frames and BGR frames give the same masks.
    void make_stabiliser(const Shape& frames) {
        const auto gray = frames.with_channels(1);
        if (foreground && frames.channels != 1) {
            to_gray.emplace(GrayParameters{.channels = 1}, frames, *executor);
            gray_frames = BackendImage(gray, *executor);
        }
        stabiliser.emplace(foreground ? gray : frames, *executor);
        still = BackendImage(foreground ? gray : frames, *executor);
        still_mask = BackendMask(frames, *executor);
    }

    template <MemorySpace space>
    void find_foreground(const View<const std::uint8_t, space>& frames) {
        if (!stabiliser) return find_foreground<space>(frames, foreground_mask.view<space>());
        auto in = frames;
        if (to_gray && frames.shape().channels != 1) {
            to_gray->run(FilterImages<space>{frames, {}, gray_frames.view<space>()});
            in = gray_frames.view<space>();
        }
        stabiliser->run(in, still.view<space>());
        find_foreground<space>(std::as_const(still).view<space>(), still_mask.view<space>());
        stabiliser->move_back(std::as_const(still_mask).view<space>(), foreground_mask.view<space>());
    }

    template <MemorySpace space>
    void find_foreground(const View<const std::uint8_t, space>& frames,
                         const BitMaskView<std::uint32_t, space>& foreground_of_frames) {
        if (mixture)
            mixture->run(frames, foreground_of_frames);
        else if (adaptive)
            adaptive->run(frames, foreground_of_frames);
        else
            find_difference<space>(frames, foreground_of_frames);
    }

    // Finds differences from the background. With a running mean each frame has its own background; otherwise all
    // frames share one picture.
    template <MemorySpace space>
    void find_difference(const View<const std::uint8_t, space>& frames, const BitMaskView<std::uint32_t, space>& mask) {
        if (mean) {
            foreground->blur(frames, blurred.view<space>());
            mean->run(std::as_const(blurred).view<space>(), backgrounds.view<space>());
            return difference->run(std::as_const(blurred).view<space>(), std::as_const(backgrounds).view<space>(),
                                   mask);
        }
        if (!has_background) first_frame->blur(frames.frames(0, 1), background.view<space>());
        has_background = true;
        foreground->run(frames, std::as_const(background).view<space>(), mask);
    }

    // Counts the frames of the next run that have no background yet.
    void count(int frames) {
        without_background = static_cast<int>(std::min<std::int64_t>(background_due, frames));
        background_due -= without_background;
    }

    // Runs the chain in steps that are reported to the executor: foreground, morphology, labelling.
    template <MemorySpace space>
    void run(View<const std::uint8_t, space> frames, const ComponentLists<space>& into) {
        const bool is_gray = space == MemorySpace::host && foreground && frames.shape().channels == 1;
        framewire::validate(frames, is_gray ? shape.with_channels(1) : shape, "the detector's input");
        count(shape.frames);
        executor->step("foreground", [&] {
            find_foreground<space>(frames);
            if (region) region->apply(foreground_mask.view<space>());
        });
        if (cleans())
            executor->step("morphology", [&] {
                clean(std::as_const(foreground_mask).view<space>(), objects_mask.view<space>());
                // Morphology can set pixels outside of the region.
                if (region) region->apply(objects_mask.view<space>());
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
    std::optional<Gray> to_gray;  // for a stabiliser that needs only gray
    std::optional<Stabiliser> stabiliser;
    std::optional<Foreground> foreground, first_frame;
    std::optional<MixtureBackground> mixture;
    std::optional<AdaptiveBackground> adaptive;
    std::optional<MeanBackground> mean;
    std::optional<Foreground> difference;      // compares blurred frames with their own backgrounds
    std::optional<MaskMorphology> morphology;  // at most one of `morphology` and `median` is set
    std::optional<MaskMedian> median;
    ComponentLabelling labelling;
    BackendImage background;                    // blurred gray image, shared by all frames
    BackendImage blurred, backgrounds;          // used if each frame has its own background
    BackendImage gray_frames, still;            // used by a stabiliser: its input and output
    BackendMask foreground_mask, objects_mask;  // masks after the threshold and after the morphology
    BackendMask still_mask;                     // the foreground of shifted frames
    DetectedObjects objects;                    // results of runs that were given no lists
    bool has_background = false;
    // Number of coming frames without a background. At least 1, since the first frame replaces a picture that was not
    // set.
    std::int64_t background_due = std::max<std::int64_t>(1, framewire::frames_before_background(parameters.background));
    int without_background = 0;  // frames of the last run without a background
};

MotionDetector::MotionDetector(const DetectorParameters& parameters, const Shape& frames, Executor& executor,
                               const MaskRegion* region)
    : state_(std::make_unique<State>(parameters, frames, executor, region)) {}
MotionDetector::~MotionDetector() = default;
MotionDetector::MotionDetector(MotionDetector&&) noexcept = default;
MotionDetector& MotionDetector::operator=(MotionDetector&&) noexcept = default;

const Shape& MotionDetector::shape() const { return state_->shape; }

// Blurs the picture like the frames, but with a separate plan, since its number of channels can differ.
void MotionDetector::set_background(HostView<const std::uint8_t> picture) {
    auto& state = *state_;
    const auto shape = state.shape.with_frames(1);
    if (!std::holds_alternative<BackgroundImage>(state.parameters.background))
        fail(ErrorCode::usage, "this detector builds its own background; it does not accept a picture");
    const auto channels = picture.shape().channels;
    validate(picture, shape.with_channels(channels == 1 ? 1 : 3), "the background");
    Foreground blurring({.blur = state.parameters.blur_px}, picture.shape(), *state.executor);
    Gray to_gray({.channels = 1}, picture.shape(), *state.executor);
    state.executor->in_its_space([&]<MemorySpace space>() {
        BackendImage there(picture.shape(), *state.executor);
        BackendImage gray(picture.shape().with_channels(1), *state.executor);
        there.put(picture);
        blurring.blur(std::as_const(there).view<space>(), state.background.view<space>());
        // Frames are shifted to fit the picture.
        if (state.stabiliser) {
            to_gray.run(FilterImages<space>{std::as_const(there).view<space>(), {}, gray.view<space>()});
            state.stabiliser->reset();
            state.stabiliser->run(std::as_const(gray).view<space>(), state.still.view<space>().frames(0, 1));
        }
        state.executor->synchronize();
    });
    state.has_background = true;
    state.background_due = 0;
}

// Resets the model of a mixture, an adaptive background or a mean. The first frame of the next run becomes the
// background `first`. A stabiliser continues with a picture, which also stays the background.
void MotionDetector::reset() {
    auto& state = *state_;
    if (state.stabiliser && !std::holds_alternative<BackgroundImage>(state.parameters.background))
        state.stabiliser->reset();
    if (state.mixture) state.mixture->reset();
    if (state.adaptive) state.adaptive->reset();
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

bool MotionDetector::needs_only_gray() const { return !classifies_frames(state_->parameters.background); }

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

HostView<const std::uint8_t> MotionDetector::still_on_host() const {
    state_->executor->require_space<MemorySpace::host>("frames without the camera's movements");
    if (!state_->stabiliser) fail(ErrorCode::internal, "frames were requested of a detector without stabilisation");
    return std::as_const(state_->still).view<MemorySpace::host>();
}

void MotionDetector::draw_background(HostView<std::uint8_t> picture) const {
    const auto& state = *state_;
    state.executor->require_space<MemorySpace::host>("a picture of a background");
    // Models of colours draw them; the other models have a picture in memory.
    if (state.mixture) return state.mixture->draw_background(picture);
    if (state.adaptive) return state.adaptive->draw_background(picture);
    validate(picture, state.shape.with_frames(1).with_channels(1), "the background picture");
    if (state.mean)
        copy(state.backgrounds.view<MemorySpace::host>().frames(state.shape.frames - 1, 1), picture);
    else
        copy(state.background.view<MemorySpace::host>(), picture);
}

int MotionDetector::frames_before_background() const { return state_->without_background; }
bool MotionDetector::has_background() const { return state_->background_due == 0; }

const DetectedObjects& MotionDetector::fetch() {
    // Queues the download after the run that found the objects, and waits for it.
    auto& objects = state_->objects;
    objects.download();
    objects.wait();
    return objects;
}

void MotionDetector::fetch_mask(HostView<std::uint8_t> to) const {
    const auto& state = *state_;
    state.executor->in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::host)
            return unpack_mask(mask<space>(), to);
        else {
            BitMask<MemorySpace::host> bits(state.shape);
            cuda::download(mask<space>().data(), bits.view().data(), bit_mask_bytes(state.shape),
                           state.executor->stream());
            state.executor->synchronize();
            unpack_mask(bits.view(), to);
        }
    });
}

DetectedObjects MotionDetector::make_objects() const {
    // Makes lists of the size that the plan's labelling expects.
    return {state_->shape.frames, state_->parameters.capacity, *state_->executor};
}

}  // namespace framewire

// The text form of DetectorParameters. Fields that are not plain members (method, background, morph, max-area)
// have separate functions that convert between member and text.

namespace framewire {
namespace {

using P = DetectorParameters;

constexpr double most_pixels = max_side_px * max_side_px;

// The text of the method is derived from the background. Setting it selects a background with its defaults; a given
// `background` is set afterwards and overrides it.
ParameterField<P> method_field() {
    return {
        {.name = "method",
         .help = "adaptive: samples of each pixel, for real scenes; mixture: a mixture of Gaussians, which is faster; "
                 "report: the report's method, which by default compares with the first frame",
         .type = ParameterInfo::Type::choice,
         .choices = {"adaptive", "mixture", "report"}},
        [](const P& all) {
            return std::string(classifies_frames(all.background) ? name_of_background(all.background) : "report");
        },
        [](P& all, const std::string& text) {
            if (text == "report")
                all.background = FirstFrame{};
            else
                all.background = parse_background(text);
        }};
}

// Describes the background, a variant whose text form is that of parse_background().
ParameterField<P> background_field() {
    return {
        {.name = "background",
         .help =
             "background to compare with: adaptive, mixture (1/14 of the time of adaptive on a CPU, 1/3 on a GPU) or "
             "mean:RATE (available once the later frames outweigh the first), or first (available from the second "
             "frame on); commands also accept the path of an image",
         .type = ParameterInfo::Type::text,
         .unit = "BACKGROUND"},
        [](const P& all) { return to_string(all.background); },
        [](P& all, const std::string& text) { all.background = parse_background(text); }};
}

// The time belongs to an adaptive background; for others, whose text is the default, detector_parameters() refuses it.
ParameterField<P> keep_field() {
    return {{.name = "keep",
             .help = "with an adaptive background: seconds after which an object that has stopped becomes background; "
                     "0: no limit",
             .type = ParameterInfo::Type::real,
             .maximum = most_keep_seconds,
             .unit = "SECONDS"},
            [](const P& all) {
                const auto* adaptive = std::get_if<AdaptiveParameters>(&all.background);
                return fmt::to_string((adaptive ? *adaptive : AdaptiveParameters{}).keep_seconds);
            },
            [](P& all, const std::string& text) {
                auto* adaptive = std::get_if<AdaptiveParameters>(&all.background);
                if (const auto seconds = number_in<double>(text); adaptive && seconds)
                    adaptive->keep_seconds = *seconds;
            }};
}

constexpr std::string_view fitting_cleaning = "auto", median_name = "median";

// Formats a cleaning operation in the form that parse_cleaning() reads.
std::string cleaning_text(const std::optional<MaskCleaning>& cleaning) {
    if (!cleaning) return std::string(fitting_cleaning);
    if (const auto* window = std::get_if<MedianWindow>(&*cleaning))
        return fmt::format("{}:{}", median_name, window->size_px);
    return std::string(name_of(morphology_names, std::get<MorphologyOperation>(*cleaning)));
}

// Accepts `auto`, `median`, `median:SIZE` and the names of morphological operations.
std::optional<MaskCleaning> parse_cleaning(const std::string& text) {
    if (text == fitting_cleaning) return {};
    if (text == median_name) return MedianWindow{};
    if (const auto* operation = value_named(morphology_names, text)) return *operation;
    if (text.starts_with(fmt::format("{}:", median_name))) {
        const auto size = number_in<int>(std::string_view(text).substr(median_name.size() + 1));
        if (size && *size % 2 == 1 && *size >= least_mask_median_px && *size <= most_mask_median_px)
            return MedianWindow{*size};
        fail(ErrorCode::usage, "morph {}: the median's size must be an odd whole number from {} to {}", in_quotes(text),
             least_mask_median_px, most_mask_median_px);
    }
    auto names = names_of(morphology_names);
    names.push_back(median_name);
    names.push_back(fitting_cleaning);
    fail(ErrorCode::usage, "morph {}; allowed: one of {}, {}[:SIZE] and {}{}", in_quotes(text),
         fmt::join(names_of(morphology_names), ", "), median_name, fitting_cleaning, did_you_mean(text, names));
}

// Describes the cleaning operation; an empty optional is written as `auto`.
ParameterField<P> cleaning_field() {
    return {
        {.name = "morph",
         .help = "removes gaps and specks from the mask: median[:SIZE] (default 9 pixels), close, open, close-open, "
                 "dilate, erode or none; auto: median for adaptive and mixture, otherwise close",
         .type = ParameterInfo::Type::text,
         .unit = "auto|median|median:SIZE|close|open|close-open|dilate|erode|none"},
        [](const P& all) { return cleaning_text(all.morphology); },
        [](P& all, const std::string& text) { all.morphology = parse_cleaning(text); }};
}

// Describes the maximum area; as text, 0 means no limit.
ParameterField<P> max_area_field() {
    const auto field = parameter_field(&P::max_area, {.name = "max-area",
                                                      .help = "ignore objects with more pixels; 0: no limit",
                                                      .maximum = most_pixels,
                                                      .unit = "PIXELS"});
    return {field.info, [=](const P& all) { return all.max_area == P{}.max_area ? "0" : field.text(all); },
            [=](P& all, const std::string& text) {
                if (text != "0") field.set(all, text);
            }};
}

}  // namespace

const ParameterFields<DetectorParameters>& detector_fields() {
    static const ParameterFields<P> fields = {
        method_field(),
        background_field(),
        keep_field(),
        parameter_field(&P::blur_px, {.name = "blur",
                                      .help = "size of the Gaussian blur before detection, in pixels; 1: no blur",
                                      .minimum = 1,
                                      .maximum = 255,
                                      .unit = "PX"}),
        parameter_field(
            &P::threshold,
            {.name = "threshold",
             .help = "a pixel is foreground if its gray value differs from the background by more than this",
             .maximum = 255,
             .unit = "N"}),
        parameter_field(&P::stabilise,
                        {.name = "stabilise",
                         .help = "take small movements of the camera out of the frames before they are compared"}),
        cleaning_field(),
        parameter_field(&P::shape, element_shape_names, {.name = "shape", .help = "shape of the structuring element"}),
        parameter_field(&P::diameter_px, {.name = "diameter",
                                          .help = "size of the structuring element in pixels",
                                          .minimum = 1,
                                          .maximum = max_element_px,
                                          .odd_only = true,
                                          .unit = "PX"}),
        parameter_field(&P::connectivity, {.name = "connectivity",
                                           .help = "number of neighbours to which a pixel is connected",
                                           .minimum = 4,
                                           .maximum = 8,
                                           .choices = {"4", "8"}}),
        parameter_field(&P::min_area, {.name = "min-area",
                                       .help = "ignore objects with fewer pixels",
                                       .minimum = 1,
                                       .maximum = most_pixels,
                                       .unit = "PIXELS"}),
        max_area_field(),
    };
    return fields;
}

// Returns the user's choice or, if there is none, the operation that suits the background's masks.
MaskCleaning cleaning_of(const DetectorParameters& parameters) {
    if (parameters.morphology) return *parameters.morphology;
    if (classifies_frames(parameters.background)) return MedianWindow{};
    return MorphologyOperation::close;
}

// Rejects values that another value makes ineffective, instead of ignoring them.
DetectorParameters detector_parameters(const ParameterValues& values) {
    const auto parameters = detector_fields().from(values);
    if (values.is_given("method") && values.text("method") != method_field().text(parameters))
        fail(ErrorCode::usage, "background {} cannot be combined with method {}",
             name_of_background(parameters.background), values.text("method"));
    const auto refuse_void = [&](std::initializer_list<const char*> names, std::string_view beside) {
        for (const auto* name : names)
            if (values.is_given(name)) fail(ErrorCode::usage, "{} has no effect with {}", name, beside);
    };
    if (classifies_frames(parameters.background))
        refuse_void({"blur", "threshold"}, fmt::format("background {}, which classifies unfiltered frames",
                                                       name_of_background(parameters.background)));
    if (!std::holds_alternative<AdaptiveParameters>(parameters.background))
        refuse_void({"keep"},
                    fmt::format("background {}; allowed with adaptive", name_of_background(parameters.background)));
    const auto cleaning = cleaning_of(parameters);
    if (std::holds_alternative<MedianWindow>(cleaning))
        refuse_void({"shape", "diameter"}, "morph median, whose window is a square: median:SIZE");
    else if (std::get<MorphologyOperation>(cleaning) == MorphologyOperation::none)
        refuse_void({"shape", "diameter"}, "morph none");
    return parameters;
}

DetectorParameters parse_detector(std::string_view text) {
    return detector_parameters(
        parse_parameters(text, {.who = "the detector", .parameters = detector_fields().infos()}));
}

DetectorParameters at_rate(DetectorParameters parameters, double frames_per_second) {
    if (auto* adaptive = std::get_if<AdaptiveParameters>(&parameters.background); adaptive && frames_per_second > 0)
        adaptive->frames_per_second = frames_per_second;
    return parameters;
}

}  // namespace framewire

// The filter `boxes` composes MotionDetector and BoxOverlay. Its parameters are those of both, except for the
// background image and the capacity of the detector.

namespace framewire {
namespace {

// Returns the detector's parameters. Rejects a background image, because filters have no access to files.
DetectorParameters detector_from(const ParameterValues& values) {
    auto parameters = detector_parameters(values);
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        fail(ErrorCode::usage,
             "boxes cannot use the picture '{}' as its background; allowed: adaptive, mixture, mean:RATE and first",
             image->path);
    return parameters;
}

// `pixelate` is separate from the other style fields because it is listed before the detector's parameters and they
// after.
const ParameterFields<BoxStyle>& pixelate_field() {
    static const ParameterFields<BoxStyle> field = {parameter_field(
        &BoxStyle::pixelate_px, {.name = "pixelate",
                                 .help = "pixelate moving objects with cells of this size in pixels, and the whole "
                                         "frame until there is a background; 0: draw boxes",
                                 .maximum = max_pixelate_px})};
    return field;
}

const ParameterFields<BoxStyle>& outline_fields() {
    static const ParameterFields<BoxStyle> fields = {
        {{.name = "color", .help = "colour of the boxes: #rrggbb or a name", .type = ParameterInfo::Type::text},
         [](const BoxStyle& style) { return to_string(Color{style.color}); },
         [](BoxStyle& style, const std::string& text) { style.color = parse_color(text, "color").pixel; }},
        parameter_field(
            &BoxStyle::line_px,
            {.name = "line", .help = "line width of the boxes in pixels", .minimum = 1, .maximum = max_outline_px}),
    };
    return fields;
}

BoxStyle style_from(const ParameterValues& values) {
    auto style = pixelate_field().from(values);
    outline_fields().set(style, values);
    return style;
}

std::vector<ParameterInfo> parameters() {
    auto all = pixelate_field().infos();
    for (const auto* more : {&detector_fields().infos(), &outline_fields().infos()})
        // Order of the help: pixelate, detector, outline.
        all.insert(all.end(), more->begin(), more->end());
    return all;
}

}  // namespace

void Boxes::run(const FilterImages<MemorySpace::host>& images) {
    detector_.run(images.in);
    overlay_.run(images.in, detector_.objects<MemorySpace::host>(), images.out, detector_.frames_before_background());
    has_run_ = true;
}

void Boxes::run(const FilterImages<MemorySpace::device>& images) {
    if constexpr (cuda::compiled) {
        detector_.run(images.in);
        overlay_.run(images.in, detector_.objects<MemorySpace::device>(), images.out,
                     detector_.frames_before_background());
        has_run_ = true;
    }
}

// Reports the number of objects of each frame.
std::vector<FilterFigure> Boxes::figures() const {
    std::vector<FilterFigure> figures;
    if (!has_run_) return figures;
    const auto& objects = detector_.fetch();
    for (int frame = 0; frame < detector_.shape().frames; ++frame)
        figures.push_back({"objects", frame, static_cast<double>(objects.found(frame))});
    return figures;
}

FilterInfo boxes_info() {
    return {
        .name = "boxes",
        .summary = "draws boxes around moving objects, or pixelates them",
        .parameters = parameters(),
        .examples = {"boxes", "boxes=pixelate=16:morph='median:15'", "boxes=method=report:blur=7:threshold=12"},
        // Parameters are validated when the shapes of a chain are computed, before any plan is made.
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                detector_from(values);
                style_from(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Boxes>>(detector_from(values), style_from(values), shape, executor);
        },
    };
}

namespace {

constexpr std::uint8_t passed_over_gray = 72;

// Places colours at multiples of the golden ratio around the colour wheel, so that adjacent numbers get very
// different colours.
std::array<std::uint8_t, 3> colour_of(std::int32_t number) {
    // Multiplies by 2^32 / golden ratio; the upper half of the product is the position on the wheel.
    const auto turn = static_cast<std::uint32_t>(number) * 0x9E3779B9u;
    const int hue = static_cast<int>((turn >> 16) * 6 * 256 >> 16);  // 0..1535
    const auto up = static_cast<std::uint8_t>(hue % 256), down = static_cast<std::uint8_t>(255 - hue % 256);
    switch (hue / 256) {
        case 0: return {0, up, 255};
        case 1: return {0, 255, down};
        case 2: return {up, 255, 0};
        case 3: return {255, down, 0};
        case 4: return {255, 0, up};
        default: return {down, 0, 255};
    }
}

// Allocates one picture per step; only labels and the background of models of colours have colour.
std::vector<DetectorStep> make_steps(const DetectorParameters& parameters, const Shape& frame) {
    const bool has_colours = classifies_frames(parameters.background);
    std::vector<DetectorStep> steps;
    for (const auto name : detector_step_names(parameters)) {
        const int channels = name == "labels" ? 3 : name == "background" && has_colours ? frame.channels : 1;
        steps.push_back({name, HostImage(frame.with_channels(channels))});
    }
    return steps;
}

// Draws the absolute difference of two gray images.
void draw_difference(HostView<const std::uint8_t> one, HostView<const std::uint8_t> other, HostView<std::uint8_t> to) {
    for (int y = 0; y < to.shape().height; ++y)
        std::transform(one.row(0, y), one.row(0, y) + to.shape().width, other.row(0, y), to.row(0, y),
                       [](int a, int b) { return static_cast<std::uint8_t>(std::abs(a - b)); });
}

}  // namespace

std::vector<std::string_view> detector_step_names(const DetectorParameters& parameters) {
    const auto cleaning = cleaning_of(parameters);
    const auto* operation = std::get_if<MorphologyOperation>(&cleaning);
    std::vector<std::string_view> names;
    if (classifies_frames(parameters.background))
        names = {"background", "threshold"};
    else
        names = {"gray", "blur", "background", "difference", "threshold"};
    if (!operation || *operation != MorphologyOperation::none) names.push_back("morphology");
    names.push_back("labels");
    return names;
}

void draw_labels(std::span<const std::int32_t> labels, std::span<const Component> objects,
                 HostView<std::uint8_t> picture) {
    const auto& shape = picture.shape();
    std::vector<bool> is_object;
    // Objects are in ascending order.
    if (!objects.empty()) is_object.resize(static_cast<std::size_t>(objects.back().id) + 1);
    for (const auto& object : objects) is_object[static_cast<std::size_t>(object.id)] = true;
    auto label = labels.begin();
    for (int y = 0; y < shape.height; ++y) {
        auto* out = picture.row(0, y);
        for (int x = 0; x < shape.width; ++x, out += 3) {
            const auto number = *label++;
            const auto index = static_cast<std::size_t>(number);
            std::array<std::uint8_t, 3> colour{};
            if (number > 0 && index < is_object.size() && is_object[index])
                colour = colour_of(number);
            else if (number > 0)
                colour.fill(passed_over_gray);
            std::ranges::copy(colour, out);
        }
    }
}

DetectorSteps::DetectorSteps(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                             const MaskRegion* region)
    : executor_(&executor),
      detector_(parameters, frame, executor, region),
      // A second labelling makes the label image; its list of components is not used.
      labelling_({.connectivity = parameters.connectivity, .capacity = 1, .label_images = true}, frame, executor),
      components_(1, 1),
      labels_(static_cast<std::size_t>(frame.with_channels(1).bytes()) * sizeof(std::int32_t)),
      stabilises_(parameters.stabilise),
      steps_(make_steps(parameters, frame)) {
    // The intermediate results are read on the host.
    if (executor.backend() != Backend::cpu)
        fail(ErrorCode::internal, "pictures of a detector's steps require the cpu backend");
    if (frame.frames != 1)
        fail(ErrorCode::usage, "pictures of a detector's steps require single frames, not {}", frame.frames);
    if (!classifies_frames(parameters.background))
        blurring_.emplace(ForegroundParameters{parameters.blur_px, parameters.threshold},
                          stabilises_ ? frame.with_channels(1) : frame, executor);
}

DetectorSteps::~DetectorSteps() = default;
DetectorSteps::DetectorSteps(DetectorSteps&&) noexcept = default;

HostView<std::uint8_t> DetectorSteps::picture_of(std::string_view name) {
    const auto step = std::ranges::find(steps_, name, &DetectorStep::name);
    if (step == steps_.end()) fail(ErrorCode::internal, "unknown step {}", name);
    return step->picture.view();
}

// Runs the detector, then copies its intermediate results or recomputes them from what the background saw.
void DetectorSteps::run(HostView<const std::uint8_t> frame) {
    detector_.run(frame);
    if (stabilises_) frame = detector_.still_on_host();
    detector_.draw_background(picture_of("background"));
    if (blurring_) {
        Gray({.channels = 1}, frame.shape(), *executor_)
            .run(FilterImages<MemorySpace::host>{frame, {}, picture_of("gray")});
        blurring_->blur(frame, picture_of("blur"));
        draw_difference(picture_of("blur"), picture_of("background"), picture_of("difference"));
    }
    unpack_mask(detector_.foreground_on_host(), picture_of("threshold"));
    const auto mask = detector_.mask<MemorySpace::host>();
    if (std::ranges::any_of(steps_, [](const auto& step) { return step.name == "morphology"; }))
        unpack_mask(mask, picture_of("morphology"));
    labelling_.run(mask, components_.lists(), {labels_.as<std::int32_t>()});
    const auto pixels = static_cast<std::size_t>(mask.shape().bytes());
    draw_labels({labels_.as<std::int32_t>(), pixels}, detector_.fetch().of_frame(), picture_of("labels"));
}

}  // namespace framewire
