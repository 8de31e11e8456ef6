#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/filters/fps/fps.hpp"
#include "framewire/pipeline/source.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

namespace framewire::session {

/// Converts a source's frames to another rate by repeating and skipping them, as FFmpeg's filter `fps` does
/// (FpsSchedule). Reads one frame ahead, because the next frame's time decides how long the current one lasts. For one
/// thread.
class FrameResampler {
public:
    /// A frame of the source.
    struct Picture {
        HostImage image;
        FrameTime time{};
        /// Native frame instead of the image.
        std::shared_ptr<const OwnPicture> own{};
        /// See InputFrame.
        bool signal = true;
    };

    /// Reads the source's next frame. Returns false at its end.
    using Read = std::function<bool(Picture& picture)>;

    /// `own` is the source's nominal rate; it is the duration of a last frame that has none of its own. If
    /// `everything`, capture() also returns the frames that the new rate skips.
    FrameResampler(const Shape& shape, Rational own, Rational wanted, bool everything, Read read);

    /// Description of a captured frame.
    struct Given {
        /// Number of the source's frame.
        std::int64_t reading = 0;
        /// False if the new rate skips this frame.
        bool at_rate = true;
        /// See InputFrame.
        bool signal = true;
        /// Native frame instead of the image.
        std::shared_ptr<const OwnPicture> own{};
    };
    /// Returns the next frame with its time and number at the new rate; false at the end. If reading throws, the frames
    /// before are returned first, then the exception is thrown.
    bool capture(HostView<std::uint8_t> image, FrameTime& time, Given& given);

    /// Resets the schedule after a seek of the source.
    void begin_anew();

    /// The new rate.
    const Rational& rate() const { return schedule_.rate(); }

private:
    // Reads into `next_`; keeps an exception for later. Returns has_next_.
    bool read_next();
    bool go_on();

    FpsSchedule schedule_;
    Rational own_rate_;
    bool everything_;
    Read read_;
    Picture current_, next_;
    bool has_next_ = false, began_ = false;
    // For current_: its number, how many more times it is returned, and whether it was returned at all.
    std::int64_t reading_ = 0, left_ = 0;
    bool given_ = true;
    std::exception_ptr failure_;
};

}  // namespace framewire::session
