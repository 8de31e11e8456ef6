// Tests TLS on the command line: pinned certificates, certificates of a private authority, and wrong ones.

#include "e2e/live/guarded.hpp"

#include "framewire/net/testing/test_certificates.hpp"
#include "framewire/net/tls.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace framewire::e2e {
namespace {

using guarded::GuardedServer;
using guarded::small_synth;
using guarded::view;

std::string fingerprint_in(const std::string& log) {
    const auto begin = log.find("SHA256:");
    return begin == std::string::npos ? "none" : log.substr(begin, 7 + 64);
}

std::string written(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_read);
    return folder / name;
}

TEST(Tls, ASelfSignedCertificateIsStoredAndPinned) {
    const TemporaryFolder state, folder;
    std::string fingerprint;
    {
        GuardedServer serving("127.0.0.1:0", {"--tls", "--mode", "lossless", "--frames", "20", "--wait", "1"}, state);
        EXPECT_EQ(serving.url().substr(0, 6), "tls://");
        fingerprint = fingerprint_in(serving.program().err());
        const auto viewed = Program(framewire({"view", "--no-window", "-o", folder / "seen.bgr", serving.url(),
                                               "--fingerprint", fingerprint}))
                                .wait();
        EXPECT_EQ(viewed.code, 0) << viewed.err;
        EXPECT_EQ(serving.program().wait().code, 0);
    }
    // The recording equals the source byte for byte.
    const auto run = run_framewire({"run", "-i", small_synth, "--frames", "20", "-o", folder / "source.bgr"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(contents(folder / "seen.bgr") == contents(folder / "source.bgr"));

    GuardedServer again("127.0.0.1:0", {"--tls"}, state);
    EXPECT_EQ(fingerprint_in(again.program().err()), fingerprint);
    const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& words) {
        const auto viewed = Program(view(arguments)).wait();
        EXPECT_EQ(viewed.code, code) << viewed.err;
        EXPECT_NE(viewed.err.find(words), std::string::npos) << viewed.err;
    };
    refused({again.url()}, 66, "add --fingerprint " + fingerprint);
    refused({again.url(), "--fingerprint", "SHA256:" + std::string(64, '0')}, 66, "does not match the fingerprint");
    refused({again.url(), "--fingerprint", "SHA256:0"}, 2, "is not a fingerprint");
    const auto plain = "tcp" + again.url().substr(3);
    refused({plain}, 66, "this server requires TLS");
    refused({plain, "--fingerprint", fingerprint}, 2, "requires tls://");
    const auto served = again.stop();
    EXPECT_NE(served.err.find("does not use TLS"), std::string::npos) << served.err;
}

TEST(Tls, ACaSignedCertificateIsValidOnlyForItsHost) {
    const TemporaryFolder state, folder;
    const net::testing::TestAuthority authority;
    const auto identity = authority.identity("DNS:localhost");
    const auto certificate = written(folder, "server.pem", identity.certificates),
               key = written(folder, "key.pem", identity.key),
               roots = "SSL_CERT_FILE=" + written(folder, "root.pem", authority.root_pem());
    GuardedServer serving("127.0.0.1:0", {"--tls-cert", certificate, "--tls-key", key}, state);
    EXPECT_TRUE(state.names().empty()) << "no certificate may be created";
    auto by_name = serving.url();
    by_name.replace(by_name.find("127.0.0.1"), 9, "localhost");
    const auto known = Program(view({by_name}, roots)).wait();
    EXPECT_EQ(known.code, 0) << known.err;
    for (const auto& [url, environment, words] : {std::tuple{serving.url(), roots, "IP address mismatch"},
                                                  {by_name, std::string("NONE=1"), "to get local issuer"}}) {
        const auto viewed = Program(view({url}, environment)).wait();
        EXPECT_EQ(viewed.code, 66);
        EXPECT_NE(viewed.err.find(words), std::string::npos) << viewed.err;
    }
}

TEST(Tls, RejectsInvalidCertificatesAtStartup) {
    const TemporaryFolder folder;
    const net::testing::TestAuthority authority;
    const auto one = authority.identity("DNS:localhost"), other = authority.identity("DNS:localhost", -10, -1);
    const auto certificate = written(folder, "server.pem", one.certificates), key = written(folder, "key.pem", one.key),
               expired = written(folder, "expired.pem", other.certificates),
               other_key = written(folder, "other.pem", other.key);
    const auto refused = [](std::vector<std::string> arguments, int code, const std::string& words) {
        arguments.insert(arguments.begin(), {"serve", "-i", small_synth, "--listen", "127.0.0.1:0"});
        const auto served = run_framewire(arguments);
        EXPECT_EQ(served.code, code) << served.err;
        EXPECT_NE(served.err.find(words), std::string::npos) << served.err;
    };
    refused({"--tls-cert", certificate, "--tls-key", other_key}, 2,
            other_key + ": the key does not match the certificate in " + certificate);
    refused({"--tls-cert", expired, "--tls-key", other_key}, 2, expired + ": the certificate has expired");
    refused({"--tls-cert", key, "--tls-key", key}, 2, "contains no certificate");
    refused({"--tls-cert", folder / "none", "--tls-key", key}, 66, "cannot be read");
    refused({"--tls-cert", certificate}, 2, "--tls-key");
    refused({"--tls", "--tls-cert", certificate, "--tls-key", key}, 2, "--tls");
}

}  // namespace
}  // namespace framewire::e2e
