#include "framewire/net/limits/limited_log.hpp"

#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

namespace framewire::net {
namespace limited_log_test {

using kit::CapturedLog;

TEST(LimitedLog, LimitsTheLinesPerPeriod) {
    LimitedLog log(LogLevel::info, "tests");
    auto now = Clock::now();
    for (int period = 0; period < 3; ++period, now += LimitedLog::period) {
        EXPECT_EQ(log.take_left_out(now), period == 0 ? 0 : 980);
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(log.takes(now), i < LimitedLog::lines_a_period);
        EXPECT_EQ(log.take_left_out(now), 0) << "the period lasts";
    }
    EXPECT_EQ(log.take_left_out(now), 980);
    EXPECT_EQ(log.take_left_out(now), 0) << "told already";
}

TEST(LimitedLog, ReservesLinesForOtherPeers) {
    LimitedLog log(LogLevel::info, "tests");
    auto now = Clock::now();
    for (int period = 0; period < 2; ++period, now += LimitedLog::period) {
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(log.takes(now, "noisy"), i < LimitedLog::lines_of_a_peer);
        EXPECT_TRUE(log.takes(now, "another"));
    }
}

TEST(LimitedLog, LogsTheNumberOfSuppressedLines) {
    const CapturedLog captured;
    {
        LimitedLog log(LogLevel::warning, "peers");
        for (int i = 0; i < 50; ++i) log.line("peer {}", i);
        EXPECT_EQ(captured.lines(), LimitedLog::lines_a_period);
        EXPECT_NE(captured.text().find("peer 19\n"), std::string::npos) << captured.text();
        log.tell_left_out(Clock::now() + LimitedLog::period);
        EXPECT_NE(captured.text().find("30 more lines about peers"), std::string::npos) << captured.text();
        log.line("peer {}", 50);
    }
    EXPECT_NE(captured.text().find("1 more lines about peers"), std::string::npos) << "what is left is told at the end";
}

}  // namespace limited_log_test
}  // namespace framewire::net
