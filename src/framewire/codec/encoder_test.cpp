#include "framewire/codec/delta.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

namespace framewire::codec {
namespace {

using kit::DeviceMirror;
using kit::GuardedImage;

// Kind of difference between a frame and the reference.
enum class Motion { none, few, runs, most, everything };
constexpr Motion all_motions[] = {Motion::none, Motion::few, Motion::runs, Motion::most, Motion::everything};

void move(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, Motion motion, std::uint64_t salt) {
    std::mt19937_64 random(kit::seed() * 31 + salt);
    bool in_run = false;
    for (int frame = 0; frame < from.shape().frames; ++frame)
        for (int y = 0; y < from.shape().height; ++y)
            for (std::int64_t x = 0; x < from.shape().row_bytes(); ++x) {
                const auto old = from.row(frame, y)[x];
                const auto any = static_cast<std::uint8_t>(random());
                if (random() % 97 == 0) in_run = !in_run;
                bool changes = motion == Motion::everything || (motion == Motion::few && random() % 50 == 0) ||
                               (motion == Motion::runs && in_run) || (motion == Motion::most && random() % 50 != 0);
                // All other bytes vary slightly, like sensor noise.
                to.row(frame, y)[x] =
                    changes ? any
                            : static_cast<std::uint8_t>(std::clamp(old + static_cast<int>(random() % 9) - 4, 0, 255));
            }
}

struct Encoded {
    std::vector<std::vector<std::uint32_t>> positions;
    std::vector<std::vector<std::uint8_t>> differences;
    std::vector<Summary> summaries;
};

Encoded collect(const ChangesView<MemorySpace::host>& changes) {
    Encoded all;
    for (int stream = 0; stream < changes.streams; ++stream) {
        const auto& summary = changes.summaries[stream];
        const auto begin = stream * changes.capacity;
        EXPECT_LE(summary.count, changes.capacity);
        const auto count = std::min<std::int64_t>(summary.count, changes.capacity);
        all.positions.emplace_back(changes.positions + begin, changes.positions + begin + count);
        all.differences.emplace_back(changes.differences + begin, changes.differences + begin + count);
        all.summaries.push_back(summary);
    }
    return all;
}

void expect_equal(const Encoded& got, const Encoded& want) {
    ASSERT_EQ(got.summaries.size(), want.summaries.size());
    for (std::size_t stream = 0; stream < want.summaries.size(); ++stream) {
        SCOPED_TRACE(fmt::format("stream {}", stream));
        ASSERT_EQ(got.summaries[stream].count, want.summaries[stream].count);
        ASSERT_EQ(got.summaries[stream].max_error, want.summaries[stream].max_error);
        ASSERT_EQ(got.summaries[stream].squared_error, want.summaries[stream].squared_error);
        ASSERT_EQ(got.positions[stream], want.positions[stream]);
        ASSERT_EQ(got.differences[stream], want.differences[stream]);
    }
}

// Buffer for changes on the host and, with CUDA, a mirrored buffer on the device.
struct Changes {
    HostChanges host;
    std::optional<DeviceChanges> device;

