#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/media/fwd/file/writer.hpp"
#include "framewire/media/fwd/settings.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace framewire::fwd {

/// Records a difference stream as it is sent, on a thread of its own: a slow disk or a full one holds up nobody. What
/// the disk cannot take yet waits in bounded memory; when that is full, frames are left out up to the next picture. Fed
/// by one thread.
class Recorder {
public:
    /// Opens the file; a picture is wanted every `key_seconds`. Throws Error{io}. `pool` lives longer.
    Recorder(const std::string& path, const Recording& recording, double key_seconds, const OutputFileOptions& options,
             const ThreadPool& pool);
    /// Without finish() before, what waits is not written.
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// False once writing has failed, which the log says: then nothing is taken any more. Any thread may ask.
    bool goes_on() const;
    /// Whether the frame of `time` is to be given as a picture.
    bool wants_picture(const FrameTime& time) const;
    /// Takes a frame that is packed.
    void add(ByteSpan packed, const FrameTime& time);
    /// Takes a frame whose picture, of a stream within `threshold`, `draw` copies; it is packed later.
    void add_picture(const FrameTime& time, int threshold,
                     const std::function<void(HostView<std::uint8_t> picture)>& draw);

    /// Waits until all is written and lets the file appear. Throws what writing failed with.
    void finish(Ending ending);

    /// For tests: the most bytes that wait.
    void limit_waiting(std::int64_t bytes) { limit_bytes_ = bytes; }

private:
    struct Item {
        FrameTime time{};
        Bytes packed{};       // or else
        HostImage picture{};  // to be packed
        int threshold = 0;    // of the picture
        std::int64_t bytes() const { return std::ssize(packed) + picture.shape().bytes(); }
    };

    bool is_refused(std::int64_t bytes, bool picture);
    void put(Item item, bool picture);
    void work();
    void write(Item& item);

    Writer writer_;
    delta::Packer packer_;
    Shape shape_;
    std::int64_t limit_bytes_;

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    PictureClock pictures_;
    std::deque<Item> waiting_;
    std::int64_t waiting_bytes_ = 0;  // with the one being written
    std::int64_t left_out_ = 0;       // frames
    bool lags_ = false;               // up to the next picture
    bool closing_ = false, abandoned_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  // last: all is there before it starts
};

}  // namespace framewire::fwd
