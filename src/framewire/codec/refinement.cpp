#include "framewire/codec/refinement.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/refinement_formulas.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

// Schedule and budget of refinement. The budget is limited by a bitrate per pixel and by a share of the stream's own
// size. When a refinement is chosen, its size is estimated from earlier ones; when the actual size is reported, the
// budget is corrected.

namespace framewire::codec {
namespace {

// Number of samples that a cell takes in the time after which it counts as static.
constexpr int samples_wanted = 12;
// The budget accumulates for at least least_saved_seconds, so that a delta frame is worth its overhead, and for at most
// most_saved_seconds, so that no delta frame is large.
constexpr double least_saved_seconds = 0.1, most_saved_seconds = 0.5;
// All cells are examined within this share of the time after which a cell counts as static.
constexpr double looking_share = 0.5;
constexpr double first_bytes_per_change = 1;  // estimate before the first refinement is reported
constexpr double news = 0.25;                 // weight of a new observation in the moving average
constexpr double longest_pause_seconds = 3600;
// The unspent share of the stream's bytes is limited to the amount that can be spent in this time.
constexpr double longest_saved_seconds = 60;
constexpr double most_room_bytes = 1e12;

double allowed_seconds(double seconds) {
    if (!(seconds >= Refiner::least_seconds && seconds <= Refiner::most_seconds))
        fail(ErrorCode::usage, "the refinement time is {} seconds; allowed: {} to {}", seconds, Refiner::least_seconds,
             Refiner::most_seconds);
    return seconds;
}

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
std::int64_t parts(double bytes) {
    return std::llround(std::clamp(bytes, 0.0, most_room_bytes) * static_cast<double>(byte_parts));
}

}  // namespace

RefinementBudget::RefinementBudget(const Shape& shape, double seconds, int threshold)
    : bytes_per_second_(static_cast<double>(shape.width) * shape.height * Refiner::bits_per_pixel_and_second / 8),
      least_bytes_per_second_(static_cast<double>(shape.width) * shape.height *
                              Refiner::least_bits_per_pixel_and_second / 8),
      seconds_(allowed_seconds(seconds)),
      thresholds_{(validate_packed_threshold(threshold), threshold / 2), threshold / 4, 0},
      cells_(CellGrid(shape).count()) {
    parts_per_change_.fill(first_bytes_per_change * static_cast<double>(byte_parts));
}

// Returns the addition to the budget for the time since the last frame.
double RefinementBudget::earned(double gap, double stream_bytes) {
    const double most = gap * bytes_per_second_;
    if (!std::isfinite(stream_bytes)) return most;
    const double news = std::max(0.0, stream_bytes - std::exchange(stream_bytes_, stream_bytes));
    saved_bytes_ = std::min(saved_bytes_ + std::max(Refiner::share_of_stream * news, gap * least_bytes_per_second_),
                            longest_saved_seconds * bytes_per_second_);
    const double now = std::min(most, saved_bytes_);
    saved_bytes_ -= now;
    return now;
}

RefinementTurn RefinementBudget::next(double seconds, int within, double room_bytes, double stream_bytes) {
    const double gap = seconds - frame_at_;
    frame_at_ = seconds;
    const bool goes_on = std::exchange(begun_, true) && gap > 0 && gap <= longest_pause_seconds;
    if (goes_on) {
        frame_seconds_ = gap;
        now_ += nanoseconds(gap);
    }
    // Cells take samples in turns, so that all frames take about the same time to process. The number of turns is odd,
    // because lighting may make every other frame brighter, and both kinds of frames must be sampled.
    const double frames = frame_seconds_ > 0 ? seconds_ / samples_wanted / frame_seconds_ : 1;
    const auto turns = 1 + 2 * std::llround(std::clamp((frames - 1) / 2, 0.0, 1e6));
    const double looked_at = std::min(1.0, frame_seconds_ / (looking_share * seconds_)) * cells_;

    RefinementTurn turn{};
    turn.starts_over = std::exchange(starts_over_, false);
    turn.now = now_;
    turn.rests = nanoseconds(seconds_);
    turn.turns = static_cast<int>(turns);
    turn.phase = static_cast<int>(++turn_ % turns);
    turn.within = within;
    std::ranges::copy(thresholds_, turn.thresholds);
    turn.credit = goes_on ? parts(earned(gap, stream_bytes)) : 0;
    turn.most = parts(std::max(most_saved_seconds, frame_seconds_) * bytes_per_second_);
    turn.least = parts(least_saved_seconds * bytes_per_second_);
    turn.room = parts(room_bytes);
    turn.looked_at = 1 + static_cast<std::uint32_t>(looked_at);
    const std::lock_guard lock(mutex_);
    turn.correction = std::exchange(correction_, 0);
    turn.done = std::exchange(done_, 0);
    std::ranges::transform(parts_per_change_, turn.per_change, [](double of) { return std::llround(of); });
    return turn;
}

void RefinementBudget::took(const RefinementDelta& step, std::int64_t bytes) {
    const auto& [stage, threshold, count, max_error, squared_error, expected] = step.signalled_;
    const auto now = bytes * byte_parts;
    const std::lock_guard lock(mutex_);
    correction_ += expected - now;
    done_ += expected;
    auto& per_change = parts_per_change_[static_cast<std::size_t>(stage)];
    per_change += news * (static_cast<double>(std::max<std::int64_t>(now - message_parts, 0)) / count - per_change);
}

}  // namespace framewire::codec

