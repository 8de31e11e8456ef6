#include "framewire/detect/adaptive.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/adaptive_ref.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

namespace framewire {
namespace {

// Fills frames of a textured scene with noise. A third of the pixels swap between two colours, a patch with a shadow
// beside it passes, and random pixels flash: samples of every kind match, fail, age and are replaced.
void fill_scene(HostView<std::uint8_t> frames, std::uint64_t salt) {
    std::mt19937_64 random(kit::seed() * 0x9E3779B97F4A7C15u + salt);
    const auto& shape = frames.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const auto dice = static_cast<unsigned>(random() >> 40);
                int colour = (x * 37 + y * 101) % 160 + 20;
                if (x % 3 == 0 && dice % 2) colour += 45;
                const int left = frame * 2 % (shape.width + 20) - 10;
                if (x >= left && x < left + 9) colour = 240 - colour / 2;
                if (x >= left + 9 && x < left + 14) colour = colour * 6 / 10;
                for (int c = 0; c < shape.channels; ++c) {
                    const auto noise = static_cast<int>(random() >> 61) - 4;
                    frames.row(frame, y)[x * shape.channels + c] = static_cast<std::uint8_t>(
                        dice / 2 % 64 == 0 ? random() >> 56 : std::clamp(colour + noise + c * 9, 0, 255));
                }
            }
}

kit::GuardedImage scene(const Shape& shape, kit::Layout layout = {}) {
    kit::GuardedImage frames(shape, layout);
    fill_scene(frames.view(), static_cast<std::uint64_t>(shape.width));
    return frames;
}

HostImage reference(const AdaptiveParameters& parameters, HostView<const std::uint8_t> frames) {
    HostImage foreground(frames.shape().with_channels(1));
    AdaptiveReference(adaptive_terms(parameters), frames.shape()).run(frames, foreground.view());
    return foreground;
}

// Runs the frames in batches of `batch` on either backend; the last batch can be shorter.
class Runner {
public:
    Runner(Backend backend, const AdaptiveParameters& parameters, const Shape& shape)
        : backend_(backend), executor_(kit::executor(backend)), background_(parameters, shape, executor_) {}

    void reset() { background_.reset(); }

    HostImage operator()(const kit::GuardedImage& frames, int batch) {
        const auto shape = frames.view().shape();
        HostBitMask mask(shape);
        std::fill_n(mask.view().data(), bit_mask_bytes(shape) / 4, 0xA5A5A5A5u);
        if (backend_ == Backend::cpu)
            in_batches(shape.frames, batch, [&](int first, int count) {
                background_.run(frames.view().frames(first, count), mask.view().frames(first, count));
            });
        else if constexpr (cuda::compiled)
            run_on_device(frames, batch, mask);
        const auto view = mask.view();
        for (int frame = 0; frame < shape.frames; ++frame)
            for (int y = 0; y < shape.height; ++y)
                for (int x = shape.width; x < view.row_words() * 32; ++x)
                    EXPECT_EQ(view.row(frame, y)[x / 32] >> x % 32 & 1, 0u) << "a bit outside the image";
        HostImage foreground(shape.with_channels(1));
        unpack_mask(mask.view(), foreground.view());
        return foreground;
    }

private:
    static void in_batches(int frames, int batch, const std::function<void(int, int)>& run) {
        for (int first = 0; first < frames; first += batch) run(first, std::min(batch, frames - first));
    }

    void run_on_device(const kit::GuardedImage& frames, int batch, HostBitMask& mask) {
        const auto shape = frames.view().shape();
        const auto& stream = executor_.stream();
        const kit::DeviceMirror device_frames(frames);
        device_frames.upload(stream);
        DeviceBitMask device_mask(shape);
        cuda::upload(mask.view().data(), device_mask.view().data(), bit_mask_bytes(shape), stream);
        in_batches(shape.frames, batch, [&](int first, int count) {
            background_.run(device_frames.view().frames(first, count), device_mask.view().frames(first, count));
        });
        cuda::download(device_mask.view().data(), mask.view().data(), bit_mask_bytes(shape), stream);
        stream.synchronize();
    }

    Backend backend_;
    Executor& executor_;
    AdaptiveBackground background_;
};

// Returns `usual`, or a quarter of it under tools that slow the test down.
int frame_count(int usual) { return kit::brief() ? usual / 4 : usual; }

void expect_equal(const HostImage& got, const HostImage& want) {
    EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt);
}

using AdaptiveTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(AdaptiveTest);

TEST_P(AdaptiveTest, MatchesTheReference) {
    for (const int channels : {3, 1})
        for (const auto& shape : kit::small_shapes(channels, frame_count(24)))
            for (const auto& layout : kit::layouts()) {
                const auto frames = scene(shape, layout);
                const auto want = reference({}, frames.view());
                kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
                    SCOPED_TRACE(name + ", " + to_string(shape) + ", " + kit::to_string(layout));
                    expect_equal(Runner(GetParam(), {}, shape)(frames, shape.frames), want);
                    ASSERT_FALSE(testing::Test::HasFailure());
                });
            }
}

// Covers the change from young to old, ghosts, and objects that are kept and given up.
TEST_P(AdaptiveTest, MatchesTheReferenceOverManyFrames) {
    const AdaptiveParameters others[] = {{},
                                         {.shadows = false},
                                         {.keep_seconds = 40, .frames_per_second = 1},
                                         {.keep_seconds = 0},
                                         {.threshold = 255, .texture = 16},
                                         {.threshold = 1, .texture = 0},
                                         {.keep_seconds = 700, .frames_per_second = 1}};
    for (const int channels : {3, 1}) {
        const auto frames = scene({frame_count(240), 19, 75, channels});
        for (const auto& parameters : others) {
            const auto want = reference(parameters, frames.view());
            kit::for_each_instruction_set(GetParam(), [&](const std::string& name) {
                SCOPED_TRACE(name + ", parameter set " + std::to_string(&parameters - others + 1));
                expect_equal(Runner(GetParam(), parameters, frames.view().shape())(frames, 32), want);
            });
        }
    }
}

TEST_P(AdaptiveTest, BatchesMatchSingleFrames) {
    const auto frames = scene({67, 33, 97, 3}, {3, 13, 2});
    Runner run(GetParam(), {}, frames.view().shape());
    const auto whole = run(frames, 67);
    for (const int batch : {1, 5, 66}) {
        SCOPED_TRACE(batch);
        run.reset();
        expect_equal(run(frames, batch), whole);
    }
}

// In a calm scene with sensor noise hardly a pixel is foreground, in any frame, and at most one per row.
TEST_P(AdaptiveTest, FindsOnlySpecksInACalmScene) {
    const Shape shape{frame_count(160), 40, 100, 3};
    kit::GuardedImage frames(shape, {});
    std::mt19937 random(static_cast<std::uint32_t>(kit::seed()));
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < 3 * shape.width; ++x)
                frames.view().row(frame, y)[x] = static_cast<std::uint8_t>(60 + (x / 3 + y) % 100 + random() % 5);
    const auto mask = Runner(GetParam(), {}, shape)(frames, 16);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* row = mask.view().row(frame, y);
            ASSERT_LE(std::count(row, row + shape.width, 255), 1) << frame << ' ' << y;
        }
}

// Draws an object of another colour that enters, stops in frame 60 and leaves in frame `gone`.
kit::GuardedImage stopping_object(const Shape& shape, int gone) {
    kit::GuardedImage frames(shape, {});
    std::mt19937 random(7);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool object = frame >= 60 && frame < gone && x >= 30 && x < 60 && y >= 10 && y < 30;
                for (int c = 0; c < 3; ++c)
                    frames.view().row(frame, y)[3 * x + c] =
                        static_cast<std::uint8_t>((object ? 210 - 60 * c : 90 + 5 * c) + random() % 4);
            }
    return frames;
}

double share_in_object(HostView<const std::uint8_t> mask, int frame) {
    int count = 0;
    for (int y = 12; y < 28; ++y)
        count += static_cast<int>(std::count(mask.row(frame, y) + 32, mask.row(frame, y) + 58, 255));
    return count / (16.0 * 26);
}

