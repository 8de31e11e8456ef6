#pragma once

#include "framewire/media/media.hpp"
#include "framewire/session/outputs/written.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire::session {

/// A sink that is there where one is asked for, and completed only when what it has is worth it.
class VideoOutput {
public:
    /// No sink at all.
    VideoOutput() = default;
    /// No sink where `path` is empty. Throws as open_sink() does.
    VideoOutput(const std::string& path, const Shape& frame, Rational rate, const SinkOptions& options) {
        if (!path.empty()) sink_ = open_sink(path, frame, rate, options);
    }

    bool wanted() const { return sink_ != nullptr; }
    /// Put out so far.
    std::int64_t bytes() const { return sink_ ? sink_->bytes() : 0; }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) {
        written_.attempt([&] { sink_->write(image, time); });
    }

    /// The source's picture of a frame. False where the sink wants the image.
    bool write_own(const OwnPicture& own, const FrameTime& time) {
        bool taken = false;
        written_.attempt([&] { taken = sink_->write_own(own, time); });
        return taken;
    }

    /// See Sink. None without a sink.
    std::optional<YuvInfo> planes() const { return sink_ ? sink_->planes() : std::nullopt; }
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) {
        written_.attempt([&] { sink_->write_planes(picture, time); });
    }

    /// A sink that failed has no whole output, and one without frames none that plays: those are left as they are,
    /// beside their names.
    void finish(Ending ending) {
        if (written_.whole()) sink_->finish(ending);
    }

private:
    std::unique_ptr<Sink> sink_;
    Written written_;
};

}  // namespace framewire::session
