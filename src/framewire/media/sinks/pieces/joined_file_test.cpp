#include "framewire/media/sinks/pieces/joined_file.hpp"

#include "framewire/media/formats/npy.hpp"
#include "framewire/media/media_testing.hpp"

#include <numeric>

namespace framewire {
namespace joined_file_test {

using namespace testing;

class JoinedFile : public ::testing::Test {
protected:
    std::vector<FilePart> parts(const std::string& name, int count) const {
        std::vector<FilePart> parts;
        for (int part = 0; part < count; ++part) parts.push_back({folder_ / (std::to_string(part) + name)});
        return parts;
    }
    std::optional<ErrorCode> failure(const std::vector<FilePart>& parts, const std::string& name) const {
        return error_of([&] { join_files(parts, folder_ / name, {.replace = true}); });
    }

    TemporaryFolder folder_;
};

TEST_F(JoinedFile, ConcatenatesLines) {
    write_file(folder_ / "0.jsonl", "{\"a\":1}\n{}\n");
    write_file(folder_ / "1.jsonl", "");
    write_file(folder_ / "2.jsonl", "{\"b\":2}\n");
    join_files(parts(".jsonl", 3), folder_ / "all.jsonl", {});
    const auto bytes = read_file(folder_ / "all.jsonl");
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "{\"a\":1}\n{}\n{\"b\":2}\n");
    EXPECT_EQ(failure(parts(".jsonl", 4), "other.jsonl"), ErrorCode::no_input) << "the fourth is not there";
    EXPECT_EQ(failure(parts(".jsonl", 3), "all.json"), ErrorCode::usage);
    EXPECT_EQ(failure({}, "all.jsonl"), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { join_files(parts(".jsonl", 3), folder_ / "all.jsonl", {}); }), ErrorCode::io);
}

TEST_F(JoinedFile, ConcatenatesFrames) {
    const Shape shape{1, 13, 17, 3};
    std::vector<Bytes> frames;
    for (int frame = 0; frame < 7; ++frame) frames.push_back(smooth_frame(shape, frame));
    for (const std::string ending : {".y4m", ".bgr"}) {
        write_video(folder_ / ("whole" + ending), shape, frames);
        for (int part = 0; part < 3; ++part)
            write_video(folder_ / (std::to_string(part) + ending), shape,
                        {frames.begin() + 3 * part, frames.begin() + std::min(7, 3 * part + 3)});
        join_files(parts(ending, 3), folder_ / ("all" + ending), {});
        EXPECT_EQ(read_file(folder_ / ("all" + ending)), read_file(folder_ / ("whole" + ending))) << ending;
    }
    write_video(folder_ / "1.y4m", {1, 17, 13, 3}, frames);
    EXPECT_EQ(failure(parts(".y4m", 3), "all.y4m"), ErrorCode::no_input);
}

template <class Value>
void write_arrays(const std::string& path, NpyValues kind, int first, int count) {
    NpyFile file(path, {2, 3}, true, {.replace = true}, kind);
    std::vector<Value> values(6);
    for (int array = first; array < first + count; ++array) {
        std::iota(values.begin(), values.end(), static_cast<Value>(10 * array));
        file.write(values.data(), values.size());
    }
    file.finish();
}

TEST_F(JoinedFile, ConcatenatesArrays) {
    const auto check = [&](auto value, NpyValues kind) {
        using Value = decltype(value);
        write_arrays<Value>(folder_ / "0.npy", kind, 0, 3);
        write_arrays<Value>(folder_ / "1.npy", kind, 3, 1);
        write_arrays<Value>(folder_ / "whole.npy", kind, 0, 4);
        EXPECT_EQ(failure(parts(".npy", 2), "all.npy"), std::nullopt);
        EXPECT_EQ(read_file(folder_ / "all.npy"), read_file(folder_ / "whole.npy"));
    };
    check(1.0F, NpyValues::float32);
    check(std::int32_t{1}, NpyValues::int32);
}

TEST_F(JoinedFile, RejectsTruncatedArrays) {
    write_arrays<float>(folder_ / "0.npy", NpyValues::float32, 0, 3);
    const auto good = read_file(folder_ / "0.npy");
    const auto with = [&](const Bytes& bytes) {
        write_file(folder_ / "1.npy", bytes.data(), bytes.size());
        return failure(parts(".npy", 2), "all.npy");
    };
    EXPECT_EQ(with(good), std::nullopt);
    for (std::size_t bytes : {std::size_t{0}, std::size_t{5}, std::size_t{100}, std::size_t{192}, good.size() - 1})
        EXPECT_EQ(with({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)}), ErrorCode::no_input)
            << bytes;
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string text(good.begin(), good.end());
        text.replace(text.find(what), what.size(), by);
        return with({text.begin(), text.end()});
    };
    EXPECT_EQ(replaced("(3, 2, 3)", "(9, 2, 3)"), ErrorCode::no_input);
    EXPECT_EQ(replaced("(3, 2, 3)", "(3, 6, 1)"), ErrorCode::no_input) << "of another shape than the first's";
    EXPECT_EQ(replaced("<f4", "<i4"), ErrorCode::no_input);
    EXPECT_EQ(replaced("<f4", ">f4"), ErrorCode::no_input);
    EXPECT_EQ(replaced("False", "True "), ErrorCode::no_input);
    EXPECT_EQ(replaced("(3, 2, 3), }               ", "(3, 99999999999999999), }  "), ErrorCode::no_input);
    EXPECT_EQ(replaced("(3, 2, 3)", "(0, 0, 3)"), ErrorCode::no_input);
}

}  // namespace joined_file_test
}  // namespace framewire
