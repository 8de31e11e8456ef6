#pragma once

#include "framewire/net/tls.hpp"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace framewire::net::testing {

/// A certificate authority for tests, and certificates that it signs.
class TestAuthority {
public:
    TestAuthority() : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), root_(nullptr, X509_free) {
        root_ = certificate(key_.get(), "a test's root", -1, 1);
        extend(NID_basic_constraints, "critical,CA:TRUE", root_.get());
        sign(root_.get());
    }

    /// Returns the root certificate as PEM, for clients that trust this authority.
    std::string root_pem() const {
        return pem([this](BIO* out) { PEM_write_bio_X509(out, root_.get()); });
    }

    /// Returns an identity for `names`, such as "DNS:localhost,IP:127.0.0.1", valid from `from_days` to `to_days` days
    /// from now.
    TlsIdentity identity(const std::string& names, int from_days = -1, int to_days = 1) const {
        const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
        const auto made = certificate(key.get(), "a test", from_days, to_days);
        X509_set_issuer_name(made.get(), X509_get_subject_name(root_.get()));
        extend(NID_subject_alt_name, names.c_str(), made.get());
        sign(made.get());
        return {.certificates = pem([&](BIO* out) { PEM_write_bio_X509(out, made.get()); }),
                .key = pem([&](BIO* out) {
                    PEM_write_bio_PKCS8PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
                })};
    }

private:
    using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
    using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

    template <class Write>
    static std::string pem(Write write) {
        const std::unique_ptr<BIO, decltype(&BIO_free_all)> out(BIO_new(BIO_s_mem()), BIO_free_all);
        write(out.get());
        char* text = nullptr;
        const auto bytes = BIO_get_mem_data(out.get(), &text);
        return {text, static_cast<std::size_t>(bytes)};
    }

    static Certificate certificate(EVP_PKEY* key, const char* name, int from_days, int to_days) {
        constexpr long day_s = 24 * 60 * 60;
        Certificate made(X509_new(), X509_free);
        X509_set_version(made.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
        X509_gmtime_adj(X509_getm_notBefore(made.get()), from_days * day_s);
        X509_gmtime_adj(X509_getm_notAfter(made.get()), to_days * day_s);
        X509_set_pubkey(made.get(), key);
        auto* subject = X509_get_subject_name(made.get());
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1,
                                   0);
        X509_set_issuer_name(made.get(), subject);
        return made;
    }

    static void extend(int kind, const char* value, X509* certificate) {
        auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
        if (!extension) throw std::runtime_error("a test's certificate has no such extension");
        X509_add_ext(certificate, extension, -1);
        X509_EXTENSION_free(extension);
    }

    void sign(X509* certificate) const {
        if (X509_sign(certificate, key_.get(), EVP_sha256()) <= 0) throw std::runtime_error("not signed");
    }

    Key key_;
    Certificate root_;
};

}  // namespace framewire::net::testing
