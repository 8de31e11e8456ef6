#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/congestion_window.hpp"
#include "framewire/net/control.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net {

struct Stream;

/// Content of one write to a viewer.
struct Answer {
    /// Kind of content. `words` are messages without picture data; `blocks` and `picture` bring a viewer to a state by
    /// single blocks or by a keyframe.
    enum class Kind { words, delta_frames, blocks, picture };
    Kind kind = Kind::words;
    /// Messages in sending order, those without picture data first.
    SharedMessages messages{};
    /// The number of messages without picture data.
    std::size_t words = 0;
    /// Versions that the viewer skips.
    std::uint64_t skipped = 0;

    /// Returns the sum of the message sizes in bytes.
    std::size_t bytes() const;
    /// Returns true if one of the messages is the same object as one of `others`.
    bool shares_a_message_with(const SharedMessages& others) const;
};

/// State of one viewer inside its server. Only the loop's thread uses it.
struct Viewer : std::enable_shared_from_this<Viewer> {
    /// Life cycle of a viewer.
    enum class Phase {
        /// The viewer is sent what it is missing.
        watching,
        /// The viewer was sent the end and has not closed yet.
        ending,
        /// The connection is closed.
        gone,
    };

    /// Creates a viewer that holds no blocks. `connection` must not be null.
    Viewer(ConnectionPointer connection, Stream& stream, Clock::time_point now);

    /// Returns the rate of the write in progress in bytes per second, or infinity if the write is too recent to tell.
    double pace(Clock::time_point now) const;

    ConnectionPointer connection;
    Stream& stream;
    const Clock::time_point came_at;
    Phase phase = Phase::watching;
    // The blocks that the viewer holds when all writes are complete:
    /// Version of the blocks that are not missing; 0 if all are missing.
    std::uint64_t held = 0;
    /// Blocks that the viewer holds in an older version or not at all.
    codec::BlockSet missing;
    /// True if the viewer holds blocks from an earlier connection and has not been sent a state on this one yet.
    bool resumes = false;
    /// True while the viewer waits for blocks to be encoded on the work thread.
    bool awaits_blocks = false;
    /// True once the viewer has received a complete state.
    bool has_begun = false;
    /// The state of version `held` while blocks of it are missing. Nothing newer is sent until it is complete.
    std::optional<PinnedState> pinned{};
    /// True if the viewer shows a state only when it is complete, so that a state may be split into several messages.
    bool takes_parts = true;

    /// Returns true if the viewer holds all blocks of version `held`.
    bool complete() const { return held > 0 && !codec::any(missing); }

    /// Limits the bytes in flight.
    CongestionWindow window;
    /// Time of the last acknowledgement.
    Clock::time_point drawn_at{};

    /// Messages without picture data for the next write.
    SharedMessages words{};
    /// The viewer's clock at the last acknowledgement, and this machine's at the same time.
    std::optional<Clocks> clocks{};
    /// Time of the last clock message to the viewer.
    Clock::time_point clock_sent_at{};

    /// True while a write is in progress.
    bool writing = false;
    /// True while `answer` is counted as pinned memory.
    bool pins = false;
    /// Content of the write in progress.
    Answer answer;
    /// Bytes of that write that the connection has accepted.
    std::size_t taken_bytes = 0;
    /// Start of the latest write.
    Clock::time_point answered_at{};
    /// Time at which the viewer last accepted a byte.
    Clock::time_point progress;
    /// Time at which the viewer last accepted a byte of picture data.
    Clock::time_point states_progress;

    /// Read buffer of one message: its header, then its content.
    Bytes said = Bytes(header_bytes);
    /// Bytes in the read buffer.
    std::size_t heard_bytes = 0;
    /// The header, while the content is read.
    std::optional<MessageHeader> front{};
    /// True while a control request of the viewer is being handled or answered; reading is paused meanwhile.
    bool awaits_control = false;
    /// True while the answer to that request is queued or being sent.
    bool control_answered = false;
    /// Pending update: the settings after another viewer's latest control request.
    std::shared_ptr<const Bytes> news{};
};

