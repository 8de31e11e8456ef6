#include "framewire/codec/packing.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/reference_pixels.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace framewire::codec {
namespace {

using kit::GuardedImage;

// Two pictures and the packed delta frame from the first to the second.
struct Step {
    GuardedImage before, after;
    HostChanges found;
    std::vector<std::uint8_t> changes, picture;

    Step(const Shape& shape, kit::Layout layout, int threshold)
        : before(shape, layout), after(shape, layout), found(shape) {
        kit::fill(before.view(), kit::Fill::ramp);
        GuardedImage camera(shape, layout);
        kit::fill(camera.view(), kit::Fill::ramp);
        std::mt19937_64 random(kit::seed());
        for (int y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.row_bytes(); ++x)
                if (random() % 10 == 0) camera.view().row(0, y)[x] = static_cast<std::uint8_t>(random());
        copy(before.view(), after.view());
        encode_reference(threshold, camera.view(), after.view(), found.view());
        Packer packer(shape);
        packer.pack_changes(found.view(), 0, changes);
        packer.pack_picture(after.view(), 0, picture);
    }
};

TEST(Packing, RoundTripsForEveryShapeAndLayout) {
    for (const int channels : {1, 3})
        for (const auto& shape : kit::small_shapes(channels))
            for (const auto& layout : kit::layouts())
                for (const int threshold : {0, 20, 254}) {
                    SCOPED_TRACE(to_string(shape) + ", " + kit::to_string(layout));
                    Step step(shape, layout, threshold);
                    Unpacker unpacker(shape);
                    GuardedImage viewer(shape, layout);
                    copy(step.before.view(), viewer.view());
                    unpacker.apply_changes(step.changes, viewer.view());
                    ASSERT_EQ(kit::first_difference(viewer.view(), step.after.view()), std::nullopt);
                    ASSERT_FALSE(viewer.broken_guard());
                    viewer.reset(0x77);
                    unpacker.apply_picture(step.picture, viewer.view());
                    ASSERT_EQ(kit::first_difference(viewer.view(), step.after.view()), std::nullopt);
                    ASSERT_FALSE(viewer.broken_guard());
                    ASSERT_LE(step.changes.size(), max_packed_bytes(shape));
                    ASSERT_LE(step.picture.size(), max_packed_bytes(shape));
                }
}

// Draws a textured gradient with noise, which is the same on all machines. If `later` is set, one area is lighter, one
// is inverted, and some bytes are random.
void fill_moment(HostView<std::uint8_t> image, bool later) {
    const auto& shape = image.shape();
    std::uint32_t random = 1;
    for (int y = 0; y < shape.height; ++y)
        for (int i = 0; i < shape.width * shape.channels; ++i) {
            random = random * 1664525 + 1013904223;
            const int x = i / shape.channels, noise = static_cast<int>(random >> 29);
            int value = x + y / 2 + 20 * ((x / 24 + y / 18) % 2) + 8 * (i % shape.channels) + noise * (x / 60);
            if (later && x / 3 + y > 40 && x / 3 + y < 70) value += 60 + y % 7;
            if (later && y > 60 && x > 90) value = 255 - value;
            if (later && random >> 16 & 1 && x > 170) value = static_cast<int>(random >> 24);
            image.row(0, y)[i] = static_cast<std::uint8_t>(value);
        }
}

// Returns the 64-bit FNV-1a hash (Fowler, Noll, Vo).
std::uint64_t hash_of(const std::vector<std::uint8_t>& bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const auto byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
}

// Recordings are read by later versions, so the packed bytes must never change, and must be the same with all
// instruction sets.
TEST(Packing, BytesAreStableAcrossVersionsAndInstructionSets) {
    struct Case {
        int channels, threshold;
        std::uint64_t changes_hash, picture_hash;
    };
    for (const auto& [channels, threshold, changes_hash, picture_hash] :
         {Case{3, 0, 0xe3752c0f297dea08, 0x82972fab7774a5d3}, Case{3, 20, 0x9ff90197ae99acdf, 0xdc02d8b0e5c5ffa6},
          Case{3, 110, 0xd573b166633308b0, 0xc63ebd7b1821f5e0}, Case{1, 0, 0xdcf3eec6ee28c260, 0xeeadf7cb3c974022},
          Case{1, 20, 0x94729cdc5631cc55, 0xd15794c3d90481fc}})
        kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
            const Shape shape{1, 99, 211, channels};
            SCOPED_TRACE(instruction_set + ", threshold " + std::to_string(threshold) + ", " + to_string(shape));
            GuardedImage viewer(shape, {}), camera(shape, {}), after(shape, {});
            HostChanges found(shape);
            fill_moment(viewer.view(), false);
            fill_moment(camera.view(), true);
            copy(viewer.view(), after.view());
            encode_reference(threshold, camera.view(), after.view(), found.view());
            Packer packer(shape);
            Unpacker unpacker(shape);
            std::vector<std::uint8_t> changes, picture;
            packer.pack_changes(found.view(), threshold, changes);
            packer.pack_picture(after.view(), threshold, picture);
            EXPECT_EQ(hash_of(changes), changes_hash);
            EXPECT_EQ(hash_of(picture), picture_hash);
            unpacker.apply_changes(changes, viewer.view());
            ASSERT_EQ(kit::first_difference(viewer.view(), after.view()), std::nullopt);
            viewer.reset(0x77);
            unpacker.apply_picture(picture, viewer.view());
            ASSERT_EQ(kit::first_difference(viewer.view(), after.view()), std::nullopt);
        });
}

