#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace framewire::net {

template <auto free>
struct FreedBy {
    template <class T>
    void operator()(T* object) const {
        free(object);
    }
};
using BioPointer = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, FreedBy<X509_free>>;
using ContextPointer = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, FreedBy<SSL_free>>;

/// What OpenSSL says went wrong last in this thread, and nothing of before it.
std::string openssl_problem();

}  // namespace framewire::net
