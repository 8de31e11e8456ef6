// Options for access control, both of servers and of viewers.

#include "options/access_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/jobs/relay.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/tls.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace framewire::app {

// Certificates are either generated (--tls) or given (--tls-cert with --tls-key).
void add_access_options(Command& command, service::AccessOptions& options) {
    const auto token = command
                           .option("--token-file", options.token_file,
                                   "file with the token that viewers need, one line; default: if other machines can "
                                   "connect, a token is created and kept")
                           .type_name("FILE");
    command.flag("--no-token", options.open, "allow anyone who can connect to watch").excludes(token);
    const auto tls = command.flag("--tls", options.tls,
                                  "encrypt with TLS and a self-signed certificate that is created once and kept; "
                                  "viewers pin the printed fingerprint");
    auto certificate =
        command.option("--tls-cert", options.certificate_file, "encrypt with TLS and this certificate chain (PEM)");
    auto key = command.option("--tls-key", options.key_file, "private key of the certificate, PEM without a password");
    certificate.type_name("FILE").needs(key).excludes(tls);
    key.type_name("FILE").needs(certificate);
}

// A token from a file or from the environment is never printed.
void tell_access(const service::Access& access, const net::ListenerOptions& listener) {
    if (!access.fingerprint.empty()) log_info("the certificate's fingerprint is {}", access.fingerprint);
    if (access.token_file.empty()) return;
    log_info("viewers need the token in {}", access.token_file);
    if (!access.token_made) return;
    fmt::print("token: {}\n", listener.token);
    std::fflush(stdout);
}

// The token file takes precedence over the environment.
void EntryFlags::apply(const std::string& url, net::ClientOptions& client) const {
    if (!fingerprint.empty()) client.fingerprint = net::parse_fingerprint(fingerprint);
    if (!token_file.empty()) {
        client.token = net::read_token_file(token_file);
    } else if (const char* token = std::getenv("FRAMEWIRE_TOKEN")) {
        net::validate_token(token, "the environment variable FRAMEWIRE_TOKEN");
        client.token = token;
    }
    const auto address = net::parse_stream_address(url);
    if (!client.token.empty() && !encrypted(address.scheme) && !is_loopback(address.server))
        log_warning("the token is sent to {} without encryption: TLS is off", to_string(address.server));
}

// Credentials are needed only if the source is a stream of another server.
void EntryFlags::apply(jobs::InputOptions& input) const {
    if (jobs::relayed_stream(input.source)) {
        net::ClientOptions client;
        apply(input.source, client);
        input.access = {client.token, client.fingerprint};
    } else if (!token_file.empty() || !fingerprint.empty()) {
        fail(ErrorCode::usage,
             "--token-file and --fingerprint apply only to streams of framewire servers: tcp://, tls://, ws:// and "
             "wss:// without a query");
    }
}

void add_entry_options(Command& command, EntryFlags& flags, const std::string& what) {
    command
        .option("--token-file", flags.token_file,
                what + "file with the token for the server; default: the environment variable FRAMEWIRE_TOKEN")
        .type_name("FILE");
    command
        .option("--fingerprint", flags.fingerprint,
                what +
                    "for tls:// and wss://: trust only the certificate with this fingerprint; default: the system's "
                    "root certificates")
        .type_name("SHA256:HEX");
}

}  // namespace framewire::app
