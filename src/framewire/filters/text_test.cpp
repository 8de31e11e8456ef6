#include "framewire/filters/text.hpp"
#include "framewire/filters/text_ref.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/needs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace framewire {
namespace {

// Returns the font of these tests. FRAMEWIRE_TEST_FONT names its file if fontconfig does not know it.
const std::string& font() {
    static const std::string path = [] {
        if (const char* given = std::getenv("FRAMEWIRE_TEST_FONT")) return std::string(given);
        try {
            return find_font("DejaVu Sans").path;
        } catch (const Error&) {
            return std::string();
        }
    }();
    return path;
}

// Skips the test if the machine lacks the font. scripts/deps.sh installs it, and the GPU bundle contains it.
void needs_font() {
    FRAMEWIRE_NEEDS(
        std::filesystem::exists(font()),
        "DejaVu Sans is not installed (Debian: fonts-dejavu-core); FRAMEWIRE_TEST_FONT can be the path of its file");
}

class TextTest : public kit::BackendTest {
protected:
    void SetUp() override {
        kit::BackendTest::SetUp();
        if (!IsSkipped()) needs_font();
    }
};
FRAMEWIRE_ON_EVERY_BACKEND(TextTest);

class TextOnHost : public testing::Test {
protected:
    void SetUp() override { needs_font(); }
    Executor& executor() { return kit::executor(Backend::cpu); }
};

// Draws on noise, compares with the reference and returns the result.
HostImage run_on(Text& text, const Shape& shape, Executor& executor, std::uint64_t salt = 1) {
    kit::GuardedImage in(shape, {}), out(shape, {});
    kit::fill(in.view(), kit::Fill::noise, salt);
    if (executor.backend() == Backend::cpu) {
        text.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
    } else if constexpr (cuda::compiled) {
        kit::DeviceMirror device_in(in), device_out(out);
        device_in.upload(executor.stream());
        device_out.upload(executor.stream());
        text.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
        device_out.download(executor.stream());
    }
    HostImage result(shape), want(shape);
    copy(out.view(), result.view());
    text_reference(text, in.view(), want.view());
    EXPECT_EQ(kit::first_difference(result.view(), want.view()), std::nullopt);
    return result;
}

TEST_P(TextTest, MatchesTheReference) {
    struct Case {
        const char *text, *size, *color, *box;
    };
    for (const Case& one :
         {Case{"Grüße, žluť\\n{fps} fps", "13", "#ff8020@0.7", "black@0.4"}, Case{"AVjgß", "40", "white", "none"}})
        for (const int channels : {3, 1}) {
            const auto make = [&](const Shape& shape) {
                return Text(
                    {.text = one.text,
                     .x = 3,
                     .y = 2,
                     .size_px = std::atoi(one.size),
                     .color = parse_color(one.color, ""),
                     .box = std::string(one.box) == "none" ? std::nullopt : std::optional(parse_color(one.box, "")),
                     .font = font()},
                    shape, kit::executor(Backend::cpu));
            };
            kit::check_filter(GetParam(), {.info = text_info(),
                                           .values = {{"text", one.text},
                                                      {"x", "3"},
                                                      {"y", "2"},
                                                      {"size", one.size},
                                                      {"color", one.color},
                                                      {"box", one.box},
                                                      {"font", font()}},
                                           .channels = channels,
                                           .reference = [&](const FilterImages<MemorySpace::host>& images) {
                                               text_reference(make(images.in.shape()), images.in, images.out);
                                           }});
        }
}

// Draws at every edge and corner, beyond them, and at positions relative to the right and lower edges.
TEST_P(TextTest, ClipsAtAllEdges) {
    const Shape shape{2, 70, 110, 3};
    for (const int x : {-16384, -130, -60, -1, 0, 60, 109, 110, 16384})
        for (const int y : {-16384, -100, -20, -1, 0, 50, 69, 70, 16384}) {
            SCOPED_TRACE(fmt::format("x {}, y {}", x, y));
            Text text({.text = "Ägypten\\n{frame}",
                       .x = x,
                       .y = y,
                       .size_px = 30,
                       .box = Color{0x203040, 99},
                       .font = font()},
                      shape, kit::executor(GetParam()));
            run_on(text, shape, kit::executor(GetParam()));
        }
}

TEST_P(TextTest, DrawsMoreGlyphsThanFitInOneLaunch) {
    const Shape shape{1, 480, 640, 3};
    std::string words;
    for (int line = 0; line < 40; ++line) words += "Franz jagt im komplett verwahrlosten Taxi\\n";
    Text text({.text = words, .size_px = 11, .font = font()}, shape, kit::executor(GetParam()));
    EXPECT_GT(text.layout().glyphs().size(), 1000u);
    run_on(text, shape, kit::executor(GetParam()));
}

// Values are set faster than the GPU draws them; each picture must still show its own values.
TEST_P(TextTest, DrawsTheValuesOfEachFrame) {
    const Shape shape{1, 60, 400, 3};
    auto& executor = kit::executor(GetParam());
    Text text({.text = "{frame} {fps} {source}", .font = font()}, shape, executor);
    EXPECT_TRUE(text.shows_frame_values());
    kit::GuardedImage in(shape, {});
    kit::fill(in.view(), kit::Fill::noise, 1);
    constexpr int frames = 12;
    HostImage got(shape.with_frames(frames)), want(shape.with_frames(frames));
    const auto values = [](int frame) {
        return FrameValues{.fps = 29.97 * frame, .frame = 1000 * frame, .source = "lobby.mp4"};
    };
    for (int frame = 0; frame < frames; ++frame) {
        text.set_frame_values(values(frame));
        text_reference(text, in.view(), want.view().frames(frame, 1));
    }
    if (executor.backend() == Backend::cpu) {
        const auto before = kit::allocations();
        for (int frame = 0; frame < frames; ++frame) {
            text.set_frame_values(values(frame));
            text.run(FilterImages<MemorySpace::host>{in.view(), {}, got.view().frames(frame, 1)});
        }
        EXPECT_EQ(kit::allocations(), before);
    } else if constexpr (cuda::compiled) {
        kit::DeviceMirror device_in(in);
        device_in.upload(executor.stream());
        cuda::DeviceImage out(shape.with_frames(frames));
        for (int frame = 0; frame < frames; ++frame) {
            text.set_frame_values(values(frame));
            text.run(FilterImages<MemorySpace::device>{device_in.view(), {}, out.view().frames(frame, 1)});
        }
        cuda::download(out.view(), got.view(), executor.stream());
        executor.stream().synchronize();
    }
    EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt);
}

