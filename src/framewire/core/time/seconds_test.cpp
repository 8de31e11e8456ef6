#include "framewire/core/time/seconds.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace seconds_test {

TEST(Seconds, ParseFromText) {
    EXPECT_EQ(parse_seconds("0"), 0);
    EXPECT_EQ(parse_seconds("90"), 90);
    EXPECT_EQ(parse_seconds("1.5"), 1.5);
    EXPECT_EQ(parse_seconds("1:30"), 90);
    EXPECT_EQ(parse_seconds("01:02:03.5"), 3723.5);
    EXPECT_EQ(parse_seconds("100:00:00"), 360000);
    for (const auto* text : {"", "-1", "+1", "1e3", "inf", "nan", "1:60", "1:60:00", "1:2:3:4", "1.5:00", ":1",
                             "1:", "1 s", "1,5", "9999999999", "."})
        EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
}

TEST(Seconds, FormatAsClockTime) {
    EXPECT_EQ(to_clock_text(0), "0:00.00");
    EXPECT_EQ(to_clock_text(12.344), "0:12.34");
    EXPECT_EQ(to_clock_text(59.999), "1:00.00");
    EXPECT_EQ(to_clock_text(3723.5), "1:02:03.50");
    EXPECT_EQ(to_clock_text(-1), "0:00.00");
}

}  // namespace seconds_test
}  // namespace framewire
