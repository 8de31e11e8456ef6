// Tests access control by token on the command line.

#include "e2e/live/guarded.hpp"

#include "framewire/net/testing/test_tcp.hpp"
#include "framewire/net/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

using guarded::GuardedServer;
using guarded::small_synth;
using guarded::view;

const std::string right = "correct-horse-battery-staple", wrong = "incorrect-horse-battery-staple";

std::string token_file(const TemporaryFolder& folder, const std::string& name, const std::string& token) {
    const auto path = folder / name;
    std::ofstream(path) << token << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
}

TEST(Access, OnlyTheCorrectTokenIsAccepted) {
    const TemporaryFolder folder;
    const auto right_file = token_file(folder, "right", right), wrong_file = token_file(folder, "wrong", wrong);
    GuardedServer serving("127.0.0.1:0", {"--token-file", right_file, "--stats", folder / "stats.json"}, folder);

    const auto with_file = Program(view({serving.url(), "--token-file", right_file})).wait();
    EXPECT_EQ(with_file.code, 0) << with_file.err;
    const auto with_environment = Program(view({serving.url()}, "FRAMEWIRE_TOKEN=" + right)).wait();
    EXPECT_EQ(with_environment.code, 0) << with_environment.err;
    const auto missing = Program(view({serving.url()})).wait();
    EXPECT_EQ(missing.code, 66);
    EXPECT_NE(missing.err.find("a token is required (view --token-file FILE)"), std::string::npos) << missing.err;
    const auto mistaken = Program(view({serving.url(), "--token-file", wrong_file})).wait();
    EXPECT_EQ(mistaken.code, 66);
    EXPECT_NE(mistaken.err.find("the token is wrong"), std::string::npos) << mistaken.err;
    // Only a client with the right token learns the names of the streams.
    const auto elsewhere = serving.url().substr(0, serving.url().rfind('/')) + "/garden";
    const auto stranger = Program(view({elsewhere})).wait();
    EXPECT_EQ(stranger.code, 66);
    EXPECT_EQ(stranger.err.find("'main'"), std::string::npos) << stranger.err;
    const auto lost = Program(view({elsewhere, "--token-file", right_file})).wait();
    EXPECT_NE(lost.err.find("available: 'main'"), std::string::npos) << lost.err;

    const auto served = serving.stop();
    for (const auto& text : {served.err, served.out, contents(folder / "stats.json"), with_file.err, mistaken.err})
        for (const auto& token : {right, wrong}) EXPECT_EQ(text.find(token), std::string::npos) << text;
}

TEST(Access, BeyondLoopbackATokenIsCreatedStoredAndShownOnce) {
    const TemporaryFolder state, other;
    std::string token;
    {
        GuardedServer serving("0.0.0.0:0", {}, state);
        EXPECT_EQ(Program(view({serving.url()})).wait().code, 66);
        const auto served = serving.stop();
        ASSERT_EQ(served.out.substr(0, 7), "token: ") << served.out;
        token = served.out.substr(7, served.out.size() - 8);
        EXPECT_EQ(served.err.find(token), std::string::npos) << served.err;
        EXPECT_NE(served.err.find("TLS is off"), std::string::npos) << served.err;
    }
    const auto file = state / "framewire/token";
    EXPECT_EQ(contents(file), token + "\n");
    EXPECT_EQ(std::filesystem::status(file).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    GuardedServer again("0.0.0.0:0", {}, state);
    EXPECT_EQ(Program(view({again.url(), "--token-file", file})).wait().code, 0);
    const auto served = again.stop();
    EXPECT_EQ(served.out, "");
    EXPECT_NE(served.err.find("viewers need the token in " + file), std::string::npos) << served.err;

    GuardedServer open("0.0.0.0:0", {"--no-token"}, other);
    EXPECT_EQ(Program(view({open.url()})).wait().code, 0);
    EXPECT_NE(open.stop().err.find("can watch: no token is required"), std::string::npos);
    EXPECT_TRUE(other.names().empty());
}

// The server ignores an address after five failed attempts, but still accepts a client at another address.
TEST(Access, AFloodOfFailedLoginsDoesNotLockOutOthers) {
    const TemporaryFolder folder;
    const auto file = token_file(folder, "token", right);
    GuardedServer serving("127.0.0.1:0", {"--token-file", file}, folder);
    int heard = 0, unheard = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) {
        auto guess = net::testing::RawConnection::connect(serving.port(), 0, 2);
        guess.send(net::viewer_hello({.stream = "main", .token = wrong + std::to_string(i)}));
        net::Bytes answer;
        ASSERT_TRUE(guess.read_to_the_end(answer)) << i;
        const std::string text(answer.begin(), answer.end());
        heard += text.find("the token is wrong") != std::string::npos;
        unheard += text.find("too many failed logins") != std::string::npos;
    }
    const auto windows = (std::chrono::steady_clock::now() - begin) / std::chrono::seconds(10) + 1;
    EXPECT_GE(heard, 5);
    EXPECT_LE(heard, 5 * windows);
    EXPECT_EQ(heard + unheard, 300);
    EXPECT_EQ(Program(view({serving.url(), "--token-file", file})).wait().code, 0);
    const auto served = serving.stop();
    EXPECT_LT(std::count(served.err.begin(), served.err.end(), '\n'), 100) << "each failed login was logged";
}

// Retrying cannot help with a wrong token, so no client does it.
TEST(Access, AViewerWithAWrongTokenDoesNotRetry) {
    const TemporaryFolder folder;
    const auto file = token_file(folder, "token", right), other = token_file(folder, "other", wrong);
    GuardedServer first("127.0.0.1:0", {"--token-file", file}, folder);
    const auto port = first.port();
    auto arguments = framewire({"view", "--no-window", "--reconnect", "forever", "--token-file", file, first.url()});
    Program viewer(arguments);
    ASSERT_TRUE(viewer.wait_for_err("viewing")) << viewer.err();
    first.program().signal(SIGKILL);
    first.program().wait();
    GuardedServer second("127.0.0.1:" + std::to_string(port), {"--token-file", other}, folder);
    const auto viewed = viewer.wait();
    EXPECT_EQ(viewed.code, 69) << viewed.err;
    EXPECT_NE(viewed.err.find("the token is wrong"), std::string::npos) << viewed.err;
}

TEST(Access, RejectsFilesWithoutAToken) {
    const TemporaryFolder folder;
    const auto refused = [](const std::vector<std::string>& arguments, int code, const std::string& words) {
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    };
    const auto brief = token_file(folder, "brief", "short");
    refused({"serve", "-i", small_synth, "--listen", "127.0.0.1:0", "--token-file", brief}, 2, "invalid token in");
    refused({"serve", "-i", small_synth, "--listen", "127.0.0.1:0", "--token-file", folder / "none"}, 66,
            "cannot be read");
    refused({"serve", "-i", small_synth, "--token-file", brief, "--no-token"}, 2, "--no-token");
    refused({"view", "--no-window", "--token-file", brief, "tcp://127.0.0.1:1"}, 2, "invalid token in");
}

}  // namespace
}  // namespace framewire::e2e
