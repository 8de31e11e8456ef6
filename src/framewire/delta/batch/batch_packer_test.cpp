#include "framewire/delta/batch/batch_packer.hpp"

#include "framewire/delta/batch/test_scenes.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace framewire::delta {
namespace batch_packer_test {

using batch_testing::all_scenes;
using batch_testing::fill_scene;
using batch_testing::Scene;
using kit::DeviceTwin;
using kit::GuardedImage;

// What a batch packer made, on the host.
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

// What the CPU packs of changes of a batch of streams.
template <class Changes>
void expect_steps(const Packed& got, Packer& on_cpu, const Changes& want, int threshold) {
    for (int stream = 0; stream < want.streams; ++stream) {
        SCOPED_TRACE(fmt::format("stream {}", stream));
        auto of = want;
        of.positions += stream * of.capacity;
        of.differences += stream * of.capacity;
        of.summaries += stream;
        of.streams = 1;
        std::vector<std::uint8_t> bytes;
        on_cpu.pack_changes(of, threshold, bytes);
        ASSERT_NO_FATAL_FAILURE(expect_frame(got.frame(stream), bytes));
        const auto& summary = got.summaries[static_cast<std::size_t>(stream)];
        ASSERT_NO_FATAL_FAILURE(expect_equal(summary, of.summaries[0]));
    }
}

using BatchPackerTest = kit::BackendTest;
INSTANTIATE_TEST_SUITE_P(Backends, BatchPackerTest, testing::Values(Backend::cuda), kit::backend_name);

void check_steps(Executor& executor, const Shape& shape, kit::Layout layout, Scene scene, int threshold) {
    SCOPED_TRACE(fmt::format("{}, {}, scene {}, threshold {}, seed {}", to_string(shape), kit::to_string(layout),
                             static_cast<int>(scene), threshold, kit::seed()));
    GuardedImage current(shape, layout), reference(shape, layout);
    fill_scene(reference.view(), scene, false, 1);
    fill_scene(current.view(), scene, true, 1);
    HostImage want_reference(shape);
    copy(reference.view(), want_reference.view());
    HostChanges want(shape);
    encode_reference(threshold, current.view(), want_reference.view(), want.view());

    DeviceTwin device_current(current), device_reference(reference);
    device_current.upload(executor.stream());
    device_reference.upload(executor.stream());
    BatchPacker packer({}, shape, executor);
    const Packed got(packer.pack_steps(device_current.view(), device_reference.view(), threshold), executor.stream());
    device_reference.download(executor.stream());
    ASSERT_EQ(kit::first_difference(reference.view(), want_reference.view()), std::nullopt);
    ASSERT_FALSE(reference.broken_guard());
    Packer on_cpu(shape.with_frames(1));
    ASSERT_NO_FATAL_FAILURE(expect_steps(got, on_cpu, want.view(), threshold));
    // Again, with R as it is now: nothing is left of the first time.
    const Packed again(packer.pack_steps(device_current.view(), device_reference.view(), threshold), executor.stream());
    for (int stream = 0; stream < shape.frames; ++stream) {
        HostChanges none(shape.with_frames(1));
        none.view().summaries[0] = {};
        std::vector<std::uint8_t> bytes;
        on_cpu.pack_changes(none.view(), threshold, bytes);
        ASSERT_NO_FATAL_FAILURE(expect_frame(again.frame(stream), bytes));
    }
}

// Steps one after the other, none of which is waited for before as many as may be are under way.
void check_under_way(Executor& executor, const Shape& shape, Scene scene, int threshold) {
    SCOPED_TRACE(fmt::format("{}, scene {}, seed {}", to_string(shape), static_cast<int>(scene), kit::seed()));
    const auto& stream = executor.stream();
    constexpr int moments = 2 * packed_batches;
    std::vector<GuardedImage> images;
    std::vector<DeviceTwin> twins;
    images.reserve(moments + 1);
    for (int moment = 0; moment <= moments; ++moment) {
        images.emplace_back(shape, kit::Layout{});
        fill_scene(images.back().view(), scene, moment % 2 == 1, static_cast<std::uint64_t>(moment) + 1);
    }
    for (auto& image : images) twins.emplace_back(image).upload(stream);
    HostImage want_reference(shape);
    copy(std::as_const(images[0]).view(), want_reference.view());

    BatchPacker packer({}, shape, executor);
    Packer on_cpu(shape.with_frames(1));
    for (int first = 1; first <= moments; first += packed_batches) {
        std::vector<PackedBatch> batches;
        for (int i = 0; i < packed_batches; ++i)
            batches.push_back(packer.pack_steps(std::as_const(twins[static_cast<std::size_t>(first + i)]).view(),
                                                twins[0].view(), threshold));
        for (int i = 0; i < packed_batches; ++i) {
            HostChanges want(shape);
            encode_reference(threshold, std::as_const(images[static_cast<std::size_t>(first + i)]).view(),
                             want_reference.view(), want.view());
            ASSERT_NO_FATAL_FAILURE(
                expect_steps(Packed(batches[static_cast<std::size_t>(i)], stream), on_cpu, want.view(), threshold));
        }
    }
}

void check_pictures(Executor& executor, const Shape& shape, kit::Layout layout, Scene scene) {
    SCOPED_TRACE(fmt::format("pictures of {}, {}, scene {}, seed {}", to_string(shape), kit::to_string(layout),
                             static_cast<int>(scene), kit::seed()));
    GuardedImage pictures(shape, layout);
    fill_scene(pictures.view(), scene, true, 2);
    DeviceTwin device(pictures);
    device.upload(executor.stream());
    BatchPacker packer({}, shape, executor);
    const Packed got(packer.pack_pictures(device.view(), 20), executor.stream());
    Packer on_cpu(shape.with_frames(1));
    for (int stream = 0; stream < shape.frames; ++stream) {
        SCOPED_TRACE(fmt::format("stream {}", stream));
        std::vector<std::uint8_t> bytes;
        on_cpu.pack_picture(std::as_const(pictures).view().frames(stream, 1), 20, bytes);
        ASSERT_NO_FATAL_FAILURE(expect_frame(got.frame(stream), bytes));
    }
}

// A first picture and steps of the mode bounded.
void check_bounded(Executor& executor, const Shape& shape, kit::Layout layout, Scene scene, int threshold, int effort) {
    SCOPED_TRACE(fmt::format("{}, {}, scene {}, threshold {}, effort {}, seed {}", to_string(shape),
                             kit::to_string(layout), static_cast<int>(scene), threshold, effort, kit::seed()));
    const EncoderParameters parameters{.mode = Mode::bounded, .threshold = threshold, .effort = effort};
    BatchPacker packer(parameters, shape, executor);
    GuardedImage current(shape, layout), reference(shape, layout);
    reference.reset(0x55);
    DeviceTwin device_current(current), device_reference(reference);
    device_reference.upload(executor.stream());
    HostImage want_reference(shape);
    std::vector<BoundedPacker> on_cpu;
    for (int stream = 0; stream < shape.frames; ++stream) on_cpu.emplace_back(shape.with_frames(1), effort);
    for (int frame = 0; frame < 4; ++frame) {
        SCOPED_TRACE(fmt::format("frame {}", frame));
        fill_scene(current.view(), scene, frame % 2 == 1, static_cast<std::uint64_t>(frame) + 3);
        device_current.upload(executor.stream());
        const Packed got(frame == 0 ? packer.pack_first(device_current.view(), device_reference.view(), threshold)
                                    : packer.pack_steps(device_current.view(), device_reference.view(), threshold),
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

template <class Check>
void on_all_shapes(Check&& check) {
    for (const int channels : {1, 3})
        for (const int streams : {1, 3})
            for (const auto& shape : kit::small_shapes(channels, streams))
                for (const auto& layout : kit::layouts())
                    for (const auto scene : all_scenes) {
                        if (testing::Test::HasFailure()) return;
                        check(shape, layout, scene);
                    }
}

TEST_P(BatchPackerTest, StepsAreThoseOfTheCpu) {
    auto& executor = kit::executor(GetParam());
    on_all_shapes(
        [&](const Shape& shape, kit::Layout layout, Scene scene) { check_steps(executor, shape, layout, scene, 20); });
}

TEST_P(BatchPackerTest, StepsOfEveryThreshold) {
    auto& executor = kit::executor(GetParam());
    for (int threshold = 0; threshold <= 254; threshold += kit::brief() ? 50 : 1)
        for (const auto scene : {Scene::blobs, Scene::noise}) {
            if (HasFailure()) return;
            check_steps(executor, {2, 70, 131, threshold % 2 ? 3 : 1}, {}, scene, threshold);
        }
}

TEST_P(BatchPackerTest, StepsOfLargeFrames) {
    auto& executor = kit::executor(GetParam());
    for (const auto scene : all_scenes) {
        if (HasFailure()) return;
        check_steps(executor, kit::hd_shape(3, 4), {}, scene, 20);
    }
}

TEST_P(BatchPackerTest, SeveralBatchesAreUnderWay) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {1, 3})
        for (const auto scene : all_scenes) {
            if (HasFailure()) return;
            check_under_way(executor, {3, 131, 150, channels}, scene, 20);
        }
    check_under_way(executor, kit::hd_shape(3, 4), Scene::blobs, 20);
}

TEST_P(BatchPackerTest, PicturesAreThoseOfTheCpu) {
    auto& executor = kit::executor(GetParam());
    on_all_shapes(
        [&](const Shape& shape, kit::Layout layout, Scene scene) { check_pictures(executor, shape, layout, scene); });
    for (const auto scene : all_scenes) {
        if (HasFailure()) return;
        check_pictures(executor, kit::hd_shape(3, 3), {}, scene);
    }
}

TEST_P(BatchPackerTest, BoundedIsThatOfTheCpu) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {1, 3})
        for (const int streams : {1, 3})
            for (const auto& shape : kit::small_shapes(channels, streams))
                for (const auto scene : all_scenes) {
                    if (HasFailure()) return;
                    check_bounded(executor, shape, {}, scene, 20, 1);
                }
    for (const auto& layout : kit::layouts())
        for (const int threshold : {0, 1, 3, 8, 13, 14, 60, 254})
            for (const int effort : {0, 1, 2})
                for (const auto scene : {Scene::blobs, Scene::shifted}) {
                    if (HasFailure()) return;
                    check_bounded(executor, {2, 75, 131, 3}, layout, scene, threshold, effort);
                }
}

TEST_P(BatchPackerTest, BoundedOfLargeFrames) {
    auto& executor = kit::executor(GetParam());
    for (const auto scene : all_scenes) {
        if (HasFailure()) return;
        check_bounded(executor, kit::hd_shape(3, 2), {}, scene, 20, 1);
    }
}

}  // namespace batch_packer_test
}  // namespace framewire::delta
