#include "framewire/net/tls.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/testing/test_certificates.hpp"
#include "framewire/net/testing/test_files.hpp"
#include "framewire/net/testing/test_memory.hpp"
#include "framewire/net/testing/test_server.hpp"
#include "framewire/net/testing/test_stream.hpp"
#include "framewire/net/transport.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire::net {
namespace {

using testing::connection_pair;
using testing::ManualLoop;
using testing::MemoryPeer;

const TlsIdentity& identity() {
    static const auto made = make_identity();
    return made;
}

// Both ends of a TLS connection over memory, on one thread.
class TlsTest : public ::testing::Test {
protected:
    std::unique_ptr<TlsConnection> server_over(ConnectionPointer carrier) {
        return std::make_unique<TlsConnection>(
            std::move(carrier), accepting(*server_context_),
            TlsConnection::Options{.post = post(), .plain_answer = {'p', 'l', 'a', 'i', 'n'}});
    }
    std::unique_ptr<TlsConnection> client_over(ConnectionPointer carrier, const std::string& fingerprint) {
        return std::make_unique<TlsConnection>(
            std::move(carrier), connecting(*client_context_, {"camera.test", 1}),
            TlsConnection::Options{.post = post(), .distrust = [fingerprint](const SSL& ssl) {
                                       return problem_with_peer(ssl, fingerprint);
                                   }});
    }
    TlsConnection::Post post() {
        return [this](std::function<void()> task) { loop.post(std::move(task)); };
    }
    void connect(std::size_t capacity, const std::string& fingerprint = fingerprint_of(identity())) {
        auto [near, far] = connection_pair(loop, "a viewer", capacity);
        server = server_over(std::move(near));
        client = client_over(std::move(far), fingerprint);
    }

