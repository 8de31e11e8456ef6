#include "framewire/net/session/viewers/viewers.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

namespace framewire::net {

namespace {

using Phase = Viewer::Phase;

constexpr std::chrono::seconds clocks_told_every{1};
// The least that a coded block of a picture seldom takes less than: so many blocks are coded for a viewer at a time.
constexpr std::size_t small_block_bytes = 1024;

}  // namespace

// When nothing else is under way to the viewer.
void Viewers::send(Viewer& viewer, Answer answer) {
    const auto now = loop_.now();
    for (const auto& message : std::span(answer.messages).subspan(answer.words))
        viewer.window.sent(message->size(), now);
    tell_clocks(viewer);
    if (viewer.news) viewer.words.push_back(std::exchange(viewer.news, nullptr));
    answer.messages.insert(answer.messages.begin(), viewer.words.begin(), viewer.words.end());
    answer.words += viewer.words.size();
    viewer.words.clear();
    make_room_for(answer);
    pinned_.add(answer.messages);
    viewer.pins = true;
    viewer.answer = std::move(answer);
    viewer.writing = true;
    viewer.taken_bytes = 0;
    viewer.answered_at = viewer.progress = now;
    count_pinned();
    pieces_.clear();
    for (const auto& message : viewer.answer.messages) pieces_.emplace_back(*message);
    // What the callbacks keep fits into them without an allocation.
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
    hear_on(*viewer);
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
                m.steps += static_cast<std::int64_t>(answer.messages.size() - answer.words);
                m.step_bytes += bytes;
                break;
            case Answer::Kind::picture: ++m.pictures; [[fallthrough]];
            case Answer::Kind::blocks:
                m.picture_bytes += bytes;
                m.skipped += static_cast<std::int64_t>(answer.skipped);
                break;
        }
    });
}

void Viewers::tell_clocks(Viewer& viewer) {
    const auto now = loop_.now();
    if (!viewer.clocks || now - viewer.clock_told_at < clocks_told_every) return;
    const auto [viewer_us, server_us] = *std::exchange(viewer.clocks, {});
    const auto now_us = microseconds_since_start(now);
    viewer.words.push_back(std::make_shared<const Bytes>(clock_message({viewer_us + (now_us - server_us), now_us})));
    viewer.clock_told_at = now;
}

void Viewers::send_words(Viewer& viewer) {
    tell_clocks(viewer);
    if (viewer.news || !viewer.words.empty()) send(viewer, {});
}

// --- what a viewer lacks ---

void Viewers::resume(Viewer& viewer, const HeldBlocks& held) {
    const auto& state = viewer.stream.state;
    auto [version, lacking] = state.lacking(held);
    if (delta::all(lacking)) return;
    viewer.held = version;
    viewer.lacking = std::move(lacking);
    viewer.resumes = true;
}

void Viewers::send_missing(Viewer& viewer) {
    if (viewer.phase != Phase::watching || viewer.writing) return;
    if (viewer.awaits_blocks) return send_words(viewer);
    const auto& state = viewer.stream.state;
    const auto newest = state.version();
    if (newest == 0 || (viewer.complete && viewer.held >= newest)) {
        if (!state.ended()) return send_words(viewer);
        // The viewer closes when it has the last words. Closing first could cost it them.
        enter(viewer, Phase::ending);
        return send(viewer, {Answer::Kind::words, {viewer.stream.last_words}, 1});
    }
    const auto room_bytes = viewer.window.room_bytes(loop_.now());
    if (room_bytes == 0) return send_words(viewer);
    if (!viewer.resumes && viewer.held > 0 && viewer.held < newest && send_steps(viewer, room_bytes)) return;
    // Blocks of their own take more than steps: only as many as leave a part of the window to those.
    if (viewer.window.empty() || viewer.window.half_empty()) ask_for_blocks(viewer);
    if (!viewer.writing) send_words(viewer);
}

// False where the viewer has to be brought to the newest version in another way.
bool Viewers::send_steps(Viewer& viewer, std::size_t room_bytes) {
    const auto steps = viewer.stream.state.steps(viewer.held);
    if (steps.empty()) return false;
    std::size_t bytes = 0;
    for (const auto& step : steps) bytes += step.bytes->size();
    // What does not fit waits, or goes in part. Of several steps a part is of no use to those that follow.
    const bool fits = bytes <= room_bytes;
    if (!fits && !viewer.window.empty()) return true;
    if (!fits && steps.size() > 1) return false;
    Answer answer{Answer::Kind::steps};
    for (const auto& step : steps) {
        if (viewer.complete && fits)
            answer.messages.push_back(step.bytes);
        else
            answer.messages.push_back(
                step_for(step, viewer.stream.state.info().shape, viewer.lacking, fits ? bytes : room_bytes).bytes);
    }
    viewer.complete = !delta::any(viewer.lacking);
    viewer.held = steps.back().version;  // there may be a newer one than a moment ago
    send(viewer, std::move(answer));
    return true;
}

