#include "e2e/program.hpp"
#include "e2e/real_data.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
}

// A room in which objects move all the time, once as a recording and once as a video without loss.
class FindCommand : public testing::Test {
protected:
    void SetUp() override {
        const std::string room = "synth:size=320x180:fps=10:objects=1:seed=3:noise=3:frames=300";
        ASSERT_EQ(run_framewire({"run", "-i", room, "-o", video()}).code, 0);
        ASSERT_EQ(run_framewire({"run", "-i", room, "-o", recording()}).code, 0);
    }

    std::string video() const { return folder_ / "room.mkv"; }
    std::string recording() const { return folder_ / "room.fwd"; }

    TemporaryFolder folder_;
};

TEST_F(FindCommand, ListsTheSameTimesForARecordingAndItsSource) {
    const auto seen = run_framewire({"find", "--backend", "cpu", "-i", video(), "--json"});
    ASSERT_EQ(seen.code, 0) << seen.err;
    const auto changed = run_framewire({"find", "-i", recording(), "--json"});
    ASSERT_EQ(changed.code, 0) << changed.err;
    const auto expected = lines_of(seen.out), found = lines_of(changed.out);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(found.size(), expected.size()) << changed.out << seen.out;
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i]["source"], recording());
        EXPECT_EQ(found[i]["number"], i + 1);
        EXPECT_NEAR(found[i]["begin"].get<double>(), expected[i]["begin"].get<double>(), 1);
        EXPECT_NEAR(found[i]["end"].get<double>(), expected[i]["end"].get<double>(), 1);
        EXPECT_EQ(found[i]["box"].size(), 4u);
    }
}

// DVR-Scan publishes the events of this clip: frames 10 to 148, 359 to 490 and 543 to 575, of which the last 50 are
// added.
TEST(FindRealCommand, FindsThePublishedEventsOfARoad) {
    const auto clip = real_data("moving_objects/dvr-scan/traffic_camera.mp4");
    FRAMEWIRE_NEEDS_REAL(clip);
    const TemporaryFolder folder;
    ASSERT_EQ(run_framewire({"run", "-i", clip, "-o", folder / "road.fwd"}).code, 0);
    for (const auto& source : {clip, folder / "road.fwd"}) {
        const auto result =
            run_framewire({"find", "--backend", "cpu", "-i", source, "--zone", "631,532,210,127", "--json"});
        ASSERT_EQ(result.code, 0) << result.err;
        const auto found = lines_of(result.out);
        EXPECT_TRUE(found.size() == 3 || (source != clip && found.size() > 3)) << result.out;
        for (const int begin : {10, 359, 543})
            EXPECT_TRUE(std::ranges::any_of(
                found, [&](const Json& range) { return std::abs(range["begin_frame"].get<int>() - begin) <= 25; }))
                << begin << '\n'
                << result.out;
    }
}

// Sources are arguments or follow -i; a zone takes one value, so that a source can follow it.
TEST_F(FindCommand, TakesSourcesAsArguments) {
    const auto named = run_framewire({"find", "-i", recording(), "--json"});
    ASSERT_EQ(named.code, 0) << named.err;
    ASSERT_FALSE(lines_of(named.out).empty());
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"find", recording(), "--json"},
          {"find", "--json", "--zone", "0,0,320,100", "--zone", "0,100,320,80", recording()}}) {
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(result.out, named.out);
    }
    std::filesystem::copy_file(recording(), folder_ / "second.fwd");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"find", "--json", recording(), folder_ / "second.fwd"},
          {"find", recording(), "--json", "-i", folder_ / "second.fwd"}}) {
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(lines_of(result.out).size(), 2 * lines_of(named.out).size()) << result.out;
    }
    const auto none = run_framewire({"find", "--json"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("SRC is required"), std::string::npos) << none.err;
}

TEST_F(FindCommand, PrintsATable) {
    const auto result = run_framewire({"find", "-i", recording()});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("room.fwd: "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("begin"), std::string::npos) << result.out;
}

TEST_F(FindCommand, CutsClips) {
    const auto clips = folder_ / "clips/";
    const std::vector<std::string> arguments{"find",   "-i",       recording(), "-o",      clips,
                                             "--json", "--before", "1",         "--after", "1"};
    const auto result = run_framewire(arguments);
    ASSERT_EQ(result.code, 0) << result.err;
    const auto found = lines_of(result.out);
    ASSERT_FALSE(found.empty());
    for (const auto& range : found) {
        const auto clip = range["clip"].get<std::string>();
        EXPECT_TRUE(std::filesystem::exists(clip)) << clip;
        EXPECT_TRUE(clip.ends_with(".fwd")) << clip;
    }
    EXPECT_EQ(run_framewire(arguments).code, 74) << "clips are not replaced without -y";
    auto kept = arguments;
    kept.push_back("-n");
    EXPECT_EQ(run_framewire(kept).code, 0);
}

TEST_F(FindCommand, ReportsATruncatedRecordingAfterWhatItFound) {
    std::filesystem::resize_file(recording(), std::filesystem::file_size(recording()) * 3 / 4);
    const auto result = run_framewire({"find", "-i", recording(), "--json"});
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("truncated"), std::string::npos) << result.err;
    EXPECT_FALSE(lines_of(result.out).empty());
}

TEST_F(FindCommand, SearchesManyFilesAndNamesThoseThatFail) {
    std::ofstream(folder_ / "bad.fwd") << "nothing";
    const auto result = run_framewire({"find", "-i", folder_ / "bad.fwd", recording(), "--json"});
    EXPECT_NE(result.code, 0);
    EXPECT_NE(result.err.find("1 of 2 files failed"), std::string::npos) << result.err;
    EXPECT_FALSE(lines_of(result.out).empty());
}

TEST_F(FindCommand, RefusesOptionsThatContradictEachOther) {
    EXPECT_EQ(run_framewire({"find", "-i", recording(), "-o", folder_ / "a.mp4"}).code, 2);
    EXPECT_EQ(run_framewire({"find", "-i", recording(), "--before", "2"}).code, 2);
    EXPECT_EQ(run_framewire({"find", "-i", recording(), "--zone", "900,0,10,10"}).code, 2);
    EXPECT_EQ(run_framewire({"find", "-i", recording(), "--zone", "1,2,3"}).code, 2);
    EXPECT_EQ(run_framewire({"find", "-i", recording(), "--motion-after", "0"}).code, 2);
    EXPECT_EQ(run_framewire({"find", "-i", recording(), "--gap", "-1"}).code, 2);
}

}  // namespace
}  // namespace framewire::e2e
