#include "framewire/media/parameters.hpp"
#include "framewire/media/media_testing.hpp"

namespace framewire {
namespace {

using namespace testing;

TEST(Rate, IsReadInThreeForms) {
    const auto is = [](const char* text, std::int64_t numerator, std::int64_t denominator) {
        const auto rate = parse_rate(text);
        return rate && rate->numerator == numerator && rate->denominator == denominator;
    };
    EXPECT_TRUE(is("30", 30, 1));
    EXPECT_TRUE(is("29.97", 2997, 100));
    EXPECT_TRUE(is("30000/1001", 30000, 1001));
    EXPECT_TRUE(is("0.5", 1, 2));
    EXPECT_TRUE(is("1000", 1000, 1));
    for (const auto* text : {"", "0", "-1", "1001", "30fps", "1/0", "0/1", "1.", ".5", "1.2345", "1e3", "1.-5",
                             "30/1/1", "9999999999999999999", "1/1000000001"})
        EXPECT_FALSE(parse_rate(text)) << text;
}

TEST(Parameters, AreReadAndChecked) {
    const Parameters parameters("synth", "size=64x48:noise=2.5:seed=7", {"size", "noise", "seed", "fps"});
    EXPECT_EQ(parameters.size("size"), (std::pair{64, 48}));
    EXPECT_EQ(parameters.thousandths("noise", 6000, 50'000), 2500);
    EXPECT_EQ(parameters.integer("seed", 1, 0, 10), 7);
    EXPECT_EQ(parameters.rate("fps", {25, 1}).numerator, 25);

    std::string message;
    EXPECT_EQ(error_of([&] { parameters.integer("seed", 1, 0, 6); }, &message), ErrorCode::usage);
    EXPECT_EQ(message, "synth: seed=7; allowed are whole numbers from 0 to 6");
    EXPECT_EQ(error_of([&] { parameters.thousandths("noise", 0, 2'000); }), ErrorCode::usage);
}

TEST(Parameters, RefuseWhatTheyDoNotKnow) {
    for (const auto* text : {"sice=64x48", "size", "size=1x1:size=2x2", "", ":", "size=1x1:"}) {
        std::string message;
        const auto code = error_of([&] { Parameters("synth", text, {"size"}); }, &message);
        if (std::string(text).empty())
            EXPECT_FALSE(code);
        else
            EXPECT_EQ(code, ErrorCode::usage) << text;
    }
    for (const auto* text :
         {"size=64", "size=0x1", "size=1x0", "size=16385x1", "size=-1x5", "size=1x1x1", "size=x", "size="})
        EXPECT_EQ(error_of([&] { Parameters("synth", text, {"size"}).size("size"); }), ErrorCode::usage) << text;
}

TEST(Parameters, ComeAfterAPathThatMayHaveColons) {
    const auto [path, parameters] = Parameters::after_path("raw", "a:b=c:d.bgr:size=3x4:fps=10", {"size", "fps"});
    EXPECT_EQ(path, "a:b=c:d.bgr");
    EXPECT_EQ(parameters.size("size"), (std::pair{3, 4}));
    EXPECT_EQ(Parameters::after_path("raw", "plain", {"size"}).first, "plain");
    EXPECT_EQ(error_of([] { Parameters::after_path("raw", "x:size=1x1:y=2", {"size"}); }), ErrorCode::usage);
}

}  // namespace
}  // namespace framewire