TEST_F(TextOnHost, DrawsTheGivenText) {
    const Shape shape{1, 100, 200, 1};
    HostImage in(shape), out(shape);
    kit::fill(in.view(), kit::Fill::zeros);
    const auto ink = [&](const char* text) {
        Text({.text = text, .size_px = 32, .font = font()}, shape, executor())
            .run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()});
        std::int64_t sum = 0;
        for (std::int64_t at = 0; at < shape.bytes(); ++at) sum += out.view().data()[at];
        return sum;
    };
    EXPECT_EQ(ink(""), 0);
    EXPECT_EQ(ink("  \t"), 0);
    EXPECT_GT(ink("I"), 255 * 20);       // a stem a few pixels wide and 23 high
    EXPECT_GT(ink("\u00c9"), ink("E"));  // the accent
    EXPECT_EQ(ink("II"), 2 * ink("I"));
    EXPECT_EQ(ink("I\\nI"), 2 * ink("I"));            // the second line is also drawn
    EXPECT_GT(ink("\\\\"), 0);                        // a backslash
    EXPECT_EQ(ink("\xff"), ink("\uFFFD"));            // invalid UTF-8 is drawn as U+FFFD
    EXPECT_EQ(ink("\U00012345"), ink("\U00012346"));  // characters that the font lacks share one box
    EXPECT_GT(ink("\U00012345"), 0);
}