TEST(Packing, ReportsAppliedChanges) {
    for (const int channels : {1, 3})
        for (const auto& shape : kit::small_shapes(channels)) {
            SCOPED_TRACE(to_string(shape));
            Step step(shape, {}, 20);
            Unpacker unpacker(shape);
            GuardedImage viewer(shape, {});
            copy(step.before.view(), viewer.view());
            const HostChanges got(shape);
            unpacker.last_changes(got.view());
            EXPECT_EQ(got.view().summaries[0].count, 0u) << "before the first";
            unpacker.apply_changes(step.changes, viewer.view());
            unpacker.last_changes(got.view());
            const auto want = step.found.view(), have = got.view();
            ASSERT_EQ(have.summaries[0].count, want.summaries[0].count);
            for (std::uint32_t i = 0; i < want.summaries[0].count; ++i) {
                ASSERT_EQ(have.positions[i], want.positions[i]);
                ASSERT_EQ(have.differences[i], want.differences[i]);
            }
            EXPECT_THROW(unpacker.apply_changes(std::span(step.changes).first(step.changes.size() - 1), viewer.view()),
                         Error);
            unpacker.last_changes(got.view());
            EXPECT_EQ(got.view().summaries[0].count, 0u) << "after broken bytes";
            unpacker.apply_changes(step.changes, viewer.view());
            unpacker.apply_picture(step.picture, viewer.view());
            unpacker.last_changes(got.view());
            EXPECT_EQ(got.view().summaries[0].count, 0u) << "after a picture";
        }
    EXPECT_THROW(Unpacker({1, 2, 2, 3}).last_changes(HostChanges({1, 2, 2, 1}).view()), Error);
}

TEST(Packing, RejectsBrokenFramesAndKeepsTheReference) {
    const Shape shape{1, 31, 33, 3};
    const Step step(shape, {}, 20);
    Unpacker unpacker(shape);
    GuardedImage viewer(shape, {});
    copy(step.before.view(), viewer.view());
    for (std::size_t size = 0; size < step.changes.size(); ++size)
        EXPECT_THROW(unpacker.apply_changes(std::span(step.changes).first(size), viewer.view()), Error) << size;
    EXPECT_THROW(unpacker.apply_changes(step.picture, viewer.view()), Error);
    EXPECT_EQ(kit::first_difference(viewer.view(), step.before.view()), std::nullopt);
    for (std::size_t size = 0; size < step.picture.size(); ++size)
        EXPECT_THROW(unpacker.apply_picture(std::span(step.picture).first(size), viewer.view()), Error) << size;
    EXPECT_THROW(unpacker.apply_picture(step.changes, viewer.view()), Error);
}

// Blocks are added to the reference as soon as they are decoded. If one is broken, the others are subtracted again.
TEST(Packing, BrokenBlockRollsBackTheWholeFrame) {
    const Shape shape{1, 99, 211, 3};
    const Step step(shape, {}, 20);
    Unpacker unpacker(shape);
    HostImage viewer(shape);
    int refused = 0;
    for (std::size_t bit = 0; bit < step.changes.size() * 8; bit += 61) {
        auto bytes = step.changes;
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1 << (bit % 8));
        copy(step.before.view(), viewer.view());
        try {
            unpacker.apply_changes(bytes, viewer.view());
        } catch (const Error&) {
            ++refused;
            ASSERT_EQ(kit::first_difference(viewer.view(), step.before.view()), std::nullopt) << "bit " << bit;
        }
    }
    EXPECT_GT(refused, 0);
}

