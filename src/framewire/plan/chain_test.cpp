#include "framewire/plan/chain.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire {
namespace {

using Type = ParameterInfo::Type;

// Returns test filters: one with a parameter of every type, one with a required parameter, and one without parameters.
const std::vector<FilterInfo>& fakes() {
    static const std::vector<FilterInfo> filters = {
        {.name = "smooth",
         .summary = "every type of parameter",
         .parameters =
             {{.name = "size",
               .help = "",
               .type = Type::integer,
               .default_value = "5",
               .minimum = 1,
               .maximum = 255,
               .odd_only = true},
              {.name = "sigma", .help = "", .type = Type::real, .default_value = "0", .minimum = 0, .maximum = 9.5},
              {.name = "border",
               .help = "",
               .type = Type::choice,
               .default_value = "reflect101",
               .choices = {"reflect101", "replicate", "zero"}},
              {.name = "channels", .help = "", .type = Type::integer, .default_value = "3", .choices = {"1", "3"}},
              {.name = "label", .help = "", .type = Type::text, .default_value = ""},
              {.name = "zone", .help = "", .type = Type::text, .default_value = "", .repeatable = true}}},
        {.name = "tile",
         .summary = "",
         .parameters =
             {{.name = "cell", .help = "", .type = Type::integer, .default_value = "", .minimum = -8, .maximum = 8}}},
        {.name = "still", .summary = "", .parameters = {}},
        {.name = "part",
         .summary = "several values without keys",
         .parameters = {{.name = "w", .help = "", .type = Type::text, .default_value = "iw"},
                        {.name = "h", .help = "", .type = Type::text, .default_value = "ih"},
                        {.name = "x", .help = "", .type = Type::integer, .default_value = "0", .maximum = 9}},
         .unnamed = 2},
    };
    return filters;
}

Chain parse(std::string_view text) { return parse_chain(text, fakes()); }

// Returns the values of the only filter in `text`.
ParameterValues values(std::string_view text) {
    const auto chain = parse(text);
    EXPECT_EQ(chain.calls.size(), 1u);
    return chain.calls.at(0).values;
}

// Returns the complete error message for `text`.
std::string refusal(std::string_view text) {
    try {
        parse(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

TEST(Chain, BlankTextIsAnEmptyChain) {
    EXPECT_TRUE(parse("").empty());
    EXPECT_TRUE(parse(" \t\n").empty());
}

TEST(Chain, AcceptsFirstValuesWithoutKeys) {
    const auto both = values("part=iw/2: 50% :x=3");
    EXPECT_EQ(both.text("w"), "iw/2");
    EXPECT_EQ(both.text("h"), "50%");
    EXPECT_EQ(both.integer("x"), 3);
    const auto one = values("part=7:x=3:h=8");
    EXPECT_EQ(one.text("w"), "7");
    EXPECT_EQ(one.text("h"), "8");
    for (const auto* text : {"part=1:2:3", "part=w=1:2", "part=1:x=3:2", "part:1"})
        EXPECT_NE(refusal(text).find("only the first 2 values after 'part=' may omit their keys, and none after a "
                                     "value with a key; keys: w, h, x"),
                  std::string::npos)
            << text;
    EXPECT_NE(refusal("part=1:2:w=3").find("'w' is given twice"), std::string::npos);
}

TEST(Chain, FillsInDefaults) {
    const auto of = values("smooth");
    EXPECT_EQ(of.integer("size"), 5);
    EXPECT_EQ(of.real("sigma"), 0);
    EXPECT_EQ(of.text("border"), "reflect101");
    EXPECT_EQ(of.integer("channels"), 3);
    EXPECT_EQ(of.text("label"), "");
    EXPECT_TRUE(of.has("label"));
    EXPECT_FALSE(of.has("zone"));
    EXPECT_TRUE(of.texts("zone").empty());
}

TEST(Chain, ParsesEveryTypeOfValue) {
    const auto of = values("smooth=size=7:sigma=1.25e0:border=zero:channels=1:label=sea:zone=1");
    EXPECT_EQ(of.integer("size"), 7);
    EXPECT_EQ(of.real("sigma"), 1.25);
    EXPECT_EQ(of.text("border"), "zero");
    EXPECT_EQ(of.integer("channels"), 1);
    EXPECT_EQ(of.text("label"), "sea");
    EXPECT_EQ(of.texts("zone"), std::vector<std::string>{"1"});
}

TEST(Chain, AssignsAValueWithoutKeyToTheMainParameter) {
    EXPECT_EQ(values("smooth=9").integer("size"), 9);
    EXPECT_EQ(values("smooth=9:sigma=2").integer("size"), 9);
    EXPECT_EQ(values("smooth=sigma=2:size=9").integer("size"), 9);
}

TEST(Chain, AcceptsParametersAfterAColon) {
    EXPECT_EQ(values("smooth:size=9").integer("size"), 9);
    EXPECT_EQ(values("smooth : sigma=2:size=9").real("sigma"), 2);
}

TEST(Chain, KeepsOrderAndOffsets) {
    const auto chain = parse("still, smooth=3 ,tile=-8");
    ASSERT_EQ(chain.calls.size(), 3u);
    EXPECT_EQ(chain.calls[0].filter->name, "still");
    EXPECT_EQ(chain.calls[1].filter->name, "smooth");
    EXPECT_EQ(chain.calls[2].filter->name, "tile");
    EXPECT_EQ(chain.calls[1].offset, 7u);
    EXPECT_EQ(chain.calls[2].values.integer("cell"), -8);
    EXPECT_EQ(chain.text, "still, smooth=3 ,tile=-8");
}

TEST(Chain, KeepsTheOrderOfRepeatableParameters) {
    EXPECT_EQ(values("smooth=zone=b:zone=a").texts("zone"), (std::vector<std::string>{"b", "a"}));
}

TEST(Chain, UnquotesAndUnescapesValues) {
    EXPECT_EQ(values("smooth=label='a:b,c=d\\e'").text("label"), "a:b,c=d\\e");
    EXPECT_EQ(values(R"(smooth=label=a\:b\,c\'d\\e)").text("label"), R"(a:b,c'd\e)");
    EXPECT_EQ(values("smooth=label=it''s' here '").text("label"), "its here ");
    EXPECT_EQ(values("smooth=label='a'\\''b'").text("label"), "a'b");
    EXPECT_EQ(values("smooth=label=''").text("label"), "");
    EXPECT_EQ(values("smooth=label=a=b").text("label"), "a=b");
}

TEST(Chain, IgnoresSpacesAroundParts) {
    EXPECT_EQ(values("  smooth = size = 7 : label =  two  words  ").text("label"), "two  words");
    EXPECT_EQ(values("smooth= 7 ").integer("size"), 7);
    EXPECT_EQ(values("smooth=label=' x '").text("label"), " x ");
    EXPECT_EQ(values("smooth=label=x\\ ").text("label"), "x ");
}

TEST(Chain, ReportsPositionAllowedValuesAndNearestName) {
    EXPECT_EQ(refusal("still,smoth=3"),
              "filters, column 7: unknown filter 'smoth'; filters: smooth, tile, still, part; did you mean 'smooth'?\n "
              " still,smoth=3\n        ^");
    EXPECT_EQ(refusal("smooth=3:sgma=1"),
              "filters, column 10: filter 'smooth' has no parameter 'sgma'; its parameters: size, sigma, border, "
              "channels, label, zone; did you mean 'sigma'?\n  smooth=3:sgma=1\n           ^");
    EXPECT_EQ(refusal("smooth=border=replicat"),
              "filters, column 15: filter 'smooth': border 'replicat' is not allowed; allowed: one of reflect101, "
              "replicate, zero; did you mean 'replicate'?\n  smooth=border=replicat\n                ^");
    EXPECT_EQ(refusal("smooth=4"),
              "filters, column 8: filter 'smooth': size '4' is even; allowed: an odd whole number from 1 to 255\n  "
              "smooth=4\n         ^");
    EXPECT_EQ(refusal("tile"),
              "filters, column 1: filter 'tile' needs 'cell', a whole number from -8 to 8\n"
              "  tile\n"
              "  ^");
}

TEST(Chain, DoesNotSuggestUnrelatedNames) {
    EXPECT_EQ(refusal("xyzzy").find("did you mean"), std::string::npos);
    EXPECT_EQ(refusal("smooth=q=1").find("did you mean"), std::string::npos);
}

struct Refusal {
    const char* text;
    const char* message;  // beginning of the message
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class ChainRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ChainRefusal, ReportsProblemAndPosition) {
    const auto message = refusal(GetParam().text);
    EXPECT_EQ(message.substr(0, std::string(GetParam().message).size()), GetParam().message) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Values, ChainRefusal,
    testing::Values(
        Refusal{"smooth=0", "filters, column 8: filter 'smooth': size '0' is out of range"},
        Refusal{"smooth=257", "filters, column 8: filter 'smooth': size '257' is out of range; allowed: an odd"},
        Refusal{"smooth=99999999999999999999",
                "filters, column 8: filter 'smooth': size '99999999999999999999' is out of"},
        Refusal{"smooth=five", "filters, column 8: filter 'smooth': size 'five' is not a whole number"},
        Refusal{"smooth=5.0", "filters, column 8: filter 'smooth': size '5.0' is not a whole number"},
        Refusal{"smooth=+5", "filters, column 8: filter 'smooth': size '+5' is not a whole number"},
        Refusal{"smooth=5x", "filters, column 8: filter 'smooth': size '5x' is not a whole number"},
        Refusal{"smooth=''", "filters, column 8: filter 'smooth': size '' is not a whole number"},
        Refusal{"smooth=zero",
                "filters, column 8: filter 'smooth': size 'zero' is not a whole number; allowed: an odd whole number "
                "from 1 to 255; did you mean 'border=zero'?"},
        Refusal{"smooth=sigma=9.6",
                "filters, column 14: filter 'smooth': sigma '9.6' is out of range; allowed: a number from 0 to 9.5"},
        Refusal{"smooth=sigma=-0.1", "filters, column 14: filter 'smooth': sigma '-0.1' is out of range"},
        Refusal{"smooth=sigma=1e999", "filters, column 14: filter 'smooth': sigma '1e999' is out of range"},
        Refusal{"smooth=sigma=nan", "filters, column 14: filter 'smooth': sigma 'nan' is not a number"},
        Refusal{"smooth=sigma=inf", "filters, column 14: filter 'smooth': sigma 'inf' is not a number"},
        Refusal{"smooth=sigma=1,5", "filters, column 16: unknown filter '5'"},
        Refusal{"smooth=channels=2",
                "filters, column 17: filter 'smooth': channels '2' is not allowed; allowed: one of 1, 3"},
        Refusal{"smooth=border=Zero", "filters, column 15: filter 'smooth': border 'Zero' is not allowed"},
        Refusal{"tile=-9", "filters, column 6: filter 'tile': cell '-9' is out of range"}));

INSTANTIATE_TEST_SUITE_P(
    Form, ChainRefusal,
    testing::Values(
        Refusal{",", "filters, column 1: the name of a filter is missing; filters: smooth, tile, still, part"},
        Refusal{"still,", "filters, column 7: the name of a filter is missing"},
        Refusal{"still,,still", "filters, column 7: the name of a filter is missing"},
        Refusal{"=5", "filters, column 1: the name of a filter is missing"},
        Refusal{"smooth=", "filters, column 8: filter 'smooth': the value of 'size' is missing; allowed: an odd"},
        Refusal{"smooth=sigma=", "filters, column 14: filter 'smooth': the value of 'sigma' is missing"},
        Refusal{
            "smooth=3:",
            "filters, column 10: filter 'smooth': only the first value after 'smooth=' may omit its key; keys: size,"},
        Refusal{"smooth=3:zero,still",
                "filters, column 10: filter 'smooth': only the first value after 'smooth=' may omit its key; keys: "
                "size, sigma, border, channels, label, zone; did you mean 'border=zero'?"},
        Refusal{"smooth=3::sigma=1", "filters, column 10: filter 'smooth': only the first value after 'smooth='"},
        Refusal{"smooth=3:4", "filters, column 10: filter 'smooth': only the first value after 'smooth='"},
        Refusal{"smooth:3", "filters, column 8: filter 'smooth': only the first value after 'smooth='"},
        Refusal{"smooth:", "filters, column 8: filter 'smooth': only the first value after 'smooth='"},
        Refusal{"smooth=3:size=5", "filters, column 10: filter 'smooth': 'size' is given twice"},
        Refusal{"smooth=sigma=1:sigma=1", "filters, column 16: filter 'smooth': 'sigma' is given twice"},
        Refusal{"still=1", "filters, column 7: filter 'still' takes no parameters"},
        Refusal{"still=", "filters, column 7: filter 'still' takes no parameters"},
        Refusal{"smooth=label='abc", "filters, column 14: filter 'smooth': unterminated quote"},
        Refusal{"smooth=label=abc\\", "filters, column 17: filter 'smooth': trailing backslash"},
        Refusal{"smooth=label=\xC3\xA4:sgma=1", "filters, column 16: filter 'smooth' has no parameter 'sgma'"}));

TEST(Chain, KeepsMessagesShortAndPrintable) {
    const auto message = refusal("still," + std::string(100'000, 'x') + "\x1b[2J");
    EXPECT_LT(message.size(), 400u);
    EXPECT_NE(message.find("'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"), std::string::npos);
    EXPECT_EQ(refusal("a\x1b"
                      "b")
                  .find('\x1b'),
              std::string::npos);
    // The caret must be below the error, even if escapes widen the text before it.
    const auto within = refusal("still,\xe2\x80\xaestill");
    EXPECT_NE(within.find("\n  still,\\u{202e}still\n        ^"), std::string::npos) << within;
    const auto behind = refusal("smooth=label='\xe2\x80\xae',nothing");
    EXPECT_NE(behind.find("\n  smooth=label='\\u{202e}',nothing\n" + std::string(26, ' ') + "^"), std::string::npos)
        << behind;
}

TEST(Chain, ShortensLongTextsAroundTheError) {
    std::string text = "still";
    for (int i = 0; i < 20; ++i) text += ",still";
    const auto message = refusal(text + ",stil,still,still,still,still,still");
    EXPECT_NE(message.find("\n  ...l,still,still,still,still,still,still,still,still,stil,still,still,still,st..."
                           "\n                                                       ^"),
              std::string::npos)
        << message;
}

TEST(Chain, RejectsTooManyFilters) {
    std::string text = "still";
    for (std::size_t count = 1; count < max_chain_filters; ++count) text += ",still";
    EXPECT_EQ(parse(text).calls.size(), max_chain_filters);
    EXPECT_EQ(refusal(text + ",still").rfind("filters, column 385: more than 64 filters\n", 0), 0u);
}

// Every text must yield either a chain or an error. Tested with random texts over the characters of the grammar.
TEST(Chain, SurvivesRandomTexts) {
    constexpr std::string_view alphabet = "smooth=:,'\\ 53tile.sigma-label\n\xC3";
    std::uint32_t state = 12345;
    const auto next = [&] { return state = state * 1664525u + 1013904223u, state >> 16; };
    int accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text(round % 2 ? "smooth=label=" : "");
        for (auto length = next() % 24; length > 0; --length) text += alphabet[next() % alphabet.size()];
        try {
            parse(text);
            ++accepted;
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::usage) << text;
            ASSERT_NE(std::string(error.what()).find("filters, column "), std::string::npos) << text;
        }
    }
    EXPECT_GT(accepted, 100);
}

// The chain is split at the filter that changes the rate.
TEST(Chain, SplitsWhereTheRateChanges) {
    const auto names = [](const Chain& chain) {
        std::string all;
        for (const auto& call : chain.calls) all += std::string(call.filter->name) + " ";
        return all;
    };
    const auto split = split_at_rate(parse_chain("gray,median,fps=12.5,noise"));
    EXPECT_EQ(names(split.whole), "gray median fps noise ");
    EXPECT_EQ(names(split.before), "gray median ");
    EXPECT_EQ(names(split.after), "noise ");
    ASSERT_TRUE(split.rate);
    EXPECT_EQ(split.rate->value(), 12.5);
    const auto plain = split_at_rate(parse_chain("gray,median"));
    EXPECT_EQ(names(plain.before), "");
    EXPECT_EQ(names(plain.after), "gray median ");
    EXPECT_FALSE(plain.rate);
    EXPECT_THROW(split_at_rate(parse_chain("fps,fps")), Error);
}

TEST(Chain, AcceptsEveryRegisteredDefault) {
    ASSERT_FALSE(filter_registry().empty());
    for (const auto& filter : filter_registry())
        for (const auto& parameter : filter.parameters)
            if (!parameter.default_value.empty()) {
                const auto text = std::string(filter.name) + "=" + std::string(parameter.name) + "=" +
                                  std::string(parameter.default_value);
                EXPECT_EQ(parse_chain(text).calls.size(), 1u) << text;
            }
}

TEST(Chain, MapsFfmpegFilterNames) {
    for (const auto* name :
         {"avgblur", "blur",      "boxblur",   "bwdif",     "convolution", "dilation", "drawtext", "eq",
          "erosion", "framerate", "gblur",     "grayscale", "hflip",       "hstack",   "hue",      "pixelize",
          "resize",  "sharpen",   "threshold", "transpose", "unsharp",     "vflip",    "vstack",   "yadif"}) {
        const std::string like(filter_like_ffmpegs(name));
        EXPECT_EQ(parse_chain(like == "text"       ? "text=words"
                              : like == "convolve" ? "convolve=1"
                                                   : like)
                      .calls.size(),
                  1u)
            << name;
        for (const auto& filter : filter_registry()) EXPECT_NE(filter.name, name);
    }
    EXPECT_EQ(filter_like_ffmpegs("scale"), "");
}

constexpr Shape colour{1, 20, 30, 3};

std::vector<std::string> names_of(const Chain& chain) {
    std::vector<std::string> names;
    for (const auto& call : chain.calls) names.emplace_back(call.filter->name);
    return names;
}

std::string refusal(ChainSwitches& switches, std::size_t number) {
    try {
        switches.set(number, false);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(ChainSwitches, SwitchFiltersOffAndOn) {
    ChainSwitches switches(parse_chain("gaussian=5:sigma=1, mosaic=32 ,text='a, b'"), colour);
    const std::vector<FilterSwitch> all{{"gaussian=5:sigma=1"}, {"mosaic=32"}, {"text='a, b'"}};
    EXPECT_EQ(switches.all(), all);
    switches.set(2, false);
    EXPECT_EQ(names_of(switches.active()), (std::vector<std::string>{"gaussian", "text"}));
    EXPECT_FALSE(switches.all()[1].on);
    switches.set(2, true);
    switches.set(1, false);
    EXPECT_EQ(names_of(switches.active()), (std::vector<std::string>{"mosaic", "text"}));
}

TEST(ChainSwitches, FiltersThatChangeTheShapeStayOn) {
    ChainSwitches switches(parse_chain("flip=horizontal,scale=15:10,gray=channels=1,gray"), colour);
    EXPECT_EQ(refusal(switches, 1), "");
    EXPECT_NE(refusal(switches, 2).find("changes the size"), std::string::npos);
    EXPECT_NE(refusal(switches, 3).find("changes the size"), std::string::npos);
    EXPECT_NE(refusal(switches, 0).find("the chain has 4"), std::string::npos);
    EXPECT_NE(refusal(switches, 5).find("no filter 5"), std::string::npos);
    EXPECT_EQ(names_of(switches.active()).size(), 3U);
}

TEST(ChainSwitches, FiltersBeforeARateChangeStayOn) {
    ChainSwitches switches(parse_chain("gray,fps=10,median=3"), colour);
    EXPECT_NE(refusal(switches, 1).find("before fps"), std::string::npos);
    EXPECT_NE(refusal(switches, 2).find("the number of frames"), std::string::npos);
    EXPECT_EQ(refusal(switches, 3), "");
}

TEST(ChainSwitches, SwitchedOffFiltersStayOffInANewChain) {
    ChainSwitches switches(parse_chain("gaussian=5,mosaic=32,gray=channels=3,mosaic=8"), colour);
    for (const std::size_t number : {1, 2, 3}) switches.set(number, false);
    switches.take(parse_chain("mosaic=8,gaussian=7,mosaic=32,median=3"), colour);
    EXPECT_EQ(names_of(switches.active()), (std::vector<std::string>{"mosaic", "median"}));
    EXPECT_TRUE(switches.all()[0].on) << "the other mosaic was switched off";
    EXPECT_THROW(switches.take(parse_chain("crop=900:900"), colour), Error);
    EXPECT_EQ(switches.all().size(), 4U) << "nothing changed";
    switches.take(parse_chain("scale=15:10"), colour);
    EXPECT_EQ(names_of(switches.active()).size(), 1U);
}

}  // namespace
}  // namespace framewire
