#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/delta/blocks/block_set.hpp"
#include "framewire/net/limits/pinned_bytes.hpp"
#include "framewire/net/limits/send_window.hpp"
#include "framewire/net/stream/whole_state.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace framewire::net {

struct Stream;

/// Content of one write to a viewer.
struct Answer {
    /// The content: `words` are messages without picture data, `steps` are delta frames, `blocks` and `picture` bring a
    /// viewer to a state by single blocks or by a keyframe.
    enum class Kind { words, steps, blocks, picture };
    Kind kind = Kind::words;
    /// Messages in sending order, those without picture data first.
    SharedMessages messages{};
    /// The number of messages without picture data.
    std::size_t words = 0;
    /// Versions that the viewer skips.
    std::uint64_t skipped = 0;

    /// Sum of the message sizes in bytes.
    std::size_t bytes() const;
    /// Returns true if both contain the same message object.
    bool shares_a_message_with(const SharedMessages& others) const;
};

/// State of one viewer inside its server. Only the loop's thread uses it.
struct Viewer : std::enable_shared_from_this<Viewer> {
    /// Life cycle of a viewer.
    enum class Phase {
        /// Is sent what it is missing.
        watching,
        /// Was sent the end and has not closed.
        ending,
        /// The connection is closed.
        gone,
    };

    /// A viewer that holds nothing. `connection` must not be null.
    Viewer(ConnectionPointer connection, Stream& stream, Clock::time_point now);

    /// Bytes per second of the write in progress; infinity while the write is too young to tell.
    double pace(Clock::time_point now) const;

    ConnectionPointer connection;
    Stream& stream;
    const Clock::time_point came_at;
    Phase phase = Phase::watching;
    // The blocks that the viewer holds when all writes are complete:
    /// Version of the blocks that are not missing; 0 if all are.
    std::uint64_t held = 0;
    /// Blocks that the viewer holds in an older version or not at all.
    delta::BlockSet lacking;
    /// It holds blocks from an earlier connection and must be sent the state they belong to.
    bool resumes = false;
    /// Waits for a worker to encode blocks.
    bool awaits_blocks = false;
    /// It has taken a complete state.
    bool has_begun = false;
    /// The state of version `held` while blocks of it are missing. Nothing newer is sent until it is complete.
    std::optional<PinnedState> pinned{};
    /// It shows a state only when complete, so a state may be split over several messages.
    bool takes_parts = true;

    /// Returns true if it holds all blocks of version `held`.
    bool complete() const { return held > 0 && !delta::any(lacking); }

    /// How much may be in flight.
    SendWindow window;
    /// Time of the last acknowledgement.
    Clock::time_point drawn_at{};

    /// Messages without picture data for the next write.
    SharedMessages words{};
    /// The viewer's clock at the last acknowledgement, and this machine's at the same time.
    std::optional<Clocks> clocks{};
    /// When the viewer was last sent the clocks.
    Clock::time_point clock_told_at{};

    /// A write is in progress.
    bool writing = false;
    /// `answer` is counted as pinned memory.
    bool pins = false;
    /// Content of the write in progress.
    Answer answer;
    /// Bytes of it that were taken.
    std::size_t taken_bytes = 0;
    /// Start of the write.
    Clock::time_point answered_at{};
    /// When it last took a byte.
    Clock::time_point progress;
    /// When it last took a byte of picture data.
    Clock::time_point states_progress;

    /// Read buffer of one message: its header, then its content.
    Bytes said = Bytes(header_bytes);
    /// Bytes in the read buffer.
    std::size_t heard_bytes = 0;
    /// The header, while the content is read.
    std::optional<MessageHeader> front{};
    /// One of its control requests is being handled or answered; reading is paused.
    bool awaits_control = false;
    /// The answer to its control request is queued or being sent.
    bool control_answered = false;
    /// Pending update: the settings after another viewer's latest control request.
    std::shared_ptr<const Bytes> news{};
};

/// Handlers keep a viewer alive through this pointer.
using ViewerPointer = std::shared_ptr<Viewer>;

}  // namespace framewire::net