// Constructor and host variants of Refiner. The device variants are in refinement_gpu.cpp, which is only part of builds
// with CUDA.

namespace framewire::codec {

Refiner::Refiner(const Shape& shape, double seconds, int threshold, Executor& executor) {
    validate_one_frame(shape, "the refiner's frame");
    state_ = std::make_unique<State>(shape, seconds, threshold);
    executor.in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::host)
            state_->on_host.emplace(shape, executor.pool());
        else
            state_->on_gpu.emplace(shape, executor);
    });
}
Refiner::~Refiner() = default;
Refiner::Refiner(Refiner&&) noexcept = default;
Refiner& Refiner::operator=(Refiner&&) noexcept = default;

void Refiner::begin_again() { state_->budget.begin_again(); }

void Refiner::take_cells(std::span<const std::uint16_t> changed, std::uint32_t count) {
    state_->on_host->take_cells(changed, count);
}
void Refiner::take_step(std::span<const Summary> blocks) { state_->on_host->take_step(blocks); }

void Refiner::refine(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const Moment& moment,
                     RefinementDelta& step) {
    const auto turn = state_->begin(camera, reference, moment, step);
    state_->on_host->refine(camera, reference, turn, step);
}

void Refiner::took(const RefinementDelta& step, std::int64_t bytes) { state_->budget.took(step, bytes); }

}  // namespace framewire::codec

// Running means of cells, as sums of 16 bits per byte. A sum has room for 64 samples. Before the next one is added, it
// is halved, so that older samples fade out.

