#include "framewire/pipeline/frame_hog.hpp"

#include "framewire/core/error.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace framewire {
namespace {

using FrameHogTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(FrameHogTest);

const Shape shape{1, 120, 161, 3};

// A frame and its descriptors in the memory of the backend.
struct Slot {
    explicit Slot(const FrameHog& hog, Executor& executor)
        : frame(shape, executor.frame_memory()), out(hog.output_shape().bytes(), executor.frame_memory()) {}
    HogView<float, MemorySpace::host> view(const FrameHog& hog) { return {out.as<float>(), hog.output_shape()}; }
    std::vector<float> values(const FrameHog& hog) const {
        return {out.as<float>(), out.as<float>() + hog.output_shape().count()};
    }

    HostImage frame;
    HostBuffer out;
};

// Frame `number` painted and its descriptors forgotten.
void paint(Slot& slot, std::uint64_t number) {
    kit::fill(slot.frame.view(), kit::Fill::noise, number);
    std::fill_n(slot.out.as<float>(), slot.out.bytes() / sizeof(float), std::numeric_limits<float>::quiet_NaN());
}

// As many frames under way as there are slots, waited for in order, equal those done one by one to the bit.
TEST_P(FrameHogTest, FramesUnderWayAtOnceEqualThoseOneByOne) {
    constexpr int frames = 41;
    auto& executor = kit::executor(GetParam());
    const HogParameters parameters{.norm = HogNorm::l2hys};
    FrameHog one(parameters, shape, executor);
    std::vector<std::vector<float>> want;
    Slot alone(one, executor);
    for (int number = 0; number < frames; ++number) {
        paint(alone, static_cast<std::uint64_t>(number));
        one.process(alone.frame.view(), alone.view(one));
        want.push_back(alone.values(one));
    }
    ASSERT_NE(want[0], want[1]);

    for (const int streams : {1, 2, 3, FrameHog::most_streams}) {
        if (GetParam() == Backend::cpu && streams > 1) continue;
        for (const int slots : {1, 2, 5, 13}) {
            FrameHog hog(parameters, shape, executor, streams, slots);
            std::vector<Slot> places;
            for (int slot = 0; slot < slots; ++slot) places.emplace_back(hog, executor);
            std::vector<std::vector<float>> got;
            const auto take = [&](int slot) {
                hog.wait(slot);
                got.push_back(places[static_cast<std::size_t>(slot)].values(hog));
            };
            for (int number = 0; number < frames; ++number) {
                const int slot = number % slots;
                auto& place = places[static_cast<std::size_t>(slot)];
                if (number >= slots) take(slot);
                paint(place, static_cast<std::uint64_t>(number));
                hog.start(slot, place.frame.view(), place.view(hog));
            }
            for (int number = std::max(0, frames - slots); number < frames; ++number) take(number % slots);
            EXPECT_EQ(got, want) << streams << " streams, " << slots << " slots";
        }
    }
}

TEST_P(FrameHogTest, WaitsForWhatWasStartedWhenItEnds) {
    auto& executor = kit::executor(GetParam());
    FrameHog one({}, shape, executor);
    Slot alone(one, executor), left(one, executor);
    paint(alone, 1);
    one.process(alone.frame.view(), alone.view(one));
    {
        FrameHog hog({}, shape, executor);
        paint(left, 1);
        hog.start(0, left.frame.view(), left.view(hog));
    }
    EXPECT_EQ(left.values(one), alone.values(one));
}

TEST_P(FrameHogTest, AllocatesNothingOnceItIsMade) {
    // Of one thread: starting threads is not what a frame does.
    Executor executor(GetParam() == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda, 1);
    FrameHog hog({.norm = HogNorm::l2}, shape, executor, 1, 2);
    std::vector<Slot> places;
    for (int slot = 0; slot < 2; ++slot) {
        places.emplace_back(hog, executor);
        paint(places.back(), 1);
    }
    const auto run = [&] {
        for (int slot = 0; slot < 2; ++slot) {
            auto& place = places[static_cast<std::size_t>(slot)];
            hog.start(slot, place.frame.view(), place.view(hog));
        }
        for (int slot = 0; slot < 2; ++slot) hog.wait(slot);
    };
    run();
    const auto before = kit::allocations();
    run();
    EXPECT_EQ(kit::allocations(), before);
}

TEST_P(FrameHogTest, RefusesWhatIsNotAllowed) {
    auto& executor = kit::executor(GetParam());
    for (const int streams : {-1, 0, FrameHog::most_streams + 1})
        EXPECT_THROW(FrameHog({}, shape, executor, streams), Error) << streams;
    EXPECT_THROW(FrameHog({}, shape, executor, 1, 0), Error);
    EXPECT_THROW(FrameHog({}, {1, 7, 161, 3}, executor), Error);
    FrameHog hog({}, shape, executor, 1, 2);
    Slot place(hog, executor);
    paint(place, 1);
    for (const int slot : {-1, 2}) EXPECT_THROW(hog.start(slot, place.frame.view(), place.view(hog)), Error) << slot;
}

TEST(FrameHog, TheCpuHasOneStream) { EXPECT_THROW(FrameHog({}, shape, kit::executor(Backend::cpu), 2), Error); }

}  // namespace
}  // namespace framewire
