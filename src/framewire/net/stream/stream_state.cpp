#include "framewire/net/stream/stream_state.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/packing.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

namespace framewire::net {

struct StreamState::State {
    State(const StreamInfo& info_, Executor& executor)
        : info((net::validate(info_), info_)),
          decoder(info.shape, executor),
          step_packer(info.shape),
          reference(info.shape),
          snapshot(info.shape),
          picture_packer(info.shape),
          picture_bytes_limit(delta::max_packed_bytes(info.shape) + state_header_bytes + header_bytes) {
        objects.reserve(max_objects);
        picture_objects.reserve(max_objects);
    }

    StreamInfo info;

    // The feeding thread's own.
    delta::Decoder decoder;
    delta::Packer step_packer;
    Bytes packed;  // the step being packed; what is kept is a copy of the right size

    mutable std::mutex mutex;  // guards what follows, up to the picture's part
    HostImage reference;
    StateHeader newest{};            // of `reference`
    std::vector<Component> objects;  // of the same frame
    bool packing_step = false;       // the step to `newest` is on its way
    std::deque<StateMessage> steps;  // no gaps between them; the last one leads to newest_for_steps()
    std::size_t steps_bytes = 0;
    StateMessage newest_picture;
    StreamCounts counts{};
    int viewers = 0;
    bool ended = false;

    // Packing a picture takes long, so it works on a copy of R and holds only this mutex, taken before the other.
    std::mutex picture_mutex;
    HostImage snapshot;
    std::vector<Component> picture_objects;
    delta::Packer picture_packer;
    Bytes packed_picture;

    std::size_t picture_bytes_limit;  // until the first picture shows what one takes

    // All with `mutex` held:

    std::size_t picture_cost() const {
        return newest_picture.bytes ? newest_picture.bytes->size() : picture_bytes_limit;
    }

    void move_on(const FrameTime& time, std::span<const Component> seen) {
        newest = {newest.version + 1, time.index, time.seconds};
        seen = seen.first(std::min(seen.size(), max_objects));
        objects.assign(seen.begin(), seen.end());
        counts.version = newest.version;
    }

    void forget_steps() {
        steps.clear();
        steps_bytes = 0;
    }

    // The version that viewers can be brought to by steps.
    std::uint64_t newest_for_steps() const { return newest.version - (packing_step ? 1 : 0); }

    void keep_picture(StateMessage message) {
        const auto bytes = static_cast<std::int64_t>(message.bytes->size());
        ++counts.pictures;
        counts.picture_bytes += bytes;
        if (counts.pictures == 1) counts.up_to_date_bytes += bytes;
        newest_picture = std::move(message);
    }

