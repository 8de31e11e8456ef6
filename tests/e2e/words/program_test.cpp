#include "e2e/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

TEST(Program, PrintsVersionAndHelp) {
    const auto version = run_framewire({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out.rfind("framewire ", 0), 0u) << version.out;
    const auto help = run_framewire({"--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* subcommand : {"run", "serve", "view", "filters", "sources", "devices"})
        EXPECT_NE(help.out.find(subcommand), std::string::npos) << help.out;
    EXPECT_EQ(run_framewire({"run", "--help"}).code, 0);
}

TEST(Program, ListsFilters) {
    const auto words = run_framewire({"filters"});
    EXPECT_EQ(words.code, 0);
    EXPECT_NE(words.out.find("gray: "), std::string::npos) << words.out;

    auto all = Json::parse(run_framewire({"filters", "--json"}).out);
    auto gray = Json::parse(run_framewire({"filters", "gray", "--json"}).out);
    ASSERT_EQ(gray.size(), 1u);
    EXPECT_NE(std::find(all.begin(), all.end(), gray[0]), all.end());
    const auto& method = gray[0]["parameters"][0];
    EXPECT_EQ(method["name"], "method");
    EXPECT_EQ(method["type"], "choice");
    EXPECT_EQ(method["default"], "weighted");
    EXPECT_EQ(method["choices"], (Json{"weighted", "average"}));

    const auto unknown = run_framewire({"filters", "grey"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("did you mean 'gray'?"), std::string::npos) << unknown.err;
}

TEST(Program, ListsDevices) {
    const auto words = run_framewire({"devices"});
    EXPECT_EQ(words.code, 0);
    EXPECT_NE(words.out.find("CPU: "), std::string::npos) << words.out;
    auto json = Json::parse(run_framewire({"devices", "--json"}).out);
    EXPECT_GE(json["cpu"]["threads"], 1);
    EXPECT_FALSE(json["cpu"]["instruction_sets"].empty());
    EXPECT_TRUE(json["cuda"]["gpus"].is_array());
    EXPECT_NE(json["cuda"]["gpus"].empty(), json["cuda"]["reason"].empty())
        << "expected either GPUs or the reason why there are none";
    EXPECT_TRUE(json["cameras"].is_array());
}

TEST(Program, UnwritableOutputIsAnError) {
    EXPECT_EQ(Program(framewire({"filters"}), "/dev/null", true).wait().code, 74);
}

}  // namespace
}  // namespace framewire::e2e
