#include "framewire/net/http_request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::net::http {
namespace {

TEST(Target, IsPercentDecodedOnce) {
    EXPECT_EQ(parse_target("/").path, "/");
    EXPECT_EQ(parse_target("/api/cameras").path, "/api/cameras");
    EXPECT_EQ(parse_target("/door/").path, "/door/");
    EXPECT_EQ(parse_target("/%64oor/%C3%A4%20b+c").path, "/door/\xc3\xa4 b+c");
    EXPECT_EQ(parse_target("/%2564oor").path, "/%64oor");
    const auto target = parse_target("/x?action=stream&camera=a%26b&empty&&action=other&=nothing");
    EXPECT_EQ(target.path, "/x");
    EXPECT_EQ(target.query.at("action"), "stream");
    EXPECT_EQ(target.query.at("camera"), "a&b");
    EXPECT_EQ(target.query.at("empty"), "");
    EXPECT_EQ(target.query.at(""), "nothing");
    EXPECT_EQ(target.query.size(), 4u);
}

TEST(Target, RejectsUnsafePaths) {
    std::string many_names = "/?";
    for (int i = 0; i < 40; ++i) many_names += std::to_string(i) + "&";
    for (const auto& text : {std::string(),
                             std::string("door"),
                             std::string("*"),
                             std::string("http://localhost/"),
                             std::string("//"),
                             std::string("/a//b"),
                             std::string("/."),
                             std::string("/.."),
                             std::string("/a/../b"),
                             std::string("/a/./b"),
                             std::string("/%2e%2E/etc/passwd"),
                             std::string("/a/%2e"),
                             std::string("/..%2fb"),
                             std::string("/a%2Fb"),
                             std::string("/a%5cb"),
                             std::string("/a\\b"),
                             std::string("/a%00b"),
                             std::string("/a%0d%0ab"),
                             std::string("/a%7f"),
                             std::string("/%ff"),
                             std::string("/%c0%af"),
                             std::string("/%ed%a0%80"),
                             std::string("/a%"),
                             std::string("/a%4"),
                             std::string("/a%4g"),
                             std::string("/a#b"),
                             std::string("/?x=%00"),
                             std::string("/?x=%zz"),
                             "/" + std::string(3000, 'a'),
                             many_names}) {
        try {
            parse_target(text);
            ADD_FAILURE() << text;
        } catch (const Refused& why) {
            EXPECT_EQ(why.status, 400) << text;
        }
    }
}

}  // namespace
}  // namespace framewire::net::http
