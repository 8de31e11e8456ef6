// Tests motion events in Frigate, with a server that has the part of its API that is used.
#include "e2e/program.hpp"
#include "framewire/service/frigate_testing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

std::vector<std::string> serve(std::vector<std::string> more) {
    more.insert(more.begin(), {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--detect", "-i",
                               "door=synth:size=160x120:fps=20:noise=0:objects=3:seed=3"});
    return framewire(std::move(more));
}

std::string url(const service::FakeFrigate& frigate) { return fmt::format("http://127.0.0.1:{}", frigate.port()); }

// Motion that is ON when the camera ends is ended in Frigate, too.
TEST(ServeFrigate, GetsAnEventWhileACameraSeesMotion) {
    const TemporaryFolder folder;
    const service::FakeFrigate frigate({"front_door"});
    Program serving(serve({"--frigate", url(frigate) + "/", "--frigate-camera", "door=front_door", "--frigate-label",
                           "something", "--stats", folder / "stats.json"}));
    ASSERT_TRUE(becomes_true([&] { return frigate.entries().size() == 1; })) << serving.err();
    EXPECT_FALSE(frigate.entries()[0].end);
    serving.signal(SIGINT);
    EXPECT_EQ(serving.wait().code, 128 + SIGINT) << serving.err();
    const auto entry = frigate.entries().at(0);
    EXPECT_EQ(entry.camera, "front_door");
    EXPECT_EQ(entry.label, "something");
    EXPECT_TRUE(entry.create["duration"].is_null());
    EXPECT_TRUE(entry.end) << serving.err();
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["frigate"],
              Json::parse(R"({"created":1,"ended":1,"waiting":0,"dropped":0})"));
}

// The stream goes on, and the server ends in time.
TEST(ServeFrigate, MayBeAway) {
    const TemporaryFolder folder;
    std::string gone;
    gone = url(service::FakeFrigate({"door"}));
    std::ofstream(folder / "cams.yaml") << "frigate: " << gone << "\ncameras:\n  door:\n    source: "
                                        << "synth:size=160x120:fps=20:noise=0:objects=3:seed=3\n    detect: true\n";
    Program serving(framewire({"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--config", folder / "cams.yaml",
                               "--stats", folder / "stats.json"}));
    ASSERT_TRUE(serving.wait_for_err("motion cannot be sent to Frigate at")) << serving.err();
    serving.signal(SIGINT);
    EXPECT_EQ(serving.wait().code, 128 + SIGINT) << serving.err();
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["frigate"]["dropped"], 1) << serving.err();
}

TEST(ServeFrigate, WrongOptionsAreRefused) {
    const auto refusal = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--frames", "1"});
        const auto result = run_framewire(std::move(more));
        EXPECT_EQ(result.code, 2) << result.err;
        return result.err;
    };
    const auto expect_in = [](const std::string& text, const std::string& words) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\nis missing from:\n" << text;
    };
    const std::string source = "door=synth:size=64x48", there = "http://127.0.0.1:9";
    expect_in(refusal({"-i", source, "--frigate", there}), "detect is not enabled for any camera");
    expect_in(refusal({"-i", source, "--detect", "--frigate-label", "person"}), "require frigate");
    expect_in(refusal({"-i", source, "--detect", "--frigate", "127.0.0.1:9"}), "write http://HOST[:PORT]");
    expect_in(refusal({"-i", source, "--detect", "--frigate", there, "--frigate-label", "a/b"}), "is not a label");
    expect_in(refusal({"-i", source, "--detect", "--frigate", there, "--frigate-camera", "door"}), "CAMERA=NAME");
    expect_in(refusal({"-i", source, "--detect", "--frigate", there, "--frigate-camera", "yard=yard"}),
              "the cameras with detect are: door");
    expect_in(refusal({"-i", "a.b=synth:size=64x48", "--detect", "--frigate", there}), "frigate-camera a.b=NAME");
    const auto words = refusal({"-i", source, "--detect", "--frigate", "http://bob:secret@127.0.0.1:9"});
    expect_in(words, "without user and password");
    EXPECT_EQ(words.find("secret"), std::string::npos) << words;
}

}  // namespace
}  // namespace framewire::e2e
