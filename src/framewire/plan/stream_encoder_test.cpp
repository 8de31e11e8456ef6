#include "framewire/plan/stream_encoder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/plan/static_scene_testing.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace framewire {
namespace {

constexpr codec::EncoderParameters bounded{.mode = codec::Mode::bounded, .threshold = 20};

class BoundedEncoderTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(BoundedEncoderTest);

TEST_P(BoundedEncoderTest, PacksTheRequestedKind) {
    const Shape shape{1, 70, 90, 3};
    BoundedEncoder encoder(bounded, shape, executor());
    codec::Unpacker unpacker(shape);
    Frame camera(shape, executor());
    HostImage viewer(shape);
    for (int frame = 0; frame < 7; ++frame) {
        kit::fill(camera.fill_on_host(), frame % 2 ? kit::Fill::ramp : kit::Fill::checkerboard);
        camera.upload();
        using enum BoundedEncoder::Packs;
        const auto packs = frame == 3 ? nothing : frame == 5 ? picture : step;
        const auto outcome = encoder.encode(camera, packs);
        if (packs == nothing) {
            EXPECT_TRUE(outcome.whole);
            EXPECT_TRUE(outcome.packed.empty());
            EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).host()), std::nullopt);
            copy(encoder.reference(), viewer.view());
            continue;
        }
        EXPECT_EQ(outcome.whole, frame == 0 || packs == picture);
        outcome.whole ? unpacker.apply_picture(outcome.packed, viewer.view())
                      : unpacker.apply_changes(outcome.packed, viewer.view());
        EXPECT_EQ(kit::first_difference(std::as_const(viewer).view(), encoder.reference()), std::nullopt);
        EXPECT_LE(outcome.found.max_error, 20u);
    }
}

// Returns the stream that a viewer of a noisy scene with a moving object receives.
std::vector<std::uint8_t> refined_stream(Executor& executor, const Shape& shape) {
    BoundedEncoder encoder(bounded, shape, executor);
    codec::Refiner refiner(shape, 0.2, bounded.threshold, executor);
    codec::RefinementDelta step(shape, executor);
    codec::Packer packer(shape);
    codec::Unpacker unpacker(shape);
    Frame camera(shape, executor);
    HostImage viewer(shape);
    std::vector<std::uint8_t> all;
    int refined = 0;
    for (int number = 0; number < 40; ++number) {
        frames_testing::paint_resting(camera.fill_on_host(), number);
        camera.upload();
        auto outcome = encoder.encode(camera, BoundedEncoder::Packs::step);
        outcome.whole ? unpacker.apply_picture(outcome.packed, viewer.view())
                      : unpacker.apply_changes(outcome.packed, viewer.view());
        all.insert(all.end(), outcome.packed.begin(), outcome.packed.end());
        encoder.refine(camera, outcome, refiner, {number / 25.0, bounded.threshold, 1e6}, step);
        if (!step.empty()) {
            std::vector<std::uint8_t> packed;
            packer.pack_changes(step.changes(), step.threshold(), packed);
            unpacker.apply_changes(packed, viewer.view());
            refiner.took(step, std::ssize(packed));
            all.insert(all.end(), packed.begin(), packed.end());
            ++refined;
        }
        EXPECT_EQ(kit::first_difference(std::as_const(viewer).view(), encoder.reference()), std::nullopt);
        EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).host(), bounded.threshold),
                  std::nullopt);
        EXPECT_LE(outcome.found.max_error, static_cast<std::uint32_t>(bounded.threshold));
    }
    EXPECT_GT(refined, 3);
    return all;
}

TEST_P(BoundedEncoderTest, RefinesStaticRegions) {
    for (const auto& shape : {Shape{1, 120, 160, 3}, Shape{1, 140, 321, 1}}) {
        const auto bytes = refined_stream(executor(), shape);
        const auto on_cpu = refined_stream(kit::executor(Backend::cpu), shape);
        EXPECT_TRUE(bytes == on_cpu) << bytes.size() << " bytes, on the CPU " << on_cpu.size();
    }
}

