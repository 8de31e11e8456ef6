#include "framewire/delta/entropy/symbols.hpp"

#include <algorithm>
#include <bit>

namespace framewire::delta {
namespace {

constexpr int set_bits = 2;
static_assert(step_models::sets == 1 << set_bits);

}  // namespace

int Symbols::best_set() const {
    const auto& costs = step_costs();
    std::array<std::uint64_t, step_models::sets> total{};
    std::uint64_t some = 0;  // four sums of 16 bits, emptied before they overflow
    constexpr std::size_t at_once = 0xffff / max_symbol_cost;
    for (std::size_t i = 0; i < count_;) {
        const auto end = std::min(count_, i + at_once);
        for (; i < end; ++i) {
            const bool is_plain = entries_[i] & plain;
            some += is_plain ? 0 : costs[is_plain ? 0 : entries_[i]];
        }
        for (std::size_t set = 0; set < total.size(); ++set) total[set] += some >> (16 * set) & 0xffff;
        some = 0;
    }
    return static_cast<int>(std::min_element(total.begin(), total.end()) - total.begin());
}

void Symbols::write(std::vector<std::uint8_t>& out) {
    const auto set = best_set();
    const auto& models = step_model_sets()[static_cast<std::size_t>(set)];
    words_.resize(count_ + 4);
    auto* const end = words_.data() + words_.size();
    auto* word = end;
    auto state = rans::least_state;
    for (auto i = count_; i-- > 0;) {
        const auto entry = entries_[i];
        state = entry & plain ? rans::put_bits(state, entry & 0xff, entry >> 8 & 15, word)
                              : rans::put(state, models.symbol(static_cast<int>(entry)), word);
    }
    state = rans::put_bits(state, static_cast<std::uint32_t>(set), set_bits, word);
    *--word = static_cast<std::uint16_t>(state >> 16);
    *--word = static_cast<std::uint16_t>(state);
    rans::append(word, end, out);
}

const StepModels& read_set(rans::Reader& reader) { return step_model_sets()[reader.bits(set_bits)]; }

}  // namespace framewire::delta
