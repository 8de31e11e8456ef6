#include "framewire/net/stream_state.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/keyframe_coder.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

namespace framewire::net {

namespace {

// Returns a random epoch, never 0, which means "no stream" in a viewer's hello.
std::uint64_t new_epoch() {
    std::random_device random;
    return (std::uint64_t{random()} << 32 | random()) | 1;
}

// Returns the address of the first byte of a block's row.
template <class T>
T* row_of(HostView<T> picture, const codec::BlockPlace& place, int y) {
    return picture.row(0, place.y + y) + std::int64_t{place.x} * picture.shape().channels;
}

// Copies a block of one picture to a place of the same size in another one.
void copy_block(HostView<const std::uint8_t> from, const codec::BlockPlace& place, HostView<std::uint8_t> to,
                const codec::BlockPlace& to_place) {
    const auto bytes = static_cast<std::size_t>(place.width * from.shape().channels);
    for (int y = 0; y < place.height; ++y) std::memcpy(row_of(to, to_place, y), row_of(from, place, y), bytes);
}

// A mutex that threads get in the order of their arrival, if there are two: a feeder that starts its next update at
// once does not overtake the thread that has been waiting for R.
class FairMutex {
public:
    void lock() {
        const std::lock_guard next(next_);
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }

private:
    std::mutex next_;  // held by the thread that gets `mutex_` next
    std::mutex mutex_;
};

}  // namespace

// Three mutexes, locked in the order `blocks_mutex`, `reference_mutex`, `mutex`. The network's loop locks only `mutex`,
// which nobody holds for long. An encoder's update holds `reference_mutex` for a whole frame, but threads that encode
// blocks hold it only while they copy these blocks.
struct StreamState::State {
    State(const StreamInfo& info_, HostView<const std::uint8_t> encoders)
        : info((net::validate(info_), info_)),
          grid(info.shape),
          own(encoders.data() ? HostImage() : HostImage(info.shape)),
          reference(encoders.data() ? encoders : std::as_const(own).view()),
          changed(static_cast<std::size_t>(grid.count())),
          coded(static_cast<std::size_t>(grid.count())),
          picture_bytes_limit(codec::max_packed_bytes(info.shape) + state_header_bytes + header_bytes) {
        objects.reserve(max_objects);
    }

    StreamInfo info;
    codec::BlockGrid grid;
    std::uint64_t epoch = new_epoch();

    Bytes message;  // used only by the feeding thread: the message being made; a copy of the exact size is kept

    mutable FairMutex reference_mutex;  // guards the pixels of R; `newest` and `changed` advance only under it
    HostImage own;                      // R, unless it belongs to an encoder
    HostView<const std::uint8_t> reference;

    mutable std::mutex mutex;               // guards the members down to `oldest_allowed`
    bool reference_unknown = false;         // an update of R was not completed
    StateHeader newest{};                   // header of the newest state
    std::vector<std::uint64_t> changed;     // version in which each block last changed
    std::vector<Component> objects;         // objects of the newest state's frame
    std::deque<StateMessage> delta_frames;  // consecutive delta frames; the last one leads to `newest`
    std::size_t delta_frames_bytes = 0;
    StateMessage newest_picture;
    StreamCounts counts{};
    int viewers = 0;
    bool ended = false;
    bool withdraws = false;            // the next version withdraws all older ones
    std::uint64_t oldest_allowed = 0;  // oldest version that may be sent

    // Encoding blocks is slow, so whole() works on a copy of them and holds only this mutex meanwhile.
    std::mutex blocks_mutex;
    // An encoded block and the version it shows.
    struct Coded {
        std::uint64_t version = 0;
        std::shared_ptr<const Bytes> bytes{};
    };
    std::vector<Coded> coded;
    codec::PictureEncoder block_encoder;
    Bytes coded_block;

    std::size_t picture_bytes_limit;  // size estimate until the first keyframe has been encoded

    // Returns the threshold of a frame. Throws if it exceeds the stream's.
    int allowed(std::optional<int> of_frame) const {
        if (of_frame && (*of_frame < 0 || *of_frame > info.threshold))
            fail(ErrorCode::usage, "the frame's threshold is {}; allowed in this stream: 0 to {}", *of_frame,
                 info.threshold);
        return of_frame.value_or(info.threshold);
    }

