#include "framewire/core/text.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/core/utf8.hpp"
#include "framewire/filters/gray_input.hpp"
#include "framewire/filters/text.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/text.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <fmt/format.h>
#include <fontconfig/fontconfig.h>
#include <ft2build.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

// Draws text on the CPU, row by row: first gathers the coverage of a row by glyphs, then blends the row in vectors.
// Rows that the text does not reach are only copied.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DWords = hn::ScalableTag<std::uint16_t>;
using VWords = hn::VFromD<DWords>;
using DBytes = hn::Rebind<std::uint8_t, DWords>;  // half a vector of bytes, with as many lanes as DWords
using VBytes = hn::VFromD<DBytes>;

// Computes divide_by_255() for vectors.
VWords divided_by_255(VWords value) {
    const auto raised = hn::Add(value, hn::Set(DWords(), 128));
    return hn::ShiftRight<8>(hn::Add(raised, hn::ShiftRight<8>(raised)));
}

// Computes blend() for vectors, given color * alpha and 255 - alpha.
VBytes blended(VBytes under, VWords color_times_alpha, VWords rest) {
    const auto sum = hn::Add(hn::Mul(hn::PromoteTo(DWords(), under), rest), color_times_alpha);
    return hn::DemoteTo(DBytes(), hn::BitCast(hn::RebindToSigned<DWords>(), divided_by_255(sum)));
}

}  // namespace

// Blends pixels with a colour; the alpha of each is its coverage times the colour's alpha.
void blend_pixels(const Color& color, const std::uint8_t* coverage, int channels, std::int64_t pixels,
                  std::uint8_t* out) {
    const DBytes d8;
    const DWords d16;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    const auto alpha = hn::Set(d16, static_cast<std::uint16_t>(color.alpha));
    const auto level = [&](int channel) HWY_ATTR {
        return hn::Set(d16, static_cast<std::uint16_t>(channel_of(color.pixel, channel)));
    };
    const auto b = level(0), g = level(1), r = level(2);
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        // Skip vectors that no glyph covers.
        const auto covered = hn::LoadU(d8, coverage + x);
        if (hn::AllTrue(d8, hn::Eq(covered, hn::Zero(d8)))) continue;
        const auto share = divided_by_255(hn::Mul(hn::PromoteTo(d16, covered), alpha));
        const auto rest = hn::Sub(hn::Set(d16, 255), share);
        auto* pixel = out + x * channels;
        if (channels == 1) {
            hn::StoreU(blended(hn::LoadU(d8, pixel), hn::Mul(b, share), rest), d8, pixel);
            continue;
        }
        VBytes under_b, under_g, under_r;
        hn::LoadInterleaved3(d8, pixel, under_b, under_g, under_r);
        hn::StoreInterleaved3(blended(under_b, hn::Mul(b, share), rest), blended(under_g, hn::Mul(g, share), rest),
                              blended(under_r, hn::Mul(r, share), rest), d8, pixel);
    }
    for (; x < pixels; ++x) {
        const auto share = divide_by_255(coverage[x] * static_cast<std::uint32_t>(color.alpha));
        for (int channel = 0; channel < channels; ++channel) {
            auto& byte = out[x * channels + channel];
            byte = static_cast<std::uint8_t>(
                blend(byte, static_cast<std::uint32_t>(channel_of(color.pixel, channel)), share));
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {

HWY_EXPORT(blend_pixels);

namespace {

// Writes the largest coverage of each pixel of row y by any glyph, from `area.x_begin` on. Returns false if no glyph
// reaches the row.
bool cover_row(const std::vector<PlacedGlyph>& glyphs, const std::uint8_t* atlas, const Area& area, int y,
               std::uint8_t* coverage) {
    bool any = false;
    for (const auto& glyph : glyphs) {
        if (y < glyph.y || y >= glyph.y + glyph.height) continue;
        if (!any) std::memset(coverage, 0, static_cast<std::size_t>(area.x_end - area.x_begin));
        any = true;
        const auto* row = atlas + glyph.offset + std::int64_t{y - glyph.y} * glyph.width;
        const int begin = std::max(glyph.x, area.x_begin), end = std::min(glyph.x + glyph.width, area.x_end);
        for (int x = begin; x < end; ++x)
            coverage[x - area.x_begin] = std::max(coverage[x - area.x_begin], row[x - glyph.x]);
    }
    return any;
}

}  // namespace

// Draws the box and the text over the row's current content.
void Text::draw_row(int y, std::uint8_t* row) const {
    const auto& place = layout_.place();
    if (y < place.covered.y_begin || y >= place.covered.y_end) return;
    std::uint8_t coverage[max_side_px];
    const auto draw = [&](const Area& area, const Color& color) {
        HWY_DYNAMIC_DISPATCH(blend_pixels)
        (color, coverage, shape_.channels, area.x_end - area.x_begin,
         row + std::int64_t{area.x_begin} * shape_.channels);
    };
    if (y >= place.box.y_begin && y < place.box.y_end && !place.box.empty()) {
        std::memset(coverage, 255, static_cast<std::size_t>(place.box.x_end - place.box.x_begin));
        draw(place.box, style_.box);
    }
    if (cover_row(layout_.glyphs(), atlas_.coverage().data(), place.covered, y, coverage))
        draw(place.covered, style_.color);
}

// Draws the rows of all frames in parallel.
void Text::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "text's image");
    validate(images.out, shape_, "text's result");
    const auto rows_each = std::max<std::int64_t>(span_bytes / shape_.row_bytes(), 1);
    executor_->pool().for_chunks(shape_.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto index = begin; index < end; ++index) {
            auto* row = images.out.batch_row(index);
            std::memcpy(row, images.in.batch_row(index), static_cast<std::size_t>(shape_.row_bytes()));
            draw_row(static_cast<int>(index % shape_.height), row);
        }
    });
}

