#pragma once

#include "framewire/net/tls/identity.hpp"
#include "framewire/net/tls/openssl.hpp"

#include <string>
#include <vector>

namespace framewire::net {

/// Those of an identity, in their order; at least one. Throws Error{usage}.
std::vector<CertificatePointer> read_certificates(const TlsIdentity& identity);

/// As of an identity: "SHA256:" and 64 digits.
std::string fingerprint_of(X509* certificate);

}  // namespace framewire::net
