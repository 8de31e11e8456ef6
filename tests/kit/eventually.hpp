#pragma once

#include <chrono>
#include <thread>

namespace framewire::kit {

/// Polls a condition that other threads make true; returns false after a minute. For EXPECT_TRUE.
template <class Condition>
bool eventually(Condition condition) {
    constexpr std::chrono::milliseconds between_looks{2};
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= give_up) return false;
        std::this_thread::sleep_for(between_looks);
    }
    return true;
}

}  // namespace framewire::kit