std::optional<ImageArea> Text::changed_area() const {
    const auto& covered = layout_.place().covered;
    return ImageArea{{covered.x_begin, covered.x_end}, {covered.y_begin, covered.y_end}};
}

void Text::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    validate_rows(in, shape_, "text's input rows");
    validate_rows(out, shape_, "text's output rows");
    for (int y = out.range().begin; y < out.range().end; ++y) {
        std::memcpy(out.row(y), in.row(y), static_cast<std::size_t>(shape_.row_bytes()));
        draw_row(y, out.row(y));
    }
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

struct NamedColor {
    std::string_view name;
    std::uint32_t rgb;
};

// Names that users may write and that to_string() returns.
constexpr NamedColor named_colors[] = {
    {"white", 0xFFFFFF}, {"black", 0x000000},  {"gray", 0x808080}, {"red", 0xFF0000},     {"green", 0x00FF00},
    {"blue", 0x0000FF},  {"yellow", 0xFFFF00}, {"cyan", 0x00FFFF}, {"magenta", 0xFF00FF}, {"orange", 0xFFA500}};
constexpr std::string_view allowed =
    "#rrggbb or one of white, black, gray, red, green, blue, yellow, cyan, magenta, orange, optionally followed by @0 "
    "to @1 for the alpha";

// Parses a colour without its alpha, as 0xRRGGBB.
std::optional<std::uint32_t> read_rgb(std::string_view text) {
    if (text.size() == 7 && text[0] == '#') return number_in<std::uint32_t>(text.substr(1), 16);
    const auto found = std::find_if(std::begin(named_colors), std::end(named_colors),
                                    [&](const auto& one) { return one.name == text; });
    return found == std::end(named_colors) ? std::nullopt : std::optional(found->rgb);
}

}  // namespace

// The alpha is optional, and is rounded to 1/255.
Color parse_color(std::string_view text, std::string_view what) {
    const auto at = text.find('@');
    const auto rgb = read_rgb(text.substr(0, at));
    const auto alpha = at == text.npos ? std::optional(1.0) : number_in<double>(text.substr(at + 1));
    if (!rgb || !alpha || !(*alpha >= 0 && *alpha <= 1))
        fail(ErrorCode::usage, "{} '{}' is not a colour; allowed: {}", what, text, allowed);
    return {pixel_of(*rgb & 255, *rgb >> 8 & 255, *rgb >> 16), static_cast<int>(std::lround(255 * *alpha))};
}

