// Files whose timestamps do not start at 0: those of the source do.
#include "framewire/media/media_testing.hpp"

#include <bit>

namespace framewire {
namespace times_test {

using namespace testing;

constexpr std::size_t count = 50;
constexpr double step_seconds = 1.0 / 25;

struct Shifted {
    const char* name;
    const char* file;
    const char* encoding;  // for the ffmpeg tool
};

std::ostream& operator<<(std::ostream& out, const Shifted& shifted) { return out << shifted.name; }

class Times : public ::testing::TestWithParam<Shifted> {
protected:
    Times() {
        EXPECT_TRUE(ffmpeg(fmt::format("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v {} {} {}", count,
                                       GetParam().encoding, path_)));
    }

    TemporaryFolder folder_;
    std::string path_ = folder_ / GetParam().file;
};

TEST_P(Times, CountFromTheStart) {
    const auto reading = read_video(path_);
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.times.size(), count);
    for (std::size_t number = 0; number < count; ++number)
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) * step_seconds, 0.002) << number;
}

TEST_P(Times, TruncatedFileIsLost) {
    const auto whole = read_file(path_);
    write_file(path_, whole.data(), whole.size() * 3 / 4);
    const auto reading = read_video(path_);
    EXPECT_LT(reading.times.size(), count);
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
}

INSTANTIATE_TEST_SUITE_P(
    All, Times,
    ::testing::Values(Shifted{"matroska", "a.mkv", "-c:v ffv1 -output_ts_offset 5"},
                      Shifted{"matroska_hours", "a.mkv", "-c:v ffv1 -output_ts_offset 100000"},
                      Shifted{"matroska_b_frames", "a.mkv", "-c:v libx264 -bf 3 -g 10 -output_ts_offset 5"},
                      Shifted{"webm", "a.webm", "-c:v libvpx -g 10 -output_ts_offset 5.5"},
                      Shifted{"matroska_before_zero", "a.mkv", "-c:v libx264 -bf 3 -g 10 -output_ts_offset -1"},
                      Shifted{"mp4", "a.mp4", "-c:v libx264 -bf 3 -g 10 -movflags +faststart -output_ts_offset 5"},
                      Shifted{"avi", "a.avi", "-c:v mjpeg"}),
    ::testing::PrintToStringParamName());

TEST(Times, OfTransportStreamsCountFromTheStart) {
    const TemporaryFolder folder;
    // Two hours before the 33-bit clock wraps around.
    for (const auto* offset : {"5", "-5", "88243"}) {
        ASSERT_TRUE(
            ffmpeg(fmt::format("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v {} -c:v libx264 -bf 3 -g 10 "
                               "-output_ts_offset {} {}",
                               count, offset, folder / "a.ts")));
        const auto reading = read_video(folder / "a.ts");
        EXPECT_FALSE(reading.error) << offset << " " << reading.message;
        ASSERT_EQ(reading.times.size(), count) << offset;
        for (std::size_t number = 0; number < count; ++number)
            EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) * step_seconds, 0.002) << number;
    }
}

TEST(Times, ImpossibleTimesAreIgnored) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 4 -vf 'setpts=if(gte(N\\,2)\\,4e13+N\\,N)' "
               "-fps_mode passthrough -c:v ffv1 " +
               (folder / "a.mkv")));
    const auto reading = read_video(folder / "a.mkv");
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.times.size(), 4U);
    for (std::size_t number = 0; number < 4; ++number)
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) * step_seconds, 0.002) << number;
}

// FFmpeg writes the end time of a Matroska file, mkvmerge the duration from its first timestamp.
TEST(Times, AMatroskaDurationMayCountFromTheFirstTimestamp) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg(fmt::format("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v {} -c:v ffv1 -output_ts_offset 1 {}",
                           count, folder / "a.mkv")));
    auto bytes = read_file(folder / "a.mkv");
    const Bytes duration_of_eight_bytes{0x44, 0x89, 0x88};
    const auto at =
        std::search(bytes.begin(), bytes.end(), duration_of_eight_bytes.begin(), duration_of_eight_bytes.end());
    ASSERT_NE(at, bytes.end());
    const auto duration_ms = std::bit_cast<std::uint64_t>(1000.0 * static_cast<double>(count) * step_seconds);
    for (int byte = 0; byte < 8; ++byte) at[3 + byte] = static_cast<std::uint8_t>(duration_ms >> (56 - 8 * byte));
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "a.mkv");
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.times.size(), count);
}

}  // namespace times_test
}  // namespace framewire
