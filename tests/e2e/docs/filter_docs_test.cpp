#include "e2e/program.hpp"

#include "framewire/plan/chain.hpp"
#include "kit/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

const std::filesystem::path docs = std::string(kit::sources_path) + "/docs/filters";
constexpr const char* how_to_mend = "run scripts/filter-docs.sh to regenerate the pages";

std::string page(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "filters");
    arguments.push_back("--markdown");
    const auto result = run_framewire(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
}

TEST(FilterDocs, PagesMatchTheRegistry) {
    EXPECT_EQ(contents(docs / "README.md"), page({})) << how_to_mend;
    for (const auto& filter : filter_registry()) {
        const auto name = std::string(filter.name);
        EXPECT_EQ(contents(docs / (name + ".md")), page({name})) << how_to_mend;
    }
}

TEST(FilterDocs, EveryPageHasASmallPicture) {
    constexpr std::uintmax_t largest_bytes = 60'000;
    std::set<std::string> wanted{"before.jpg"}, found;
    for (const auto& filter : filter_registry()) wanted.insert(std::string(filter.name) + ".jpg");
    for (const auto& entry : std::filesystem::directory_iterator(docs / "pictures")) {
        found.insert(entry.path().filename());
        EXPECT_LT(entry.file_size(), largest_bytes) << entry.path();
        EXPECT_EQ(frames_in(entry.path()), 1);
    }
    EXPECT_EQ(found, wanted) << how_to_mend;
}

TEST(FilterDocs, ExamplesUseTheFilterOfTheirPage) {
    for (const auto& filter : filter_registry())
        for (const auto example : filter.examples) {
            const auto chain = parse_chain(example);
            EXPECT_EQ(std::count_if(chain.calls.begin(), chain.calls.end(),
                                    [&](const auto& call) { return call.filter->name == filter.name; }),
                      1)
                << example;
            EXPECT_EQ(example.find_first_of("\"$`|"), example.npos)
                << example << " contains characters that a shell would expand";
        }
}

}  // namespace
}  // namespace framewire::e2e
