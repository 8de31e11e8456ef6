#pragma once

#include "framewire/net/testing/test_tcp.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::net::testing {

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

/// An HTTP response as it was received.
struct HttpAnswer {
    int status = 0;  ///< 0: no response
    std::string head{}, body{};

    bool says(std::string_view line) const { return head.find("\r\n" + std::string(line) + "\r\n") != head.npos; }
};

/// An HTTP client that sends exactly what a test wants.
class HttpClient {
public:
    explicit HttpClient(std::uint16_t port) : HttpClient(RawConnection::connect(port)) {}
    explicit HttpClient(RawConnection connection) : connection_(std::move(connection)) {}

    /// Sends a request and returns its response. `fields` are further header lines; "Host" is always sent.
    HttpAnswer ask(const std::string& line, const std::string& fields = "", const std::string& body = "") {
        say(line + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n" + body);
        return answer(!line.starts_with("HEAD"));
    }
    bool say(std::string_view text) { return connection_.send(bytes_of(text)); }

    /// Reads a header and a body of the length that it announces.
    HttpAnswer answer(bool with_body = true) {
        HttpAnswer answer;
        if (!hear_until("\r\n\r\n")) return answer;
        const auto end = heard_.find("\r\n\r\n") + 4;
        answer.head = heard_.substr(0, end);
        heard_.erase(0, end);
        std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
        const std::string_view field = "\r\nContent-Length: ";
        std::size_t length = 0;
        if (const auto at = answer.head.find(field); with_body && at != answer.head.npos)
            std::from_chars(answer.head.data() + at + field.size(), answer.head.data() + answer.head.size(), length);
        while (heard_.size() < length && hear()) {
        }
        answer.body = heard_.substr(0, length);
        heard_.erase(0, length);
        return answer;
    }
    /// Reads up to and including `words`. Returns false if they do not arrive.
    bool hear_until(std::string_view words) {
        while (heard_.find(words) == heard_.npos)
            if (!hear()) return false;
        return true;
    }
    const std::string& heard() const { return heard_; }
    /// Returns true if the server closes the connection.
    bool closed() {
        Bytes rest;
        return connection_.read_to_the_end(rest);
    }

private:
    bool hear() {
        const auto piece = connection_.read(65536);
        heard_.append(piece.begin(), piece.end());
        return !piece.empty();
    }

    RawConnection connection_;
    std::string heard_;
};

}  // namespace framewire::net::testing
