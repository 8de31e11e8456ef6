#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/codec/quick_prediction.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>

namespace framewire::codec {
namespace {

using kit::GuardedImage;
using Bytes = std::vector<std::uint8_t>;

// Draws a textured scene, moved by `shift` pixels, with noise of at most `noise`.
void film(HostView<std::uint8_t> to, int shift, int noise, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int y = 0; y < to.shape().height; ++y)
        for (std::int64_t i = 0; i < to.shape().row_bytes(); ++i) {
            const auto x = static_cast<int>(i / to.shape().channels) + shift;
            const int texture = ((x * 37 + y * 59) ^ (x * y)) % 97 + (x / 9 % 2 ? 90 : 20);
            const int wobble = noise ? static_cast<int>(random() % static_cast<unsigned>(2 * noise + 1)) - noise : 0;
            to.row(0, y)[i] = static_cast<std::uint8_t>(std::clamp(texture + wobble, 0, 255));
        }
}

Summary distance_reference(HostView<const std::uint8_t> a, HostView<const std::uint8_t> b, int threshold) {
    Summary sum;
    for (int y = 0; y < a.shape().height; ++y)
        for (std::int64_t i = 0; i < a.shape().row_bytes(); ++i) {
            const auto distance = static_cast<std::uint32_t>(std::abs(a.row(0, y)[i] - b.row(0, y)[i]));
            sum.count += distance > static_cast<std::uint32_t>(threshold);
            sum.max_error = std::max(sum.max_error, distance);
            sum.squared_error += distance * distance;
        }
    return sum;
}

TEST(BoundedPacker, ViewersMatchTheReferenceAndStayWithinTheThreshold) {
    constexpr std::pair<int, int> combinations[] = {{0, 0},   {1, 0}, {3, 0}, {8, 0},  {20, 0},
                                                    {254, 0}, {0, 2}, {8, 2}, {20, 2}, {254, 2}};
    for (const int channels : {1, 3})
        for (const auto& shape : kit::small_shapes(channels))
            for (const auto& layout : kit::layouts())
                for (const auto& [threshold, effort] : combinations) {
                    SCOPED_TRACE(to_string(shape) + ", " + kit::to_string(layout) + ", " + std::to_string(threshold) +
                                 ", effort " + std::to_string(effort));
                    BoundedPacker packer(shape, effort);
                    Unpacker unpacker(shape);
                    GuardedImage camera(shape, layout), held(shape, layout), viewer(shape, layout);
                    HostImage before(shape);
                    Bytes packed;
                    for (int frame = 0; frame < 4; ++frame) {
                        film(camera.view(), frame, 6, kit::seed() + static_cast<std::uint64_t>(frame));
                        copy(held.view(), before.view());
                        packed.clear();
                        const auto found = frame ? packer.pack_step(camera.view(), held.view(), threshold, packed)
                                                 : packer.pack_first(camera.view(), held.view(), threshold, packed);
                        frame ? unpacker.apply_changes(packed, viewer.view())
                              : unpacker.apply_picture(packed, viewer.view());
                        ASSERT_EQ(kit::first_difference(viewer.view(), held.view()), std::nullopt);
                        ASSERT_FALSE(viewer.broken_guard() || held.broken_guard());
                        const auto want = distance_reference(camera.view(), held.view(), threshold);
                        ASSERT_EQ(want.count, 0u) << "beyond the threshold in frame " << frame;
                        ASSERT_EQ(found.max_error, want.max_error);
                        ASSERT_EQ(found.squared_error, want.squared_error);
                        const auto off = distance_reference(camera.view(), std::as_const(before).view(), threshold);
                        ASSERT_EQ(found.count, frame ? off.count : 0);
                        ASSERT_LE(packed.size(), max_packed_bytes(shape));
                    }
                }
}

// Each frame is within its own threshold, independently of the thresholds before it.
TEST(BoundedPacker, AppliesThePerFrameThreshold) {
    const Shape shape{1, 70, 131, 3};
    BoundedPacker packer(shape, 1);
    Unpacker unpacker(shape);
    GuardedImage camera(shape, {}), held(shape, {}), viewer(shape, {});
    Bytes packed;
    int frame = 0;
    for (const int threshold : {20, 64, 40, 254, 8, 8, 0}) {
        film(camera.view(), frame, 12, kit::seed() + static_cast<std::uint64_t>(frame));
        packed.clear();
        if (frame++ == 0) {
            packer.pack_first(camera.view(), held.view(), threshold, packed);
            unpacker.apply_picture(packed, viewer.view());
        } else {
            packer.pack_step(camera.view(), held.view(), threshold, packed);
            unpacker.apply_changes(packed, viewer.view());
            EXPECT_EQ(packed[1], threshold);
        }
        ASSERT_EQ(kit::first_difference(viewer.view(), held.view()), std::nullopt);
        EXPECT_EQ(distance_reference(camera.view(), held.view(), threshold).count, 0u) << threshold;
    }
}

// A frame is packed like by a packer that always had its effort.
TEST(BoundedPacker, AppliesThePerFrameEffort) {
    const Shape shape{1, 70, 131, 3};
    BoundedPacker packer(shape, 2);
    HostImage camera(shape), held(shape), want_held(shape);
    int frame = 0;
    for (const int effort : {2, 0, 0, 2, 1, 0}) {
        film(camera.view(), 2 * frame, 12, kit::seed() + static_cast<std::uint64_t>(frame));
        const HostView<const std::uint8_t> seen = camera.view();
        copy(std::as_const(held).view(), want_held.view());
        BoundedPacker want(shape, effort);
        packer.set_effort(effort);
        Bytes packed, want_packed;
        if (frame++ == 0) {
            packer.pack_first(seen, held.view(), 8, packed);
            want.pack_first(seen, want_held.view(), 8, want_packed);
        } else {
            packer.pack_step(seen, held.view(), 8, packed);
            want.pack_step(seen, want_held.view(), 8, want_packed);
        }
        ASSERT_EQ(packed, want_packed) << "frame " << frame - 1 << ", effort " << effort;
        ASSERT_EQ(kit::first_difference(held.view(), want_held.view()), std::nullopt);
    }
    EXPECT_THROW(packer.set_effort(3), Error);
}

TEST(BoundedPacker, OutputDoesNotDependOnTheNumberOfThreads) {
    const Shape shape{1, 150, 210, 3};
    const ThreadPool one(1), three(3);
    std::optional<Bytes> want;
    for (const ThreadPool* pool : {static_cast<const ThreadPool*>(nullptr), &one, &three}) {
        BoundedPacker packer(shape, 1, pool);
        HostImage camera(shape), held(shape);
        Bytes packed;
        for (int frame = 0; frame < 3; ++frame) {
            film(camera.view(), 2 * frame, 12, 5 + static_cast<std::uint64_t>(frame));
            frame ? packer.pack_step(std::as_const(camera).view(), held.view(), 20, packed)
                  : packer.pack_first(std::as_const(camera).view(), held.view(), 20, packed);
        }
        if (!want) want = packed;
        EXPECT_EQ(packed, *want);
    }
}

TEST(BoundedPacker, UnchangedBlocksCostNothing) {
    const Shape shape{1, 150, 210, 3};
    BoundedPacker packer(shape, 2);
    HostImage camera(shape), held(shape);
    film(camera.view(), 0, 0, 1);
    copy(std::as_const(camera).view(), held.view());
    film(camera.view(), 0, 20, 1);
    Bytes packed;
    EXPECT_EQ(packer.pack_step(std::as_const(camera).view(), held.view(), 20, packed).count, 0u);
    EXPECT_LE(packed.size(), 4u);
}

TEST(BoundedPacker, NoiseNearTheThresholdCostsNoMoreThanExactMode) {
    const Shape shape{1, 150, 210, 3};
    for (const int threshold : {1, 2, 3, 5, 8, 20})
        for (const int noise : {threshold / 2, threshold / 2 + 1, threshold, 2 * threshold + 2}) {
            SCOPED_TRACE("threshold " + std::to_string(threshold) + ", noise up to " + std::to_string(noise));
            BoundedPacker bounded(shape, 0);
            Packer exact(shape);
            HostImage camera(shape), held(shape), exactly_held(shape);
            HostChanges changes(shape);
            Bytes packed, exactly_packed;
            for (int frame = 0; frame < 6; ++frame) {
                film(camera.view(), 0, noise, 7 + static_cast<std::uint64_t>(frame));
                const HostView<const std::uint8_t> seen = camera.view();
                if (frame == 0) {
                    bounded.pack_first(seen, held.view(), threshold, packed);
                    exact.pack_picture(seen, threshold, exactly_packed);
                    copy(seen, exactly_held.view());
                    EXPECT_LE(packed.size(), exactly_packed.size()) << "of the first picture";
                } else {
                    bounded.pack_step(seen, held.view(), threshold, packed);
                    encode_reference(threshold, seen, exactly_held.view(), changes.view());
                    exact.pack_changes(changes.view(), threshold, exactly_packed);
                }
            }
            EXPECT_LE(packed.size(), exactly_packed.size());
        }
}

TEST(BoundedPacker, QuickStepSizeDependsOnTheSamplesBeyondTheThreshold) {
    using namespace step_sizes;
    // Barely beyond the threshold of 20: up to a quarter of it.
    EXPECT_EQ(quick_step_size(20, 5, 100, 500), single);
    EXPECT_EQ(quick_step_size(20, 6, 100, 500), third);
    // A third of the largest step size, 41, is 13.
    EXPECT_EQ(quick_step_size(20, 90, 100, 1300), third);
    EXPECT_EQ(quick_step_size(20, 90, 100, 1301), largest);
    // All step sizes are 1 at threshold 0.
    EXPECT_EQ(Quantizer(0, quick_step_size(0, 255, 100, 25500)).step(), 1);
}

TEST(BoundedPacker, EffortZeroCodesEachSubBlockFromTheSamePosition) {
    // The camera moves by 5 pixels, so a search would find the motion; nothing is searched at effort 0.
    const Shape shape{1, 64, 64, 3};
    BoundedPacker packer(shape, 0);
    HostImage camera(shape), held(shape), before(shape);
    film(camera.view(), 0, 0, 1);
    copy(std::as_const(camera).view(), held.view());
    copy(std::as_const(camera).view(), before.view());
    film(camera.view(), 5, 3, 1);
    Bytes packed;
    packer.pack_step(std::as_const(camera).view(), held.view(), 8, packed);
    const auto found = find_beyond(std::as_const(camera).view(), std::as_const(before).view(), {0, 0, 64, 64}, 8);
    const Quantizer quantizer(8, quick_step_size(8, found.furthest, found.samples, found.excess));
    for (int y = 0; y < 64; ++y)
        for (int i = 0; i < 64 * 3; ++i) {
            const int was = before.view().row(0, y)[i], now = camera.view().row(0, y)[i];
            ASSERT_EQ(held.view().row(0, y)[i], quantizer.sample(was, quantizer.steps(now, was))) << y << ' ' << i;
        }
}

TEST(BoundedPacker, FindsTheSamplesBeyondTheThreshold) {
    for (const int channels : {1, 3})
        for (const int threshold : {0, 3, 20, 254}) {
            SCOPED_TRACE(std::to_string(channels) + " channels, threshold " + std::to_string(threshold));
            const Shape shape{1, 75, 131, channels};
            HostImage camera(shape), before(shape);
            film(camera.view(), 0, threshold / 2 + 3, 1);
            film(before.view(), 0, threshold / 2 + 3, 2);
            const BlockGrid grid(shape);
            for (int number = 0; number < grid.count(); ++number) {
                const auto block = grid.place(number);
                BeyondThreshold want;
                for (int y = 0; y < block.height; ++y)
                    for (int i = 0; i < block.width * channels; ++i) {
                        const auto at = block.x * channels + i;
                        const int beyond =
                            std::abs(camera.view().row(0, block.y + y)[at] - before.view().row(0, block.y + y)[at]) -
                            threshold;
                        if (beyond <= 0) continue;
                        want.parts |= part_bit(i / channels / part_side, y / part_side);
                        ++want.samples;
                        want.excess += static_cast<std::uint32_t>(beyond);
                        want.furthest = std::max(want.furthest, beyond);
                    }
                const auto got =
                    find_beyond(std::as_const(camera).view(), std::as_const(before).view(), block, threshold);
                EXPECT_EQ(got.parts, want.parts) << number;
                EXPECT_EQ(got.samples, want.samples) << number;
                EXPECT_EQ(got.excess, want.excess) << number;
                EXPECT_EQ(got.furthest, want.furthest) << number;
            }
        }
}

TEST(BoundedPacker, MotionSearchSavesBytes) {
    const Shape shape{1, 150, 210, 3};
    std::size_t bytes[3];
    for (const int effort : {0, 1, 2}) {
        BoundedPacker packer(shape, effort);
        HostImage camera(shape), held(shape);
        film(camera.view(), 0, 0, 1);
        copy(std::as_const(camera).view(), held.view());
        film(camera.view(), 5, 0, 1);
        Bytes packed;
        packer.pack_step(std::as_const(camera).view(), held.view(), 8, packed);
        bytes[effort] = packed.size();
    }
    EXPECT_LT(bytes[2] * 4, bytes[0]);
    EXPECT_LE(bytes[2], bytes[1]);
}

TEST(BoundedPacker, RejectsBrokenDeltaFramesAndKeepsTheReference) {
    const Shape shape{1, 31, 70, 3};
    BoundedPacker packer(shape, 2);
    HostImage camera(shape), held(shape), before(shape);
    film(camera.view(), 0, 0, 1);
    copy(std::as_const(camera).view(), held.view());
    copy(std::as_const(camera).view(), before.view());
    film(camera.view(), 3, 9, 2);
    Bytes packed;
    packer.pack_step(std::as_const(camera).view(), held.view(), 8, packed);
    Unpacker unpacker(shape);
    GuardedImage viewer(shape, {});
    copy(std::as_const(before).view(), viewer.view());
    for (std::size_t size = 0; size < packed.size(); ++size)
        EXPECT_THROW(unpacker.apply_changes(std::span(packed).first(size), viewer.view()), Error) << size;
    EXPECT_THROW(unpacker.apply_picture(packed, viewer.view()), Error);
    EXPECT_EQ(kit::first_difference(viewer.view(), std::as_const(before).view()), std::nullopt);
    int refused = 0;
    for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
        auto bytes = packed;
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1 << (bit % 8));
        try {
            unpacker.apply_changes(bytes, viewer.view());
        } catch (const Error&) {
            ++refused;
        }
        ASSERT_FALSE(viewer.broken_guard()) << "bit " << bit;
    }
    EXPECT_GT(refused, 0);
}