// Returns the colour's name if it has one, otherwise #rrggbb; appends the alpha only if the colour is not opaque.
std::string to_string(const Color& color) {
    const auto rgb = channel_of(color.pixel, 2) << 16 | channel_of(color.pixel, 1) << 8 | channel_of(color.pixel, 0);
    const auto named = std::ranges::find(named_colors, static_cast<std::uint32_t>(rgb), &NamedColor::rgb);
    auto text = named == std::end(named_colors) ? fmt::format("#{:06x}", rgb) : std::string(named->name);
    if (color.alpha < 255) text += fmt::format("@{:.3f}", color.alpha / 255.0);
    return text;
}

}  // namespace framewire

// Parses the text filter's template and fills in its tokens. The constructor computes the longest text that the tokens
// can produce and reserves memory for it, so that fill() never allocates.

namespace framewire {
namespace {

// Names in the order of TextTemplate::Token, each with the maximum number of characters that the token can produce.
struct TokenName {
    std::string_view name;
    std::size_t most_characters;
};
// The numbers limit what append() can produce.
constexpr TokenName tokens[] = {{"fps", 8},   {"process_ms", 9}, {"bandwidth", 12}, {"changed", 7}, {"frame", 20},
                                {"time", 14}, {"source", 256},   {"read_ms", 9},    {"send_ms", 9}};
constexpr std::string_view token_list =
    "{fps} {process_ms} {bandwidth} {changed} {frame} {time} {source} {read_ms} {send_ms} {clock} {clock:%H:%M:%S}";

// Name of the clock token, and the default format of the clock.
constexpr std::string_view clock_name = "clock", clock_default = "%Y-%m-%d %H:%M:%S";
constexpr std::int64_t last_clock_s = 253402300799;  // end of the year 9999, because a year has at most four digits

// The strftime conversions that are allowed, each with the maximum number of characters that it can produce.
struct Conversion {
    char letter;
    std::size_t most_characters;
};
constexpr Conversion conversions[] = {{'a', 3}, {'A', 9}, {'b', 3}, {'B', 9}, {'d', 2}, {'e', 2}, {'F', 10},
                                      {'H', 2}, {'I', 2}, {'j', 3}, {'m', 2}, {'M', 2}, {'p', 2}, {'R', 5},
                                      {'S', 2}, {'T', 8}, {'y', 2}, {'Y', 4}, {'z', 5}, {'%', 1}};
constexpr std::string_view conversion_list = "%a %A %b %B %d %e %F %H %I %j %m %M %p %R %S %T %y %Y %z %%";

// Returns the maximum number of characters of a conversion, or 0 if the conversion is not allowed.
std::size_t most_characters_of(char conversion) {
    const auto* found = std::find_if(std::begin(conversions), std::end(conversions),
                                     [&](const auto& one) { return one.letter == conversion; });
    return found == std::end(conversions) ? 0 : found->most_characters;
}

// Returns the local time, clamped to years that four digits can show.
std::tm local_time(std::int64_t seconds) {
    const auto time = static_cast<std::time_t>(std::clamp<std::int64_t>(seconds, 0, last_clock_s - 86400));
    std::tm parts{};
    localtime_r(&time, &parts);
    return parts;
}

// Clamps a value to what fits the token's width; NaN becomes 0.
double held(double value, double most) { return value > 0 ? std::min(value, most) : 0; }

using Buffer = std::array<char, 64>;

// Formats into a buffer without allocating; truncates text that does not fit.
template <class... Values>
std::string_view format(Buffer& buffer, fmt::format_string<Values...> text, Values&&... values) {
    const auto result = fmt::format_to_n(buffer.data(), buffer.size(), text, std::forward<Values>(values)...);
    return {buffer.data(), std::min(result.size, buffer.size())};
}

// Formats bits per second in kb/s, Mb/s or Gb/s. The limits are such that values that would round up to 1000.0 use the
// next unit.
std::string_view format_bandwidth(Buffer& buffer, double bits_per_s) {
    const auto held_bits = held(bits_per_s, 999.9e9);
    if (held_bits >= 0.99995e9) return format(buffer, "{:.1f} Gb/s", held_bits / 1e9);
    if (held_bits >= 0.99995e6) return format(buffer, "{:.1f} Mb/s", held_bits / 1e6);
    return format(buffer, "{:.1f} kb/s", held_bits / 1e3);
}

// Formats hours, minutes, seconds and milliseconds.
std::string_view format_time(Buffer& buffer, double seconds) {
    const auto ms = static_cast<std::int64_t>(held(seconds, 9999.0 * 3600) * 1000 + 0.5);
    return format(buffer, "{}:{:02}:{:02}.{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

// Returns true for C0 and C1 control characters and for DEL.
bool is_control(char32_t character) { return character < 0x20 || (character >= 0x7F && character < 0xA0); }

}  // namespace

// Returns the token with a name, if there is one.
std::optional<TextTemplate::Token> TextTemplate::token_from(std::string_view name) {
    const auto found =
        std::find_if(std::begin(tokens), std::end(tokens), [&](const auto& one) { return one.name == name; });
    return found == std::end(tokens) ? std::nullopt : std::optional(static_cast<Token>(found - std::begin(tokens)));
}

// Reads one token, escape or character at a time, and stops as soon as the text is too long.
TextTemplate::TextTemplate(std::string_view text) {
    std::size_t most_characters = 0;
    while (!text.empty()) {
        if (text.front() == '{') {
            // A token, up to its closing brace.
            const auto close = text.find('}');
            if (close == text.npos)
                fail(ErrorCode::usage, "the text has a '{{' without a '}}'; tokens are {}; write '\\{{' for a brace",
                     token_list);
            const auto name = text.substr(1, close - 1);
            if (const auto colon = name.find(':'); name.substr(0, colon) == clock_name) {
                most_characters += add_clock(colon == name.npos ? clock_default : name.substr(colon + 1));
                text.remove_prefix(close + 1);
                if (most_characters <= max_text_characters) continue;
                break;
            }
            const auto token = token_from(name);
            if (!token)
                fail(ErrorCode::usage, "unknown token '{{{}}}'; tokens are {}; write '\\{{' for a brace", name,
                     token_list);
            parts_.push_back(*token);
            has_tokens_ = true;
            most_characters += tokens[static_cast<std::size_t>(*token)].most_characters;
            text.remove_prefix(close + 1);
        } else {
            // A character or an escape.
            auto [character, bytes, valid] = first_character(text);
            if (character == '\\') {
                const char escaped = text.size() > 1 ? text[1] : '\0';
                if (escaped != 'n' && escaped != '\\' && escaped != '{' && escaped != '}')
                    fail(ErrorCode::usage, "the text has a backslash before {}; it is allowed before n, \\, {{ and }}",
                         text.size() > 1 ? fmt::format("'{}'", text.substr(1, first_character(text.substr(1)).bytes))
                                         : "nothing");
                character = escaped == 'n' ? U'\n' : static_cast<char32_t>(escaped);
                bytes = 2;
            } else if (character == '\t') {
                character = ' ';
            } else if (is_control(character) && character != '\n') {
                character = replacement_character;
            }
            parts_.push_back(character);
            ++most_characters;
            text.remove_prefix(bytes);
        }
        if (most_characters > max_text_characters) break;
    }
    if (most_characters > max_text_characters)
        fail(ErrorCode::usage, "the text is too long: at most {} characters after its tokens are filled in",
             max_text_characters);
    filled_.reserve(most_characters);
}

std::size_t TextTemplate::add_clock(std::string_view format) {
    if (!std::exchange(has_clock_, true)) tzset();  // reads a file now, so that localtime_r need not read it later
    has_tokens_ = true;
    std::size_t most_characters = 0;
    while (!format.empty()) {
        const auto [character, bytes, valid] = first_character(format);
        format.remove_prefix(bytes);
        if (character != '%') {
            parts_.push_back(is_control(character) ? replacement_character : character);
            ++most_characters;
            continue;
        }
        const auto most = format.empty() ? 0 : most_characters_of(format.front());
        if (most == 0)
            fail(ErrorCode::usage, "the clock format has '%{}'; allowed: {}",
                 format.substr(0, format.empty() ? 0 : first_character(format).bytes), conversion_list);
        parts_.push_back(ClockPart{format.front()});
        most_characters += most;
        format.remove_prefix(1);
    }
    return most_characters;
}

// A clock may show any printable ASCII character.
std::u32string TextTemplate::characters() const {
    std::u32string all;
    if (has_clock_)
        for (char32_t c = 0x20; c < 0x7F; ++c) all += c;
    for (const auto& part : parts_) {
        if (const auto* character = std::get_if<char32_t>(&part)) {
            if (*character != '\n') all += *character;
        } else if (std::holds_alternative<ClockPart>(part)) {
            continue;
        } else if (std::get<Token>(part) == Token::source) {
            for (char32_t c = 0x20; c < 0x100; ++c)
                if (!is_control(c)) all += c;
            all += replacement_character;
        } else {
            all += U"0123456789.: %kMGb/s";
        }
    }
    return all;
}

void TextTemplate::append(char32_t character) { filled_ += character; }

// Formats a value into a buffer on the stack and appends its characters.
void TextTemplate::append(Token token, const FrameValues& values) {
    Buffer buffer;
    std::string_view text;
    switch (token) {
        case Token::fps: text = format(buffer, "{:.1f}", held(values.fps, 99999.9)); break;
        case Token::process_ms: text = format(buffer, "{:.2f}", held(values.process_ms, 99999.99)); break;
        case Token::read_ms: text = format(buffer, "{:.2f}", held(values.read_ms, 99999.99)); break;
        case Token::send_ms: text = format(buffer, "{:.2f}", held(values.send_ms, 99999.99)); break;
        case Token::bandwidth: text = format_bandwidth(buffer, values.bandwidth_bits_per_s); break;
        case Token::changed: text = format(buffer, "{:.1f} %", 100 * held(values.changed, 1)); break;
        case Token::frame: text = format(buffer, "{}", std::max<std::int64_t>(values.frame, 0)); break;
        case Token::time: text = format_time(buffer, values.time_s); break;
        case Token::source: text = values.source; break;
    }
    for (auto left = tokens[static_cast<std::size_t>(token)].most_characters; left > 0 && !text.empty(); --left) {
        const auto [character, bytes, valid] = first_character(text);
        append(is_control(character) ? replacement_character : character);
        text.remove_prefix(bytes);
    }
}

// Appends one conversion of strftime. Bytes outside ASCII are reduced to seven bits.
void TextTemplate::append(ClockPart part, const std::tm& clock) {
    const char wanted[] = {'%', part.conversion, '\0'};
    char text[32];
    const auto length = std::strftime(text, sizeof text, wanted, &clock);
    const std::string_view words(text, std::min(length, most_characters_of(part.conversion)));
    for (const char letter : words) append(static_cast<char32_t>(static_cast<unsigned char>(letter) & 0x7F));
}

// Computes the local time once per frame.
std::u32string_view TextTemplate::fill(const FrameValues& values) {
    filled_.clear();
    const auto clock = has_clock_ ? local_time(values.clock_s) : std::tm{};
    for (const auto& part : parts_)
        if (const auto* character = std::get_if<char32_t>(&part))
            append(*character);
        else if (const auto* of_clock = std::get_if<ClockPart>(&part))
            append(*of_clock, clock);
        else
            append(std::get<Token>(part), values);
    return filled_;
}

}  // namespace framewire

// Parameters of Text, and its plan.

namespace framewire {
namespace {

// Limits of the font size.
constexpr int min_size_px = 4, max_size_px = 512;

// Returns the colour for an image's channels: gray for one channel.
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
                 "{time} {source} {clock}, the last one optionally with a strftime format: {clock:%H:%M:%S}"}),
        parameter_field(&P::x, place("x", "left edge of the text; if negative, distance from the right edge")),
        parameter_field(&P::y, place("y", "upper edge of the text; if negative, distance from the lower edge")),
        parameter_field(
            &P::size_px,
            {.name = "size", .help = "font size in pixels", .minimum = min_size_px, .maximum = max_size_px}),
        {{.name = "color",
          .help = "colour of the text: #rrggbb or a name; append @0.5 to make it half transparent",
          .type = ParameterInfo::Type::text},
         [](const P& all) { return to_string(all.color); },
         [](P& all, const std::string& text) { all.color = parse_color(text, "color"); }},
        {{.name = "box",
          .help = "colour of the box behind the text, in the same form as color, or none",
          .type = ParameterInfo::Type::text},
         [](const P& all) { return all.box ? to_string(*all.box) : "none"; },
         [](P& all, const std::string& text) {
             if (text != "none") all.box = parse_color(text, "box");
         }},
        parameter_field(
            &P::font,
            {.name = "font",
             .help = "font family known to fontconfig, or path of a font file; if empty, fontconfig's default"}),
    };
    return fields;
}

