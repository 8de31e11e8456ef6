#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/refresh/rest_formulas.hpp"
#include "framewire/delta/refresh/sharper_step.hpp"

#include <array>
#include <cstdint>
#include <mutex>

namespace framewire::delta {

/// The clock of what rests, and what steps may take: all that a RestSharpener decides without a look at pictures. One
/// thread takes turns, another may tell what steps took.
class RestBudget {
public:
    /// As RestSharpener.
    RestBudget(const Shape& shape, double seconds, int threshold);

    /// With the next turn.
    void begin_anew() { anew_ = true; }
    /// The turn of a frame at `seconds`, held to `within`, beside which so many bytes may be sent, of a stream that
    /// took `stream_bytes` so far.
    RestTurn next(double seconds, int within, double room_bytes, double stream_bytes);
    /// What a step that is not empty took.
    void took(const SharperStep& step, std::int64_t bytes);

private:
    double earned(double gap, double stream_bytes);

    double bytes_per_second_, least_bytes_per_second_;
    double seconds_;
    std::array<int, rest_stages> thresholds_;
    int cells_;

    bool begun_ = false, anew_ = true;
    double frame_at_ = 0, frame_seconds_ = 0;
    std::int64_t now_ = 0;  // the frames' time without leaps
    std::int64_t turn_ = 0;
    double stream_bytes_ = 0;  // known so far
    double saved_bytes_ = 0;   // of the share of them, not allowed yet

    std::mutex mutex_;  // guards what follows
    std::int64_t correction_ = 0, done_ = 0;
    std::array<double, rest_stages> parts_per_change_;
};

}  // namespace framewire::delta
