#include "framewire/plan/stream_encoder.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/static_scene_testing.hpp"
#include "framewire/core/error.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using codec::PackAs;
using Bytes = std::vector<std::uint8_t>;

constexpr codec::EncoderParameters exact{codec::Mode::exact, 20}, lossless{codec::Mode::lossless, 20},
    bounded{codec::Mode::bounded, 20};

class StreamEncoderTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
};
FRAMEWIRE_ON_EVERY_BACKEND(StreamEncoderTest);

// Paints frames whose upper part changes above a gradient: first half of it, then almost nothing, then all of it. The
// last change exceeds both the number that earlier frames suggest and the size of the GPU's staging buffer.
void paint(Frame& frame, int number) {
    const auto image = frame.fill_on_host();
    const auto& shape = image.shape();
    kit::fill(image, kit::Fill::ramp);
    const int parts[] = {2, 2, 60, 60, 1, 60, 2};
    const auto upper = Shape{1, std::max(1, shape.height / parts[number % 7]), shape.width, shape.channels};
    kit::fill(HostView<std::uint8_t>(image.data(), upper), kit::Fill::noise, static_cast<std::uint64_t>(number));
    frame.upload();
}

// A viewer that receives the packed frames and compares its picture with R and with the camera's.
class Viewer {
public:
    explicit Viewer(const StreamEncoder& encoder)
        : encoder_(encoder), unpacker_(encoder.shape()), held_(encoder.shape()) {}

    void take(std::span<const std::uint8_t> packed, bool whole) {
        whole ? unpacker_.apply_picture(packed, held_.view()) : unpacker_.apply_changes(packed, held_.view());
        EXPECT_EQ(kit::first_difference(std::as_const(held_).view(), encoder_.reference()), std::nullopt);
    }
    // Shows R, as after all missing blocks have been received.
    void catch_up() { copy(encoder_.reference(), held_.view()); }

    // Compares the picture with the camera's, and the errors with those that the encoder reports.
    void check(HostView<const std::uint8_t> camera, int within, const codec::Summary& found, bool refined = false) {
        std::uint32_t worst = 0;
        std::uint64_t squares = 0;
        for (std::int64_t i = 0; i < encoder_.shape().bytes(); ++i) {
            const auto error =
                static_cast<std::uint32_t>(std::abs(std::as_const(held_).view().data()[i] - camera.data()[i]));
            worst = std::max(worst, error);
            squares += std::uint64_t{error} * error;
        }
        EXPECT_LE(worst, static_cast<std::uint32_t>(within));
        EXPECT_EQ(found.squared_error, squares);
        // A refinement never lowers the largest error that is reported.
        if (refined)
            EXPECT_TRUE(worst <= found.max_error && found.max_error <= static_cast<std::uint32_t>(within));
        else
            EXPECT_EQ(found.max_error, worst);
    }

private:
    const StreamEncoder& encoder_;
    codec::Unpacker unpacker_;
    HostImage held_;
};

TEST_P(StreamEncoderTest, ViewerPictureStaysWithinTheThreshold) {
    for (const auto& parameters : {exact, lossless, bounded})
        for (const auto& shape :
             {Shape{1, 1, 1, 3}, Shape{1, 17, 33, 3}, Shape{1, 240, 321, 1}, Shape{1, 240, 321, 3}}) {
            SCOPED_TRACE(fmt::format("{}, {}", to_string(parameters.mode), to_string(shape)));
            StreamEncoder encoder(parameters, shape, executor());
            EXPECT_EQ(encoder.shape(), shape);
            Viewer viewer(encoder);
            Frame camera(shape, executor());
            for (int number = 0; number < 12; ++number) {
                SCOPED_TRACE(number);
                paint(camera, number);
                const auto encoded = encoder.encode(camera, PackAs::delta_frame);
                EXPECT_EQ(encoded.whole, number == 0);
                EXPECT_EQ(encoded.changed, nullptr);
                viewer.take(encoded.packed, encoded.whole);
                viewer.check(std::as_const(camera).host(), encoder.parameters().effective_threshold(), encoded.found);
            }
        }
}

