#pragma once

#include "command_line/command_line.hpp"

#include "framewire/net/client.hpp"
#include "framewire/session/access/access.hpp"
#include "framewire/session/options.hpp"

#include <string>

namespace framewire::app {

/// Who may watch: `--token-file`, `--no-token`, `--tls`, `--tls-cert` and `--tls-key`.
void add_access_options(Command& command, session::AccessOptions& options);

/// Says what came of them: which token is in use, the certificate's fingerprint, and the token itself on standard
/// output when it is a new one. The one place that shows it.
void tell_access(const session::Access& access, const net::ListenerOptions& listener);

/// How a viewer gets in.
struct EntryFlags {
    std::string token_file, fingerprint;

    /// The token of the file or, without one, of the environment's FRAMEWIRE_TOKEN. Throws as net::read_token_file(),
    /// net::validate_token() and net::parse_fingerprint() do.
    /// Warns where the token would be readable on its way to `url`. Throws Error{usage} where that is no address.
    void apply(const std::string& url, net::ClientOptions& client) const;
    /// The same for a source that is a stream. Throws Error{usage} if they are given and it is not one.
    void apply(session::InputOptions& input) const;
};

/// `--token-file` and `--fingerprint`, to view the stream that `what` names.
void add_entry_options(Command& command, EntryFlags& flags, const std::string& what = "");

}  // namespace framewire::app
