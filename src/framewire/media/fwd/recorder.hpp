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

/// Records a difference stream while it is sent, on its own thread, so that a slow or full disk does not delay the
/// sender. Bytes that the disk cannot accept yet wait in bounded memory; when that is full, frames are dropped up to
/// the next keyframe. Call all members from one thread, except goes_on().
class Recorder {
public:
    /// Opens the file; wants_picture() asks for a keyframe every `key_seconds`. `pool` must outlive this object.
    /// Throws Error{io}.
    Recorder(const std::string& path, const Recording& recording, double key_seconds, const OutputFileOptions& options,
             const ThreadPool& pool);
    /// Without a preceding finish(), discards the frames that still wait.
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Returns false once writing has failed, which is logged; nothing is accepted afterwards. Callable from any
    /// thread.
    bool goes_on() const;
    /// True if the frame at `time` must be added as a keyframe.
    bool wants_picture(const FrameTime& time) const;
    /// Adds an encoded frame; copies `packed`.
    void add(ByteSpan packed, const FrameTime& time);
    /// Adds a keyframe: `draw` copies the picture, of a stream with this threshold, and the recorder encodes it later.
    void add_picture(const FrameTime& time, int threshold,
                     const std::function<void(HostView<std::uint8_t> picture)>& draw);

    /// Waits until everything is written, then gives the file its name. Throws the error with which writing failed.
    void finish(Ending ending);

    /// For tests: sets the limit of the waiting bytes.
    void limit_waiting(std::int64_t bytes) { limit_bytes_ = bytes; }

private:
    // A frame in the queue.
    struct Item {
        FrameTime time{};
        Bytes packed{};       // encoded frame, or else
        HostImage picture{};  // keyframe that is still to be encoded
        int threshold = 0;    // of the keyframe
        std::int64_t bytes() const { return std::ssize(packed) + picture.shape().bytes(); }
    };

    // True if a frame must be dropped.
    bool is_refused(std::int64_t bytes, bool picture);
    // Appends a frame to the queue.
    void put(Item item, bool picture);
    // The thread.
    void work();
    // Encodes a keyframe if needed, and writes the frame.
    void write(Item& item);

    Writer writer_;
    delta::Packer packer_;
    Shape shape_;
    std::int64_t limit_bytes_;

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    PictureClock pictures_;
    std::deque<Item> waiting_;
    std::int64_t waiting_bytes_ = 0;  // including the item being written
    std::int64_t left_out_ = 0;       // dropped frames
    bool lags_ = false;               // dropping frames up to the next keyframe
    bool closing_ = false, abandoned_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  // last member: starts when the others exist
};

}  // namespace framewire::fwd
