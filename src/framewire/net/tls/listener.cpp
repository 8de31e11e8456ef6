#include "framewire/net/tls/listener.hpp"

#include "framewire/net/tls/context.hpp"
#include "framewire/net/wire/wire.hpp"

#include <utility>

namespace framewire::net {

TlsListener::TlsListener(const TlsIdentity& identity, TlsConnection::Post post)
    : context_(server_context(identity)),
      options_{.post = std::move(post),
               .plain_answer = error_message(Refusal::bad_request,
                                             "this server speaks TLS only: its address begins with tls://", true)} {}

ConnectionPointer TlsListener::over(ConnectionPointer carrier, Clock::time_point now) {
    if (handshakes_.exhausted(carrier->peer(), now)) {
        refusals_.line("{} cut off: more than {} TLS connections from its address within {} s", carrier->name(),
                       handshakes_allowed, handshakes_window.count());
        return nullptr;
    }
    handshakes_.add(carrier->peer(), now);
    return std::make_unique<TlsConnection>(std::move(carrier), accepting(*context_), options_);
}

}  // namespace framewire::net
