// Fuzzes the reader of HTTP responses. The first byte is the size of the pieces in which the others arrive. A response
// must be refused, or be the same in other pieces, within the limits.

#include "framewire/net/http_client.hpp"
#include "framewire/net/transport.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace {

using framewire::net::http::ClientResponse;
using framewire::net::http::ResponseReader;

std::optional<ClientResponse> response_in_pieces(framewire::net::ByteSpan bytes, std::size_t piece) {
    ResponseReader reader;
    try {
        bool done = false;
        while (!done && !bytes.empty()) {
            const auto first = bytes.first(std::min(piece, bytes.size()));
            bytes = bytes.subspan(first.size());
            done = reader.take(first);
        }
        if (!done) reader.end();
    } catch (const framewire::net::Lost&) {
        return std::nullopt;
    }
    return reader.response();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const framewire::net::ByteSpan bytes(data + 1, size - 1);
    const auto response = response_in_pieces(bytes, std::size_t{1} + *data);
    if (!response) return 0;
    if (response->body.size() > ResponseReader::body_limit_bytes) std::abort();
    const auto bytewise = response_in_pieces(bytes, 1);
    if (bytewise && (bytewise->status != response->status || bytewise->body != response->body)) std::abort();
    return 0;
}
