#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace framewire::codec {
namespace {

using kit::GuardedImage;
using Bytes = std::vector<std::uint8_t>;

// Changes single bytes of `image`, and a run of bytes in each row with the probability `share`.
void change(HostView<std::uint8_t> image, double share, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto& shape = image.shape();
    const auto bytes = shape.row_bytes();
    for (int y = 0; y < shape.height; ++y) {
        if (std::uniform_real_distribution()(random) < share) {
            const auto begin = static_cast<std::int64_t>(random()) & 0xffff;
            for (auto i = begin % bytes; i < std::min(bytes, begin % bytes + 1 + begin % 150); ++i)
                image.row(0, y)[i] = static_cast<std::uint8_t>(random());
        }
        auto& byte = image.row(0, y)[static_cast<std::int64_t>(random() & 0xffff) % bytes];
        byte = static_cast<std::uint8_t>(byte + random() % 80);
    }
}

// Returns the blocks that contain changes.
BlockSet blocks_of(const ChangesView<MemorySpace::host>& changes, const Shape& shape) {
    const BlockGrid grid(shape);
    BlockSet blocks(static_cast<std::size_t>(grid.count()));
    for (std::uint32_t i = 0; i < changes.summaries[0].count; ++i) {
        const auto y = static_cast<int>(changes.positions[i] / shape.row_bytes());
        const auto x = static_cast<int>(changes.positions[i] % shape.row_bytes()) / shape.channels;
        blocks[static_cast<std::size_t>(grid.block_at(x, y))] = 1;
    }
    return blocks;
}

struct Case {
    Shape shape;
    kit::Layout layout;
    int threshold;
    int threads;
};

// Compares an ExactPacker with Encoder and Packer, frame by frame. A second one only updates its R, except in
// frame 2.
void expect_as_by_list(const Case& of) {
    SCOPED_TRACE(to_string(of.shape) + ", " + kit::to_string(of.layout) + ", threshold " +
                 std::to_string(of.threshold) + ", threads " + std::to_string(of.threads));
    const ThreadPool pool(of.threads);
    ExactPacker exact(of.shape, of.threads > 1 ? &pool : nullptr);
    Packer packer(of.shape);
    GuardedImage camera(of.shape, of.layout), reference(of.shape, of.layout), want_reference(of.shape, of.layout);
    kit::fill(camera.view(), kit::Fill::noise, kit::seed());
    ExactPacker updating(of.shape, of.threads > 1 ? &pool : nullptr);
    GuardedImage updated(of.shape, of.layout);
    HostChanges changes(of.shape);
    std::vector<std::uint16_t> changed_per_cell(static_cast<std::size_t>(CellGrid(of.shape).count()));
    BlockSet changed_blocks;
    Bytes bytes, want;
    for (int frame = 0; frame < 5; ++frame) {
        bytes.assign(3, 7);  // the packer must append
        want = bytes;
        Summary found, want_found;
        if (frame == 0) {
            found = exact.pack_first(camera.view(), reference.view(), of.threshold, bytes);
            copy(std::as_const(camera).view(), want_reference.view());
            copy(std::as_const(camera).view(), updated.view());
            packer.pack_picture(std::as_const(camera).view(), of.threshold, want);
        } else {
            // Frame 3 equals the one before it; the last frame is a different picture.
            if (frame == 4)
                kit::fill(camera.view(), kit::Fill::noise, kit::seed() + 1);
            else if (frame != 3)
                change(camera.view(), 0.4, kit::seed() + static_cast<std::uint64_t>(frame));
            // Frame 2 is packed without the counts.
            std::ranges::fill(changed_per_cell, std::uint16_t{7});
            const auto counts = frame == 2 ? std::span<std::uint16_t>() : std::span(changed_per_cell);
            found = exact.pack_step(camera.view(), reference.view(), of.threshold, bytes, counts);
            encode_reference(of.threshold, std::as_const(camera).view(), want_reference.view(), changes.view());
            want_found = changes.view().summaries[0];
            packer.pack_changes(changes.view(), of.threshold, want);
            if (frame != 2) {
                ASSERT_EQ(changed_per_cell, count_cells_reference(changes.view(), of.shape));
            }
            Summary of_update;
            if (frame == 2) {
                Bytes after_update(3, 7);
                of_update = updating.pack_step(camera.view(), updated.view(), of.threshold, after_update);
                ASSERT_EQ(after_update, want);
            } else {
                of_update = updating.update(camera.view(), updated.view(), of.threshold, changed_blocks);
                ASSERT_EQ(changed_blocks, blocks_of(changes.view(), of.shape)) << "frame " << frame;
            }
            ASSERT_EQ(of_update.count, want_found.count);
            ASSERT_EQ(of_update.max_error, want_found.max_error);
            ASSERT_EQ(of_update.squared_error, want_found.squared_error);
            ASSERT_EQ(kit::first_difference(updated.view(), want_reference.view()), std::nullopt) << "frame " << frame;
            ASSERT_FALSE(updated.broken_guard()) << "frame " << frame;
        }
        ASSERT_EQ(bytes, want) << "frame " << frame;
        ASSERT_EQ(kit::first_difference(reference.view(), want_reference.view()), std::nullopt) << "frame " << frame;
        ASSERT_FALSE(reference.broken_guard()) << "frame " << frame;
        ASSERT_EQ(found.count, want_found.count);
        ASSERT_EQ(found.max_error, want_found.max_error);
        ASSERT_EQ(found.squared_error, want_found.squared_error);
    }
}

TEST(ExactPacker, PacksTheSameBytesAsEncoderAndPacker) {
    kit::for_each_instruction_set(Backend::cpu, [](const std::string& name) {
        SCOPED_TRACE(name);
        for (const int channels : {1, 3})
            for (const auto& shape : kit::small_shapes(channels))
                for (const auto& layout : kit::layouts())
                    for (const int threshold : {0, 20, 63, 64, 254}) expect_as_by_list({shape, layout, threshold, 1});
    });
}

// Tests frames with several strips per row and a partial last block, with and without a pool.
TEST(ExactPacker, OutputDoesNotDependOnTheNumberOfThreads) {
    for (const int channels : {1, 3})
        for (const int threads : {1, 2, 16})
            for (const Shape& shape : {Shape{1, 70, 1300, channels}, Shape{1, 200, 64 * 17, channels},
                                       Shape{1, 400, 130, channels}, Shape{1, 3, 5000, channels}})
                expect_as_by_list({shape, kit::layouts().back(), 20, threads});
}

TEST(ExactPacker, RejectsInvalidArguments) {
    const Shape shape{1, 20, 30, 3};
    EXPECT_THROW(ExactPacker({2, 20, 30, 3}), Error);
    ExactPacker packer(shape);
    HostImage camera(shape), reference(shape), other({1, 20, 31, 3});
    Bytes bytes;
    BlockSet blocks;
    for (const int threshold : {-1, 255}) {
        EXPECT_THROW(packer.pack_first(camera.view(), reference.view(), threshold, bytes), Error);
        EXPECT_THROW(packer.pack_step(camera.view(), reference.view(), threshold, bytes), Error);
        EXPECT_THROW(packer.update(camera.view(), reference.view(), threshold, blocks), Error);
    }
    std::vector<std::uint16_t> counts(3);
    EXPECT_THROW(packer.pack_step(camera.view(), reference.view(), 20, bytes, counts), Error) << "there are 4 cells";
    EXPECT_THROW(packer.update(camera.view(), other.view(), 20, blocks), Error);
    EXPECT_THROW(packer.pack_first(other.view(), reference.view(), 20, bytes), Error);
    EXPECT_THROW(packer.pack_step(camera.view(), other.view(), 20, bytes), Error);
    EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace framewire::codec
