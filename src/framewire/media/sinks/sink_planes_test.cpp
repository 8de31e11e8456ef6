// Writing planes gives the same file as writing the images from which they were made.

#include "framewire/colour/image_to_yuv/image_to_yuv.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/media/threads.hpp"

namespace framewire {
namespace sink_planes_test {

using namespace testing;

Bytes written(const std::string& target, const std::string& path, const Shape& shape, const PictureFacts& facts,
              bool as_planes) {
    const auto sink = open_sink(target, shape, {30, 1}, {.replace = true, .facts = facts});
    YuvPicturePool pool;
    for (int number = 0; number < 12; ++number) {
        const auto bytes = smooth_frame(shape, number);
        const HostView<const std::uint8_t> image(bytes.data(), shape);
        const FrameTime time{number, number / 30.0};
        if (!as_planes) {
            sink->write(image, time);
            continue;
        }
        const auto planes = sink->planes();
        EXPECT_TRUE(planes) << target;
        if (!planes) return {};
        const auto picture = pool.take(*planes);
        ImageToYuv(*planes, shape.channels, media_threads()).run(image, picture->view());
        sink->write_planes(picture, time);
    }
    sink->finish();
    return read_file(path);
}

void expect_same(const std::string& name, const std::string& keys, const Shape& shape, const PictureFacts& facts) {
    SCOPED_TRACE(name + keys + ", " + to_string(shape));
    const TemporaryFolder folder;
    const auto path = folder / name;
    const auto want = written(path + keys, path, shape, facts, false);
    EXPECT_FALSE(want.empty());
    EXPECT_TRUE(written(path + keys, path, shape, facts, true) == want);
}

TEST(SinkPlanes, GiveTheSameY4m) {
    const PictureFacts facts{.coding = YuvCoding{YuvMatrix::bt709, false}, .sampling = ChromaSampling::s420};
    expect_same("a.y4m", "", {1, 96, 128, 3}, facts);
    expect_same("a.y4m", "", {1, 97, 131, 3}, facts);
    expect_same("a.y4m", ":range=full", {1, 97, 131, 3}, facts);
    expect_same("a.y4m", ":pixels=yuv422p", {1, 97, 131, 3}, facts);
    expect_same("a.y4m", "", {1, 97, 131, 3}, {});
    expect_same("a.y4m", "", {1, 97, 131, 1}, facts);
}

#ifdef FRAMEWIRE_FFMPEG
// Includes encoders that keep pictures for a while.
TEST(SinkPlanes, GiveTheSameEncodedFiles) {
    for (const auto& [name, keys] :
         {std::pair{"a.mp4", ":preset=veryfast"}, std::pair{"a.mp4", ":pixels=yuv444p"},
          std::pair{"a.mp4", ":pixels=nv12"}, std::pair{"a.avi", ":codec=ffv1:pixels=yuv420p"}, std::pair{"a.avi", ""},
          std::pair{"a.avi", ":codec=mpeg4"}})
        expect_same(name, keys, {1, 98, 132, 3}, {});
}

TEST(SinkPlanes, AreUnavailableForOtherFormats) {
    const TemporaryFolder folder;
    for (const auto* name : {"a.bgr", "a%d.png", "a.gif", "a.mkv", "a.webp"})
        EXPECT_EQ(open_sink(folder / name, {1, 96, 128, 3}, {30, 1}, {})->planes(), std::nullopt) << name;
}
#endif

}  // namespace sink_planes_test
}  // namespace framewire
