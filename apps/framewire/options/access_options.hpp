#pragma once

#include "command_line/command_line.hpp"

#include "framewire/jobs/options.hpp"
#include "framewire/net/client.hpp"
#include "framewire/service/access.hpp"

#include <string>

namespace framewire::app {

/// Adds the options for access control: `--token-file`, `--no-token`, `--tls`, `--tls-cert` and `--tls-key`.
void add_access_options(Command& command, service::AccessOptions& options);

/// Logs the result of those options: which token is in use and the certificate's fingerprint. Prints a newly generated
/// token on standard output; no other function shows a token.
void tell_access(const service::Access& access, const net::ListenerOptions& listener);

/// Options with which a viewer authenticates.
struct EntryFlags {
    std::string token_file, fingerprint;

    /// Sets the token from the file or, without one, from the environment variable FRAMEWIRE_TOKEN. Warns if the token
    /// would travel to `url` unencrypted. Throws as net::read_token_file(), net::validate_token() and
    /// net::parse_fingerprint() do, and Error{usage} if `url` is not an address.
    void apply(const std::string& url, net::ClientOptions& client) const;
    /// Sets token and fingerprint for a source that is a stream. Throws Error{usage} if they are given and the source
    /// is not a stream.
    void apply(jobs::InputOptions& input) const;
};

/// Adds `--token-file` and `--fingerprint` for viewing the stream that `what` describes in the help.
void add_entry_options(Command& command, EntryFlags& flags, const std::string& what = "");

}  // namespace framewire::app
