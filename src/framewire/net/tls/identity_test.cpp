#include "framewire/net/tls/identity.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/testing/test_certificates.hpp"
#include "framewire/net/testing/test_server.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::net {
namespace identity_test {

using testing::expect_code;
using testing::TestAuthority;

TEST(TlsIdentity, IsUniqueAndIdentifiedByItsFingerprint) {
    const auto one = make_identity(), other = make_identity();
    EXPECT_NO_THROW(check_identity(one));
    const auto fingerprint = fingerprint_of(one);
    EXPECT_EQ(fingerprint.size(), 7u + 64u);
    EXPECT_NE(fingerprint, fingerprint_of(other));
    EXPECT_EQ(parse_fingerprint(fingerprint), fingerprint);
    // Certificate and key in one text, as they are stored.
    const auto both = one.certificates + one.key;
    EXPECT_EQ(fingerprint_of({.certificates = both, .key = both}), fingerprint);
    EXPECT_NO_THROW(check_identity({.certificates = both, .key = both}));
}

TEST(TlsIdentity, RejectsMismatchedFilesByName) {
    const TestAuthority authority;
    const auto one = authority.identity("DNS:a.test"), other = authority.identity("DNS:a.test");
    const auto refused = [](TlsIdentity identity, const std::string& words) {
        identity.certificates_from = "server.pem";
        identity.key_from = "key.pem";
        expect_code(ErrorCode::usage, words, [&] { check_identity(identity); });
    };
    EXPECT_NO_THROW(check_identity(one));
    refused({.certificates = one.certificates, .key = other.key},
            "key.pem: the key is not that of the certificate in server.pem");
    refused({.certificates = "", .key = one.key}, "server.pem: there is no certificate in it");
    refused({.certificates = one.key, .key = one.key}, "server.pem: there is no certificate in it");
    refused({.certificates = one.certificates, .key = one.certificates}, "key.pem: there is no private key in it");
    refused({.certificates = one.certificates, .key = one.key.substr(0, one.key.size() / 2)}, "key.pem: ");
    refused(authority.identity("DNS:a.test", -10, -1), "server.pem: the certificate has expired");
    refused(authority.identity("DNS:a.test", 1, 10), "server.pem: the certificate is not valid yet");
}

TEST(Fingerprint, IsParsedInTheFormatsOfOtherTools) {
    const std::string digits(62, 'a');
    EXPECT_EQ(parse_fingerprint("sha256:" + digits + "0F"), "SHA256:" + digits + "0f");
    std::string colons = "SHA256:";
    for (int i = 0; i < 32; ++i) colons += i ? ":AA" : "0F";
    EXPECT_EQ(parse_fingerprint(colons), "SHA256:0f" + digits);
    for (const auto& none : {std::string(), std::string("SHA256:"), digits + "0f", "SHA256:" + digits,
                             "SHA256:" + digits + "0fa", "SHA256:" + digits + "0g", "SHA1:" + digits + "0f"})
        expect_code(ErrorCode::usage, "is no fingerprint", [&] { parse_fingerprint(none); });
}

}  // namespace identity_test
}  // namespace framewire::net
