#include "framewire/media/media_testing.hpp"
#include "framewire/media/sources.hpp"

#include <algorithm>

namespace framewire {
namespace {

using namespace testing;

class PacketTimes : public ::testing::Test {
protected:
    std::string clip(const std::string& name, const std::string& encoding) const {
        const auto path = folder_ / name;
        EXPECT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 100 " + encoding + " " + path));
        return path;
    }
    TemporaryFolder folder_;
};

TEST_F(PacketTimes, MatchTheTimesOfDecodedFrames) {
    for (const auto& [name, encoding] : {std::pair{"b.mp4", "-c:v libx264 -g 20 -bf 3"},
                                         {"open.mkv", "-c:v libx264 -x264-params open-gop=1:keyint=20:bframes=3"},
                                         {"late.ts", "-c:v libx264 -g 20 -bf 3 -output_ts_offset 95000"},
                                         {"uneven.mkv", "-vf \"select='mod(n,4)'\" -fps_mode vfr -c:v libx264 -g 20"},
                                         {"m.avi", "-c:v mjpeg"}}) {
        const auto path = clip(name, encoding);
        const auto decoded = read_video(path);
        const auto times = frame_times_of(path, {});
        EXPECT_EQ(times.unknown, "") << name;
        ASSERT_EQ(times.seconds.size(), decoded.times.size()) << name;
        for (std::size_t frame = 0; frame < times.seconds.size(); ++frame)
            EXPECT_NEAR(times.seconds[frame], decoded.times[frame].seconds, 1e-9) << name << " " << frame;
        ASSERT_GE(times.entries.size(), 4u) << name;
        EXPECT_EQ(times.entries.front(), 0u);
        EXPECT_TRUE(std::ranges::is_sorted(times.entries));
        EXPECT_LT(times.entries.back(), times.seconds.size());
        EXPECT_EQ(times.medium.has_value(), true) << name;
    }
}

TEST_F(PacketTimes, AreUnknownIfPacketsAreAmbiguous) {
    EXPECT_NE(frame_times_of(clip("old.avi", "-c:v mpeg4 -bf 2"), {}).unknown, "");
    EXPECT_NE(frame_times_of("lavfi:testsrc2=size=64x48", {}).unknown, "");
    EXPECT_NE(frame_times_of("synth:size=16x16", {}).unknown, "") << "endless";
    // In two concatenated recordings, the times go back.
    auto bytes = read_file(clip("one.ts", "-c:v libx264 -g 20"));
    const auto other = read_file(clip("other.ts", "-c:v libx264 -g 20 -mpegts_flags +initial_discontinuity"));
    bytes.insert(bytes.end(), other.begin(), other.end());
    write_file(folder_ / "two.ts", bytes.data(), bytes.size());
    EXPECT_EQ(frame_times_of(folder_ / "two.ts", {}).unknown, "its timestamps go backwards");
    EXPECT_EQ(error_of([&] { frame_times_of(folder_ / "none.mp4", {}); }), ErrorCode::no_input);
}

TEST_F(PacketTimes, AreEvenlySpacedForRawVideo) {
    const auto times = frame_times_of(clip("a.y4m", "-pix_fmt yuv420p"), {});
    ASSERT_EQ(times.seconds.size(), 100u);
    EXPECT_EQ(times.entries.size(), 100u);
    EXPECT_EQ(times.seconds[50], 2);
    EXPECT_FALSE(times.medium);
}

}  // namespace
}  // namespace framewire