/// Callbacks keep a viewer alive through this pointer.
using ViewerPointer = std::shared_ptr<Viewer>;

/// State of a stream inside its server. Only the loop's thread uses it unless stated otherwise.
struct Stream {
    /// Encodes the messages that are the same for all viewers.
    Stream(std::string name, StreamState& state, Control control);

    const std::string name;
    StreamState& state;
    /// The hello in the current protocol version and in oldest_wire_version.
    const std::shared_ptr<const Bytes> hello, oldest_hello;
    /// The end message, or the error that replaces it.
    std::shared_ptr<const Bytes> last_words;
    /// If true, no new viewers are accepted.
    bool ending = false;
    std::set<ViewerPointer> viewers;
    /// True while a worker encodes blocks for viewers.
    bool coding_blocks = false;
    /// Number of control requests being handled.
    int controls_under_way = 0;
    /// Called once when no blocks are being encoded and no control request is being handled.
    std::function<void()> when_idle;

    /// Returns true if no worker uses the stream.
    bool idle() const { return !coding_blocks && controls_under_way == 0; }
    /// Calls `when_idle` if the stream is idle. That call may destroy the stream.
    void tell_when_idle() {
        if (!idle()) return;
        if (const auto call = std::exchange(when_idle, nullptr)) call();
    }
    /// Handles control requests on the loop's work thread. Null: the stream accepts none.
    Control control;

    /// True while a publish() is posted to the loop. Used by any thread.
    std::atomic<bool> publishing{false};

    // Guarded by the tally's mutex.
    StreamMetrics metrics{};
    /// Number of current viewers that have received a complete state.
    int begun_viewers = 0;
    /// Number of viewers that were sent the end and have not disconnected yet.
    int ending_viewers = 0;
    /// True once end() has been called.
    bool closed_to_new = false;
};

/// The streams of a server by name.
using Streams = std::map<std::string, std::unique_ptr<Stream>, std::less<>>;

/// Statistics that the loop's thread updates and other threads read or wait for.
struct Tally {
    /// Also guards the statistics of the streams.
    mutable std::mutex mutex;
    std::condition_variable_any changed;
    ServerMetrics total{};

    /// Calls `change` with the mutex held and then wakes the waiting threads.
    template <class Change>
    void count(Change change) {
        {
            const std::lock_guard lock(mutex);
            change();
        }
        changed.notify_all();
    }
};

/// The viewers of all streams of a server. Each is sent complete states as far as its congestion window allows: a delta
/// frame if it is up to date, otherwise its missing blocks of one pinned state, and nothing newer until that state is
/// complete. A slow viewer skips states and does not delay the others. At most one keyframe is pending per viewer, and
/// the total is limited. Everything runs on the loop's thread.
class Viewers {
public:
    /// Deadlines of a viewer.
    struct Deadlines {
        /// Maximum time in which a viewer with pending data accepts no byte.
        std::chrono::milliseconds write{};
        /// Maximum time between two messages to a viewer.
        std::chrono::milliseconds keep_alive{};
    };

    /// All arguments must outlive this object. `streams` always holds the streams being served.
    Viewers(const Deadlines& deadlines, Loop& loop, const Streams& streams, Tally& tally);
    /// Detaches all viewers from the stream states, which live on.
    ~Viewers();
    Viewers(const Viewers&) = delete;
    Viewers& operator=(const Viewers&) = delete;

    /// Limits the memory in bytes that pending responses may hold. A single response may exceed it.
    void set_pinned_limit(std::size_t bytes) { pinned_limit_ = bytes; }
    /// Returns the number of viewers, including those that were sent the end.
    std::size_t count() const { return count_; }
    /// Makes room for a viewer of the peer `newcomer` by dropping the newest viewer of the peer that has the most.
    /// Returns false and drops nobody if that peer would then have fewer viewers than the newcomer's peer.
    bool make_room(const std::string& newcomer);