    ManualLoop loop;
    ContextPointer server_context_ = server_context(identity()), client_context_ = client_context();
    std::unique_ptr<TlsConnection> server, client;
};

Bytes random_bytes(std::size_t count) {
    std::mt19937 random(7);
    Bytes bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

// Everything written at one end is read at the other, through narrow and wide pipes, in both directions at once.
TEST_F(TlsTest, CarriesBytesBothWays) {
    for (const std::size_t capacity : {std::size_t{1000}, std::size_t{1} << 20}) {
        connect(capacity);
        EXPECT_EQ(server->peer(), "a viewer");
        const auto down = random_bytes(300'000), up = random_bytes(5000);
        const ByteSpan all(down);
        const std::vector<ByteSpan> pieces{all.first(10), {}, all.subspan(10, 200'000), all.subspan(200'010)};
        Outcome down_written, up_written;
        std::size_t progress = 0;
        server->write(
            pieces,
            [&](std::size_t bytes) {
                EXPECT_GE(bytes, progress);
                progress = bytes;
            },
            down_written.handler());
        const ByteSpan up_piece(up);
        client->write({&up_piece, 1}, {}, up_written.handler());
        const auto read_all = [this](TlsConnection& end, std::size_t count) {
            Bytes heard, buffer(3000);
            while (heard.size() < count) {
                Outcome read;
                end.read_some(buffer, read.handler());
                EXPECT_FALSE(read.done) << "the handler was called within read_some()";
                loop.run_tasks();
                if (!read.done || read.error || read.bytes == 0) break;
                heard.insert(heard.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(read.bytes));
            }
            return heard;
        };
        Bytes server_buffer(10'000);
        Outcome server_read;
        server->read_some(server_buffer, server_read.handler());
        EXPECT_TRUE(read_all(*client, down.size()) == down);
        loop.run_tasks();
        EXPECT_TRUE(down_written.done && !down_written.error);
        EXPECT_EQ(down_written.bytes, down.size());
        EXPECT_EQ(progress, down.size());
        ASSERT_TRUE(server_read.done && server_read.bytes > 0);
        Bytes heard(server_buffer.begin(), server_buffer.begin() + static_cast<std::ptrdiff_t>(server_read.bytes));
        const auto rest = read_all(*server, up.size() - heard.size());
        heard.insert(heard.end(), rest.begin(), rest.end());
        EXPECT_TRUE(heard == up);
        EXPECT_TRUE(up_written.done && !up_written.error);
    }
}

TEST_F(TlsTest, DistinguishesTheEndFromTruncation) {
    for (const bool properly : {true, false}) {
        connect(1 << 20);
        Bytes buffer(10), own(10);
        Outcome read, own_read;
        client->read_some(buffer, read.handler());
        server->read_some(own, own_read.handler());
        loop.run_tasks();
        EXPECT_FALSE(read.done);
        if (properly)
            server->end_writing();
        else
            server->close();
        loop.run_tasks();
        EXPECT_TRUE(read.done);
        EXPECT_EQ(read.bytes, 0u);
        EXPECT_EQ(read.error, properly ? std::error_code() : make_error_code(TlsProblem::cut_off));
        if (!properly) continue;
        // The other direction still works.
        const Bytes word{'h', 'i'};
        const ByteSpan piece(word);
        Outcome written;
        client->write({&piece, 1}, {}, written.handler());
        loop.run_tasks();
        EXPECT_TRUE(written.done && !written.error);
        EXPECT_TRUE(own_read.done && !own_read.error);
        EXPECT_EQ(own_read.bytes, 2u);
    }
}

TEST_F(TlsTest, SendsNothingToAnUntrustedPeer) {
    for (const auto& fingerprint : {std::string(), "SHA256:" + std::string(64, '0')}) {
        connect(1 << 20, fingerprint);
        Outcome shaken, written, heard;
        client->shake_hands(shaken.handler());
        const Bytes secret(20, 's');
        const ByteSpan piece(secret);
        client->write({&piece, 1}, {}, written.handler());
        Bytes buffer(100);
        server->read_some(buffer, heard.handler());
        loop.run_tasks();
        EXPECT_EQ(shaken.error, make_error_code(TlsProblem::not_trusted));
        EXPECT_EQ(written.error, make_error_code(TlsProblem::not_trusted));
        EXPECT_EQ(heard.bytes, 0u);
        EXPECT_NE(client->problem().find(fingerprint_of(identity())), std::string::npos) << client->problem();
        client->close();
        loop.run_tasks();
        EXPECT_TRUE(heard.done && heard.error && heard.bytes == 0);
    }
}

// Settings of a server that does not check its own certificate. A real server would not start with them.
ContextPointer careless_context(const TlsIdentity& shown) {
    ContextPointer context(SSL_CTX_new(TLS_server_method()));
    const BioPointer certificate(BIO_new_mem_buf(shown.certificates.data(), -1)),
        key(BIO_new_mem_buf(shown.key.data(), -1));
    const CertificatePointer read(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
    const KeyPointer read_key(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
    EXPECT_EQ(SSL_CTX_use_certificate(context.get(), read.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), read_key.get()), 1);
    return context;
}

TEST_F(TlsTest, RejectsACertificateOutsideItsValidityPeriod) {
    const testing::TestAuthority authority;
    const testing::TestFolder folder;
    ::setenv("SSL_CERT_FILE", folder.file("root.pem", authority.root_pem()).c_str(), 1);
    client_context_ = client_context();
    ::unsetenv("SSL_CERT_FILE");
    const std::vector<std::tuple<int, int, std::string>> cases{
        {-10, 10, ""}, {-10, -1, "certificate has expired"}, {1, 10, "certificate is not yet valid"}};
    for (const auto& [from_days, to_days, words] : cases) {
        server_context_ = careless_context(authority.identity("DNS:camera.test", from_days, to_days));
        connect(1 << 20, "");
        Outcome shaken, heard;
        client->shake_hands(shaken.handler());
        Bytes buffer(10);
        server->read_some(buffer, heard.handler());
        loop.run_tasks();
        ASSERT_TRUE(shaken.done);
        EXPECT_EQ(shaken.error, words.empty() ? std::error_code() : make_error_code(TlsProblem::not_trusted));
        EXPECT_NE(client->problem().find(words), std::string::npos) << client->problem();
    }
}

TEST_F(TlsTest, AnswersPeersWithoutTlsInPlainText) {
    auto [near, far] = connection_pair(loop, "a viewer", 1 << 20);
    server = server_over(std::move(near));
    MemoryPeer plain(loop, std::move(far));
    Bytes buffer(10);
    Outcome read;
    server->read_some(buffer, read.handler());
    plain.say(viewer_hello({.stream = "main"}));
    EXPECT_EQ(plain.hear(), (Bytes{'p', 'l', 'a', 'i', 'n'}));
    EXPECT_TRUE(plain.closed());
    EXPECT_EQ(read.error, make_error_code(TlsProblem::no_tls));

    auto [there, here] = connection_pair(loop, "the server", 1 << 20);
    client = client_over(std::move(here), "");
    MemoryPeer mute(loop, std::move(there));
    Outcome shaken;
    client->shake_hands(shaken.handler());
    EXPECT_FALSE(mute.hear().empty());
    mute.say(error_message(Refusal::bad_request, "no TLS here", true));
    EXPECT_EQ(shaken.error, make_error_code(TlsProblem::no_tls));
}

// Returns the first bytes that a client sends, for tests that damage them.
Bytes first_words(SSL_CTX& context) {
    const auto ssl = connecting(context, {"camera.test", 1});
    SSL_do_handshake(ssl.get());
    Bytes words(static_cast<std::size_t>(BIO_pending(SSL_get_wbio(ssl.get()))));
    BIO_read(SSL_get_wbio(ssl.get()), words.data(), static_cast<int>(words.size()));
    return words;
}

TEST_F(TlsTest, TruncatedAndDamagedHandshakesFail) {
    const auto whole = first_words(*client_context_);
    std::mt19937 random(kit::seed());
    for (std::size_t round = 0; round < 2 * whole.size(); ++round) {
        auto [near, far] = connection_pair(loop, "somebody", 1 << 20);
        server = server_over(std::move(near));
        MemoryPeer peer(loop, std::move(far));
        Bytes buffer(10);
        Outcome read;
        server->read_some(buffer, read.handler());
        auto words = whole;
        if (round < whole.size())
            words.resize(round);
        else
            words[round - whole.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
        peer.say(words);
        const bool waits = round > 0 && round < whole.size();
        EXPECT_TRUE(!waits || !read.done) << round;
        peer.close();
        loop.run_tasks();
        ASSERT_TRUE(read.done) << round;
        ASSERT_TRUE(read.error) << round;
    }
}

// Without a limit, protocol messages without application data could keep the server's thread busy.
TEST_F(TlsTest, LimitsMessagesWithoutApplicationData) {
    auto [near, far] = connection_pair(loop, "somebody", 1 << 22);
    server = server_over(std::move(near));
    MemoryPeer peer(loop, std::move(far));
    Bytes buffer(10);
    Outcome read;
    server->read_some(buffer, read.handler());
    const auto ssl = connecting(*client_context_, {"camera.test", 1});
    const auto say_and_hear = [&] {
        Bytes said(static_cast<std::size_t>(BIO_pending(SSL_get_wbio(ssl.get()))));
        BIO_read(SSL_get_wbio(ssl.get()), said.data(), static_cast<int>(said.size()));
        if (!said.empty()) peer.say(said);
        const auto heard = peer.hear();
        BIO_write(SSL_get_rbio(ssl.get()), heard.data(), static_cast<int>(heard.size()));
        return heard.size();
    };
    while (SSL_do_handshake(ssl.get()) != 1) say_and_hear();
    std::size_t said = 0;
    for (; !read.done && said < 10'000; ++said) {
        ASSERT_EQ(SSL_key_update(ssl.get(), SSL_KEY_UPDATE_REQUESTED), 1);
        ASSERT_EQ(SSL_do_handshake(ssl.get()), 1);
        say_and_hear();
        std::uint8_t none = 0;
        SSL_read(ssl.get(), &none, 1);  // processes the response
    }
    ASSERT_TRUE(read.done);
    EXPECT_EQ(read.error, make_error_code(TlsProblem::flood));
    EXPECT_GT(said, 1000u);
}

TEST_F(TlsTest, CanBeClosedOrDestroyedInItsCallbacks) {
    for (int round = 0; round < 4; ++round) {
        connect(1 << 20);
        const Bytes word{'h', 'i'};
        const ByteSpan piece(word);
        Bytes buffer(10), other(10);
        int calls = 0;
        const auto end_it = [&](const std::error_code&, std::size_t) {
            ++calls;
            if (round % 2)
                server.reset();
            else
                server->close();
        };
        server->read_some(buffer, end_it);
        server->write({&piece, 1}, {}, end_it);
        client->write({&piece, 1}, {}, [](const std::error_code&, std::size_t) {});
        if (round < 2) client->read_some(other, [](const std::error_code&, std::size_t) {});
        loop.run_tasks();
        EXPECT_EQ(calls, 1) << "the other handler must not be called";
    }
}

using testing::expect_code;
using testing::TestAuthority;

TEST(TlsIdentity, IsUniqueAndIdentifiedByItsFingerprint) {
    const auto one = make_identity(), other = make_identity();
    EXPECT_NO_THROW(check_identity(one));
    const auto fingerprint = fingerprint_of(one);
    EXPECT_EQ(fingerprint.size(), 7u + 64u);
    EXPECT_NE(fingerprint, fingerprint_of(other));
    EXPECT_EQ(parse_fingerprint(fingerprint), fingerprint);
    // Certificate and key in one text, the form in which they are stored.
    const auto both = one.certificates + one.key;
    EXPECT_EQ(fingerprint_of({.certificates = both, .key = both}), fingerprint);
    EXPECT_NO_THROW(check_identity({.certificates = both, .key = both}));
}

TEST(TlsIdentity, RejectsInvalidFilesAndNamesThem) {
    const TestAuthority authority;
    const auto one = authority.identity("DNS:a.test"), other = authority.identity("DNS:a.test");
    const auto refused = [](TlsIdentity identity, const std::string& words) {
        identity.certificates_from = "server.pem";
        identity.key_from = "key.pem";
        expect_code(ErrorCode::usage, words, [&] { check_identity(identity); });
    };
    EXPECT_NO_THROW(check_identity(one));
    refused({.certificates = one.certificates, .key = other.key},
            "key.pem: the key does not match the certificate in server.pem");
    refused({.certificates = "", .key = one.key}, "server.pem contains no certificate");
    refused({.certificates = one.key, .key = one.key}, "server.pem contains no certificate");
    refused({.certificates = one.certificates, .key = one.certificates}, "key.pem contains no private key");
    refused({.certificates = one.certificates, .key = one.key.substr(0, one.key.size() / 2)},
            "key.pem contains no private key");
    refused(authority.identity("DNS:a.test", -10, -1), "server.pem: the certificate has expired");
    refused(authority.identity("DNS:a.test", 1, 10), "server.pem: the certificate is not valid yet");
}

TEST(Fingerprint, ParsesTheFormatsOfOtherTools) {
    const std::string digits(62, 'a');
    EXPECT_EQ(parse_fingerprint("sha256:" + digits + "0F"), "SHA256:" + digits + "0f");
    std::string colons = "SHA256:";
    for (int i = 0; i < 32; ++i) colons += i ? ":AA" : "0F";
    EXPECT_EQ(parse_fingerprint(colons), "SHA256:0f" + digits);
    for (const auto& none : {std::string(), std::string("SHA256:"), digits + "0f", "SHA256:" + digits,
                             "SHA256:" + digits + "0fa", "SHA256:" + digits + "0g", "SHA1:" + digits + "0f"})
        expect_code(ErrorCode::usage, "is not a fingerprint", [&] { parse_fingerprint(none); });
}

}  // namespace
}  // namespace framewire::net

// Tests of servers and viewers that use TLS over sockets.

namespace framewire::net {
namespace {

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

TEST(TlsServer, ViewerMatchesTheEncoderAfterEveryFrame) {
    TestStream stream({1, 240, 320, 3}, codec::Mode::exact, 60);
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
    expect_code(ErrorCode::no_input, "a token is required",
                [&] { Client none(server.address(), {.fingerprint = fingerprint_of(identity)}); });
}

// Tests in which the viewer's trusted roots come from a file.
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
    // If a fingerprint is pinned, the authority does not matter.
    expect_code(ErrorCode::no_input, "does not match the fingerprint",
                [&] { Client client(server.address(), {.fingerprint = fingerprint_of(make_identity())}); });
}

TEST_F(TlsTrustTest, RejectsUntrustedCertificatesAndReportsTheirFingerprint) {
    const auto self_made = make_identity();
    expect_refused(self_made, "add --fingerprint " + fingerprint_of(self_made));
    expect_refused(authority.identity("DNS:elsewhere.test,IP:127.0.0.2"), "IP address mismatch");
    expect_refused(TestAuthority().identity("IP:127.0.0.1"), "its certificate is not trusted");
}

// A certificate that has expired since the server started; a real server would not start with it.
TEST_F(TlsTrustTest, ServerRefusesToStartWithAnExpiredCertificate) {
    const auto identity = authority.identity("IP:127.0.0.1", -10, -1);
    expect_code(ErrorCode::usage, "has expired", [&] { Server server(stream.state, with_tls(identity)); });
}

TEST(TlsServer, ReportsPeersWithoutTls) {
    TestStream stream;
    Server server(stream.state, with_tls(make_identity()));
    auto plain = server.address();
    plain.scheme = Scheme::tcp;
    expect_code(ErrorCode::no_input, "this server requires TLS", [&] { Client client(plain); });
    Server without(stream.state, on_any_port());
    auto tls = without.address();
    tls.scheme = Scheme::tls;
    expect_code(ErrorCode::no_input, "the server does not use TLS", [&] { Client client(tls); });
    expect_code(ErrorCode::usage, "a fingerprint requires tls://",
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
    EXPECT_FALSE(comes("somebody else")) << "the limit for all peers together must apply";
    loop.pass(TlsListener::handshakes_window);
    EXPECT_TRUE(comes("somebody else"));
}

}  // namespace
}  // namespace framewire::net
