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

/// A source's frames at another rate. Looks one frame ahead.
class FrameResampler {
public:
    struct Picture {
        HostImage image;
        FrameTime time{};
        std::shared_ptr<const OwnPicture> own{};  ///< in place of the image
        bool signal = true;                       ///< see InputFrame
    };

    /// Reads the source's next frame; false at its end.
    using Read = std::function<bool(Picture& picture)>;

    /// `own` is the source's nominal rate, `everything` whether frames are wanted that are left out at the new rate.
    FrameResampler(const Shape& shape, Rational own, Rational wanted, bool everything, Read read);

    struct Given {
        std::int64_t reading = 0;                 ///< which of the frames read it is
        bool at_rate = true;                      ///< else it is one that is left out
        bool signal = true;                       ///< see InputFrame
        std::shared_ptr<const OwnPicture> own{};  ///< in place of the image
    };
    /// The next frame with its time and number at the new rate; false at the end. Throws what reading throws, after the
    /// frames before.
    bool capture(HostView<std::uint8_t> image, FrameTime& time, Given& given);

    /// After a seek of the source.
    void begin_anew();

    const Rational& rate() const { return schedule_.rate(); }

private:
    bool read_next();
    bool go_on();

    FpsSchedule schedule_;
    Rational own_rate_;
    bool everything_;
    Read read_;
    Picture current_, next_;
    bool has_next_ = false, began_ = false;
    // Of current_: its number, how often it is still there, and whether it was given.
    std::int64_t reading_ = 0, left_ = 0;
    bool given_ = true;
    std::exception_ptr failure_;
};

}  // namespace framewire::session