namespace framewire::codec {
namespace {

// Number of bytes per call of the functions below. With a fixed length and no aliasing, the compiler vectorizes their
// loops.
constexpr int run = 16;

void add_samples(const std::uint8_t* __restrict bytes, std::uint16_t* __restrict sums) {
    for (std::size_t i = 0; i < run; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + bytes[i]);
}

void mean_of_samples(const std::uint16_t* sums, const RestMean& means, std::uint8_t* out) {
    std::array<std::uint16_t, run> in;
    std::array<std::uint8_t, run> mean;
    std::memcpy(in.data(), sums, sizeof(in));
    for (std::size_t i = 0; i < run; ++i) mean[i] = means.of(in[i]);
    std::memcpy(out, mean.data(), sizeof(mean));
}

}  // namespace

CellSamples::CellSamples(const Shape& shape)
    : grid_(shape),
      channels_(shape.channels),
      sums_(static_cast<std::size_t>(grid_.count()) * CellGrid::side *
            static_cast<std::size_t>(CellGrid::side * channels_) * sizeof(std::uint16_t)),
      counts_(static_cast<std::size_t>(grid_.count())) {}

std::uint16_t* CellSamples::sums(int cell, int row) const {
    return sums_.as<std::uint16_t>() + (std::int64_t{cell} * CellGrid::side + row) * CellGrid::side * channels_;
}

void CellSamples::condense(int cell) {
    std::array<std::uint8_t, CellGrid::most_row_bytes> means;
    const auto place = grid_.place(cell);
    for (int row = 0; row < place.height; ++row) {
        mean(cell, row, means.data());
        std::copy_n(means.data(), place.width * channels_, sums(cell, row));
    }
    counts_[static_cast<std::size_t>(cell)] = 1;
}

void CellSamples::add(int cell, HostView<const std::uint8_t> frame) {
    const auto place = grid_.place(cell);
    auto& count = counts_[static_cast<std::size_t>(cell)];
    const int bytes = place.width * channels_;
    // The first sample overwrites the sums, so that clear() need not reset them.
    const bool first = count == 0, halve = count == most_rest_samples;
    for (int row = 0; row < place.height; ++row) {
        const auto* in = frame.row(0, place.y + row) + std::int64_t{place.x} * channels_;
        auto* sum = sums(cell, row);
        if (first) {
            std::copy_n(in, bytes, sum);
            continue;
        }
        if (halve) std::transform(sum, sum + bytes, sum, halved_sum);
        int i = 0;
        for (; i + run <= bytes; i += run) add_samples(in + i, sum + i);
        for (; i < bytes; ++i) sum[i] = static_cast<std::uint16_t>(sum[i] + in[i]);
    }
    count = static_cast<std::uint8_t>(samples_with_next(count));
}

void CellSamples::mean(int cell, int row, std::uint8_t* out) const {
    const RestMean means(count(cell));
    const auto* sum = sums(cell, row);
    const int bytes = grid_.place(cell).width * channels_;
    int i = 0;
    for (; i + run <= bytes; i += run) mean_of_samples(sum + i, means, out + i);
    for (; i < bytes; ++i) out[i] = means.of(sum[i]);
}

}  // namespace framewire::codec

// Refinement on the host. refine() runs in three passes:
//
//     look()      per cell, in parallel: starts over if it changed, adds a sample to its mean
//     choose()    cells that are due, oldest first, as many as the budget allows
//     write()     brings the chosen cells of R to their mean and lists the changes

namespace framewire::codec {

RefinementOnHost::RefinementOnHost(const Shape& shape, const ThreadPool& pool)
    : shape_(shape),
      pool_(&pool),
      grid_(shape),
      samples_(shape),
      cells_(static_cast<std::size_t>(grid_.count())),
      changed_(cells_.size()) {
    due_.reserve(cells_.size());
    chosen_.reserve(cells_.size());
}

// --- static regions ---

void RefinementOnHost::take_cells(std::span<const std::uint16_t> changed, std::uint32_t count) {
    if (changed.size() != changed_.size())
        fail(ErrorCode::usage, "the frame has {} cells, but the counts are for {}", changed_.size(), changed.size());
    new_picture_ = is_new_picture(count, shape_.frame_bytes());
    if (!new_picture_) std::ranges::copy(changed, changed_.begin());
}

void RefinementOnHost::take_step(std::span<const Summary> blocks) {
    const BlockGrid of_blocks(shape_);
    for (int number = 0; number < grid_.count(); ++number) {
        const int block = of_blocks.block_at(grid_.place(number).x, grid_.place(number).y);
        changed_[static_cast<std::size_t>(number)] =
            changed_with_block(blocks[static_cast<std::size_t>(block)].count, of_blocks.place(block), shape_.channels);
    }
}

// Returns true if more bytes than noise can explain differ from the mean by more than the threshold, or if there is no
// mean yet.
bool RefinementOnHost::moves(int number, HostView<const std::uint8_t> camera, int within) const {
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
    return more_than_noise(static_cast<std::uint32_t>(far), shape_.channels);
}

void RefinementOnHost::look(HostView<const std::uint8_t> camera, const RefinementTurn& turn) {
    const bool starts_over = std::exchange(new_picture_, false) || turn.starts_over;
    constexpr std::int64_t cells_each = 256;  // enough work to be worth a thread
    pool_->for_chunks(grid_.count(), cells_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto number = begin; number < end; ++number) look(static_cast<int>(number), camera, turn, starts_over);
    });
}