TEST_F(TextOnHost, LaysOutLinesRelativeToACorner) {
    const GlyphAtlas atlas({font(), 0}, 20, U"AB");
    const Shape picture{1, 100, 200, 3};
    const int a = atlas.glyph(U'A').advance, line = atlas.line_px();
    TextLayout layout(10, 5, 2, picture, 100);
    layout.arrange(U"AA\nB", atlas);
    ASSERT_EQ(layout.glyphs().size(), 3u);
    EXPECT_EQ(layout.glyphs()[1].x - layout.glyphs()[0].x, a);
    EXPECT_EQ(layout.glyphs()[2].y - layout.glyphs()[0].y, line);
    EXPECT_EQ(layout.place().box, (Area{8, 3, 10 + 2 * a + 2, 5 + 2 * line + 2}));
    EXPECT_EQ(layout.place().covered, layout.place().box);

    TextLayout corner(-10, -5, 0, picture, 100);
    corner.arrange(U"AA\nB", atlas);
    EXPECT_EQ(corner.place().box, (Area{200 - 10 - 2 * a, 100 - 5 - 2 * line, 190, 95}));

    TextLayout outside(200, 100, -1, picture, 100);
    outside.arrange(U"AA", atlas);
    EXPECT_TRUE(outside.glyphs().empty());
    EXPECT_TRUE(outside.place().covered.empty());
}

std::string filled(std::string_view text, const FrameValues& values) {
    TextTemplate parsed(text);
    std::string bytes;
    for (const auto character : parsed.fill(values)) bytes += character < 0x80 ? static_cast<char>(character) : '?';
    return bytes;
}

TEST(TextTemplate, FillsInTokens) {
    const FrameValues values{.fps = 29.97,
                             .process_ms = 1.234,
                             .bandwidth_bits_per_s = 12.34e6,
                             .changed = 0.0314,
                             .frame = 1234,
                             .time_s = 3723.0456,
                             .source = "a.mp4"};
    EXPECT_EQ(filled("{fps} fps, {process_ms} ms", values), "30.0 fps, 1.23 ms");
    EXPECT_EQ(filled("{bandwidth} {changed} {frame}", values), "12.3 Mb/s 3.1 % 1234");
    EXPECT_EQ(filled("{time}\\n{source}", values), "1:02:03.046\na.mp4");
    EXPECT_EQ(filled("\\{fps\\} } \\\\ \t", values), "{fps} } \\  ");
    EXPECT_EQ(filled("{fps}{process_ms}{bandwidth}{changed}{frame}{time}{source}", {}),
              "0.00.000.0 kb/s0.0 %00:00:00.000");
    EXPECT_EQ(filled("{bandwidth}", {.bandwidth_bits_per_s = 999960}), "1.0 Mb/s");
    EXPECT_EQ(filled("{bandwidth}", {.bandwidth_bits_per_s = 1e300}), "999.9 Gb/s");
    EXPECT_EQ(filled("{fps}{time}", {.fps = -1, .time_s = 0.0 / 0.0}), "0.00:00:00.000");
    const std::string long_name(1000, 'x');
    EXPECT_EQ(filled("{source}", {.source = long_name}), std::string(256, 'x'));
    EXPECT_EQ(filled("{source}", {.source = "\xff\n"}), "??");
    EXPECT_FALSE(TextTemplate("plain").has_tokens());
    EXPECT_EQ(filled("{read_ms} {send_ms}", {.read_ms = 0.126, .send_ms = 1e300}), "0.13 99999.99");
}

