#pragma once

#include "framewire/media/media.hpp"
#include "framewire/net/address.hpp"
#include "framewire/session/options.hpp"

#include <memory>

namespace framewire::session {

/// Opens the stream of a framewire server as a live source. Each frame of the server's source is returned once, when
/// every block of the picture belongs to it; refinements are skipped. Throws as net::Client does.
std::unique_ptr<Source> open_stream_source(const net::StreamAddress& address, const StreamAccess& access,
                                           const SourceOptions& options);

}  // namespace framewire::session
