#include "framewire/codec/symbols.hpp"
#include "framewire/codec/coder_tables.hpp"

#include <algorithm>
#include <bit>
#include <utility>

// Coding of the symbols of blocks. A single rANS chain is limited by latency, because each state depends on the
// previous one. Therefore, several blocks are coded together, and large blocks have several interleaved states (Giesen,
// "Interleaved entropy coders", arXiv:1402.3392, 2014).
//
// A coded block, from its first word to its last one:
//
//     form 3      only in runs: the number 3, two words
//     state 0     with the words that it needs while the set of models and the number of states are read
//     states      1 to 7 or 1 to 31, if there are several
//     words       in the order in which the decoder needs them
//     residuals   only in runs: 32 states and the words of the magnitudes
//
// The block is written from its end to its beginning.

namespace framewire::codec {
static_assert(step_models::sets == 1 << step_states::set_bits);

std::array<std::uint64_t, step_models::sets> Symbols::costs_by_set() const {
    const auto& costs = step_costs();
    std::array<std::uint64_t, step_models::sets> total{};
    const auto* entry = entries_.data();
    constexpr std::size_t at_once = 0xffff / max_symbol_cost;  // keeps the four sums of 16 bits from overflowing
    for (auto left = count_; left > 0;) {
        const auto count = std::min(left, at_once);
        std::uint64_t some = 0, others = 0;
        std::size_t i = 0;
        for (; i + 4 <= count; i += 4) {
            some += costs[entry[i]] + costs[entry[i + 1]];
            others += costs[entry[i + 2]] + costs[entry[i + 3]];
        }
        for (; i < count; ++i) some += costs[entry[i]];
        some += others;
        for (std::size_t set = 0; set < total.size(); ++set) total[set] += some >> (16 * set) & 0xffff;
        entry += count;
        left -= count;
    }
    return total;
}

Symbols::Best Symbols::best() const {
    const auto costs = costs_by_set();
    const auto least = std::min_element(costs.begin(), costs.end());
    return {static_cast<int>(least - costs.begin()), step_states::choice_for(*least)};
}

std::uint64_t Symbols::cost() const {
    const auto costs = costs_by_set();
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count_; ++i) bits += static_cast<std::uint64_t>(step_models::bits_of(entries_[i]));
    return *std::min_element(costs.begin(), costs.end()) + 8 * bits;
}

/// A block that is being coded, last entry first. The entries before `entry` are not coded yet. With several states,
/// all entries are coded in one call, and only the first state remains to be written.
struct Symbols::Coding {
    const rans::Symbol* symbols;
    const std::uint16_t* first;
    const std::uint16_t* entry;
    std::uint32_t state;
    std::uint16_t* word;

    std::size_t left() const { return static_cast<std::size_t>(entry - first); }
    std::span<const std::uint16_t> entries() const { return {first, entry}; }
    /// Returns the coding after put_steps() has coded all entries.
    Coding put(const PutSteps& all) const { return {symbols, first, first, all.first_state, all.words}; }
};

Symbols::Coding Symbols::begin(int set) {
    const auto of_residuals = residuals_.empty() ? 0 : 2 * (residuals_.bytes().size() + residual_lanes);
    words_.resize(words_below + 4 + 2 * step_states::most + count_ + of_residuals);
    auto* word = words_.data() + words_.size();
    if (!residuals_.empty()) word = put_residuals(residuals_.parts(), residuals_.bytes(), word);
    return {&step_model_sets()[static_cast<std::size_t>(set)].symbol(0), entries_.data(), entries_.data() + count_,
            rans::least_state, word};
}

Symbols::Coding Symbols::code_in_lanes(const Best& best) {
    const auto coding = begin(best.set);
    return coding.put(put_steps({best.set, coding.entries(), coding.word}, step_states::count(best.states)));
}

std::array<Symbols::Coding, 2> Symbols::code_two_in_lanes(Symbols& one, int set, Symbols& other, int other_set) {
    const auto coding = one.begin(set), other_coding = other.begin(other_set);
    static_assert(step_states::count(1) == 8);
    const auto put =
        put_two_steps({set, coding.entries(), coding.word}, {other_set, other_coding.entries(), other_coding.word});
    return {coding.put(put[0]), other_coding.put(put[1])};
}