// Compares the local time of a frame with the C library's result for the whole format.
TEST(TextTemplate, FillsInTheClock) {
    for (const std::time_t seconds : {0L, 1'700'000'000L, 253'402'000'000L}) {
        const FrameValues values{.clock_s = seconds};
        std::tm parts{};
        localtime_r(&seconds, &parts);
        for (const std::string format :
             {"%H:%M:%S", "%a %A %b %B %d %e", "%F %T %R", "%I %p %j %m %y %Y %z", "100%%", ""}) {
            char expected[128];
            const auto length = std::strftime(expected, sizeof expected, ("|" + format).c_str(), &parts);
            EXPECT_EQ("|" + filled("{clock:" + format + "}", values), std::string(expected, length));
        }
        char expected[32];
        std::strftime(expected, sizeof expected, "%Y-%m-%d %H:%M:%S", &parts);
        EXPECT_EQ(filled("{clock}", values), expected);
    }
    EXPECT_EQ(filled("{clock:%Y}", {.clock_s = std::numeric_limits<std::int64_t>::max()}), "9999");
    EXPECT_EQ(filled("{clock:at %H\u00e9}", {.clock_s = -1}).substr(0, 3), "at ");
    EXPECT_TRUE(TextTemplate("{clock}").has_tokens());
    TextTemplate clock("{clock}");
    const auto known = clock.characters();
    for (const auto character : clock.fill({.clock_s = 1'700'000'000})) EXPECT_NE(known.find(character), known.npos);
}

TEST(TextTemplate, DecodesUtf8AndReplacesInvalidBytes) {
    const auto read = [](std::string_view text) { return std::u32string(TextTemplate(text).fill({})); };
    EXPECT_EQ(read("a\u00e9\u20ac\U0001F600"), U"aé€\U0001F600");
    constexpr auto bad = U'\uFFFD';
    using std::u32string;
    EXPECT_EQ(read("\x80x"), (u32string{bad, U'x'}));  // cannot start a character
    EXPECT_EQ(read("\xC3"), (u32string{bad}));         // truncated
    EXPECT_EQ(read("\xC3("), (u32string{bad, U'('}));
    EXPECT_EQ(read("\xE2\x82x"), (u32string{bad, U'x'}));  // truncated after two of three bytes
    EXPECT_EQ(read("\xC0\xAF"), (u32string{bad, bad}));    // overlong
    EXPECT_EQ(read("\xE0\x80\x80"), (u32string{bad, bad, bad}));
    EXPECT_EQ(read("\xED\xA0\x80"), (u32string{bad, bad, bad}));           // a surrogate
    EXPECT_EQ(read("\xF4\x90\x80\x80"), (u32string{bad, bad, bad, bad}));  // beyond U+10FFFF
    EXPECT_EQ(read(std::string_view("a\0b\r", 4)), (u32string{U'a', bad, U'b', bad}));
    // The example of table 3-8 in the Unicode standard.
    EXPECT_EQ(read("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
              (u32string{U'a', bad, bad, bad, U'b', bad, U'c', bad, bad, U'd'}));
}

void expect_refused(const std::function<void()>& action, std::string_view part, ErrorCode code = ErrorCode::usage) {
    try {
        action();
        FAIL() << "accepted; expected this error: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code);
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
}

TEST(TextTemplate, RejectsUnknownTokensAndFormats) {
    expect_refused([] { TextTemplate("{fpz}"); }, "unknown token '{fpz}'; tokens are {fps} {process_ms} {bandwidth}");
    expect_refused([] { TextTemplate("{fps"); }, "a '{' without a '}'");
    expect_refused([] { TextTemplate("{clock:%Q}"); }, "the clock format has '%Q'; allowed: %a %A");
    expect_refused([] { TextTemplate("{clock:%}"); }, "the clock format has '%'");
    expect_refused([] { TextTemplate("{clocks:%H}"); }, "unknown token '{clocks:%H}'");
    expect_refused([] { TextTemplate("{clock:" + std::string(3000, 'x') + "}"); }, "too long");
    expect_refused([] { TextTemplate("a\\b"); }, "a backslash before 'b'");
    expect_refused([] { TextTemplate("a\\"); }, "a backslash before nothing");
    TextTemplate(std::string(max_text_characters, 'x'));
    expect_refused([] { TextTemplate(std::string(max_text_characters + 1, 'x')); }, "too long");
    std::string sources;
    for (int index = 0; index < 9; ++index) sources += "{source}";
    expect_refused([&] { TextTemplate{sources}; }, "too long");
}

TEST(TextColor, ParsesNamesHexValuesAndAlpha) {
    EXPECT_EQ(parse_color("#102030", "color").pixel, pixel_of(0x30, 0x20, 0x10));
    EXPECT_EQ(parse_color("#AbCdEf", "color").pixel, pixel_of(0xEF, 0xCD, 0xAB));
    EXPECT_EQ(parse_color("orange", "color").pixel, pixel_of(0, 0xA5, 0xFF));
    EXPECT_EQ(parse_color("orange", "color").alpha, 255);
    EXPECT_EQ(parse_color("red@0.5", "color").alpha, 128);
    EXPECT_EQ(parse_color("#000000@0", "color").alpha, 0);
    for (const auto* wrong :
         {"", "pink!", "#12345", "#1234567", "#12345g", "#-12345", "red@", "red@2", "red@-1", "red@nan", "@1"})
        expect_refused([&] { parse_color(wrong, "box"); }, fmt::format("box '{}' is not a colour", wrong));
}

TEST_F(TextOnHost, RejectsInvalidParameters) {
    const Shape shape{1, 8, 8, 3};
    const auto make = [&](TextParameters parameters) {
        if (parameters.font.empty()) parameters.font = font();
        Text(parameters, shape, executor());
    };
    expect_refused([&] { make({.size_px = 3}); }, "allowed: a whole number from 4 to 512");
    expect_refused([&] { make({.size_px = 513}); }, "allowed: a whole number from 4 to 512");
    expect_refused([&] { make({.x = 16385}); }, "text: x '16385' is out of range");
    expect_refused([&] { make({.font = "/no/such.ttf"}); }, "font file '/no/such.ttf' does not exist");
    EXPECT_THROW(Text({.font = font()}, shape.with_channels(2), executor()), Error);
}

// On a machine without any fonts, the error message states that there are no fonts.
TEST_F(TextOnHost, RejectsUnknownFontFamilies) {
    try {
        Text({.font = "No Such Family"}, {1, 8, 8, 3}, executor());
        FAIL() << "accepted";
    } catch (const Error& error) {
        const std::string_view text = error.what();
        const bool no_fonts = error.code() == ErrorCode::config;
        EXPECT_NE(text.find(no_fonts ? "has no fonts" : "unknown font family 'No Such Family'"), text.npos) << text;
        EXPECT_TRUE(no_fonts || error.code() == ErrorCode::usage);
    }
}

TEST_F(TextOnHost, RejectsInvalidFontFiles) {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("framewire-text-{}", kit::seed());
    std::filesystem::create_directories(folder);
    const auto broken = folder / "broken.ttf";
    std::ofstream(broken) << "this is not a font";
    expect_refused([&] { Text({.font = broken}, {1, 8, 8, 3}, executor()); }, "is not a font that FreeType can read");
    // A font file that is truncated anywhere is either rejected or drawn.
    std::ifstream whole_file(font(), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(whole_file)), {});
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 23) {
        std::ofstream(broken, std::ios::binary | std::ios::trunc)
            .write(whole.data(), static_cast<std::streamsize>(size));
        try {
            Text({.text = "Ag\u00e9", .font = broken}, {1, 8, 8, 3}, executor());
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage) << error.what();
        }
    }
    std::filesystem::remove_all(folder);
}

TEST(Font, ReportsThatNoFontsAreInstalled) {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("framewire-fonts-{}", kit::seed());
    std::filesystem::create_directories(folder);
    const auto config = folder / "fonts.conf";
    std::ofstream(config)
        << "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig></fontconfig>";
    const char* before = std::getenv("FONTCONFIG_FILE");
    const std::string kept = before ? before : "";
    setenv("FONTCONFIG_FILE", config.c_str(), 1);
    expect_refused([] { find_font(""); }, "this machine has no fonts", ErrorCode::config);
    if (before)
        setenv("FONTCONFIG_FILE", kept.c_str(), 1);
    else
        unsetenv("FONTCONFIG_FILE");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace framewire
