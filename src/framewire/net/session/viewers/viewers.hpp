#pragma once

#include "framewire/net/limits/limited_log.hpp"
#include "framewire/net/limits/pinned_bytes.hpp"
#include "framewire/net/session/stream.hpp"
#include "framewire/net/session/tally.hpp"
#include "framewire/net/session/viewers/viewer.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/transport/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

/// The viewers of all streams of a server. Each is sent complete states as far as its congestion window allows: a delta
/// frame if it is up to date, otherwise its missing blocks of one pinned state, and nothing newer until that state is
/// complete. A slow viewer skips states and does not delay the others. At most one keyframe is pending per viewer, and
/// the total is limited. Everything runs on the loop's thread.
class Viewers {
public:
    /// Deadlines of a viewer.
    struct Deadlines {
        /// Without a byte taken by a viewer that has data pending.
        std::chrono::milliseconds write{};
        /// A viewer is sent something at least this often.
        std::chrono::milliseconds keep_alive{};
    };

    /// All arguments must outlive this object. `streams` holds the streams served at any time.
    Viewers(const Deadlines& deadlines, Loop& loop, const Streams& streams, Tally& tally);
    /// Detaches all viewers from the stream states, which live on.
    ~Viewers();
    Viewers(const Viewers&) = delete;
    Viewers& operator=(const Viewers&) = delete;

    /// Sets the most memory in bytes that pending responses may hold. A single response may exceed it.
    void set_pinned_limit(std::size_t bytes) { pinned_limit_ = bytes; }
    /// Number of viewers, including those that were sent the end.
    std::size_t count() const { return count_; }
    /// Makes room for a viewer of the peer `newcomer` by dropping the newest viewer of the peer that has the most.
    /// Returns false and drops nobody if that peer would then have fewer viewers than the newcomer's peer.
    bool make_room(const std::string& newcomer);

    /// Adds a viewer whose hello was accepted.
    void come(Stream& stream, ConnectionPointer connection, const ViewerHello& hello);
    /// Sends every viewer of the stream what it is missing. Called when the state is new.
    void send_all_missing(Stream& stream);
    /// Closes the connections of the stream's viewers and returns their number.
    int cut_off(Stream& stream);
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();

private:
    // Reading, control requests and leaving (viewers.cpp).
    void resume(Viewer& viewer, const HeldBlocks& held);
    void listen_to(Viewer& viewer);
    void hear(const ViewerPointer& viewer);
    void take_drawn(Viewer& viewer, const Drawn& drawn);
    void hear_on(Viewer& viewer);
    void take_control(const ViewerPointer& viewer, const std::string& wish);
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

    // Sending (viewers_sending.cpp).
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
    bool send_steps(Viewer& viewer, std::size_t room_bytes);
    void send_words(Viewer& viewer);
    void ask_for_blocks(Viewer& viewer);
    void code_blocks(Stream& stream, delta::BlockSet wanted, std::uint64_t changed_after);
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
    std::vector<std::span<const std::uint8_t>> pieces_;  // of the write in progress; reused to avoid allocations
    const std::shared_ptr<const Bytes> alive_;
    LimitedLog came_{LogLevel::info, "viewers that came"};
    LimitedLog went_{LogLevel::info, "viewers that went"};
    LimitedLog dropped_{LogLevel::warning, "viewers dropped"};
    LimitedLog trouble_{LogLevel::error, "trouble in serving"};
};

}  // namespace framewire::net