    Changes(const Shape& shape, Backend backend) : host(shape) {
        if (backend == Backend::cuda) device.emplace(shape);
        std::memset(host.view().positions, 0xEE, static_cast<std::size_t>(shape.bytes()) * 4);
    }
    void download(const cuda::Stream& stream) {
        const auto from = device->view();
        const auto to = host.view();
        const auto all = static_cast<std::size_t>(from.capacity * from.streams);
        cuda::download(from.summaries, to.summaries, static_cast<std::size_t>(from.streams) * sizeof(Summary), stream);
        stream.synchronize();
        for (int s = 0; s < from.streams; ++s) {
            const auto begin = s * from.capacity;
            const auto count = std::min<std::size_t>(to.summaries[s].count, all);
            cuda::download(from.positions + begin, to.positions + begin, count * 4, stream);
            cuda::download(from.differences + begin, to.differences + begin, count, stream);
        }
        stream.synchronize();
    }
};

Encoded encode(Encoder& encoder, Executor& executor, GuardedImage& current, GuardedImage& reference,
               std::optional<int> threshold = {}) {
    Changes changes(encoder.shape(), executor.backend());
    if (executor.backend() == Backend::cpu) {
        encoder.encode(current.view(), reference.view(), changes.host.view(), threshold);
    } else if constexpr (cuda::compiled) {
        DeviceMirror device_current(current), device_reference(reference);
        device_current.upload(executor.stream());
        device_reference.upload(executor.stream());
        encoder.encode(device_current.view(), device_reference.view(), changes.device->view(), threshold);
        device_current.download(executor.stream());
        device_reference.download(executor.stream());
        changes.download(executor.stream());
    }
    return collect(changes.host.view());
}

void decode(Executor& executor, const Shape& shape, const Encoded& encoded, GuardedImage& reference) {
    Changes changes(shape, executor.backend());
    const auto to = changes.host.view();
    for (int s = 0; s < shape.frames; ++s) {
        const auto at = static_cast<std::size_t>(s);
        std::copy(encoded.positions[at].begin(), encoded.positions[at].end(), to.positions + s * to.capacity);
        std::copy(encoded.differences[at].begin(), encoded.differences[at].end(), to.differences + s * to.capacity);
        to.summaries[s] = encoded.summaries[at];
    }
    Decoder decoder(shape, executor);
    if (executor.backend() == Backend::cpu) {
        decoder.decode(to, reference.view());
    } else if constexpr (cuda::compiled) {
        const auto device = changes.device->view();
        const auto all = static_cast<std::size_t>(shape.bytes());
        cuda::upload(to.positions, device.positions, all * 4, executor.stream());
        cuda::upload(to.differences, device.differences, all, executor.stream());
        cuda::upload(to.summaries, device.summaries, static_cast<std::size_t>(shape.frames) * sizeof(Summary),
                     executor.stream());
        DeviceMirror device_reference(reference);
        device_reference.upload(executor.stream());
        decoder.decode(device, device_reference.view());
        device_reference.download(executor.stream());
    }
}

void check_case(Backend backend, const Shape& shape, kit::Layout layout, Motion motion, int threshold) {
    SCOPED_TRACE(fmt::format("delta on {}, {}, {}, motion {}, threshold {}, seed {}", to_string(backend),
                             to_string(shape), kit::to_string(layout), static_cast<int>(motion), threshold,
                             kit::seed()));
    auto& executor = kit::executor(backend);
    GuardedImage current(shape, layout), reference(shape, layout), viewer(shape, {}), current_before(shape, {});
    kit::fill(reference.view(), kit::Fill::noise);
    copy(reference.view(), viewer.view());
    move(reference.view(), current.view(), motion, 1);
    copy(current.view(), current_before.view());

    HostImage want_reference(shape);
    copy(reference.view(), want_reference.view());
    HostChanges want_changes(shape);
    encode_reference(threshold, current.view(), want_reference.view(), want_changes.view());

    Encoder encoder({.threshold = threshold}, shape, executor);
    GuardedImage again(shape, layout);
    copy(reference.view(), again.view());
    const auto got = encode(encoder, executor, current, reference);
    expect_equal(got, collect(want_changes.view()));
    ASSERT_EQ(kit::first_difference(reference.view(), want_reference.view()), std::nullopt);
    ASSERT_EQ(kit::first_difference(current.view(), current_before.view()), std::nullopt) << "the frame changed";
    ASSERT_FALSE(reference.broken_guard()) << "wrote outside the reference";
    // A second run of the same encoder must not depend on the first one.
    expect_equal(encode(encoder, executor, current, again), got);

    decode(executor, shape, got, viewer);
    ASSERT_EQ(kit::first_difference(viewer.view(), want_reference.view()), std::nullopt)
        << "the viewer's picture is not R";
    ASSERT_EQ(kit::first_difference(viewer.view(), current.view(), threshold), std::nullopt) << "outside the bound";
    ASSERT_FALSE(viewer.broken_guard());
}

using DeltaTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(DeltaTest);

TEST_P(DeltaTest, EqualsTheReferenceForEveryShapeAndMotion) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int channels : {1, 3})
            for (const int streams : {1, 3})
                for (const auto& shape : kit::small_shapes(channels, streams))
                    for (const auto& layout : kit::layouts())
                        for (const auto motion : all_motions) {
                            if (HasFailure()) return;
                            check_case(GetParam(), shape, layout, motion, 20);
                        }
    });
}

TEST_P(DeltaTest, EqualsTheReferenceForEveryThreshold) {
    for (int threshold = 0; threshold <= 254; ++threshold) {
        if (HasFailure()) return;
        check_case(GetParam(), {2, 33, 65, 3}, {}, Motion::most, threshold);
    }
}

TEST_P(DeltaTest, EqualsTheReferenceForManyTilesAndStreams) {
    for (const auto motion : all_motions) {
        if (HasFailure()) return;
        check_case(GetParam(), kit::hd_shape(3, 5), {}, motion, 20);
        check_case(GetParam(), kit::brief() ? Shape{1, 720, 1280, 3} : Shape{1, 2160, 3840, 3}, {}, motion, 20);
    }
}

TEST_P(DeltaTest, StaysWithinTheThresholdOverManyFrames) {
    const Shape shape{1, 64, 97, 3};
    auto& executor = kit::executor(GetParam());
    Encoder encoder({.threshold = 20}, shape, executor);
    GuardedImage current(shape, {}), next(shape, {}), reference(shape, {}), viewer(shape, {});
    kit::fill(current.view(), kit::Fill::ramp);
    copy(current.view(), reference.view());
    copy(current.view(), viewer.view());
    for (int frame = 0; frame < 60; ++frame) {
        move(current.view(), next.view(), Motion::few, static_cast<std::uint64_t>(frame));
        copy(next.view(), current.view());
        const auto encoded = encode(encoder, executor, current, reference);
        decode(executor, shape, encoded, viewer);
        ASSERT_EQ(kit::first_difference(viewer.view(), reference.view()), std::nullopt) << "frame " << frame;
        ASSERT_EQ(kit::first_difference(viewer.view(), current.view(), 20), std::nullopt) << "frame " << frame;
    }
}

