#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry.hpp"
#include "framewire/plan/frame.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// Properties of a medium's pictures besides their size.
struct PictureFacts {
    std::optional<YuvCoding> coding{};         ///< if they are YUV
    std::optional<ChromaSampling> sampling{};  ///< if they are YUV with a sampling that framewire::colour supports
    ChromaSiting siting{};                     ///< siting of such chroma
    std::optional<int> primaries{};            ///< code point of ITU-T H.273, if the medium states it
    std::optional<int> transfer{};             ///< code point of ITU-T H.273, if the medium states it
    Rational pixel_aspect{1, 1};               ///< width over height of a pixel as displayed
};

/// The file of a video, for its contents other than pictures.
struct MediumFile {
    std::string path;
    double begin_seconds = 0;  ///< the file's own time at 0 seconds of the source
};

/// A native frame: a picture in the format in which its source decoded it, for sinks of the same kind, which
/// know its class.
class NativeFrame {
public:
    virtual ~NativeFrame() = default;

    /// Writes the image that the source would have read; `image` has the same size, 1 frame and 3 channels.
    virtual void to_image(HostView<std::uint8_t> image) const = 0;

    /// Returns the picture with its pixels moved, if the movement is the same for all its planes; else null.
    /// Runs on the threads of `executor`, which must use the CPU backend.
    virtual std::shared_ptr<const NativeFrame> moved(const PixelMove& move, Executor& executor) const = 0;

    /// Returns its planes if to_image() converts them with YuvToImage, else nothing. They are valid as long as
    /// the picture.
    virtual std::optional<HostYuv<const std::uint8_t>> planes() const { return {}; }

    /// Returns a function that writes rows of its image without the whole image in memory, or nothing. Valid as
    /// long as the picture. Calls throw Error{source_lost} if the medium ends unexpectedly.
    virtual MakeRows rows() const { return {}; }
};

/// Properties of a source that are known before its first frame.
struct SourceInfo {
    std::string name;      ///< as the user wrote it, passed through without_credentials()
    Shape shape{};         ///< shape of every frame; frames is 1
    Rational rate{30, 1};  ///< nominal frames per second
    bool live = false;     ///< a camera or the network: frames arrive on their own schedule and are dropped if late
    std::optional<std::int64_t> frames;  ///< total number of frames, if known
    PictureFacts facts{};
    std::optional<MediumFile> medium{};  ///< if it is one video file, played once
    std::optional<int> threshold{};      ///< for a difference stream: the bound of each byte's error
    bool has_native_frames = false;      ///< frames may have native frames
    bool has_rows = false;               ///< native frames may write their images row by row, and are of no other use
};

/// Frames one after another. Used by one thread at a time, except set_adjustment().
class Source {
public:
    virtual ~Source() = default;
    /// Returns the properties of the source; see take_new_size() for the only change of them.
    virtual const SourceInfo& info() const = 0;

    /// Writes the next frame to `image` (info().shape) and fills `time`; returns false at the end or when
    /// stopped. Blocks as long as the source's deadlines allow. Throws Error{source_lost} if the source breaks
    /// before its end; the frames before were complete.
    virtual bool read(HostView<std::uint8_t> image, FrameTime& time) = 0;

    /// The same into a frame of a run. A source whose frames originate on a GPU writes them there
    /// (Frame::fill_on_gpu()) if the frame has a GPU image; others need not override it.
    virtual bool capture(Frame& frame, FrameTime& time) { return read(frame.fill_on_host(), time); }

    /// Returns the native frame of the last frame read, if it has the same contents as the image; else null.
    virtual std::shared_ptr<const NativeFrame> native_frame() const { return nullptr; }

    /// Like read(), but if there is a native_frame() afterwards, the image may be left unchanged: callers
    /// that need it make it from the native frame.
    virtual bool read_own(HostView<std::uint8_t> image, FrameTime& time) { return read(image, time); }

    /// Seeks: the next read returns the first frame at or after `seconds`, the same frame that reading on from
    /// the start would reach. FrameTime::index is its number if known, else computed from time and rate.
    /// Returns false, without moving, if the source cannot seek. Throws what read() throws.
    virtual bool seek(double seconds) { return static_cast<void>(seconds), false; }

    /// If reading ended because pictures of another size follow (SourceOptions::follows_size), switches to that
    /// size: info() describes it, and the next read returns its first frame. Returns false if reading did not
    /// end for that reason.
    virtual bool take_new_size() { return false; }
    /// Returns true if take_new_size() would succeed.
    virtual bool is_at_new_size() const { return false; }

    /// Returns the number of broken packets and pictures so far, whose frames were skipped or concealed.
    virtual std::int64_t damaged() const { return 0; }

    /// Throws Error{source_lost} if the medium proves that frames read so far differ from what was written,
    /// although reading continued.
    virtual void require_whole() const {}

    /// Applies the settings that the source has its own controls for, as a camera does. Returns the settings
    /// with those made neutral. From any thread. Throws Error{usage} if a setting is not allowed, Error{config}
    /// if the source rejects a value for a control that it has.
    virtual Adjustment set_adjustment(const Adjustment& wanted) { return wanted; }
};

/// State of an output at its end.
enum class Ending {
    complete,   ///< everything is there
    broken_off  ///< truncated: what is there is valid, but more should have followed
};

/// Destination of frames. Used by one thread at a time.
class Sink {
public:
    /// Without finish(), the output does not appear under its name; if it is usable as it is, it stays as
    /// NAME.part.
    virtual ~Sink() = default;

    /// Writes one frame of the shape that the sink was opened for. Throws Error{io}.
    virtual void write(HostView<const std::uint8_t> image, const FrameTime& time) = 0;

    /// The same for a native frame, which loses less than a conversion through BGR. Returns false, with nothing
    /// written, if this sink is of another kind; the caller must then write the image.
    virtual bool write_own(const NativeFrame& own, const FrameTime& time) {
        return static_cast<void>(own), static_cast<void>(time), false;
    }

    /// Returns the kind of planes that write() converts images to with ImageToYuv before it continues; nothing
    /// if it does not.
    virtual std::optional<YuvInfo> planes() const { return {}; }
    /// The same as write() for planes that are already converted. For sinks with planes(). Throws Error{io}.
    virtual void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) {
        static_cast<void>(picture), static_cast<void>(time);
        fail(ErrorCode::internal, "a picture of planes for a sink of images");
    }

    /// Completes the output: flushes, closes, and lets a file appear under its name. A truncated output never
    /// replaces a finished file. Throws Error{io}.
    virtual void finish(Ending ending) = 0;
    /// Completes an output that has all its frames.
    void finish() { finish(Ending::complete); }

    /// Returns the bytes written so far, as far as known.
    virtual std::int64_t bytes() const = 0;
};

}  // namespace framewire
