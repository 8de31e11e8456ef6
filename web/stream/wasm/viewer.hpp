#pragma once

#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/net/stream/receiver.hpp"
#include "framewire/net/stream/server_clock.hpp"
#include "framewire/net/wire/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::web {

/// What became of a message, as numbers for the world outside.
enum class Taken : int {
    nothing = 0,  ///< nothing to be seen yet
    picture = 1,  ///< the picture is new
    ended = 2,    ///< the stream came to its end
    hello = 3,    ///< the server's; info() is there
    refused = 4,  ///< the server says why in text(), and reason() is its number
    clock = 5,    ///< ages are known
    answer = 6,   ///< to a wish: reason() is 1 when it was done, text() says how things stand
};

/// A viewer's end of the protocol without a connection: the same reader, receiver and decoder as the native viewer's.
/// Everything throws Error{source_lost} on what no server sends; nothing is to be called after that.
class Viewer {
public:
    /// Larger pictures are refused unallocated, as by the native viewer.
    static constexpr std::int64_t max_pixels = std::int64_t{8192} * 8192;

    /// What a new connection begins with: preamble and hello, which tell what is held.
    net::Bytes greet(std::string_view name, std::string_view token);
    /// How many bytes follow a message's header; throws on what none can have.
    std::size_t content_bytes(net::ByteSpan header) const;
    /// Takes one message of the server, which came at `now_us` of the viewer's clock.
    Taken take(net::MessageType type, net::ByteSpan content, double now_us);

    const net::StreamInfo& info() const { return info_; }
    bool takes_wishes() const { return takes_wishes_; }
    const net::Receiver* receiver() const { return receiver_ ? &*receiver_ : nullptr; }
    int reason() const { return reason_; }
    const std::string& text() const { return text_; }
    /// Microseconds since the picture held was captured; none before clocks were compared.
    std::optional<std::int64_t> age_us(double now_us) const;
    /// How many bytes the last message changed.
    std::int64_t last_changed() const { return last_changed_; }

    /// Blocks that are new since painted(), row by row.
    const delta::BlockSet& touched() const { return touched_; }
    /// Of each pixel, how far its furthest byte was changed since painted(); no bytes where marks are off.
    const std::vector<std::uint8_t>& marks() const { return marks_; }
    /// Begins to keep marks, or leaves off.
    void keep_marks(bool keep);
    /// What was touched and marked is painted. Marks stay until there are others.
    void painted();

private:
    void accept(const net::ServerHello& hello);
    void take_state(net::MessageType type, bool complete);
    void mark(bool complete);

    std::optional<net::Receiver> receiver_;
    net::StreamInfo info_{};
    net::ServerClock clock_;
    bool greeted_ = false;  // by the server, on this connection
    bool takes_wishes_ = false;
    int reason_ = 0;
    std::string text_;
    std::int64_t last_changed_ = 0;
    delta::BlockSet touched_;
    std::vector<std::uint8_t> marks_, part_marks_;  // the latter of parts of the next state
    bool keeps_marks_ = false, marks_painted_ = false;
    delta::HostChanges changes_;  // room for those of a message, while there are marks
};

}  // namespace framewire::web
