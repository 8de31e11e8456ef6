#pragma once

// Only for .cu files: residuals read by a warp, whose lanes are their states.

#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/entropy/lane_tables.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <cstdint>

namespace framewire::delta {

/// Words that 32 states read, each when it needs one; the lowest lane's first.
struct LaneWords {
    const std::uint8_t* bytes;
    std::uint32_t size, read = 0;  // in words
    bool overrun = false;

    __device__ std::uint32_t at(std::uint32_t word) const {
        return 2 * word + 2 <= size ? bytes[2 * word] | std::uint32_t{bytes[2 * word + 1]} << 8 : 0u;
    }
};

/// Residuals of some lists one after the other, `count` in all: where each begins, and its class.
struct ReadLists {
    const std::uint16_t* begins;
    const std::uint8_t* classes;
    int lists, count;
};

// Reads residuals, 32 at a time, into `residuals`. False where the words are not theirs, no more and no less.
__device__ inline bool read_residuals(const CoderTables& tables, const ReadLists& of, std::uint8_t* residuals,
                                      LaneWords words) {
    const int lane = static_cast<int>(threadIdx.x);
    const auto lower = (1u << lane) - 1;
    std::uint32_t state = words.at(words.read + 2 * static_cast<std::uint32_t>(lane)) |
                          words.at(words.read + 2 * static_cast<std::uint32_t>(lane) + 1) << 16;
    words.read += 2 * 32;
    if (2 * words.read > words.size || !__all_sync(~0u, rans::is_state(state))) return false;
    int index = 0;
    for (int begin = 0; begin < of.count; begin += 32) {
        const int number = begin + lane;
        const bool active = number < of.count;
        bool other = false, first_word = false, second_word = false;
        std::uint32_t symbol = 0;
        if (active) {
            while (index + 1 < of.lists && of.begins[index + 1] <= number) ++index;
            const int part_class = of.classes[index];
            const auto place = __ldg(tables.picture_places + part_class * rans::probability_one +
                                     (state & (rans::probability_one - 1)));
            state =
                (place >> LaneTables::place_bits & (rans::probability_one - 1)) * (state >> rans::probability_bits) +
                (place & (rans::probability_one - 1));
            symbol = place >> (LaneTables::place_bits + LaneTables::frequency_bits);
            other = part_class < picture_models::small_classes && symbol == LaneTables::other;
            first_word = state < rans::least_state;
            // Whether the bits of another residual ask for a second word the first one does not tell.
            if (other) second_word = first_word ? state < 1u << 7 : state < rans::least_state << 8;
        }
        const auto first = __ballot_sync(~0u, first_word), second = __ballot_sync(~0u, second_word);
        const auto at = words.read + static_cast<std::uint32_t>(__popc(first & lower) + __popc(second & lower));
        if (first_word) state = state << 16 | words.at(at);
        if (other) {
            const auto bits = rans::take_bits(state, 8);
            symbol = bits.value;
            state = bits.state;
            if (second_word) state = state << 16 | words.at(at + first_word);
        }
        if (active) residuals[number] = static_cast<std::uint8_t>(symbol);
        words.read += static_cast<std::uint32_t>(__popc(first) + __popc(second));
        if (2 * words.read > words.size) return false;
    }
    __syncwarp();
    return __all_sync(~0u, state == rans::least_state) && 2 * words.read == words.size;
}

}  // namespace framewire::delta
