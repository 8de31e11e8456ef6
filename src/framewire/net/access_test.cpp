#include "framewire/net/access.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/sessions.hpp"
#include "framewire/net/testing/test_files.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net {
namespace {

using namespace std::chrono_literals;

const std::string right = "correct-horse-battery";
const Clock::time_point start{1h};

TEST(Gate, AdmitsEveryoneIfNoTokenIsSet) {
    Gate gate("");
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(gate.check("a", i % 2 ? "whatever" : "", start));
    EXPECT_FALSE(gate.closed_to("a", start));
}

TEST(Gate, DistinguishesMissingAndWrongTokens) {
    Gate gate(right);
    EXPECT_FALSE(gate.check("a", right, start));
    const auto missing = gate.check("a", "", start), wrong = gate.check("a", right + "!", start);
    ASSERT_TRUE(missing && wrong);
    EXPECT_EQ(missing->reason, Refusal::not_allowed);
    EXPECT_EQ(missing->text, "a token is required (view --token-file FILE)");
    EXPECT_EQ(wrong->reason, Refusal::not_allowed);
    EXPECT_EQ(wrong->text, "the token is wrong");
}

TEST(Gate, LocksOutOnlyPeersWithTooManyFailures) {
    Gate gate(right);
    for (int i = 0; i < Gate::failures_allowed; ++i) {
        EXPECT_FALSE(gate.closed_to("a", start));
        EXPECT_EQ(gate.check("a", "wrong" + std::to_string(i), start)->reason, Refusal::not_allowed);
    }
    ASSERT_TRUE(gate.closed_to("a", start));
    EXPECT_EQ(gate.check("a", right, start)->reason, Refusal::too_many_viewers)
        << "a locked-out peer must not learn whether a token is right";
    EXPECT_FALSE(gate.closed_to("b", start));
    EXPECT_FALSE(gate.check("b", right, start));
    EXPECT_FALSE(gate.check("a", right, start + Gate::failures_window));
}

TEST(Gate, CountsARepeatedWrongTokenOnce) {
    Gate gate(right);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(gate.check("a", "of yesterday", start + i * 50ms)->reason, Refusal::not_allowed);
        EXPECT_EQ(gate.check("a", "", start + i * 50ms)->reason, Refusal::not_allowed)
            << "a missing token must not count as a guess";
    }
    EXPECT_FALSE(gate.closed_to("a", start + 5s));
    EXPECT_FALSE(gate.check("a", right, start + 5s));
}

TEST(Gate, DoesNotLockOutKnownPeers) {
    Gate gate(right);
    EXPECT_FALSE(gate.check("a proxy", right, start));
    int refused = 0;
    for (int i = 0; i < 100; ++i)
        refused += gate.check("a proxy", "guess" + std::to_string(i), start)->reason == Refusal::too_many_viewers;
    EXPECT_EQ(refused, 100 - Gate::failures_allowed);
    EXPECT_FALSE(gate.check("a proxy", right, start))
        << "a known peer must not be locked out by guesses from its address";
    const auto later = start + Gate::known_for;
    for (int i = 0; i < Gate::failures_allowed; ++i)
        EXPECT_TRUE(gate.check("a proxy", "guess" + std::to_string(i), later));
    EXPECT_TRUE(gate.check("a proxy", right, later)) << "a peer is known for one day only";
}

// Another program behind the same address guesses tokens. A viewer that was let in before can still reconnect.
TEST(Gate, ViewerReconnectsWhenItsAddressIsLockedOut) {
    testing::ManualLoop loop;
    testing::TestStream stream;
    stream.step();
    Sessions sessions({.viewers = 3, .pending_connections = {10, 10, 5s, 10s}, .viewer_deadlines = {10s, 1s}}, loop,
                      right);
    auto& served = sessions.add("main", stream.state);
    ClientOptions options;
    options.token = right;
    options.reconnect = 1min;
    const auto serve = [&](ConnectionPointer connection) { sessions.come(std::move(connection)); };
    Client client(std::make_unique<testing::MemoryDialer>(loop, serve, [&] { sessions.check_deadlines(); }),
                  {{"memory", 1}, "main"}, options);
    ASSERT_TRUE(client.next());
    for (int i = 0; i < Gate::failures_allowed; ++i) {
        auto [near, far] = testing::connection_pair(loop, "a client", 1 << 20);
        sessions.come(std::move(near));
        testing::MemoryPeer guesser(loop, std::move(far));
        guesser.say(viewer_hello({.stream = "main", .token = "wrong" + std::to_string(i)}));
        EXPECT_EQ(testing::refusal_in(guesser.hear()).reason, Refusal::not_allowed);
    }
    const auto closed_at = loop.now();
    EXPECT_EQ(sessions.cut_off(served), 1);
    ASSERT_TRUE(client.next());
    EXPECT_EQ(client.counts().reconnections, 1);
    EXPECT_LT(loop.now() - closed_at, Gate::failures_window);
}

