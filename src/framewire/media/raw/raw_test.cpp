#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/media_testing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace framewire {
namespace raw_test {

using namespace framewire::testing;

class Rows : public ::testing::TestWithParam<int> {
protected:
    Rows() {
        for (int number = 0; number < 3; ++number) {
            frames_.push_back(random_frame(shape_, static_cast<std::uint64_t>(number)));
            file_ += std::string(frames_.back().begin(), frames_.back().end());
        }
        write_file(path_, file_);
    }

    std::unique_ptr<Source> open() const {
        return open_source(fmt::format("raw:{}:size={}x{}:format={}", path_, shape_.width, shape_.height,
                                       shape_.channels == 3 ? "bgr" : "gray"));
    }
    bool read(Source& source) { return source.read_own(image_.view(), time_); }

    const TemporaryFolder folder_;
    const std::string path_ = folder_ / "a.raw";
    const Shape shape_{1, 211, 333, GetParam()};
    std::vector<Bytes> frames_;
    std::string file_;
    HostImage image_{shape_};
    FrameTime time_{};
};
INSTANTIATE_TEST_SUITE_P(Raw, Rows, ::testing::Values(1, 3));

// Rows of a frame, read into memory with padded rows.
Bytes by_rows(const OwnPicture& picture, const Shape& shape, int rows_each, std::int64_t gap_bytes) {
    const auto stride = shape.row_bytes() + gap_bytes;
    Bytes memory(static_cast<std::size_t>(stride * shape.height)), result;
    const auto make = picture.rows();
    for (int first = 0; first < shape.height; first += rows_each) {
        const int count = std::min(rows_each, shape.height - first);
        make(
            {{memory.data() + first * stride, {1, count, shape.width, shape.channels}, stride, stride * count}, first});
    }
    for (int y = 0; y < shape.height; ++y)
        result.insert(result.end(), memory.data() + y * stride, memory.data() + y * stride + shape.row_bytes());
    return result;
}

TEST_P(Rows, EqualTheFileForAnyRange) {
    auto source = open();
    EXPECT_TRUE(source->info().has_rows);
    std::vector<std::shared_ptr<const OwnPicture>> pictures;
    for (int number = 0; read(*source); ++number) {
        EXPECT_EQ(time_.index, number);
        pictures.push_back(source->own_picture());
        ASSERT_TRUE(pictures.back());
    }
    source.reset();  // native frames keep what they need
    std::filesystem::remove(path_);
    ASSERT_EQ(pictures.size(), frames_.size());
    for (std::size_t number = 0; number < frames_.size(); ++number) {
        const auto& picture = *pictures[number];
        for (const int rows_each : {1, 10, 211})
            for (const int gap : {0, 5}) EXPECT_EQ(by_rows(picture, shape_, rows_each, gap), frames_[number]);
        picture.to_image(image_.view());
        EXPECT_TRUE(
            std::ranges::equal(frames_[number], Bytes(image_.view().data(), image_.view().data() + shape_.bytes())));
        EXPECT_FALSE(picture.planes());
    }
}

TEST_P(Rows, AndImagesCanAlternate) {
    const auto source = open();
    const auto image_is = [&](std::size_t number) {
        return std::equal(frames_[number].begin(), frames_[number].end(), image_.view().data());
    };
    ASSERT_TRUE(source->read(image_.view(), time_));
    EXPECT_TRUE(image_is(0));
    EXPECT_FALSE(source->own_picture());
    ASSERT_TRUE(read(*source));
    EXPECT_EQ(by_rows(*source->own_picture(), shape_, 50, 0), frames_[1]);
    ASSERT_TRUE(source->read(image_.view(), time_));
    EXPECT_TRUE(image_is(2));
    EXPECT_FALSE(source->own_picture());
    ASSERT_TRUE(source->seek(1 / 30.0));
    ASSERT_TRUE(read(*source));
    EXPECT_EQ(time_.index, 1);
    EXPECT_EQ(by_rows(*source->own_picture(), shape_, 50, 0), frames_[1]);
}

TEST_P(Rows, EndAtTheTruncation) {
    std::filesystem::resize_file(path_, file_.size() - 7);
    const auto source = open();
    EXPECT_TRUE(read(*source));
    EXPECT_TRUE(read(*source));
    std::string message;
    EXPECT_EQ(error_of([&] { read(*source); }, &message), ErrorCode::source_lost);
    EXPECT_NE(message.find(fmt::format("cut off in frame 2: {} of its {} bytes", shape_.bytes() - 7, shape_.bytes())),
              std::string::npos)
        << message;
}

TEST_P(Rows, ReportALaterTruncation) {
    const auto source = open();
    ASSERT_TRUE(read(*source));
    ASSERT_TRUE(read(*source));
    const auto picture = source->own_picture();
    const auto left = shape_.bytes() + 100 * shape_.row_bytes() + 11;
    std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(left));
    const auto expected = fmt::format("cut off in frame 1: {} of its {} bytes", left - shape_.bytes(), shape_.bytes());
    for (const bool whole : {false, true}) {
        std::string message;
        const auto read_it = [&] {
            whole ? picture->to_image(image_.view()) : static_cast<void>(by_rows(*picture, shape_, 64, 0));
        };
        EXPECT_EQ(error_of(read_it, &message), ErrorCode::source_lost);
        EXPECT_TRUE(whole || message.find(expected) != std::string::npos) << message;
    }
}

}  // namespace raw_test
}  // namespace framewire
