#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/tls/identity.hpp"
#include "framewire/net/tls/openssl.hpp"

#include <string>

namespace framewire::net {

/// Creates the settings of a server's TLS connections: TLS 1.2 and 1.3, without session resumption and renegotiation.
/// Throws like check_identity().
ContextPointer server_context(const TlsIdentity& identity);

/// Creates the settings of a viewer's TLS connections, with the system's trusted roots. The environment variables
/// SSL_CERT_FILE and SSL_CERT_DIR replace those. Throws Error{config}.
ContextPointer client_context();

/// Creates the server's end of a connection, which waits for the client's first bytes. Throws Error{config} if memory
/// runs out.
SslPointer accepting(SSL_CTX& context);
/// Creates the client's end of a connection to `server`, whose certificate must be valid for that host. Throws
/// Error{usage} if the host cannot be in a certificate, and Error{config} if memory runs out.
SslPointer connecting(SSL_CTX& context, const Address& server);

/// Returns why the peer must not be trusted after the handshake, or an empty string. With a fingerprint, only the
/// fingerprint of its certificate counts. Without one, the certificate must lead to a trusted root, be valid now and be
/// issued for the requested host.
std::string problem_with_peer(const SSL& ssl, const std::string& fingerprint);

}  // namespace framewire::net
