#include "framewire/filters/geometry/measure.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire {
namespace measure_test {

constexpr MeasureNames of_input{640, 481};
constexpr MeasureNames of_both{640, 481, 100, 51};

// Value of a measure of width 640 by default.
int in_pixels(std::string_view text, const MeasureNames& names = of_input, int whole = 640) {
    return measure(text, "w", whole, names);
}

// Message of the error that a measure causes.
std::string refusal(std::string_view text, const MeasureNames& names = of_input) {
    try {
        const int value = in_pixels(text, names);
        ADD_FAILURE() << "'" << text << "' was taken for " << value;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    return {};
}

TEST(Measure, EvaluatesFfmpegNotation) {
    EXPECT_EQ(in_pixels("320"), 320);
    EXPECT_EQ(in_pixels("-2"), -2);
    EXPECT_EQ(in_pixels("iw/2"), 320);
    EXPECT_EQ(in_pixels("in_h"), 481);
    EXPECT_EQ(in_pixels("(ow-iw)/2", of_both), -270);
    EXPECT_EQ(in_pixels("out_w + 2 * oh", of_both), 202);
    EXPECT_EQ(in_pixels(" 2*( 3 + -1 ) "), 4);
    EXPECT_EQ(in_pixels("10-3-2"), 5);
    EXPECT_EQ(in_pixels("100/10/5"), 2);
    EXPECT_EQ(in_pixels("1.5e2"), 150);
}

TEST(Measure, PercentagesAreOfTheWhole) {
    EXPECT_EQ(in_pixels("50%"), 320);
    EXPECT_EQ(in_pixels("50%", of_input, 37), 18);
    EXPECT_EQ(in_pixels("12.5% + 1"), 81);
}

// As in FFmpeg; but 29 % of 100 is 29, although the double is slightly below.
TEST(Measure, RoundsTowardsZero) {
    EXPECT_EQ(in_pixels("ih/2"), 240);
    EXPECT_EQ(in_pixels("-ih/2"), -240);
    EXPECT_EQ(in_pixels("0.29*100"), 29);
    EXPECT_EQ(in_pixels("29%", of_input, 100), 29);
    EXPECT_EQ(in_pixels("0.99"), 0);
}

TEST(Measure, RejectsTextsThatAreNoMeasure) {
    for (const auto* text :
         {"",    " ",   "x",  "iw/",  "/2",    "(iw", "iw)",         "2 3",  "iwih",  "50%%", "1,5",
          "nan", "inf", "--", "iw/0", "-iw/0", "0/0", "1e300*1e300", "1e10", "1e400", "#",    "50 % 2"})
        EXPECT_FALSE(refusal(text).empty());
    EXPECT_EQ(refusal("iw+ow"),
              "w 'iw+ow': 'ow' is no number and no name that is known here; allowed are pixels (320), parts (50%) and "
              "sums like iw/2 with + - * / ( ) and the names iw, ih");
    EXPECT_NE(refusal("ow+", of_both).find("its end is no number"), std::string::npos);
    EXPECT_EQ(refusal("1e10"), "w '1e10' comes to 10000000000, which is no length");
}

// Text from clients may nest as deeply as it is long.
TEST(Measure, RejectsDeepNesting) {
    const auto nested = [](int depth) { return std::string(static_cast<std::size_t>(depth), '('); };
    EXPECT_EQ(in_pixels(nested(20) + "7" + std::string(20, ')')), 7);
    EXPECT_NE(refusal(nested(100'000)).find("lies too deep"), std::string::npos);
    EXPECT_NE(refusal(std::string(100'000, '-')).find("lies too deep"), std::string::npos);
}

}  // namespace measure_test
}  // namespace framewire
