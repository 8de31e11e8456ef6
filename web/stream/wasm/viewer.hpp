#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::web {

/// Result of a message. The numbers are part of the interface to JavaScript.
enum class Taken : int {
    /// No new picture.
    nothing = 0,
    /// A new complete picture.
    picture = 1,
    /// The end of the stream.
    ended = 2,
    /// The server's hello; info() is valid.
    hello = 3,
    /// The server refuses: text() is the reason, reason() its number.
    refused = 4,
    /// The clocks have been compared; age_us() is valid.
    clock = 5,
    /// The answer to a control request: reason() is 1 if it was accepted; text() holds the settings or the refusal.
    answer = 6,
};

/// Viewer's side of the protocol without a connection. Uses the reader, receiver and decoder of the native viewer.
/// All functions throw Error{source_lost} on protocol violations and must not be called after that.
class Viewer {
public:
    /// Largest picture, as for the native viewer. Larger ones are refused before memory is allocated.
    static constexpr std::int64_t max_pixels = std::int64_t{8192} * 8192;

    /// Returns the preamble and hello of a new connection, which announce the block versions held.
    net::Bytes greet(std::string_view name, std::string_view token);
    /// Returns the length of the content after a message header. Throws if it is impossible.
    std::size_t content_bytes(net::ByteSpan header) const;
    /// Applies one message of the server, received at `now_us` on the viewer's clock.
    Taken take(net::MessageType type, net::ByteSpan content, double now_us);

    /// Returns the parameters of the stream, valid after the hello.
    const net::StreamInfo& info() const { return info_; }
    /// Returns true if the server accepts control requests.
    bool takes_control_requests() const { return takes_control_requests_; }
    /// Returns the receiver, or null before the first hello.
    const net::Receiver* receiver() const { return receiver_ ? &*receiver_ : nullptr; }
    /// Returns the number that belongs to text(); see Taken.
    int reason() const { return reason_; }
    /// Returns the server's last text; see Taken.
    const std::string& text() const { return text_; }
    /// Returns the age of the current picture in microseconds, or nullopt before the clocks have been compared.
    std::optional<std::int64_t> age_us(double now_us) const;
    /// Returns how many bytes of the picture the last message changed.
    std::int64_t last_changed() const { return last_changed_; }

    /// Returns which blocks have changed since painted(), row by row.
    const codec::BlockSet& touched() const { return touched_; }
    /// Returns the largest change of each pixel's bytes since painted(). Empty if marks are off.
    const std::vector<std::uint8_t>& marks() const { return marks_; }
    /// Turns marks on or off.
    void keep_marks(bool keep);
    /// Clears touched(). Marks stay until there are new ones.
    void painted();

private:
    void accept(const net::ServerHello& hello);
    void take_state(net::MessageType type, bool complete);
    void mark(bool complete);

    std::optional<net::Receiver> receiver_;
    net::StreamInfo info_{};
    net::ServerClock clock_;
    bool greeted_ = false;  // the hello of this connection has been received
    bool takes_control_requests_ = false;
    int reason_ = 0;
    std::string text_;
    std::int64_t last_changed_ = 0;
    codec::BlockSet touched_;
    std::vector<std::uint8_t> marks_, part_marks_;  // `part_marks_` belongs to the next, incomplete state
    bool keeps_marks_ = false, marks_painted_ = false;
    codec::HostChanges changes_;  // buffer for the changes of one message; allocated while marks are on
};

}  // namespace framewire::web