TEST_P(AdaptiveTest, KeepsObjectsThatStopAsLongAsStated) {
    const Shape shape{320, 40, 100, 3};
    const auto frames = stopping_object(shape, shape.frames);
    const auto kept = Runner(GetParam(), {.keep_seconds = 0}, shape)(frames, 32);
    EXPECT_GT(share_in_object(kept.view(), 61), 0.95);
    EXPECT_GT(share_in_object(kept.view(), 319), 0.9);
    const auto absorbed = Runner(GetParam(), {.keep_seconds = 100, .frames_per_second = 1}, shape)(frames, 32);
    EXPECT_GT(share_in_object(absorbed.view(), 150), 0.9) << "90 frames after it stopped";
    EXPECT_LT(share_in_object(absorbed.view(), 250), 0.05) << "190 frames after it stopped";
}

// The place of an object that was there from the first frame on becomes background long before `keep` frames.
TEST_P(AdaptiveTest, ForgetsGhosts) {
    const Shape shape{220, 40, 100, 3};
    auto frames = stopping_object({280, 40, 100, 3}, 80);
    kit::GuardedImage late(shape, {});
    copy(frames.view().frames(60, shape.frames), late.view());
    const auto mask = Runner(GetParam(), {.keep_seconds = 0}, shape)(late, 32);
    EXPECT_GT(share_in_object(mask.view(), 21), 0.9) << "the object has left";
    EXPECT_LT(share_in_object(mask.view(), 219), 0.05);
}

TEST_P(AdaptiveTest, CountsShadowsAsBackground) {
    const Shape shape{100, 40, 100, 3};
    kit::GuardedImage frames(shape, {});
    std::mt19937 random(7);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const int light = 100 + static_cast<int>(random() % 4);
                const bool shadow = frame >= 90 && x >= 32 && x < 58;
                for (int c = 0; c < 3; ++c)
                    frames.view().row(frame, y)[3 * x + c] = static_cast<std::uint8_t>(shadow ? light * 6 / 10 : light);
            }
    // The texture differs along the edges of the shadow.
    EXPECT_LT(share_in_object(Runner(GetParam(), {}, shape)(frames, 32).view(), 91), 0.1);
    EXPECT_GT(share_in_object(Runner(GetParam(), {.shadows = false}, shape)(frames, 32).view(), 91), 0.95);
}

TEST(Adaptive, DrawsTheBackground) {
    for (const int channels : {1, 3}) {
        const Shape shape{60, 20, 50, channels};
        kit::GuardedImage frames(shape, {});
        for (int frame = 0; frame < shape.frames; ++frame)
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width * channels; ++x)
                    frames.view().row(frame, y)[x] = static_cast<std::uint8_t>(40 + 60 * (x % channels) + y);
        auto& executor = kit::executor(Backend::cpu);
        AdaptiveBackground background({}, shape, executor);
        HostImage picture(shape.with_frames(1));
        background.draw_background(picture.view());
        EXPECT_EQ(picture.view().row(0, 0)[0], 0);
        HostBitMask mask(shape);
        background.run(frames.view(), mask.view());
        background.draw_background(picture.view());
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width * channels; ++x)
                // Samples also come from the rows above and below, and chroma is rounded.
                ASSERT_NEAR(picture.view().row(0, y)[x], 40 + 60 * (x % channels) + y, 3) << x << ' ' << y;
    }
}

TEST(Adaptive, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 40, 3};
    for (const auto& parameters :
         {AdaptiveParameters{.threshold = 0}, AdaptiveParameters{.threshold = 256}, AdaptiveParameters{.texture = 17},
          AdaptiveParameters{.texture = -1}, AdaptiveParameters{.keep_seconds = -1},
          AdaptiveParameters{.keep_seconds = most_keep_seconds + 1}, AdaptiveParameters{.frames_per_second = 0}})
        EXPECT_THROW(AdaptiveBackground(parameters, shape, executor), Error);
    EXPECT_THROW(AdaptiveBackground({}, {1, 4, 40, 2}, executor), Error);
    AdaptiveBackground background({}, shape, executor);
    HostImage frame(shape), gray(shape.with_channels(1)), two(shape.with_frames(2));
    HostBitMask mask(shape), other(Shape{1, 4, 41, 1});
    EXPECT_THROW(background.run(gray.view(), mask.view()), Error);
    EXPECT_THROW(background.run(frame.view(), other.view()), Error);
    EXPECT_THROW(background.run(two.view(), mask.view()), Error);
    EXPECT_THROW(background.run(frame.view(), {}), Error);
    EXPECT_THROW(background.draw_background(gray.view()), Error);
}

}  // namespace
}  // namespace framewire