    /// Adds a viewer whose hello was accepted.
    void come(Stream& stream, ConnectionPointer connection, const ViewerHello& hello);
    /// Sends every viewer of the stream what it is missing. Call it when there is a new state.
    void send_all_missing(Stream& stream);
    /// Closes the connections of the stream's viewers and returns their number.
    int cut_off(Stream& stream);
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();

private:
    // Reading, control requests and leaving (viewers.cpp).
    void resume(Viewer& viewer, const BlockVersions& held);
    void listen_to(Viewer& viewer);
    void hear(const ViewerPointer& viewer);
    void take_drawn(Viewer& viewer, const Drawn& drawn);
    void hear_on(Viewer& viewer);
    void take_control(const ViewerPointer& viewer, const std::string& control_request);
    void answer_control(const ViewerPointer& viewer, const ControlAnswer& answer, bool only_asked);
    void drop(const ViewerPointer& viewer, std::string_view why);
    void part(const ViewerPointer& viewer, std::string_view why);
    void close(const ViewerPointer& viewer);
    void enter(Viewer& viewer, Viewer::Phase phase);

    // Calls `act` for every current viewer. An exception drops that viewer and does not affect the others.
    template <class Act>
    void for_everyone(Stream& stream, Act act) {
        const std::vector<ViewerPointer> everyone(stream.viewers.begin(), stream.viewers.end());
        for (const auto& viewer : everyone) {
            if (viewer->phase == Viewer::Phase::gone) continue;
            try {
                act(viewer);
            } catch (const std::exception& error) {
                drop(viewer, error.what());
            }
        }
    }

    // Sending.
    void send(Viewer& viewer, Answer answer);
    void written(const ViewerPointer& viewer, const std::error_code& error);
    void make_room_for(const Viewer& viewer, const SharedMessages& messages);
    ViewerPointer slowest_besides(const Viewer& viewer, const SharedMessages& messages) const;
    void release(Viewer& viewer);
    void pin(Viewer& viewer, const WholeState& whole);
    void unpin(Viewer& viewer);
    void count_pinned();
    void note_begun(Viewer& viewer);
    void count_taken(const Viewer& viewer, const Answer& answer);
    void send_missing(Viewer& viewer);
    bool send_delta_frames(Viewer& viewer, std::size_t room_bytes);
    void send_words(Viewer& viewer);
    void ask_for_blocks(Viewer& viewer);
    void code_blocks(Stream& stream, codec::BlockSet wanted, std::uint64_t changed_after);
    void hand_out(Stream& stream, const WholeState* whole);
    void send_state(Viewer& viewer, const WholeState& whole);
    void send_pinned(Viewer& viewer, std::uint64_t skipped = 0);
    void tell_clocks(Viewer& viewer);
    void check_deadlines(const ViewerPointer& viewer, Clock::time_point now);

    // Updates the statistics of the stream and of the server.
    template <class Change>
    void count(Stream& stream, Change change) {
        tally_.count([&] {
            change(stream.metrics);
            change(tally_.total);
        });
    }

    const Deadlines deadlines_;
    Loop& loop_;
    const Streams& streams_;
    Tally& tally_;
    std::size_t pinned_limit_ = 0;
    std::size_t count_ = 0;
    PinnedBytes pinned_;
    std::vector<std::span<const std::uint8_t>> pieces_;  // parts of the write in progress; reused to avoid allocations
    const std::shared_ptr<const Bytes> alive_;
    LimitedLog came_{LogLevel::info, "new viewers"};
    LimitedLog went_{LogLevel::info, "viewers that left"};
    LimitedLog dropped_{LogLevel::warning, "dropped viewers"};
    LimitedLog trouble_{LogLevel::error, "problems while serving"};
};

}  // namespace framewire::net
