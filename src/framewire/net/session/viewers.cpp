#include "framewire/net/session/viewers.hpp"

#include <exception>
#include <string>
#include <utility>

namespace framewire::net {

namespace {

using Phase = Viewer::Phase;

std::shared_ptr<const Bytes> shared(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

}  // namespace

Stream::Stream(std::string name_, StreamState& state_)
    : name(std::move(name_)),
      state(state_),
      hello(shared(server_hello(state.info()))),
      last_words(shared(empty_message(MessageType::end))) {}

Viewers::Viewers(const Deadlines& deadlines, Loop& loop, const Streams& streams, Tally& tally)
    : deadlines_(deadlines),
      loop_(loop),
      streams_(streams),
      tally_(tally),
      alive_(shared(empty_message(MessageType::alive))) {}

Viewers::~Viewers() {
    for (const auto& [name, stream] : streams_)
        for (const auto& viewer : stream->viewers)
            if (viewer->phase == Phase::watching) stream->state.detach();
}

void Viewers::come(Stream& stream, ConnectionPointer connection) {
    const auto viewer = std::make_shared<Viewer>(std::move(connection), stream, loop_.now());
    stream.viewers.insert(viewer);
    ++count_;
    stream.state.attach();
    count(stream, [](StreamMetrics& m) {
        ++m.viewers;
        ++m.viewers_total;
    });
    came_.line("viewer {} came", viewer->connection->name());
    listen_to(*viewer);
    send(*viewer, {Answer::Kind::words, {stream.hello}});
}

// A viewer has nothing more to say: what comes is its closing, or out of turn.
void Viewers::listen_to(Viewer& viewer) {
    viewer.connection->read_some(viewer.said, [this, &viewer](const std::error_code& error, std::size_t bytes) {
        const auto held = viewer.shared_from_this();
        if (viewer.phase == Phase::watching && !error && bytes > 0)
            drop(held, "it talks out of turn");
        else
            part(held, "");
    });
}

void Viewers::drop(const ViewerPointer& viewer, std::string_view why) {
    dropped_.line("viewer {} dropped: {}", viewer->connection->name(), why);
    close(viewer);
    count(viewer->stream, [](StreamMetrics& m) { ++m.dropped; });  // who sees that sees also that it is gone
}

// It has closed, or its connection broke for the reason given.
void Viewers::part(const ViewerPointer& viewer, std::string_view why) {
    if (viewer->phase == Phase::watching)
        went_.line("viewer {} went{}{}", viewer->connection->name(), why.empty() ? "" : ": ", why);
    close(viewer);
}

void Viewers::close(const ViewerPointer& viewer) {
    if (viewer->phase == Phase::gone) return;
    enter(*viewer, Phase::gone);
    viewer->connection->close();
    viewer->stream.viewers.erase(viewer);
    --count_;
    release(*viewer);
}

void Viewers::enter(Viewer& viewer, Phase phase) {
    const auto before = std::exchange(viewer.phase, phase);
    if (before == Phase::watching) viewer.stream.state.detach();
    tally_.count([&] {
        if (before == Phase::watching) {
            --viewer.stream.metrics.viewers;
            --tally_.total.viewers;
        }
        viewer.stream.ending_viewers += (phase == Phase::ending) - (before == Phase::ending);
    });
}

// Calls `act` for every viewer that there is now; what goes wrong with one costs the others nothing.
template <class Act>
void Viewers::for_everyone(Stream& stream, Act act) {
    const std::vector<ViewerPointer> everyone(stream.viewers.begin(), stream.viewers.end());
    for (const auto& viewer : everyone) {
        if (viewer->phase == Phase::gone) continue;
        try {
            act(viewer);
        } catch (const std::exception& error) {
            drop(viewer, error.what());
        }
    }
}

// --- sending ---

// When nothing else is under way to the viewer.
void Viewers::send(Viewer& viewer, Answer answer) {
    make_room_for(answer);
    pinned_.add(answer.messages);
    viewer.pins = true;
    viewer.answer = std::move(answer);
    viewer.writing = true;
    viewer.taken_bytes = 0;
    viewer.answered_at = viewer.progress = loop_.now();
    count_pinned();
    pieces_.clear();
    for (const auto& message : viewer.answer.messages) pieces_.emplace_back(*message);
    // What the callbacks keep fits into them without an allocation.
    const auto watch_progress = [this, &viewer](std::size_t bytes) {
        if (bytes > viewer.taken_bytes) viewer.progress = loop_.now();
        viewer.taken_bytes = bytes;
    };
    viewer.connection->write(pieces_, watch_progress, [this, &viewer](const std::error_code& error, std::size_t) {
        written(viewer.shared_from_this(), error);
    });
}

void Viewers::written(const ViewerPointer& viewer, const std::error_code& error) {
    viewer->writing = false;
    release(*viewer);
    const auto taken = std::exchange(viewer->answer, {});
    if (error) {
        part(viewer, error.message());
        return;
    }
    count_taken(*viewer, taken);
    if (viewer->phase == Phase::watching)
        send_missing(*viewer);
    else
        viewer->connection->end_writing();
}

// Viewers that take nothing would keep a picture each, of as many versions as there are viewers. So who is slowest
// goes until the answer fits; it goes without words, for it is in the middle of a message.
void Viewers::make_room_for(const Answer& answer) {
    while (pinned_.total() + pinned_.growth(answer.messages) > pinned_limit_) {
        const auto slowest = slowest_besides(answer);
        if (!slowest) return;  // nobody else has anything under way
        drop(slowest, fmt::format("it is the slowest, and what waits for viewers takes more than the {} bytes allowed",
                                  pinned_limit_));
    }
}

// The slowest of those who are sent pictures or steps, and none of the answer's; of several the longest at it.
ViewerPointer Viewers::slowest_besides(const Answer& answer) const {
    const auto now = loop_.now();
    const auto less = [now](const Viewer& a, const Viewer& b) {
        return std::pair(a.pace(now), a.answered_at) < std::pair(b.pace(now), b.answered_at);
    };
    ViewerPointer slowest;
    for (const auto& [name, stream] : streams_)
        for (const auto& viewer : stream->viewers)
            if (viewer->writing && viewer->answer.kind != Answer::Kind::words &&
                !viewer->answer.shares_a_message_with(answer) && (!slowest || less(*viewer, *slowest)))
                slowest = viewer;
    return slowest;
}

// The viewer's answer is not pinned any more.
void Viewers::release(Viewer& viewer) {
    if (!std::exchange(viewer.pins, false)) return;
    pinned_.remove(viewer.answer.messages);
    count_pinned();
}

void Viewers::count_pinned() {
    tally_.count([this] { tally_.total.pinned_bytes = static_cast<std::int64_t>(pinned_.total()); });
}

void Viewers::count_taken(const Viewer& viewer, const Answer& answer) {
    const auto bytes = static_cast<std::int64_t>(answer.bytes());
    count(viewer.stream, [&](StreamMetrics& m) {
        switch (answer.kind) {
            case Answer::Kind::words: m.other_bytes += bytes; break;
            case Answer::Kind::steps:
                m.steps += static_cast<std::int64_t>(answer.messages.size());
                m.step_bytes += bytes;
                break;
            case Answer::Kind::picture:
                ++m.pictures;
                m.picture_bytes += bytes;
                m.skipped += static_cast<std::int64_t>(answer.skipped);
                break;
        }
    });
}

void Viewers::send_missing(Viewer& viewer) {
    if (viewer.phase != Phase::watching || viewer.writing || viewer.awaits_picture) return;
    auto missing = viewer.stream.state.missing(viewer.held);
    if (missing.picture) {
        pack_picture(viewer.stream);
        viewer.awaits_picture = true;
    } else if (!missing.steps.empty()) {
        viewer.held = missing.steps.back().version;
        Answer answer{Answer::Kind::steps, {}};
        for (auto& step : missing.steps) answer.messages.push_back(std::move(step.bytes));
        send(viewer, std::move(answer));
    } else if (missing.ended) {
        // The viewer closes when it has the last words. Closing first could cost it them.
        enter(viewer, Phase::ending);
        send(viewer, {Answer::Kind::words, {viewer.stream.last_words}});
    }
}

// Packing takes milliseconds, in which nobody else should wait: it is done elsewhere, one picture at a time for all who
// wait for one.
void Viewers::pack_picture(Stream& stream) {
    if (stream.packing_picture) return;
    loop_.post_work([this, &stream] {
        StateMessage picture;
        std::string problem;
        try {
            picture = stream.state.picture();
        } catch (const std::exception& error) {
            problem = error.what();
        }
        loop_.post([this, &stream, picture, problem] {
            if (!problem.empty()) trouble_.line("serving '{}': a picture cannot be packed: {}", stream.name, problem);
            hand_out(stream, picture);
        });
    });
    stream.packing_picture = true;
}

void Viewers::hand_out(Stream& stream, const StateMessage& picture) {
    stream.packing_picture = false;
    for_everyone(stream, [&](const ViewerPointer& viewer) {
        if (!std::exchange(viewer->awaits_picture, false)) return;
        if (viewer->writing) return;  // a keep-alive; what is missing is asked for when it is taken
        if (picture.version == 0) {
            drop(viewer, "there is no picture for it");
            return;
        }
        if (picture.version <= viewer->held) {  // packed before this viewer asked
            send_missing(*viewer);
            return;
        }
        const auto skipped = viewer->held > 0 ? picture.version - viewer->held - 1 : 0;
        viewer->held = picture.version;
        send(*viewer, {Answer::Kind::picture, {picture.bytes}, skipped});
    });
    // Last, for the stream may be gone after it.
    if (stream.packing_picture) return;
    if (const auto call = std::exchange(stream.when_packed, nullptr)) call();
}

void Viewers::send_all_missing(Stream& stream) {
    for_everyone(stream, [this](const ViewerPointer& viewer) { send_missing(*viewer); });
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

void Viewers::check_deadlines(const ViewerPointer& viewer, Clock::time_point now) {
    const auto silence = now - viewer->progress;
    if (viewer->phase == Phase::ending) {
        if (silence >= deadlines_.write) close(viewer);
    } else if (viewer->writing) {
        if (silence >= deadlines_.write)
            drop(viewer, fmt::format("it took nothing for {} ms", deadlines_.write.count()));
    } else if (silence >= deadlines_.keep_alive) {
        send(*viewer, {Answer::Kind::words, {alive_}});  // also while a picture is packed for it
    }
}

}  // namespace framewire::net
