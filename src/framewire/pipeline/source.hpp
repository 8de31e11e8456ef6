#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_picture.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/adjustment.hpp"
#include "framewire/filters/geometry/pixel_move.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// What a medium says of its pictures beside their size.
struct PictureFacts {
    std::optional<YuvCoding> coding{};         ///< where they are YUV
    std::optional<ChromaSampling> sampling{};  ///< likewise, where framewire::colour has it
    ChromaSiting siting{};                     ///< of such
    std::optional<int> primaries{};            ///< code points of ITU-T H.273, where it says them
    std::optional<int> transfer{};             ///< likewise
    Rational pixel_aspect{1, 1};               ///< a pixel's width over its height, as the picture is seen
};

/// The file of a video, for what else it holds beside pictures.
struct MediumFile {
    std::string path;
    double begin_seconds = 0;  ///< its own time of what is 0 seconds of the source
};

/// A frame's picture as its medium has it, for sinks of like form: those who know each other's classes.
class OwnPicture {
public:
    virtual ~OwnPicture() = default;

    /// Makes the image of it that the source would have read. Of its size, 1 frame of 3 channels.
    virtual void to_image(HostView<std::uint8_t> image) const = 0;

    /// The picture with its pixels at other places, where that comes to the same for all its planes; else null. On the
    /// threads of `executor`, which is of the CPU backend.
    virtual std::shared_ptr<const OwnPicture> moved(const PixelMove& move, Executor& executor) const = 0;

    /// Its planes, of which to_image() makes its image by YuvToImage; nothing where it makes it otherwise. They live as
    /// long as the picture.
    virtual std::optional<HostYuv<const std::uint8_t>> planes() const { return {}; }

    /// What makes rows of its image, where the image need not be in memory as a whole for that; else nothing. It lives
    /// as long as the picture. Throws Error{source_lost} when the medium breaks off meanwhile.
    virtual MakeRows rows() const { return {}; }
};

/// What is known of a source before its first frame.
struct SourceInfo {
    std::string name;      ///< as the user wrote it, without_credentials()
    Shape shape{};         ///< of every frame; frames is 1
    Rational rate{30, 1};  ///< frames a second, nominal
    bool live = false;     ///< a camera or the network: frames come when they come and are dropped when late
    std::optional<std::int64_t> frames;  ///< how many there will be, where known
    PictureFacts facts{};
    std::optional<MediumFile> medium{};  ///< where it is one file of video, played once
    std::optional<int> threshold{};      ///< of a difference stream: no byte is further from what was encoded
    bool has_own_pictures = false;       ///< frames may have pictures of the medium's own
    bool has_rows = false;               ///< such pictures may make their images row by row, and are of use for no more
};

/// Frames one after the other. Used by one thread at a time, but for set_adjustment().
class Source {
public:
    virtual ~Source() = default;
    virtual const SourceInfo& info() const = 0;

    /// Writes the next frame to `image` (info().shape) and fills `time`; false at the end or when told to stop.
    /// Blocks as long as the source's deadlines allow. Throws Error{source_lost} when the source breaks before its
    /// end; the frames before were whole.
    virtual bool read(HostView<std::uint8_t> image, FrameTime& time) = 0;

    /// The same into a run's frame. A source whose frames come into being on a GPU writes them there
    /// (Frame::fill_on_gpu()) where the frame has one; others need not know of it.
    virtual bool capture(Frame& frame, FrameTime& time) { return read(frame.fill_on_host(), time); }

    /// The medium's picture of the frame read last, where it is the same but for its form; else null.
    virtual std::shared_ptr<const OwnPicture> own_picture() const { return nullptr; }

    /// As read(), but where there is an own_picture() of the frame then, the image may stay as it was: who wants it
    /// makes it of that one.
    virtual bool read_own(HostView<std::uint8_t> image, FrameTime& time) { return read(image, time); }

    /// Goes to another time: the next read gives the first frame at or after `seconds`, the one that reading on from
    /// the start comes to. FrameTime::index is that frame's number where it is known, else what the time and the rate
    /// make it. False where this source cannot, and stays where it is. Throws as read() does.
    virtual bool seek(double seconds) { return static_cast<void>(seconds), false; }

    /// Where reading ended before pictures of another size (SourceOptions::follows_size): takes that on. info() is of
    /// it then, and the next read gives its first frame. False where it did not end so.
    virtual bool take_new_size() { return false; }
    /// Whether it would.
    virtual bool is_at_new_size() const { return false; }

    /// Broken packets and pictures so far, for which frames were left out or patched up.
    virtual std::int64_t damaged() const { return 0; }

    /// Throws Error{source_lost} where the medium proves that frames read so far are not what was written, and was read
    /// on all the same.
    virtual void require_whole() const {}

    /// Takes over what the source itself can of the settings, as a camera does that has controls for them; gives the
    /// settings with those changing nothing any more. From any thread. Throws Error{usage} on a setting that is not
    /// allowed, Error{config} when the source does not take one it has.
    virtual Adjustment set_adjustment(const Adjustment& wanted) { return wanted; }
};

/// How an output comes to its end.
enum class Ending {
    complete,   ///< all that was to come is there
    broken_off  ///< what is there is whole, but more was to come
};

/// Where frames go. Used by one thread at a time.
class Sink {
public:
    /// Without finish() before it, what was written does not appear under its name; where it is of use as it is, it
    /// stays beside it as NAME.part.
    virtual ~Sink() = default;

    /// Takes one frame of the shape the sink was opened for. Throws Error{io}.
    virtual void write(HostView<const std::uint8_t> image, const FrameTime& time) = 0;

    /// The same as the medium's own picture, which loses less than a way over BGR. False where this sink is not of like
    /// form, and nothing was written: then it wants the image.
    virtual bool write_own(const OwnPicture& own, const FrameTime& time) {
        return static_cast<void>(own), static_cast<void>(time), false;
    }

    /// The pictures of planes that write() makes of images by ImageToYuv, and goes on with; nothing where it does
    /// otherwise.
    virtual std::optional<YuvInfo> planes() const { return {}; }
    /// The same as write() with the image that such planes would be made of. Of a sink that has planes(). Throws
    /// Error{io}.
    virtual void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) {
        static_cast<void>(picture), static_cast<void>(time);
        fail(ErrorCode::internal, "a picture of planes for a sink of images");
    }

    /// Completes the output: flushes, closes, and lets a file appear under its name, but a broken-off one does not take
    /// the place of a finished file. Throws Error{io}.
    virtual void finish(Ending ending) = 0;
    void finish() { finish(Ending::complete); }

    /// Bytes put out so far, as far as known.
    virtual std::int64_t bytes() const = 0;
};

}  // namespace framewire