    // Returns the shape of copies of `count` blocks, one per frame.
    Shape shape_of_copies(std::size_t count) const {
        return {static_cast<int>(count), std::min(info.shape.height, codec::block_side),
                std::min(info.shape.width, codec::block_side), info.shape.channels};
    }

    // Throws unless R is a copy of the stream's own.
    void require_own() const {
        if (!own.view().data())
            fail(ErrorCode::usage, "the reference picture belongs to an encoder; use StreamState::Update");
    }

    // Throws before the first state.
    void require_start(const char* what) const {
        const std::lock_guard lock(mutex);
        if (newest.version == 0) fail(ErrorCode::internal, "{} was added to a stream that has not been started", what);
    }

    // Throws if blocks are those of another shape.
    void check(const codec::BlockSet& blocks) const {
        if (blocks.size() != changed.size())
            fail(ErrorCode::usage, "the state has {} blocks, but its frame has {}", blocks.size(), changed.size());
    }

    // Copies the blocks of a picture to the stream's own R. Requires `reference_mutex`.
    void copy_blocks(HostView<const std::uint8_t> picture, const codec::BlockSet& blocks) {
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            if (!blocks[block]) continue;
            const auto place = grid.place(static_cast<int>(block));
            copy_block(picture, place, own.view(), place);
        }
    }

    // The next three functions take note that R has changed. They require that `reference_mutex` is held:

    void start(const FrameTime& time, std::span<const Component> seen, std::span<const std::uint8_t> packed,
               int within) {
        const std::lock_guard lock(mutex);
        move_on(time, seen, within);
        mark_all_changed();
        forget_delta_frames();
        newest_picture = {};
        reference_unknown = false;
        if (packed.empty()) return;
        make_message(MessageType::picture, newest, packed);
        keep_picture({newest.version, std::make_shared<const Bytes>(message.begin(), message.end())});
    }

    void advance(const codec::BlockSet& blocks, std::span<const std::uint8_t> packed, const FrameTime& time,
                 std::span<const Component> seen, int within) {
        const std::lock_guard lock(mutex);
        move_on(time, seen, within);
        mark_changed(blocks);
        if (viewers == 0) return forget_delta_frames();
        keep_step(packed);
    }

    void advance_blocks(const codec::BlockSet& blocks, const FrameTime& time, std::span<const Component> seen,
                        int within) {
        const std::lock_guard lock(mutex);
        move_on(time, seen, within);
        mark_changed(blocks);
        forget_delta_frames();
    }

    // The functions below require that `mutex` is held:

    // Returns the size of a keyframe in bytes, for comparison with delta frames.
    std::size_t picture_cost() const {
        return newest_picture.bytes ? newest_picture.bytes->size() : picture_bytes_limit;
    }

    // Starts the next version. A pending withdrawal takes effect with it.
    void move_on(const FrameTime& time, std::span<const Component> seen, int within) {
        newest = {.version = newest.version + 1,
                  .frame = time.index,
                  .seconds = time.seconds,
                  .captured_us = microseconds_since_start(time.captured),
                  .threshold = within};
        seen = seen.first(std::min(seen.size(), max_objects));
        objects.assign(seen.begin(), seen.end());
        counts.version = newest.version;
        if (!std::exchange(withdraws, false)) return;
        oldest_allowed = newest.version;
        newest_picture = {};
        forget_delta_frames();
    }

    // Returns the header of the delta frame to the newest version. It carries the withdrawal flag, so that an
    // up-to-date relay also drops older states.
    StateHeader step_header() const {
        auto header = newest;
        header.withdraws = newest.version == oldest_allowed;
        return header;
    }

    // Marks blocks as changed by the newest version.
    void mark_changed(const codec::BlockSet& blocks) {
        for (std::size_t block = 0; block < blocks.size(); ++block)
            if (blocks[block]) changed[block] = newest.version;
    }
    void mark_all_changed() { std::ranges::fill(changed, newest.version); }

