#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/geometry.hpp"
#include "framewire/plan/device_picture.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/work_picture.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// Properties of a medium's pictures other than their size.
struct PictureFacts {
    std::optional<YuvCoding> coding{};  ///< colour coding; empty unless the pictures are YUV
    std::optional<YuvFormat> format{};  ///< format of the planes; empty unless framewire::colour supports it
    ChromaSiting siting{};              ///< siting of the chroma samples
    std::optional<int> primaries{};     ///< code point of ITU-T H.273, if the medium states it
    std::optional<int> transfer{};      ///< code point of ITU-T H.273, if the medium states it
    Rational pixel_aspect{1, 1};        ///< pixel aspect ratio (width / height) as displayed
};

/// File of a video, from which contents other than pictures can be copied.
struct MediumFile {
    std::string path;
    double begin_seconds = 0;  ///< the file's timestamp at 0 seconds of the source
};

/// A native frame: a picture in the format in which its source decoded it. Sinks of the same kind know its class.
class NativeFrame {
public:
    virtual ~NativeFrame() = default;

    /// Writes the image that the source would have returned. `image` has the same size, 1 frame and 3 channels.
    virtual void to_image(HostView<std::uint8_t> image) const = 0;

    /// Returns the planes if to_image() converts them with YuvToImage; otherwise empty. Valid as long as the picture.
    virtual std::optional<HostYuv<const std::uint8_t>> planes() const { return {}; }

    /// Returns the planes in GPU memory if the source decoded them there. The functions above then download them first,
    /// on the calling thread.
    virtual std::optional<PictureOnGpu> on_gpu() const { return {}; }
    /// Writes the image that to_image() would write to the frame's image on the GPU, without the host. Returns false if
    /// the picture is in host memory or the frame has no image on the GPU.
    virtual bool fill_on_gpu(Frame& frame) const { return static_cast<void>(frame), false; }
};

/// Properties of a source that are known before its first frame.
struct SourceInfo {
    std::string name;      ///< source as given by the user, without credentials
    Shape shape{};         ///< shape of every frame; frames is 1
    Rational rate{30, 1};  ///< nominal frames per second
    bool live = false;     ///< true for a camera or the network, whose frames are dropped if they are late
    std::optional<std::int64_t> frames;  ///< total number of frames, if known
    PictureFacts facts{};
    std::optional<MediumFile> medium{};  ///< the file, if the source is a single video file that is played once
    std::optional<int> threshold{};      ///< bound of each byte's error, if the source is a difference stream
    bool has_native_frames = false;      ///< true if frames may have native frames
};

/// Returns the format of a source's frames: planes if its native frames have such, and otherwise images.
inline FrameFormat format_of(const SourceInfo& source) {
    const auto& facts = source.facts;
    if (!source.has_native_frames || !facts.format || !facts.coding || source.shape.channels != 3)
        return FrameFormat(source.shape);
    return FrameFormat(YuvInfo{*facts.format, *facts.coding, facts.siting, 1, source.shape.height, source.shape.width});
}

/// Source of consecutive frames. Used by one thread at a time, except set_adjustment().
class Source {
public:
    virtual ~Source() = default;
    /// Returns the properties of the source. Only take_new_size() changes them.
    virtual const SourceInfo& info() const = 0;

    /// Writes the next frame to `image` (info().shape) and sets `time`. Returns false at the end or after a stop
    /// request. Blocks as long as the source's deadlines allow. Throws Error{source_lost} if the source breaks before
    /// its end; the frames before that are complete.
    virtual bool read(HostView<std::uint8_t> image, FrameTime& time) = 0;

    /// Reads the next frame of a run into `frame`. A source whose frames originate on a GPU writes them there
    /// (Frame::fill_on_gpu()) if the frame has a GPU image; other sources need not override it.
    virtual bool capture(Frame& frame, FrameTime& time) { return read(frame.fill_on_host(), time); }

    /// Returns the native frame of the frame that was read last if it has the same contents as the image; else null.
    virtual std::shared_ptr<const NativeFrame> native_frame() const { return nullptr; }

    /// Reads the next frame as read() does, but may leave the image unchanged if there is a native_frame() afterwards.
    /// Callers that need the image then make it from the native frame.
    virtual bool read_own(HostView<std::uint8_t> image, FrameTime& time) { return read(image, time); }

    /// Seeks: the next read returns the first frame at or after `seconds`, the same one that reading from the start
    /// would return. FrameTime::index is the frame's number if known, else computed from time and rate. Returns false
    /// and does not move if the source cannot seek. Throws what read() throws.
    virtual bool seek(double seconds) { return static_cast<void>(seconds), false; }

    /// Switches to the new frame size if reading ended because pictures of another size follow
    /// (SourceOptions::follows_size): info() then describes that size, and the next read returns its first frame.
    /// Returns false if reading did not end for that reason.
    virtual bool take_new_size() { return false; }
    /// Returns true if take_new_size() would succeed.
    virtual bool is_at_new_size() const { return false; }

    /// Returns how many broken packets and pictures there were so far; their frames were skipped or concealed.
    virtual std::int64_t damaged() const { return 0; }

    /// Throws Error{source_lost} if the medium proves that frames read so far differ from those that were written,
    /// although reading continued.
    virtual void require_whole() const {}

    /// Applies the settings for which the source has its own controls, as a camera does. Returns `wanted` with the
    /// applied settings made neutral. Throws Error{usage} if a setting is not allowed, Error{config} if the source
    /// rejects a value for one of its controls. Callable from any thread.
    virtual Adjustment set_adjustment(const Adjustment& wanted) { return wanted; }
};

/// How an output ended.
enum class Ending {
    complete,   ///< everything was written
    broken_off  ///< truncated: the contents are valid, but more should have followed
};

/// Destination of frames. Used by one thread at a time.
class Sink {
public:
    /// Closes the output. Without finish(), it does not get its final name; if it is usable, it remains as NAME.part.
    virtual ~Sink() = default;

    /// Writes one frame, whose shape must be that for which the sink was opened. Throws Error{io}.
    virtual void write(HostView<const std::uint8_t> image, const FrameTime& time) = 0;

    /// Writes a native frame, which loses less than a conversion through BGR. Returns false and writes nothing if the
    /// sink cannot take it; the caller must then write the image.
    virtual bool write_own(const NativeFrame& own, const FrameTime& time) {
        return static_cast<void>(own), static_cast<void>(time), false;
    }

    /// Returns the format of planes to which write() converts images with ImageToYuv; empty if it does not convert
    /// them.
    virtual std::optional<YuvInfo> planes() const { return {}; }
    /// Writes planes that are already converted. Requires planes(). Throws Error{io}.
    virtual void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) {
        static_cast<void>(picture), static_cast<void>(time);
        fail(ErrorCode::internal, "a sink for images got a picture in planes");
    }

    /// Completes the output: flushes and closes it, and gives a file its final name. A truncated output never replaces
    /// a finished file. Throws Error{io}.
    virtual void finish(Ending ending) = 0;
    /// Completes an output that has all its frames.
    void finish() { finish(Ending::complete); }

    /// Returns the number of bytes written so far, as far as it is known.
    virtual std::int64_t bytes() const = 0;
};

}  // namespace framewire
