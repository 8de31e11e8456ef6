#pragma once

#include "framewire/net/http/request/raw_request.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <memory>

namespace framewire::net::http {

/// Splits the bytes of a connection into HTTP/1.x requests, one after the other. Use it from one thread.
class RequestReader {
public:
    /// Longest header and body of a request, in bytes.
    static constexpr std::size_t header_limit_bytes = 16 * 1024, body_limit_bytes = 64 * 1024;

    RequestReader();
    ~RequestReader();

    /// Appends bytes. Returns true if a request is complete, which stays so until request() is called. Throws Refused
    /// if the bytes are not a valid request; the connection cannot be used after that.
    bool take(ByteSpan bytes);
    /// Removes and returns the complete request. The bytes after it belong to the next one.
    RawRequest request();
    /// Returns true if part of a request has been received.
    bool begun() const;
    /// Removes and returns the bytes that belong to no request, for a change of protocol.
    Bytes rest();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net::http