TEST_P(BoundedEncoderTest, RejectsUnsupportedModesAndMismatchedFrames) {
    EXPECT_THROW(BoundedEncoder({}, {1, 16, 16, 3}, executor()), Error);
    auto parameters = bounded;
    parameters.effort = 3;
    EXPECT_THROW(BoundedEncoder(parameters, {1, 16, 16, 3}, executor()), Error);
    EXPECT_THROW(BoundedEncoder(bounded, {2, 16, 16, 3}, executor()), Error);
    BoundedEncoder encoder(bounded, {1, 16, 16, 3}, executor());
    Frame other({1, 16, 17, 3}, executor());
    EXPECT_THROW(encoder.encode(other, BoundedEncoder::Packs::step), Error);
}

class StreamEncoderTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};

FRAMEWIRE_ON_EVERY_BACKEND(StreamEncoderTest);

// Paints frames whose upper part changes above a gradient: first half of it, then almost nothing, then all of it. The
// last change exceeds both the number that earlier frames suggest and the size of the staging buffer.
void paint(HostView<std::uint8_t> image, int number) {
    const auto& shape = image.shape();
    kit::fill(image, kit::Fill::ramp);
    const int parts[] = {2, 2, 60, 60, 1, 60, 2};
    const auto upper = Shape{1, std::max(1, shape.height / parts[number % 7]), shape.width, shape.channels};
    kit::fill(HostView<std::uint8_t>(image.data(), upper), kit::Fill::noise, static_cast<std::uint64_t>(number));
}

// A viewer that receives the first keyframe and the changes, and compares its picture with the frames.
class Viewer {
public:
    Viewer(const StreamEncoder& encoder) : encoder_(encoder), held_(encoder.shape()) {}

    void take(FrameChanges& changes, HostView<const std::uint8_t> frame) {
        changes.wait();
        auto* held = held_.view().data();
        const auto& found = changes.changes();
        const auto& summary = found.summaries[0];
        EXPECT_EQ(changes.first(), taken_ == 0);
        if (changes.first()) {
            copy(encoder_.first_picture(), held_.view());
            EXPECT_EQ(summary.count, 0u);
        }
        for (std::uint32_t i = 0; i < summary.count; ++i) {
            auto& byte = held[found.positions[i]];
            byte = static_cast<std::uint8_t>(byte + found.differences[i]);
        }
        std::uint32_t worst = 0;
        std::uint64_t squares = 0;
        for (std::int64_t i = 0; i < encoder_.shape().bytes(); ++i) {
            const auto error = static_cast<std::uint32_t>(std::abs(held[i] - frame.data()[i]));
            worst = std::max(worst, error);
            squares += std::uint64_t{error} * error;
        }
        EXPECT_LE(worst, static_cast<std::uint32_t>(encoder_.parameters().effective_threshold()));
        EXPECT_EQ(summary.max_error, worst);
        EXPECT_EQ(summary.squared_error, squares);
        ++taken_;
    }

private:
    const StreamEncoder& encoder_;
    HostImage held_;
    int taken_ = 0;
};

TEST_P(StreamEncoderTest, ViewerPictureStaysWithinTheThreshold) {
    for (const auto& parameters :
         {codec::EncoderParameters{codec::Mode::exact, 20}, codec::EncoderParameters{codec::Mode::lossless, 20}})
        for (const auto& shape : {Shape{1, 1, 1, 3}, Shape{1, 17, 33, 3}, Shape{1, 240, 321, 1}, Shape{1, 240, 321, 3}})
            for (const int slots : {1, 2, 5}) {
                SCOPED_TRACE(fmt::format("{}, {}, {} under way", to_string(parameters.mode), to_string(shape), slots));
                StreamEncoder encoder(parameters, shape, executor());
                Viewer viewer(encoder);
                std::vector<Frame> frames;
                std::vector<FrameChanges> changes;
                for (int slot = 0; slot < slots; ++slot) {
                    frames.emplace_back(shape, executor());
                    changes.push_back(encoder.make_changes());
                }
                const auto take = [&](int number) {
                    const auto slot = static_cast<std::size_t>(number % slots);
                    viewer.take(changes[slot], frames[slot].host());
                };
                constexpr int count = 12;
                for (int number = 0; number < count; ++number) {
                    if (number >= slots) take(number - slots);
                    const auto slot = static_cast<std::size_t>(number % slots);
                    paint(frames[slot].host(), number);
                    frames[slot].upload();
                    encoder.start(frames[slot], changes[slot]);
                }
                for (int number = count - slots; number < count; ++number) take(number);
            }
}

