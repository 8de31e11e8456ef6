#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/service/live_camera.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace framewire::network {

/// Settings of a camera that control requests can change.
struct CameraSettings {
    std::string chain{};
    std::vector<bool> filters_on{};  ///< one per filter of the chain
    std::optional<Adjustment> adjustment{};
    std::vector<service::LiveZone> zones{};
    codec::Mode mode = codec::Mode::exact;
    int threshold = 0;

    /// Returns the chain without the filters that are off, and with the adjustment.
    std::string chain_in_force() const;
    int threshold_in_force() const { return mode == codec::Mode::lossless ? 0 : threshold; }

    friend bool operator==(const CameraSettings&, const CameraSettings&) = default;
};

/// Returns true if a frame looks different with the new settings, whatever the threshold; the server then withdraws
/// older states.
bool changes_picture(const CameraSettings& before, const CameraSettings& after);

/// Control request over HTTP.
struct ControlRequest {
    std::string route;        ///< "threshold", "chain" ...
    std::string body;         ///< request body in JSON
    CameraSettings settings;  ///< settings in force once the request is answered
};

/// Generates random valid requests; the same seed gives the same requests.
class RequestMaker {
public:
    enum class Mix {
        all,    ///< requests of all kinds, with zones anywhere
        zones,  ///< zones, each in one third of the picture, and occasionally a threshold or a mode
    };

    RequestMaker(Mix mix, const Shape& picture, std::uint32_t seed) : mix_(mix), picture_(picture), random_(seed) {}

    ControlRequest next(const CameraSettings& now);

private:
    int between(int from, int to);
    template <class List>
    const auto& any_of(const List& list) {
        return list[static_cast<std::size_t>(between(0, static_cast<int>(list.size()) - 1))];
    }
    ControlRequest threshold(CameraSettings settings);
    ControlRequest mode(CameraSettings settings);
    ControlRequest chain(CameraSettings settings);
    ControlRequest filter(CameraSettings settings);
    ControlRequest adjustment(CameraSettings settings);
    ControlRequest zones(CameraSettings settings);

    Mix mix_;
    Shape picture_;
    std::mt19937 random_;
};

/// Log of the requests sent to a camera, with the times when each was sent and answered. Number 0 is the initial state.
/// Thread-safe.
class RequestLog {
public:
    struct Entry {
        CameraSettings settings;
        Clock::time_point sent{}, answered = Clock::time_point::max();
    };

    explicit RequestLog(const CameraSettings& begin) { entries_.push_back({begin, {}, {}}); }

    /// Records a request that is about to be sent; returns its number.
    std::size_t send(const CameraSettings& settings);
    /// Records that the newest request has been answered.
    void answer();
    Entry entry(std::size_t number) const;
    std::size_t size() const;

    /// Returns, in ascending order, the numbers of the requests whose settings may apply to a frame captured at that
    /// time. Excludes requests that were replaced by one answered earlier, and requests sent more than 10 s later,
    /// because no server holds a frame that long.
    std::vector<std::size_t> possible(Clock::time_point captured) const;

private:
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace framewire::network
