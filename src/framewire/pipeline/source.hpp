#pragma once

#include "framewire/core/frame.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/adjustment.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

/// What is known of a source before its first frame.
struct SourceInfo {
    std::string name;      ///< as the user wrote it, without_credentials()
    Shape shape{};         ///< of every frame; frames is 1
    Rational rate{30, 1};  ///< frames a second, nominal
    bool live = false;     ///< a camera or the network: frames come when they come and are dropped when late
    std::optional<std::int64_t> frames;  ///< how many there will be, where known
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

    /// Goes to another time: the next read gives the first frame at or after `seconds`, the one that reading on from
    /// the start comes to. FrameTime::index is that frame's number where it is known, else what the time and the rate
    /// make it. False where this source cannot, and stays where it is. Throws as read() does.
    virtual bool seek(double seconds) { return static_cast<void>(seconds), false; }

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

    /// Completes the output: flushes, closes, and lets a file appear under its name, but a broken-off one does not take
    /// the place of a finished file. Throws Error{io}.
    virtual void finish(Ending ending) = 0;
    void finish() { finish(Ending::complete); }

    /// Bytes put out so far, as far as known.
    virtual std::int64_t bytes() const = 0;
};

}  // namespace framewire