    // Adds the blocks that changed after `version` to `blocks`.
    void add_changed(std::uint64_t version, codec::BlockSet& blocks) const {
        for (std::size_t block = 0; block < blocks.size(); ++block)
            if (changed[block] > version) blocks[block] = 1;
    }

    // Drops the stored delta frames.
    void forget_delta_frames() {
        delta_frames.clear();
        delta_frames_bytes = 0;
    }

    // Stores a keyframe of the newest version.
    void keep_picture(StateMessage picture) {
        const auto bytes = static_cast<std::int64_t>(picture.bytes->size());
        ++counts.keyframes;
        counts.keyframe_bytes += bytes;
        if (counts.keyframes == 1) counts.up_to_date_bytes += bytes;
        newest_picture = std::move(picture);
    }

    // Stores the delta frame to the newest version. Drops the oldest ones if there are more than `delta_frames_kept`,
    // or if together they exceed a keyframe.
    void keep_step(std::span<const std::uint8_t> packed) {
        make_message(MessageType::changes, step_header(), packed);
        const auto packed_at = message.size() - packed.size();
        delta_frames.push_back(
            {newest.version, std::make_shared<const Bytes>(message.begin(), message.end()), packed_at});
        delta_frames_bytes += message.size();
        ++counts.delta_frames;
        const auto bytes = static_cast<std::int64_t>(message.size());
        counts.delta_frame_bytes += bytes;
        counts.up_to_date_bytes += bytes;
        while (delta_frames.size() > delta_frames_kept ||
               (delta_frames.size() > 1 && delta_frames_bytes > picture_cost())) {
            delta_frames_bytes -= delta_frames.front().bytes->size();
            delta_frames.pop_front();
        }
    }

    // Fills `message` with a packed keyframe or delta frame of the newest state.
    void make_message(MessageType type, const StateHeader& header, std::span<const std::uint8_t> packed) {
        begin_state(type, header, objects, message);
        message.insert(message.end(), packed.begin(), packed.end());
        end_state(message);
    }
};

StreamState::StreamState(const StreamInfo& info)
    : state_(std::make_unique<State>(info, HostView<const std::uint8_t>())) {}
StreamState::StreamState(const StreamInfo& info, HostView<const std::uint8_t> reference) {
    validate(reference, info.shape, "the encoder's reference picture");
    state_ = std::make_unique<State>(info, reference);
}
StreamState::~StreamState() = default;

const StreamInfo& StreamState::info() const { return state_->info; }
std::size_t StreamState::blocks() const { return state_->changed.size(); }

void StreamState::start(HostView<const std::uint8_t> picture, const FrameTime& time, std::span<const Component> objects,
                        std::span<const std::uint8_t> packed, std::optional<int> threshold) {
    auto& state = *state_;
    state.require_own();
    validate(picture, state.info.shape, "the first keyframe of a stream");
    const int within = state.allowed(threshold);
    const std::lock_guard lock(state.reference_mutex);
    framewire::copy(picture, state.own.view());
    state.start(time, objects, packed, within);
}

bool StreamState::watched() const {
    const std::lock_guard lock(state_->mutex);
    return state_->viewers > 0;
}

void StreamState::advance(HostView<const std::uint8_t> picture, std::span<const std::uint8_t> packed,
                          const FrameTime& time, std::span<const Component> objects, std::optional<int> threshold) {
    auto& state = *state_;
    state.require_own();
    validate(picture, state.info.shape, "the result of a delta frame");
    const int within = state.allowed(threshold);
    const auto blocks = blocks_of(packed, state.info.shape);
    state.require_start("a delta frame");
    const std::lock_guard lock(state.reference_mutex);
    state.copy_blocks(picture, blocks);
    state.advance(blocks, packed, time, objects, within);
}

void StreamState::advance_blocks(HostView<const std::uint8_t> picture, const codec::BlockSet& blocks,
                                 const FrameTime& time, std::span<const Component> objects,
                                 std::optional<int> threshold) {
    auto& state = *state_;
    state.require_own();
    validate(picture, state.info.shape, "the picture of the next state");
    state.check(blocks);
    const int within = state.allowed(threshold);
    state.require_start("a state");
    const std::lock_guard lock(state.reference_mutex);
    state.copy_blocks(picture, blocks);
    state.advance_blocks(blocks, time, objects, within);
}

