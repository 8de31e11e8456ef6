// Lookup tables for kernels: the host builds the same tables as for the CPU and uploads them in one allocation.

#include "framewire/delta/entropy/coder_tables.hpp"

#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/entropy/lane_tables.hpp"
#include "framewire/delta/entropy/step_states.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace framewire::delta {
namespace {

ChainSymbol chain_symbol(const rans::Symbol& symbol) {
    return {symbol.first_too_large, symbol.reciprocal, symbol.bias,
            std::uint32_t{symbol.complement} << ChainSymbol::shift_bits | symbol.shift};
}

// Start and frequency of a symbol in one word.
template <class Models>
std::uint32_t range_of(const Models& models, int symbol) {
    return models.start(symbol) | models.frequency(symbol) << 16;
}

// Concatenation of tables, each at a multiple of 16 bytes. add() returns the offset of the table.
class Tables {
public:
    template <class T>
    std::size_t add(const T* values, std::size_t count) {
        const auto at = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(at + count * sizeof(T));
        std::memcpy(bytes_.data() + at, values, count * sizeof(T));
        return at;
    }
    template <class Container>
    std::size_t add(const Container& values) {
        return add(values.data(), values.size());
    }
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace

DeviceCoderTables::DeviceCoderTables(const cuda::Stream& stream) {
    std::vector<ChainSymbol> steps, states, pictures;
    std::vector<std::uint32_t> step_ranges, picture_ranges;
    for (const auto& models : step_model_sets())
        for (int symbol = 0; symbol < step_models::symbols; ++symbol) {
            steps.push_back(chain_symbol(models.symbol(symbol)));
            step_ranges.push_back(range_of(models, symbol));
        }
    for (int choice = 0; choice < step_states::choices; ++choice)
        states.push_back(chain_symbol(rans::symbol_of(step_states::start(choice), step_states::frequency(choice))));
    const auto& of_pictures = trained_picture_models();
    for (int symbol = 0; symbol < picture_models::symbols; ++symbol) {
        pictures.push_back(chain_symbol(of_pictures.symbol(symbol)));
        picture_ranges.push_back(range_of(of_pictures, symbol));
    }
    Tables all;
    const auto steps_at = all.add(steps), states_at = all.add(states), costs_at = all.add(step_costs()),
               ranges_at = all.add(step_ranges), pictures_at = all.add(pictures),
               places_at = all.add(lane_tables().places), picture_ranges_at = all.add(picture_ranges),
               ranks_at = all.add(pattern_ranks), patterns_at = all.add(patterns_by_frequency);
    memory_ = cuda::DeviceBuffer(all.bytes().size());
    cuda::upload(all.bytes().data(), memory_.data(), all.bytes().size(), stream);
    // The host copy is freed on return.
    stream.synchronize();
    const auto* const first = memory_.data();
    // Turn the offsets into addresses in device memory.
    const auto set = [&](auto*& table, std::size_t at) {
        table = reinterpret_cast<std::remove_reference_t<decltype(table)>>(first + at);
    };
    set(tables_.steps, steps_at);
    set(tables_.states, states_at);
    set(tables_.step_costs, costs_at);
    set(tables_.step_ranges, ranges_at);
    set(tables_.pictures, pictures_at);
    set(tables_.picture_places, places_at);
    set(tables_.picture_ranges, picture_ranges_at);
    set(tables_.pattern_ranks, ranks_at);
    set(tables_.patterns, patterns_at);
}

}  // namespace framewire::delta
