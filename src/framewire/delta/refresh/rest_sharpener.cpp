#include "framewire/delta/refresh/rest_sharpener.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace framewire::delta {
namespace {

// The mean is that of so many frames for each time that a cell rests, and of no fewer than the least.
constexpr int samples_wanted = 12;
constexpr int least_samples = 4;
// Noise changes a byte here and there. One in so many of a cell, or of a block where no more is known, is more.
constexpr int noisy_share_of_cell = 16, noisy_share_of_block = 64;
// A picture that changes as a whole need not be looked at cell by cell.
constexpr int new_picture_share = 8;
// What is allowed comes together for a while, so that a step is worth its message, and no longer than another while, so
// that none is large.
constexpr double least_saved_seconds = 0.1, most_saved_seconds = 0.5;
constexpr int message_bytes = 64;
// Looking at all cells takes so much of the time that they rest.
constexpr double looking_share = 0.5;
// Cells that began to rest in the same such time are sent block by block, which takes less.
constexpr double together_seconds = 0.25;
// Until it is known.
constexpr double first_bytes_per_change = 1;
constexpr double news = 0.25;  // how fast it is learnt
constexpr double longest_pause_seconds = 3600;

double allowed_seconds(double seconds) {
    if (!(seconds >= RestSharpener::least_seconds && seconds <= RestSharpener::most_seconds))
        fail(ErrorCode::usage, "what rests for {} seconds; {} to {} are allowed", seconds, RestSharpener::least_seconds,
             RestSharpener::most_seconds);
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
      thresholds_{(validate_packed_threshold(threshold), threshold / 2), threshold / 4, 0},
      samples_(shape),
      cells_(static_cast<std::size_t>(grid_.count())),
      counts_(cells_.size()) {
    due_.reserve(cells_.size());
    chosen_.reserve(cells_.size());
    bytes_per_change_.fill(first_bytes_per_change);
}

double RestSharpener::bytes_per_second() const {
    return static_cast<double>(shape_.width) * shape_.height * bits_per_pixel_and_second / 8;
}

int RestSharpener::block_of(int number) const {
    constexpr int cells_per_row = block_side / CellGrid::side;
    const int columns = grid_.columns(), row = number / columns, column = number % columns;
    return row / cells_per_row * columns + column / cells_per_row;
}

// --- what rests ---

void RestSharpener::begin_anew() { begun_ = false; }

void RestSharpener::begin_anew(int number) {
    cell(number) = {now_};
    samples_.clear(number);
}

void RestSharpener::take_step(const ChangesView<MemorySpace::host>& changes) {
    const auto count = changes.summaries[0].count;
    if (count > shape_.frame_bytes() / new_picture_share) return begin_anew();
    std::ranges::fill(counts_, std::uint16_t{0});
    const auto row_bytes = shape_.row_bytes(), cell_bytes = std::int64_t{CellGrid::side} * shape_.channels;
    std::int64_t cell_end = 0;  // of the cell's bytes in this row
    int number = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::int64_t position = changes.positions[i];
        if (position >= cell_end) {
            const auto y = position / row_bytes, column = position % row_bytes / cell_bytes;
            cell_end = std::min((y + 1) * row_bytes, y * row_bytes + (column + 1) * cell_bytes);
            number = static_cast<int>(y / CellGrid::side * grid_.columns() + column);
            cell(number).specked = true;
        }
        if (++counts_[static_cast<std::size_t>(number)] * noisy_share_of_cell > CellGrid::side * cell_bytes)
            cell(number).doubtful = true;
    }
}

void RestSharpener::take_step(std::span<const Summary> blocks) {
    const BlockGrid of_blocks(shape_);
    for (int number = 0; number < grid_.count(); ++number) {
        const auto place = grid_.place(number);
        const int block = place.y / block_side * of_blocks.columns() + place.x / block_side;
        const auto count = std::int64_t{blocks[static_cast<std::size_t>(block)].count};
        cell(number).specked = count > 0;
        cell(number).doubtful = count * noisy_share_of_block > of_blocks.place(block).pixels() * shape_.channels;
    }
}

void RestSharpener::move_on(double seconds) {
    const double gap = seconds - frame_at_;
    frame_at_ = seconds;
    if (!std::exchange(begun_, true)) {
        for (int number = 0; number < grid_.count(); ++number) begin_anew(number);
        return;
    }
    if (!(gap > 0 && gap <= longest_pause_seconds)) return;
    frame_seconds_ = gap;
    now_ += gap;
    const double most = std::max(most_saved_seconds, gap) * bytes_per_second();
    const std::lock_guard lock(mutex_);
    allowance_bytes_ = std::min(allowance_bytes_ + gap * bytes_per_second(), most);
}

// Whether more than noise is further from the mean so far than the threshold. Before there is one, who knows.
bool RestSharpener::moves(int number, HostView<const std::uint8_t> camera, int within) const {
    if (samples_.count(number) == 0) return true;
    const auto place = grid_.place(number);
    const int bytes = place.width * shape_.channels;
    std::array<std::uint8_t, CellGrid::most_row_bytes> means;
    int far = 0;
    for (int row = 0; row < place.height; ++row) {
        const auto* now = camera.row(0, place.y + row) + std::int64_t{place.x} * shape_.channels;
        samples_.mean(number, row, means.data());
        for (int i = 0; i < bytes; ++i) far += std::abs(now[i] - means[static_cast<std::size_t>(i)]) > within;
    }
    return far * noisy_share_of_cell > CellGrid::side * CellGrid::side * shape_.channels;
}

// Cells take samples in turns, so that frames cost about the same. The turns are odd in number: every other frame may
// be brighter.
void RestSharpener::look(HostView<const std::uint8_t> camera, int within) {
    const double frames = frame_seconds_ > 0 ? seconds_ / samples_wanted / frame_seconds_ : 1;
    const auto turns = 1 + 2 * std::llround(std::clamp((frames - 1) / 2, 0.0, 1e6));
    ++turn_;
    for (int number = 0; number < grid_.count(); ++number) {
        auto& here = cell(number);
        const bool specked = std::exchange(here.specked, false);
        if (std::exchange(here.doubtful, false) && moves(number, camera, within)) begin_anew(number);
        // The second stage mends specks, the third may be long in coming.
        if (specked && here.stage >= 2) {
            here = {now_ - seconds_, 1, here.stage == stages};
            samples_.condense(number);
        }
        if (here.stage < stages && (number + turn_) % turns == 0) samples_.add(number, camera);
    }
}

// --- what is sent ---

bool RestSharpener::is_due(int number, std::size_t stage) const {
    const auto& here = cell(number);
    return here.stage == stage && samples_.count(number) >= least_samples &&
           now_ - here.since >= static_cast<double>(stage + 1) * seconds_;
}

// Calls body(position, held, target, camera) for the bytes of a row of a cell that are further than `threshold` from
// what they are to become.
template <class Held, class Body>
void RestSharpener::for_each_off(int number, int row, HostView<const std::uint8_t> camera, HostView<Held> reference,
                                 int within, int threshold, Body&& body) const {
    const auto place = grid_.place(number);
    const auto from = std::int64_t{place.x} * shape_.channels;
    const auto* now = camera.row(0, place.y + row) + from;
    auto* held = reference.row(0, place.y + row) + from;
    const auto position = (place.y + row) * shape_.row_bytes() + from;
    std::array<std::uint8_t, CellGrid::most_row_bytes> means;
    samples_.mean(number, row, means.data());
    for (int i = 0; i < place.width * shape_.channels; ++i) {
        const int target = target_of(means[static_cast<std::size_t>(i)], now[i], within);
        if (std::abs(target - held[i]) > threshold) body(position + i, held[i], target, now[i]);
    }
}

std::size_t RestSharpener::looked_at_once() const {
    const double share = std::min(1.0, frame_seconds_ / (looking_share * seconds_));
    return std::min(due_.size(), 1 + static_cast<std::size_t>(share * static_cast<double>(cells_.size())));
}

// Those due are looked at from the one that rests longest on; they are chosen as long as there is room. Whether all
// are.
bool RestSharpener::choose(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                           const Moment& moment, double allowance, double room, SharperStep& step) {
    step.threshold = thresholds_[step.stage];
    step.expected_bytes = message_bytes;
    const double per_change = bytes_per_change(step.stage);
    const auto looked_at = due_.begin() + static_cast<std::ptrdiff_t>(looked_at_once());
    std::ranges::partial_sort(due_, looked_at);
    for (auto due = due_.begin(); due != looked_at; ++due) {
        std::int64_t off = 0;
        for (int row = 0; row < grid_.place(due->cell).height; ++row)
            for_each_off(due->cell, row, camera, reference, moment.within, step.threshold, [&](auto&&...) { ++off; });
        const double expected = step.expected_bytes + static_cast<double>(off) * per_change;
        if (off == 0) {
            settle(due->cell);
        } else if (expected > room || (!chosen_.empty() && expected > allowance)) {
            return false;
        } else {
            chosen_.push_back(due->cell);
            step.expected_bytes = expected;
        }
    }
    return looked_at == due_.end();
}

// In raster order: row by row of all cells that lie side by side.
void RestSharpener::write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within,
                          Summary& errors, SharperStep& step) {
    const auto changes = step.changes.view();
    auto& count = changes.summaries[0].count;
    std::ranges::sort(chosen_);
    for (auto begin = chosen_.begin(); begin != chosen_.end();) {
        const int cell_row = *begin / grid_.columns();
        const auto end =
            std::find_if(begin, chosen_.end(), [&](int number) { return number / grid_.columns() != cell_row; });
        for (int row = 0; row < grid_.place(*begin).height; ++row)
            for (auto number = begin; number != end; ++number)
                for_each_off(*number, row, camera, reference, within, step.threshold,
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
    for (const int number : chosen_) settle(number);
}

void RestSharpener::settle(int number) {
    auto& here = cell(number);
    ++here.stage;
    if (here.was_mean && here.stage + 1 == stages) ++here.stage;
}

double RestSharpener::bytes_per_change(std::size_t stage) {
    const std::lock_guard lock(mutex_);
    return bytes_per_change_[stage];
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
    if (allowance < bytes_per_second() * least_saved_seconds || room <= message_bytes) return;
    // Early stages go first, but there is always some cell that comes to them.
    const auto first = next_stage_;
    next_stage_ = 0;
    for (std::size_t i = 0; i < stages; ++i) {
        step.stage = (first + i) % stages;
        due_.clear();
        chosen_.clear();
        for (int number = 0; number < grid_.count(); ++number)
            if (is_due(number, step.stage))
                due_.push_back({std::floor(cell(number).since / together_seconds), block_of(number), number});
        const bool all = choose(camera, reference, moment, allowance, room, step);
        if (!chosen_.empty()) {
            write(camera, reference, moment.within, errors, step);
            if (all) next_stage_ = (step.stage + 1) % stages;
            const std::lock_guard lock(mutex_);
            allowance_bytes_ -= step.expected_bytes;
            under_way_bytes_ += step.expected_bytes;
        }
        if (!chosen_.empty() || !all) return;
    }
}

void RestSharpener::took(const SharperStep& step, std::int64_t bytes) {
    const auto now = static_cast<double>(bytes);
    const std::lock_guard lock(mutex_);
    under_way_bytes_ -= step.expected_bytes;
    allowance_bytes_ += step.expected_bytes - now;
    auto& per_change = bytes_per_change_[step.stage];
    per_change += news * (std::max(now - message_bytes, 0.0) / step.count() - per_change);
}

}  // namespace framewire::delta
