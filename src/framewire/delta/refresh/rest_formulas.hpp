#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/refresh/cells.hpp"

#include <cstdint>

// What becomes of cells that rest, on both backends: whole numbers, so that both make the same bytes.

namespace framewire::delta {

inline constexpr int rest_stages = 3;
/// A byte that a step changes brings cells from this stage on back to the one before it, which mends specks.
inline constexpr int rest_mended_stage = 2;
/// A cell that has all stages behind it is looked at again after it rested for so many times longer: light that changes
/// slowly stays below the threshold from frame to frame.
inline constexpr int rests_between_looks = 8;
/// Of a cell's mean so many samples count at most; when there are more, all before count half.
inline constexpr int most_rest_samples = 64;
/// There is no mean of fewer.
inline constexpr int least_rest_samples = 4;
/// What is sent is counted in so many parts of a byte.
inline constexpr std::int64_t byte_parts = 1024;
/// A step takes so much beside its changes.
inline constexpr std::int64_t message_parts = 64 * byte_parts;

/// How a cell rests; times are in nanoseconds.
struct RestingCell {
    std::int64_t since = 0;  ///< it rests, or had its last change
    std::uint8_t stage = 0;  ///< that comes next; rest_stages: none does
    bool was_mean = false;   ///< the last stage is behind it, and no more than noise is known to have come since
};

/// What the host decides about a frame.
struct RestTurn {
    bool anew;                      ///< all cells begin anew
    std::int64_t now, rests;        ///< the time; how long a cell rests for a stage
    int turns, phase;               ///< one cell in so many takes a sample: which
    int within;                     ///< the threshold of the frame
    int thresholds[rest_stages];    ///< bytes of a stage are further from the mean
    std::int64_t credit, most;      ///< what more is allowed than before, and how much at most comes together
    std::int64_t least;             ///< that is worth a step
    std::int64_t correction, done;  ///< of steps that were sent since: what they took less than expected; was expected
    std::int64_t room;              ///< beside steps that are under way
    std::int64_t per_change[rest_stages];
    std::uint32_t looked_at;  ///< so many cells at most
};

/// What may be sent, where that is decided. Zeros at first.
struct RestAccount {
    std::int64_t allowance, under_way;
    std::int32_t next_stage;

    FRAMEWIRE_HOST_DEVICE void begin(const RestTurn& turn) {
        allowance += turn.correction + turn.credit;
        if (allowance > turn.most) allowance = turn.most;
        under_way -= turn.done;
    }
    FRAMEWIRE_HOST_DEVICE std::int64_t room(const RestTurn& turn) const { return turn.room - under_way; }
    FRAMEWIRE_HOST_DEVICE bool may_send(const RestTurn& turn) const {
        return allowance >= turn.least && room(turn) > message_parts;
    }
    FRAMEWIRE_HOST_DEVICE void send(std::int64_t parts) {
        allowance -= parts;
        under_way += parts;
    }
};

/// How many of the cells that are due one step takes, by their order. Sums ascend along it, so the cells taken are the
/// first ones.
struct RestLimits {
    std::uint32_t looked_at;
    std::int64_t room, allowance, per_change;

    FRAMEWIRE_HOST_DEVICE RestLimits(const RestTurn& turn, const RestAccount& account, int stage)
        : looked_at(turn.looked_at),
          room(account.room(turn)),
          allowance(account.allowance),
          per_change(turn.per_change[stage]) {}

