#pragma once

#include "framewire/net/http/request/raw_request.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <memory>

namespace framewire::net::http {

/// Requests out of the bytes of a connection, one after the other.
class RequestReader {
public:
    static constexpr std::size_t header_limit_bytes = 16 * 1024, body_limit_bytes = 64 * 1024;

    RequestReader();
    ~RequestReader();

    /// Takes more bytes. True when a request is whole, or was and is not taken out yet. Throws Refused where no good
    /// request comes of them: then the connection is of no use any more.
    bool take(ByteSpan bytes);
    /// The request that is whole. What came after it is of the next one.
    RawRequest request();
    /// Whether some bytes of a request came.
    bool begun() const;
    /// Bytes that are of no request so far; they are gone here.
    Bytes rest();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net::http