TEST(Quantizer, UsesTheFewestStepsThatMeetTheThreshold) {
    for (const int threshold : {0, 1, 2, 3, 4, 8, 20, 127, 254})
        for (int size = 0; size < Quantizer::sizes; ++size) {
            const Quantizer quantizer(threshold, size);
            const auto is_near = [&](int sample, int predicted, int steps) {
                return std::abs(quantizer.sample(predicted, steps) - sample) <= threshold;
            };
            for (int sample = 0; sample < 256; ++sample)
                for (int predicted = 0; predicted < 256; ++predicted) {
                    const int steps = quantizer.steps(sample, predicted);
                    const int fewer = steps > 0 ? steps - 1 : steps + 1;
                    ASSERT_TRUE(is_near(sample, predicted, steps)) << threshold << ' ' << sample << ' ' << predicted;
                    ASSERT_TRUE(steps == 0 || !is_near(sample, predicted, fewer)) << threshold << ' ' << sample;
                }
        }
}

TEST(BoundedPacker, RejectsInvalidArguments) {
    const Shape shape{1, 8, 8, 3};
    EXPECT_THROW(BoundedPacker({2, 8, 8, 3}, 1), Error);
    EXPECT_THROW(BoundedPacker(shape, 3), Error);
    BoundedPacker packer(shape, 1);
    HostImage camera(shape), held(shape);
    film(camera.view(), 0, 0, 1);
    Bytes packed;
    for (const int threshold : {-1, 255}) {
        EXPECT_THROW(packer.pack_first(std::as_const(camera).view(), held.view(), threshold, packed), Error);
        EXPECT_THROW(packer.pack_step(std::as_const(camera).view(), held.view(), threshold, packed), Error);
    }
}

}  // namespace
}  // namespace framewire::codec