// Validates the parameters and returns them.
const TextParameters& checked(const TextParameters& parameters) {
    text_fields().check(parameters, "text");
    return parameters;
}

}  // namespace

// Draws all glyphs that the text can need in advance, so that only the layout remains for each frame.
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
        device_coverage_ = cuda::DeviceBuffer(coverage.size() + 1);  // not empty, even if no glyph is visible
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
        .summary = "draws text over the picture, with statistics of the run",
        .parameters = text_fields().infos(),
        .examples = {"text='frame {frame}, {time}':x=12:y=-12:size=20:color=yellow:box=black@0.5",
                     "text='{fps} fps':x=8:y=8:size=24"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                TextTemplate(values.text("text"));
                text_fields().from(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Text>>(text_fields().from(values), shape, executor);
        },
        .kind = [](const ParameterValues&) -> FilterKind { return Drawing{}; },
    };
}

}  // namespace framewire

// Finds fonts through fontconfig or by the path of a file.

namespace framewire {
namespace {

using Config = std::unique_ptr<FcConfig, decltype(&FcConfigDestroy)>;
using Pattern = std::unique_ptr<FcPattern, decltype(&FcPatternDestroy)>;

// Returns a text property of a fontconfig pattern, or null if it has no value with this index.
const char* text_of(const Pattern& pattern, const char* property, int index) {
    FcChar8* text = nullptr;
    return FcPatternGetString(pattern.get(), property, index, &text) == FcResultMatch
               ? reinterpret_cast<const char*>(text)
               : nullptr;
}

// Compares names as fontconfig does, ignoring case.
bool same_family(const char* a, const char* b) {
    return FcStrCmpIgnoreCase(reinterpret_cast<const FcChar8*>(a), reinterpret_cast<const FcChar8*>(b)) == 0;
}

// Returns true if the font belongs to the family. fontconfig always returns some font; only the font's family name
// shows that the requested family is missing.
bool is_of_family(const Pattern& found, const char* family) {
    constexpr std::string_view generic[] = {"sans", "sans-serif", "serif", "mono", "monospace"};
    if (std::find(std::begin(generic), std::end(generic), family) != std::end(generic)) return true;
    for (int index = 0; const char* name = text_of(found, FC_FAMILY, index); ++index)
        if (same_family(name, family)) return true;
    return false;
}

}  // namespace

bool names_font_file(std::string_view wanted) {
    static constexpr std::string_view endings[] = {".ttf", ".ttc", ".otf", ".otc",  ".pfb",  ".pfa",
                                                   ".pcf", ".bdf", ".fon", ".woff", ".woff2"};
    std::string lower(wanted);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.find('/') != lower.npos ||
           std::ranges::any_of(endings, [&](auto ending) { return lower.ends_with(ending); });
}

// Requests only fonts with outlines, because glyphs are drawn at any size.
FontFile find_font(const std::string& wanted) {
    if (names_font_file(wanted)) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(wanted, ignored)) return {wanted, 0};
        fail(ErrorCode::usage, "font file '{}' does not exist", wanted);
    }

    // A separate configuration, because the process's own belongs to other users of fontconfig.
    const Config config(FcInitLoadConfigAndFonts(), &FcConfigDestroy);
    const auto* name = wanted.empty() ? "sans" : wanted.c_str();
    const Pattern pattern(FcNameParse(reinterpret_cast<const FcChar8*>(name)), &FcPatternDestroy);
    if (!pattern) fail(ErrorCode::usage, "'{}' is not a font family name", wanted);
    const char* asked_family = text_of(pattern, FC_FAMILY, 0);
    const std::string family = asked_family ? asked_family : "";
    FcPatternAddBool(pattern.get(), FC_OUTLINE, FcTrue);
    FcConfigSubstitute(config.get(), pattern.get(), FcMatchPattern);
    FcDefaultSubstitute(pattern.get());
    FcResult result{};
    const Pattern found(config ? FcFontMatch(config.get(), pattern.get(), &result) : nullptr, &FcPatternDestroy);
    const char* path = found ? text_of(found, FC_FILE, 0) : nullptr;
    if (!path)
        fail(ErrorCode::config,
             "this machine has no fonts that fontconfig can find; install some (Debian: fonts-dejavu-core) or specify "
             "a font file");
    if (!family.empty() && !is_of_family(found, family.c_str()))
        fail(ErrorCode::usage,
             "unknown font family '{}'; 'fc-list : family' lists the installed ones; the path of a font file is also "
             "allowed",
             family);
    FontFile file{path, 0};
    FcPatternGetInteger(found.get(), FC_INDEX, 0, &file.face);
    return file;
}

}  // namespace framewire