// A lower threshold sends the changes that a higher one withheld. A higher threshold leaves R unchanged.
TEST_P(DeltaTest, AppliesThePerFrameThreshold) {
    const Shape shape{2, 33, 65, 3};
    auto& executor = kit::executor(GetParam());
    Encoder encoder({.threshold = 20}, shape, executor);
    GuardedImage current(shape, {}), reference(shape, {});
    HostImage want_reference(shape);
    kit::fill(reference.view(), kit::Fill::noise);
    copy(reference.view(), want_reference.view());
    move(reference.view(), current.view(), Motion::most, 1);
    HostChanges want(shape);
    std::vector<std::uint32_t> counts;
    for (const int threshold : {254, 130, 131, 20, 60, 19, 0, 0}) {
        SCOPED_TRACE(threshold);
        encode_reference(threshold, current.view(), want_reference.view(), want.view());
        const auto got = encode(encoder, executor, current, reference, threshold);
        expect_equal(got, collect(want.view()));
        ASSERT_EQ(kit::first_difference(reference.view(), want_reference.view()), std::nullopt);
        ASSERT_EQ(kit::first_difference(reference.view(), current.view(), threshold), std::nullopt);
        counts.push_back(got.summaries[0].count);
    }
    EXPECT_EQ(counts[2], 0u);
    EXPECT_GT(counts[3], 0u);
    EXPECT_EQ(counts[4], 0u);
    EXPECT_GT(counts[6], 0u);
    EXPECT_EQ(counts[7], 0u);
    EXPECT_THROW(encode(encoder, executor, current, reference, 255), Error);
    EXPECT_THROW(encode(encoder, executor, current, reference, -1), Error);
}

TEST(Delta, ParametersAreParsedFromText) {
    const auto text = [](const EncoderParameters& parameters) { return encoder_fields().text(parameters); };
    EXPECT_EQ(text(parse_encoder("")), text({}));
    EXPECT_EQ(text(parse_encoder("threshold=9:mode=bounded:effort=2")), text({Mode::bounded, 9, 2}));
    for (const auto* wrong : {"threshold=255", "mode=best", "treshold=9", "threshold=1:threshold=1", "9"})
        EXPECT_THROW(parse_encoder(wrong), Error) << wrong;
}

TEST(Delta, RejectsInvalidParameters) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_THROW(Encoder({.threshold = -1}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Encoder({.threshold = 255}, {1, 4, 4, 3}, executor), Error);
    EXPECT_THROW(Encoder({}, {1, 4, 0, 3}, executor), Error);
    EXPECT_EQ((EncoderParameters{.mode = Mode::lossless, .threshold = 20}.effective_threshold()), 0);

    const Shape shape{1, 4, 4, 1};
    HostImage image(shape), reference(shape);
    HostChanges small({1, 2, 2, 1});
    EXPECT_THROW(Encoder({}, shape, executor).encode(image.view(), reference.view(), small.view()), Error);
}

TEST(Delta, DecoderRejectsInvalidPositions) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 4, 4, 1};
    const Decoder decoder(shape, executor);
    HostImage reference(shape);
    kit::fill(reference.view(), kit::Fill::zeros);
    HostChanges changes(shape);
    const auto set = [&](std::initializer_list<std::uint32_t> positions) {
        std::copy(positions.begin(), positions.end(), changes.view().positions);
        std::fill_n(changes.view().differences, positions.size(), std::uint8_t{1});
        changes.view().summaries[0] = {static_cast<std::uint32_t>(positions.size()), 0, 0};
    };
    for (const auto& hostile : {std::initializer_list<std::uint32_t>{3, 3}, {5, 2}, {0, 16}, {0, 0xFFFFFFFFu}}) {
        set(hostile);
        EXPECT_THROW(decoder.decode(changes.view(), reference.view()), Error);
    }
    changes.view().summaries[0].count = 17;
    EXPECT_THROW(decoder.decode(changes.view(), reference.view()), Error);
    HostImage zeros(shape);
    kit::fill(zeros.view(), kit::Fill::zeros);
    EXPECT_EQ(kit::first_difference(reference.view(), zeros.view()), std::nullopt)
        << "a refused message changed the picture";
    set({0, 15});
    decoder.decode(changes.view(), reference.view());
    EXPECT_EQ(reference.view().data()[15], 1);
}

}  // namespace
}  // namespace framewire::codec