// Codes `entries` entries of each of `count` blocks. A chain has a long latency per symbol, which interleaving
// independent chains hides.
template <std::size_t count>
void Symbols::code(Coding* const* codings, std::size_t entries) {
    // Copies of the codings, which the compiler keeps in registers.
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        Coding of[count] = {*codings[i]...};
        const auto code_one = [](Coding& to) { to.state = rans::put(to.state, to.symbols[*--to.entry], to.word); };
        for (; entries > 0; --entries) (code_one(of[i]), ...);
        ((*codings[i] = of[i]), ...);
    }
    (std::make_index_sequence<count>());
}

// Codes `count` blocks until at least one of them is finished. Moves the unfinished blocks to the front of `active` and
// returns their number.
template <std::size_t count>
std::size_t Symbols::code_some(std::span<Coding*> active) {
    const auto least = [](const Coding* a, const Coding* b) { return a->left() < b->left(); };
    code<count>(active.data(), (*std::min_element(active.begin(), active.end(), least))->left());
    const auto is_over = [](const Coding* coding) { return coding->left() == 0; };
    return static_cast<std::size_t>(std::remove_if(active.begin(), active.end(), is_over) - active.begin());
}

void Symbols::finish(const Coding& coding, const Best& best, std::vector<std::uint8_t>& out) {
    auto* word = coding.word;
    const auto states = rans::symbol_of(step_states::start(best.states), step_states::frequency(best.states));
    auto state = rans::put(coding.state, states, word);
    state = rans::put_bits(state, static_cast<std::uint32_t>(best.set), step_states::set_bits, word);
    *--word = static_cast<std::uint16_t>(state >> 16);
    *--word = static_cast<std::uint16_t>(state);
    if (!residuals_.empty()) {
        *--word = static_cast<std::uint16_t>(step_states::runs_form >> 16);
        *--word = static_cast<std::uint16_t>(step_states::runs_form & 0xffff);
    }
    rans::append(word, words_.data() + words_.size(), out);
}

void Symbols::write(std::vector<std::uint8_t>& out) {
    std::size_t size;
    write({this, 1}, out, {&size, 1});
}

void Symbols::write(std::span<Symbols> blocks, std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    constexpr std::size_t most = 16, at_once = 4;
    while (blocks.size() > most) {
        write(blocks.first(most), out, sizes.first(most));
        blocks = blocks.subspan(most);
        sizes = sizes.subspan(most);
    }
    // Blocks with one state are coded four at a time; whenever one is finished, the next one takes its place. Blocks
    // with 8 states are coded in pairs, and blocks with 32 states alone.
    std::array<Best, most> best;
    std::array<Coding, most> codings;
    std::array<Coding*, at_once> active;
    std::array<std::size_t, most> of_eight;  // indices of the blocks with 8 states
    std::size_t active_count = 0, eights = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        best[i] = blocks[i].best();
        if (best[i].states > 1) {
            codings[i] = blocks[i].code_in_lanes(best[i]);
            continue;
        }
        if (best[i].states == 1) {
            of_eight[eights++] = i;
            continue;
        }
        codings[i] = blocks[i].begin(best[i].set);
        active[active_count++] = &codings[i];
        while (active_count == at_once) active_count = code_some<at_once>(active);
    }
    // Pair blocks of similar length, because the remainder of the longer one is coded alone.
    std::sort(of_eight.begin(), of_eight.begin() + static_cast<std::ptrdiff_t>(eights),
              [&](std::size_t a, std::size_t b) { return blocks[a].count_ < blocks[b].count_; });
    for (; eights > 1; eights -= 2) {
        const auto one = of_eight[eights - 1], other = of_eight[eights - 2];
        const auto two = code_two_in_lanes(blocks[one], best[one].set, blocks[other], best[other].set);
        codings[one] = two[0];
        codings[other] = two[1];
    }
    if (eights == 1) codings[of_eight[0]] = blocks[of_eight[0]].code_in_lanes(best[of_eight[0]]);
    while (active_count > 0) {
        const auto left = std::span(active).first(active_count);
        active_count = active_count == 1   ? code_some<1>(left)
                       : active_count == 2 ? code_some<2>(left)
                                           : code_some<3>(left);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto before = out.size();
        blocks[i].finish(codings[i], best[i], out);
        sizes[i] = out.size() - before;
    }
}

}  // namespace framewire::codec
