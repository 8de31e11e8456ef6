#include "framewire/core/time/frame_rate.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace frame_rate_test {

TEST(Rate, ParsesThreeForms) {
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

}  // namespace frame_rate_test
}  // namespace framewire