void RefinementOnHost::look(int number, HostView<const std::uint8_t> camera, const RefinementTurn& turn,
                            bool starts_over) {
    auto& here = cell(number);
    const auto changed = std::exchange(changed_[static_cast<std::size_t>(number)], std::uint16_t{0});
    // look_kernel() makes the same decisions in the same order.
    if (starts_over || (more_than_noise(changed, shape_.channels) && moves(number, camera, turn.within))) {
        here = {.since = turn.now};
        samples_.clear(number);
    }
    if (is_looked_at_again(here, turn)) {
        here = looked_at_again(turn);
        samples_.clear(number);
    }
    if (changed && here.stage >= rest_mended_stage) {
        here = mended(here, turn);
        samples_.condense(number);
    }
    if (here.stage < rest_stages && takes_sample(number, turn)) samples_.add(number, camera);
}

// --- refinement ---

// Calls body(position, held, target, camera) for each byte in a row of a cell that differs from its target by more than
// `threshold`.
template <class Held, class Body>
void RefinementOnHost::for_each_off(int number, int row, HostView<const std::uint8_t> camera, HostView<Held> reference,
                                    int within, int threshold, Body&& body) const {
    const auto place = grid_.place(number);
    const auto from = std::int64_t{place.x} * shape_.channels;
    const auto* now = camera.row(0, place.y + row) + from;
    auto* held = reference.row(0, place.y + row) + from;
    const auto position = (place.y + row) * shape_.row_bytes() + from;
    std::array<std::uint8_t, CellGrid::most_row_bytes> means;
    samples_.mean(number, row, means.data());
    for (int i = 0; i < place.width * shape_.channels; ++i) {
        const int target = rest_target(means[static_cast<std::size_t>(i)], now[i], within);
        if (std::abs(target - held[i]) > threshold) body(position + i, held[i], target, now[i]);
    }
}

// Returns the number of bytes of a cell that a stage would change.
std::uint32_t RefinementOnHost::count_off(int number, HostView<const std::uint8_t> camera,
                                          HostView<const std::uint8_t> reference, const RefinementTurn& turn,
                                          int stage) const {
    const auto place = grid_.place(number);
    const auto from = std::int64_t{place.x} * shape_.channels;
    const int bytes = place.width * shape_.channels, threshold = turn.thresholds[stage];
    std::array<std::uint8_t, CellGrid::most_row_bytes> means{}, now{},
        held{};  // equal outside the picture, so that those bytes do not count
    std::uint32_t off = 0;
    for (int row = 0; row < place.height; ++row) {
        samples_.mean(number, row, means.data());
        std::copy_n(camera.row(0, place.y + row) + from, bytes, now.data());
        std::copy_n(reference.row(0, place.y + row) + from, bytes, held.data());
        // With a fixed length the compiler vectorizes the loop.
        int of_row = 0;
        for (std::size_t i = 0; i < means.size(); ++i)
            of_row += std::abs(rest_target(means[i], now[i], turn.within) - held[i]) > threshold;
        off += static_cast<std::uint32_t>(of_row);
    }
    return off;
}

