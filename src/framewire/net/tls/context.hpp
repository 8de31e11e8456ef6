#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/tls/identity.hpp"
#include "framewire/net/tls/openssl.hpp"

#include <string>

namespace framewire::net {

/// What the TLS connections of a server share: TLS 1.3 or 1.2, nothing to resume, no renegotiation. Throws as
/// check_identity() does.
ContextPointer server_context(const TlsIdentity& identity);

/// What the TLS connections of a viewer share: the system's roots, which the environment's SSL_CERT_FILE and
/// SSL_CERT_DIR replace. Throws Error{config}.
ContextPointer client_context();

/// The server's end of a new connection, which waits for the other's first bytes.
SslPointer accepting(SSL_CTX& context);
/// The viewer's end of one to `server`, of which it wants the certificate to be that host's.
SslPointer connecting(SSL_CTX& context, const Address& server);

/// Why the other end, whose handshake is done, is not to be trusted; empty when it is. With a fingerprint its
/// certificate has that, and nothing else of it counts; without, it leads to a known root, its time is now, and it is
/// for the host that was asked for.
std::string problem_with_peer(const SSL& ssl, const std::string& fingerprint);

}  // namespace framewire::net
