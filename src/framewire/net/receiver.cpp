#include "framewire/net/receiver.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace framewire::net {

Receiver::Receiver(const ServerHello& hello)
    : picture_((validate(hello.info), hello.info.shape)),
      unpacker_(hello.info.shape),
      greatest_threshold_(hello.info.threshold),
      max_packed_bytes_(codec::max_packed_bytes(hello.info.shape)),
      epoch_(hello.epoch),
      versions_(static_cast<std::size_t>(codec::BlockGrid(hello.info.shape).count())),
      came_(versions_.size()),
      coming_(versions_.size(), 1) {
    state_.threshold = greatest_threshold_;
}

// Dispatches one message. Control and clock messages are handled by the client.
Receiver::Outcome Receiver::take(MessageType type, ByteSpan payload) {
    switch (type) {
        case MessageType::alive: return Outcome::nothing;
        case MessageType::end: return Outcome::ended;
        case MessageType::picture: return take_picture(payload);
        case MessageType::changes: return take_changes(payload);
        case MessageType::hello: fail(ErrorCode::source_lost, "the server sent a second hello");
        case MessageType::error: {
            const auto error = read_error(payload);
            fail(ErrorCode::source_lost, "the server says: {}", error.text);
        }
        default: fail(ErrorCode::source_lost, "unknown message type {}", static_cast<int>(type));
    }
}

// Reads the state header and the objects, and advances `payload` to the packed bytes.
StateHeader Receiver::read_front(ByteSpan& payload) {
    const auto next = read_state(payload, picture_.shape(), latest_objects_);
    if (next.threshold > greatest_threshold_)
        fail(ErrorCode::source_lost, "the server sent a state with threshold {}; the stream's limit is {}",
             next.threshold, greatest_threshold_);
    return next;
}

// A keyframe replaces everything, so it may follow any older version.
Receiver::Outcome Receiver::take_picture(ByteSpan payload) {
    auto next = read_front(payload);
    if (follows_ && next.version < latest_.version)
        fail(ErrorCode::source_lost, "the server went back from version {} to {}", latest_.version, next.version);
    next.withdraws = true;  // keyframes are how a server withdraws its older states
    if (next.partial) fail(ErrorCode::source_lost, "the server sent a complete keyframe that is marked as partial");
    unpacker_.apply_picture(payload, picture_.view());
    ++counts_.keyframes;
    return move_on(next, codec::BlockSet(versions_.size(), 1));
}

// A delta frame requires the previous version. A message of independent blocks can follow any older version.
Receiver::Outcome Receiver::take_changes(ByteSpan payload) {
    const auto next = read_front(payload);
    const bool alone = !payload.empty() && payload[0] == static_cast<std::uint8_t>(codec::PackedHead::Kind::blocks);
    if (!alone && !follows_)
        fail(ErrorCode::source_lost, "the server began with the delta frame of version {} instead of a keyframe",
             next.version);
    if (!alone && (resumes_ || next.version != latest_.version + 1))
        fail(ErrorCode::source_lost, "the server sent the delta frame of version {}, but the viewer has version {}",
             next.version, latest_.version);
    if (follows_ && next.version < latest_.version)
        fail(ErrorCode::source_lost, "the server went back from version {} to {}", latest_.version, next.version);
    keep_shown(next.partial);
    unpacker_.apply_changes(payload, picture_.view());
    counts_.changed_bytes += unpacker_.last_count();
    ++(alone ? counts_.parts : counts_.changes);
    return move_on(next, blocks_of(payload, picture_.shape()));
}

// Saves the picture that is shown, so it does not change while the next state arrives in several messages.
void Receiver::keep_shown(bool next_is_partial) {
    if (!next_is_partial || assembling() || state_.version == 0) return;
    if (shown_.shape() != picture_.shape()) shown_ = HostImage(picture_.shape());
    copy(std::as_const(picture_).view(), shown_.view());
}

// Resumes if the stream is the same one. Otherwise every block counts as missing, but the picture is kept.
void Receiver::restart(const ServerHello& hello) {
    greatest_threshold_ = hello.info.threshold;
    connection_is_new_ = true;
    resumes_ = hello.epoch == epoch_ && follows_;
    if (resumes_) return;
    epoch_ = hello.epoch;
    follows_ = whole_ = false;
    // Every block may differ from the last state of the previous stream.
    std::fill(coming_.begin(), coming_.end(), std::uint8_t{1});
    std::fill(versions_.begin(), versions_.end(), std::uint64_t{0});
}