#include FT_FREETYPE_H

// Rasterises glyphs with FreeType. Fonts come from users, so sizes that a file states are checked or clamped before
// they are used.

namespace framewire {
namespace {

// Limit on the memory for the coverage of all glyphs of a text.
constexpr std::size_t max_coverage_bytes = 64 << 20;

using Library = std::unique_ptr<std::remove_pointer_t<FT_Library>, decltype(&FT_Done_FreeType)>;
using Face = std::unique_ptr<std::remove_pointer_t<FT_Face>, decltype(&FT_Done_Face)>;

// Opens a FreeType library that a single atlas uses.
Library open_library() {
    FT_Library library = nullptr;
    if (FT_Init_FreeType(&library) != 0) fail(ErrorCode::internal, "cannot initialize FreeType");
    return {library, &FT_Done_FreeType};
}

// Opens a font file at a size. Throws Error{usage} if it is not a font with outlines.
Face open_face(const Library& library, const FontFile& font, int size_px) {
    FT_Face face = nullptr;
    if (FT_New_Face(library.get(), font.path.c_str(), font.face, &face) != 0)
        fail(ErrorCode::usage, "'{}' is not a font that FreeType can read", font.path);
    Face opened(face, &FT_Done_Face);
    if (!FT_IS_SCALABLE(face) || FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size_px)) != 0)
        fail(ErrorCode::usage, "the font '{}' has no outlines", font.path);
    return opened;
}

