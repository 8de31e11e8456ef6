#include "framewire/service/rtsp/token_auth.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::service {
namespace {

using enum RtspLogins::Verdict;

const std::string token = "correct-horse-battery-staple", nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c0";

// Credentials of a client that knows `password`.
DigestCredentials credentials(const std::string& password, const std::string& method, const std::string& user = "any",
                              const std::string& for_nonce = nonce) {
    DigestCredentials made{user, RtspLogins::realm, for_nonce, "rtsp://127.0.0.1/door", ""};
    made.response = digest_response(made, password, method);
    return made;
}

// The example of RFC 2617, section 3.5, without qop. Computed with:
//   a1=$(printf 'Mufasa:testrealm@host.com:Circle Of Life' | md5sum | cut -c1-32)
//   a2=$(printf 'GET:/dir/index.html' | md5sum | cut -c1-32)
//   printf "$a1:dcd98b7102dd2f0e8b11d0f600bfb0c0:$a2" | md5sum
TEST(DigestResponse, MatchesAnIndependentComputation) {
    const DigestCredentials mufasa{"Mufasa", "testrealm@host.com", nonce, "/dir/index.html", ""};
    EXPECT_EQ(digest_response(mufasa, "Circle Of Life", "GET"), "ef94524d3739453151981ed084083e0e");
}

TEST(RtspLogins, LetsInAnyUserWithTheToken) {
    RtspLogins logins(token);
    EXPECT_EQ(logins.check("10.0.0.1", std::nullopt, "", "DESCRIBE"), asked);
    for (const std::string user : {"any", "framewire", ""})
        EXPECT_EQ(logins.check("10.0.0.1", credentials(token, "DESCRIBE", user), nonce, "DESCRIBE"), let_in) << user;
    EXPECT_EQ(logins.refused(), 0);
}

TEST(RtspLogins, LetsInEverybodyWithoutAToken) {
    RtspLogins logins("");
    EXPECT_EQ(logins.check("10.0.0.1", std::nullopt, "", "DESCRIBE"), let_in);
}

// A response that somebody has overheard is worthless on another connection, for another method and with another user.
TEST(RtspLogins, RefusesAResponseThatWasMadeForSomethingElse) {
    RtspLogins logins(token);
    EXPECT_EQ(logins.check("10.0.0.1", credentials(token, "DESCRIBE"), "another-nonce", "DESCRIBE"), asked);
    EXPECT_EQ(logins.check("10.0.0.1", credentials(token, "DESCRIBE", "any", ""), "", "DESCRIBE"), asked);
    EXPECT_EQ(logins.check("10.0.0.1", credentials(token, "DESCRIBE"), nonce, "SETUP"), wrong);
    auto other = credentials(token, "DESCRIBE");
    other.user = "other";
    EXPECT_EQ(logins.check("10.0.0.1", other, nonce, "DESCRIBE"), wrong);
    auto elsewhere = credentials(token, "DESCRIBE");
    elsewhere.realm = "elsewhere";
    EXPECT_EQ(logins.check("10.0.0.1", elsewhere, nonce, "DESCRIBE"), asked);
    EXPECT_EQ(logins.refused(), 2);
}

TEST(RtspLogins, LocksOutAPeerThatGuesses) {
    RtspLogins logins(token);
    for (int guess = 0; guess < net::Gate::failures_allowed; ++guess)
        EXPECT_EQ(logins.check("10.0.0.1", credentials("guess" + std::to_string(guess), "DESCRIBE"), nonce, "DESCRIBE"),
                  wrong);
    EXPECT_EQ(logins.check("10.0.0.1", credentials(token, "DESCRIBE"), nonce, "DESCRIBE"), locked_out);
    EXPECT_EQ(logins.check("10.0.0.1", std::nullopt, nonce, "DESCRIBE"), locked_out);
    EXPECT_EQ(logins.check("10.0.0.2", credentials(token, "DESCRIBE"), nonce, "DESCRIBE"), let_in);
}

TEST(RtspPeer, IsAnAddressOrAnIpv6Network) {
    EXPECT_EQ(peer_of("10.0.0.1"), "10.0.0.1");
    EXPECT_EQ(peer_of("2001:db8::1"), peer_of("2001:db8::2"));
    EXPECT_NE(peer_of("2001:db8::1"), peer_of("2001:db8:1::1"));
}

}  // namespace
}  // namespace framewire::service
