#include "e2e/program.hpp"

#include "kit/sources.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

constexpr std::size_t chains_on_the_page = 10;

// Returns the commands of the page about formats, and what they print according to it.
std::vector<std::pair<std::string, std::string>> commands_of_page() {
    const auto page = contents(std::string(kit::sources_path) + "/docs/formats.md");
    const std::string begin = "```console\n$ framewire ", end = "```\n";
    std::vector<std::pair<std::string, std::string>> commands;
    for (std::size_t at = 0; (at = page.find(begin, at)) != page.npos;) {
        at += begin.size();
        const auto line_end = page.find('\n', at), block_end = page.find(end, at);
        commands.emplace_back(page.substr(at, line_end - at), page.substr(line_end + 1, block_end - line_end - 1));
    }
    return commands;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

TEST(ExplainDocs, CommandsPrintWhatThePageShows) {
    const TemporaryFolder folder;
    const auto path = [&](const std::string& name) { return folder / name; };
    ASSERT_EQ(run_framewire({"run", "-i", "synth:size=320x240:frames=2", "-o",
                             path("clip.y4m") + ":pixels=yuv420p:range=limited"})
                  .code,
              0);
    ASSERT_EQ(run_framewire({"run", "-i", "synth:size=320x240:frames=1", "-o", path("photo.png")}).code, 0);
    const auto commands = commands_of_page();
    EXPECT_GE(commands.size(), chains_on_the_page);
    for (const auto& [command, printed] : commands) {
        SCOPED_TRACE(command);
        std::vector<std::string> arguments;
        std::istringstream words(command);
        for (std::string word; words >> word;)
            arguments.push_back(word == "clip.y4m" || word == "photo.png" ? path(word) : word);
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(replaced(result.out, folder.path().string() + "/", ""), printed);
    }
}

TEST(Explain, WritesNothingAndNamesTheFilterAtFault) {
    const TemporaryFolder folder;
    const auto output = folder / "out.mp4";
    const auto result = run_framewire({"explain", "-i", "synth:frames=2", "-f", "gray", "-o", output, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("\"operation\": \"gray\""), std::string::npos) << result.out;
    EXPECT_TRUE(folder.names().empty());
    const auto wrong = run_framewire({"explain", "-i", "synth:size=64x48:frames=2", "-f", "gray,crop=100:100"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("filters, column 6: filter 'crop'"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace framewire::e2e
