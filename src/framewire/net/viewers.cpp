#include "framewire/net/viewers.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace framewire::net {

namespace {

// A write must have lasted this long to show how fast its viewer reads.
constexpr std::chrono::milliseconds judged_after{250};

}  // namespace

std::size_t Answer::bytes() const {
    return std::accumulate(messages.begin(), messages.end(), std::size_t{0},
                           [](std::size_t sum, const auto& message) { return sum + message->size(); });
}

bool Answer::shares_a_message_with(const SharedMessages& others) const {
    return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
        return std::find(others.begin(), others.end(), message) != others.end();
    });
}

Viewer::Viewer(ConnectionPointer connection_, Stream& stream_, Clock::time_point now)
    : connection(std::move(connection_)),
      stream(stream_),
      came_at(now),
      missing(stream_.state.blocks(), 1),
      drawn_at(now),
      progress(now),
      states_progress(now) {}

double Viewer::pace(Clock::time_point now) const {
    const auto age = now - answered_at;
    if (age < judged_after) return std::numeric_limits<double>::infinity();
    return static_cast<double>(taken_bytes) / std::chrono::duration<double>(age).count();
}

}  // namespace framewire::net

// Viewers: accepting, reading acknowledgements and control requests, dropping and deadlines.

namespace framewire::net {

namespace {

using Phase = Viewer::Phase;

std::shared_ptr<const Bytes> shared(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

}  // namespace

Stream::Stream(std::string name_, StreamState& state_, Control control_)
    : name(std::move(name_)),
      state(state_),
      hello(shared(server_hello({state.epoch(), control_ != nullptr, state.info()}))),
      oldest_hello(shared(server_hello({state.epoch(), control_ != nullptr, state.info()}, oldest_wire_version))),
      last_words(shared(empty_message(MessageType::end))),
      control(std::move(control_)) {}

Viewers::Viewers(const Deadlines& deadlines, Loop& loop, const Streams& streams, Tally& tally)
    : deadlines_(deadlines),
      loop_(loop),
      streams_(streams),
      tally_(tally),
      alive_(shared(empty_message(MessageType::alive))) {}

// Viewers end with this object, but the states live on and must no longer count them.
Viewers::~Viewers() {
    for (const auto& [name, stream] : streams_)
        for (const auto& viewer : stream->viewers)
            if (viewer->phase == Phase::watching) stream->state.detach();
}

// Sends the hello in the protocol version that the viewer speaks.
void Viewers::come(Stream& stream, ConnectionPointer connection, const ViewerHello& hello) {
    const auto viewer = std::make_shared<Viewer>(std::move(connection), stream, loop_.now());
    viewer->takes_parts = hello.version > oldest_wire_version;
    resume(*viewer, hello.held);
    stream.viewers.insert(viewer);
    ++count_;
    stream.state.attach();
    count(stream, [](StreamMetrics& m) {
        ++m.viewers;
        ++m.viewers_total;
    });
    came_.line("viewer {} joined", viewer->connection->name());
    listen_to(*viewer);
    send(*viewer, {Answer::Kind::words, {viewer->takes_parts ? stream.hello : stream.oldest_hello}, 1});
}

// --- reading ---

// Reads into the rest of the read buffer until the header or the content is complete.
void Viewers::listen_to(Viewer& viewer) {
    const auto into = std::span(viewer.said).subspan(viewer.heard_bytes);
    viewer.connection->read_some(into, [this, &viewer](const std::error_code& error, std::size_t bytes) {
        const auto held = viewer.shared_from_this();
        if (error || bytes == 0) return part(held, "");
        viewer.heard_bytes += bytes;
        try {
            if (viewer.heard_bytes == viewer.said.size()) hear(held);
        } catch (const Error& problem) {
            drop(held, problem.what());
        }
        if (viewer.phase != Phase::gone && !viewer.awaits_control) listen_to(viewer);
    });
}

// Takes a complete header or a complete content and prepares the read buffer for the next one.
void Viewers::hear(const ViewerPointer& viewer) {
    auto expected = header_bytes;
    if (!viewer->front) {
        viewer->front = read_viewer_header(viewer->said);
        if (viewer->front->type == MessageType::hello) fail(ErrorCode::source_lost, "it sent a second hello");
        expected = viewer->front->length_bytes;
    } else {
        const auto type = std::exchange(viewer->front, {})->type;
        if (type == MessageType::drawn)
            take_drawn(*viewer, read_drawn(viewer->said));
        else
            take_control(viewer, read_control(viewer->said));
    }
    viewer->said.resize(expected);
    viewer->heard_bytes = 0;
}

// An acknowledgement makes room in the window, so sending continues here.
void Viewers::take_drawn(Viewer& viewer, const Drawn& drawn) {
    const auto now = loop_.now();
    if (!viewer.window.drawn(drawn, now))
        fail(ErrorCode::source_lost, "it acknowledged an impossible number of messages: {}", drawn.messages);
    viewer.drawn_at = now;
    viewer.clocks = {drawn.clock_us, microseconds_since_start(now)};
    send_missing(viewer);
}

// One control request at a time: reading is paused until it has been answered.
void Viewers::take_control(const ViewerPointer& viewer, const std::string& control_request) {
    auto& stream = viewer->stream;
    if (!stream.control) fail(ErrorCode::source_lost, "it sent a control request to a stream that does not accept any");
    if (viewer->phase != Phase::watching) return;
    viewer->awaits_control = true;
    ++stream.controls_under_way;
    loop_.post_work([this, viewer, control_request, &stream] {
        ControlAnswer answer{.done = true};
        try {
            answer.text = stream.control(control_request);
        } catch (const std::exception& error) {
            answer = {false, without_paths(error.what())};
            if (answer.text != error.what()) log_warning("a viewer's control request failed: {}", error.what());
        }
        loop_.post([this, viewer, answer, asked = control_request.empty()] { answer_control(viewer, answer, asked); });
    });
}

// Resumes reading after the answer was written. A viewer that does not read its answers cannot send further requests.
void Viewers::hear_on(Viewer& viewer) {
    if (viewer.phase == Phase::gone || viewer.writing || !std::exchange(viewer.control_answered, false)) return;
    viewer.awaits_control = false;
    listen_to(viewer);
}

// Sends the answer to the viewer that made the request. If it changed something, all viewers receive the new settings.
void Viewers::answer_control(const ViewerPointer& viewer, const ControlAnswer& answer, bool only_asked) {
    auto& stream = viewer->stream;
    --stream.controls_under_way;
    const auto words = shared(answer_message(answer));
    auto unsolicited = answer;
    unsolicited.unsolicited = true;
    const auto marked = shared(answer_message(unsolicited));
    for_everyone(stream, [&](const ViewerPointer& other) {
        if (other == viewer) {
            other->words.push_back(words);
            other->control_answered = true;
        } else if (answer.done && !only_asked) {
            // Only the latest update waits for a viewer that is not reading.
            other->news = other->takes_parts ? marked : words;
        } else {
            return;
        }
        send_missing(*other);
    });
    hear_on(*viewer);
    stream.tell_when_idle();
}

// --- leaving ---

// The peer that holds the most places loses one, so it cannot exclude the others.
bool Viewers::make_room(const std::string& newcomer) {
    std::map<std::string, int> counts;
    for (const auto& [name, stream] : streams_)
        for (const auto& viewer : stream->viewers) ++counts[viewer->connection->peer()];
    ViewerPointer loser;
    for (const auto& [name, stream] : streams_)
        for (const auto& viewer : stream->viewers) {
            const auto rank = [&](const Viewer& one) { return std::pair(counts[one.connection->peer()], one.came_at); };
            if (!loser || rank(*viewer) > rank(*loser)) loser = viewer;
        }
    if (!loser || counts[loser->connection->peer()] <= counts[newcomer] + 1) return false;
    drop(loser, "too many viewers are connected, most of them from its address");
    return true;
}

// Disconnects a viewer because of an error or a limit.
void Viewers::drop(const ViewerPointer& viewer, std::string_view why) {
    dropped_.line("viewer {} dropped: {}", viewer->connection->name(), why);
    close(viewer);
    count(viewer->stream, [](StreamMetrics& m) {
        ++m.dropped;
    });  // counted last, so a thread that sees the new count also sees that the viewer is gone
}

// Handles a viewer that has closed, or whose connection failed for the given reason.
void Viewers::part(const ViewerPointer& viewer, std::string_view why) {
    if (viewer->phase == Phase::watching)
        went_.line("viewer {} left{}{}", viewer->connection->name(), why.empty() ? "" : ": ", why);
    close(viewer);
}

// Closes the connection and removes the viewer from its stream. Nothing else removes viewers.
void Viewers::close(const ViewerPointer& viewer) {
    if (viewer->phase == Phase::gone) return;
    enter(*viewer, Phase::gone);
    viewer->connection->close();
    viewer->stream.viewers.erase(viewer);
    --count_;
    release(*viewer);
    unpin(*viewer);
}

// Changes the phase and updates the statistics that depend on it.
void Viewers::enter(Viewer& viewer, Phase phase) {
    const auto before = std::exchange(viewer.phase, phase);
    if (before == Phase::watching) viewer.stream.state.detach();
    tally_.count([&] {
        if (before == Phase::watching) {
            --viewer.stream.metrics.viewers;
            --tally_.total.viewers;
            if (viewer.has_begun) --viewer.stream.begun_viewers;
        }
        viewer.stream.ending_viewers += (phase == Phase::ending) - (before == Phase::ending);
    });
}

int Viewers::cut_off(Stream& stream) {
    const auto left = static_cast<int>(stream.viewers.size());
    for_everyone(stream, [this](const ViewerPointer& viewer) { close(viewer); });
    return left;
}

// --- deadlines ---

void Viewers::check_deadlines() {
    const auto now = loop_.now();
    for (const auto& [name, stream] : streams_)
        for_everyone(*stream, [&](const ViewerPointer& viewer) { check_deadlines(viewer, now); });
    for (auto* log : {&came_, &went_, &dropped_, &trouble_}) log->tell_left_out(now);
}

// An ending viewer must close in time. A watching viewer must accept bytes and acknowledge pictures, and is sent
// keep-alives.
void Viewers::check_deadlines(const ViewerPointer& viewer, Clock::time_point now) {
    const auto silence = now - viewer->progress;
    if (viewer->phase == Phase::ending) {
        if (silence >= deadlines_.write) close(viewer);
    } else if (viewer->writing && silence >= deadlines_.write) {
        drop(viewer, fmt::format("it received no data for {} ms", deadlines_.write.count()));
    } else if (!viewer->window.empty() &&
               now - std::max({viewer->window.oldest(), viewer->drawn_at, viewer->states_progress}) >=
                   deadlines_.write) {
        drop(viewer, fmt::format("it drew no frame for {} ms", deadlines_.write.count()));
    } else if (!viewer->writing && now - viewer->answered_at >= deadlines_.keep_alive) {
        send(*viewer, {Answer::Kind::words, {alive_}, 1});  // also sent while blocks are being encoded for the viewer
    }
}

}  // namespace framewire::net

// Viewers: what is sent to whom, and when. After each write and each acknowledgement, send_missing() chooses:
//
//   nothing new                       pending messages, or the end of the stream
//   up to date until recently         the delta frames since then
//   otherwise                         missing blocks: request them from the work thread, pin the state,
//                                     and send it in messages that fit into the congestion window
//
// A viewer that holds nothing gets a keyframe instead of blocks if that fits into the window.

namespace framewire::net {

namespace {

using Phase = Viewer::Phase;

// Interval between two clock messages to one viewer.
constexpr std::chrono::seconds clock_interval{1};

}  // namespace

// Starts a write. Requires that none is in progress. Pending messages without picture data go first.
void Viewers::send(Viewer& viewer, Answer answer) {
    const auto now = loop_.now();
    for (const auto& message : std::span(answer.messages).subspan(answer.words))
        viewer.window.sent(message->size(), now);
    tell_clocks(viewer);
    if (viewer.news) viewer.words.push_back(std::exchange(viewer.news, nullptr));
    answer.messages.insert(answer.messages.begin(), viewer.words.begin(), viewer.words.end());
    answer.words += viewer.words.size();
    viewer.words.clear();
    make_room_for(viewer, answer.messages);
    pinned_.add(answer.messages);
    viewer.pins = true;
    viewer.answer = std::move(answer);
    viewer.writing = true;
    viewer.taken_bytes = 0;
    viewer.answered_at = viewer.progress = now;
    count_pinned();
    pieces_.clear();
    for (const auto& message : viewer.answer.messages) pieces_.emplace_back(*message);
    // The captures are small enough for std::function to store them without an allocation.
    const auto watch_progress = [this, &viewer](std::size_t bytes) {
        if (bytes > viewer.taken_bytes) {
            viewer.progress = loop_.now();
            if (viewer.answer.kind != Answer::Kind::words) viewer.states_progress = viewer.progress;
        }
        viewer.taken_bytes = bytes;
    };
    viewer.connection->write(pieces_, watch_progress, [this, &viewer](const std::error_code& error, std::size_t) {
        written(viewer.shared_from_this(), error);
    });
}

// Ends a write and continues with what the viewer is missing.
void Viewers::written(const ViewerPointer& viewer, const std::error_code& error) {
    viewer->writing = false;
    release(*viewer);
    const auto taken = std::exchange(viewer->answer, {});
    if (error) {
        part(viewer, error.message());
        return;
    }
    count_taken(*viewer, taken);
    if (viewer->phase == Phase::watching) {
        note_begun(*viewer);
        send_missing(*viewer);
    } else {
        viewer->connection->end_writing();
    }
    hear_on(*viewer);
}

// Counts the viewer's first complete state. Requires that no write is in progress.
void Viewers::note_begun(Viewer& viewer) {
    if (viewer.has_begun || !viewer.complete()) return;
    viewer.has_begun = true;
    tally_.count([&] { ++viewer.stream.begun_viewers; });
}

// Limits the memory of stuck viewers, which would each hold a state of a different version. Therefore the slowest
// viewers are dropped until the new response fits. They get no error message, because each is in the middle of another
// message.
void Viewers::make_room_for(const Viewer& viewer, const SharedMessages& messages) {
    while (pinned_.total() + pinned_.growth(messages) > pinned_limit_) {
        const auto slowest = slowest_besides(viewer, messages);
        if (!slowest) return;  // no other viewer holds memory
        drop(slowest, fmt::format("it is the slowest viewer, and the data pending for all viewers exceeds {} bytes",
                                  pinned_limit_));
    }
}

// Returns the slowest of the other viewers that hold memory not shared with these messages. If several are equally
// slow, the one with the oldest write is returned.
ViewerPointer Viewers::slowest_besides(const Viewer& viewer, const SharedMessages& messages) const {
    const auto now = loop_.now();
    const auto less = [now](const Viewer& a, const Viewer& b) {
        return std::pair(a.pace(now), a.answered_at) < std::pair(b.pace(now), b.answered_at);
    };
    ViewerPointer slowest;
    for (const auto& [name, stream] : streams_)
        for (const auto& other : stream->viewers) {
            const bool is_sent_states = other->writing && other->answer.kind != Answer::Kind::words &&
                                        !other->answer.shares_a_message_with(messages);
            if (other.get() != &viewer && (is_sent_states || other->pinned) && (!slowest || less(*other, *slowest)))
                slowest = other;
        }
    return slowest;
}

// Stops counting the viewer's response as pinned memory.
void Viewers::release(Viewer& viewer) {
    if (!std::exchange(viewer.pins, false)) return;
    pinned_.remove(viewer.answer.messages);
    count_pinned();
}

// Pins the state for the viewer, which is then sent its missing blocks and nothing newer until it is complete.
void Viewers::pin(Viewer& viewer, const WholeState& whole) {
    // Once older states are withdrawn, a relay must not pass on those that it holds. Blocks from an earlier
    // connection may belong to such a state.
    const auto oldest = viewer.stream.state.oldest_allowed();
    const bool withdraws = viewer.takes_parts && oldest > 0 && (viewer.resumes || viewer.held < oldest);
    PinnedState pinned(whole, viewer.missing, withdraws);
    make_room_for(viewer, pinned.unsent());
    pinned_.add(pinned.unsent());
    viewer.pinned = std::move(pinned);
    viewer.held = whole.header.version;
    count_pinned();
}

// Releases the pinned state. The viewer holds the blocks sent so far; the others are still missing.
void Viewers::unpin(Viewer& viewer) {
    if (!viewer.pinned) return;
    pinned_.remove(viewer.pinned->unsent());
    viewer.pinned.reset();
    count_pinned();
}

// Publishes the size of the pinned memory.
void Viewers::count_pinned() {
    tally_.count([this] { tally_.total.pinned_bytes = static_cast<std::int64_t>(pinned_.total()); });
}

// Adds a complete write to the statistics.
void Viewers::count_taken(const Viewer& viewer, const Answer& answer) {
    const auto bytes = static_cast<std::int64_t>(answer.bytes());
    count(viewer.stream, [&](StreamMetrics& m) {
        switch (answer.kind) {
            case Answer::Kind::words: m.other_bytes += bytes; break;
            case Answer::Kind::delta_frames:
                m.delta_frames += static_cast<std::int64_t>(answer.messages.size() - answer.words);
                m.delta_frame_bytes += bytes;
                break;
            case Answer::Kind::picture: ++m.keyframes; [[fallthrough]];
            case Answer::Kind::blocks:
                m.keyframe_bytes += bytes;
                m.skipped += static_cast<std::int64_t>(answer.skipped);
                break;
        }
    });
}

// Queues a clock message. The viewer's time in it is advanced by the time since the viewer's message arrived.
void Viewers::tell_clocks(Viewer& viewer) {
    const auto now = loop_.now();
    if (!viewer.clocks || now - viewer.clock_sent_at < clock_interval) return;
    const auto [viewer_us, server_us] = *std::exchange(viewer.clocks, {});
    const auto now_us = microseconds_since_start(now);
    viewer.words.push_back(std::make_shared<const Bytes>(clock_message({viewer_us + (now_us - server_us), now_us})));
    viewer.clock_sent_at = now;
}

// Sends only pending messages, if there are any.
void Viewers::send_words(Viewer& viewer) {
    tell_clocks(viewer);
    if (viewer.news || !viewer.words.empty()) send(viewer, {});
}

// --- missing blocks ---

// Takes over the block versions that a returning viewer announced in its hello.
void Viewers::resume(Viewer& viewer, const BlockVersions& held) {
    const auto& state = viewer.stream.state;
    auto [version, missing] = state.missing(held);
    if (codec::all(missing)) return;
    viewer.held = version;
    viewer.missing = std::move(missing);
    viewer.resumes = true;
}

// Decides what to send next to an idle viewer: the rest of a pinned state, delta frames, blocks, the end, or pending
// messages.
void Viewers::send_missing(Viewer& viewer) {
    if (viewer.phase != Phase::watching || viewer.writing) return;
    if (viewer.awaits_blocks) return send_words(viewer);
    const auto& state = viewer.stream.state;
    if (viewer.pinned && viewer.pinned->version() < state.oldest_allowed()) unpin(viewer);
    if (viewer.pinned) return send_pinned(viewer);
    const auto newest = state.version();
    if (newest == 0 || (viewer.complete() && viewer.held >= newest && !viewer.resumes)) {
        if (!state.ended()) return send_words(viewer);
        // The viewer closes after it has received the end. If the server closed first, unread bytes could reset the
        // connection and the end would be lost.
        enter(viewer, Phase::ending);
        return send(viewer, {Answer::Kind::words, {viewer.stream.last_words}, 1});
    }
    const auto room_bytes = viewer.window.room_bytes(loop_.now());
    if (room_bytes == 0) return send_words(viewer);
    if (!viewer.resumes && viewer.complete() && viewer.held < newest && send_delta_frames(viewer, room_bytes)) return;
    // Blocks are larger than delta frames. They are sent only while half of the window is free, which leaves room for
    // delta frames.
    if (viewer.window.empty() || viewer.window.half_empty()) ask_for_blocks(viewer);
    if (!viewer.writing) send_words(viewer);
}

// Sends delta frames. Returns false if the viewer has to be brought to the newest version by blocks.
bool Viewers::send_delta_frames(Viewer& viewer, std::size_t room_bytes) {
    const auto& state = viewer.stream.state;
    const auto delta_frames = state.delta_frames(viewer.held);
    if (delta_frames.empty()) return false;
    // Viewers of protocol version 4 do not know the flag with which a delta frame withdraws older states, so they are
    // sent blocks.
    if (!viewer.takes_parts && viewer.held < state.oldest_allowed()) return false;
    std::size_t bytes = 0;
    for (const auto& delta_frame : delta_frames) bytes += delta_frame.bytes->size();
    if (bytes > room_bytes) {
        if (!viewer.window.empty()) return true;
        // Delta frames and blocks both exceed the window, so the smaller of the two is sent.
        if (bytes > state.estimated_bytes(viewer.missing, viewer.held)) return false;
    }
    Answer answer{Answer::Kind::delta_frames};
    for (const auto& delta_frame : delta_frames) answer.messages.push_back(delta_frame.bytes);
    viewer.held = delta_frames.back().version;  // may be newer than the caller's `newest`
    send(viewer, std::move(answer));
    return true;
}

// Encoding takes milliseconds, so it runs on the work thread. One pass serves all waiting viewers of the stream.
void Viewers::ask_for_blocks(Viewer& viewer) {
    auto& stream = viewer.stream;
    viewer.awaits_blocks = true;
    if (stream.coding_blocks) return;
    codec::BlockSet wanted(stream.state.blocks());
    auto changed_after = max_version;
    for (const auto& other : stream.viewers) {
        if (!other->awaits_blocks) continue;
        for (std::size_t block = 0; block < wanted.size(); ++block) wanted[block] |= other->missing[block];
        if (other->held > 0) changed_after = std::min(changed_after, other->held);
    }
    code_blocks(stream, std::move(wanted), changed_after);
}

// Encodes on the work thread and hands the result out on the loop's thread.
void Viewers::code_blocks(Stream& stream, codec::BlockSet wanted, std::uint64_t changed_after) {
    stream.coding_blocks = true;
    loop_.post_work([this, &stream, wanted = std::move(wanted), changed_after]() mutable {
        std::shared_ptr<const WholeState> whole;
        std::string problem;
        try {
            whole = stream.state.whole(std::move(wanted), changed_after);
        } catch (const std::exception& error) {
            problem = error.what();
        }
        loop_.post([this, &stream, whole, problem] {
            if (!problem.empty()) trouble_.line("serving '{}': cannot encode blocks: {}", stream.name, problem);
            hand_out(stream, whole.get());
        });
    });
}

// Gives the encoded blocks to the viewers that waited for them.
void Viewers::hand_out(Stream& stream, const WholeState* whole) {
    stream.coding_blocks = false;
    for_everyone(stream, [&](const ViewerPointer& viewer) {
        if (!std::exchange(viewer->awaits_blocks, false)) return;
        if (viewer->writing) return;  // a write without picture data; the blocks are requested again afterwards
        if (!whole)
            drop(viewer, "there is no frame to send to it");
        else
            send_state(*viewer, *whole);
    });
    // Called last, because it may destroy the stream.
    stream.tell_when_idle();
}

// Starts to bring the viewer to this state: sends a keyframe, or pins the state.
void Viewers::send_state(Viewer& viewer, const WholeState& whole) {
    if (viewer.phase != Phase::watching) return;
    const auto version = whole.header.version;
    // The state is older than what the viewer holds, or has been withdrawn since it was encoded.
    if (version < viewer.held || version < viewer.stream.state.oldest_allowed()) return send_missing(viewer);
    if (viewer.held > 0) whole.add_changed(viewer.held, viewer.missing);
    const auto skipped = viewer.held > 0 && version > viewer.held ? version - viewer.held - 1 : 0;
    // A keyframe in `bounded` mode has no blocks that can be decoded independently.
    const bool only_whole = std::ranges::any_of(whole.blocks, [](const auto& block) { return block == nullptr; });
    if (codec::all(viewer.missing) && whole.picture.version > 0 &&
        (only_whole || !viewer.takes_parts || whole.picture.bytes->size() <= viewer.window.room_bytes(loop_.now()))) {
        std::ranges::fill(viewer.missing, std::uint8_t{0});
        viewer.resumes = false;
        viewer.held = version;
        return send(viewer, {Answer::Kind::picture, {whole.picture.bytes}, 0, skipped});
    }
    for (std::size_t block = 0; block < viewer.missing.size(); ++block)
        if (viewer.missing[block] && !whole.blocks[block])
            return send_missing(viewer);  // the viewer arrived after the encoding had started
    // A newer state is sent even if no block differs, because the viewer needs its version, frame number and objects.
    if (!codec::any(viewer.missing) && !viewer.resumes && version == viewer.held) return send_missing(viewer);
    pin(viewer, whole);
    send_pinned(viewer, skipped);
}

// Sends the next blocks of the pinned state. A viewer that shows incomplete states gets all of them in one message.
void Viewers::send_pinned(Viewer& viewer, std::uint64_t skipped) {
    const auto room_bytes = viewer.window.room_bytes(loop_.now());
    if (room_bytes == 0 || !(viewer.window.empty() || viewer.window.half_empty())) return send_words(viewer);
    pinned_.remove(viewer.pinned->unsent());
    const auto budget = viewer.takes_parts ? room_bytes : std::numeric_limits<std::size_t>::max();
    auto message = viewer.pinned->next_message(budget, viewer.missing);
    pinned_.add(viewer.pinned->unsent());
    if (!codec::any(viewer.missing)) unpin(viewer);
    viewer.resumes = false;
    send(viewer, {Answer::Kind::blocks, {std::move(message)}, 0, skipped});
}

void Viewers::send_all_missing(Stream& stream) {
    for_everyone(stream, [this](const ViewerPointer& viewer) { send_missing(*viewer); });
}

}  // namespace framewire::net