// Records the blocks of a message. If it completes a state, that state becomes the current one.
Receiver::Outcome Receiver::move_on(const StateHeader& next, const codec::BlockSet& blocks) {
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        if (blocks[block]) versions_[block] = next.version;
        coming_[block] |= blocks[block];
    }
    if (!next.partial && !whole_ && std::find(versions_.begin(), versions_.end(), std::uint64_t{0}) != versions_.end())
        fail(ErrorCode::source_lost, "the server declared version {} complete, but some of its blocks were never sent",
             next.version);
    // Versions that passed between two connections were not skipped by this viewer.
    const bool counts_skipped = whole_ && !connection_is_new_;
    latest_ = next;
    follows_ = true;
    resumes_ = false;
    if (next.partial) return Outcome::nothing;
    std::fill(versions_.begin(), versions_.end(), next.version);
    if (counts_skipped && next.version > state_.version) count_skipped(next.version - state_.version - 1);
    whole_ = true;
    connection_is_new_ = false;
    state_ = next;
    std::swap(objects_, latest_objects_);
    std::swap(came_, coming_);
    std::fill(coming_.begin(), coming_.end(), std::uint8_t{0});
    return Outcome::picture;
}

// Encodes the block versions as runs: neighbouring blocks often have the same version.
BlockVersions Receiver::block_versions() const {
    if (!follows_) return {};
    BlockVersions held{.epoch = epoch_};
    for (const auto version : versions_) {
        if (held.runs.empty() || held.runs.back().version != version) held.runs.push_back({version, 0});
        ++held.runs.back().blocks;
    }
    return held;
}

// Adds to the skipped versions. One connection cannot skip more than max_version versions, but the sum over connections
// could overflow, so it saturates.
void Receiver::count_skipped(std::uint64_t versions) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto room = static_cast<std::uint64_t>(most - counts_.skipped);
    counts_.skipped = versions < room ? counts_.skipped + static_cast<std::int64_t>(versions) : most;
}

namespace {

// Lists the coded blocks in a packed frame without decoding them.
std::vector<codec::CodedBlock> coded_blocks(ByteSpan packed, int blocks) {
    std::vector<codec::CodedBlock> coded;
    coded.reserve(static_cast<std::size_t>(blocks));
    if (packed.size() < codec::PackedHead::bytes ||
        !codec::read_directory(packed.subspan(codec::PackedHead::bytes), blocks, coded))
        fail(ErrorCode::internal, "the blocks of a packed delta frame are inconsistent");
    return coded;
}

}  // namespace

codec::BlockSet blocks_of(ByteSpan packed, const Shape& shape) {
    const codec::BlockGrid grid(shape);
    codec::BlockSet blocks(static_cast<std::size_t>(grid.count()));
    for (const auto& [block, bytes] : coded_blocks(packed, grid.count())) blocks[static_cast<std::size_t>(block)] = 1;
    return blocks;
}

namespace {

// Clocks drift, so even the best comparison is replaced after this many slower ones.
constexpr int comparison_holds = 10;

}  // namespace

// The shorter the exchange, the smaller the error. Half of the exchange is assumed for each direction (as in NTP, RFC
// 5905).
void ServerClock::compare(const Clocks& clocks, Clock::time_point now) {
    const auto now_us = microseconds_since_start(now);
    if (clocks.viewer_us > now_us) return;
    const auto exchange_us = static_cast<std::int64_t>(now_us - clocks.viewer_us);
    if (ahead_us_ && exchange_us > exchange_us_ && ++comparisons_since_ < comparison_holds) return;
    ahead_us_ = static_cast<std::int64_t>(clocks.server_us) - static_cast<std::int64_t>(now_us) + exchange_us / 2;
    exchange_us_ = exchange_us;
    comparisons_since_ = 0;
}

std::optional<std::uint64_t> ServerClock::here_us(std::uint64_t server_us) const {
    if (!ahead_us_) return std::nullopt;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(server_us) - *ahead_us_));
}

std::optional<std::chrono::microseconds> ServerClock::age(std::uint64_t server_us, Clock::time_point now) const {
    const auto here = here_us(server_us);
    if (!here) return std::nullopt;
    return std::chrono::microseconds(static_cast<std::int64_t>(microseconds_since_start(now)) -
                                     static_cast<std::int64_t>(*here));
}

}  // namespace framewire::net
