#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace framewire::codec {
namespace {

using kit::DeviceMirror;
using kit::GuardedImage;

// Kind of change from one frame to the next.
enum class Scene { still, blobs, scattered, shifted, noise, grain };
constexpr Scene all_scenes[] = {Scene::still,   Scene::blobs, Scene::scattered,
                                Scene::shifted, Scene::noise, Scene::grain};

// Fills every frame of `image` with a textured gradient and sensor noise. If `later` is set, applies the change
// `scene`. The same arguments and test seed give the same bytes.
void fill_scene(HostView<std::uint8_t> image, Scene scene, bool later, std::uint64_t salt) {
    std::mt19937_64 random(kit::seed() * 7 + salt * 2 + later);
    const auto& shape = image.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int i = 0; i < shape.width * shape.channels; ++i) {
                const int x = i / shape.channels, moved = later && scene == Scene::shifted ? x + 3 : x;
                int value = moved + y / 2 + 30 * ((moved / 9 + y / 7 + frame) % 2) + 8 * (i % shape.channels) +
                            static_cast<int>(random() % 5);
                if (later && scene == Scene::blobs && (x / 23 + y / 19 + frame) % 4 == 0)
                    value += 70 - 2 * (x % 23) + static_cast<int>(random() % 9);
                if (later && scene == Scene::scattered && random() % 40 == 0) value += 90;
                if (scene == Scene::noise) value = static_cast<int>(random());
                // Strong grain over a slow zoom.
                if (scene == Scene::grain)
                    value += static_cast<int>(random() % 25 + random() % 25) + (later ? (x + y) / 16 : 0);
                image.row(frame, y)[i] = static_cast<std::uint8_t>(value);
            }
}

// Result of a batch packer, copied to the host.
struct Packed {
    std::vector<std::uint8_t> bytes;
    std::vector<unsigned long long> begins;
    std::vector<Summary> summaries;

    Packed(const PackedBatch& batch, const cuda::Stream& stream)
        : begins(static_cast<std::size_t>(batch.streams) + 1), summaries(static_cast<std::size_t>(batch.streams)) {
        batch.ready->make_wait(stream);
        cuda::download(batch.begins, begins.data(), begins.size() * sizeof(begins[0]), stream);
        cuda::download(batch.summaries, summaries.data(), summaries.size() * sizeof(Summary), stream);
        stream.synchronize();
        bytes.resize(begins.back());
        cuda::download(batch.bytes, bytes.data(), bytes.size(), stream);
        stream.synchronize();
    }
    std::span<const std::uint8_t> frame(int stream) const {
        const auto at = static_cast<std::size_t>(stream);
        return std::span(bytes).subspan(begins[at], begins[at + 1] - begins[at]);
    }
};

void expect_frame(std::span<const std::uint8_t> got, const std::vector<std::uint8_t>& want) {
    if (std::ranges::equal(got, want)) return;
    const auto at = std::ranges::mismatch(got, want).in1 - got.begin();
    FAIL() << got.size() << " bytes where " << want.size() << " should be; the first to differ is " << at;
}

void expect_equal(const Summary& got, const Summary& want) {
    ASSERT_EQ(got.count, want.count);
    ASSERT_EQ(got.max_error, want.max_error);
    ASSERT_EQ(got.squared_error, want.squared_error);
}

using BoundedBatchPackerTest = kit::BackendTest;
INSTANTIATE_TEST_SUITE_P(Backends, BoundedBatchPackerTest, testing::Values(Backend::cuda), kit::backend_name);

// Packs a keyframe and delta frames on both backends and compares the bytes, the reference pictures and the summaries.
void check(Executor& executor, const Shape& shape, kit::Layout layout, Scene scene, int threshold, int effort) {
    SCOPED_TRACE(fmt::format("{}, {}, scene {}, threshold {}, effort {}, seed {}", to_string(shape),
                             kit::to_string(layout), static_cast<int>(scene), threshold, effort, kit::seed()));
    BoundedBatchPacker packer(shape, effort, executor);
    GuardedImage current(shape, layout), reference(shape, layout);
    reference.reset(0x55);
    DeviceMirror device_current(current), device_reference(reference);
    device_reference.upload(executor.stream());
    HostImage want_reference(shape);
    std::vector<BoundedPacker> on_cpu;
    for (int stream = 0; stream < shape.frames; ++stream) on_cpu.emplace_back(shape.with_frames(1), effort);
    for (int frame = 0; frame < 4; ++frame) {
        SCOPED_TRACE(fmt::format("frame {}", frame));
        fill_scene(current.view(), scene, frame % 2 == 1, static_cast<std::uint64_t>(frame) + 3);
        device_current.upload(executor.stream());
        const Packed got(frame == 0 ? packer.pack_first(device_current.view(), device_reference.view(), threshold)
                                    : packer.pack_step(device_current.view(), device_reference.view(), threshold),
                         executor.stream());
        device_reference.download(executor.stream());
        for (int stream = 0; stream < shape.frames; ++stream) {
            SCOPED_TRACE(fmt::format("stream {}", stream));
            const auto camera = std::as_const(current).view().frames(stream, 1);
            const auto held = want_reference.view().frames(stream, 1);
            auto& packs = on_cpu[static_cast<std::size_t>(stream)];
            std::vector<std::uint8_t> bytes;
            const auto summary = frame == 0 ? packs.pack_first(camera, held, threshold, bytes)
                                            : packs.pack_step(camera, held, threshold, bytes);
            ASSERT_NO_FATAL_FAILURE(expect_frame(got.frame(stream), bytes));
            ASSERT_NO_FATAL_FAILURE(expect_equal(got.summaries[static_cast<std::size_t>(stream)], summary));
        }
        ASSERT_EQ(kit::first_difference(reference.view(), want_reference.view()), std::nullopt);
        ASSERT_FALSE(reference.broken_guard());
    }
}

TEST_P(BoundedBatchPackerTest, PacksTheSameBytesAsTheCpu) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {1, 3})
        for (const int streams : {1, 3})
            for (const auto& shape : kit::small_shapes(channels, streams))
                for (const auto scene : all_scenes)
                    for (const int effort : {0, 1}) {
                        if (HasFailure()) return;
                        check(executor, shape, {}, scene, 20, effort);
                    }
    for (const auto& layout : kit::layouts())
        for (const int threshold : {0, 1, 3, 8, 13, 14, 60, 254})
            for (const int effort : {0, 1, 2})
                for (const int channels : {1, 3})
                    for (const auto scene : {Scene::blobs, Scene::shifted, Scene::grain}) {
                        if (HasFailure()) return;
                        check(executor, {2, 75, 131, channels}, layout, scene, threshold, effort);
                    }
}

TEST_P(BoundedBatchPackerTest, PacksLargeFrames) {
    auto& executor = kit::executor(GetParam());
    for (const auto scene : all_scenes)
        for (const int effort : {0, 1}) {
            if (HasFailure()) return;
            check(executor, kit::hd_shape(3, 2), {}, scene, 20, effort);
        }
}

}  // namespace
}  // namespace framewire::codec
