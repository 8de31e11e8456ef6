#include "framewire/filters/compare.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {
namespace {

constexpr std::int64_t compared_rows = 32;  // rows per chunk of work
// Names of the modes, in the order of CompareMode.
constexpr std::array<std::string_view, 5> compare_modes{"left", "right", "above", "below", "split"};

// Returns the parameters in a chain's values, which the registry has checked.
CompareParameters compare_parameters(const ParameterValues& values) {
    const auto mode = std::ranges::find(compare_modes, values.text("mode")) - compare_modes.begin();
    return {.mode = static_cast<CompareMode>(mode), .at_percent = static_cast<int>(values.integer("at"))};
}

// Returns the shape of the result. Throws Error{usage} on wrong parameters, or if the two images cannot be combined in
// this mode.
Shape compared_shape(const CompareParameters& parameters, const Shape& shape, const Shape& original) {
    if (parameters.at_percent < 0 || parameters.at_percent > 100)
        fail(ErrorCode::usage, "compare is split at {} %; allowed: 0 to 100", parameters.at_percent);
    validate(shape, "compare's image");
    validate(original, "compare's original");
    if (shape.frames != original.frames)
        fail(ErrorCode::usage, "cannot compare {} images with {} originals", shape.frames, original.frames);
    auto result = shape.with_channels(std::max(shape.channels, original.channels));
    switch (parameters.mode) {
        case CompareMode::left:
        case CompareMode::right:
            result.width = shape.width + original.width;
            result.height = std::max(shape.height, original.height);
            break;
        case CompareMode::above:
        case CompareMode::below:
            result.width = std::max(shape.width, original.width);
            result.height = shape.height + original.height;
            break;
        case CompareMode::split:
            if (shape.width != original.width || shape.height != original.height)
                fail(ErrorCode::usage,
                     "the original is {}x{} and the result {}x{}; split needs equal sizes; left, right, above and "
                     "below accept any",
                     original.width, original.height, shape.width, shape.height);
    }
    validate(result, "compare's result");
    return result;
}

// Returns the rectangles of both images that make up the result.
std::array<JoinPart, 2> compared_parts(const CompareParameters& parameters, const Shape& shape, const Shape& original) {
    JoinPart first{.original = true, .width = original.width, .height = original.height};
    JoinPart result{.width = shape.width, .height = shape.height};
    switch (parameters.mode) {
        case CompareMode::left: result.x = original.width; break;
        case CompareMode::right: first.x = shape.width; break;
        case CompareMode::above: result.y = original.height; break;
        case CompareMode::below: first.y = shape.height; break;
        case CompareMode::split:
            first.width = original.width * parameters.at_percent / 100;
            result.x = result.from_x = first.width;
            result.width -= first.width;
    }
    return {first, result};
}

// Copies pixels; a gray pixel is repeated in three channels if the target has three.
void copy_pixels(const std::uint8_t* from, int from_channels, int pixels, std::uint8_t* to, int to_channels) {
    if (from_channels == to_channels) {
        std::memcpy(to, from, static_cast<std::size_t>(pixels) * static_cast<std::size_t>(to_channels));
        return;
    }
    for (int pixel = 0; pixel < pixels; ++pixel) std::fill_n(to + 3 * std::ptrdiff_t{pixel}, 3, from[pixel]);
}

}  // namespace

// compared_shape() checks the parameters and the shapes before compared_parts() uses them.
Compare::Compare(const CompareParameters& parameters, const Shape& shape, const Shape& original, Executor& executor)
    : shape_(shape),
      original_(original),
      output_(compared_shape(parameters, shape, original)),
      parts_(compared_parts(parameters, shape, original)),
      executor_(&executor) {}

template <MemorySpace space>
void Compare::validate_images(const FilterImages<space>& images) const {
    validate(images.in, shape_, "compare's image");
    validate(images.original, original_, "compare's original");
    validate(images.out, output_, "compare's result");
}
template void Compare::validate_images(const FilterImages<MemorySpace::host>& images) const;
template void Compare::validate_images(const FilterImages<MemorySpace::device>& images) const;

// Copies rows in parallel. A row that the two rectangles do not cover completely is cleared first.
void Compare::run(const FilterImages<MemorySpace::host>& images) const {
    validate_images(images);
    executor_->pool().for_chunks(
        output_.rows(), compared_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto row = begin; row < end; ++row) {
                const auto frame = static_cast<int>(row / output_.height), y = static_cast<int>(row % output_.height);
                auto* to = images.out.row(frame, y);
                // The two rectangles do not overlap, so their widths add up.
                int covered = 0;
                for (const auto& part : parts_)
                    if (y >= part.y && y < part.y + part.height) covered += part.width;
                if (covered < output_.width) std::memset(to, 0, static_cast<std::size_t>(output_.row_bytes()));
                // Copy each rectangle's part of this row.
                for (const auto& part : parts_) {
                    if (y < part.y || y >= part.y + part.height) continue;
                    const auto& image = part.original ? images.original : images.in;
                    const int channels = image.shape().channels;
                    copy_pixels(image.row(frame, y - part.y) + std::ptrdiff_t{part.from_x} * channels, channels,
                                part.width, to + std::ptrdiff_t{part.x} * output_.channels, output_.channels);
                }
            }
        });
}

FilterInfo compare_info() {
    using Type = ParameterInfo::Type;
    const auto output_shape = [](const ParameterValues& values, const Shape& shape, const Shape& original) {
        return compared_shape(compare_parameters(values), shape, original);
    };
    const auto make = [](const ParameterValues& values, const Shape& shape, const Shape& original,
                         Executor& executor) -> std::unique_ptr<Filter> {
        return std::make_unique<FilterOf<Compare>>(compare_parameters(values), shape, original, executor);
    };
    return {
        .name = "compare",
        .summary = "shows the original and the result of the previous filters in one picture",
        .parameters =
            {
                {.name = "mode",
                 .help = "position of the original: left of, right of, above or below the result; split: the left part "
                         "of a single picture",
                 .type = Type::choice,
                 .default_value = "left",
                 .choices = {compare_modes.begin(), compare_modes.end()}},
                {.name = "at",
                 .help = "position of the split, in percent of the width",
                 .type = Type::integer,
                 .default_value = "50",
                 .minimum = 0,
                 .maximum = 100},
            },
        .examples = {"median=9,compare", "gray,compare=split", "heatmap,compare=above"},
        .output_shape = [=](const ParameterValues& values,
                            const Shape& shape) { return output_shape(values, shape, shape); },
        .make = [=](const ParameterValues& values, const Shape& shape,
                    Executor& executor) { return make(values, shape, shape, executor); },
        .original = OriginalJoin{output_shape, make,
                                 [](const ParameterValues& values, const Shape& shape, const Shape& original) {
                                     return compared_parts(compare_parameters(values), shape, original);
                                 }},
    };
}

}  // namespace framewire
