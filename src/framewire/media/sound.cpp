#include "framewire/media/sound.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace framewire {
namespace {

// Thirty years, as for frames.
constexpr double longest_time_s = 1e9;
// A packet that ends this little after the first frame's time starts with it.
constexpr double barely_s = 1e-6;
// A packet whose time is further ahead of the frames is wrong. If it was kept, all others would be late.
constexpr double longest_ahead_s = 30;
// Packets stay this long after they were due, for readers that are late and sound that lags behind the pictures in its
// file.
constexpr double kept_after_due_s = 4;

// The offset to the wall clock is compared with the least one of the frames of at least this time.
constexpr double window_s = 1;
constexpr int window_frames = 5;
// A source that falls behind by more than this gets a new offset. Players wait once and continue with the same delay.
constexpr double most_behind_s = 0.3;
// A source that is ahead by more than this gets a new offset. Frames ahead of the clock do no harm, but sound is lost
// when the offset changes.
constexpr double most_ahead_s = 2;
// Times that jump by more than this are wrong, and the offset changes at once.
constexpr double longest_jump_s = 5;
// Changes of the offset that are kept: frames that wait for an encoder may be older than the newest change.
constexpr std::size_t most_offsets = 8;

double seconds_since_epoch(Clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

Clock::time_point time_point_of(double seconds) {
    return Clock::time_point(std::chrono::round<Clock::duration>(std::chrono::duration<double>(seconds)));
}

double sound_end_of(const SoundPacket& packet) {
    return packet.seconds + static_cast<double>(packet.samples) / packet.format->sample_rate;
}

bool is_valid_sound(const SoundPacket& packet) {
    return packet.format && !packet.bytes.empty() && packet.bytes.size() <= SoundTap::max_packet_bytes &&
           packet.samples > 0 && packet.samples <= packet.format->sample_rate * std::int64_t{10} &&
           std::abs(packet.seconds) < longest_time_s;
}

}  // namespace

std::string_view to_string(SoundCodec codec) {
    switch (codec) {
        case SoundCodec::aac: return "AAC";
        case SoundCodec::opus: return "Opus";
        case SoundCodec::mulaw: return "G.711 mu-law";
        case SoundCodec::alaw: return "G.711 A-law";
    }
    return {};
}

void SoundTap::begin() {
    const std::lock_guard lock(mutex_);
    format_.reset();
    marked_.reset();
    shift_.reset();
    unplaced_.clear();
    unplaced_bytes_ = 0;
}

void SoundTap::set_format(std::shared_ptr<const SoundFormat> format) {
    const std::lock_guard lock(mutex_);
    if (!format_ || !format || !(*format_ == *format)) format_ = std::move(format);
    has_sound_ = has_sound_ || format_;
}

void SoundTap::add(SoundPacket packet) {
    const std::lock_guard lock(mutex_);
    packet.format = format_;
    if (!is_valid_sound(packet)) return;
    if (shift_) {
        packet.seconds += *shift_;
        return publish(std::move(packet));
    }
    unplaced_bytes_ += packet.bytes.size();
    unplaced_.push_back(std::move(packet));
    while (unplaced_.size() > max_packets || unplaced_bytes_ > max_bytes) {
        unplaced_bytes_ -= unplaced_.front().bytes.size();
        unplaced_.pop_front();
    }
}

void SoundTap::mark(double seconds) {
    const std::lock_guard lock(mutex_);
    marked_ = seconds;
}

void SoundTap::restart() {
    begin();
    const std::lock_guard lock(mutex_);
    while (!placed_.empty()) drop_oldest();
    begun_ = false;
    offsets_.clear();
    has_sound_ = false;
}

// The first frame of an opening says where its packets lie. They replace packets of the previous opening that would be
// heard later than the new frame is seen.
void SoundTap::place(double seconds) {
    const std::lock_guard lock(mutex_);
    if (!marked_) return;
    const bool first = !shift_;
    placed_at_ = seconds;
    shift_ = seconds - *std::exchange(marked_, std::nullopt);
    if (!first) return;
    while (!placed_.empty() && placed_.back()->seconds > seconds - barely_s) {
        placed_bytes_ -= placed_.back()->bytes.size();
        placed_.pop_back();
    }
    if (!placed_.empty()) end_ = placed_.back()->seconds;
    for (auto& packet : std::exchange(unplaced_, {})) {
        packet.seconds += *shift_;
        if (sound_end_of(packet) > seconds + barely_s) publish(std::move(packet));
    }
    unplaced_bytes_ = 0;
}

void SoundTap::publish(SoundPacket packet) {
    if ((begun_ && packet.seconds <= end_) || packet.seconds > placed_at_ + longest_ahead_s) return;
    begun_ = true;
    end_ = packet.seconds;
    placed_bytes_ += packet.bytes.size();
    placed_.push_back(std::make_shared<const SoundPacket>(std::move(packet)));
    while (placed_.size() > max_packets || placed_bytes_ > max_bytes) drop_oldest();
}

void SoundTap::drop_oldest() {
    placed_bytes_ -= placed_.front()->bytes.size();
    placed_.pop_front();
    ++first_;
}

void SoundTap::sent(double seconds, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const auto wall = seconds_since_epoch(now), observed = wall - seconds;
    newest_sent_ = seconds;
    if (offsets_.empty()) {
        offsets_.push_back({seconds, observed});
        window_begin_ = wall;
        least_offset_ = observed;
        window_frames_ = 0;
    }
    least_offset_ = std::min(least_offset_, observed);
    ++window_frames_;
    const double offset = offsets_.back().seconds;
    const bool is_jump = std::abs(observed - offset) > longest_jump_s;
    if (is_jump || (wall > window_begin_ + window_s && window_frames_ >= window_frames)) {
        const double behind = least_offset_ - offset;
        if (is_jump)
            set_offset(seconds, observed);
        else if (behind > most_behind_s || behind < -most_ahead_s || readers_ == 0)
            set_offset(std::max(seconds, wall - offset), least_offset_);  // sound until `wall` may have been taken
        window_begin_ = wall;
        least_offset_ = observed;
        window_frames_ = 0;
    }
    while (!placed_.empty() && placed_.front()->seconds + offset_at(placed_.front()->seconds) < wall - kept_after_due_s)
        drop_oldest();
}

// Nobody notices a change while there are no readers.
void SoundTap::set_offset(double from, double offset) {
    if (readers_ == 0) offsets_.clear();
    offsets_.push_back({from, offset});
    if (offsets_.size() > most_offsets) offsets_.pop_front();
}

double SoundTap::offset_at(double seconds) const {
    auto at = offsets_.rbegin();
    while (at + 1 != offsets_.rend() && at->from > seconds) ++at;
    return at->seconds;
}

std::optional<Clock::time_point> SoundTap::at(double seconds) const {
    const std::lock_guard lock(mutex_);
    if (offsets_.empty() || !has_sound_) return std::nullopt;
    return time_point_of(seconds + offset_at(seconds));
}

std::shared_ptr<const SoundFormat> SoundTap::format() const {
    const std::lock_guard lock(mutex_);
    return format_;
}

SoundTap::Reader::Reader(std::shared_ptr<SoundTap> tap) : tap_(std::move(tap)) {
    ++tap_->readers_;
    tap_->is_wanted_ = true;
    take(Clock::now());
}

SoundTap::Reader::~Reader() { --tap_->readers_; }

std::vector<SoundTap::Due> SoundTap::Reader::take(Clock::time_point now) {
    std::vector<Due> due;
    auto& tap = *tap_;
    const std::lock_guard lock(tap.mutex_);
    if (tap.offsets_.empty()) return due;
    const auto until = std::max(tap.newest_sent_, seconds_since_epoch(now) - tap.offsets_.back().seconds);
    next_ = std::clamp(next_, tap.first_, tap.first_ + tap.placed_.size());
    for (; next_ - tap.first_ < tap.placed_.size(); ++next_) {
        const auto& packet = tap.placed_[static_cast<std::size_t>(next_ - tap.first_)];
        if (packet->seconds > until) break;
        due.push_back({packet, time_point_of(packet->seconds + tap.offset_at(packet->seconds))});
    }
    return due;
}

}  // namespace framewire
