#include "framewire/pipeline/stream_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/pipeline/frame_processor.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace framewire {
namespace {

class StreamEncoderTest : public kit::BackendTest {};

FRAMEWIRE_ON_EVERY_BACKEND(StreamEncoderTest);

// Frames that change in part: noise in their upper half, a ramp below.
std::vector<HostImage> some_frames(const Shape& shape, int count) {
    std::vector<HostImage> frames;
    for (int i = 0; i < count; ++i) {
        frames.emplace_back(shape);
        kit::fill(frames.back().view(), kit::Fill::ramp);
        const auto upper = Shape{1, std::max(1, shape.height / 2), shape.width, shape.channels};
        kit::fill(HostView<std::uint8_t>(frames.back().view().data(), upper), kit::Fill::noise,
                  static_cast<std::uint64_t>(i));
    }
    return frames;
}

// The picture of a viewer that is sent the first picture and the changes, against what the chain alone gives.
TEST_P(StreamEncoderTest, ViewerStaysWithinTheThresholdOfTheChain) {
    for (const char* text : {"", "gray", "gray=channels=1"})
        for (const auto& parameters :
             {delta::EncoderParameters{delta::Mode::exact, 20}, delta::EncoderParameters{delta::Mode::lossless, 20}})
            for (const auto& shape : {Shape{1, 1, 1, 3}, Shape{1, 17, 33, 3}, Shape{1, 240, 321, 3}}) {
                SCOPED_TRACE(fmt::format("'{}', {}, {}", text, to_string(parameters.mode), to_string(shape)));
                const auto chain = parse_chain(text);
                auto& executor = kit::executor(GetParam());
                StreamEncoder encoder(chain, parameters, shape, executor);
                FrameProcessor processor(chain, shape, executor);
                ASSERT_EQ(encoder.shape(), processor.output_shape());
                HostImage expected(encoder.shape()), viewer(encoder.shape());
                delta::HostChanges changes(encoder.shape());
                bool first = true;
                for (auto& frame : some_frames(shape, 5)) {
                    processor.process(frame.view(), expected.view());
                    EXPECT_EQ(encoder.encode(frame.view(), changes.view()), first);
                    auto* held = viewer.view().data();
                    const auto& summary = changes.view().summaries[0];
                    if (first) {
                        copy(encoder.first_picture(), viewer.view());
                        EXPECT_EQ(summary.count, 0u);
                    }
                    for (std::uint32_t i = 0; i < summary.count; ++i) {
                        auto& byte = held[changes.view().positions[i]];
                        byte = static_cast<std::uint8_t>(byte + changes.view().differences[i]);
                    }
                    std::uint32_t worst = 0;
                    std::uint64_t squares = 0;
                    for (std::int64_t i = 0; i < encoder.shape().bytes(); ++i) {
                        const auto error = static_cast<std::uint32_t>(std::abs(held[i] - expected.view().data()[i]));
                        worst = std::max(worst, error);
                        squares += std::uint64_t{error} * error;
                    }
                    EXPECT_LE(worst, static_cast<std::uint32_t>(parameters.effective_threshold()));
                    EXPECT_EQ(summary.max_error, worst);
                    EXPECT_EQ(summary.squared_error, squares);
                    first = false;
                }
            }
}

TEST_P(StreamEncoderTest, AllocatesNothingOnceItRuns) {
    const Shape shape{1, 120, 160, 3};
    StreamEncoder encoder(parse_chain("gray"), {}, shape, kit::executor(GetParam()));
    delta::HostChanges changes(shape);
    auto frames = some_frames(shape, 20);
    for (int i = 0; i < 5; ++i) encoder.encode(frames[static_cast<std::size_t>(i)].view(), changes.view());
    const auto before = kit::allocations();
    for (auto& frame : frames) encoder.encode(frame.view(), changes.view());
    EXPECT_EQ(kit::allocations(), before);
}

TEST_P(StreamEncoderTest, RefusesOtherFrames) {
    auto& executor = kit::executor(GetParam());
    StreamEncoder encoder(parse_chain(""), {}, {1, 16, 16, 3}, executor);
    delta::HostChanges changes(encoder.shape());
    HostImage other({1, 16, 17, 3});
    EXPECT_THROW(encoder.encode(other.view(), changes.view()), Error);
    EXPECT_THROW(StreamEncoder(parse_chain(""), {}, {2, 16, 16, 3}, executor), Error);
    EXPECT_THROW(StreamEncoder(parse_chain(""), {delta::Mode::exact, 255}, {1, 16, 16, 3}, executor), Error);
}

}  // namespace
}  // namespace framewire
