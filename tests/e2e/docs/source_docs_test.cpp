#include "e2e/program.hpp"

#include "framewire/media/sources.hpp"
#include "kit/sources.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

TEST(SourceDocs, MatchTheRegistry) {
    const auto page = contents(std::string(kit::sources_path) + "/docs/sources.md");
    const std::string begin = "<!-- framewire sources --markdown -->\n", end = "<!-- end -->\n";
    const auto first = page.find(begin), last = page.find(end);
    ASSERT_NE(first, page.npos);
    ASSERT_NE(last, page.npos);
    const auto written = run_framewire({"sources", "--markdown"});
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(page.substr(first + begin.size(), last - first - begin.size()), written.out)
        << "run scripts/source-docs.sh to regenerate it";
}

TEST(Program, ListsSources) {
    const auto words = run_framewire({"sources"});
    EXPECT_EQ(words.code, 0);
    for (const auto& kind : source_registry())
        EXPECT_NE(words.out.find(std::string(kind.name) + ": "), std::string::npos) << words.out;

    const auto all = Json::parse(run_framewire({"sources", "--json"}).out);
    ASSERT_EQ(all.size(), source_registry().size());
    const auto synth = Json::parse(run_framewire({"sources", "synth", "--json"}).out).at(0);
    EXPECT_EQ(synth["prefix"], "synth:");
    EXPECT_EQ(synth["available"], true);
    const auto& parameters = synth["parameters"];
    EXPECT_EQ(parameters[0]["name"], "size");
    EXPECT_EQ(parameters[0]["default"], "1280x720");
    EXPECT_EQ(parameters[2]["maximum"], 50);
    EXPECT_TRUE(parameters[5]["default"].is_null());
    EXPECT_EQ(parameters[5]["required"], false);
    const auto raw = Json::parse(run_framewire({"sources", "raw", "--json"}).out).at(0);
    EXPECT_EQ(raw["parameters"][0]["required"], true);

    const auto unknown = run_framewire({"sources", "sinth"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("did you mean 'synth'?"), std::string::npos) << unknown.err;
    const auto help = run_framewire({"run", "--help"}).out;
    for (const auto* prefix : {"synth:", "raw:", "v4l2:", "lavfi:"})
        EXPECT_NE(help.find(prefix), std::string::npos) << help;
}

TEST(Program, ParameterOptionsStateTheAllowedValues) {
    const auto refusal = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin() + 1, {"-i", "synth:size=64x48:frames=1"});
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 2) << result.err;
        return result.err;
    };
    EXPECT_NE(refusal({"detect", "--blur", "300"})
                  .find("--blur: '300' is out of range; allowed: a whole number from 1 to 255"),
              std::string::npos);
    EXPECT_NE(refusal({"detect", "--diameter", "4"}).find("is even; allowed: an odd whole number from 1 to 63"),
              std::string::npos);
    EXPECT_NE(refusal({"detect", "--morph", "closed"}).find("one of close, open"), std::string::npos);
    EXPECT_NE(refusal({"detect", "--background", "mixture:histroy=5"}).find("did you mean 'history'?"),
              std::string::npos);
    EXPECT_NE(refusal({"hog", "-o", "x.npy", "--cell", "3"}).find("allowed: a whole number from 4 to 64"),
              std::string::npos);
    EXPECT_NE(refusal({"hog", "--people", "x", "--overlap", "2"}).find("allowed: a number from 0 to 1"),
              std::string::npos);
    const auto help = run_framewire({"hog", "--help"}).out;
    EXPECT_NE(help.find("none|l2|l2hys"), std::string::npos) << help;
    EXPECT_NE(help.find("64x128"), std::string::npos) << help;
}

}  // namespace
}  // namespace framewire::e2e
