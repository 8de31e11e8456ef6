#include "framewire/filters/text/text.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"

// Parameters and plan of Text; drawing is in text_cpu.cpp and text.cu.

namespace framewire {
namespace {

// Limits of the font size.
constexpr int min_size_px = 4, max_size_px = 512;

// The color for an image's channels; gray for one channel.
Color for_channels(Color color, int channels) {
    if (channels == 3) return color;
    const auto weights = gray_weights(GrayMethod::weighted);
    const int gray = (weights.b * channel_of(color.pixel, 0) + weights.g * channel_of(color.pixel, 1) +
                      weights.r * channel_of(color.pixel, 2) + weights.rounding) >>
                     gray_shift;
    return {gray_pixel(static_cast<std::uint32_t>(gray)), color.alpha};
}

const ParameterFields<TextParameters>& text_fields() {
    using P = TextParameters;
    const auto place = [](std::string_view name, std::string_view help) {
        return ParameterInfo{.name = name, .help = help, .minimum = -max_side_px, .maximum = max_side_px};
    };
    static const ParameterFields<P> fields = {
        parameter_field(
            &P::text,
            {.name = "text",
             .help =
                 "UTF-8; \\n ends a line; tokens {fps} {process_ms} {read_ms} {send_ms} {bandwidth} {changed} {frame} "
                 "{time} {source} {clock}, the last one also as strftime has it: {clock:%H:%M:%S}"}),
        parameter_field(&P::x, place("x", "of the text's left edge; negative: from the right edge to the text's")),
        parameter_field(&P::y, place("y", "of the text's upper edge; negative: from the lower edge to the text's")),
        parameter_field(
            &P::size_px,
            {.name = "size", .help = "of the font, in pixels", .minimum = min_size_px, .maximum = max_size_px}),
        {{.name = "color",
          .help = "#rrggbb or a name, with @0.5 behind it half transparent",
          .type = ParameterInfo::Type::text},
         [](const P& all) { return to_string(all.color); },
         [](P& all, const std::string& text) { all.color = parse_color(text, "color"); }},
        {{.name = "box",
          .help = "a colour behind the text, as color has it, or none",
          .type = ParameterInfo::Type::text},
         [](const P& all) { return all.box ? to_string(*all.box) : "none"; },
         [](P& all, const std::string& text) {
             if (text != "none") all.box = parse_color(text, "box");
         }},
        parameter_field(
            &P::font,
            {.name = "font",
             .help = "a family fontconfig knows or a font file's path; fontconfig's own choice where it is empty"}),
    };
    return fields;
}

// Validates the parameters and returns them.
const TextParameters& checked(const TextParameters& parameters) {
    text_fields().check(parameters, "text");
    return parameters;
}

}  // namespace

// Draws all glyphs that the text can need, now, so that frames only have to be laid out.
Text::Text(const TextParameters& parameters, const Shape& shape, Executor& executor)
    : shape_((validate(shape, "text's image"), shape)),
      executor_(&executor),
      template_(parameters.text),
      style_{for_channels(parameters.color, shape.channels),
             for_channels(parameters.box.value_or(Color{}), shape.channels)},
      atlas_(find_font(checked(parameters).font), parameters.size_px, template_.characters()),
      layout_(parameters.x, parameters.y, parameters.box ? parameters.size_px / 4 : -1, shape, max_text_characters) {
    if (executor.backend() == Backend::cuda) {
        const auto& coverage = atlas_.coverage();
        device_coverage_ = cuda::DeviceBuffer(coverage.size() + 1);  // not empty even without a visible glyph
        cuda::upload(coverage.data(), device_coverage_.data(), coverage.size(), executor.stream());
        executor.stream().synchronize();
        device_layout_ = cuda::DeviceBuffer(sizeof(TextPlace) + max_text_characters * sizeof(PlacedGlyph));
    }
    set_frame_values({});
}

// Lays out the text on the CPU; on CUDA, sends the positions to the GPU.
void Text::set_frame_values(const FrameValues& values) {
    layout_.arrange(template_.fill(values), atlas_);
    if constexpr (cuda::compiled)
        if (executor_->backend() == Backend::cuda) store_layout();
}

FilterInfo text_info() {
    return {
        .name = "text",
        .summary = "text over the picture, with figures of the run filled in on each frame",
        .parameters = text_fields().infos(),
        .examples = {"text='frame {frame}, {time}':x=12:y=-12:size=20:color=yellow:box=black@0.5",
                     "text='{fps} fps':x=8:y=8:size=24"},
        .draws = true,
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                TextTemplate(values.text("text"));
                text_fields().from(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Text>>(text_fields().from(values), shape, executor);
        },
    };
}

}  // namespace framewire
