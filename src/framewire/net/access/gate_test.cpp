#include "framewire/net/access/gate.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/session/sessions.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace framewire::net {
namespace gate_test {

using namespace std::chrono_literals;

const std::string right = "correct-horse-battery";
const Clock::time_point start{1h};

TEST(Gate, LetsEveryoneInWithoutAToken) {
    Gate gate("");
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(gate.check("a", i % 2 ? "whatever" : "", start));
    EXPECT_FALSE(gate.closed_to("a", start));
}

TEST(Gate, DistinguishesMissingAndWrongTokens) {
    Gate gate(right);
    EXPECT_FALSE(gate.check("a", right, start));
    const auto missing = gate.check("a", "", start), wrong = gate.check("a", right + "!", start);
    ASSERT_TRUE(missing && wrong);
    EXPECT_EQ(missing->reason, Refusal::not_allowed);
    EXPECT_EQ(missing->text, "a token is needed (view --token-file FILE)");
    EXPECT_EQ(wrong->reason, Refusal::not_allowed);
    EXPECT_EQ(wrong->text, "the token is wrong");
}

TEST(Gate, LocksOutOnlyPeersWithTooManyFailures) {
    Gate gate(right);
    for (int i = 0; i < Gate::failures_allowed; ++i) {
        EXPECT_FALSE(gate.closed_to("a", start));
        EXPECT_EQ(gate.check("a", "wrong" + std::to_string(i), start)->reason, Refusal::not_allowed);
    }
    ASSERT_TRUE(gate.closed_to("a", start));
    EXPECT_EQ(gate.check("a", right, start)->reason, Refusal::too_many_viewers) << "who guesses learns nothing more";
    EXPECT_FALSE(gate.closed_to("b", start));
    EXPECT_FALSE(gate.check("b", right, start));
    EXPECT_FALSE(gate.check("a", right, start + Gate::failures_window));
}

TEST(Gate, CountsARepeatedTokenOnce) {
    Gate gate(right);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(gate.check("a", "of yesterday", start + i * 50ms)->reason, Refusal::not_allowed);
        EXPECT_EQ(gate.check("a", "", start + i * 50ms)->reason, Refusal::not_allowed) << "no token is no guess";
    }
    EXPECT_FALSE(gate.closed_to("a", start + 5s));
    EXPECT_FALSE(gate.check("a", right, start + 5s));
}

TEST(Gate, LetsInPeersThatSentTheRightTokenBefore) {
    Gate gate(right);
    EXPECT_FALSE(gate.check("a proxy", right, start));
    int refused = 0;
    for (int i = 0; i < 100; ++i)
        refused += gate.check("a proxy", "guess" + std::to_string(i), start)->reason == Refusal::too_many_viewers;
    EXPECT_EQ(refused, 100 - Gate::failures_allowed);
    EXPECT_FALSE(gate.check("a proxy", right, start)) << "another one behind the same address guesses";
    const auto later = start + Gate::known_for;
    for (int i = 0; i < Gate::failures_allowed; ++i)
        EXPECT_TRUE(gate.check("a proxy", "guess" + std::to_string(i), later));
    EXPECT_TRUE(gate.check("a proxy", right, later)) << "that was a day ago";
}

// Another program behind the same address guesses tokens. A viewer that was let in before can still reconnect.
TEST(Gate, ViewerReconnectsWhenItsAddressIsLockedOut) {
    testing::ManualLoop loop;
    testing::TestStream stream;
    stream.step();
    Sessions sessions({.viewers = 3, .guests = {10, 10, 5s, 10s}, .viewer_deadlines = {10s, 1s}}, loop, right);
    auto& served = sessions.add("main", stream.state);
    ClientOptions options;
    options.token = right;
    options.reconnect = 1min;
    const auto serve = [&](ConnectionPointer connection) { sessions.come(std::move(connection)); };
    Client client(std::make_unique<testing::MemoryDialer>(loop, serve, [&] { sessions.check_deadlines(); }),
                  {{"memory", 1}, "main"}, options);
    ASSERT_TRUE(client.next());
    for (int i = 0; i < Gate::failures_allowed; ++i) {
        auto [near, far] = testing::connection_pair(loop, "a client", 1 << 20);
        sessions.come(std::move(near));
        testing::MemoryPeer guesser(loop, std::move(far));
        guesser.say(viewer_hello({.stream = "main", .token = "wrong" + std::to_string(i)}));
        EXPECT_EQ(testing::refusal_in(guesser.hear()).reason, Refusal::not_allowed);
    }
    const auto closed_at = loop.now();
    EXPECT_EQ(sessions.cut_off(served), 1);
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.counts().reconnections, 1);
    EXPECT_LT(loop.now() - closed_at, Gate::failures_window);
}

}  // namespace gate_test
}  // namespace framewire::net
