// Tests how the program prints names that others chose, and addresses with passwords.
#include "e2e/program.hpp"

#include "framewire/core/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

// Name with an escape sequence, a line that looks like one of the program's, and a character that reverses the writing
// direction.
const std::string name = "a\x1b[2Jb\nframewire: error: all is lost\xe2\x80\xaegpj";
const std::string shown = "a\\x1b[2Jb\\x0aframewire: error: all is lost\\u{202e}gpj";

// Expects standard error to contain the program's own line breaks, and no other control sequence that a terminal would
// interpret.
void expect_harmless(const std::string& err) {
    EXPECT_EQ(err, printable_lines(err));
    EXPECT_EQ(err.find("\nframewire: error: all is lost"), std::string::npos) << err;
}

TEST(Names, MissingFileNamesAreEscaped) {
    const TemporaryFolder folder;
    const auto missing = folder / name + ".mp4";
    for (const auto* command : {"run", "detect", "hog", "serve"}) {
        std::vector<std::string> arguments{command, "-i", missing};
        if (command == std::string_view("serve"))
            arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
        else
            arguments.insert(arguments.end(), {"-o", folder / "out.mkv"});
        if (command == std::string_view("hog")) arguments.back() = folder / "out.npy";
        if (command == std::string_view("detect")) arguments.back() = folder / "out.jsonl";
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 66) << result.err;
        EXPECT_NE(result.err.find(shown), std::string::npos) << result.err;
        expect_harmless(result.err);
    }
}

TEST(Names, InvalidArgumentsAreEscaped) {
    for (const auto& arguments : {std::vector<std::string>{"run", "-i", "synth", "-o", "out." + name},
                                  {"run", "-i", "synth", "-o", "out.mkv", "--frames", "\x1b[2J"},
                                  {"run", "-i", "synth", "-o", "out.mkv", "-f", "gray,\x1b[2J\xe2\x80\xae"},
                                  {"view", "tcp://\x1b[2J"}}) {
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 2) << result.err;
        expect_harmless(result.err);
    }
}

TEST(Names, FileNamesInLogLinesAreEscaped) {
    const TemporaryFolder folder;
    // The program's reports name an image whose size differs from the first, and a truncated file.
    ASSERT_EQ(run_framewire({"run", "-i", "synth:size=64x48:seed=1", "-o", folder / "a1.png", "--frames", "1"}).code,
              0);
    ASSERT_EQ(run_framewire({"run", "-i", "synth:size=32x24:seed=1", "-o", folder / "b.png", "--frames", "1"}).code, 0);
    std::filesystem::create_directory(folder / name);
    std::filesystem::rename(folder / "a1.png", folder / name + "/a1.png");
    std::filesystem::rename(folder / "b.png", folder / name + "/a2.png");
    const auto images = run_framewire({"run", "-i", folder / name + "/a%d.png", "-o", folder / "out.mkv", "--stats",
                                       folder / "stats.json", "--log-level", "trace"});
    EXPECT_EQ(images.code, 0) << images.err;
    EXPECT_NE(images.err.find("warning: " + (folder / shown) + "/a2.png"), std::string::npos) << images.err;
    expect_harmless(images.err);
    // Machine-readable outputs contain the unchanged name.
    const auto figures = Json::parse(contents(folder / "stats.json"));
    EXPECT_EQ(figures["source"], folder / name + "/a%d.png");

    ASSERT_EQ(run_framewire({"run", "-i", "synth:size=64x48:seed=1", "-o", folder / "a.y4m", "--frames", "2"}).code, 0);
    auto bytes = contents(folder / "a.y4m");
    bytes.resize(bytes.size() - 100);
    std::ofstream(folder / name + ".y4m", std::ios::binary) << bytes;
    const auto cut = run_framewire({"detect", "-i", folder / name + ".y4m", "-o", folder / "out.jsonl"});
    EXPECT_EQ(cut.code, 69) << cut.err;
    EXPECT_NE(cut.err.find("framewire: error: " + (folder / shown) + ".y4m: truncated"), std::string::npos) << cut.err;
    expect_harmless(cut.err);
}

TEST(Names, CaretLinesOfChainsAreNotEscaped) {
    const auto result = run_framewire({"run", "-i", "synth", "-o", "out.mkv", "-f", "gray,grey"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("did you mean 'gray'?\n  gray,grey\n       ^\n"), std::string::npos) << result.err;
}

// Nothing listens at port 1, so the program reports the address.
TEST(Passwords, AreNeverShown) {
    const TemporaryFolder folder;
    const std::string address = "rtsp://user:geheim@127.0.0.1:1/live?token=geheim";
    for (const auto& arguments :
         {std::vector<std::string>{"run", "-i", address, "-o", folder / "out.mkv", "-f", "text='{source}'"},
          {"detect", "-i", address, "-o", folder / "out.jsonl"},
          {"serve", "-i", address, "--listen", "127.0.0.1:0"},
          {"run", "-i", "synth:size=64x48", "-o", address, "--frames", "3"},
          {"run", "-i", "synth:size=64x48", "-o", address + ".xyz", "--frames", "3"},
          {"run", "-i", "synth:size=64x48", "-o", folder / "out.mkv", address},
          {"view", address}}) {
        auto all = arguments;
        all.insert(all.end(), {"--stats", folder / "stats.json", "--log-level", "trace"});
        const auto result = run_framewire(all);
        EXPECT_NE(result.code, 0) << result.err;
        EXPECT_EQ(result.err.find("geheim"), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("***@127.0.0.1:1"), std::string::npos) << result.err;
        EXPECT_EQ(result.out, "");
        if (std::filesystem::exists(folder / "stats.json")) {
            EXPECT_EQ(contents(folder / "stats.json").find("geheim"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace framewire::e2e
