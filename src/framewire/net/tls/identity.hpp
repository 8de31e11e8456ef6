#pragma once

#include <string>
#include <string_view>

namespace framewire::net {

/// A server's certificate and key as PEM texts.
struct TlsIdentity {
    /// The server's certificate, then the chain towards a root.
    std::string certificates;
    /// Private key of the first certificate, without a password.
    std::string key;
    /// Names of their sources, for messages.
    std::string certificates_from = "the certificate", key_from = "the key";
};

/// Generates a key (ECDSA P-256) and a self-signed certificate without an end date. Viewers identify it by its
/// fingerprint. Throws Error{config} if OpenSSL fails.
TlsIdentity make_identity();

/// Throws Error{usage} if the certificate or the key is unreadable, they do not match, or the certificate is not valid
/// now.
void check_identity(const TlsIdentity& identity);

/// Returns the fingerprint that viewers pin: "SHA256:" and 64 digits, of the first certificate. Throws Error{usage} if
/// there is none.
std::string fingerprint_of(const TlsIdentity& identity);

/// Returns a fingerprint in its canonical form. Accepts colons and upper case, as other tools print them. Throws
/// Error{usage} if the text is not a fingerprint.
std::string parse_fingerprint(std::string_view text);

}  // namespace framewire::net
