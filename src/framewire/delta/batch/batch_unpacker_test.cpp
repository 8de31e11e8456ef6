#include "framewire/delta/batch/batch_unpacker.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/batch/test_scenes.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace framewire::delta {
namespace batch_unpacker_test {

using batch_testing::all_scenes;
using batch_testing::fill_scene;
using batch_testing::Scene;
using kit::DeviceTwin;
using kit::GuardedImage;
using Bytes = std::vector<std::uint8_t>;

// A picture and steps of one stream, packed in a mode on the CPU.
std::vector<Bytes> film(const Shape& shape, Scene scene, Mode mode, int threshold, std::uint64_t salt) {
    std::vector<Bytes> frames(3);
    HostImage camera(shape), reference(shape);
    HostChanges changes(shape);
    Packer packer(shape);
    BoundedPacker bounded(shape, 1);
    for (std::size_t frame = 0; frame < frames.size(); ++frame) {
        fill_scene(camera.view(), scene, frame % 2 == 1, salt + frame);
        const HostView<const std::uint8_t> seen = camera.view();
        auto& bytes = frames[frame];
        if (mode == Mode::bounded && frame == 0) {
            bounded.pack_first(seen, reference.view(), threshold, bytes);
        } else if (mode == Mode::bounded) {
            bounded.pack_step(seen, reference.view(), threshold, bytes);
        } else if (frame == 0) {
            copy(seen, reference.view());
            packer.pack_picture(seen, threshold, bytes);
        } else {
            encode_reference(threshold, seen, reference.view(), changes.view());
            packer.pack_changes(changes.view(), threshold, bytes);
        }
    }
    return frames;
}

// Some blocks of a packed picture by themselves, as servers send them to viewers that lack these.
Bytes blocks_of(const Bytes& picture, const Shape& shape, int threshold, std::mt19937_64& random) {
    const int count = BlockGrid(shape).count();
    std::vector<CodedBlock> coded;
    EXPECT_TRUE(read_directory(std::span(picture).subspan(PackedHead::bytes), count, coded));
    std::erase_if(coded, [&](const CodedBlock&) { return random() % 3 == 0; });
    Bytes packed;
    append_packed({PackedHead::Kind::blocks, threshold}, coded, count, packed);
    return packed;
}

// What the CPU makes of it; false where it refuses. Nothing is left as it is.
bool apply_on_cpu(Unpacker& unpacker, const Bytes& bytes, HostView<std::uint8_t> reference) {
    if (bytes.empty()) return true;
    HostImage before(reference.shape());
    copy(std::as_const(reference), before.view());
    const bool is_step = bytes[0] % 2 == 0;
    try {
        is_step ? unpacker.apply_changes(bytes, reference) : unpacker.apply_picture(bytes, reference);
        return true;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::source_lost);
        copy(std::as_const(before).view(), reference);
        return false;
    }
}

// A batch of streams on the GPU beside each on the CPU.
class Beside {
public:
    Beside(const Shape& shape, kit::Layout layout, Executor& executor)
        : executor_(&executor),
          image_(shape, layout),
          device_(image_),
          want_(shape),
          on_cpu_(shape.with_frames(1)),
          unpacker_(shape, executor) {
        image_.reset(0x31);
        kit::fill(want_.view(), kit::Fill::zeros);
        for (int stream = 0; stream < shape.frames; ++stream)
            for (int y = 0; y < shape.height; ++y)
                std::fill_n(want_.view().row(stream, y), shape.row_bytes(), std::uint8_t{0x31});
        device_.upload(executor.stream());
    }

    void apply(const std::vector<Bytes>& frames) {
        std::vector<std::span<const std::uint8_t>> spans(frames.begin(), frames.end());
        bool whole = true, whole_on_gpu = true;
        for (std::size_t stream = 0; stream < frames.size(); ++stream)
            whole &= apply_on_cpu(on_cpu_, frames[stream], want_.view().frames(static_cast<int>(stream), 1));
        try {
            unpacker_.apply(spans, device_.view());
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::source_lost);
            whole_on_gpu = false;
        }
        device_.download(executor_->stream());
        ASSERT_EQ(whole_on_gpu, whole);
        refused_ |= !whole;
        ASSERT_EQ(kit::first_difference(image_.view(), want_.view()), std::nullopt);
        ASSERT_FALSE(image_.broken_guard());
    }

    bool refused() const { return refused_; }

private:
    Executor* executor_;
    bool refused_ = false;
    GuardedImage image_;
    DeviceTwin device_;
    HostImage want_;
    Unpacker on_cpu_;
    BatchUnpacker unpacker_;
};

