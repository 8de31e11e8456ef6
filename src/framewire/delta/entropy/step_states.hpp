#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire::delta {

/// Number of rANS states of a block of a delta frame, which the block signals by a symbol of a model of its own. Large
/// blocks have many states, so that vectors and warps can code symbols in parallel; each state adds about 3 bytes.
namespace step_states {

/// Number of choices, and the maximum number of states.
inline constexpr int choices = 3, most = 32;

/// Returns the number of states of a choice.
FRAMEWIRE_HOST_DEVICE constexpr int count(int choice) { return choice == 0 ? 1 : choice == 1 ? 8 : most; }
/// Returns the choice of an encoder for a block whose symbols, without raw bits, cost `cost` eighths of a bit. The
/// limits keep the states below about a fiftieth of the block.
FRAMEWIRE_HOST_DEVICE constexpr int choice_for(std::uint64_t cost) {
    constexpr std::uint64_t kilobyte = 1024 * 64;
    return cost < kilobyte ? 0 : cost < 5 * kilobyte ? 1 : 2;
}

/// Returns the first place of a choice in the model.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t start(int choice) { return choice == 0 ? 0 : choice == 1 ? 3840 : 4032; }
/// Returns the frequency of a choice in the model.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t frequency(int choice) {
    return (choice == 2 ? rans::probability_one : start(choice + 1)) - start(choice);
}
/// Returns the choice that has a place.
FRAMEWIRE_HOST_DEVICE constexpr int choice_at(std::uint32_t place) { return (place >= start(1)) + (place >= start(2)); }

/// Number of bits that select the set of models.
inline constexpr int set_bits = 2;

/// First four bytes of a block of changes in runs, before the states. A state is never that small.
inline constexpr std::uint32_t runs_form = 3;
/// Size of that number in bytes.
inline constexpr std::size_t form_bytes = 4;
/// Returns true if the block begins with that number.
FRAMEWIRE_HOST_DEVICE constexpr bool is_in_runs(const std::uint8_t* block, std::size_t size) {
    return size >= form_bytes && block[0] == runs_form && (block[1] | block[2] | block[3]) == 0;
}

}  // namespace step_states
}  // namespace framewire::delta
