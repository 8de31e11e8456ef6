#include "framewire/session/input/stream_source.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/session/receive/recording_time.hpp"

#include <chrono>
#include <optional>

namespace framewire::session {
namespace {

// the same as in `view`
constexpr std::chrono::seconds default_reconnect{10};

net::ClientOptions client_options(const StreamAccess& access, const SourceOptions& options) {
    net::ClientOptions client;
    client.reconnect = options.reconnect.value_or(default_reconnect);
    client.token = access.token;
    client.fingerprint = access.fingerprint;
    client.max_pixels = options.max_pixels;
    return client;
}

// Adapts a viewer's connection to the interface of sources.
class StreamSource final : public Source {
public:
    StreamSource(const net::StreamAddress& address, const StreamAccess& access, const SourceOptions& options)
        : client_(address, client_options(access, options), options.stop), time_(client_.info().rate) {
        info_.name = to_string(address);
        info_.shape = client_.info().shape;
        info_.rate = client_.info().rate;
        info_.threshold = client_.info().threshold;
        info_.live = true;
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        while (client_.next()) {
            const auto& state = client_.state();
            // a refinement repeats the frame
            if (last_ && net::same_frame(state, *last_)) continue;
            last_ = state;
            copy(client_.picture(), image);
            time = time_.next(state.seconds);
            time.captured = client_.captured().value_or(Clock::now());
            return true;
        }
        return false;
    }

private:
    net::Client client_;
    SourceInfo info_;
    RecordingTime time_;
    std::optional<net::StateHeader> last_;
};

}  // namespace

std::unique_ptr<Source> open_stream_source(const net::StreamAddress& address, const StreamAccess& access,
                                           const SourceOptions& options) {
    return std::make_unique<StreamSource>(address, access, options);
}

}  // namespace framewire::session
