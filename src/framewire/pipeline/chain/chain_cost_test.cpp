#include "framewire/pipeline/chain/chain_cost.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "kit/allocations.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace chain_cost_test {

constexpr Shape frame{1, 720, 1280, 3};

TEST(ChainCost, EqualsTheFrameForAnEmptyChain) {
    const auto cost = cost_of(parse_chain(""), frame);
    EXPECT_EQ(cost.output, frame);
    EXPECT_EQ(cost.largest, frame);
    EXPECT_EQ(cost.bytes, 0);
    EXPECT_EQ(cost.frame_seconds, 0);
}

TEST(ChainCost, FindsTheLargestImageInTheChain) {
    const auto cost = cost_of(parse_chain("gray=channels=1,scale=4096:2048,scale=64:32"), frame);
    EXPECT_EQ(cost.output, (Shape{1, 32, 64, 1}));
    EXPECT_EQ(cost.largest, (Shape{1, 2048, 4096, 1}));
    EXPECT_EQ(cost.largest_at, 16);
    EXPECT_GT(cost.bytes, 4096 * 2048);
}

TEST(ChainCost, GrowsWithEachFilter) {
    std::string text = "median=255";
    const auto one = cost_of(parse_chain(text), frame);
    for (std::size_t filter = 1; filter < max_chain_filters; ++filter) text += ",median=255";
    const auto all = cost_of(parse_chain(text), frame);
    EXPECT_EQ(all.bytes, static_cast<std::int64_t>(max_chain_filters) * one.bytes);
    EXPECT_NEAR(all.frame_seconds, static_cast<double>(max_chain_filters) * one.frame_seconds, 1e-6);
}

TEST(ChainCost, RejectsChainsThatDoNotFit) {
    EXPECT_THROW(cost_of(parse_chain("crop=9000:9000"), frame), Error);
    EXPECT_THROW(cost_of(parse_chain("scale=1000%,scale=1000%"), frame), Error);
}

// The list comes from the registry, so a new filter that keeps more has to declare it.
TEST(ChainCost, CoversWhatThePlanOfEachFilterAllocates) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto& filter : filter_registry()) {
        if (filter.rate) continue;  // has no plan
        std::vector<std::string> texts{std::string(filter.name)};
        if (!filter.examples.empty()) texts.assign(filter.examples.begin(), filter.examples.end());
        for (auto& text : texts) {
            // Test machines may have no fonts of their own.
            if (const auto* font = std::getenv("FRAMEWIRE_TEST_FONT"); font && text.starts_with("text="))
                text.replace(0, 5, fmt::format("text=font={}:text=", font));
            const auto chain = parse_chain(text);
            if (split_at_rate(chain).rate) continue;
            const auto estimated = cost_of(chain, frame).bytes;
            const auto before = kit::allocated_bytes();
            ChainPlan plan(chain, frame, executor);
            HostImage in(frame), out(plan.output_shape());
            std::fill_n(in.view().data(), frame.bytes(), std::uint8_t{100});
            plan.run(std::as_const(in).view(), out.view());
            const auto images = frame.bytes() + plan.output_shape().bytes();
            const auto kept = kit::allocated_bytes() - before - images;
            constexpr std::int64_t tables = 4'000'000;  // glyphs, windows and the like, independent of the frame's size
            EXPECT_LE(kept, estimated + tables) << text;
        }
    }
}

}  // namespace chain_cost_test
}  // namespace framewire
