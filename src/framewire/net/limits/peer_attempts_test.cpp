#include "framewire/net/limits/peer_attempts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace framewire::net {
namespace peer_attempts_test {

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
    EXPECT_TRUE(attempts.exhausted("a", start + 10s - 1ms)) << "the window is not over";
    EXPECT_FALSE(attempts.exhausted("a", start + 10s)) << "it began with the first, and no later one makes it longer";
    attempts.add("a", start + 10s);
    EXPECT_FALSE(attempts.exhausted("a", start + 11s)) << "a new window";
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
    EXPECT_TRUE(attempts.exhausted("b", start)) << "there was room";
}

TEST(PeerAttempts, ForgetTheOldestPeerAtTheLimit) {
    PeerAttempts attempts(1, 10s, 3);
    for (const char* peer : {"a", "b", "c", "b"}) attempts.add(peer, start);
    for (const char* peer : {"a", "b", "c"}) EXPECT_TRUE(attempts.exhausted(peer, start)) << peer;
    attempts.add("d", start + 1s);
    EXPECT_FALSE(attempts.exhausted("a", start + 1s));
    for (const char* peer : {"b", "c", "d"}) EXPECT_TRUE(attempts.exhausted(peer, start + 1s)) << peer;
}

}  // namespace peer_attempts_test
}  // namespace framewire::net
