#include "framewire/core/abandonable_call.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

namespace framewire {
namespace {

TEST(AbandonableCall, ReturnsTrueWhenTheCallCompletes) {
    const auto ran = std::make_shared<bool>(false);
    EXPECT_TRUE(run_abandonable([ran] { *ran = true; }, {}));
    EXPECT_TRUE(*ran);
    EXPECT_EQ(abandoned_calls(), 0);
}

TEST(AbandonableCall, RethrowsExceptionsFromTheCall) {
    EXPECT_THROW(run_abandonable([] { fail(ErrorCode::no_input, "nothing there"); }, {}), Error);
}

TEST(AbandonableCall, ReturnsFalseWhenAStopIsRequested) {
    const auto began = std::make_shared<std::promise<void>>();
    const auto may_end = std::make_shared<std::promise<void>>();
    std::stop_source stop;
    const std::jthread stopping([began, stop]() mutable {
        began->get_future().wait();
        stop.request_stop();
    });
    EXPECT_FALSE(run_abandonable(
        [began, may_end] {
            began->set_value();
            may_end->get_future().wait();
        },
        stop.get_token()));
    EXPECT_EQ(abandoned_calls(), 1);
    may_end->set_value();
    while (abandoned_calls() > 0) std::this_thread::yield();
}

TEST(AbandonableCall, DoesNotStartAfterAStopRequest) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(run_abandonable([] { ADD_FAILURE() << "it began"; }, stop.get_token()));
}

}  // namespace
}  // namespace framewire
