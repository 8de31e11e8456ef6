#include "framewire/filters/text/text.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/gray_weights.hpp"

namespace framewire {
namespace {

constexpr int min_size_px = 4, max_size_px = 512;

Color for_channels(Color color, int channels) {
    if (channels == 3) return color;
    const auto weights = gray_weights(GrayMethod::weighted);
    const int gray = (weights.b * channel_of(color.pixel, 0) + weights.g * channel_of(color.pixel, 1) +
                      weights.r * channel_of(color.pixel, 2) + weights.rounding) >>
                     gray_shift;
    return {gray_pixel(static_cast<std::uint32_t>(gray)), color.alpha};
}

int checked_size(int size_px) {
    if (size_px < min_size_px || size_px > max_size_px)
        fail(ErrorCode::usage, "text's size is {}; allowed are {} to {}", size_px, min_size_px, max_size_px);
    return size_px;
}

int checked_place(const char* name, int pixels) {
    if (pixels < -max_side_px || pixels > max_side_px)
        fail(ErrorCode::usage, "text's {} is {}; allowed are {} to {}", name, pixels, -max_side_px, max_side_px);
    return pixels;
}

TextParameters text_parameters(const ParameterValues& values) {
    TextParameters parameters{.text = values.text("text"),
                              .x = static_cast<int>(values.integer("x")),
                              .y = static_cast<int>(values.integer("y")),
                              .size_px = static_cast<int>(values.integer("size")),
                              .color = parse_color(values.text("color"), "color"),
                              .font = values.text("font")};
    if (values.text("box") != "none") parameters.box = parse_color(values.text("box"), "box");
    return parameters;
}

}  // namespace

Text::Text(const TextParameters& parameters, const Shape& shape, Executor& executor)
    : shape_((validate(shape, "text's image"), shape)),
      executor_(&executor),
      template_(parameters.text),
      style_{for_channels(parameters.color, shape.channels),
             for_channels(parameters.box.value_or(Color{}), shape.channels)},
      atlas_(find_font(parameters.font), checked_size(parameters.size_px), template_.characters()),
      layout_(checked_place("x", parameters.x), checked_place("y", parameters.y),
              parameters.box ? parameters.size_px / 4 : -1, shape, max_text_characters) {
    if (executor.backend() == Backend::cuda) {
        const auto& coverage = atlas_.coverage();
        device_coverage_ =
            cuda::DeviceBuffer(coverage.size() + 1);  // so that there is some even without a visible glyph
        cuda::upload(coverage.data(), device_coverage_.data(), coverage.size(), executor.stream());
        executor.stream().synchronize();
        device_layout_ = cuda::DeviceBuffer(sizeof(TextPlace) + max_text_characters * sizeof(Quad));
    }
    set_frame_values({});
}

void Text::set_frame_values(const FrameValues& values) {
    layout_.arrange(template_.fill(values), atlas_);
    if constexpr (cuda::compiled)
        if (executor_->backend() == Backend::cuda) store_layout();
}

FilterInfo text_info() {
    using Type = ParameterInfo::Type;
    const auto place = [](std::string_view name, std::string_view help) {
        return ParameterInfo{.name = name,
                             .help = help,
                             .type = Type::integer,
                             .default_value = "8",
                             .minimum = -max_side_px,
                             .maximum = max_side_px};
    };
    return {
        .name = "text",
        .summary = "text over the picture, with figures of the run filled in on each frame",
        .parameters =
            {
                {.name = "text",
                 .help = "UTF-8; \\n ends a line; tokens {fps} {process_ms} {read_ms} {send_ms} {bandwidth} {changed} "
                         "{frame} "
                         "{time} {source} {clock}, the last one also as strftime has it: {clock:%H:%M:%S}",
                 .type = Type::text,
                 .default_value = ""},
                place("x", "of the text's left edge; negative: from the right edge to the text's"),
                place("y", "of the text's upper edge; negative: from the lower edge to the text's"),
                {.name = "size",
                 .help = "of the font, in pixels",
                 .type = Type::integer,
                 .default_value = "24",
                 .minimum = min_size_px,
                 .maximum = max_size_px},
                {.name = "color",
                 .help = "#rrggbb or a name, with @0.5 behind it half transparent",
                 .type = Type::text,
                 .default_value = "white"},
                {.name = "box",
                 .help = "a colour behind the text, as color has it, or none",
                 .type = Type::text,
                 .default_value = "none"},
                {.name = "font",
                 .help = "a family fontconfig knows or a font file's path; fontconfig's own choice where it is empty",
                 .type = Type::text,
                 .default_value = ""},
            },
        .examples = {"text='frame {frame}, {time}':x=12:y=-12:size=20:color=yellow:box=black@0.5",
                     "text='{fps} fps':x=8:y=8:size=24"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                TextTemplate(values.text("text"));
                text_parameters(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Text>>(text_parameters(values), shape, executor);
        },
    };
}

}  // namespace framewire
