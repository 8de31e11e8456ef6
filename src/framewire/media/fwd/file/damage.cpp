// Only the first places of damage are logged, so that a badly damaged file does not fill the log; all damaged frames
// are counted.

#include "framewire/media/fwd/file/damage.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <cstddef>

namespace framewire::fwd {
namespace {

// At most this many positions are logged; a damaged file could otherwise fill the log.
constexpr std::size_t most_lines = 32;
constexpr std::size_t most_places = std::size_t{1} << 20;  // that are remembered

}  // namespace

// True for the first report of an offset, until the log is full.
bool Damage::is_new(std::int64_t offset) {
    if (said_.size() > most_lines) return false;
    return said_.insert(offset).second;
}

// Once too many offsets are remembered, new ones are no longer added and may be counted twice.
void Damage::count_frames(std::int64_t offset, std::int64_t frames) {
    if (counted_.size() < most_places ? counted_.insert(offset).second : !counted_.contains(offset)) frames_ += frames;
}

void Damage::log(const std::string& text) {
    if (first_.empty()) first_ = text;
    if (said_.size() > most_lines)
        log_warning("{}: there is more damage, which is only counted", name_);
    else
        log_warning("{}: {}", name_, text);
}

void Damage::require_none() const {
    if (!any()) return;
    const auto frames = frames_ == 0 ? std::string()
                                     : fmt::format("; {} of the frames read {} lost or not whole", frames_,
                                                   frames_ == 1 ? "is" : "are");
    fail(ErrorCode::source_lost, "{} is damaged: {}{}", name_, first_, frames);
}

}  // namespace framewire::fwd
