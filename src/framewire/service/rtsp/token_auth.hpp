#pragma once

#include "framewire/net/access.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/tls.hpp"
#include "framewire/service/rtsp/glib_pointers.hpp"

#include <gst/rtsp-server/rtsp-server.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::service {

/// Parts of an Authorization field with the scheme Digest.
struct DigestCredentials {
    std::string user{}, realm{}, nonce{}, uri{}, response{};
};

/// Returns the `response` of these credentials for `password`: MD5 without qop (RFC 2617, sections 3.2.2.1 to 3.2.2.3),
/// which is what RTSP clients implement.
std::string digest_response(const DigestCredentials& credentials, std::string_view password, std::string_view method);

/// Checks the logins of RTSP clients. The password is the token; the user name may be anything. Failed logins are
/// limited per peer, as for viewers, but counted separately. Thread-safe.
class RtspLogins {
public:
    /// Name of the protected area in WWW-Authenticate.
    static constexpr const char* realm = "framewire";

    /// If `token` is empty, every client is let in.
    explicit RtspLogins(const std::string& token) : token_(token), gate_(token) {}

    /// Result of check().
    enum class Verdict {
        let_in,      ///< the client may go on
        asked,       ///< the client has to send a token
        wrong,       ///< the token is wrong
        locked_out,  ///< too many failed logins from its address
    };
    /// Checks a request of a peer. `nonce` is the one that was sent on its connection; credentials for another one
    /// count as missing.
    Verdict check(const std::string& peer, const std::optional<DigestCredentials>& credentials,
                  const std::string& nonce, std::string_view method);

    /// Number of requests with a wrong token or of a peer that is locked out.
    std::int64_t refused() const { return refused_; }

private:
    const std::string token_;
    std::mutex mutex_;
    net::Gate gate_;
    net::LimitedLog refusals_{LogLevel::info, "refused RTSP logins"};
    std::atomic<std::int64_t> refused_ = 0;
};

/// Returns the key for limits per peer of an address, see net::Connection::peer().
std::string peer_of(const std::string& address);

/// Returns true if a new connection is let in; called on the thread that accepts connections.
using LetIn = std::function<bool(GstRTSPConnection* connection)>;

/// Returns an authentication manager for a server. It requires the token for every request except OPTIONS, and refuses
/// that clients choose the address for RTP. If `tls` is set, connections use TLS. Throws Error{config} if GLib has no
/// TLS or does not accept the identity.
ObjectPointer<GstRTSPAuth> make_token_auth(std::shared_ptr<RtspLogins> logins, LetIn let_in,
                                           const std::optional<net::TlsIdentity>& tls);

}  // namespace framewire::service
