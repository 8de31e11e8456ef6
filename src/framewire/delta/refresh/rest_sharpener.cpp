#include "framewire/delta/refresh/rest_sharpener.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace framewire::delta {
namespace {

// The mean is that of so many frames for each time that a block rests, and of no fewer than the least.
constexpr int samples_wanted = 12;
constexpr int least_samples = 4;
// What is further from the mean than this share of the threshold is sent first.
constexpr int near_share = 4;
// Noise changes a byte here and there. One in so many of a part, or of a block where no more is known, is more.
constexpr int noisy_share_of_part = 8, noisy_share_of_block = 64;
// A picture that changes as a whole need not be looked at part by part.
constexpr int new_picture_share = 8;
// What is allowed comes together for a while, so that a step is worth its message, and no longer than another while, so
// that none is large.
constexpr double least_saved_seconds = 0.1, most_saved_seconds = 0.5;
constexpr int message_bytes = 64;
// So many blocks are looked at for a frame: a part of all, but some.
constexpr int block_share_at_once = 16, least_blocks_at_once = 4;
// Until it is known.
constexpr double first_bytes_per_change = 1;
constexpr double news = 0.25;  // how fast it is learnt
constexpr double longest_pause_seconds = 3600;

double allowed_seconds(double seconds) {
    if (!(seconds >= RestSharpener::least_seconds && seconds <= RestSharpener::most_seconds))
        fail(ErrorCode::usage, "blocks that rest for {} seconds; {} to {} are allowed", seconds,
             RestSharpener::least_seconds, RestSharpener::most_seconds);
    return seconds;
}

// The mean, held to within `within` of the camera's byte.
int target_of(std::uint8_t mean, std::uint8_t camera, int within) {
    return std::clamp<int>(mean, camera - within, camera + within);
}

}  // namespace

RestSharpener::RestSharpener(const Shape& shape, double seconds, int threshold)
    : shape_((validate_one_frame(shape, "what is to be sharpened"), shape)),
      grid_(shape),
      seconds_(allowed_seconds(seconds)),
      near_threshold_((validate_packed_threshold(threshold), threshold / near_share)),
      samples_(shape),
      blocks_(static_cast<std::size_t>(grid_.count())),
      part_counts_(static_cast<std::size_t>((shape.width + part_side - 1) / part_side *
                                            ((shape.height + part_side - 1) / part_side))) {
    due_.reserve(blocks_.size());
    chosen_.reserve(blocks_.size());
    bytes_per_change_.fill(first_bytes_per_change);
}

void RestSharpener::begin_anew() { begun_ = false; }

double RestSharpener::bytes_per_second() const {
    return static_cast<double>(shape_.width) * shape_.height * bits_per_pixel_and_second / 8;
}

void RestSharpener::take_step(const ChangesView<MemorySpace::host>& changes) {
    const auto count = changes.summaries[0].count;
    if (count > shape_.frame_bytes() / new_picture_share) return begin_anew();
    std::ranges::fill(part_counts_, std::uint16_t{0});
    const auto row_bytes = shape_.row_bytes(), part_bytes = std::int64_t{part_side} * shape_.channels;
    const int part_columns = (shape_.width + part_side - 1) / part_side;
    std::int64_t part_end = 0;  // of the part's bytes in this row
    std::size_t part = 0;
    Block* block = nullptr;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::int64_t position = changes.positions[i];
        if (position >= part_end) {
            const auto y = position / row_bytes, column = position % row_bytes / part_bytes;
            part_end = std::min((y + 1) * row_bytes, y * row_bytes + (column + 1) * part_bytes);
            part = static_cast<std::size_t>(y / part_side * part_columns + column);
            block = &blocks_[static_cast<std::size_t>(y / block_side * grid_.columns() + column / parts_per_row)];
            block->specked = true;
        }
        if (++part_counts_[part] * noisy_share_of_part > part_side * part_bytes) block->doubtful = true;
    }
}

void RestSharpener::take_step(std::span<const Summary> blocks) {
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        const auto bytes = grid_.place(static_cast<int>(block)).pixels() * shape_.channels;
        const auto count = std::int64_t{blocks[block].count};
        blocks_[block].specked = count > 0;
        blocks_[block].doubtful = count * noisy_share_of_block > bytes;
    }
}