// Converts a length to whole pixels; fonts store lengths in 64ths of a pixel.
int rounded_px(FT_Pos length) { return static_cast<int>((length + 32) >> 6); }

// Draws one glyph and appends its coverage.
Glyph draw(const Face& face, FT_UInt index, const FontFile& font, std::vector<std::uint8_t>& coverage) {
    if (FT_Load_Glyph(face.get(), index, FT_LOAD_RENDER | FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_NORMAL) != 0)
        fail(ErrorCode::usage, "the font '{}' is damaged: glyph {} cannot be drawn", font.path, index);
    const auto& slot = *face->glyph;
    const auto& bitmap = slot.bitmap;
    const auto bytes = std::size_t{bitmap.width} * bitmap.rows;
    if (bytes > 0 && bitmap.pixel_mode != FT_PIXEL_MODE_GRAY)
        fail(ErrorCode::usage, "the font '{}' has glyphs that are not plain outlines", font.path);
    if (bitmap.width > 0xFFFF || bitmap.rows > 0xFFFF || bytes > max_coverage_bytes - coverage.size())
        fail(ErrorCode::usage, "the text's glyphs would take more than {} MiB at this size", max_coverage_bytes >> 20);
    const Glyph glyph{static_cast<std::uint32_t>(coverage.size()),
                      static_cast<std::uint16_t>(bitmap.width),
                      static_cast<std::uint16_t>(bitmap.rows),
                      slot.bitmap_left,
                      slot.bitmap_top,
                      rounded_px(slot.advance.x)};
    for (unsigned row = 0; row < bitmap.rows; ++row) {
        const auto* from = bitmap.buffer + static_cast<std::ptrdiff_t>(row) * bitmap.pitch;
        coverage.insert(coverage.end(), from, from + bitmap.width);
    }
    return glyph;
}

}  // namespace