// Bytes with flipped bits may still decode. The unpacker must never write outside the picture, crash or hang.
TEST(Packing, FlippedBitsNeverWriteOutsideThePicture) {
    const Shape shape{1, 31, 33, 3};
    const Step step(shape, {}, 20);
    Unpacker unpacker(shape);
    GuardedImage viewer(shape, {});
    int refused = 0;
    for (const auto* message : {&step.changes, &step.picture})
        for (std::size_t bit = 0; bit < message->size() * 8; ++bit) {
            auto bytes = *message;
            bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1 << (bit % 8));
            try {
                message == &step.changes ? unpacker.apply_changes(bytes, viewer.view())
                                         : unpacker.apply_picture(bytes, viewer.view());
            } catch (const Error&) {
                ++refused;
            }
            ASSERT_FALSE(viewer.broken_guard()) << "bit " << bit;
        }
    EXPECT_GT(refused, 0);
}

// Returns the offset of a block's bytes in a packed frame.
std::size_t place_of(int block, const Shape& shape, const std::vector<std::uint8_t>& packed) {
    std::vector<CodedBlock> coded;
    EXPECT_TRUE(read_directory(std::span(packed).subspan(2), BlockGrid(shape).count(), coded));
    for (const auto& one : coded)
        if (one.block == block) return static_cast<std::size_t>(one.bytes.data() - packed.data());
    return 0;
}

// Copies one block of another image to `image`.
void take_block(int block, HostView<const std::uint8_t> other, HostView<std::uint8_t> image) {
    const auto place = BlockGrid(image.shape()).place(block);
    for (int y = place.y; y < place.y + place.height; ++y)
        std::copy_n(other.row(0, y) + place.x * image.shape().channels, place.width * image.shape().channels,
                    image.row(0, y) + place.x * image.shape().channels);
}

TEST(Packing, BlockSizesAreThoseOfTheDirectory) {
    const Step step({1, 100, 200, 3}, kit::layouts().front(), 20);
    const int blocks = BlockGrid({1, 100, 200, 3}).count();
    for (const auto& packed : {step.changes, step.picture}) {
        const auto bytes = std::span<const std::uint8_t>(packed).subspan(PackedHead::bytes);
        std::vector<CodedBlock> coded;
        ASSERT_TRUE(read_directory(bytes, blocks, coded));
        std::vector<BlockSize> expected, sizes;
        std::size_t content = 0;
        for (const auto& one : coded) {
            expected.push_back({one.block, static_cast<std::uint32_t>(one.bytes.size())});
            content += one.bytes.size();
        }
        const auto directory = bytes.first(bytes.size() - content);
        EXPECT_TRUE(read_block_sizes(directory, content, blocks, sizes));
        EXPECT_EQ(sizes, expected);
        EXPECT_FALSE(read_block_sizes(directory, content + 1, blocks, sizes));
        EXPECT_FALSE(read_block_sizes(directory.first(directory.size() - 1), content, blocks, sizes));
        EXPECT_FALSE(read_block_sizes(directory, content, blocks - 1, sizes));
    }
}

TEST(Packing, RejectsEmptyBlocks) {
    std::vector<CodedBlock> coded;
    EXPECT_FALSE(read_directory(std::vector<std::uint8_t>{0}, 1, coded));
    EXPECT_FALSE(read_directory(std::vector<std::uint8_t>{0x80, 0}, 1, coded)) << "0 in two bytes";
    EXPECT_FALSE(read_directory(std::vector<std::uint8_t>{2, 0, 'a', 'b'}, 2, coded));
    EXPECT_TRUE(read_directory(std::vector<std::uint8_t>{1, 2, 'a', 'b'}, 2, coded));
    const Shape shape{1, 8, 8, 3};
    Unpacker unpacker(shape);
    HostImage picture(shape);
    const std::vector<std::uint8_t> packed{static_cast<std::uint8_t>(PackedHead::Kind::picture), 0, 0};
    EXPECT_THROW(unpacker.apply_picture(packed, picture.view()), Error);
}

TEST(Packing, SkipsMarkedAndBrokenBlocks) {
    const Shape shape{1, 130, 150, 3};
    Step step(shape, {}, 0);
    Unpacker unpacker(shape);
    const BlockGrid grid(shape);
    ASSERT_EQ(grid.count(), 9);
    for (const bool picture : {false, true})
        for (const bool broken : {false, true}) {
            SCOPED_TRACE(std::string(picture ? "a picture, " : "changes, ") + (broken ? "broken" : "left out"));
            auto packed = picture ? step.picture : step.changes;
            BlockSet left_out(9, 0);
            if (broken) {
                // A block never begins with 0, because a state is never 0.
                const auto at = static_cast<std::ptrdiff_t>(place_of(4, shape, packed));
                ASSERT_GT(at, 0);
                std::fill_n(packed.begin() + at, 4, std::uint8_t{0});
            } else {
                left_out[4] = 1;
            }
            GuardedImage viewer(shape, {}), want(shape, {});
            copy(step.before.view(), viewer.view());
            copy(step.after.view(), want.view());
            take_block(4, step.before.view(), want.view());
            picture ? unpacker.apply_picture(packed, viewer.view(), left_out)
                    : unpacker.apply_changes(packed, viewer.view(), left_out);
            EXPECT_EQ(left_out, (BlockSet{0, 0, 0, 0, 1, 0, 0, 0, 0}));
            EXPECT_EQ(kit::first_difference(viewer.view(), want.view()), std::nullopt);
            // The skipped block is not among the changes, and the next frame decodes normally.
            if (!picture) {
                const HostChanges found(shape);
                unpacker.last_changes(found.view());
                EXPECT_EQ(found.view().summaries[0].count, unpacker.last_count());
                copy(step.before.view(), viewer.view());
                unpacker.apply_changes(step.changes, viewer.view());
                EXPECT_EQ(kit::first_difference(viewer.view(), step.after.view()), std::nullopt);
            }
        }
    BlockSet few(8, 0);
    GuardedImage viewer(shape, {});
    EXPECT_THROW(unpacker.apply_changes(step.changes, viewer.view(), few), Error);
}

