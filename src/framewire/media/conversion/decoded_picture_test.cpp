#include "framewire/media/conversion/decoded_picture.hpp"

#include "framewire/media/media_testing.hpp"

namespace framewire {
namespace decoded_picture_test {

using namespace testing;

constexpr int height = 36, width = 52;

// A picture of noise with colour tags.
FramePointer noise(AVPixelFormat format, AVChromaLocation chroma) {
    auto frame = make_frame(format, width, height);
    frame->chroma_location = chroma;
    std::uint32_t seed = 1;
    for (int plane = 0; plane < 3; ++plane)
        for (int at = 0; at < frame->linesize[plane] * (plane && format == AV_PIX_FMT_YUV420P ? height / 2 : height);
             ++at)
            frame->data[plane][at] = static_cast<std::uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
    return frame;
}

DecodedPicture picture(AVPixelFormat format = AV_PIX_FMT_YUV420P, AVChromaLocation chroma = AVCHROMA_LOC_LEFT) {
    return {noise(format, chroma), {YuvMatrix::bt709, false}};
}

int sample(const AVFrame& frame, int plane, int x, int y) {
    return frame.data[plane][std::ptrdiff_t{y} * frame.linesize[plane] + x];
}

Executor& threads() {
    static Executor executor(BackendChoice::cpu, 2);
    return executor;
}

// Each sample of the result is the image's sample at the mapped position, or the border colour.
void expect_moved(const DecodedPicture& from, const PixelMove& move, const std::array<int, 3>& outside) {
    const auto moved = from.moved(move, threads());
    ASSERT_TRUE(moved);
    const auto& to = dynamic_cast<const DecodedPicture&>(*moved).frame();
    ASSERT_EQ(to.width, move.to.width);
    ASSERT_EQ(to.height, move.to.height);
    EXPECT_EQ(to.chroma_location, from.frame().chroma_location);
    for (int plane = 0; plane < 3; ++plane) {
        const int each = plane && to.format == AV_PIX_FMT_YUV420P ? 2 : 1;
        for (int y = 0; y < to.height / each; ++y)
            for (int x = 0; x < to.width / each; ++x) {
                // A chroma sample covers several pixels: use the first one inside the image.
                const int from_x = std::min(move.map.source_x(each * x, 0), move.map.source_x(each * x + each - 1, 0));
                const int from_y = std::min(move.map.source_y(0, each * y), move.map.source_y(0, each * y + each - 1));
                const bool inside = from_x >= 0 && from_x < width && from_y >= 0 && from_y < height;
                const int want = inside ? sample(from.frame(), plane, from_x / each, from_y / each)
                                        : outside[static_cast<std::size_t>(plane)];
                ASSERT_EQ(sample(to, plane, x, y), want) << plane << ": " << x << ',' << y;
            }
    }
}

constexpr Shape whole{1, height, width, 3};
constexpr std::array<int, 3> black{16, 128, 128};

TEST(DecodedPicture, MovesPlaneByPlane) {
    expect_moved(picture(), {.map = {.x = 4, .y = 6}, .to = {1, 20, 30, 3}}, black);
    expect_moved(picture(), {.map = {.x = -4, .y = -2}, .to = {1, height + 8, width + 6, 3}}, black);
    expect_moved(picture(), {.map = {.x = -4, .y = -2}, .outside = pixel_of(255, 255, 255), .to = {1, 40, 60, 3}},
                 {235, 128, 128});
    expect_moved(picture(), {.map = mirrored(whole, false, true), .to = whole}, black);
    const auto centred = picture(AV_PIX_FMT_YUV420P, AVCHROMA_LOC_CENTER);
    expect_moved(centred, {.map = mirrored(whole, true, false), .to = whole}, black);
    expect_moved(centred, {.map = mirrored(whole, true, true), .to = whole}, black);
    const auto full = picture(AV_PIX_FMT_YUV444P);
    expect_moved(full, {.map = {.x = 3, .y = 5}, .to = {1, 21, 31, 3}}, black);
    expect_moved(full, {.map = mirrored(whole, true, false), .to = whole}, black);
}

// Chroma would move to a position between two samples.
TEST(DecodedPicture, IsNotMovedIfChromaDoesNotFit) {
    EXPECT_FALSE(picture().moved({.map = {.x = 3, .y = 6}, .to = {1, 20, 30, 3}}, threads()));
    EXPECT_FALSE(picture().moved({.map = {.x = 4, .y = 5}, .to = {1, 20, 30, 3}}, threads()));
    EXPECT_FALSE(picture().moved({.map = {.x = 4, .y = 6}, .to = {1, 21, 30, 3}}, threads()));
    EXPECT_FALSE(picture().moved({.map = {.x = 4, .y = 6}, .to = {1, 20, 31, 3}}, threads()));
    EXPECT_FALSE(picture().moved({.map = mirrored(whole, true, false), .to = whole}, threads()));
    const auto upper = picture(AV_PIX_FMT_YUV420P, AVCHROMA_LOC_TOPLEFT);
    EXPECT_FALSE(upper.moved({.map = mirrored(whole, false, true), .to = whole}, threads()));
    EXPECT_FALSE(
        picture().moved({.map = {.x = 0, .y = 0, .transposed = true}, .to = {1, width, height, 3}}, threads()));
}

}  // namespace decoded_picture_test
}  // namespace framewire
