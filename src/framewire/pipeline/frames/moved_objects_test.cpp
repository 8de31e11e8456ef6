#include "framewire/pipeline/frames/moved_objects.hpp"

#include "framewire/pipeline/chain/chain_plan.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace framewire {
namespace moved_objects_test {

constexpr Shape frame{1, 60, 100, 3};
// 8 pixels wide and 4 high, completely filled.
constexpr Component box{1, 20, 10, 8, 4, 32, 32 * 23 + 16, 32 * 11 + 16};

// Returns the boxes of `objects` after the filters of a chain.
std::vector<std::array<int, 4>> boxes(const char* chain, std::vector<Component> objects = {box}) {
    const ChainPlan plan(parse_chain(chain), frame, kit::executor(Backend::cpu));
    std::vector<Component> moved;
    move_objects(objects, plan.placement(), plan.output_shape(), moved);
    std::vector<std::array<int, 4>> result;
    for (const auto& one : moved) result.push_back({one.x, one.y, one.width, one.height});
    return result;
}

using Boxes = std::vector<std::array<int, 4>>;

TEST(MovedObjects, FollowTheirPixels) {
    EXPECT_EQ(boxes("gray"), (Boxes{{20, 10, 8, 4}}));
    EXPECT_EQ(boxes("crop=50:30:15:5"), (Boxes{{5, 5, 8, 4}}));
    EXPECT_EQ(boxes("pad=120:80:10:20"), (Boxes{{30, 30, 8, 4}}));
    EXPECT_EQ(boxes("flip"), (Boxes{{72, 10, 8, 4}}));
    EXPECT_EQ(boxes("flip=vertical"), (Boxes{{20, 46, 8, 4}}));
    EXPECT_EQ(boxes("scale=50%"), (Boxes{{10, 5, 4, 2}}));
    EXPECT_EQ(boxes("scale=200:30"), (Boxes{{40, 5, 16, 2}}));
    EXPECT_EQ(boxes("rotate=90"), (Boxes{{46, 20, 4, 8}}));
    EXPECT_EQ(boxes("rotate=180"), (Boxes{{72, 46, 8, 4}}));
    EXPECT_EQ(boxes("rotate=270"), (Boxes{{10, 72, 4, 8}}));
    EXPECT_EQ(boxes("rotate=180:size=same,flip=both"), (Boxes{{20, 10, 8, 4}}));
    EXPECT_EQ(boxes("rotate=33,rotate=-33,crop=100:60"), (Boxes{{20, 10, 8, 4}}));
    EXPECT_EQ(boxes("scale=50%,gray,flip,pad=iw+7:ih:7:0"), (Boxes{{43, 5, 4, 2}}));
}

TEST(MovedObjects, AreClippedToThePictureOrDropped) {
    EXPECT_EQ(boxes("crop=10:10:24:12"), (Boxes{{0, 0, 4, 2}}));
    EXPECT_EQ(boxes("crop=10:10:28:10"), Boxes());
    EXPECT_EQ(boxes("crop=10:10:50:40"), Boxes());
    EXPECT_EQ(boxes("scale=2:2"), Boxes()) << "less than half a pixel";
}

TEST(MovedObjects, ScaleAreasAndCentres) {
    const ChainPlan plan(parse_chain("scale=200%,flip"), frame, kit::executor(Backend::cpu));
    std::vector<Component> moved;
    move_objects(std::vector{box}, plan.placement(), plan.output_shape(), moved);
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0].area, 128);
    // The centre, 23.5 + 0.5, doubled and mirrored, is 200 - 48 pixels from the corner.
    EXPECT_EQ(moved[0].sum_x, static_cast<std::int64_t>((200 - 48 - 0.5) * 128));
    EXPECT_EQ(moved[0].sum_y, static_cast<std::int64_t>((24 - 0.5) * 128));
}

}  // namespace moved_objects_test
}  // namespace framewire
