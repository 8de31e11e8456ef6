#pragma once

#include "framewire/core/error.hpp"
#include "framewire/net/wire/wire.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace framewire::net {

/// Longest text of a field; its length is one byte.
inline constexpr std::size_t max_text_bytes = 255;

/// Magic number that starts the preamble of both ends.
inline constexpr std::array<std::uint8_t, 4> magic{'F', 'W', 'I', 'R'};

/// Appends an unsigned integer in little-endian order.
template <std::unsigned_integral T>
void put(Bytes& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// Appends a text with its length, cleaned by clean_text().
inline void put_text(Bytes& out, std::string_view text) {
    const auto clean = clean_text(text, max_text_bytes);
    put(out, static_cast<std::uint8_t>(clean.size()));
    out.insert(out.end(), clean.begin(), clean.end());
}

/// Appends the magic number and the version.
inline void put_preamble(Bytes& out, std::uint16_t version) {
    out.insert(out.end(), magic.begin(), magic.end());
    put(out, version);
}

/// Appends a message header. finish_message() writes its length when the payload is complete.
inline void start_message(Bytes& out, MessageType type) {
    put(out, static_cast<std::uint8_t>(type));
    put(out, std::uint32_t{0});
}

/// Writes the length of the message that starts at offset `start`. Throws Error{internal} if it exceeds 32 bits.
inline void finish_message(Bytes& out, std::size_t start) {
    const auto length = out.size() - start - header_bytes;
    if (length > std::numeric_limits<std::uint32_t>::max())
        fail(ErrorCode::internal, "a message of {} bytes is too long for the protocol", length);
    for (std::size_t i = 0; i < 4; ++i) out[start + 1 + i] = static_cast<std::uint8_t>(length >> (8 * i));
}

/// Reads fields from an untrusted message. All functions throw Error{source_lost} if the message is too short or
/// invalid.
class Reader {
public:
    /// `what` names the message in errors and must outlive the reader.
    Reader(ByteSpan bytes, const char* what) : rest_(bytes), what_(what) {}

    /// Reads an unsigned integer in little-endian order.
    template <std::unsigned_integral T>
    T take() {
        T value = 0;
        const auto bytes = take_bytes(sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<T>(value | static_cast<T>(T{bytes[i]} << (8 * i)));
        return value;
    }

    /// Reads a text with its length, cleaned by clean_text().
    std::string take_text() {
        const auto bytes = take_bytes(take<std::uint8_t>());
        return clean_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, max_text_bytes);
    }

    /// Reads a byte that must be 0 or 1.
    bool take_flag() {
        const auto flag = take<std::uint8_t>();
        if (flag > 1) fail(ErrorCode::source_lost, "{} has a flag of {}, which is 0 or 1", what_, flag);
        return flag == 1;
    }

    /// Returns the next `count` bytes.
    ByteSpan take_bytes(std::size_t count) {
        if (count > rest_.size())
            fail(ErrorCode::source_lost, "{} is cut off: {} more bytes are needed, {} are there", what_, count,
                 rest_.size());
        const auto bytes = rest_.first(count);
        rest_ = rest_.subspan(count);
        return bytes;
    }

    /// Returns the bytes that have not been read.
    ByteSpan rest() const { return rest_; }

    /// Throws unless everything has been read.
    void expect_end() const {
        if (!rest_.empty())
            fail(ErrorCode::source_lost, "{} is {} bytes longer than it should be", what_, rest_.size());
    }

private:
    ByteSpan rest_;
    const char* what_;
};

}  // namespace framewire::net
