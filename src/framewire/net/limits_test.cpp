#include "framewire/net/limits.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace framewire::net {
namespace {

std::string peer(int number) { return "192.0.2." + std::to_string(number); }

TEST(HandshakeLimiter, EvictsTheOldestConnectionOfAPeerAtItsLimit) {
    HandshakeLimiter places(10, 3);
    EXPECT_FALSE(places.enter(1, peer(2)));
    for (const HandshakeLimiter::Number number : {2, 3, 4}) EXPECT_FALSE(places.enter(number, peer(1)));
    for (const HandshakeLimiter::Number number : {5, 6, 7, 8}) {
        const auto eviction = places.enter(number, peer(1));
        ASSERT_TRUE(eviction);
        EXPECT_EQ(eviction->connection, number - 3);
        EXPECT_TRUE(eviction->of_same_peer);
    }
    places.leave(7);
    EXPECT_FALSE(places.enter(9, peer(1)));
    places.leave(99);  // has no place
}

TEST(HandshakeLimiter, EvictsTheOldestConnectionOfTheBusiestPeer) {
    HandshakeLimiter places(6, 4);
    EXPECT_FALSE(places.enter(1, peer(1)));
    for (const HandshakeLimiter::Number number : {2, 3}) EXPECT_FALSE(places.enter(number, peer(2)));
    for (const HandshakeLimiter::Number number : {4, 5, 6}) EXPECT_FALSE(places.enter(number, peer(3)));
    for (const auto& [number, goes] : {std::pair{7, 4}, {8, 2}, {9, 5}, {10, 1}}) {
        const auto eviction = places.enter(static_cast<HandshakeLimiter::Number>(number), peer(number));
        ASSERT_TRUE(eviction);
        EXPECT_EQ(eviction->connection, static_cast<HandshakeLimiter::Number>(goes)) << "for " << number;
        EXPECT_FALSE(eviction->of_same_peer);
    }
}

using kit::CapturedLog;

TEST(LimitedLog, LimitsTheLinesPerPeriod) {
    LimitedLog log(LogLevel::info, "tests");
    auto now = Clock::now();
    for (int period = 0; period < 3; ++period, now += LimitedLog::period) {
        EXPECT_EQ(log.take_left_out(now), period == 0 ? 0 : 980);
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(log.takes(now), i < LimitedLog::lines_a_period);
        EXPECT_EQ(log.take_left_out(now), 0) << "the period has not ended";
    }
    EXPECT_EQ(log.take_left_out(now), 980);
    EXPECT_EQ(log.take_left_out(now), 0) << "reported already";
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
    EXPECT_NE(captured.text().find("1 more lines about peers"), std::string::npos)
        << "the destructor must report the remaining lines";
}

using namespace std::chrono_literals;

const Clock::time_point start{1h};

TEST(PeerAttempts, AreCountedPerPeerAndWindow) {
    PeerAttempts attempts(3, 10s, 100);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(attempts.exhausted("a", start + i * 1s)) << i;
        attempts.add("a", start + i * 1s);
    }
    EXPECT_TRUE(attempts.exhausted("a", start + 3s));
    EXPECT_FALSE(attempts.exhausted("b", start + 3s));
    attempts.add("a", start + 9s);
    EXPECT_TRUE(attempts.exhausted("a", start + 10s - 1ms)) << "the window has not ended";
    EXPECT_FALSE(attempts.exhausted("a", start + 10s)) << "later attempts must not extend the window";
    attempts.add("a", start + 10s);
    EXPECT_FALSE(attempts.exhausted("a", start + 11s)) << "a new window has begun";
}

TEST(PeerAttempts, AreForgottenOnRequest) {
    PeerAttempts attempts(1, 10s, 2);
    attempts.add("a", start);
    attempts.add("b", start);
    attempts.forget("a");
    attempts.forget("nobody");
    EXPECT_FALSE(attempts.exhausted("a", start));
    EXPECT_TRUE(attempts.exhausted("b", start));
    attempts.add("c", start);
    EXPECT_TRUE(attempts.exhausted("b", start)) << "forgetting a must free its place";
}

TEST(PeerAttempts, ForgetTheOldestPeerAtTheLimit) {
    PeerAttempts attempts(1, 10s, 3);
    for (const char* peer : {"a", "b", "c", "b"}) attempts.add(peer, start);
    for (const char* peer : {"a", "b", "c"}) EXPECT_TRUE(attempts.exhausted(peer, start)) << peer;
    attempts.add("d", start + 1s);
    EXPECT_FALSE(attempts.exhausted("a", start + 1s));
    for (const char* peer : {"b", "c", "d"}) EXPECT_TRUE(attempts.exhausted(peer, start + 1s)) << peer;
}

TEST(PinnedBytes, CountsSharedMessagesOnce) {
    const auto message = [](std::size_t bytes) { return std::make_shared<const Bytes>(bytes); };
    const auto a = message(100), b = message(20), c = message(3);
    PinnedBytes pinned;
    EXPECT_EQ(pinned.growth({a, b}), 120u);
    pinned.add({a, b});
    EXPECT_EQ(pinned.growth({b, c}), 3u);
    pinned.add({b, c});
    EXPECT_EQ(pinned.total(), 123u);
    pinned.remove({a, b});
    EXPECT_EQ(pinned.total(), 23u) << "b is still pending for another viewer";
    pinned.remove({b, c});
    EXPECT_EQ(pinned.total(), 0u);
    EXPECT_EQ(pinned.growth({a}), 100u);
}

}  // namespace
}  // namespace framewire::net
