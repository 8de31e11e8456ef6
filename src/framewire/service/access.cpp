#include "framewire/net/access.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/net/tls.hpp"
#include "framewire/service/access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire::service {
namespace {

// Returns the identity that is kept between runs, and creates it if necessary. Certificate and key are in one file, so
// that they always match.
net::TlsIdentity kept_identity() {
    const auto file = net::kept_file("tls.pem");
    net::keep_secret(file, [] {
        const auto made = net::make_identity();
        return made.certificates + made.key;
    });
    const auto both = net::read_secret_file(file);
    return {both, both, file, file};
}

std::optional<net::TlsIdentity> identity_of(const AccessOptions& options) {
    const auto& [certificates, key] = std::tie(options.certificate_file, options.key_file);
    if (certificates.empty() != key.empty())
        fail(ErrorCode::usage, "a certificate and its key must be given together: one of the two files is missing");
    if (!certificates.empty())
        return net::TlsIdentity{net::read_small_file(certificates), net::read_secret_file(key), certificates, key};
    if (options.tls) return kept_identity();
    return std::nullopt;
}

}  // namespace

Access prepare_access(const AccessOptions& options, net::ListenerOptions& listener,
                      std::span<const net::Address> also) {
    if (options.open && !options.token_file.empty())
        fail(ErrorCode::usage, "a token file cannot be combined with access without a token");
    Access access{.token_file = options.token_file};
    std::vector<std::string> reachable;
    if (!net::is_loopback(listener.listen)) reachable.push_back(to_string(listener.listen));
    for (const auto& address : also)
        if (!net::is_loopback(address)) reachable.push_back(to_string(address));
    const bool others_reach_it = !reachable.empty();
    listener.open = options.open;
    if (access.token_file.empty() && others_reach_it && !options.open) {
        access.token_file = net::kept_file("token");
        access.token_made = net::keep_secret(access.token_file, [] { return net::make_token() + "\n"; });
    }
    if (!access.token_file.empty()) listener.token = net::read_token_file(access.token_file);
    if (auto identity = identity_of(options)) {
        check_identity(*identity);
        access.fingerprint = net::fingerprint_of(*identity);
        listener.tls = std::move(identity);
    }
    if (!others_reach_it) return access;
    const auto where = fmt::format("{}", fmt::join(reachable, " and "));
    if (options.open) log_warning("anyone who can connect to {} can watch: no token is required", where);
    if (!listener.tls)
        log_warning("pictures{} sent from {} are not encrypted: TLS is off", options.open ? "" : " and the token",
                    where);
    return access;
}

}  // namespace framewire::service
