#include "framewire/delta/packing/packing.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <random>

namespace framewire::delta {
namespace packing_test {

using kit::GuardedImage;

// Two pictures and the packed step from the first to the second.
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
        packer.pack_changes(found.view(), changes);
        packer.pack_picture(after.view(), picture);
    }
};

TEST(Packing, RoundTripsOnEveryShapeAndLayout) {
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

TEST(Packing, GivesBackTheChangesItApplied) {
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

TEST(Packing, BrokenBytesAreRefusedAndChangeNothing) {
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

// Flipped bits may still decode to something; they must never write outside the picture, crash or hang.
TEST(Packing, FlippedBitsStayInside) {
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

// Bodies that no packer makes, inside honest zstd frames of another shape's packer.
TEST(Packing, MessagesOfOtherShapesAreRefused) {
    const Shape small{1, 8, 8, 1}, large{1, 64, 64, 3};
    const Step of_small(small, {}, 0), of_large(large, {}, 0);
    GuardedImage small_viewer(small, {}), large_viewer(large, {});
    EXPECT_THROW(Unpacker(small).apply_changes(of_large.changes, small_viewer.view()), Error);
    EXPECT_THROW(Unpacker(large).apply_changes(of_small.changes, large_viewer.view()), Error);
    EXPECT_THROW(Unpacker(small).apply_picture(of_large.picture, small_viewer.view()), Error);
    EXPECT_THROW(Unpacker(large).apply_picture(of_small.picture, large_viewer.view()), Error);
    EXPECT_THROW(Packer({2, 8, 8, 1}), Error);
}

TEST(Packing, NothingChangedIsSmall) {
    const Shape shape{1, 1080, 1920, 3};
    HostChanges none(shape);
    none.view().summaries[0] = {};
    std::vector<std::uint8_t> packed;
    Packer(shape).pack_changes(none.view(), packed);
    EXPECT_LT(packed.size(), 40u);
}

}  // namespace packing_test
}  // namespace framewire::delta