// Draws the box for missing characters first; characters without a glyph share it.
GlyphAtlas::GlyphAtlas(const FontFile& font, int size_px, std::u32string_view characters) {
    const auto library = open_library();
    const auto face = open_face(library, font, size_px);
    const auto& metrics = face->size->metrics;
    // Line heights are clamped to sensible values, whatever the file states.
    ascent_px_ = std::clamp(rounded_px(metrics.ascender), 1, 4 * size_px);
    line_px_ = std::clamp(rounded_px(metrics.height), 1, 4 * size_px);
    missing_ = draw(face, 0, font, coverage_);
    for (const auto character : std::set<char32_t>(characters.begin(), characters.end())) {
        const auto index = FT_Get_Char_Index(face.get(), character);
        glyphs_.emplace_back(character, index == 0 ? missing_ : draw(face, index, font, coverage_));
    }
}

// Uses a binary search: the characters were added in ascending order.
const Glyph& GlyphAtlas::glyph(char32_t character) const {
    const auto found = std::lower_bound(glyphs_.begin(), glyphs_.end(), character,
                                        [](const auto& entry, char32_t wanted) { return entry.first < wanted; });
    return found != glyphs_.end() && found->first == character ? found->second : missing_;
}

namespace {

// Returns the part of an area that lies in the picture.
Area clipped(Area area, int width, int height) {
    return {std::clamp(area.x_begin, 0, width), std::clamp(area.y_begin, 0, height), std::clamp(area.x_end, 0, width),
            std::clamp(area.y_end, 0, height)};
}

// Returns the smallest area that contains both areas.
Area joined(const Area& a, const Area& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.x_begin, b.x_begin), std::min(a.y_begin, b.y_begin), std::max(a.x_end, b.x_end),
            std::max(a.y_end, b.y_end)};
}