void RestSharpener::move_on(double seconds) {
    const double gap = seconds - frame_at_;
    frame_at_ = seconds;
    if (!std::exchange(begun_, true)) {
        for (int block = 0; block < grid_.count(); ++block) begin_anew(block);
        return;
    }
    if (!(gap > 0 && gap <= longest_pause_seconds)) return;
    frame_seconds_ = gap;
    now_ += gap;
    const double most = std::max(most_saved_seconds, gap) * bytes_per_second();
    const std::lock_guard lock(mutex_);
    allowance_bytes_ = std::min(allowance_bytes_ + gap * bytes_per_second(), most);
}

void RestSharpener::begin_anew(int block) {
    blocks_[static_cast<std::size_t>(block)] = {now_};
    samples_.clear(block);
}

// Whether more than noise is further from the mean so far than the threshold. Before there is one, who knows.
bool RestSharpener::moves(int block, HostView<const std::uint8_t> camera, int within) const {
    if (samples_.count(block) == 0) return true;
    const auto place = grid_.place(block);
    const int part_bytes = part_side * shape_.channels, bytes = place.width * shape_.channels;
    std::array<std::uint8_t, std::size_t{block_side} * 3> means;
    std::array<int, parts_per_row> counts{};
    for (int row = 0; row < place.height; ++row) {
        if (row % part_side == 0) counts.fill(0);
        const auto* now = camera.row(0, place.y + row) + std::int64_t{place.x} * shape_.channels;
        samples_.mean(block, row, means.data());
        for (int i = 0; i < bytes; ++i)
            counts[static_cast<std::size_t>(i / part_bytes)] +=
                std::abs(now[i] - means[static_cast<std::size_t>(i)]) > within;
        if (std::ranges::max(counts) * noisy_share_of_part > part_side * part_bytes) return true;
    }
    return false;
}

// Blocks take samples in turns, so that frames cost about the same. The turns are odd in number: every other frame may
// be brighter.
void RestSharpener::look(HostView<const std::uint8_t> camera, int within) {
    const double frames = frame_seconds_ > 0 ? seconds_ / samples_wanted / frame_seconds_ : 1;
    const auto turns = 1 + 2 * std::llround(std::clamp((frames - 1) / 2, 0.0, 1e6));
    ++turn_;
    for (int number = 0; number < grid_.count(); ++number) {
        auto& block = blocks_[static_cast<std::size_t>(number)];
        const bool specked = std::exchange(block.specked, false);
        if (std::exchange(block.doubtful, false) && moves(number, camera, within)) begin_anew(number);
        if (specked && block.level == Level::mean) {
            block = {now_, Level::specked};
            samples_.condense(number);
        }
        if (block.level != Level::mean && (number + turn_) % turns == 0) samples_.add(number, camera);
    }
}

bool RestSharpener::is_due(int number, bool finely) const {
    const auto& block = blocks_[static_cast<std::size_t>(number)];
    if (block.level == Level::mean || (block.level == Level::near) != finely) return false;
    return samples_.count(number) >= least_samples && now_ - block.since >= (finely ? 2 : 1) * seconds_;
}

// Calls body(position, held, target, camera) for the bytes of a row of a block that are further than `threshold` from
// what they are to become.
template <class Held, class Body>
void RestSharpener::for_each_off(int block, int row, HostView<const std::uint8_t> camera, HostView<Held> reference,
                                 int within, int threshold, Body&& body) const {
    const auto place = grid_.place(block);
    const auto from = std::int64_t{place.x} * shape_.channels;
    const auto* now = camera.row(0, place.y + row) + from;
    auto* held = reference.row(0, place.y + row) + from;
    const auto position = (place.y + row) * shape_.row_bytes() + from;
    std::array<std::uint8_t, std::size_t{block_side} * 3> means;
    samples_.mean(block, row, means.data());
    for (int i = 0; i < place.width * shape_.channels; ++i) {
        const int target = target_of(means[static_cast<std::size_t>(i)], now[i], within);
        if (std::abs(target - held[i]) > threshold) body(position + i, held[i], target, now[i]);
    }
}

