#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace framewire::net {

/// Deleter that calls an OpenSSL function.
template <auto free>
struct FreedBy {
    template <class T>
    void operator()(T* object) const {
        free(object);
    }
};
/// Owners of OpenSSL objects.
using BioPointer = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, FreedBy<X509_free>>;
using ContextPointer = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, FreedBy<SSL_free>>;

/// Returns the latest OpenSSL error of this thread as text, and clears the error queue.
std::string openssl_problem();

}  // namespace framewire::net