// Removes the first line from the text and returns it without its end-of-line character.
std::u32string_view take_line(std::u32string_view& text) {
    const auto end = std::min(text.find(U'\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// Returns the width of a line in pixels.
int width_of(std::u32string_view line, const GlyphAtlas& atlas) {
    int width = 0;
    for (const auto character : line) width += atlas.glyph(character).advance;
    return width;
}

}  // namespace

// Reserves memory for the longest text, so that arrange() never allocates.
TextLayout::TextLayout(int x, int y, int box_margin_px, const Shape& picture, std::size_t most_characters)
    : x_(x), y_(y), box_margin_px_(box_margin_px), width_(picture.width), height_(picture.height) {
    glyphs_.reserve(most_characters);
}

// Passes over the lines twice: first to find the size of the text, which determines where negative positions lie, then
// to position the glyphs.
void TextLayout::arrange(std::u32string_view text, const GlyphAtlas& atlas) {
    int text_width = 0;
    for (auto rest = text; !rest.empty();) text_width = std::max(text_width, width_of(take_line(rest), atlas));
    const auto lines = std::count(text.begin(), text.end(), U'\n') + (text.empty() || text.back() == U'\n' ? 0 : 1);
    const int text_height = static_cast<int>(lines) * atlas.line_px();
    // Upper left corner of the text.
    const int left = x_ >= 0 ? x_ : width_ + x_ - text_width;
    const int top = y_ >= 0 ? y_ : height_ + y_ - text_height;

    glyphs_.clear();
    place_ = {};
    int base_line = top + atlas.ascent_px();
    for (auto rest = text; !rest.empty(); base_line += atlas.line_px()) {
        int pen = left;
        for (const auto character : take_line(rest)) {
            const auto& glyph = atlas.glyph(character);
            const int x = pen + glyph.left, y = base_line - glyph.top;
            pen += glyph.advance;
            // The part of the glyph that lies in the picture.
            const auto seen = clipped({x, y, x + glyph.width, y + glyph.height}, width_, height_);
            if (seen.empty()) continue;
            glyphs_.push_back({x, y, glyph.offset, glyph.width, glyph.height});
            place_.covered = joined(place_.covered, seen);
        }
    }
    place_.glyphs = static_cast<int>(glyphs_.size());
    if (box_margin_px_ >= 0 && !text.empty()) {
        place_.box = clipped({left - box_margin_px_, top - box_margin_px_, left + text_width + box_margin_px_,
                              top + text_height + box_margin_px_},
                             width_, height_);
        place_.covered = joined(place_.covered, place_.box);
    }
}

}  // namespace framewire

#endif  // HWY_ONCE
