#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/core/view.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/filters/adjustment.hpp"
#include "framewire/session/live/zones.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace framewire::network {

/// What is in force of a camera, as far as control requests set it.
struct CameraSettings {
    std::string chain{};
    std::vector<bool> filters_on{};  ///< of the chain's
    std::optional<Adjustment> adjustment{};
    std::vector<session::LiveZone> zones{};
    delta::Mode mode = delta::Mode::exact;
    int threshold = 0;

    /// Without the filters that are off, and with the adjustment.
    std::string chain_in_force() const;
    int threshold_in_force() const { return mode == delta::Mode::lossless ? 0 : threshold; }

    friend bool operator==(const CameraSettings&, const CameraSettings&) = default;
};

/// Whether the same frame looks different with them, whatever the threshold; then older states are withdrawn.
bool changes_picture(const CameraSettings& before, const CameraSettings& after);

/// A control request over HTTP.
struct ControlRequest {
    std::string route;        ///< "threshold", "chain" ...
    std::string body;         ///< JSON
    CameraSettings settings;  ///< in force once it is answered
};

/// Random valid requests, the same for the same seed.
class RequestMaker {
public:
    enum class Mix {
        all,    ///< of all kinds, zones anywhere
        zones,  ///< zones, each in one third of the picture, and now and then a threshold or a mode
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

/// The requests that were sent to a camera, and when each was sent and answered. Number 0 is what it began with.
/// Thread-safe.
class RequestLog {
public:
    struct Entry {
        CameraSettings settings;
        Clock::time_point sent{}, answered = Clock::time_point::max();
    };

    explicit RequestLog(const CameraSettings& begin) { entries_.push_back({begin, {}, {}}); }

    /// A request that is sent now; gives its number.
    std::size_t send(const CameraSettings& settings);
    /// The newest request is answered.
    void answer();
    Entry entry(std::size_t number) const;
    std::size_t size() const;

    /// The numbers of those that a frame which was captured then may be made with, ascending: not those replaced by
    /// one that was answered before, nor those sent more than 10 s later, for a server holds no frame so long.
    std::vector<std::size_t> possible(Clock::time_point captured) const;

private:
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace framewire::network