// The content of a skipped block is unknown, so none of its samples may influence the result.
TEST(Packing, SkipsBlocksPredictedFromSkippedBlocks) {
    const Shape shape{1, 130, 190, 3};
    BoundedPacker packer(shape, 2);
    Unpacker unpacker(shape);
    GuardedImage camera(shape, {}), held(shape, {});
    std::vector<std::uint8_t> packed;
    reference::film(camera.view(), 0, 3, 5);
    packer.pack_first(camera.view(), held.view(), 20, packed);
    bool spread = false, kept = false;
    for (int frame = 1; frame < 12; ++frame) {
        GuardedImage before(shape, {});
        copy(held.view(), before.view());
        reference::film(camera.view(), frame, 3, 5);
        packed.clear();
        packer.pack_step(camera.view(), held.view(), 20, packed);
        for (int block = 0; block < 9; ++block) {
            // Whatever the block contains, the other blocks are correct or unchanged.
            BlockSet first(9, 0), second(9, 0);
            first[static_cast<std::size_t>(block)] = second[static_cast<std::size_t>(block)] = 1;
            GuardedImage one(shape, {}), other(shape, {}), noise(shape, {});
            copy(before.view(), one.view());
            copy(before.view(), other.view());
            kit::fill(noise.view(), kit::Fill::noise);
            take_block(block, noise.view(), other.view());
            unpacker.apply_changes(packed, one.view(), first);
            unpacker.apply_changes(packed, other.view(), second);
            ASSERT_EQ(first, second);
            GuardedImage want(shape, {});
            copy(held.view(), want.view());
            for (int i = 0; i < 9; ++i)
                if (first[static_cast<std::size_t>(i)]) take_block(i, before.view(), want.view());
            ASSERT_EQ(kit::first_difference(one.view(), want.view()), std::nullopt);
            take_block(block, noise.view(), want.view());
            ASSERT_EQ(kit::first_difference(other.view(), want.view()), std::nullopt);
            spread |= std::ranges::count(first, 1) > 1;
            kept |= std::ranges::count(first, 1) == 1;
        }
    }
    EXPECT_TRUE(spread && kept);
}

TEST(Packing, RejectsFramesOfAnotherShape) {
    const Shape small{1, 8, 8, 1}, large{1, 64, 64, 3};
    const Step of_small(small, {}, 0), of_large(large, {}, 0);
    GuardedImage small_viewer(small, {}), large_viewer(large, {});
    EXPECT_THROW(Unpacker(small).apply_changes(of_large.changes, small_viewer.view()), Error);
    EXPECT_THROW(Unpacker(large).apply_changes(of_small.changes, large_viewer.view()), Error);
    EXPECT_THROW(Unpacker(small).apply_picture(of_large.picture, small_viewer.view()), Error);
    EXPECT_THROW(Unpacker(large).apply_picture(of_small.picture, large_viewer.view()), Error);
    EXPECT_THROW(Packer({2, 8, 8, 1}), Error);
    HostChanges none(small);
    none.view().summaries[0] = {};
    std::vector<std::uint8_t> packed;
    for (const int threshold : {-1, 255}) {
        EXPECT_THROW(Packer(small).pack_changes(none.view(), threshold, packed), Error);
        EXPECT_THROW(Packer(small).pack_picture(small_viewer.view(), threshold, packed), Error);
    }
}

TEST(Packing, FrameWithoutChangesIsSmall) {
    const Shape shape{1, 1080, 1920, 3};
    HostChanges none(shape);
    none.view().summaries[0] = {};
    std::vector<std::uint8_t> packed;
    Packer(shape).pack_changes(none.view(), 0, packed);
    EXPECT_LT(packed.size(), 40u);
}

}  // namespace
}  // namespace framewire::codec
