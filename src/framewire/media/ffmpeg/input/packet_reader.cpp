// Decouples reception from processing:
//
//    network or driver -> run() on its thread -> held_ (up to 64 MiB of encoded packets) -> read() -> decoder
//
// If the buffer is full, a source whose packets are all decodable on their own loses its oldest packets (a camera with
// raw or JPEG frames). Other sources have to wait, because dropping a packet would damage the frames that depend on
// it.

#include "framewire/media/ffmpeg/input/packet_reader.hpp"

#include "framewire/core/log.hpp"

#include <utility>

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Two minutes of a typical 4 Mbit/s camera, or one second of 30 raw 1280x720 frames.
constexpr std::int64_t most_held_bytes = std::int64_t{64} << 20;

// True if every packet can be decoded on its own, so that any of them may be dropped.
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

// Unblocks the thread wherever it waits: in FFmpeg (interrupt) or for space (taken_).
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
    // FFmpeg adjusts the start time while a stream runs, and times from different starts would go backwards: keep the
    // first value.
    if (!std::exchange(began_, true)) start_time_ = held_.front().start_time;
    held_bytes_ -= packet.size;
    held_.pop_front();
    lock.unlock();
    taken_.notify_one();
    return 0;
}

// The thread: reads packets until an error, the end or the destructor.
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

// Reads a packet, waiting for data. A camera's demuxer does not block, so it is polled every 2 ms.
int PacketReader::read_packet(AVPacket& packet) {
    interrupt_.allow(patience_);
    for (;;) {
        const int result = av_read_frame(&format_, &packet);
        if (result != AVERROR(EAGAIN)) return result;
        if (interrupt_.stopped() || interrupt_.late()) return AVERROR_EXIT;
        std::this_thread::sleep_for(2ms);
    }
}

// Appends a packet; a full buffer drops its oldest packets or waits. Returns false if the reader is being destroyed.
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

// Stores the final result and wakes read().
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
