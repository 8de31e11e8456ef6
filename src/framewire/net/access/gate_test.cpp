#include "framewire/net/access/gate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace framewire::net {
namespace gate_test {

using namespace std::chrono_literals;

const std::string right = "correct-horse-battery";
const Clock::time_point start{1h};

TEST(Gate, IsOpenWithoutAToken) {
    Gate gate("");
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(gate.check("a", i % 2 ? "whatever" : "", start));
    EXPECT_FALSE(gate.closed_to("a", start));
}

TEST(Gate, TellsMissingAndWrongTokensApart) {
    Gate gate(right);
    EXPECT_FALSE(gate.check("a", right, start));
    const auto missing = gate.check("a", "", start), wrong = gate.check("a", right + "!", start);
    ASSERT_TRUE(missing && wrong);
    EXPECT_EQ(missing->reason, Refusal::not_allowed);
    EXPECT_EQ(missing->text, "a token is needed (view --token-file FILE)");
    EXPECT_EQ(wrong->reason, Refusal::not_allowed);
    EXPECT_EQ(wrong->text, "the token is wrong");
}

TEST(Gate, IsClosedToWhoFailedTooOftenAndToNobodyElse) {
    Gate gate(right);
    for (int i = 0; i < Gate::failures_allowed; ++i) {
        EXPECT_FALSE(gate.closed_to("a", start));
        EXPECT_EQ(gate.check("a", "wrong", start)->reason, Refusal::not_allowed);
    }
    ASSERT_TRUE(gate.closed_to("a", start));
    EXPECT_EQ(gate.check("a", right, start)->reason, Refusal::too_many_viewers) << "who guesses learns nothing more";
    EXPECT_FALSE(gate.closed_to("b", start));
    EXPECT_FALSE(gate.check("b", right, start));
    EXPECT_FALSE(gate.check("a", right, start + Gate::failures_window));
}

}  // namespace gate_test
}  // namespace framewire::net
