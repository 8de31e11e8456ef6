#include "framewire/media/ffmpeg/input/packet_reader.hpp"

#include "framewire/core/log.hpp"

#include <utility>

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Two minutes of a usual camera of 4 Mbit/s, a second of 30 raw frames of 1280x720.
constexpr std::int64_t most_held_bytes = std::int64_t{64} << 20;

// Each packet can be decoded without those before.
bool is_intra_only(AVCodecID codec) {
    const auto* descriptor = avcodec_descriptor_get(codec);
    return descriptor && (descriptor->props & AV_CODEC_PROP_INTRA_ONLY);
}

}  // namespace

PacketReader::PacketReader(AVFormatContext& format, const AVStream& stream, Interrupt& interrupt,
                           std::chrono::milliseconds patience, std::string name)
    : format_(format),
      stream_(stream),
      interrupt_(interrupt),
      patience_(patience),
      name_(std::move(name)),
      drops_((format.iformat->flags & AVFMT_NOFILE) != 0 && is_intra_only(stream.codecpar->codec_id)),
      start_time_(stream.start_time),
      thread_([this] { run(); }) {}

PacketReader::~PacketReader() {
    {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
    }
    interrupt_.cancel();
    taken_.notify_all();
    thread_.join();
    interrupt_.renew();
    if (dropped_ > 0)
        log_warning("{}: {} of its pictures were dropped, for they came faster than they could be processed", name_,
                    dropped_);
}

int PacketReader::read(AVPacket& packet) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !held_.empty() || ended_; });
    if (held_.empty()) return result_;
    av_packet_move_ref(&packet, held_.front().packet.get());
    // FFmpeg corrects it while a stream runs, and times counted from another beginning would go back.
    if (!std::exchange(began_, true)) start_time_ = held_.front().start_time;
    held_bytes_ -= packet.size;
    held_.pop_front();
    lock.unlock();
    taken_.notify_one();
    return 0;
}

void PacketReader::run() {
    int result = 0;
    while (result >= 0) {
        auto packet = make_packet();
        result = read_packet(*packet);
        if (result >= 0 && packet->stream_index == stream_.index && !add({std::move(packet), stream_.start_time}))
            result = AVERROR_EXIT;
    }
    end(result);
}

// Waits for data, of a camera's driver too, which does not.
int PacketReader::read_packet(AVPacket& packet) {
    interrupt_.allow(patience_);
    for (;;) {
        const int result = av_read_frame(&format_, &packet);
        if (result != AVERROR(EAGAIN)) return result;
        if (interrupt_.stopped() || interrupt_.late()) return AVERROR_EXIT;
        std::this_thread::sleep_for(2ms);
    }
}

// False when nobody reads any more.
bool PacketReader::add(Held held) {
    std::unique_lock lock(mutex_);
    const auto is_full = [&] { return !held_.empty() && held_bytes_ + held.packet->size > most_held_bytes; };
    if (is_full() && !std::exchange(warned_, true))
        log_warning("{}: it sends faster than its frames can be processed; {}", name_,
                    drops_ ? "some of its pictures are dropped" : "it has to wait, and may drop some or give up");
    while (drops_ && is_full()) {
        held_bytes_ -= held_.front().packet->size;
        held_.pop_front();
        ++dropped_;
    }
    taken_.wait(lock, [&] { return cancelled_ || !is_full(); });
    if (cancelled_) return false;
    held_bytes_ += held.packet->size;
    held_.push_back(std::move(held));
    lock.unlock();
    arrived_.notify_one();
    return true;
}

void PacketReader::end(int result) {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        result_ = result;
        timed_out_ = interrupt_.late() && !interrupt_.stopped();
    }
    arrived_.notify_all();
}

}  // namespace framewire
