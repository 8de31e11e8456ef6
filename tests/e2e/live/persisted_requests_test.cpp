#include "e2e/program.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/control.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

// Camera with persisted state, which each test restarts several times.
class Kept {
public:
    explicit Kept(const TemporaryFolder& folder)
        : program_(framewire({"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--controls", "--state",
                              folder / "state.json", "--mode", "lossless", "-f", "gray=channels=3", "-i",
                              "synth:size=64x48:fps=30:noise=0:objects=0"})) {}

    net::StreamAddress address() {
        EXPECT_TRUE(program_.wait_for_err("/main\n")) << program_.err();
        const auto words = program_.err();
        const auto end = words.find("/main\n") + 5, begin = words.rfind("tcp://", end);
        return net::parse_stream_address(words.substr(begin, end - begin));
    }
    int end() {
        program_.signal(SIGTERM);
        return program_.wait().code;
    }
    Program& program() { return program_; }

private:
    Program program_;
};

bool is_gray(const HostView<const std::uint8_t>& picture) {
    for (std::int64_t at = 0; at < picture.shape().bytes(); at += 3)
        if (picture.data()[at] != picture.data()[at + 1] || picture.data()[at] != picture.data()[at + 2]) return false;
    return true;
}

TEST(PersistedRequests, ApplyAfterARestart) {
    const TemporaryFolder folder;
    const auto state = folder / "state.json";
    {
        Kept kept(folder);
        net::Client viewer(kept.address());
        ASSERT_TRUE(viewer.next());
        EXPECT_TRUE(is_gray(viewer.picture()));
        EXPECT_FALSE(std::filesystem::exists(state)) << "no request has been made yet";
        viewer.remote_control()->request("filter 1 off");
        while (is_gray(viewer.picture())) ASSERT_TRUE(viewer.next());
        EXPECT_TRUE(becomes_true([&] { return std::filesystem::exists(state); })) << "while it runs";
        viewer.remote_control()->request("adjust brightness=50");
        ASSERT_TRUE(viewer.next());
        EXPECT_TRUE(becomes_true([&] {
            viewer.next();
            return contents(state).find("\"brightness\": 50") != std::string::npos;
        })) << contents(state);
        EXPECT_EQ(kept.end(), 128 + SIGTERM);
    }
    const auto json = Json::parse(contents(state));
    EXPECT_EQ(json["cameras"]["main"]["filters"][0]["on"], false);
    {
        Kept kept(folder);
        net::Client viewer(kept.address());
        ASSERT_TRUE(viewer.next());
        EXPECT_FALSE(is_gray(viewer.picture())) << "the settings must apply from the first frame";
        const auto remote = viewer.remote_control();
        while (remote->state().empty()) ASSERT_TRUE(viewer.next());
        EXPECT_EQ(Json::parse(remote->state())["adjust"]["brightness"], 50);
        EXPECT_EQ(kept.end(), 128 + SIGTERM);
    }
    EXPECT_EQ(Json::parse(contents(state)), json) << "no request was made in the meantime";
}

TEST(PersistedRequests, AnInvalidFileIsRejected) {
    const TemporaryFolder folder;
    std::ofstream(folder / "state.json") << R"({"framewire":"state","version":1,"cameras":{"main":{"threshold":300}}})";
    Kept kept(folder);
    const auto result = kept.program().wait();
    EXPECT_EQ(result.code, 78);
    EXPECT_NE(result.err.find("state.json: cameras.main.threshold: expected a whole number from 0 to 254"),
              std::string::npos)
        << result.err;
}

}  // namespace
}  // namespace framewire::e2e
