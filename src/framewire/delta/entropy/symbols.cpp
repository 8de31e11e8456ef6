#include "framewire/delta/entropy/symbols.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace framewire::delta {
namespace {

constexpr int set_bits = 2;
static_assert(step_models::sets == 1 << set_bits);

}  // namespace

std::array<std::uint64_t, step_models::sets> Symbols::costs_by_set() const {
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
    return total;
}

int Symbols::best_set() const {
    const auto costs = costs_by_set();
    return static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

std::uint64_t Symbols::cost() const {
    const auto costs = costs_by_set();
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count_; ++i) bits += entries_[i] & plain ? entries_[i] >> 8 & 15 : 0;
    return *std::min_element(costs.begin(), costs.end()) + 8 * bits;
}

/// A block half coded: from the last entry on, so that those before `entry` are left.
struct Symbols::Coding {
    const rans::Symbol* symbols;
    const std::uint16_t* first;
    const std::uint16_t* entry;
    std::uint32_t state;
    std::uint16_t* word;

    std::size_t left() const { return static_cast<std::size_t>(entry - first); }
};

Symbols::Coding Symbols::begin(int set) {
    words_.resize(count_ + 4);
    return {&step_model_sets()[static_cast<std::size_t>(set)].symbol(0), entries_.data(), entries_.data() + count_,
            rans::least_state, words_.data() + words_.size()};
}

/// Codes as many entries of each. A state waits for what it was before, so a processor has time for several.
template <std::size_t count>
void Symbols::code(Coding* const* codings, std::size_t entries) {
    // Each in registers of its own.
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        Coding of[count] = {*codings[i]...};
        const auto code_one = [](Coding& to) {
            const auto next = *--to.entry;
            to.state = next & plain ? rans::put_bits(to.state, next & 0xff, next >> 8 & 15, to.word)
                                    : rans::put(to.state, to.symbols[next], to.word);
        };
        for (; entries > 0; --entries) (code_one(of[i]), ...);
        ((*codings[i] = of[i]), ...);
    }
    (std::make_index_sequence<count>());
}

/// Codes `count` blocks until one is over or more of them, and returns how many are left, which lie first then.
template <std::size_t count>
std::size_t Symbols::code_some(std::span<Coding*> active) {
    const auto least = [](const Coding* a, const Coding* b) { return a->left() < b->left(); };
    code<count>(active.data(), (*std::min_element(active.begin(), active.end(), least))->left());
    const auto is_over = [](const Coding* coding) { return coding->left() == 0; };
    return static_cast<std::size_t>(std::remove_if(active.begin(), active.end(), is_over) - active.begin());
}

void Symbols::finish(const Coding& coding, int set, std::vector<std::uint8_t>& out) {
    auto* word = coding.word;
    const auto state = rans::put_bits(coding.state, static_cast<std::uint32_t>(set), set_bits, word);
    *--word = static_cast<std::uint16_t>(state >> 16);
    *--word = static_cast<std::uint16_t>(state);
    rans::append(word, words_.data() + words_.size(), out);
}

void Symbols::write(std::vector<std::uint8_t>& out) {
    const int set = best_set();
    auto coding = begin(set);
    Coding* const only = &coding;
    code<1>(&only, coding.left());
    finish(coding, set, out);
}

void Symbols::write(std::span<Symbols> blocks, std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    constexpr std::size_t most = 16, at_once = 4;
    while (blocks.size() > most) {
        write(blocks.first(most), out, sizes.first(most));
        blocks = blocks.subspan(most);
        sizes = sizes.subspan(most);
    }
    std::array<int, most> sets;
    std::array<Coding, most> codings;
    std::array<Coding*, at_once> active;
    std::size_t active_count = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        sets[i] = blocks[i].best_set();
        codings[i] = blocks[i].begin(sets[i]);
        active[active_count++] = &codings[i];
        while (active_count == at_once) active_count = code_some<at_once>(active);
    }
    while (active_count > 0) {
        const auto left = std::span(active).first(active_count);
        active_count = active_count == 1   ? code_some<1>(left)
                       : active_count == 2 ? code_some<2>(left)
                                           : code_some<3>(left);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto before = out.size();
        blocks[i].finish(codings[i], sets[i], out);
        sizes[i] = out.size() - before;
    }
}

const StepModels& read_set(rans::Reader& reader) { return step_model_sets()[reader.bits(set_bits)]; }

}  // namespace framewire::delta
