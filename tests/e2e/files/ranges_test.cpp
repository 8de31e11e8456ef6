// Tests that --start and --duration are exact to the frame and keep timestamps, compared with FFmpeg's frames.
#include "e2e/program.hpp"
#include "e2e/real_data.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <sstream>

namespace framewire::e2e {
namespace {

struct Picture {
    double seconds;
    std::string hash;
};

// Returns the frames that FFmpeg decodes from a video, with times relative to the first frame.
std::vector<Picture> pictures_in(const std::string& path) {
    std::istringstream lines(printed_by("ffmpeg -nostdin -v error -i '" + path +
                                        "' -map 0:v:0 -fps_mode passthrough -f framemd5 - | tr -d ' '"));
    std::vector<Picture> pictures;
    double base = 0;
    for (std::string line; std::getline(lines, line);) {
        if (long ticks = 0, seconds = 1; std::sscanf(line.c_str(), "#tb0:%ld/%ld", &ticks, &seconds) == 2)
            base = static_cast<double>(ticks) / static_cast<double>(seconds);
        if (line.empty() || line[0] == '#') continue;
        std::istringstream fields(line);
        std::string field;
        std::vector<std::string> all;
        while (std::getline(fields, field, ',')) all.push_back(field);
        EXPECT_EQ(all.size(), 6U) << line;
        if (all.size() == 6) pictures.push_back({std::stod(all[2]) * base, all[5]});
    }
    const auto first = pictures.empty() ? 0 : pictures.front().seconds;
    for (auto& picture : pictures) picture.seconds -= first;
    return pictures;
}

void expect_part(const TemporaryFolder& folder, const std::string& input, const std::vector<Picture>& whole,
                 double start, std::optional<double> duration) {
    SCOPED_TRACE(input + " from " + std::to_string(start) + " for " + std::to_string(duration.value_or(-1)));
    const auto output = folder / "part.mkv";
    std::vector<std::string> arguments{"run",     "--backend",
                                       "cpu",     "--progress",
                                       "none",    "-y",
                                       "-i",      input,
                                       "-o",      output + ":codec=ffv1:pixels=yuv420p",
                                       "--start", std::to_string(start)};
    if (duration) arguments.insert(arguments.end(), {"--duration", std::to_string(*duration)});
    const auto made = run_framewire(arguments);
    ASSERT_EQ(made.code, 0) << made.err;
    std::vector<Picture> expected;
    for (const auto& picture : whole)
        if (picture.seconds >= start - 1e-6 && (!duration || picture.seconds < start + *duration - 1e-6))
            expected.push_back(picture);
    const auto got = pictures_in(output);
    ASSERT_EQ(got.size(), expected.size());
    ASSERT_FALSE(got.empty());
    for (std::size_t at = 0; at < got.size(); ++at) {
        ASSERT_EQ(got[at].hash, expected[at].hash) << at;
        ASSERT_NEAR(got[at].seconds, expected[at].seconds - expected[0].seconds, 1.1e-3) << at;
    }
}

struct Medium {
    const char *name, *file, *encoding;
};
void PrintTo(const Medium& medium, std::ostream* out) { *out << medium.name; }

class Ranges : public testing::TestWithParam<Medium> {};

TEST_P(Ranges, FramesEqualThoseOfFfmpeg) {
    const TemporaryFolder folder;
    const auto path = folder / GetParam().file;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 130 -pix_fmt yuv420p " +
                       std::string(GetParam().encoding) + " " + path));
    const auto whole = pictures_in(path);
    ASSERT_GT(whole.size(), 30U);
    const auto end = whole.back().seconds;
    expect_part(folder, path, whole, 0, 0.5);
    expect_part(folder, path, whole, 0.61 * end, 0.7);
    expect_part(folder, path, whole, end - 0.5, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    All, Ranges,
    testing::Values(Medium{"BetweenKeyframes", "a.mp4", "-c:v libx264 -bf 3 -g 48"},
                    Medium{"OpenGops", "a.ts", "-c:v libx264 -bf 3 -g 20 -x264-params open-gop=1:scenecut=0"},
                    Medium{
                        "HevcOpenGops", "a.mp4",
                        "-c:v libx265 -preset ultrafast -x265-params open-gop=1:keyint=20:bframes=4:log-level=error"},
                    Medium{"VariableRate", "a.mp4",
                           "-vf \"select='not(mod(n,7))+not(mod(n,5))'\" -fps_mode vfr -c:v libx264 -bf 2"}));

// Tests ranges that start at a keyframe, between two, and in the last group, whose end a decoder may reach differently.
void expect_asked_colours(const TemporaryFolder& folder, const std::string& name, const std::string& encoding) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 130 -pix_fmt yuv420p -c:v libx264 -bf 3 " +
                       encoding + " " + (folder / name)));
    const auto pixels = [&](std::size_t first) {
        const auto output = folder / (name + std::to_string(first) + ".bgr");
        const auto made = run_framewire({"run", "--backend", "cpu", "--progress", "none", "-i", folder / name,
                                         "--range", "full", "--matrix", "bt2020", "--start",
                                         std::to_string(static_cast<double>(first) / 25), "-o", output});
        EXPECT_EQ(made.code, 0) << made.err;
        return contents(output);
    };
    constexpr std::size_t frame_bytes = 96 * 64 * 3, frames = 130;
    const auto whole = pixels(0);
    ASSERT_EQ(whole.size(), frames * frame_bytes);
    for (const std::size_t first : {20, 27, 40, 105, 129}) {
        const auto part = pixels(first);
        ASSERT_EQ(part.size(), (frames - first) * frame_bytes) << first;
        for (std::size_t frame = first; frame < frames; ++frame)
            EXPECT_EQ(part.compare((frame - first) * frame_bytes, frame_bytes, whole, frame * frame_bytes, frame_bytes),
                      0)
                << frame << " from " << first;
    }
}

TEST(ColoursOfRanges, FollowTheUsersOptions) {
    const TemporaryFolder folder;
    expect_asked_colours(folder, "a.mp4", "-g 20");
    expect_asked_colours(folder, "a.ts", "-g 20 -x264-params open-gop=1:scenecut=0");
}

TEST(RealRanges, FramesEqualThoseOfFfmpeg) {
    const auto clip = real_data("moving_objects/intel/car-detection.mp4");
    FRAMEWIRE_NEEDS_REAL(clip);
    const TemporaryFolder folder;
    const auto part = folder / "real.mp4";
    ASSERT_TRUE(ffmpeg("-i " + clip + " -t 8 -c copy " + part));
    const auto whole = pictures_in(part);
    ASSERT_GT(whole.size(), 50U);
    expect_part(folder, part, whole, 3.3, 1.5);
}

}  // namespace
}  // namespace framewire::e2e
