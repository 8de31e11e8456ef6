#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/net/session/metrics.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/live/parts/live_recording_state.hpp"
#include "framewire/session/live/zones.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace framewire::session {

/// How a camera stands.
struct LiveCameraState {
    std::string name;
    std::string source;           ///< for people to read, without passwords
    bool up = false;              ///< frames come; else it is lost, or not there yet
    std::int64_t reconnects = 0;  ///< how often it was lost and came back
    bool may_be_set = false;
    Shape source_shape{}, shape{};  ///< of frames as captured, and as filtered
    double rate = 0;                ///< frames per second, nominal
    std::string chain{};            ///< as text, with the filters that are switched off
    Controls controls{};
    std::vector<LiveZone> zones{};
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0, threshold_max = 0;  ///< asked for, and the greatest that a rate may bring in force
    bool detects = false;
    std::optional<LiveRecordingState> recording{};  ///< none: nothing is recorded
    std::string command{};                          ///< the command line that serves it so
};

/// A camera while it is served, for whoever asks and orders from outside: the page, the API. From any thread. Orders
/// throw Error{usage} that says what is allowed, and Error{config} where the camera or the server does not take such.
class LiveCamera {
public:
    virtual ~LiveCamera() = default;

    virtual const std::string& name() const = 0;
    virtual LiveCameraState state() const = 0;
    virtual StatisticsSnapshot figures() const = 0;
    virtual net::StreamMetrics viewers() const = 0;
    /// R now, what viewers see: 1 x height x width x channels; none where there was no frame yet. `version` grows with
    /// each new one.
    struct Picture {
        HostImage image;
        std::uint64_t version = 0;
    };
    virtual std::optional<Picture> picture() const = 0;
    /// Of the newest picture, 0 before the first; cheap.
    virtual std::uint64_t picture_version() const = 0;

    /// The oldest version that may still be shown to anybody: a request that was answered withdrew those before. 0:
    /// any.
    virtual std::uint64_t oldest_picture_version() const { return 0; }

    /// Another chain from the next frame on. Viewers stay where its pictures are of the size of before; else they are
    /// cut off, to come back.
    virtual void set_chain(const std::string& text) = 0;
    virtual void control(const ControlOrder& order) = 0;
    /// The same, of an order that `make` derives from the adjustment then: it may change a part of that, while others
    /// are changed at the same time.
    virtual void control_by(const std::function<ControlOrder(const Adjustment& now)>& make) {
        control(make(state().controls.adjustment));
    }
    /// From the next frame on. Another mode, and a threshold that viewers were not told of as the greatest, cut them
    /// off, to come back. None: as it is.
    virtual void set_threshold(std::optional<int> threshold, std::optional<delta::Mode> mode) = 0;
    virtual void set_zones(const std::vector<LiveZone>& zones) = 0;
    /// Records what viewers get into a new .fwd file of the server's folder for that, and gives its name; or ends that.
    virtual std::string start_recording() = 0;
    virtual void stop_recording() = 0;
    /// Writes R as a PNG into that folder and gives its name.
    virtual std::string save_snapshot() = 0;
};

}  // namespace framewire::session
