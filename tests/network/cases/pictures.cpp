#include "network/cases/pictures.hpp"

#include "framewire/media/media_testing.hpp"
#include "network/camera/bound_check.hpp"
#include "network/camera/stamp.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace framewire::network {
namespace {

constexpr double any_age_ms = 1e9;
constexpr int small_buffer_bytes = 16 * 1024;

}  // namespace

std::vector<Pixels> pictures_of_file(const std::string& path) {
    auto read = testing::read_video(path);
    EXPECT_FALSE(read.error) << path << ": " << read.message;
    return std::move(read.frames);
}

Pixels decoded(const std::string& file, const std::string& ending, const e2e::TemporaryFolder& folder) {
    const auto path = folder / ("decoded." + ending);
    testing::write_file(path, file);
    auto pictures = pictures_of_file(path);
    EXPECT_EQ(pictures.size(), 1u) << ending << " of " << file.size() << " bytes";
    return pictures.empty() ? Pixels() : std::move(pictures.front());
}

std::uint32_t stamp_of(const Pixels& picture, const FrameLog& log) {
    if (static_cast<std::int64_t>(picture.size()) != log.shape().bytes()) return 0;
    return read_stamp({picture.data(), log.shape()}).value_or(0);
}

std::string outside_bound(const Pixels& picture, const FrameLog& log, int threshold) {
    if (static_cast<std::int64_t>(picture.size()) != log.shape().bytes())
        return fmt::format("{} bytes instead of {}", picture.size(), log.shape().bytes());
    BoundCheck check(log);
    const auto finding = check.check({picture.data(), log.shape()}, threshold, any_age_ms, Clock::now());
    if (finding.outside == 0) return "";
    if (finding.stamped == 0) return "the picture has no valid frame number";
    return fmt::format("{} bytes differ by more than {} from frame {}", finding.outside, threshold, finding.stamped);
}

std::string outside_jpeg_bound(const Pixels& picture, const FrameLog& log, int threshold) {
    constexpr int side_px = 8;
    constexpr double jpeg_error = 5;
    const auto number = stamp_of(picture, log);
    if (number == 0) return "the picture has no valid frame number";
    const auto* const frame = log.pixels(number);
    if (!frame) return fmt::format("the camera did not send frame {}", number);
    const auto& shape = log.shape();
    const int row_bytes = shape.width * shape.channels;
    for (int y = 0; y + side_px <= shape.height; y += side_px)
        for (int x = 0; x + side_px <= shape.width; x += side_px)
            for (int channel = 0; channel < shape.channels; ++channel) {
                int sum = 0;
                for (int row = y; row < y + side_px; ++row)
                    for (int column = x; column < x + side_px; ++column) {
                        const auto at = static_cast<std::size_t>(row * row_bytes + column * shape.channels + channel);
                        sum += picture[at] - frame[at];
                    }
                const double mean = std::abs(sum) / double{side_px * side_px};
                if (mean > threshold + jpeg_error)
                    return fmt::format("the block at {},{} differs by {} from frame {}", x, y, mean, number);
            }
    return "";
}

std::string file_over_http(std::uint16_t port, const std::string& name) {
    const auto answer = net::testing::HttpClient(port).ask("GET /main/" + name);
    EXPECT_EQ(answer.status, 200) << name << ": " << answer.head;
    return answer.body;
}

MjpegClient::MjpegClient(std::uint16_t port) : client_(net::testing::RawConnection::connect(port, small_buffer_bytes)) {
    // With HTTP/1.0, the parts arrive without chunked coding.
    EXPECT_TRUE(client_.say("GET /main/stream.mjpeg HTTP/1.0\r\nHost: localhost\r\n\r\n"));
    EXPECT_EQ(client_.answer(false).status, 200);
}

std::string MjpegClient::next() { return client_.answer().body; }

}  // namespace framewire::network