    // Keeps the step just packed, and of the older ones only what some viewer may still be sent.
    void keep_step() {
        steps.push_back({newest.version, std::make_shared<const Bytes>(packed.begin(), packed.end())});
        steps_bytes += packed.size();
        ++counts.steps;
        const auto bytes = static_cast<std::int64_t>(packed.size());
        counts.step_bytes += bytes;
        counts.up_to_date_bytes += bytes;
        while (steps.size() > steps_kept || (steps.size() > 1 && steps_bytes > picture_cost())) {
            steps_bytes -= steps.front().bytes->size();
            steps.pop_front();
        }
    }
};

StreamState::StreamState(const StreamInfo& info, Executor& executor)
    : state_(std::make_unique<State>(info, executor)) {}
StreamState::~StreamState() = default;

const StreamInfo& StreamState::info() const { return state_->info; }

void StreamState::start(HostView<const std::uint8_t> picture, const FrameTime& time, std::span<const Component> objects,
                        std::span<const std::uint8_t> packed) {
    auto& state = *state_;
    validate(picture, state.info.shape, "the picture to start a stream with");
    const std::lock_guard lock(state.mutex);
    framewire::copy(picture, state.reference.view());
    state.move_on(time, objects);
    state.forget_steps();
    if (packed.empty()) return;
    begin_state(MessageType::picture, state.newest, state.objects, state.packed);
    state.packed.insert(state.packed.end(), packed.begin(), packed.end());
    end_state(state.packed);
    state.keep_picture({state.newest.version, std::make_shared<const Bytes>(state.packed.begin(), state.packed.end())});
}

bool StreamState::watched() const {
    const std::lock_guard lock(state_->mutex);
    return state_->viewers > 0;
}

void StreamState::advance(const delta::ChangesView<MemorySpace::host>& changes, const FrameTime& time,
                          std::span<const Component> objects, std::span<const std::uint8_t> packed) {
    auto& state = *state_;
    StateHeader header;
    {
        const std::lock_guard lock(state.mutex);
        if (state.newest.version == 0) fail(ErrorCode::internal, "a step of a stream that was not started");
        try {
            state.decoder.decode(changes, state.reference.view());
        } catch (const Error& error) {
            fail(ErrorCode::internal, "changes that do not fit the reference: {}", error.what());
        }
        state.move_on(time, objects);
        if (state.viewers == 0) {
            state.forget_steps();
            return;
        }
        header = state.newest;
        state.packing_step = true;
    }
    // The network need not wait for the packing: until it is done, the version before counts as the newest.
    try {
        begin_state(MessageType::changes, header, objects, state.packed);
        if (packed.empty())
            state.step_packer.pack_changes(changes, state.info.threshold, state.packed);
        else
            state.packed.insert(state.packed.end(), packed.begin(), packed.end());
        end_state(state.packed);
        const std::lock_guard lock(state.mutex);
        state.keep_step();
        state.packing_step = false;
    } catch (...) {
        const std::lock_guard lock(state.mutex);
        state.forget_steps();
        state.packing_step = false;
        throw;
    }
}

void StreamState::advance(HostView<const std::uint8_t> picture, std::span<const std::uint8_t> packed,
                          const FrameTime& time, std::span<const Component> objects) {
    auto& state = *state_;
    validate(picture, state.info.shape, "the picture a step leads to");
    const std::lock_guard lock(state.mutex);
    if (state.newest.version == 0) fail(ErrorCode::internal, "a step of a stream that was not started");
    framewire::copy(picture, state.reference.view());
    state.move_on(time, objects);
    if (state.viewers == 0) return state.forget_steps();
    begin_state(MessageType::changes, state.newest, state.objects, state.packed);
    state.packed.insert(state.packed.end(), packed.begin(), packed.end());
    end_state(state.packed);
    state.keep_step();
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
    if (--state_->viewers == 0) state_->newest_picture = {};
}

StreamState::Missing StreamState::missing(std::uint64_t version) const {
    const auto& state = *state_;
    const std::lock_guard lock(state.mutex);
    Missing missing{{}, false, state.ended};
    const auto newest = state.newest_for_steps();
    if (version >= newest) return missing;
    const auto behind = newest - version;
    if (version == 0 || behind > state.steps.size()) {
        missing.picture = true;
        return missing;
    }
    std::size_t bytes = 0;
    for (auto i = state.steps.size() - behind; i < state.steps.size(); ++i) {
        bytes += state.steps[i].bytes->size();
        missing.steps.push_back(state.steps[i]);
    }
    // One step is what every viewer gets, whatever it costs; for several the whole picture may be the shorter way.
    if (behind > 1 && bytes >= state.picture_cost()) {
        missing.steps.clear();
        missing.picture = true;
    }
    return missing;
}

StateMessage StreamState::picture() {
    auto& state = *state_;
    const std::lock_guard packing(state.picture_mutex);
    StateHeader header;
    {
        const std::lock_guard lock(state.mutex);
        header = state.newest;
        if (header.version == 0) return {};
        if (state.newest_picture.version == header.version) return state.newest_picture;
        framewire::copy(state.reference.view(), state.snapshot.view());
        state.picture_objects = state.objects;
    }
    begin_state(MessageType::picture, header, state.picture_objects, state.packed_picture);
    state.picture_packer.pack_picture(std::as_const(state.snapshot).view(), 0, state.packed_picture);
    end_state(state.packed_picture);
    StateMessage message{header.version, std::make_shared<const Bytes>(state.packed_picture)};

    const std::lock_guard lock(state.mutex);
    state.keep_picture(message);
    return message;
}

StreamCounts StreamState::counts() const {
    const std::lock_guard lock(state_->mutex);
    return state_->counts;
}

std::uint64_t StreamState::copy_reference(HostView<std::uint8_t> to) const {
    validate(to, state_->info.shape, "the copy of a stream's reference");
    const std::lock_guard lock(state_->mutex);
    framewire::copy(std::as_const(state_->reference).view(), to);
    return state_->newest.version;
}

}  // namespace framewire::net
