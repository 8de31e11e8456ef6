#pragma once

#include "framewire/media/media.hpp"
#include "framewire/session/outputs/written.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire::session {

/// An optional sink that is completed only if its contents are usable.
class VideoOutput {
public:
    /// Makes an output that is not wanted.
    VideoOutput() = default;
    /// Opens the sink; not wanted if `path` is empty. Throws as open_sink() does.
    VideoOutput(const std::string& path, const Shape& frame, Rational rate, const SinkOptions& options) {
        if (!path.empty()) sink_ = open_sink(path, frame, rate, options);
    }

    /// Returns true if there is a sink. The functions that write require one.
    bool wanted() const { return sink_ != nullptr; }
    /// Bytes written so far.
    std::int64_t bytes() const { return sink_ ? sink_->bytes() : 0; }

    /// Writes one frame. Throws as Sink::write() does.
    void write(HostView<const std::uint8_t> image, const FrameTime& time) {
        written_.attempt([&] { sink_->write(image, time); });
    }

    /// Writes the source's native frame. Returns false if the sink needs the image instead.
    bool write_own(const OwnPicture& own, const FrameTime& time) {
        bool taken = false;
        written_.attempt([&] { taken = sink_->write_own(own, time); });
        return taken;
    }

    /// Format of planes that the sink takes, see Sink::planes(); empty without a sink.
    std::optional<YuvInfo> planes() const { return sink_ ? sink_->planes() : std::nullopt; }
    /// Writes a frame as planes of that format.
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) {
        written_.attempt([&] { sink_->write_planes(picture, time); });
    }

    /// Completes the sink. A sink that failed has no complete output, and one without frames has none that plays: those
    /// are left as NAME.part.
    void finish(Ending ending) {
        if (written_.whole()) sink_->finish(ending);
    }

private:
    std::unique_ptr<Sink> sink_;
    Written written_;
};

}  // namespace framewire::session