// Encodes frames with varying thresholds and efforts, and keyframes in between, and compares the bytes with those of
// the CPU's packer.
template <class Packer>
void expect_bytes_of(Packer packer, const codec::EncoderParameters& parameters, const Shape& shape,
                     Executor& executor) {
    SCOPED_TRACE(fmt::format("{}, {}", to_string(parameters.mode), to_string(shape)));
    StreamEncoder encoder(parameters, shape, executor);
    Frame camera(shape, executor);
    HostImage reference(shape);
    for (int number = 0; number < 12; ++number) {
        SCOPED_TRACE(number);
        const int thresholds[] = {20, 0, 64, 31}, efforts[] = {1, 0, 0, 2, 1};
        const int within = thresholds[number % 4], effort = efforts[number % 5];
        if constexpr (std::is_same_v<Packer, codec::BoundedPacker>) packer.set_effort(effort);
        encoder.set_effort(effort);
        const bool whole = number == 0 || number == 5;
        paint(camera, number);
        Bytes want;
        const auto found = whole ? packer.pack_first(camera.host(), reference.view(), within, want)
                                 : packer.pack_step(camera.host(), reference.view(), within, want);
        const auto encoded = encoder.encode(camera, number == 5 ? PackAs::keyframe : PackAs::delta_frame, within);
        EXPECT_EQ(encoded.whole, whole);
        EXPECT_TRUE(std::ranges::equal(encoded.packed, want))
            << encoded.packed.size() << " bytes instead of " << want.size();
        EXPECT_EQ(encoded.found.count, found.count);
        EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(reference).view()), std::nullopt);
    }
}

TEST_P(StreamEncoderTest, PacksTheBytesOfThePackers) {
    for (const auto& shape : {Shape{1, 17, 33, 3}, Shape{1, 140, 321, 1}, Shape{1, 70, 190, 3}}) {
        expect_bytes_of(codec::ExactPacker(shape), exact, shape, executor());
        expect_bytes_of(codec::BoundedPacker(shape, bounded.effort), bounded, shape, executor());
    }
}

TEST_P(StreamEncoderTest, LosslessModeHasThresholdZero) {
    const Shape shape{1, 70, 90, 3};
    StreamEncoder encoder(lossless, shape, executor());
    Frame camera(shape, executor());
    for (int number = 0; number < 4; ++number) {
        paint(camera, number);
        const auto encoded = encoder.encode(camera, number == 2 ? PackAs::nothing : PackAs::delta_frame);
        EXPECT_EQ(encoded.found.max_error, 0u);
        EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).host()), std::nullopt);
    }
}

// Returns the blocks in which two pictures differ.
codec::BlockSet different_blocks(HostView<const std::uint8_t> a, HostView<const std::uint8_t> b) {
    const codec::BlockGrid grid(a.shape());
    codec::BlockSet blocks(static_cast<std::size_t>(grid.count()));
    for (int y = 0; y < a.shape().height; ++y)
        for (int i = 0; i < a.shape().row_bytes(); ++i)
            if (a.row(0, y)[i] != b.row(0, y)[i])
                blocks[static_cast<std::size_t>(grid.block_at(i / a.shape().channels, y))] = 1;
    return blocks;
}

// While nothing is packed, R must advance as if delta frames were packed, so that the blocks that viewers hold stay
// valid.
TEST_P(StreamEncoderTest, ReportsTheChangedBlocksOfFramesThatAreNotPacked) {
    for (const auto& parameters : {exact, lossless})
        for (const auto& shape : {Shape{1, 17, 33, 3}, Shape{1, 240, 321, 1}, Shape{1, 140, 321, 3}}) {
            SCOPED_TRACE(fmt::format("{}, {}", to_string(parameters.mode), to_string(shape)));
            StreamEncoder encoder(parameters, shape, executor()), packing(parameters, shape, executor());
            Viewer viewer(encoder);
            Frame camera(shape, executor());
            HostImage before(shape);
            for (int number = 0; number < 16; ++number) {
                SCOPED_TRACE(number);
                paint(camera, number);
                const bool packs = number == 9 || number == 12;
                copy(encoder.reference(), before.view());
                const auto encoded = encoder.encode(camera, packs ? PackAs::delta_frame : PackAs::nothing);
                const auto want = packing.encode(camera, PackAs::delta_frame);
                EXPECT_EQ(encoded.whole, number == 0);
                EXPECT_EQ(kit::first_difference(encoder.reference(), packing.reference()), std::nullopt);
                EXPECT_EQ(encoded.found.count, want.found.count);
                EXPECT_EQ(encoded.found.max_error, want.found.max_error);
                EXPECT_EQ(encoded.found.squared_error, want.found.squared_error);
                EXPECT_EQ(encoded.changed != nullptr, number > 0 && !packs);
                if (packs) {
                    viewer.take(encoded.packed, false);
                    continue;
                }
                EXPECT_TRUE(encoded.packed.empty());
                if (encoded.changed) {
                    EXPECT_EQ(*encoded.changed, different_blocks(before.view(), encoder.reference()));
                }
                viewer.catch_up();
            }
        }
}

TEST_P(StreamEncoderTest, BoundedFramesThatAreNotPackedReplaceR) {
    const Shape shape{1, 70, 90, 3};
    StreamEncoder encoder(bounded, shape, executor());
    Viewer viewer(encoder);
    Frame camera(shape, executor());
    for (int number = 0; number < 7; ++number) {
        paint(camera, number);
        const bool packs = number == 4 || number == 5;
        const auto encoded = encoder.encode(camera, packs ? PackAs::delta_frame : PackAs::nothing);
        EXPECT_EQ(encoded.whole, !packs);
        EXPECT_EQ(encoded.changed, nullptr);
        EXPECT_EQ(encoded.packed.empty(), !packs);
        if (packs) {
            viewer.take(encoded.packed, false);
            continue;
        }
        EXPECT_EQ(kit::first_difference(encoder.reference(), std::as_const(camera).host()), std::nullopt);
        viewer.catch_up();
    }
}