StreamState::Update::Update(StreamState& stream) : state_(stream.state_.get()) {
    if (state_->own.view().data())
        fail(ErrorCode::usage, "the reference picture belongs to no encoder; use StreamState::advance()");
    state_->reference_mutex.lock();
}

// The bytes of delta frames and encoded blocks stay valid.
StreamState::Update::~Update() {
    if (!state_) return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->reference_unknown = true;
    }
    end();
}

void StreamState::Update::end() { std::exchange(state_, nullptr)->reference_mutex.unlock(); }

void StreamState::Update::start(const FrameTime& time, std::span<const Component> objects,
                                std::span<const std::uint8_t> packed, std::optional<int> threshold) {
    state_->start(time, objects, packed, state_->allowed(threshold));
    end();
}

void StreamState::Update::advance(std::span<const std::uint8_t> packed, const FrameTime& time,
                                  std::span<const Component> objects, std::optional<int> threshold) {
    const int within = state_->allowed(threshold);
    const auto blocks = blocks_of(packed, state_->info.shape);
    state_->require_start("a delta frame");
    state_->advance(blocks, packed, time, objects, within);
    end();
}

void StreamState::Update::advance_blocks(const codec::BlockSet& blocks, const FrameTime& time,
                                         std::span<const Component> objects, std::optional<int> threshold) {
    state_->check(blocks);
    const int within = state_->allowed(threshold);
    state_->require_start("a state");
    state_->advance_blocks(blocks, time, objects, within);
    end();
}

void StreamState::Update::cancel() { end(); }

void StreamState::withdraw_before_next() {
    const std::lock_guard lock(state_->mutex);
    state_->withdraws = true;
}

void StreamState::finish() {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
}

void StreamState::attach() {
    const std::lock_guard lock(state_->mutex);
    ++state_->viewers;
}

void StreamState::detach() {
    const std::lock_guard lock(state_->mutex);
    // No viewer needs the keyframe anymore.
    if (--state_->viewers == 0) state_->newest_picture = {};
}

std::uint64_t StreamState::epoch() const { return state_->epoch; }

std::uint64_t StreamState::version() const {
    const std::lock_guard lock(state_->mutex);
    return state_->newest.version;
}

std::uint64_t StreamState::oldest_allowed() const {
    const std::lock_guard lock(state_->mutex);
    return state_->oldest_allowed;
}

bool StreamState::ended() const {
    const std::lock_guard lock(state_->mutex);
    return state_->ended;
}

// Stored delta frames are consecutive, so the count of those needed gives their position.
std::vector<StateMessage> StreamState::delta_frames(std::uint64_t version) const {
    const auto& state = *state_;
    const std::lock_guard lock(state.mutex);
    const auto newest = state.newest.version;
    if (version >= newest || newest - version > state.delta_frames.size()) return {};
    return {state.delta_frames.end() - static_cast<std::ptrdiff_t>(newest - version), state.delta_frames.end()};
}

// Assumes that all blocks of a keyframe have the same size.
std::size_t StreamState::estimated_bytes(codec::BlockSet wanted, std::uint64_t changed_after) const {
    const auto& state = *state_;
    const std::lock_guard lock(state.mutex);
    state.add_changed(changed_after, wanted);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(wanted, [](std::uint8_t is) { return is != 0; }));
    return state.picture_cost() / wanted.size() * count;
}

// Walks the runs and the blocks side by side. Inconsistent runs count as "holds nothing".
StreamState::MissingBlocks StreamState::missing(const BlockVersions& held) const {
    const auto& state = *state_;
    const std::lock_guard lock(state.mutex);
    const MissingBlocks all{0, codec::BlockSet(state.changed.size(), 1)};
    if (held.epoch != state.epoch) return all;
    MissingBlocks missing{state.newest.version, codec::BlockSet(state.changed.size())};
    std::size_t block = 0;
    for (const auto& run : held.runs) {
        if (run.blocks > state.changed.size() - block || run.version > state.newest.version) return all;
        for (const auto end = block + run.blocks; block < end; ++block)
            missing.blocks[block] = run.version < state.changed[block];
    }
    return block == state.changed.size() ? missing : all;
}

