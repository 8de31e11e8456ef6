#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/refresh/rest_formulas.hpp"
#include "framewire/delta/refresh/sharper_step.hpp"

#include <array>
#include <cstdint>
#include <mutex>

namespace framewire::delta {

/// Schedule and byte budget of refinement: everything that RestSharpener decides without looking at pictures. One
/// thread may call next() while another one calls took().
class RestBudget {
public:
    /// Arguments as for RestSharpener. Throws Error{usage} if they are invalid.
    RestBudget(const Shape& shape, double seconds, int threshold);

    /// Makes all cells start over with the next frame.
    void begin_anew() { anew_ = true; }
    /// Returns the parameters for the frame at `seconds`, whose threshold is `within`. `room_bytes` may be sent besides
    /// it; `stream_bytes` is what the stream has taken so far.
    RestTurn next(double seconds, int within, double room_bytes, double stream_bytes);
    /// Reports that a refinement that was not empty took `bytes` bytes when packed. Thread-safe.
    void took(const SharperStep& step, std::int64_t bytes);

private:
    double earned(double gap, double stream_bytes);

    double bytes_per_second_, least_bytes_per_second_;
    double seconds_;
    std::array<int, rest_stages> thresholds_;
    int cells_;

    bool begun_ = false, anew_ = true;
    double frame_at_ = 0, frame_seconds_ = 0;
    std::int64_t now_ = 0;  // time of the frames in nanoseconds, without implausible gaps
    std::int64_t turn_ = 0;
    double stream_bytes_ = 0;  // as reported last
    double saved_bytes_ = 0;   // share of the stream's bytes that was not spent yet

    std::mutex mutex_;  // guards the members below
    std::int64_t correction_ = 0, done_ = 0;
    std::array<double, rest_stages> parts_per_change_;
};

}  // namespace framewire::delta
