#include "framewire/session/receive/receive.hpp"

#include <nlohmann/json.hpp>

namespace framewire::session {

std::string to_json(const ReceiveResult& result) {
    const auto& [stream, figures, counts, state, threshold, thresholds, ending] = result;
    const auto changed_of =
        static_cast<double>(counts.received.changes) * static_cast<double>(stream.shape.frame_bytes());
    const nlohmann::ordered_json json{
        {"source", stream.source},
        {"size", {{"width", stream.shape.width}, {"height", stream.shape.height}, {"channels", stream.shape.channels}}},
        {"mode", to_string(stream.mode)},
        {"threshold", stream.threshold},
        {"threshold_in_force",
         {{"last", threshold}, {"min", thresholds.min}, {"mean", thresholds.mean}, {"max", thresholds.max}}},
        {"frames", figures.frames},
        {"seconds", figures.seconds},
        {"fps", figures.fps},
        {"raw_bytes", figures.raw_bytes},
        {"received_bytes", counts.bytes},
        {"pictures", counts.received.pictures},
        {"steps", counts.received.changes},
        {"skipped", counts.received.skipped},
        {"changed", changed_of > 0 ? static_cast<double>(counts.received.changed_bytes) / changed_of : 0.0},
        {"version", state.version},
        {"frame", state.frame},
        {"reconnections", counts.reconnections},
    };
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace framewire::session
