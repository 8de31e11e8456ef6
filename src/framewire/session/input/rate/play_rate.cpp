#include "framewire/session/input/rate/play_rate.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"

namespace framewire::session {

PlayRate take_rate(const std::string& text, std::string_view allowed, InputOptions& options) {
    if (text == "auto" && allowed.starts_with(text)) return PlayRate::by_output;
    if (text == "own") return PlayRate::own;
    if (text == "max" && allowed.find(text) != allowed.npos) return PlayRate::max;
    auto& fps = options.fps;
    if (read_number(text, fps) != std::errc{} || !(fps >= 0.01 && fps <= 10'000))
        fail(ErrorCode::usage, "--rate '{}' is not allowed; allowed are {} and 0.01 to 10000 frames a second", text,
             allowed);
    return PlayRate::by_output;
}

}  // namespace framewire::session
