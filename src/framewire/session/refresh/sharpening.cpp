#include "framewire/session/refresh/sharpening.hpp"

#include "framewire/core/error.hpp"

namespace framewire::session {

std::optional<double> refresh_seconds_of(std::optional<double> asked, const delta::EncoderParameters& encoder,
                                         bool recorded) {
    if (asked == 0 || encoder.effective_threshold() == 0) return std::nullopt;
    if (asked && recorded)
        fail(ErrorCode::usage,
             "refresh {} of a stream that is recorded, which is not sharpened; refresh 0 or no record "
             "are allowed",
             *asked);
    if (recorded) return std::nullopt;
    return asked.value_or(usual_refresh_seconds);
}

}  // namespace framewire::session