// Encodes under `blocks_mutex`, on a copy of the blocks. Blocks encoded before are reused if they have not changed. The
// copy is freed afterwards: a viewer that joins needs every block, but few viewers need any.
std::shared_ptr<const WholeState> StreamState::whole(codec::BlockSet wanted, std::uint64_t changed_after) {
    auto& state = *state_;
    const std::lock_guard coding(state.blocks_mutex);
    const auto result = std::make_shared<WholeState>();
    bool of_all = false;
    std::vector<std::size_t> to_code;
    HostImage copies;  // the blocks to encode, one per frame, at the upper left
    const auto place_in_copy = [&](std::size_t block) {
        auto place = state.grid.place(static_cast<int>(block));
        place.x = place.y = 0;
        return place;
    };
    {
        const std::lock_guard reading(state.reference_mutex);
        {
            const std::lock_guard lock(state.mutex);
            if (state.newest.version == 0 || state.reference_unknown) return nullptr;
            result->header = state.newest;
            result->objects = state.objects;
            result->changed = state.changed;
            if (state.newest_picture.version == state.newest.version) result->picture = state.newest_picture;
        }
        result->add_changed(changed_after, wanted);
        of_all = codec::all(wanted);
        const bool has_picture = of_all && result->picture.version > 0;
        for (std::size_t block = 0; block < wanted.size() && !has_picture; ++block)
            if (wanted[block] && state.coded[block].version != result->changed[block]) to_code.push_back(block);
        if (!to_code.empty()) copies = HostImage(state.shape_of_copies(to_code.size()));
        for (std::size_t i = 0; i < to_code.size(); ++i)
            copy_block(state.reference, state.grid.place(static_cast<int>(to_code[i])),
                       copies.view().frames(static_cast<int>(i), 1), place_in_copy(to_code[i]));
    }
    for (std::size_t i = 0; i < to_code.size(); ++i) {
        state.coded_block.clear();
        state.block_encoder.encode(std::as_const(copies).view().frames(static_cast<int>(i), 1),
                                   place_in_copy(to_code[i]), state.coded_block);
        state.coded[to_code[i]] = {result->changed[to_code[i]], std::make_shared<const Bytes>(state.coded_block)};
    }
    for (std::size_t block = 0; block < state.coded.size(); ++block)
        result->blocks.push_back(state.coded[block].version == result->changed[block] ? state.coded[block].bytes
                                                                                      : nullptr);
    const bool new_picture = of_all && result->picture.version == 0;
    if (new_picture) result->picture = result->whole_picture();
    const std::lock_guard lock(state.mutex);
    state.counts.blocks += static_cast<std::int64_t>(to_code.size());
    if (new_picture) state.keep_picture(result->picture);
    return result;
}

StreamCounts StreamState::counts() const {
    const std::lock_guard lock(state_->mutex);
    return state_->counts;
}

StateHeader StreamState::copy_reference(HostView<std::uint8_t> to) const {
    auto& state = *state_;
    validate(to, state.info.shape, "the copy of a stream's reference");
    const std::lock_guard reading(state.reference_mutex);
    framewire::copy(state.reference, to);
    const std::lock_guard lock(state.mutex);
    if (state.reference_unknown) fail(ErrorCode::internal, "the encoder of the stream failed; its picture is unknown");
    return state.newest;
}

namespace {

// Converts to microseconds in 32 bits, as in the protocol; larger values saturate.
std::uint32_t microseconds(Clock::duration time) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, most));
}

}  // namespace

void ViewerOutbox::take(Clock::duration coming, Clock::time_point now) {
    ++taken_;
    coming_ = coming;
    came_at_ = now;
}