using BatchUnpackerTest = kit::BackendTest;
INSTANTIATE_TEST_SUITE_P(Backends, BatchUnpackerTest, testing::Values(Backend::cuda), kit::backend_name);

void check(Executor& executor, const Shape& shape, kit::Layout layout, Scene scene, Mode mode, int threshold) {
    SCOPED_TRACE(fmt::format("{}, {}, scene {}, mode {}, threshold {}, seed {}", to_string(shape),
                             kit::to_string(layout), static_cast<int>(scene), to_string(mode), threshold, kit::seed()));
    std::vector<std::vector<Bytes>> streams;
    for (int stream = 0; stream < shape.frames; ++stream)
        streams.push_back(
            film(shape.with_frames(1), scene, mode, threshold, static_cast<std::uint64_t>(stream) * 10 + 1));
    Beside beside(shape, layout, executor);
    for (std::size_t frame = 0; frame < streams[0].size(); ++frame) {
        std::vector<Bytes> frames;
        for (const auto& stream : streams) frames.push_back(stream[frame]);
        ASSERT_NO_FATAL_FAILURE(beside.apply(frames));
    }
}

TEST_P(BatchUnpackerTest, MakesWhatTheCpuMakes) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {1, 3})
        for (const int streams : {1, 3})
            for (const auto& shape : kit::small_shapes(channels, streams))
                for (const auto scene : all_scenes)
                    for (const auto mode : {Mode::exact, Mode::bounded}) {
                        if (HasFailure()) return;
                        check(executor, shape, {}, scene, mode, 20);
                    }
    for (const auto& layout : kit::layouts())
        for (const int threshold : {0, 1, 8, 100, 254})
            for (const auto scene : {Scene::blobs, Scene::shifted, Scene::noise})
                for (const auto mode : {Mode::exact, Mode::bounded}) {
                    if (HasFailure()) return;
                    check(executor, {2, 75, 131, 3}, layout, scene, mode, threshold);
                }
}

TEST_P(BatchUnpackerTest, TakesBlocksByThemselves) {
    auto& executor = kit::executor(GetParam());
    std::mt19937_64 random(kit::seed());
    for (const auto& layout : kit::layouts())
        for (const auto& shape : {Shape{3, 1, 1, 3}, Shape{3, 70, 31, 1}, Shape{3, 200, 139, 3}, Shape{3, 131, 260, 1}})
            for (const auto scene : {Scene::blobs, Scene::noise}) {
                SCOPED_TRACE(fmt::format("{}, {}, scene {}, seed {}", to_string(shape), kit::to_string(layout),
                                         static_cast<int>(scene), kit::seed()));
                const auto one = shape.with_frames(1);
                const auto pictures = film(one, scene, Mode::exact, 20, 3),
                           others = film(one, scene, Mode::exact, 8, 5);
                Beside beside(shape, layout, executor);
                // Beside steps and pictures of other streams, and on top of a picture of their own.
                ASSERT_NO_FATAL_FAILURE(beside.apply(
                    {pictures[0], blocks_of(pictures[0], one, 0, random), blocks_of(others[0], one, 254, random)}));
                ASSERT_NO_FATAL_FAILURE(beside.apply({blocks_of(others[0], one, 20, random), others[0], Bytes()}));
                ASSERT_NO_FATAL_FAILURE(
                    beside.apply({pictures[1], others[1], blocks_of(pictures[0], one, 20, random)}));
                ASSERT_FALSE(beside.refused());
            }
}

TEST_P(BatchUnpackerTest, RefusesWhatTheCpuRefuses) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{3, 70, 90, 3};
    const auto one = shape.with_frames(1);
    std::mt19937_64 random(kit::seed());
    Beside beside(shape, {}, executor);
    std::vector<std::vector<Bytes>> streams;
    for (const auto mode : {Mode::exact, Mode::bounded, Mode::bounded})
        streams.push_back(film(one, Scene::shifted, mode, 9, streams.size()));
    const auto picture = streams[0][0];
    for (auto& stream : streams) stream.push_back(blocks_of(picture, one, 9, random));
    for (int turn = 0; turn < (kit::brief() ? 30 : 600); ++turn) {
        SCOPED_TRACE(fmt::format("turn {}, seed {}", turn, kit::seed()));
        std::vector<Bytes> frames;
        for (const auto& stream : streams) {
            auto bytes = stream[random() % stream.size()];
            const auto damage = random() % 4;
            if (damage == 1) bytes.resize(random() % bytes.size() + 1);
            if (damage >= 2)
                for (auto left = random() % 3 + 1; left > 0; --left)
                    bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
            frames.push_back(std::move(bytes));
        }
        ASSERT_NO_FATAL_FAILURE(beside.apply(frames));
    }
}

}  // namespace batch_unpacker_test
}  // namespace framewire::delta
