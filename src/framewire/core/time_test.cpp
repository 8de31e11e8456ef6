#include "framewire/core/time.hpp"
#include "framewire/core/retry_pauses.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace framewire {
namespace {

TEST(Rate, ParsesIntegersDecimalsAndFractions) {
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

std::vector<std::int64_t> next_ms(RetryPauses& pauses, int count) {
    std::vector<std::int64_t> taken;
    while (count-- > 0) taken.push_back(pauses.take().count());
    return taken;
}

TEST(RetryPauses, DoubleUpToTheMaximumUntilReset) {
    RetryPauses pauses(std::chrono::milliseconds(250), std::chrono::milliseconds(1500));
    EXPECT_EQ(next_ms(pauses, 5), (std::vector<std::int64_t>{250, 500, 1000, 1500, 1500}));
    pauses.reset();
    EXPECT_EQ(next_ms(pauses, 2), (std::vector<std::int64_t>{250, 500}));
}

TEST(RetryPauses, CapOnlyThePausesAfterTheFirst) {
    RetryPauses pauses(std::chrono::milliseconds(40), std::chrono::milliseconds(30));
    EXPECT_EQ(next_ms(pauses, 3), (std::vector<std::int64_t>{40, 30, 30}));
}

}  // namespace
}  // namespace framewire
