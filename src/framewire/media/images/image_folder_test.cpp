#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media_testing.hpp"

#include <filesystem>

namespace framewire {
namespace image_folder_test {

using namespace testing;

const Shape small{1, 3, 4, 3};

TEST(ImageFolder, SortsImagesByTheBytesOfTheirNames) {
    const TemporaryFolder folder;
    for (const auto* name : {"b10.png", "b2.PNG", "B.jpeg", "c.Tif", "a.webp", "\xc3\xa4.bmp", "d.pgm"})
        write_file(folder / name, "not looked into");
    for (const auto* name : {"notes.txt", "png", "a.png~", "list.csv", ".hidden.png"}) write_file(folder / name, "");
    std::filesystem::create_directory(folder / "folder.png");
    write_file(folder / "folder.png/inside.png", "");
    std::filesystem::create_symlink(folder / "notes.txt", folder / "e.png");
    std::filesystem::create_symlink(folder / "nowhere", folder / "f.png");
    std::vector<std::string> want;
    for (const auto* name : {"B.jpeg", "a.webp", "b10.png", "b2.PNG", "c.Tif", "d.pgm", "e.png", "\xc3\xa4.bmp"})
        want.push_back(folder / name);
    EXPECT_EQ(images_in(folder / ""), want);
}

TEST(ImageFolder, RejectsAFolderWithoutImages) {
    const TemporaryFolder folder;
    std::string message;
    EXPECT_EQ(error_of([&] { images_in(folder / "none"); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find(folder / "none"), std::string::npos) << message;
    EXPECT_EQ(error_of([&] { images_in(folder / ""); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find("no images"), std::string::npos) << message;
    write_file(folder / "a.txt", "");
    EXPECT_EQ(error_of([&] { images_in(folder / "a.txt"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([&] { images_in(folder / ""); }), ErrorCode::no_input);
}

TEST(ImageFolder, ReadsItsImages) {
    const TemporaryFolder folder;
    std::vector<Bytes> frames;
    for (const auto* name : {"1.png", "10.png", "2.png"}) {
        frames.push_back(random_frame(small, frames.size()));
        write_video(folder / name, small, {frames.back()});
    }
    for (const auto& path : {folder / "", "file://" + folder / ""}) {
        const auto reading = read_video(path, {.rate = Rational{10, 1}});
        EXPECT_FALSE(reading.error) << reading.message;
        EXPECT_EQ(reading.info.frames, 3);
        EXPECT_EQ(reading.frames, frames);
        EXPECT_DOUBLE_EQ(reading.times.at(2).seconds, 0.2);
    }
    const auto twice = read_video(folder / "", {.loop = true}, 6).frames;
    ASSERT_EQ(twice.size(), 6U);
    for (std::size_t number = 0; number < 6; ++number) EXPECT_EQ(twice[number], frames[number % 3]) << number;
}

// Another size is scaled or rejected; another number of channels does not move pixels.
TEST(ImageFolder, NamesTheImageOfAnotherSize) {
    const TemporaryFolder folder;
    write_video(folder / "a.png", small, {Bytes(36, 70)});
    write_video(folder / "b.png", {1, 3, 4, 1}, {Bytes(12, 80)});
    write_video(folder / "c.png", {1, 6, 8, 3}, {Bytes(144, 90)});
    const std::vector<Bytes> want{Bytes(36, 70), Bytes(36, 80), Bytes(36, 90)};
    EXPECT_EQ(read_video(folder / "").frames, want);
    const auto refused = read_video(folder / "", {.one_size = true});
    EXPECT_EQ(refused.frames, (std::vector<Bytes>{want[0], want[1]}));
    EXPECT_EQ(refused.error, ErrorCode::source_lost);
    for (const auto& part : {folder / "c.png", std::string("8x6"), folder / "a.png", std::string("4x3")})
        EXPECT_NE(refused.message.find(part), std::string::npos) << refused.message;
}

TEST(ImageFolder, ACorruptImageLosesTheSource) {
    const TemporaryFolder folder;
    write_video(folder / "%d.png", small, {Bytes(36), Bytes(36), Bytes(36)});
    const auto bytes = read_file(folder / "1.png");
    for (const auto keep : {bytes.size() / 2, std::size_t{0}}) {
        write_file(folder / "1.png", bytes.data(), keep);
        const auto reading = read_video(folder / "");
        EXPECT_EQ(reading.frames.size(), 1U);
        EXPECT_EQ(reading.error, ErrorCode::source_lost);
        EXPECT_NE(reading.message.find("1.png"), std::string::npos) << reading.message;
    }
}

}  // namespace image_folder_test
}  // namespace framewire