// Those due are looked at from the one that rests longest on; they are chosen as long as there is room.
void RestSharpener::choose(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                           const Moment& moment, bool finely, double allowance, double room, SharperStep& step) {
    step.threshold = finely ? 0 : near_threshold_;
    step.expected_bytes = message_bytes;
    const auto most = static_cast<std::size_t>(std::max(least_blocks_at_once, grid_.count() / block_share_at_once));
    const auto looked_at = due_.begin() + static_cast<std::ptrdiff_t>(std::min(most, due_.size()));
    const auto since = [&](int block) { return blocks_[static_cast<std::size_t>(block)].since; };
    std::ranges::partial_sort(due_, looked_at, {}, [&](int block) { return std::pair(since(block), block); });
    for (auto at = due_.begin(); at != looked_at; ++at) {
        std::int64_t off = 0;
        for (int row = 0; row < grid_.place(*at).height; ++row)
            for_each_off(*at, row, camera, reference, moment.within, step.threshold, [&](auto&&...) { ++off; });
        const double expected = step.expected_bytes + static_cast<double>(off) * bytes_per_change_now(finely);
        if (off == 0) {
            settle(*at);
        } else if (expected > room) {
            blocks_[static_cast<std::size_t>(*at)].since = now_;  // others may fit
        } else if (!chosen_.empty() && expected > allowance) {
            return;
        } else {
            chosen_.push_back(*at);
            step.expected_bytes = expected;
        }
    }
}

// In raster order: row by row of all blocks that lie side by side.
void RestSharpener::write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within,
                          Summary& errors, SharperStep& step) {
    const auto changes = step.changes.view();
    auto& count = changes.summaries[0].count;
    std::ranges::sort(chosen_);
    for (auto begin = chosen_.begin(); begin != chosen_.end();) {
        const int block_row = *begin / grid_.columns();
        const auto end =
            std::find_if(begin, chosen_.end(), [&](int block) { return block / grid_.columns() != block_row; });
        for (int row = 0; row < grid_.place(*begin).height; ++row)
            for (auto block = begin; block != end; ++block)
                for_each_off(*block, row, camera, reference, within, step.threshold,
                             [&](std::int64_t position, std::uint8_t& held, int target, std::uint8_t now) {
                                 const int before = now - held, after = now - target;
                                 changes.positions[count] = static_cast<std::uint32_t>(position);
                                 changes.differences[count] = static_cast<std::uint8_t>(target - held);
                                 ++count;
                                 held = static_cast<std::uint8_t>(target);
                                 errors.max_error =
                                     std::max(errors.max_error, static_cast<std::uint32_t>(std::abs(after)));
                                 errors.squared_error += static_cast<std::uint64_t>(after * after);
                                 errors.squared_error -= static_cast<std::uint64_t>(before * before);
                             });
        begin = end;
    }
    for (const int block : chosen_) settle(block);
}

void RestSharpener::settle(int number) {
    auto& block = blocks_[static_cast<std::size_t>(number)];
    block.level = block.level == Level::none ? Level::near : Level::mean;
}

double RestSharpener::bytes_per_change_now(bool finely) {
    const std::lock_guard lock(mutex_);
    return bytes_per_change_[finely];
}

void RestSharpener::sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                            Summary& errors, SharperStep& step) {
    validate(camera, shape_, "the frame that R is sharpened by");
    validate(reference, shape_, "the picture to sharpen");
    step.clear();
    move_on(moment.seconds);
    look(camera, moment.within);
    double allowance = 0, room = 0;
    {
        const std::lock_guard lock(mutex_);
        allowance = allowance_bytes_;
        room = moment.room_bytes - under_way_bytes_;
    }
    if (allowance < bytes_per_second() * least_saved_seconds || room <= 0) return;
    for (const bool finely : {false, true}) {
        due_.clear();
        chosen_.clear();
        for (int block = 0; block < grid_.count(); ++block)
            if (is_due(block, finely)) due_.push_back(block);
        if (due_.empty()) continue;
        choose(camera, reference, moment, finely, allowance, room, step);
        if (chosen_.empty()) return;
        write(camera, reference, moment.within, errors, step);
        const std::lock_guard lock(mutex_);
        allowance_bytes_ -= step.expected_bytes;
        under_way_bytes_ += step.expected_bytes;
        return;
    }
}

void RestSharpener::took(const SharperStep& step, std::int64_t bytes) {
    const auto now = static_cast<double>(bytes);
    const std::lock_guard lock(mutex_);
    under_way_bytes_ -= step.expected_bytes;
    allowance_bytes_ += step.expected_bytes - now;
    auto& per_change = bytes_per_change_[step.threshold == 0];
    per_change += news * ((now - message_bytes) / step.count() - per_change);
}

}  // namespace framewire::delta
