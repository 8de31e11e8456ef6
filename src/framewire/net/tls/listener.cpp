#include "framewire/net/tls/listener.hpp"

#include "framewire/net/tls/context.hpp"
#include "framewire/net/wire/wire.hpp"

#include <string>
#include <utility>

namespace framewire::net {

TlsListener::TlsListener(const TlsIdentity& identity, TlsConnection::Post post)
    : context_(server_context(identity)),
      options_{.post = std::move(post),
               .plain_answer = error_message(Refusal::bad_request,
                                             "this server speaks TLS only: its address begins with tls://", true)} {}

// Every connection counts, whether its handshake succeeds or not.
ConnectionPointer TlsListener::over(ConnectionPointer carrier, Clock::time_point now, bool is_proxy) {
    static const std::string everybody;
    const bool peer_exhausted = !is_proxy && handshakes_.exhausted(carrier->peer(), now);
    if (peer_exhausted || all_handshakes_.exhausted(everybody, now)) {
        refusals_.line_of(carrier->peer(), "{} cut off: more than {} TLS connections{} within {} s", carrier->name(),
                          peer_exhausted ? handshakes_allowed : all_handshakes_allowed,
                          peer_exhausted ? " from its address" : "", handshakes_window.count());
        return nullptr;
    }
    if (!is_proxy) handshakes_.add(carrier->peer(), now);
    all_handshakes_.add(everybody, now);
    return std::make_unique<TlsConnection>(std::move(carrier), accepting(*context_), options_);
}

}  // namespace framewire::net
