#include "framewire/pipeline/chain_plan.hpp"

#include "framewire/cuda/buffer.hpp"
#include "framewire/pipeline/frame_processor.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire {
namespace {

// The frame before, so that what a plan keeps can be seen.
class Delay {
public:
    Delay(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {}
    Shape output_shape() const { return shape_; }
    void run(const FilterImages<MemorySpace::host>& images) const { copy(images.previous, images.out); }
    void run(const FilterImages<MemorySpace::device>& images) const {
        cuda::copy(images.previous, images.out, executor_->stream());
    }

private:
    Shape shape_;
    Executor* executor_;
};

// The real filters and two of our own: delay, and one that refuses gray images.
const std::vector<FilterInfo>& registry() {
    static const std::vector<FilterInfo> filters = [] {
        auto all = filter_registry();
        const auto make = [](const ParameterValues&, const Shape& shape,
                             Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Delay>>(shape, executor);
        };
        all.push_back({.name = "delay",
                       .summary = "",
                       .parameters = {},
                       .needs_previous = true,
                       .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
                       .make = make});
        all.push_back({.name = "colours",
                       .summary = "",
                       .parameters = {},
                       .needs_previous = true,
                       .output_shape = [](const ParameterValues&, const Shape& shape) -> Shape {
                           if (shape.channels == 3) return shape;
                           fail(ErrorCode::usage, "a gray image has {} channel; allowed are BGR images",
                                shape.channels);
                       },
                       .make = make});
        return all;
    }();
    return filters;
}

constexpr Shape frame{1, 37, 53, 3};

HostImage noise(const Shape& shape, std::uint64_t salt) {
    HostImage image(shape);
    kit::fill(image.view(), kit::Fill::noise, salt);
    return image;
}

std::optional<std::string> difference(const HostImage& got, const HostImage& want) {
    return kit::first_difference(got.view(), want.view());
}

class ChainPlanTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
    FrameProcessor processor(const char* text, const Shape& shape = frame) {
        return {parse_chain(text, registry()), shape, executor()};
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(ChainPlanTest);

TEST_P(ChainPlanTest, EqualsItsFiltersOneByOne) {
    const char* const texts[] = {"gray", "delay", "gray=average", "delay", "gray=channels=1", "delay"};
    std::string chain_text;
    std::vector<FrameProcessor> one_by_one;
    Shape shape = frame;
    for (const char* text : texts) {
        chain_text += (chain_text.empty() ? "" : ",") + std::string(text);
        one_by_one.push_back(processor(text, shape));
        shape = one_by_one.back().output_shape();
    }
    auto whole = processor(chain_text.c_str());
    EXPECT_EQ(whole.output_shape(), (Shape{1, 37, 53, 1}));
    ASSERT_EQ(whole.output_shape(), shape);

    for (std::uint64_t index = 0; index < 8; ++index) {
        const auto in = noise(frame, index);
        HostImage got(shape);
        whole.process(in.view(), got.view());
        auto step = noise(frame, index);
        for (auto& filter : one_by_one) {
            HostImage next(filter.output_shape());
            filter.process(step.view(), next.view());
            step = std::move(next);
        }
        EXPECT_EQ(difference(got, step), std::nullopt) << "frame " << index;
    }
}

TEST_P(ChainPlanTest, EachFilterHasThePreviousFrameOfItsOwnInput) {
    auto delay = processor("delay,delay");  // the first frame stands in for what was before it
    HostImage out(frame);
    const std::uint64_t expected[] = {0, 0, 0, 1, 2, 3};
    for (std::uint64_t index = 0; index < 6; ++index) {
        delay.process(noise(frame, index).view(), out.view());
        EXPECT_EQ(difference(out, noise(frame, expected[index])), std::nullopt) << "frame " << index;
    }
}

TEST_P(ChainPlanTest, BatchesAreStreamsSideBySide) {
    const auto batch = frame.with_frames(3);
    auto together = processor("delay,gray", batch);
    auto alone = processor("delay,gray", frame);
    for (std::uint64_t index = 0; index < 3; ++index) {
        const auto in = noise(batch, index);
        HostImage got(batch), want(frame);
        together.process(in.view(), got.view());
        alone.process(in.view().frames(1, 1), want.view());
        EXPECT_EQ(kit::first_difference(got.view().frames(1, 1), want.view()), std::nullopt) << "frame " << index;
    }
}

TEST_P(ChainPlanTest, EmptyChainCopies) {
    auto nothing = processor("");
    EXPECT_TRUE(nothing.empty());
    const auto in = noise(frame, 1);
    HostImage out(frame);
    nothing.process(in.view(), out.view());
    EXPECT_EQ(difference(out, in), std::nullopt);
}

TEST_P(ChainPlanTest, RefusesOtherShapes) {
    auto gray = processor("gray=channels=1");
    const auto in = noise(frame, 1);
    HostImage right(frame.with_channels(1)), wrong(frame);
    EXPECT_THROW(gray.process(in.view(), wrong.view()), Error);
    EXPECT_THROW(gray.process(right.view(), right.view()), Error);
    gray.process(in.view(), right.view());
}

TEST_P(ChainPlanTest, RunsWithoutAllocating) {
    auto chain = processor("delay,gray,delay,gray=channels=1");
    const auto in = noise(frame, 1);
    HostImage out(chain.output_shape());
    chain.process(in.view(), out.view());
    const auto before = kit::allocations();
    for (int run = 0; run < 10; ++run) chain.process(in.view(), out.view());
    EXPECT_EQ(kit::allocations(), before);
}

TEST(ChainPlan, SaysWhereFiltersDoNotFit) {
    try {
        ChainPlan(parse_chain("gray=channels=1, colours", registry()), frame, kit::executor(Backend::cpu));
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_STREQ(error.what(),
                     "filters, column 18: filter 'colours': a gray image has 1 channel; allowed are BGR images\n"
                     "  gray=channels=1, colours\n"
                     "                   ^");
    }
}

TEST(ChainPlan, RefusesShapesThatAreNoImage) {
    EXPECT_THROW(ChainPlan(Chain{}, Shape{1, 0, 5, 3}, kit::executor(Backend::cpu)), Error);
}

TEST(ChainPlan, RefusesTheOtherBackendsMemory) {
    ChainPlan plan(Chain{}, frame, kit::executor(Backend::cpu));
    EXPECT_THROW(plan.run(DeviceView<const std::uint8_t>(nullptr, frame), DeviceView<std::uint8_t>(nullptr, frame)),
                 Error);
}

}  // namespace
}  // namespace framewire