    /// What a step with so many changes takes.
    FRAMEWIRE_HOST_DEVICE std::int64_t parts(std::uint32_t changes) const {
        return changes ? message_parts + changes * per_change : 0;
    }
    /// Whether a cell is taken: the `number`th, with so many changes in all cells before it and up to it. The first one
    /// with changes may take more than is allowed, but not than there is room for.
    FRAMEWIRE_HOST_DEVICE bool takes(std::uint32_t number, std::uint32_t before, std::uint32_t up_to_it) const {
        const auto all = parts(up_to_it);
        return number < looked_at && all <= room && (before == 0 || all <= allowance);
    }
    /// Whether the first `count` cells surely are, with so many changes. If not, none behind them is.
    FRAMEWIRE_HOST_DEVICE bool takes_all(std::uint32_t count, std::uint32_t changes) const {
        const auto all = parts(changes);
        return count <= looked_at && all <= room && all <= allowance;
    }
};

/// Whether a step changes so many bytes that all cells begin anew: they need not be looked at one by one.
FRAMEWIRE_HOST_DEVICE constexpr bool is_new_picture(std::uint32_t changes, std::int64_t frame_bytes) {
    constexpr std::int64_t new_picture_share = 8;
    return changes > frame_bytes / new_picture_share;
}

/// Whether so many bytes of a cell, off or changed, are more than noise: a byte here and there.
FRAMEWIRE_HOST_DEVICE constexpr bool more_than_noise(std::uint32_t bytes, int channels) {
    constexpr std::uint32_t noisy_share = 16;
    return bytes * noisy_share > static_cast<std::uint32_t>(CellGrid::side * CellGrid::side * channels);
}

/// What a cell is taken to change by where only its block is known, of which so many bytes do: nothing, a byte, or all.
FRAMEWIRE_HOST_DEVICE inline std::uint16_t changed_with_block(std::uint32_t bytes, const BlockPlace& block,
                                                              int channels) {
    constexpr std::int64_t noisy_share_of_block = 64;
    const bool much = bytes * noisy_share_of_block > std::int64_t{block.pixels()} * channels;
    return static_cast<std::uint16_t>(much ? CellGrid::side * CellGrid::side * channels : bytes > 0 ? 1 : 0);
}

/// The mean of samples of a byte, from their sum: rounded to nearest.
class RestMean {
public:
    FRAMEWIRE_HOST_DEVICE explicit RestMean(int samples)
        : factor_(((1u << reciprocal_bits) + static_cast<std::uint32_t>(samples) - 1) /
                  static_cast<std::uint32_t>(samples)),
          half_(static_cast<std::uint32_t>(samples) / 2) {}
    FRAMEWIRE_HOST_DEVICE std::uint8_t of(std::uint16_t sum) const {
        return static_cast<std::uint8_t>((sum + half_) * factor_ >> reciprocal_bits);
    }

private:
    // (sum + n / 2) / n for up to 64 samples is a product with this many bits behind the point:
    // 64 * (64 * 255 + 32) is less than 2^20, so nothing is off.
    static constexpr int reciprocal_bits = 20;
    std::uint32_t factor_, half_;
};

FRAMEWIRE_HOST_DEVICE constexpr std::uint16_t halved_sum(std::uint16_t sum) {
    return static_cast<std::uint16_t>((sum + 1) / 2);
}
/// How many samples there are after one more.
FRAMEWIRE_HOST_DEVICE constexpr int samples_with_next(int samples) {
    return (samples == most_rest_samples ? most_rest_samples / 2 : samples) + 1;
}

/// The mean, held to within `within` of the camera's byte.
FRAMEWIRE_HOST_DEVICE constexpr int rest_target(int mean, int camera, int within) {
    return mean < camera - within ? camera - within : mean > camera + within ? camera + within : mean;
}

FRAMEWIRE_HOST_DEVICE constexpr RestingCell mended(const RestingCell& cell, const RestTurn& turn) {
    return {turn.now - turn.rests, rest_mended_stage - 1, cell.stage == rest_stages};
}
FRAMEWIRE_HOST_DEVICE constexpr bool takes_sample(int cell, const RestTurn& turn) {
    return (cell + turn.phase) % turn.turns == 0;
}
/// Whether it is time for the cell's next stage.
FRAMEWIRE_HOST_DEVICE constexpr bool is_due(const RestingCell& cell, int samples, const RestTurn& turn) {
    return cell.stage < rest_stages && samples >= least_rest_samples &&
           turn.now - cell.since >= (cell.stage + 1) * turn.rests;
}
/// Whether a cell that is as sharp as can be begins to sum up what the camera shows once more.
FRAMEWIRE_HOST_DEVICE constexpr bool is_looked_at_again(const RestingCell& cell, const RestTurn& turn) {
    return cell.stage == rest_stages && turn.now - cell.since >= (rest_stages + rests_between_looks) * turn.rests;
}
/// What such a cell becomes. It is the mean but for what changed since, so noise does not bring the last stage.
FRAMEWIRE_HOST_DEVICE constexpr RestingCell looked_at_again(const RestTurn& turn) { return {turn.now, 0, true}; }
/// The stage is behind it, in which so many bytes were off.
FRAMEWIRE_HOST_DEVICE constexpr void settle(RestingCell& cell, std::uint32_t off, int channels) {
    if (cell.stage == 0 && more_than_noise(off, channels)) cell.was_mean = false;
    ++cell.stage;
    if (cell.was_mean && cell.stage + 1 == rest_stages) ++cell.stage;
}

/// Who is due for longest goes first. Cells that began to rest in the same while are of one age, and go block by block,
/// which takes less.
inline constexpr int rest_ages = 1024;
FRAMEWIRE_HOST_DEVICE constexpr int rest_age(const RestingCell& cell, const RestTurn& turn) {
    constexpr std::int64_t together = 250'000'000;
    const auto age = (turn.now - (cell.stage + 1) * turn.rests) / together - cell.since / together;
    return static_cast<int>(age < rest_ages - 1 ? age : rest_ages - 1);
}

}  // namespace framewire::delta
