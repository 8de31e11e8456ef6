#include "framewire/core/log.hpp"
#include "framewire/core/error.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace framewire {
namespace {

using kit::CapturedLog;

TEST(Log, PassesLinesAtOrAboveItsLevelToTheSink) {
    const CapturedLog captured(LogLevel::info);
    log_debug("{}", 1);
    log_info("{} of {}", 2, "two");
    log_warning("three");
    log_error("{:.1f}", 4.0);
    log_at(LogLevel::trace, "five");
    EXPECT_EQ(captured.text(), "2 of two\nthree\n4.0\n");
    EXPECT_TRUE(is_logged(LogLevel::info));
    EXPECT_FALSE(is_logged(LogLevel::debug));
}

TEST(Log, OffDropsEveryLine) {
    const CapturedLog captured(LogLevel::off);
    log_error("a line");
    EXPECT_EQ(captured.text(), "");
}

TEST(Log, PreviousOutputCanBeRestored) {
    const CapturedLog captured(LogLevel::warning);
    {
        const CapturedLog inner(LogLevel::debug);
        log_debug("inner");
        EXPECT_EQ(inner.text(), "inner\n");
    }
    log_debug("left out");
    log_error("outer");
    EXPECT_EQ(captured.text(), "outer\n");
}

TEST(Log, WritesToStandardErrorWithoutASink) {
    auto before = set_log_output({});
    ::testing::internal::CaptureStderr();
    log_info("left out");
    log_warning("{} from {}", "a\nb\x1b", "rtsp://user:secret@host/");
    log_error("end");
    const auto text = ::testing::internal::GetCapturedStderr();
    set_log_output(std::move(before));
    EXPECT_EQ(text, "framewire: warning: a\\x0ab\\x1b from rtsp://***@host/\nframewire: error: end\n");
}

TEST(Log, SurvivesASinkThatThrowsOrLogs) {
    int lines = 0;
    auto before = set_log_output({LogLevel::info, [&](LogLevel, std::string_view) {
                                      log_error("from the sink itself");
                                      if (++lines == 1) throw std::runtime_error("no room");
                                  }});
    log_info("one");
    log_info("two");
    set_log_output(std::move(before));
    EXPECT_EQ(lines, 2);
}

TEST(Log, CallsToTheSinkAreSerialized) {
    const CapturedLog captured(LogLevel::info);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([] {
            for (int i = 0; i < 500; ++i) log_info("a line of {} letters", 20);
        });
    threads.clear();
    std::string all;
    for (int i = 0; i < 2000; ++i) all += "a line of 20 letters\n";
    EXPECT_EQ(captured.text(), all);
}

TEST(Log, LevelNamesRoundTrip) {
    for (const auto level :
         {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error, LogLevel::off})
        EXPECT_EQ(parse_log_level(to_string(level)), level);
    EXPECT_EQ(to_string(LogLevel::warning), "warning");
    EXPECT_THROW(parse_log_level("warn"), Error);
}

}  // namespace
}  // namespace framewire
