#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// How many states the symbols of a block of steps take turns with: a block says so with a symbol of its own model.
/// Large blocks have many, so that vectors and warps code symbols side by side; each takes about 3 bytes.
namespace step_states {

inline constexpr int choices = 3, most = 32;

/// How many it is of each choice.
FRAMEWIRE_HOST_DEVICE constexpr int count(int choice) { return choice == 0 ? 1 : choice == 1 ? 8 : most; }
/// What an encoder chooses for a block whose symbols, numbers of bits aside, cost so much, in 1/8 bits: states may take
/// a fiftieth of it.
FRAMEWIRE_HOST_DEVICE constexpr int choice_for(std::uint64_t cost) {
    constexpr std::uint64_t kilobyte = 1024 * 64;
    return cost < kilobyte ? 0 : cost < 5 * kilobyte ? 1 : 2;
}

/// The model: where a choice starts, and its frequency.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t start(int choice) { return choice == 0 ? 0 : choice == 1 ? 3840 : 4032; }
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t frequency(int choice) {
    return (choice == 2 ? rans::probability_one : start(choice + 1)) - start(choice);
}
FRAMEWIRE_HOST_DEVICE constexpr int choice_at(std::uint32_t place) { return (place >= start(1)) + (place >= start(2)); }

/// A set of models is told with so many bits.
inline constexpr int set_bits = 2;

/// The first four bytes of a block of changes in runs, before what all blocks of steps have: their first state is never
/// that small.
inline constexpr std::uint32_t runs_form = 3;
inline constexpr std::size_t form_bytes = 4;
FRAMEWIRE_HOST_DEVICE constexpr bool is_in_runs(const std::uint8_t* block, std::size_t size) {
    return size >= form_bytes && block[0] == runs_form && (block[1] | block[2] | block[3]) == 0;
}

}  // namespace step_states
}  // namespace framewire::delta