using testing::expect_code;
using testing::TestFolder;

TEST(SecretFile, IsCreatedOnceWithOwnerPermissions) {
    const TestFolder folder;
    const auto path = folder.path() + "/deep/er/token";
    EXPECT_TRUE(keep_secret(path, [] { return "first"; }));
    EXPECT_FALSE(keep_secret(path, []() -> std::string { throw std::logic_error("it is there already"); }));
    EXPECT_EQ(read_secret_file(path), "first");
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
    for (const auto* made : {"/deep", "/deep/er"}) {
        ASSERT_EQ(::stat((folder.path() + made).c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 0777, 0700u) << made;
    }
    // No temporary file is left.
    const std::filesystem::directory_iterator files(folder.path() + "/deep/er");
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(SecretFile, ConcurrentCreatorsAgreeOnOneFile) {
    const TestFolder folder;
    const auto path = folder.path() + "/token";
    std::vector<std::future<bool>> makers;
    for (int i = 0; i < 8; ++i)
        makers.push_back(std::async(std::launch::async, [&, i] {
            return keep_secret(path, [i] { return std::string(1000, static_cast<char>('a' + i)); });
        }));
    int kept = 0;
    for (auto& maker : makers) kept += maker.get();
    EXPECT_EQ(kept, 1);
    const auto text = read_secret_file(path);
    EXPECT_EQ(text, std::string(1000, text.at(0)));
}

TEST(SecretFile, WarnsIfOthersCanReadIt) {
    const TestFolder folder;
    const kit::CapturedLog log;
    const auto path = folder.file("open", "text");
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_EQ(read_secret_file(path), "text");
    EXPECT_EQ(log.lines(), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
    EXPECT_EQ(read_secret_file(path), "text");
    EXPECT_NE(log.text().find("can be read by other users"), std::string::npos) << log.text();
}

TEST(SecretFile, ReportsErrors) {
    const TestFolder folder;
    expect_code(ErrorCode::no_input, "none cannot be read", [&] { read_secret_file(folder.path() + "/none"); });
    expect_code(ErrorCode::no_input, "cannot be read", [&] { read_secret_file(folder.path()); });
    expect_code(ErrorCode::no_input, "is larger than 65536 bytes",
                [&] { read_secret_file(folder.file("long", std::string(65537, 'a'))); });
    expect_code(ErrorCode::io, "cannot create the folder",
                [&] { keep_secret(folder.file("file", "") + "/below/token", [] { return "a"; }); });
}

using testing::expect_code;
using testing::TestFolder;

TEST(Token, MustHave16To255VisibleCharacters) {
    for (const auto& good : {std::string(16, 'a'), std::string(255, '~'), std::string("!\"#$%&'()*+,-./0")})
        EXPECT_NO_THROW(validate_token(good, "a test")) << good;
    for (const auto& bad : {std::string(), std::string(15, 'a'), std::string(256, 'a'), std::string("sixteen letters "),
                            std::string(16, '\t'), std::string(15, 'a') + '\x7f', std::string(16, '\xc3')})
        expect_code(ErrorCode::usage, "invalid token in a test", [&] { validate_token(bad, "a test"); });
}

TEST(Token, MustBeTheOnlyLineOfItsFile) {
    const TestFolder folder;
    const std::string token = "0123456789abcdefg";
    for (const auto& text : {token, token + "\n", token + "\r\n"})
        EXPECT_EQ(read_token_file(folder.file("good", text)), token);
    for (const auto& text : {std::string(), token + "\n\n", token + "\n" + token + "\n", std::string("short\n")}) try {
            read_token_file(folder.file("bad", text));
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_EQ(std::string(error.what()).find("0123"), std::string::npos)
                << "the error must not reveal the token";
        }
    expect_code(ErrorCode::no_input, "none cannot be read", [&] { read_token_file(folder.path() + "/none"); });
}

TEST(Token, IsRandom) {
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i) {
        const auto token = make_token();
        EXPECT_EQ(token.size(), 32u);
        EXPECT_NO_THROW(validate_token(token, "a new one"));
        EXPECT_EQ(token.find_first_of("+/="), token.npos) << token << " is not safe in a URL";
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

std::string address_of(const TrustedProxies& proxies, const std::vector<std::string_view>& fields) {
    const auto client = proxies.client_of(fields);
    return client ? client->address : "none";
}

TEST(TrustedProxies, MatchAddressesAndNetworks) {
    testing::ManualLoop loop;
    const auto trusts = [&](const std::vector<std::string>& networks, const std::string& name) {
        const auto pair = testing::connection_pair(loop, name, 1);
        return TrustedProxies(networks).trusts(*pair.first);
    };
    EXPECT_FALSE(trusts({}, "127.0.0.1:80"));
    EXPECT_TRUE(trusts({"127.0.0.1"}, "127.0.0.1:80"));
    EXPECT_TRUE(trusts({"127.0.0.1"}, "[::ffff:127.0.0.1]:80")) << "the mapped form of a dual-stack socket";
    EXPECT_FALSE(trusts({"127.0.0.1"}, "127.0.0.2:80"));
    EXPECT_TRUE(trusts({"10.1.0.0/15"}, "10.0.255.255:80"));
    EXPECT_TRUE(trusts({"10.0.0.0/15"}, "10.1.2.3:80"));
    EXPECT_FALSE(trusts({"10.0.0.0/15"}, "10.2.0.0:80"));
    EXPECT_TRUE(trusts({"0.0.0.0/0"}, "203.0.113.9:80"));
    EXPECT_FALSE(trusts({"0.0.0.0/0"}, "[2001:db8::1]:80"));
    EXPECT_TRUE(trusts({"fd00::/8", "::1"}, "[fd12::3]:80"));
    EXPECT_TRUE(trusts({"fd00::/8", "::1"}, "[::1]:80"));
    EXPECT_FALSE(trusts({"fd00::/8", "::1"}, "[fe80::1]:80"));
    EXPECT_FALSE(trusts({"::/0"}, "a viewer")) << "a peer without an address";
    EXPECT_FALSE(trusts({"127.0.0.1"}, "127.0.0.1 through 127.0.0.1:80")) << "a client behind a proxy";
    for (const auto* bad :
         {"", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0", "::1/129", "[::1]", "10.0.0.1:80"})
        testing::expect_code(ErrorCode::usage, "is not a proxy address", [&] { TrustedProxies{{bad}}; });
}

TEST(TrustedProxies, ClientIsTheRightmostUntrustedAddress) {
    const TrustedProxies proxies({"127.0.0.1", "10.0.0.0/8", "fd00::/8"});
    EXPECT_EQ(address_of(proxies, {"203.0.113.9"}), "203.0.113.9");
    EXPECT_EQ(address_of(proxies, {"198.51.100.7, 203.0.113.9"}), "203.0.113.9")
        << "the client may have forged the address on the left";
    EXPECT_EQ(address_of(proxies, {"198.51.100.7,203.0.113.9 , 10.1.2.3,127.0.0.1"}), "203.0.113.9");
    EXPECT_EQ(address_of(proxies, {"198.51.100.7", "203.0.113.9"}), "203.0.113.9")
        << "two fields must be joined into one list";
    EXPECT_EQ(address_of(proxies, {"10.0.0.1, 10.0.0.2"}), "10.0.0.1") << "a client in the network of the proxies";
    EXPECT_EQ(address_of(proxies, {"203.0.113.9:4711"}), "203.0.113.9");
    EXPECT_EQ(address_of(proxies, {"2001:db8::1"}), "2001:db8::1");
    EXPECT_EQ(address_of(proxies, {"[2001:db8::1]"}), "2001:db8::1");
    EXPECT_EQ(address_of(proxies, {"[2001:DB8::1]:4711, [fd00::1]:80"}), "2001:db8::1");
    EXPECT_EQ(address_of(proxies, {"::ffff:203.0.113.9"}), "203.0.113.9");
}

TEST(TrustedProxies, ParsingStopsAtAnInvalidAddress) {
    const TrustedProxies proxies({"10.0.0.0/8"});
    for (const auto* bad :
         {"", " ", "unknown", "_hidden", "203.0.113", "203.0.113.9:99999", "[2001:db8::1", "[2001:db8::1]x",
          "2001:db8::1::2", "203.0.113.9,", "203.0.113.9, unknown", "\"203.0.113.9\""})
        EXPECT_EQ(address_of(proxies, {bad}), "none") << bad;
    EXPECT_EQ(address_of(proxies, {}), "none");
    EXPECT_EQ(address_of(proxies, {"198.51.100.7, nonsense, 10.0.0.7"}), "10.0.0.7")
        << "the last valid address before the invalid one";
    const std::string commas(16'000, ',');
    EXPECT_EQ(address_of(proxies, {commas}), "none");
}

TEST(TrustedProxies, CountAnIPv6NetworkAsOnePeer) {
    const TrustedProxies proxies({"127.0.0.1"});
    EXPECT_EQ(proxies.client_of({"2001:db8:1:2:3:4:5:6"})->peer, "2001:db8:1:2::");
    EXPECT_EQ(proxies.client_of({"203.0.113.9"})->peer, "203.0.113.9");
}

}  // namespace
}  // namespace framewire::net
