#pragma once

#include "framewire/media/ffmpeg/libav.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace framewire {

/// Reads packets of a live stream on its own thread as they arrive, so that neither network nor driver buffers
/// overflow while frames are decoded, filtered and written. Buffers up to 64 MiB.
class PacketReader {
public:
    /// Starts the thread. `format` and `interrupt` must outlive this object and may not be used by others meanwhile.
    /// The reader gives up after `patience` without data.
    PacketReader(AVFormatContext& format, const AVStream& stream, Interrupt& interrupt,
                 std::chrono::milliseconds patience, std::string name);
    ~PacketReader();
    PacketReader(const PacketReader&) = delete;
    PacketReader& operator=(const PacketReader&) = delete;

    /// Waits for the next packet of the stream. Returns the result of av_read_frame().
    int read(AVPacket& packet);
    /// AVStream::start_time when the first packet arrived.
    std::int64_t start_time() const { return start_time_; }
    /// True if the reader gave up because no data arrived. Valid after read() failed.
    bool timed_out() const { return timed_out_; }

private:
    /// A buffered packet, and the stream's start time when it arrived.
    struct Held {
        PacketPointer packet;
        std::int64_t start_time;
    };

    // The thread.
    void run();
    // Reads one packet, waiting for data.
    int read_packet(AVPacket& packet);
    // Appends a packet to the buffer.
    bool add(Held held);
    // Marks the end of the stream.
    void end(int result);

    AVFormatContext& format_;
    const AVStream& stream_;
    Interrupt& interrupt_;
    std::chrono::milliseconds patience_;
    std::string name_;
    bool drops_;  // drops packets when full; otherwise the sender waits
    std::int64_t start_time_ = AV_NOPTS_VALUE;
    bool began_ = false;  // a packet has been read

    std::mutex mutex_;
    std::condition_variable arrived_, taken_;
    // Guarded by mutex_.
    std::deque<Held> held_;
    std::int64_t held_bytes_ = 0, dropped_ = 0;
    bool warned_ = false, cancelled_ = false;
    bool ended_ = false, timed_out_ = false;
    int result_ = 0;
    std::jthread thread_;  // last member: joined before the others are destroyed
};

}  // namespace framewire
