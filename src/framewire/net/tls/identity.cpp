#include "framewire/net/tls/identity.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/net/tls/certificates.hpp"
#include "framewire/net/tls/openssl.hpp"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>
#include <cctype>
#include <cstdint>

namespace framewire::net {

namespace {

constexpr std::string_view fingerprint_scheme = "SHA256:";
constexpr std::size_t fingerprint_bytes = 32;

// The content of a memory BIO.
std::string text_of(BIO* memory) {
    char* text = nullptr;
    const auto bytes = BIO_get_mem_data(memory, &text);
    return {text, static_cast<std::size_t>(bytes)};
}

// Subject and issuer are the same, because the certificate is self-signed.
bool set_names(X509* certificate) {
    auto* name = X509_get_subject_name(certificate);
    const std::string_view common = "framewire";
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common.data()),
                                      static_cast<int>(common.size()), -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1;
}

// Sets a random serial number of 127 bits (RFC 5280, 4.1.2.2).
bool set_number(X509* certificate) {
    std::array<unsigned char, 16> random{};
    if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return false;
    random[0] &= 0x7f;  // positive
    BIGNUM* number = BN_bin2bn(random.data(), static_cast<int>(random.size()), nullptr);
    const bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return set;
}

// Valid since yesterday, for viewers whose clocks are slow, and without an end date (RFC 5280, 4.1.2.5).
bool set_times(X509* certificate) {
    constexpr long a_day_s = 24 * 60 * 60;
    return X509_gmtime_adj(X509_getm_notBefore(certificate), -a_day_s) &&
           ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1;
}

}  // namespace

std::string openssl_problem() {
    const auto error = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = error ? ERR_reason_error_string(error) : nullptr;
    return reason ? reason : "an unknown problem";
}

// The && chain stops at the first failure, whose reason OpenSSL stores.
TlsIdentity make_identity() {
    ERR_clear_error();
    const KeyPointer key(EVP_EC_gen("P-256"));
    const CertificatePointer certificate(X509_new());
    const BioPointer key_text(BIO_new(BIO_s_mem())), certificate_text(BIO_new(BIO_s_mem()));
    // The version field of X.509 v3 is 2.
    constexpr long version_3 = 2;
    const bool made =
        key && certificate && key_text && certificate_text && X509_set_version(certificate.get(), version_3) == 1 &&
        set_number(certificate.get()) && set_names(certificate.get()) && set_times(certificate.get()) &&
        X509_set_pubkey(certificate.get(), key.get()) == 1 &&
        X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0 &&
        PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1 &&
        PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
    if (!made) fail(ErrorCode::config, "no certificate can be made: {}", openssl_problem());
    return {.certificates = text_of(certificate_text.get()), .key = text_of(key_text.get())};
}

std::string fingerprint_of(X509* certificate) {
    std::array<std::uint8_t, fingerprint_bytes> digest{};
    unsigned bytes = 0;
    if (X509_digest(certificate, EVP_sha256(), digest.data(), &bytes) != 1)
        fail(ErrorCode::config, "a certificate has no fingerprint: {}", openssl_problem());
    std::string text(fingerprint_scheme);
    for (const auto byte : digest) text += fmt::format("{:02x}", byte);
    return text;
}

std::string fingerprint_of(const TlsIdentity& identity) {
    return fingerprint_of(read_certificates(identity).front().get());
}

std::vector<CertificatePointer> read_certificates(const TlsIdentity& identity) {
    const auto& pem = identity.certificates;
    const BioPointer text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    std::vector<CertificatePointer> all;
    while (auto* certificate = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) all.emplace_back(certificate);
    ERR_clear_error();  // the end of the text counts as an error
    if (all.empty())
        fail(ErrorCode::usage, "{}: there is no certificate in it (PEM, BEGIN CERTIFICATE)",
             identity.certificates_from);
    return all;
}

// Accepts "SHA256:" in any case, and digits in any case with or without colons.
std::string parse_fingerprint(std::string_view text) {
    std::string digits;
    const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
    std::string_view rest = text;
    bool good = rest.size() > fingerprint_scheme.size();
    for (std::size_t i = 0; good && i < fingerprint_scheme.size(); ++i)
        good = lower(rest[i]) == lower(fingerprint_scheme[i]);
    if (good) rest.remove_prefix(fingerprint_scheme.size());
    for (const char c : rest) {
        if (c == ':') continue;
        good = good && std::isxdigit(static_cast<unsigned char>(c)) != 0;
        digits += lower(c);
    }
    if (!good || digits.size() != 2 * fingerprint_bytes)
        fail(ErrorCode::usage,
             "{} is no fingerprint: SHA256: and 64 hexadecimal digits are one, with or without colons",
             in_quotes(std::string(text)));
    return std::string(fingerprint_scheme) + digits;
}

}  // namespace framewire::net
