#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/media/fwd_file.hpp"
#include "framewire/media/sinks.hpp"
#include "framewire/media/sources.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire {

/// Returns the parameters of a `.fwd` sink: those of the difference encoder, and `key`.
std::vector<ParameterInfo> fwd_sink_parameters();
/// Opens a sink that writes frames as a difference stream; see fwd/format.md. Throws as open_sink() does.
std::unique_ptr<Sink> open_fwd_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options);

/// Opens a `.fwd` file as a Source; damaged parts are reported and skipped. Throws as open_source() does.
std::unique_ptr<Source> open_fwd_source(const std::string& path, const SourceOptions& options);

/// Returns the frame times of a `.fwd` file from its index; its keyframes are the entry points. Throws as open_source()
/// does.
FrameTimes fwd_frame_times(const std::string& path, const SourceOptions& options);

}  // namespace framewire

namespace framewire::fwd {

/// Default interval between the keyframes of a recording.
inline constexpr double usual_key_seconds = 10;

/// Parameters of a `.fwd` sink.
struct Settings {
    codec::EncoderParameters encoder{};
    double key_seconds = 0;  ///< longest interval between keyframes
};

/// Returns the settings for frames from a difference stream with `source_threshold`, or from another source if it is
/// empty. Bytes of a difference stream are kept unchanged unless the call specifies mode or threshold. Throws
/// Error{usage} on settings that contradict each other.
Settings settings_of(const SinkCall& call, std::optional<int> source_threshold = {});

/// Path and keyframe interval of a recording of a stream that is already encoded.
struct RecordCall {
    std::string path;
    double key_seconds;
};
/// Parses the text of a recording of an encoded stream. Throws Error{usage} if it is not a `.fwd` file, and on encoder
/// parameters, which do not apply to a stream that is already encoded.
RecordCall parse_record(const std::string& text);

/// Decodes the frames of a `.fwd` file one after the other into one picture. Damage is confined: a damaged block keeps
/// its previous content until the next keyframe, and so does each block that is predicted from a damaged one. Not
/// thread-safe.
class PictureReader {
public:
    /// Opens a file. The threads of `pool` decode the blocks of a frame in parallel; it is optional and must outlive
    /// this object. Throws as Reader does.
    PictureReader(const std::string& path, const SourceOptions& options, const ThreadPool* pool,
                  DamageLog log = DamageLog::on);

    /// Decodes the next frame and sets its number and time. Returns false at the end and after a stop request.
    bool next(FrameTime& time);
    /// Returns the picture of the last frame. Valid until the next frame is decoded; without memory before the first.
    HostView<const std::uint8_t> picture() const { return std::as_const(picture_).view(); }
    /// Seeks to the first frame at or after `seconds`, which next() then returns. Returns false and stays if the file
    /// has no keyframe.
    bool seek(double seconds);

    /// Returns the reader of the packed frames.
    const Reader& reader() const { return reader_; }

private:
    // Returns the shape of the picture.
    const Shape& shape() const { return reader_.header().shape; }
    // Decodes frame_ into picture_.
    bool decode();
    // Reports a delta frame that has no keyframe before it.
    bool skip_before_picture();
    // Allocates decoder and picture.
    void begin();
    // Reports the blocks that the last frame damaged.
    void say_damage(const codec::BlockSet& left_out);
    // Reports at a keyframe how far damage had spread.
    void say_spread();

    // Blocks that damage has reached through prediction since the last keyframe.
    struct Spread {
        std::uint32_t first;    // first affected frame
        std::int64_t offset;    // its position in the file
        std::int64_t blocks{};  // total number of blocks with old content
    };

    Reader reader_;
    const ThreadPool* pool_;
    Reader::Frame frame_;
    std::optional<codec::Unpacker> unpacker_;
    HostImage picture_;
    std::optional<Spread> spread_;
    codec::BlockSet damaged_;  // blocks whose content is wrong
    double wanted_seconds_ = -1;
};

/// Decides when a frame is written as a keyframe.
class PictureClock {
public:
    /// `seconds` is the interval between keyframes; 0 makes every frame a keyframe.
    explicit PictureClock(double seconds) : seconds_(seconds) {}

    /// Returns true if no keyframe was written yet, the last one is older than the interval, or time went backwards.
    bool is_due(double seconds) const { return !last_ || seconds >= *last_ + seconds_ || seconds < *last_; }
    /// Starts the next interval. Call it for each keyframe that is written.
    void wrote_one(double seconds) { last_ = seconds; }

private:
    double seconds_;
    std::optional<double> last_;
};

/// Records a difference stream while it is sent, on its own thread, so that a slow or full disk does not delay the
/// sender. Frames that the disk cannot accept yet wait in a bounded queue; when it is full, frames are dropped up to
/// the next keyframe. Call all members from one thread, except goes_on().
class Recorder {
public:
    /// Opens the file; wants_picture() asks for a keyframe every `key_seconds`. `pool` must outlive this object.
    /// Throws Error{io}.
    Recorder(const std::string& path, const Recording& recording, double key_seconds, const OutputFileOptions& options,
             const ThreadPool& pool);
    /// Discards the frames that still wait, unless finish() was called.
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Returns false once writing has failed, which is logged; frames are ignored afterwards. Callable from any thread.
    bool goes_on() const;
    /// Returns true if the frame at `time` must be added as a keyframe.
    bool wants_picture(const FrameTime& time) const;
    /// Adds an encoded frame; copies `packed`.
    void add(ByteSpan packed, const FrameTime& time);
    /// Adds a keyframe of a stream with this threshold: `draw` copies the picture, and the recorder encodes it later.
    void add_picture(const FrameTime& time, int threshold,
                     const std::function<void(HostView<std::uint8_t> picture)>& draw);

    /// Waits until everything is written, then gives the file its name. Throws the error of a failed write.
    void finish(Ending ending);

    /// Sets the limit of the queued bytes, for tests.
    void limit_waiting(std::int64_t bytes) { limit_bytes_ = bytes; }

private:
    // Frame in the queue: encoded, or a picture that is still to be encoded.
    struct Item {
        FrameTime time{};
        Bytes packed{};       // encoded frame; empty for a picture
        HostImage picture{};  // keyframe that is still to be encoded
        int threshold = 0;    // threshold of the keyframe
        std::int64_t bytes() const { return std::ssize(packed) + picture.shape().bytes(); }
    };

    // Returns true if a frame must be dropped.
    bool is_refused(std::int64_t bytes, bool picture);
    // Appends a frame to the queue.
    void put(Item item, bool picture);
    // Body of the thread.
    void work();
    // Encodes a keyframe if needed, and writes the frame.
    void write(Item& item);

    Writer writer_;
    codec::Packer packer_;
    Shape shape_;
    std::int64_t limit_bytes_;

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    PictureClock pictures_;
    std::deque<Item> waiting_;
    std::int64_t waiting_bytes_ = 0;  // queued bytes, including the item being written
    std::int64_t left_out_ = 0;       // number of dropped frames
    bool lags_ = false;               // true while frames are dropped up to the next keyframe
    bool closing_ = false, abandoned_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  // last member: starts when all others exist
};

}  // namespace framewire::fwd
