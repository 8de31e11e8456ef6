// Runs every file of corpus/NAME/ through the fuzzer NAME in builds without libFuzzer. The files are the fuzzers' seeds
// and earlier findings.

#include "kit/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

// The build defines FRAMEWIRE_FUZZERS as one FRAMEWIRE_FUZZER(name) per fuzzer.
#define FRAMEWIRE_FUZZER(name) extern "C" int name##_input(const std::uint8_t* data, std::size_t size);
FRAMEWIRE_FUZZERS
#undef FRAMEWIRE_FUZZER

namespace framewire::fuzz {
namespace {

namespace fs = std::filesystem;

const auto corpus = fs::path(kit::sources_path) / "tests/fuzz/corpus";

struct Fuzzer {
    std::string name;
    int (*run)(const std::uint8_t* data, std::size_t size);
};

const Fuzzer fuzzers[] = {
#define FRAMEWIRE_FUZZER(name) {#name, name##_input},
    FRAMEWIRE_FUZZERS
#undef FRAMEWIRE_FUZZER
};

struct Case {
    Fuzzer fuzzer;
    fs::path path;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.path; }

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const auto& fuzzer : fuzzers) {
        std::error_code none;  // EveryFuzzerHasACorpus reports a missing folder
        for (const auto& entry : fs::directory_iterator(corpus / fuzzer.name, none))
            cases.push_back({fuzzer, entry.path()});
    }
    std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return cases;
}

TEST(Corpus, EveryFuzzerHasACorpus) {
    std::set<std::string> with_files, of_fuzzers;
    for (const auto& one : all_cases()) with_files.insert(one.fuzzer.name);
    for (const auto& fuzzer : fuzzers) of_fuzzers.insert(fuzzer.name);
    EXPECT_EQ(with_files, of_fuzzers);
    for (const auto& entry : fs::directory_iterator(corpus))
        EXPECT_TRUE(of_fuzzers.contains(entry.path().filename())) << entry.path() << " does not belong to a fuzzer";
}

class Replay : public testing::TestWithParam<Case> {};

TEST_P(Replay, IsAcceptedOrRejected) {
    std::ifstream file(GetParam().path, std::ios::binary);
    ASSERT_TRUE(file);
    // Copy the input to a heap block of the exact size, so that sanitizers detect reads beyond its end.
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
    GetParam().fuzzer.run(data.data(), data.size());
}

INSTANTIATE_TEST_SUITE_P(All, Replay, testing::ValuesIn(all_cases()), [](const auto& one) {
    auto name = one.param.fuzzer.name + "_" + one.param.path.filename().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
});

}  // namespace
}  // namespace framewire::fuzz
