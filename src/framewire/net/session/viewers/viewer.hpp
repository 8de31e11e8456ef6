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

/// What a viewer is sent in one go.
struct Answer {
    enum class Kind { words, steps, blocks, picture };
    Kind kind = Kind::words;
    SharedMessages messages{};  ///< words first, where others come with them
    std::size_t words = 0;      ///< so many of them
    std::uint64_t skipped = 0;  ///< versions that the viewer passes over by it

    std::size_t bytes() const;
    bool shares_a_message_with(const SharedMessages& others) const;
};

/// A viewer as its server knows it. Only the loop's thread touches it.
struct Viewer : std::enable_shared_from_this<Viewer> {
    enum class Phase {
        watching,  ///< it is sent what it lacks
        ending,    ///< it was told the end, and its closing is awaited
        gone,
    };

    Viewer(ConnectionPointer connection, Stream& stream, Clock::time_point now);

    /// How quickly it takes the answer under way, in bytes a second; as good as any while that is too young to tell.
    double pace(Clock::time_point now) const;

    ConnectionPointer connection;
    Stream& stream;
    const Clock::time_point came_at;
    Phase phase = Phase::watching;
    // What it has when all writes are done:
    std::uint64_t held = 0;   ///< the version of the blocks that it does not lack; 0: it lacks all
    delta::BlockSet lacking;  ///< blocks that it has of older versions, or not at all
    bool resumes = false;     ///< it has this from another connection, and is to be told what became of it
    bool awaits_blocks = false;
    bool has_begun = false;  ///< it has taken a whole state
    /// The state of version `held`, while blocks of it are lacking: nothing newer is sent before it is complete.
    std::optional<PinnedState> pinned{};
    bool takes_parts = true;  ///< it presents a state only if complete, so a state may come in several messages

    bool complete() const { return held > 0 && !delta::any(lacking); }

    SendWindow window;
    Clock::time_point drawn_at{};  ///< when it last said what it has drawn

    SharedMessages words{};          ///< that go with the next answer
    std::optional<Clocks> clocks{};  ///< when it last told its own
    Clock::time_point clock_told_at{};

    bool writing = false;
    bool pins = false;                  ///< the answer counts among the bytes pinned
    Answer answer;                      ///< under way while `writing`
    std::size_t taken_bytes = 0;        ///< of it
    Clock::time_point answered_at{};    ///< when it was begun
    Clock::time_point progress;         ///< when it last took a byte
    Clock::time_point states_progress;  ///< when it last took one of a picture or a step

    Bytes said = Bytes(header_bytes);  ///< its message: the front, then the content
    std::size_t heard_bytes = 0;       ///< of that
    std::optional<MessageHeader> front{};
    bool awaits_control = false;  ///< a wish of its is being seen to, or answered, and nothing more is read
    bool control_answered = false;
    std::shared_ptr<const Bytes> news{};  ///< what another one changed last, while that waits to be told
};

using ViewerPointer = std::shared_ptr<Viewer>;

}  // namespace framewire::net