// Returns the stream that a viewer of a noisy scene with a moving object receives. Some frames are not packed, as if no
// viewer were connected.
Bytes refined_stream(const codec::EncoderParameters& parameters, const Shape& shape, Executor& executor) {
    const int within = parameters.threshold;
    StreamEncoder encoder(parameters, shape, executor, true);
    codec::Refiner refiner(shape, 0.2, within, executor);
    codec::RefinementDelta step(shape, executor);
    codec::Packer packer(shape);
    Viewer viewer(encoder);
    Frame camera(shape, executor);
    Bytes all, packed;
    int refined = 0;
    for (int number = 0; number < 60; ++number) {
        SCOPED_TRACE(number);
        codec_testing::paint_resting(camera.fill_on_host(), number);
        camera.upload();
        const bool packs = number < 30 || number > 33;
        auto encoded = encoder.encode(camera, packs ? PackAs::delta_frame : PackAs::nothing);
        if (packs)
            viewer.take(encoded.packed, encoded.whole);
        else
            viewer.catch_up();
        all.insert(all.end(), encoded.packed.begin(), encoded.packed.end());
        encoder.refine(camera, encoded, refiner, {number / 25.0, within, 1e6}, step);
        EXPECT_TRUE(packs || step.empty()) << "refinement starts over";
        if (!step.empty()) {
            packed.clear();
            packer.pack_changes(step.changes(), step.threshold(), packed);
            viewer.take(packed, false);
            refiner.took(step, std::ssize(packed));
            all.insert(all.end(), packed.begin(), packed.end());
            ++refined;
        }
        if (encoded.changed || !encoded.packed.empty())
            viewer.check(std::as_const(camera).host(), within, encoded.found, true);
    }
    EXPECT_GT(refined, 3);
    return all;
}

TEST_P(StreamEncoderTest, RefinesStaticRegions) {
    for (const auto& parameters : {exact, bounded})
        for (const auto& shape : {Shape{1, 120, 160, 3}, Shape{1, 240, 321, 1}}) {
            SCOPED_TRACE(fmt::format("{}, {}", to_string(parameters.mode), to_string(shape)));
            const auto bytes = refined_stream(parameters, shape, executor());
            const auto on_cpu = refined_stream(parameters, shape, kit::executor(Backend::cpu));
            EXPECT_TRUE(bytes == on_cpu) << bytes.size() << " bytes, on the CPU " << on_cpu.size();
        }
}

// A camera that nobody watches costs no memory per frame.
TEST_P(StreamEncoderTest, UpdatesWithoutAllocating) {
    const Shape shape{1, 120, 160, 3};
    // A single thread, because starting threads is not part of processing a frame.
    Executor one_thread(GetParam() == Backend::cpu ? BackendChoice::cpu : BackendChoice::cuda, 1);
    for (const auto& parameters : {exact, bounded}) {
        StreamEncoder encoder(parameters, shape, one_thread);
        Frame camera(shape, one_thread);
        const auto encode = [&](int number) {
            paint(camera, number);
            encoder.encode(camera, PackAs::nothing);
        };
        for (int number = 0; number < 7; ++number) encode(number);
        const auto before = kit::allocations();
        for (int number = 0; number < 20; ++number) encode(number);
        EXPECT_EQ(kit::allocations(), before) << to_string(parameters.mode);
    }
}

TEST_P(StreamEncoderTest, RejectsInvalidParametersAndMismatchedFrames) {
    const Shape shape{1, 16, 16, 3};
    for (const auto& parameters : {exact, lossless, bounded}) {
        SCOPED_TRACE(to_string(parameters.mode));
        EXPECT_THROW(StreamEncoder(parameters, {2, 16, 16, 3}, executor()), Error);
        auto beyond = parameters;
        beyond.threshold = 255;
        EXPECT_THROW(StreamEncoder(beyond, shape, executor()), Error);
        StreamEncoder encoder(parameters, shape, executor());
        Frame other({1, 16, 17, 3}, executor()), camera(shape, executor());
        paint(camera, 0);
        for (const auto as : {PackAs::nothing, PackAs::keyframe, PackAs::delta_frame}) {
            EXPECT_THROW(encoder.encode(other, as), Error);
            for (const int threshold : {-1, 255}) EXPECT_THROW(encoder.encode(camera, as, threshold), Error);
        }
    }
    auto parameters = bounded;
    parameters.effort = 3;
    EXPECT_THROW(StreamEncoder(parameters, shape, executor()), Error);
}

}  // namespace
}  // namespace framewire
