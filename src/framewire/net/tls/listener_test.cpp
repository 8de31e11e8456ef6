// Servers and viewers with TLS over sockets.

#include "framewire/net/tls/listener.hpp"

#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_certificates.hpp"
#include "framewire/net/testing/test_files.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace framewire::net {
namespace tls_listener_test {

using namespace std::chrono_literals;
using testing::eventually;
using testing::expect_code;
using testing::expect_equal;
using testing::follow;
using testing::on_any_port;
using testing::RawConnection;
using testing::refusal_in;
using testing::TestAuthority;
using testing::TestFolder;
using testing::TestStream;

ServerOptions with_tls(const TlsIdentity& identity) {
    auto options = on_any_port();
    options.tls = identity;
    return options;
}

TEST(TlsServer, SendsTheSamePictures) {
    TestStream stream({1, 240, 320, 3}, delta::Mode::exact, 60);
    const auto identity = make_identity();
    auto options = with_tls(identity);
    options.token = "correct-horse-battery";
    Server server(stream.state, options);
    EXPECT_EQ(to_string(server.address()).substr(0, 6), "tls://");
    stream.step();
    Client client(server.address(), {.token = options.token, .fingerprint = fingerprint_of(identity)});
    for (std::uint64_t version = 2; version < 30; ++version) {
        stream.step();
        server.publish();
        follow(client, version);
        expect_equal(client.picture(), stream.reference());
    }
    expect_code(ErrorCode::no_input, "a token is needed",
                [&] { Client none(server.address(), {.fingerprint = fingerprint_of(identity)}); });
}

// The viewer's trusted roots come from a file here.
class TlsTrustTest : public ::testing::Test {
protected:
    void SetUp() override { ::setenv("SSL_CERT_FILE", folder.file("root.pem", authority.root_pem()).c_str(), 1); }
    void TearDown() override { ::unsetenv("SSL_CERT_FILE"); }

    void expect_refused(const TlsIdentity& identity, const std::string& words) {
        Server server(stream.state, with_tls(identity));
        expect_code(ErrorCode::no_input, words, [&] { Client client(server.address()); });
    }

    const TestFolder folder;
    const TestAuthority authority;
    TestStream stream;
};

TEST_F(TlsTrustTest, TrustsAKnownAuthorityForTheHost) {
    stream.step();
    const auto identity = authority.identity("DNS:localhost,IP:127.0.0.1");
    Server server(stream.state, with_tls(identity));
    for (const char* host : {"127.0.0.1", "localhost"}) {
        auto address = server.address();
        address.server.host = host;
        Client client(address);
        EXPECT_TRUE(client.next()) << host;
    }
    // With a pinned fingerprint the authority does not count.
    expect_code(ErrorCode::no_input, "another than the one asked for",
                [&] { Client client(server.address(), {.fingerprint = fingerprint_of(make_identity())}); });
}

TEST_F(TlsTrustTest, DistrustsOthersAndReportsTheirFingerprint) {
    const auto self_made = make_identity();
    expect_refused(self_made, "add --fingerprint " + fingerprint_of(self_made));
    expect_refused(authority.identity("DNS:elsewhere.test,IP:127.0.0.2"), "IP address mismatch");
    expect_refused(TestAuthority().identity("IP:127.0.0.1"), "its certificate is not to be trusted");
}

// A certificate that has expired since the server started; a real server would not start with it.
TEST_F(TlsTrustTest, DistrustsAnExpiredCertificate) {
    const auto identity = authority.identity("IP:127.0.0.1", -10, -1);
    expect_code(ErrorCode::usage, "has expired", [&] { Server server(stream.state, with_tls(identity)); });
}

TEST(TlsServer, ReportsPeersWithoutTls) {
    TestStream stream;
    Server server(stream.state, with_tls(make_identity()));
    auto plain = server.address();
    plain.scheme = Scheme::tcp;
    expect_code(ErrorCode::no_input, "this server speaks TLS only", [&] { Client client(plain); });
    Server without(stream.state, on_any_port());
    auto tls = without.address();
    tls.scheme = Scheme::tls;
    expect_code(ErrorCode::no_input, "the server speaks no TLS", [&] { Client client(tls); });
    expect_code(ErrorCode::usage, "a fingerprint goes with tls://",
                [&] { Client client(without.address(), {.fingerprint = "SHA256:" + std::string(64, '0')}); });
}

// Silent and slow handshakes count as pending connections: each takes a place and loses it to newer ones or at the
// deadline.
TEST(TlsServer, SlowHandshakesDoNotExcludeOthers) {
    TestStream stream;
    stream.step();
    const auto identity = make_identity();
    auto options = with_tls(identity);
    options.greeting_limit_per_peer = 4;
    options.handshake_deadline = 500ms;
    options.write_deadline = 1s;
    options.keep_alive = 100ms;
    Server server(stream.state, options);
    std::vector<RawConnection> slow;
    for (int i = 0; i < 20; ++i) {
        slow.push_back(RawConnection::connect(server.address().server.port));
        if (i % 2) slow.back().send(Bytes{0x16, 0x03, 0x01, 0x02, 0x00, 0x01});
    }
    Client client(server.address(), {.fingerprint = fingerprint_of(identity)});
    EXPECT_TRUE(client.next());
    for (auto& peer : slow) {
        Bytes ignored;
        EXPECT_TRUE(peer.read_to_the_end(ignored));
    }
    EXPECT_TRUE(eventually([&] { return server.metrics().refused == 20; }));
}

TEST(TlsListener, LimitsConnectionsPerPeer) {
    testing::ManualLoop loop;
    TlsListener listener(make_identity(), [&](std::function<void()> task) { loop.post(std::move(task)); });
    const auto comes = [&](const std::string& peer) {
        auto [near, far] = testing::connection_pair(loop, peer, 1000);
        return listener.over(std::move(near), loop.now()) != nullptr;
    };
    for (int i = 0; i < TlsListener::handshakes_allowed; ++i) ASSERT_TRUE(comes("a")) << i;
    EXPECT_FALSE(comes("a"));
    EXPECT_TRUE(comes("b"));
    loop.pass(TlsListener::handshakes_window);
    EXPECT_TRUE(comes("a"));
    for (int i = 1; i < TlsListener::all_handshakes_allowed; ++i) ASSERT_TRUE(comes(std::to_string(i))) << i;
    EXPECT_FALSE(comes("somebody else")) << "all together came too often";
    loop.pass(TlsListener::handshakes_window);
    EXPECT_TRUE(comes("somebody else"));
}

}  // namespace tls_listener_test
}  // namespace framewire::net
