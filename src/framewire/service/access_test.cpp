#include "framewire/net/access.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/testing/test_files.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/service/access.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace framewire::service {
namespace {

using net::testing::expect_code;
using net::testing::TestFolder;

const net::Address loopback{"127.0.0.1", 0}, everywhere{"0.0.0.0", 0};

// Redirects kept files to a temporary folder.
class AccessTest : public ::testing::Test {
protected:
    void SetUp() override { ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1); }
    void TearDown() override { ::unsetenv("XDG_STATE_HOME"); }
    net::ListenerOptions listener(const net::Address& address) const {
        net::ListenerOptions options;
        options.listen = address;
        return options;
    }
    bool warned_of(const std::string& words) const { return log.text().find(words) != std::string::npos; }

    const TestFolder folder;
    const kit::CapturedLog log;
};

TEST_F(AccessTest, RequiresATokenOnLoopbackOnlyIfOneIsGiven) {
    auto options = listener(loopback);
    const auto access = prepare_access({}, options);
    EXPECT_EQ(options.token, "");
    EXPECT_FALSE(options.open);
    EXPECT_EQ(access.token_file, "");
    const auto file = folder.file("token", "0123456789abcdef\n");
    EXPECT_EQ(prepare_access({.token_file = file}, options).token_file, file);
    EXPECT_EQ(options.token, "0123456789abcdef");
    EXPECT_FALSE(warned_of("TLS"));
}

TEST_F(AccessTest, CreatesATokenOnceBeyondLoopback) {
    auto first = listener(everywhere), second = listener(everywhere);
    const auto made = prepare_access({}, first), kept = prepare_access({}, second);
    EXPECT_EQ(made.token_file, folder.path() + "/framewire/token");
    EXPECT_TRUE(made.token_made);
    EXPECT_EQ(kept.token_file, made.token_file);
    EXPECT_FALSE(kept.token_made);
    EXPECT_EQ(first.token.size(), 32u);
    EXPECT_EQ(first.token, second.token);
    EXPECT_TRUE(warned_of("pictures and the token sent from 0.0.0.0:0 are not encrypted: TLS is off"));
    EXPECT_FALSE(warned_of(first.token));
}

TEST_F(AccessTest, IsOpenOnlyOnRequest) {
    auto options = listener(everywhere);
    EXPECT_EQ(prepare_access({.open = true}, options).token_file, "");
    EXPECT_TRUE(options.open);
    EXPECT_EQ(options.token, "");
    EXPECT_TRUE(warned_of("anyone who can connect to 0.0.0.0:0 can watch"));
    expect_code(ErrorCode::usage, "cannot be combined with access without a token",
                [&] { prepare_access({.token_file = "x", .open = true}, options); });
}

TEST_F(AccessTest, ReportsAMissingStateFolder) {
    ::setenv("XDG_STATE_HOME", "not/from/the/root", 1);
    const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
    ::unsetenv("HOME");
    expect_code(ErrorCode::config, "neither XDG_STATE_HOME nor HOME", [&] { net::kept_file("token"); });
    ::setenv("HOME", "/home/somebody", 1);
    EXPECT_EQ(net::kept_file("token"), "/home/somebody/.local/state/framewire/token");
    ::setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace framewire::service
