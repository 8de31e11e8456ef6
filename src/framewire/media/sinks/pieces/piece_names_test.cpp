#include "framewire/media/sinks/pieces/piece_names.hpp"

#include "framewire/core/parameters/amounts.hpp"
#include "framewire/media/media_testing.hpp"

#include <ctime>

namespace framewire {
namespace piece_names_test {

using namespace testing;

TEST(PieceNames, MatchOnlyStrftimeResults) {
    const auto names = PieceNames::parse("rec/cam-%Y%m%d-%H%M%S.mp4");
    for (const auto* name : {"cam-20261122-235959.mp4", "cam-20261122-235959-2.mp4", "cam-20261122-000000-17.mp4"})
        EXPECT_TRUE(names.matches(name)) << name;
    for (const auto* name :
         {"cam-20261122-235959.mkv", "cam-20261322-235959.mp4", "cam-20261122-245959.mp4", "cam-20261122-235959-1.mp4",
          "cam-20261122-235959-02.mp4", "cam-20261122-235959x.mp4", "xcam-20261122-235959.mp4",
          "cam-2026112-235959.mp4", "cam-20261122-235959.mp4.part", "cam-20261122-235959-.mp4", "cam-.mp4", ""})
        EXPECT_FALSE(names.matches(name)) << name;
    EXPECT_TRUE(PieceNames::parse("100%%-%F_%T.y4m").matches("100%-2026-11-22_10:00:00.y4m"));
}

TEST(PieceNames, FreePathIsUnused) {
    const TemporaryFolder folder;
    const auto names = PieceNames::parse(folder / "p-%Y-%H%M%S.avi");
    const auto now = std::chrono::system_clock::now();
    const auto first = names.free_path(now);
    EXPECT_TRUE(names.matches(std::filesystem::path(first).filename().string())) << first;
    write_file(first, "x");
    const auto second = names.free_path(now);
    EXPECT_EQ(second, first.substr(0, first.size() - 4) + "-2.avi");
    write_file(second + ".part", "x");
    EXPECT_EQ(names.free_path(now), first.substr(0, first.size() - 4) + "-3.avi") << "one is being written there";
}

TEST(PieceNames, FindSegmentsOnly) {
    const TemporaryFolder folder;
    const auto names = PieceNames::parse(folder / "p-%H%M%S.avi");
    for (const auto* name :
         {"p-100000.avi", "p-090000.avi", "p-110000.avi.part", "p-other.avi", "q-100000.avi", "p-100000.txt"})
        write_file(folder / name, name);
    std::filesystem::create_symlink(folder / "q-100000.avi", folder / "p-120000.avi");
    std::filesystem::create_directory(folder / "p-130000.avi");
    std::filesystem::last_write_time(folder / "p-100000.avi",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
    std::filesystem::last_write_time(folder / "p-090000.avi",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    std::vector<std::string> found;
    for (const auto& piece : names.existing()) found.push_back(std::filesystem::path(piece.path).filename());
    EXPECT_EQ(found, (std::vector<std::string>{"p-100000.avi", "p-090000.avi", "p-110000.avi.part"}));
}

TEST(PieceNames, RejectUnknownConversions) {
    std::string message;
    const auto code_of = [&](const std::string& path) { return error_of([&] { PieceNames::parse(path); }, &message); };
    EXPECT_EQ(code_of("out.mp4"), ErrorCode::usage);
    EXPECT_NE(message.find("pieces need a time in their name"), std::string::npos) << message;
    EXPECT_EQ(code_of("out%%.mp4"), ErrorCode::usage);
    EXPECT_EQ(code_of("out-%A.mp4"), ErrorCode::usage);
    EXPECT_NE(message.find("'%A' is not known"), std::string::npos) << message;
    EXPECT_EQ(code_of("out-%"), ErrorCode::usage);
    EXPECT_EQ(code_of("%Y/out-%H.mp4"), ErrorCode::usage);
}

TEST(Amounts, AreParsedWithUnits) {
    EXPECT_EQ(seconds_of("90"), 90);
    EXPECT_EQ(seconds_of("1.5h"), 5400);
    EXPECT_EQ(seconds_of("10m"), 600);
    EXPECT_EQ(seconds_of("7d"), 7 * 86400);
    EXPECT_EQ(bytes_of("200G"), 200e9);
    EXPECT_EQ(bytes_of("1B"), 1);
    for (const auto* text : {"", "m", "10x", "-5s", "0", "1e300h", "nan", "inf", "10 m", "200G"})
        EXPECT_FALSE(seconds_of(text)) << text;
    for (const auto* text : {"", "G", "10", "10m", "-5G", "0B", "1e300T", "nanG"}) EXPECT_FALSE(bytes_of(text)) << text;
    EXPECT_EQ(bits_per_second_of("2M"), 2e6);
    EXPECT_EQ(bits_per_second_of("1.5G"), 1.5e9);
    EXPECT_EQ(bits_per_second_of("500k"), 5e5);
    EXPECT_EQ(bits_per_second_of("1000"), 1000);
    for (const auto* text : {"", "M", "999", "0.5k", "2T", "1001G", "-2M", "2 M", "2Mb", "nan", "infM"})
        EXPECT_FALSE(bits_per_second_of(text)) << text;
}

}  // namespace piece_names_test
}  // namespace framewire