// Coding takes milliseconds, in which nobody else should wait: it is done elsewhere, one lot at a time for all who
// wait.
void Viewers::ask_for_blocks(Viewer& viewer) {
    auto& stream = viewer.stream;
    viewer.awaits_blocks = true;
    if (stream.coding_blocks) return;
    delta::BlockSet wanted(stream.state.blocks());
    for (const auto& other : stream.viewers)
        if (other->awaits_blocks) want_blocks(*other, wanted);
    code_blocks(stream, wanted);
}

// As many of those that it lacks as it could be sent now.
void Viewers::want_blocks(const Viewer& viewer, delta::BlockSet& wanted) const {
    auto lacking = viewer.lacking;
    if (viewer.held > 0) viewer.stream.state.add_changed(viewer.held, lacking);
    auto most = viewer.window.room_bytes(loop_.now()) / small_block_bytes + 1;
    for (std::size_t i = 0; i < lacking.size() && most > 0; ++i) {
        const auto block = (viewer.next_block + i) % lacking.size();
        if (!lacking[block]) continue;
        wanted[block] = 1;
        --most;
    }
}

void Viewers::code_blocks(Stream& stream, delta::BlockSet wanted) {
    stream.coding_blocks = true;
    loop_.post_work([this, &stream, wanted = std::move(wanted)] {
        std::shared_ptr<const WholeState> whole;
        std::string problem;
        try {
            whole = stream.state.whole(wanted);
        } catch (const std::exception& error) {
            problem = error.what();
        }
        loop_.post([this, &stream, whole, problem] {
            if (!problem.empty()) trouble_.line("serving '{}': blocks cannot be coded: {}", stream.name, problem);
            hand_out(stream, whole.get());
        });
    });
}

void Viewers::hand_out(Stream& stream, const WholeState* whole) {
    stream.coding_blocks = false;
    for_everyone(stream, [&](const ViewerPointer& viewer) {
        if (!std::exchange(viewer->awaits_blocks, false)) return;
        if (viewer->writing) return;  // words; what is missing is asked for when they are taken
        if (!whole)
            drop(viewer, "there is no picture for it");
        else
            send_blocks(*viewer, *whole);
    });
    // Last, for the stream may be gone after it.
    stream.tell_when_idle();
}

void Viewers::send_blocks(Viewer& viewer, const WholeState& whole) {
    if (viewer.phase != Phase::watching) return;
    if (whole.header.version < viewer.held) return send_missing(viewer);  // coded before this viewer asked
    if (viewer.held > 0) whole.add_changed(viewer.held, viewer.lacking);
    const auto room_bytes = viewer.window.room_bytes(loop_.now());
    Answer answer{Answer::Kind::picture};
    // A first picture of the mode bounded has no blocks that stand for themselves.
    const bool only_whole = std::ranges::none_of(whole.blocks, [](const auto& block) { return block != nullptr; });
    if (delta::all(viewer.lacking) && whole.picture.version > 0 &&
        (only_whole || whole.picture.bytes->size() <= room_bytes)) {
        answer.messages = {whole.picture.bytes};
        std::ranges::fill(viewer.lacking, std::uint8_t{0});
    } else {
        answer.kind = Answer::Kind::blocks;
        auto message = whole.message(viewer.lacking, room_bytes, viewer.next_block);
        if (message.blocks > 0 || viewer.resumes) answer.messages = {std::move(message.bytes)};
    }
    if (viewer.held > 0 && whole.header.version > viewer.held) answer.skipped = whole.header.version - viewer.held - 1;
    if (answer.messages.empty()) return send_missing(viewer);
    viewer.resumes = false;
    viewer.held = whole.header.version;
    viewer.complete = !delta::any(viewer.lacking);
    send(viewer, std::move(answer));
}

void Viewers::send_all_missing(Stream& stream) {
    for_everyone(stream, [this](const ViewerPointer& viewer) { send_missing(*viewer); });
}

}  // namespace framewire::net
