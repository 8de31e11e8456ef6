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

/// Reads the packets of a live stream on a thread of its own, as they come, so that neither the network's nor a
/// driver's buffers overflow while frames are decoded, filtered and written. Keeps up to 64 MiB of them.
class PacketReader {
public:
    /// `format` and `interrupt` outlive this, and nobody else uses them meanwhile. The reader gives up after `patience`
    /// without data.
    PacketReader(AVFormatContext& format, const AVStream& stream, Interrupt& interrupt,
                 std::chrono::milliseconds patience, std::string name);
    ~PacketReader();
    PacketReader(const PacketReader&) = delete;
    PacketReader& operator=(const PacketReader&) = delete;

    /// Waits for the stream's next packet. Returns what av_read_frame() did.
    int read(AVPacket& packet);
    /// AVStream::start_time, as it was when the first packet came.
    std::int64_t start_time() const { return start_time_; }
    /// True if no data came for so long that the reader gave up. After read() failed.
    bool timed_out() const { return timed_out_; }

private:
    struct Held {
        PacketPointer packet;
        std::int64_t start_time;
    };

    void run();
    int read_packet(AVPacket& packet);
    bool add(Held held);
    void end(int result);

    AVFormatContext& format_;
    const AVStream& stream_;
    Interrupt& interrupt_;
    std::chrono::milliseconds patience_;
    std::string name_;
    bool drops_;  // when full; else the sender waits
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
    std::jthread thread_;  // last: it is over before what it uses goes
};

}  // namespace framewire
