// Refinement on the host. sharpen() runs in three passes:
//
//     look()      per cell, in parallel: starts over if it changed, adds a sample to its mean
//     choose()    cells that are due, oldest first, as many as the budget allows
//     write()     brings the chosen cells of R to their mean and lists the changes

#include "framewire/delta/refresh/host/rest_on_host.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace framewire::delta {

RestOnHost::RestOnHost(const Shape& shape, const ThreadPool& pool)
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

void RestOnHost::take_step(const ChangesView<MemorySpace::host>& changes) {
    const auto count = changes.summaries[0].count;
    new_picture_ = is_new_picture(count, shape_.frame_bytes());
    if (new_picture_) return;
    const auto row_bytes = shape_.row_bytes(), cell_bytes = std::int64_t{CellGrid::side} * shape_.channels;
    std::int64_t cell_end = 0;  // of the cell's bytes in this row
    int number = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::int64_t position = changes.positions[i];
        if (position >= cell_end) {
            const auto y = position / row_bytes, x = position % row_bytes;
            cell_end = std::min((y + 1) * row_bytes, y * row_bytes + (x / cell_bytes + 1) * cell_bytes);
            number = grid_.cell_of(static_cast<int>(y), static_cast<int>(x), shape_.channels);
        }
        ++changed_[static_cast<std::size_t>(number)];
    }
}

void RestOnHost::take_step(std::span<const Summary> blocks) {
    const BlockGrid of_blocks(shape_);
    for (int number = 0; number < grid_.count(); ++number) {
        const int block = of_blocks.block_at(grid_.place(number).x, grid_.place(number).y);
        changed_[static_cast<std::size_t>(number)] =
            changed_with_block(blocks[static_cast<std::size_t>(block)].count, of_blocks.place(block), shape_.channels);
    }
}

// Returns true if more bytes than noise explains are further from the mean than the threshold, or if there is no mean
// yet.
bool RestOnHost::moves(int number, HostView<const std::uint8_t> camera, int within) const {
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

void RestOnHost::look(HostView<const std::uint8_t> camera, const RestTurn& turn) {
    const bool anew = std::exchange(new_picture_, false) || turn.anew;
    constexpr std::int64_t cells_each = 256;  // enough to be worth a thread
    pool_->for_chunks(grid_.count(), cells_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto number = begin; number < end; ++number) look(static_cast<int>(number), camera, turn, anew);
    });
}

void RestOnHost::look(int number, HostView<const std::uint8_t> camera, const RestTurn& turn, bool anew) {
    auto& here = cell(number);
    const auto changed = std::exchange(changed_[static_cast<std::size_t>(number)], std::uint16_t{0});
    // The same decisions in the same order as look_kernel() makes.
    if (anew || (more_than_noise(changed, shape_.channels) && moves(number, camera, turn.within))) {
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

// Calls body(position, held, target, camera) for each byte in a row of a cell that is further than `threshold` from its
// target.
template <class Held, class Body>
void RestOnHost::for_each_off(int number, int row, HostView<const std::uint8_t> camera, HostView<Held> reference,
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

// Returns how many bytes of a cell a stage changes.
std::uint32_t RestOnHost::count_off(int number, HostView<const std::uint8_t> camera,
                                    HostView<const std::uint8_t> reference, const RestTurn& turn, int stage) const {
    const auto place = grid_.place(number);
    const auto from = std::int64_t{place.x} * shape_.channels;
    const int bytes = place.width * shape_.channels, threshold = turn.thresholds[stage];
    std::array<std::uint8_t, CellGrid::most_row_bytes> means{}, now{},
        held{};  // equal beyond the picture, so that those bytes do not count
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

// Examines the due cells in order and chooses them as long as the limits allow. `all` is true if none is left.
RestOnHost::Chosen RestOnHost::choose(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                                      const RestTurn& turn, int stage) {
    due_.clear();
    chosen_.clear();
    for (int number = 0; number < grid_.count(); ++number)
        if (const auto& here = cell(number); here.stage == stage && is_due(here, samples_.count(number), turn))
            due_.push_back({-rest_age(here, turn), grid_.rank(number), number});
    const RestLimits limits(turn, account_, stage);
    // Only the cells that may be examined need to be in order.
    const auto looked_at = due_.begin() + std::min(std::ssize(due_), std::ptrdiff_t{limits.looked_at});
    std::ranges::partial_sort(due_, looked_at);
    Chosen chosen{0, looked_at == due_.end()};
    // Threads count for several cells at once, possibly for more than are chosen.
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
void RestOnHost::write(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int within,
                       SharperStep& step) {
    const auto changes = step.changes_.view();
    auto& told = step.told_;
    std::uint32_t count = 0;
    std::ranges::sort(chosen_);
    for (auto begin = chosen_.begin(); begin != chosen_.end();) {
        const int cell_row = *begin / grid_.columns();
        const auto end =
            std::find_if(begin, chosen_.end(), [&](int number) { return number / grid_.columns() != cell_row; });
        for (int row = 0; row < grid_.place(*begin).height; ++row)
            for (auto number = begin; number != end; ++number)
                for_each_off(*number, row, camera, reference, within, told.threshold,
                             [&](std::int64_t position, std::uint8_t& held, int target, std::uint8_t now) {
                                 const int before = now - held, after = now - target;
                                 changes.positions[count] = static_cast<std::uint32_t>(position);
                                 changes.differences[count] = static_cast<std::uint8_t>(target - held);
                                 ++count;
                                 held = static_cast<std::uint8_t>(target);
                                 told.max_error = std::max(told.max_error, static_cast<std::uint32_t>(std::abs(after)));
                                 told.squared_error += static_cast<std::uint64_t>(after * after - before * before);
                             });
        begin = end;
    }
    changes.summaries[0].count = count;
}

void RestOnHost::sharpen(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, const RestTurn& turn,
                         SharperStep& step) {
    look(camera, turn);
    account_.begin(turn);
    if (!account_.may_send(turn)) return;
    // Early stages go first. As there is always some cell in an early stage, a stage that is finished passes the turn
    // on.
    const int first = std::exchange(account_.next_stage, 0);
    for (int i = 0; i < rest_stages; ++i) {
        const int stage = (first + i) % rest_stages;
        const auto [count, all] = choose(camera, reference, turn, stage);
        if (count > 0) {
            const auto parts = RestLimits(turn, account_, stage).parts(count);
            step.told_ = {.stage = stage, .threshold = turn.thresholds[stage], .count = count, .expected_parts = parts};
            write(camera, reference, turn.within, step);
            if (all) account_.next_stage = (stage + 1) % rest_stages;
            account_.send(parts);
        }
        if (count > 0 || !all) return;
    }
}

}  // namespace framewire::delta
