#pragma once

#include "framewire/net/tls/identity.hpp"
#include "framewire/net/tls/openssl.hpp"

#include <string>
#include <vector>

namespace framewire::net {

/// Returns the certificates of an identity in their order, at least one. Throws Error{usage} if there is none.
std::vector<CertificatePointer> read_certificates(const TlsIdentity& identity);

/// Returns the SHA-256 fingerprint of a certificate as "SHA256:" and 64 lower-case hexadecimal digits.
std::string fingerprint_of(X509* certificate);

}  // namespace framewire::net
