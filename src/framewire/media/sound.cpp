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
// Packets stay this long after they were due, for readers that are late.
constexpr double kept_after_due_s = 2;

// Frames per offset: the offsets of the last 60 frames are compared.
constexpr std::size_t group_frames = 4;

double seconds_since_epoch(Clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
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
    sent_count_ = 0;
}

// The first frame of an opening says where its packets lie. They replace packets of the previous opening that would be
// heard later than the new frame is seen.
void SoundTap::place(double seconds) {
    const std::lock_guard lock(mutex_);
    if (!marked_) return;
    const bool first = !shift_;
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
    if (begun_ && packet.seconds <= end_) return;
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
    auto& group = sent_[sent_count_ / group_frames % offsets];
    const auto offset = seconds_since_epoch(now) - seconds;
    group = sent_count_ % group_frames == 0 ? offset : std::min(group, offset);
    ++sent_count_;
    const auto count = std::min((sent_count_ + group_frames - 1) / group_frames, offsets);
    auto sorted = sent_;
    // The lowest one is ignored once there are enough: it may be a mistake of the source.
    const auto low = sorted.begin() + static_cast<std::ptrdiff_t>(count / 8);
    std::nth_element(sorted.begin(), low, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    offset_ = *low;
    while (!placed_.empty() && placed_.front()->seconds + offset_ < seconds_since_epoch(now) - kept_after_due_s)
        drop_oldest();
}

std::shared_ptr<const SoundFormat> SoundTap::format() const {
    const std::lock_guard lock(mutex_);
    return format_;
}

SoundTap::Reader::Reader(std::shared_ptr<SoundTap> tap) : tap_(std::move(tap)) {
    ++tap_->readers_;
    take(Clock::now());
}

SoundTap::Reader::~Reader() { --tap_->readers_; }

std::vector<SoundTap::Due> SoundTap::Reader::take(Clock::time_point now) {
    std::vector<Due> due;
    auto& tap = *tap_;
    const std::lock_guard lock(tap.mutex_);
    if (tap.sent_count_ == 0) return due;
    const auto until = seconds_since_epoch(now) - tap.offset_;
    next_ = std::clamp(next_, tap.first_, tap.first_ + tap.placed_.size());
    for (; next_ - tap.first_ < tap.placed_.size(); ++next_) {
        const auto& packet = tap.placed_[static_cast<std::size_t>(next_ - tap.first_)];
        if (packet->seconds > until) break;
        const std::chrono::duration<double> age(until - packet->seconds);
        due.push_back({packet, now - std::chrono::duration_cast<Clock::duration>(age)});
    }
    return due;
}

}  // namespace framewire
