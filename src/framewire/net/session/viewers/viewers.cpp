// Viewers: accepting, reading acknowledgements and control requests, dropping and deadlines. Sending is in
// viewers_sending.cpp.

#include "framewire/net/session/viewers/viewers.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text/paths.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <string>
#include <utility>

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

// Viewers end with this object, but the states live on and must not count them any more.
Viewers::~Viewers() {
    for (const auto& [name, stream] : streams_)
        for (const auto& viewer : stream->viewers)
            if (viewer->phase == Phase::watching) stream->state.detach();
}

// The hello is sent in the protocol version that the viewer speaks.
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
    came_.line("viewer {} came", viewer->connection->name());
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
        if (viewer->front->type == MessageType::hello) fail(ErrorCode::source_lost, "it says hello a second time");
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
        fail(ErrorCode::source_lost, "it has drawn {} messages, which cannot be", drawn.messages);
    viewer.drawn_at = now;
    viewer.clocks = {drawn.clock_us, microseconds_since_start(now)};
    send_missing(viewer);
}

// One control request at a time: reading is paused until it has been answered.
void Viewers::take_control(const ViewerPointer& viewer, const std::string& wish) {
    auto& stream = viewer->stream;
    if (!stream.control) fail(ErrorCode::source_lost, "it has a wish of a stream that takes none");
    if (viewer->phase != Phase::watching) return;
    viewer->awaits_control = true;
    ++stream.controls_under_way;
    loop_.post_work([this, viewer, wish, &stream] {
        ControlAnswer answer{.done = true};
        try {
            answer.text = stream.control(wish);
        } catch (const std::exception& error) {
            answer = {false, without_paths(error.what())};
            if (answer.text != error.what()) log_warning("a viewer's control request failed: {}", error.what());
        }
        loop_.post([this, viewer, answer, asked = wish.empty()] { answer_control(viewer, answer, asked); });
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
    for_everyone(stream, [&](const ViewerPointer& other) {
        if (other == viewer) {
            other->words.push_back(words);
            other->control_answered = true;
        } else if (answer.done && !only_asked) {
            other->news = words;  // only the latest update waits for a viewer that is not reading
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
    drop(loser, "there are too many viewers, most of them from its address");
    return true;
}

// Disconnects a viewer because of an error or a limit.
void Viewers::drop(const ViewerPointer& viewer, std::string_view why) {
    dropped_.line("viewer {} dropped: {}", viewer->connection->name(), why);
    close(viewer);
    count(viewer->stream, [](StreamMetrics& m) {
        ++m.dropped;
    });  // counted last, so a thread that sees it also sees that the viewer is gone
}

// Handles a viewer that has closed, or whose connection failed for the given reason.
void Viewers::part(const ViewerPointer& viewer, std::string_view why) {
    if (viewer->phase == Phase::watching)
        went_.line("viewer {} went{}{}", viewer->connection->name(), why.empty() ? "" : ": ", why);
    close(viewer);
}

// The only place where a viewer leaves its stream.
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

// An ending viewer must close in time. A watching one must take bytes, acknowledge pictures, and be sent keep-alives.
void Viewers::check_deadlines(const ViewerPointer& viewer, Clock::time_point now) {
    const auto silence = now - viewer->progress;
    if (viewer->phase == Phase::ending) {
        if (silence >= deadlines_.write) close(viewer);
    } else if (viewer->writing && silence >= deadlines_.write) {
        drop(viewer, fmt::format("it took nothing for {} ms", deadlines_.write.count()));
    } else if (!viewer->window.empty() &&
               now - std::max({viewer->window.oldest(), viewer->drawn_at, viewer->states_progress}) >=
                   deadlines_.write) {
        drop(viewer, fmt::format("it drew nothing for {} ms", deadlines_.write.count()));
    } else if (!viewer->writing && now - viewer->answered_at >= deadlines_.keep_alive) {
        send(*viewer, {Answer::Kind::words, {alive_}, 1});  // also while blocks are being encoded for it
    }
}

}  // namespace framewire::net