// Returns the delta frames of a noisy scene with a moving object, encoded with `slots` frames in flight.
std::vector<std::uint8_t> refined_stream(Executor& executor, const Shape& shape, int slots) {
    struct Slot {
        Frame frame;
        FrameChanges changes;
        codec::RefinementDelta step;
    };
    constexpr int threshold = 20;
    StreamEncoder encoder({codec::Mode::exact, threshold}, shape, executor);
    codec::Refiner refiner(shape, 0.2, threshold, executor);
    codec::Packer packer(shape);
    codec::Unpacker unpacker(shape);
    HostImage viewer(shape);
    std::vector<std::uint8_t> all, packed;
    std::vector<Slot> under_way;
    for (int slot = 0; slot < slots; ++slot)
        under_way.push_back({Frame(shape, executor), encoder.make_changes(), codec::RefinementDelta(shape, executor)});
    int refined = 0;
    const auto send = [&](const codec::ChangesView<MemorySpace::host>& changes, int within) {
        packed.clear();
        packer.pack_changes(changes, within, packed);
        unpacker.apply_changes(packed, viewer.view());
        all.insert(all.end(), packed.begin(), packed.end());
    };
    const auto take = [&](Slot& slot) {
        slot.changes.wait();
        if (slot.changes.first()) return copy(encoder.first_picture(), viewer.view());
        send(slot.changes.changes(), threshold);
        if (!slot.step.empty()) {
            send(slot.step.changes(), slot.step.threshold());
            refiner.took(slot.step, std::ssize(packed));
            ++refined;
        }
        const auto& summary = slot.changes.changes().summaries[0];
        std::uint64_t squares = 0;
        for (std::int64_t i = 0; i < shape.bytes(); ++i) {
            const int off = viewer.view().data()[i] - slot.frame.host().data()[i];
            EXPECT_LE(std::abs(off), threshold);
            squares += static_cast<std::uint64_t>(off * off);
        }
        EXPECT_EQ(summary.squared_error, squares);
        EXPECT_LE(summary.max_error, static_cast<std::uint32_t>(threshold));
    };
    constexpr int count = 60;
    for (int number = 0; number < count + slots; ++number) {
        auto& slot = under_way[static_cast<std::size_t>(number % slots)];
        if (number >= slots) take(slot);
        if (number >= count) continue;
        frames_testing::paint_resting(slot.frame.fill_on_host(), number);
        slot.frame.upload();
        encoder.start(slot.frame, slot.changes);
        encoder.refine(slot.frame, slot.changes, refiner, {number / 25.0, threshold, 1e6}, slot.step);
    }
    EXPECT_GT(refined, 3);
    return all;
}

TEST_P(StreamEncoderTest, RefinesStaticRegions) {
    for (const auto& shape : {Shape{1, 120, 160, 3}, Shape{1, 240, 321, 1}})
        for (const int slots : {1, 2, 5}) {
            SCOPED_TRACE(fmt::format("{}, {} under way", to_string(shape), slots));
            const auto bytes = refined_stream(executor(), shape, slots);
            const auto on_cpu = refined_stream(kit::executor(Backend::cpu), shape, slots);
            EXPECT_TRUE(bytes == on_cpu) << bytes.size() << " bytes, on the CPU " << on_cpu.size();
        }
}

TEST_P(StreamEncoderTest, RunsWithoutAllocating) {
    const Shape shape{1, 120, 160, 3};
    StreamEncoder encoder({}, shape, executor());
    auto changes = encoder.make_changes();
    Frame frame(shape, executor());
    const auto encode = [&](int number) {
        paint(frame.host(), number);
        frame.upload();
        encoder.start(frame, changes);
        changes.wait();
    };
    for (int number = 0; number < 7; ++number) encode(number);
    const auto before = kit::allocations();
    for (int number = 0; number < 20; ++number) encode(number);
    EXPECT_EQ(kit::allocations(), before);
}

TEST_P(StreamEncoderTest, RejectsMismatchedFrames) {
    StreamEncoder encoder({}, {1, 16, 16, 3}, executor());
    auto changes = encoder.make_changes();
    Frame other({1, 16, 17, 3}, executor());
    EXPECT_THROW(encoder.start(other, changes), Error);
    EXPECT_THROW(StreamEncoder({}, {2, 16, 16, 3}, executor()), Error);
    EXPECT_THROW(StreamEncoder({codec::Mode::exact, 255}, {1, 16, 16, 3}, executor()), Error);
}

}  // namespace
}  // namespace framewire