// The acknowledgement and the control request share one buffer and one write.
void ViewerOutbox::send(Connection& connection, std::uint64_t version, ControlRequests* control_requests,
                        Clock::time_point now) {
    if (writing_) return;
    messages_.clear();
    if (reported_ != taken_) {
        reported_ = taken_;
        messages_ = drawn_message({.messages = taken_,
                                   .version = version,
                                   .clock_us = microseconds_since_start(now),
                                   .held_us = microseconds(now - came_at_),
                                   .coming_us = microseconds(coming_)});
    }
    if (const auto control_request = control_requests ? control_requests->next() : std::nullopt) {
        const auto message = control_message(*control_request);
        messages_.insert(messages_.end(), message.begin(), message.end());
    }
    if (messages_.empty()) return;
    writing_ = true;
    const ByteSpan piece(messages_);
    // A failed connection is reported to the pending read.
    connection.write({&piece, 1}, {}, [this](const std::error_code&, std::size_t) { writing_ = false; });
}

void WholeState::add_changed(std::uint64_t version, codec::BlockSet& missing) const {
    for (std::size_t block = 0; block < changed.size(); ++block)
        if (changed[block] > version) missing[block] = 1;
}

StateMessage WholeState::whole_picture() const {
    std::vector<codec::CodedBlock> all;
    for (std::size_t block = 0; block < blocks.size(); ++block)
        all.push_back({static_cast<int>(block), *blocks[block]});
    Bytes message;
    begin_state(MessageType::picture, header, objects, message);
    codec::append_packed({codec::PackedHead::Kind::picture, 0}, all, static_cast<int>(blocks.size()), message);
    end_state(message);
    return {header.version, std::make_shared<const Bytes>(std::move(message))};
}

// Copies only pointers: the encoded blocks are shared.
PinnedState::PinnedState(const WholeState& whole, const codec::BlockSet& missing, bool withdraws)
    : header_(whole.header), objects_(whole.objects), blocks_(whole.blocks.size()) {
    header_.withdraws = withdraws;
    for (std::size_t block = 0; block < missing.size(); ++block) {
        if (!missing[block]) continue;
        numbers_.push_back(static_cast<int>(block));
        unsent_.push_back(whole.blocks[block]);
    }
}

// The first block is always taken, even if it exceeds the budget: otherwise a small window would stop the viewer.
std::shared_ptr<const Bytes> PinnedState::next_message(std::size_t budget, codec::BlockSet& missing) {
    std::vector<codec::CodedBlock> sent;
    std::size_t bytes = state_header_bytes + objects_.size() * object_bytes;
    for (std::size_t i = 0; i < unsent_.size(); ++i) {
        bytes += unsent_[i]->size() + codec::place_bytes;
        if (i > 0 && bytes > budget) break;
        sent.push_back({numbers_[i], *unsent_[i]});
        missing[static_cast<std::size_t>(numbers_[i])] = 0;
    }
    header_.partial = sent.size() < unsent_.size();
    Bytes message;
    begin_state(MessageType::changes, header_, objects_, message);
    codec::append_packed({codec::PackedHead::Kind::blocks, 0}, sent, static_cast<int>(blocks_), message);
    end_state(message);
    numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(sent.size()));
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent.size()));
    return std::make_shared<const Bytes>(std::move(message));
}

std::string ControlRequests::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

std::string ControlRequests::refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
}

void ControlRequests::request(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == most_waiting) waiting_.pop_front();
    waiting_.push_back(text);
}

std::optional<std::string> ControlRequests::next() {
    const std::lock_guard lock(mutex_);
    if (under_way_ || waiting_.empty()) return std::nullopt;
    under_way_ = true;
    auto control_request = std::move(waiting_.front());
    waiting_.pop_front();
    return control_request;
}

// A server of version 4 does not mark unsolicited answers. They are recognised because no request is under way.
void ControlRequests::take(const ControlAnswer& answer) {
    const std::lock_guard lock(mutex_);
    if (answer.done) state_ = answer.text;
    if (answer.unsolicited || !std::exchange(under_way_, false)) return;
    refusal_ = answer.done ? "" : answer.text;
}

void ControlRequests::restart() {
    const std::lock_guard lock(mutex_);
    under_way_ = false;
    if (waiting_.empty() || !waiting_.front().empty())
        waiting_.push_front("");  // an empty request returns the settings of the new connection
}

}  // namespace framewire::net
