#include "framewire/detect/steps/detector_steps.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/gray/gray.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <variant>

namespace framewire {
namespace {

constexpr std::uint8_t passed_over_gray = 72;

// Multiples of the golden ratio around the colour wheel: adjacent numbers get very different colours.
std::array<std::uint8_t, 3> colour_of(std::int32_t number) {
    // The multiplication by 2^32 / golden ratio; the upper half is the position on the wheel.
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

// Allocates one picture per step; only labels and a mixture's background have colour.
std::vector<DetectorStep> make_steps(const DetectorParameters& parameters, const Shape& frame) {
    const bool mixture = std::holds_alternative<MixtureParameters>(parameters.background);
    std::vector<DetectorStep> steps;
    for (const auto name : detector_step_names(parameters)) {
        const int channels = name == "labels" ? 3 : name == "background" && mixture ? frame.channels : 1;
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
    if (std::holds_alternative<MixtureParameters>(parameters.background))
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
      steps_(make_steps(parameters, frame)) {
    // The intermediate results are read on the host.
    if (executor.backend() != Backend::cpu) fail(ErrorCode::internal, "pictures of a detector's steps on a GPU");
    if (frame.frames != 1) fail(ErrorCode::usage, "pictures of the steps of {} frames at once", frame.frames);
    if (!std::holds_alternative<MixtureParameters>(parameters.background))
        blurring_.emplace(ForegroundParameters{parameters.blur_px, parameters.threshold}, frame, executor);
}

DetectorSteps::~DetectorSteps() = default;
DetectorSteps::DetectorSteps(DetectorSteps&&) noexcept = default;

HostView<std::uint8_t> DetectorSteps::picture_of(std::string_view name) {
    const auto step = std::ranges::find(steps_, name, &DetectorStep::name);
    if (step == steps_.end()) fail(ErrorCode::internal, "no step {}", name);
    return step->picture.view();
}

// Runs the detector, then copies its intermediate results or computes them once more.
void DetectorSteps::run(HostView<const std::uint8_t> frame) {
    detector_.run(frame);
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