// Examines the due cells in order and chooses them as long as the limits allow. `all` of the result is true if every
// due cell was chosen.
RefinementOnHost::Chosen RefinementOnHost::choose(HostView<const std::uint8_t> camera,
                                                  HostView<const std::uint8_t> reference, const RefinementTurn& turn,
                                                  int stage) {
    due_.clear();
    chosen_.clear();
    for (int number = 0; number < grid_.count(); ++number)
        if (const auto& here = cell(number); here.stage == stage && is_due(here, samples_.count(number), turn))
            due_.push_back({-rest_age(here, turn), grid_.rank(number), number});
    const RefinementLimits limits(turn, account_, stage);
    // Only the cells that may be examined need to be sorted.
    const auto looked_at = due_.begin() + std::min(std::ssize(due_), std::ptrdiff_t{limits.looked_at});
    std::ranges::partial_sort(due_, looked_at);
    Chosen chosen{0, looked_at == due_.end()};
    // Threads count the bytes of several cells at once, possibly of more cells than are chosen.
    constexpr std::ptrdiff_t at_once = 32, for_each_thread = 4;
    std::array<std::uint32_t, at_once> off;
    for (auto due = due_.begin(); due != looked_at; ++due) {
        const auto number = (due - due_.begin()) % at_once;
        if (number == 0)
            pool_->for_chunks(std::min(at_once, looked_at - due), for_each_thread,
                              [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                  for (auto i = begin; i < end; ++i)
                                      off[static_cast<std::size_t>(i)] =
                                          count_off(due[i].cell, camera, reference, turn, stage);
                              });
        const auto of_cell = off[static_cast<std::size_t>(number)], all = chosen.changes + of_cell;
        if (!limits.takes(static_cast<std::uint32_t>(due - due_.begin()), chosen.changes, all)) {
            chosen.all = false;
            break;
        }
        settle(cell(due->cell), of_cell, shape_.channels);
        if (of_cell) chosen_.push_back(due->cell);
        chosen.changes = all;
    }
    return chosen;
}

// Writes the changes in raster order: row by row through all chosen cells of one row of cells.
void RefinementOnHost::write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within,
                             RefinementDelta& step) {
    const auto changes = step.changes_.view();
    auto& signalled = step.signalled_;
    std::uint32_t count = 0;
    std::ranges::sort(chosen_);
    for (auto begin = chosen_.begin(); begin != chosen_.end();) {
        const int cell_row = *begin / grid_.columns();
        const auto end =
            std::find_if(begin, chosen_.end(), [&](int number) { return number / grid_.columns() != cell_row; });
        for (int row = 0; row < grid_.place(*begin).height; ++row)
            for (auto number = begin; number != end; ++number)
                for_each_off(*number, row, camera, reference, within, signalled.threshold,
                             [&](std::int64_t position, std::uint8_t& held, int target, std::uint8_t now) {
                                 const int before = now - held, after = now - target;
                                 changes.positions[count] = static_cast<std::uint32_t>(position);
                                 changes.differences[count] = static_cast<std::uint8_t>(target - held);
                                 ++count;
                                 held = static_cast<std::uint8_t>(target);
                                 signalled.max_error =
                                     std::max(signalled.max_error, static_cast<std::uint32_t>(std::abs(after)));
                                 signalled.squared_error += static_cast<std::uint64_t>(after * after - before * before);
                             });
        begin = end;
    }
    changes.summaries[0].count = count;
}

void RefinementOnHost::refine(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference,
                              const RefinementTurn& turn, RefinementDelta& step) {
    look(camera, turn);
    account_.begin(turn);
    if (!account_.may_send(turn)) return;
    // Early stages are processed first. Because some cell is nearly always in an early stage, a stage whose due cells
    // were all chosen lets the next stage go first in the next frame.
    const int first = std::exchange(account_.next_stage, 0);
    for (int i = 0; i < rest_stages; ++i) {
        const int stage = (first + i) % rest_stages;
        const auto [count, all] = choose(camera, reference, turn, stage);
        if (count > 0) {
            const auto parts = RefinementLimits(turn, account_, stage).parts(count);
            step.signalled_ = {
                .stage = stage, .threshold = turn.thresholds[stage], .count = count, .expected_parts = parts};
            write(camera, reference, turn.within, step);
            if (all) account_.next_stage = (stage + 1) % rest_stages;
            account_.send(parts);
        }
        if (count > 0 || !all) return;
    }
}

}  // namespace framewire::codec
