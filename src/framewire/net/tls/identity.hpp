#pragma once

#include <string>
#include <string_view>

namespace framewire::net {

/// What a server shows of itself, as PEM texts.
struct TlsIdentity {
    std::string certificates;  ///< its own, then those that lead to a root
    std::string key;           ///< of the first, without a password
    /// Where they come from, for messages.
    std::string certificates_from = "the certificate", key_from = "the key";
};

/// Makes a key (ECDSA P-256) and a certificate signed by itself, which has no end. Viewers know it by its fingerprint.
/// Throws Error{config}.
TlsIdentity make_identity();

/// Throws Error{usage} where certificate and key are none, do not belong together, or the certificate's time is not
/// now.
void check_identity(const TlsIdentity& identity);

/// "SHA256:" and 64 digits: what a viewer pins. Of the first certificate. Throws Error{usage} where there is none.
std::string fingerprint_of(const TlsIdentity& identity);

/// A fingerprint in its one form, from one with colons or in other case as tools print them. Throws Error{usage} on
/// what is none.
std::string parse_fingerprint(std::string_view text);

}  // namespace framewire::net
