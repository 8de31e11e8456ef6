#pragma once

#include "command_line/command_line.hpp"

#include "framewire/jobs/options.hpp"
#include "framewire/net/client.hpp"
#include "framewire/service/access.hpp"

#include <string>

namespace framewire::app {

/// Adds the options for access control: `--token-file`, `--no-token`, `--tls`, `--tls-cert` and `--tls-key`.
void add_access_options(Command& command, service::AccessOptions& options);

/// Logs the outcome of the access options: which token is in use, and the certificate's fingerprint. Prints a newly
/// generated token on standard output; no other function prints a token.
void tell_access(const service::Access& access, const net::ListenerOptions& listener);

/// Options for a viewer's credentials.
struct EntryFlags {
    std::string token_file, fingerprint;

    /// Sets the token from the file or, without a file, from the environment variable FRAMEWIRE_TOKEN. Warns if the
    /// token would be sent to `url` unencrypted. Throws as net::read_token_file(), net::validate_token() and
    /// net::parse_fingerprint() do, and Error{usage} if `url` is not an address.
    void apply(const std::string& url, net::ClientOptions& client) const;
    /// Sets the token and fingerprint for a source that is a stream. Throws Error{usage} if credentials are given for a
    /// source that is not a stream.
    void apply(jobs::InputOptions& input) const;
};

/// Adds `--token-file` and `--fingerprint` for connecting to a stream, which the help describes as `what`.
void add_entry_options(Command& command, EntryFlags& flags, const std::string& what = "");

}  // namespace framewire::app
