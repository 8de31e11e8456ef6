// Options for access control, on the server's and on the viewer's side.

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

// Certificates are either generated (--tls) or given (--tls-cert with --tls-key), not both.
void add_access_options(Command& command, session::AccessOptions& options) {
    const auto token = command
                           .option("--token-file", options.token_file,
                                   "what viewers need to know, one line; without, one is made and kept where others "
                                   "than this machine can connect")
                           .type_name("FILE");
    command.flag("--no-token", options.open, "let everybody watch who can connect").excludes(token);
    const auto tls = command.flag("--tls", options.tls,
                                  "encrypt by TLS, with a certificate that is made once and kept; viewers pin its "
                                  "fingerprint, which is shown");
    auto certificate = command.option("--tls-cert", options.certificate_file,
                                      "encrypt by TLS with this certificate and those that lead to its root, PEM");
    auto key = command.option("--tls-key", options.key_file, "its key, PEM without a password");
    certificate.type_name("FILE").needs(key).excludes(tls);
    key.type_name("FILE").needs(certificate);
}

// A token from a file or the environment is never printed.
void tell_access(const session::Access& access, const net::ListenerOptions& listener) {
    if (!access.fingerprint.empty()) log_info("the certificate is {}", access.fingerprint);
    if (access.token_file.empty()) return;
    log_info("viewers need the token in {}", access.token_file);
    if (!access.token_made) return;
    fmt::print("token: {}\n", listener.token);
    std::fflush(stdout);
}

// The file has precedence over the environment.
void EntryFlags::apply(const std::string& url, net::ClientOptions& client) const {
    if (!fingerprint.empty()) client.fingerprint = net::parse_fingerprint(fingerprint);
    if (!token_file.empty()) {
        client.token = net::read_token_file(token_file);
    } else if (const char* token = std::getenv("FRAMEWIRE_TOKEN")) {
        net::validate_token(token, "the environment's FRAMEWIRE_TOKEN");
        client.token = token;
    }
    const auto address = net::parse_stream_address(url);
    if (!client.token.empty() && !encrypted(address.scheme) && !is_loopback(address.server))
        log_warning("the token can be read on its way to {}: there is no TLS", to_string(address.server));
}

// Only a source that is a stream of another server needs credentials.
void EntryFlags::apply(session::InputOptions& input) const {
    if (session::relayed_stream(input.source)) {
        net::ClientOptions client;
        apply(input.source, client);
        input.access = {client.token, client.fingerprint};
    } else if (!token_file.empty() || !fingerprint.empty()) {
        fail(ErrorCode::usage,
             "--token-file and --fingerprint are for streams of framewire's servers: tcp://, tls://, "
             "ws:// and wss:// without a query");
    }
}

void add_entry_options(Command& command, EntryFlags& flags, const std::string& what) {
    command
        .option("--token-file", flags.token_file,
                what + "the token that the server wants to hear; without, the environment's FRAMEWIRE_TOKEN")
        .type_name("FILE");
    command
        .option("--fingerprint", flags.fingerprint,
                what +
                    "of tls:// and wss://: trust the certificate with this one and no other; without, those of the "
                    "system's roots")
        .type_name("SHA256:HEX");
}

}  // namespace framewire::app
