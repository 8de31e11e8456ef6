#include "framewire/core/parameters.hpp"
#include "framewire/core/parameter_fields.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {
namespace {

using Type = ParameterInfo::Type;

// One parameter per type: the first has a default, the others are optional.
const std::vector<ParameterInfo>& all_types() {
    static const std::vector<ParameterInfo> parameters = {
        {.name = "size", .help = "", .type = Type::size, .default_value = "64x48", .minimum = 1, .maximum = 16384},
        {.name = "fps", .help = "", .type = Type::rate, .optional = true},
        {.name = "noise", .help = "", .type = Type::real, .maximum = 50, .optional = true, .decimals = 3},
        {.name = "share", .help = "", .type = Type::real, .maximum = 1, .optional = true, .above_minimum = true},
        {.name = "seed", .help = "", .maximum = 0x1p62, .optional = true},
        {.name = "shadows", .help = "", .type = Type::flag, .optional = true},
        {.name = "format", .help = "", .type = Type::choice, .choices = {"bgr", "gray"}, .optional = true},
        {.name = "truth", .help = "", .type = Type::text, .optional = true},
    };
    return parameters;
}

ParameterValues read(std::string_view text) {
    return parse_parameters(text, {.who = "synth", .parameters = all_types()});
}

std::string refusal(std::string_view text, const ParameterSyntax& syntax) {
    try {
        parse_parameters(text, syntax);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

std::string refusal(std::string_view text) { return refusal(text, {.who = "synth", .parameters = all_types()}); }

TEST(Numbers, RejectPartialMatchesAndOverflow) {
    EXPECT_EQ(number_in<int>("-12"), -12);
    EXPECT_EQ(number_in<std::uint8_t>("ff", 16), 255);
    EXPECT_EQ(number_in<double>("1.5e2"), 150);
    for (const auto* text : {"", " 1", "1 ", "+1", "1x", "0x1", "--1"}) EXPECT_FALSE(number_in<int>(text)) << text;
    int number = 7;
    EXPECT_EQ(read_number("99999999999", number), std::errc::result_out_of_range);
    EXPECT_EQ(read_number("1,5", number), std::errc::invalid_argument);
    EXPECT_EQ(number, 7);
    std::string_view text = "12,34";
    EXPECT_EQ(take_number(text, number), std::errc{});
    EXPECT_EQ(number, 12);
    EXPECT_EQ(text, ",34");
}

TEST(Numbers, ParsingIgnoresTheLocale) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    // Only the locales that this machine has are tested.
    for (const auto* name : {"de_DE.UTF-8", "fr_FR.UTF-8", ""}) {
        std::setlocale(LC_ALL, name);
        EXPECT_EQ(number_in<double>("1.5"), 1.5);
        EXPECT_FALSE(number_in<double>("1,5"));
    }
    std::setlocale(LC_ALL, before.c_str());
}

TEST(Parameters, ParseEveryTypeAndFillInDefaults) {
    const auto values = read("fps=30000/1001:noise=2.5:share=1:seed=7:shadows=1:format=gray:truth=a b.jsonl");
    EXPECT_EQ(values.size("size"), (std::pair{64, 48}));
    EXPECT_EQ(values.rate("fps").numerator, 30000);
    EXPECT_EQ(values.real("noise"), 2.5);
    EXPECT_EQ(values.real("share"), 1);
    EXPECT_EQ(values.integer("seed"), 7);
    EXPECT_TRUE(values.flag("shadows"));
    EXPECT_EQ(values.text("format"), "gray");
    EXPECT_EQ(values.text("truth"), "a b.jsonl");
    EXPECT_FALSE(values.is_given("size"));
    EXPECT_TRUE(values.is_given("fps"));
    EXPECT_FALSE(read("").has("fps"));
    EXPECT_EQ(read(" ").size("size"), (std::pair{64, 48}));
    EXPECT_EQ(read("size = 1x2 : truth='a:b.jsonl'").text("truth"), "a:b.jsonl");
    EXPECT_EQ(read("seed=4611686018427387904").integer("seed"), std::int64_t{1} << 62);
}

TEST(Parameters, RejectUnknownAndDuplicateKeys) {
    EXPECT_EQ(refusal("sice=64x48"),
              "synth has no parameter 'sice'; its parameters: size, fps, noise, share, seed, shadows, format, truth; "
              "did you mean 'size'?");
    EXPECT_EQ(refusal("size"),
              "synth: 'size' is not key=value; keys: size, fps, noise, share, seed, shadows, format, truth; did you "
              "mean 'size'?");
    EXPECT_EQ(refusal("size=1x1:size=2x2"), "synth: 'size' is given twice");
    EXPECT_EQ(refusal("seed=1:seed=1"), "synth: 'seed' is given twice");
    for (const auto* text : {":", "size=1x1:", "=", "size=1x1::seed=1"}) EXPECT_NE(refusal(text), "") << text;
    EXPECT_EQ(refusal("a=1", {.who = "first"}), "first takes no parameters");
}

TEST(Parameters, RejectInvalidValuesAndListTheAllowedOnes) {
    for (const auto* value : {"64", "x", "1x1x1", "-", "1 x 1"}) {
        const auto message = refusal("size=" + std::string(value));
        EXPECT_NE(message.find("is not a size; allowed: WIDTHxHEIGHT with sides of 1 to 16384 pixels"), message.npos)
            << message;
    }
    for (const auto* value : {"0x1", "1x0", "16385x1", "-1x5"})
        EXPECT_NE(refusal("size=" + std::string(value)).find("is out of range"), std::string::npos) << value;
    EXPECT_EQ(refusal("size="),
              "synth: the value of 'size' is missing; allowed: WIDTHxHEIGHT with sides of 1 to 16384 pixels");
    EXPECT_EQ(refusal("fps=0"),
              "synth: fps '0' is not a valid rate; allowed: 0.001 to 1000 frames per second, such as 30, 29.97 or "
              "30000/1001");
    EXPECT_EQ(refusal("noise=51"),
              "synth: noise '51' is out of range; allowed: a number from 0 to 50 with up to 3 decimals");
    for (const auto* value : {"2.0005", "1e1", "1.", ".5", "5.5.5"})
        EXPECT_NE(refusal("noise=" + std::string(value)), "");
    EXPECT_EQ(refusal("share=0"), "synth: share '0' is out of range; allowed: a number above 0 and at most 1");
    EXPECT_EQ(refusal("share=nan"), "synth: share 'nan' is not a number; allowed: a number above 0 and at most 1");
    EXPECT_EQ(refusal("seed=-1"),
              "synth: seed '-1' is out of range; allowed: a whole number from 0 to 4611686018427387904");
    EXPECT_NE(refusal("seed=4611686018427387905").find("out of range"), std::string::npos);
    EXPECT_EQ(refusal("shadows=yes"), "synth: shadows 'yes' is not allowed; allowed: 0 or 1");
    EXPECT_EQ(refusal("format=grey"),
              "synth: format 'grey' is not allowed; allowed: one of bgr, gray; did you mean 'gray'?");
}

TEST(Parameters, AcceptTheFirstValueWithoutItsKey) {
    const std::vector<ParameterInfo> parameters = {
        {.name = "rate", .help = "", .type = Type::real, .maximum = 1, .above_minimum = true}};
    const ParameterSyntax syntax{.who = "mean", .parameters = parameters, .main_behind = "mean:"};
    EXPECT_EQ(parse_parameters("0.5", syntax).real("rate"), 0.5);
    EXPECT_EQ(parse_parameters("rate=0.5", syntax).real("rate"), 0.5);
    EXPECT_EQ(refusal("", syntax), "mean needs 'rate', a number above 0 and at most 1");
    EXPECT_EQ(refusal("0.5:0.5", syntax), "mean: only the first value after 'mean:' may omit its key; keys: rate");
}

TEST(Parameters, MayFollowAPathThatContainsColons) {
    const std::string_view text = "a:b=c:d.bgr:size=3x4:fps=10";
    EXPECT_EQ(text.substr(0, end_of_path(text, all_types())), "a:b=c:d.bgr");
    EXPECT_EQ(end_of_path("plain", all_types()), 5u);
    EXPECT_EQ(end_of_path("a:size", all_types()), 6u) << "no parameter without its '='";
    EXPECT_EQ(end_of_path(":size=", all_types()), 0u);
}

TEST(Parameters, ParseInLinearTime) {
    std::string text;
    for (int part = 0; part < 200'000; ++part) text += ":xx";
    EXPECT_EQ(end_of_path(text, all_types()), text.size());
    EXPECT_NE(refusal("truth=" + std::string(1'000'001, '\\')), "");
}

enum class Fruit { apple, pear };
constexpr NamedValue<Fruit> fruit_names[] = {{"pear", Fruit::pear}, {"apple", Fruit::apple}};

struct Basket {
    struct Inner {
        double weight = 0.5;
    };
    int count = 3;
    float share = 0.1f;
    bool closed = true;
    Fruit fruit = Fruit::apple;
    Inner inner{};
};

const ParameterFields<Basket>& basket_fields() {
    static const ParameterFields<Basket> fields = {
        parameter_field(&Basket::count, {.name = "count", .help = "", .minimum = 1, .maximum = 9}),
        parameter_field(&Basket::share, {.name = "share", .help = "", .maximum = 1}),
        parameter_field(&Basket::closed, {.name = "closed", .help = ""}),
        parameter_field(&Basket::fruit, fruit_names, {.name = "fruit", .help = ""}),
        parameter_field<Basket>(
            [](auto& basket) -> auto& { return basket.inner.weight; },
            {.name = "weight", .help = "", .maximum = std::numeric_limits<double>::infinity(), .above_minimum = true}),
    };
    return fields;
}

TEST(ParameterFields, TakeDefaultsFromTheAggregate) {
    std::vector<std::string> defaults;
    for (const auto& info : basket_fields().infos()) defaults.push_back(info.default_value);
    EXPECT_EQ(defaults, (std::vector<std::string>{"3", "0.1", "1", "apple", "0.5"}));
    const auto basket = basket_fields().from(with_defaults(basket_fields().infos(), {}));
    EXPECT_EQ(basket.count, 3);
    EXPECT_EQ(basket.share, 0.1f);
    EXPECT_TRUE(basket.closed);
    EXPECT_EQ(basket.fruit, Fruit::apple);
}

TEST(ParameterFields, SetMembersFromParsedValues) {
    const auto basket = basket_fields().from(parse_parameters(
        "count=9:share=1e-3:closed=0:fruit=pear:weight=7", {.who = "basket", .parameters = basket_fields().infos()}));
    EXPECT_EQ(basket.count, 9);
    EXPECT_EQ(basket.share, 1e-3f);
    EXPECT_FALSE(basket.closed);
    EXPECT_EQ(basket.fruit, Fruit::pear);
    EXPECT_EQ(basket.inner.weight, 7);
}

struct Scale {
    float offset = 0;
    float factor = 1;
};

const ParameterFields<Scale>& scale_fields() {
    constexpr double any = std::numeric_limits<double>::infinity();
    static const ParameterFields<Scale> fields = {
        parameter_field(&Scale::offset, {.name = "offset", .help = "", .minimum = -any, .maximum = any}),
        parameter_field(&Scale::factor, {.name = "factor", .help = "", .maximum = any, .above_minimum = true}),
    };
    return fields;
}

// Numbers are validated as doubles.
TEST(ParameterFields, RangesAreCheckedAfterConversionToFloat) {
    const auto scale_of = [](std::string_view text) {
        return scale_fields().from(parse_parameters(text, {.who = "scale", .parameters = scale_fields().infos()}));
    };
    EXPECT_EQ(scale_of("offset=-3.4e38").offset, -3.4e38f);
    EXPECT_EQ(scale_of("offset=1e-60").offset, 0);
    const auto refusal = [&](std::string_view text) -> std::string {
        try {
            scale_fields().check(scale_of(text), "scale");
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(refusal("offset=1e38:factor=1e-38"), "");
    EXPECT_NE(refusal("offset=1e39").find("offset '1e39' is out of range; allowed: a number"), std::string::npos);
    EXPECT_NE(refusal("offset=-1e39").find("'-1e39' is out of range"), std::string::npos);
    EXPECT_NE(refusal("factor=1e39").find("allowed: a number above 0"), std::string::npos);
    EXPECT_EQ(refusal("factor=1e-60"), "scale: factor '0' is out of range; allowed: a number above 0");
}

struct Label {
    std::string text = "ripe";
    std::optional<int> limit{};
    std::vector<int> sizes{};
};

const ParameterFields<Label>& label_fields() {
    static const ParameterFields<Label> fields = {
        parameter_field(&Label::text, {.name = "text", .help = ""}),
        parameter_field(&Label::limit, {.name = "limit", .help = "", .minimum = 2, .maximum = 9}),
        {{.name = "size", .help = "", .minimum = 1, .maximum = 9, .repeatable = true},
         [](const Label&) { return std::string(); },
         [](Label& all, const std::string& text) { all.sizes.push_back(std::stoi(text)); }},
    };
    return fields;
}

TEST(ParameterFields, SupportStringsOptionalsAndRepeatedValues) {
    const auto from = [](std::string_view text) {
        return label_fields().from(parse_parameters(text, {.who = "label", .parameters = label_fields().infos()}));
    };
    const auto none = from("");
    EXPECT_EQ(none.text, "ripe");
    EXPECT_EQ(none.limit, std::nullopt);
    EXPECT_TRUE(none.sizes.empty());
    const auto all = from("text='a:b':size=3:limit=4:size=1");
    EXPECT_EQ(all.text, "a:b");
    EXPECT_EQ(all.limit, 4);
    EXPECT_EQ(all.sizes, (std::vector<int>{3, 1}));
    EXPECT_THROW(from("limit=1"), Error);
    label_fields().check({.limit = 9}, "label");
    EXPECT_THROW(label_fields().check({.limit = 10}, "label"), Error);
}

TEST(ParameterFields, ValidateAggregatesBuiltInCode) {
    basket_fields().check({}, "basket");
    const auto refusal = [](const Basket& basket) -> std::string {
        try {
            basket_fields().check(basket, "basket");
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(refusal({.count = 10}), "basket: count '10' is out of range; allowed: a whole number from 1 to 9");
    EXPECT_EQ(refusal({.share = std::nanf("")}), "basket: share 'nan' is not a number; allowed: a number from 0 to 1");
    EXPECT_EQ(refusal({.inner = {.weight = 0}}), "basket: weight '0' is out of range; allowed: a number above 0");
    EXPECT_EQ(refusal({.inner = {.weight = std::numeric_limits<double>::infinity()}}),
              "basket: weight 'inf' is not a number; allowed: a number above 0");
}

}  // namespace
}  // namespace framewire
