#include "framewire/net/access/token.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/access/secret_file.hpp"
#include "framewire/net/testing/test_files.hpp"
#include "framewire/net/testing/test_server.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace framewire::net {
namespace token_test {

using testing::expect_code;
using testing::TestFolder;

TEST(Token, Has16To255VisibleCharacters) {
    for (const auto& good : {std::string(16, 'a'), std::string(255, '~'), std::string("!\"#$%&'()*+,-./0")})
        EXPECT_NO_THROW(validate_token(good, "a test")) << good;
    for (const auto& bad : {std::string(), std::string(15, 'a'), std::string(256, 'a'), std::string("sixteen letters "),
                            std::string(16, '\t'), std::string(15, 'a') + '\x7f', std::string(16, '\xc3')})
        expect_code(ErrorCode::usage, "a test holds no token", [&] { validate_token(bad, "a test"); });
}

TEST(Token, IsTheOnlyLineOfItsFile) {
    const TestFolder folder;
    const std::string token = "0123456789abcdefg";
    for (const auto& text : {token, token + "\n", token + "\r\n"})
        EXPECT_EQ(read_token_file(folder.file("good", text)), token);
    for (const auto& text : {std::string(), token + "\n\n", token + "\n" + token + "\n", std::string("short\n")}) try {
            read_token_file(folder.file("bad", text));
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_EQ(std::string(error.what()).find("0123"), std::string::npos) << "the token is told to nobody";
        }
    expect_code(ErrorCode::no_input, "none cannot be read", [&] { read_token_file(folder.path() + "/none"); });
}

TEST(Token, IsRandom) {
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i) {
        const auto token = make_token();
        EXPECT_EQ(token.size(), 32u);
        EXPECT_NO_THROW(validate_token(token, "a new one"));
        all.insert(token);
    }
    EXPECT_EQ(all.size(), 100u);
}

TEST(TokenCheck, AcceptsOnlyTheRightToken) {
    const std::string token = "correct-horse-battery";
    const TokenCheck check(token);
    EXPECT_TRUE(check.needed());
    EXPECT_TRUE(check.matches(token));
    for (const auto& other : {std::string(), token.substr(1), token + "y", std::string("Correct-horse-battery")})
        EXPECT_FALSE(check.matches(other)) << other;
    EXPECT_FALSE(TokenCheck("").needed());
}

}  // namespace token_test
}  // namespace framewire::net
