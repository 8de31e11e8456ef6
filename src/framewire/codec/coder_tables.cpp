#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/coder_tables.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

// rANS coding in SIMD lanes, with one state per lane. The symbols of different lanes are independent, but the words of
// all lanes share one stream. The encoder uses a table of shuffles to compact the words that move out, and the decoder
// uses another one to spread words to their lanes.

// Shared by all SIMD targets. The guard prevents one definition per target.
#ifndef FRAMEWIRE_DELTA_LANES_SHARED
#define FRAMEWIRE_DELTA_LANES_SHARED

namespace framewire::codec {
namespace lanes_shared {

constexpr std::size_t most_at_once = 8;
constexpr std::uint32_t other_residual = picture_models::small_symbols - 1;

/// Shuffles that move words between lanes and adjacent positions, indexed by a bit set of the lanes that have a word.
struct LaneOrders {
    std::uint8_t spread[256][most_at_once];  ///< per lane: the index of its word among adjacent ones
    std::uint8_t gathered4[16][most_at_once],
        gathered8[256][most_at_once];  ///< numbers of the lanes in the set, at the end of the array
};
constexpr LaneOrders lane_orders = [] {
    LaneOrders orders{};
    const auto gather = [](unsigned set, unsigned lanes, std::uint8_t* to) {
        auto place = lanes;
        for (auto lane = lanes; lane-- > 0;)
            if (set >> lane & 1) to[--place] = static_cast<std::uint8_t>(lane);
    };
    for (unsigned set = 0; set < 256; ++set) {
        std::uint8_t next = 0;
        for (unsigned lane = 0; lane < most_at_once; ++lane) orders.spread[set][lane] = (set >> lane & 1) ? next++ : 0;
        gather(set, 8, orders.gathered8[set]);
        if (set < 16) gather(set, 4, orders.gathered4[set]);
    }
    return orders;
}();

// Codes one residual with one state.
inline std::uint32_t put_residual(const rans::Symbol* symbols, bool small, std::uint32_t state, std::uint32_t residual,
                                  std::uint16_t*& word) {
    const bool other = small && residual >= other_residual;
    if (other) state = rans::put_bits(state, residual, 8, word);
    return rans::put(state, symbols[other ? other_residual : residual], word);
}

/// A block of a delta frame that is being coded, last entry first. `count` entries are not coded yet.
struct LaneCoding {
    const LaneSymbol* symbols;
    const rans::Symbol* one_by_one;
    const std::uint16_t* entries;
    std::size_t count;
    std::uint16_t* word;
    alignas(4 * most_at_once) std::uint32_t states[step_states::most];

    LaneCoding(const LaneSymbol* lane_symbols, const rans::Symbol* of_set, const StepEntries& of)
        : symbols(lane_symbols),
          one_by_one(of_set),
          entries(of.entries.data()),
          count(of.entries.size()),
          word(of.words) {
        std::fill_n(states, step_states::most, rans::least_state);
    }

    /// Codes the entries of the last turn if it has fewer entries than `lanes`.
    void put_last_turn(std::size_t lanes) {
        while (count % lanes != 0) {
            --count;
            auto& state = states[count % lanes];
            state = rans::put(state, one_by_one[entries[count]], word);
        }
    }
    /// Writes all states except the first.
    PutSteps finish(std::size_t lanes) {
        for (auto lane = lanes; --lane > 0;) {
            *--word = static_cast<std::uint16_t>(states[lane] >> 16);
            *--word = static_cast<std::uint16_t>(states[lane]);
        }
        return {word, states[0]};
    }
};

/// Input words of read_all(), which reads them turn by turn. A turn reads at most `bytes_per_turn` bytes. Near the end,
/// the words are copied to a buffer that is padded with zeros, so that single reads need no bound check.
class TurnWords {
public:
    static constexpr std::ptrdiff_t bytes_per_turn = 2 * 2 * residual_lanes, loaded_at_once = 2 * most_at_once;

    explicit TurnWords(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// Returns the address of the next turn's words.
    const std::uint8_t* begin_turn() {
        const auto left = end_ - at_;
        if (left < bytes_per_turn + loaded_at_once && !in_tail_) {
            if (left > 0) std::memcpy(tail_, at_, static_cast<std::size_t>(left));
            at_ = tail_;
            end_ = tail_ + left;
            in_tail_ = true;
        }
        return at_;
    }
    /// Ends a turn; `at` is the address after its words. Returns false if `at` is beyond the end of the input.
    bool end_turn(const std::uint8_t* at) {
        at_ = at;
        return at_ <= end_;
    }
    bool at_end() const { return at_ == end_; }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool in_tail_ = false;
    std::uint8_t tail_[2 * (bytes_per_turn + loaded_at_once)] = {};
};

// Loads a little-endian word.
inline std::uint32_t load_word(const std::uint8_t* from) { return static_cast<std::uint32_t>(from[0] | from[1] << 8); }

/// Decodes one residual with one state. `place` is the entry of LaneTables::places for the residual's class and the
/// state's place.
inline void read_residual(std::uint32_t place, bool small, std::uint32_t& state, const std::uint8_t*& words,
                          std::uint8_t& residual) {
    state = (place >> LaneTables::place_bits & (rans::probability_one - 1)) * (state >> rans::probability_bits) +
            (place & (rans::probability_one - 1));
    const auto fill = [&] {
        if (state >= rans::least_state) return;
        state = state << 16 | load_word(words);
        words += 2;
    };
    fill();
    residual = static_cast<std::uint8_t>(place >> (LaneTables::place_bits + LaneTables::frequency_bits));
    if (!small || residual != LaneTables::other) return;
    const auto bits = rans::take_bits(state, 8);
    residual = static_cast<std::uint8_t>(bits.value);
    state = bits.state;
    fill();
}

}  // namespace lanes_shared
}  // namespace framewire::codec

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace lanes_shared;

using D32 = hn::CappedTag<std::uint32_t, most_at_once>;
using DSigned = hn::RebindToSigned<D32>;
using D64 = hn::Repartition<std::uint64_t, D32>;
using D16 = hn::Rebind<std::uint16_t, D32>;
using D8 = hn::Rebind<std::uint8_t, D32>;
using DBytesOf16 = hn::Repartition<std::uint8_t, D16>;

// Permutes lanes; byte i of `order` is the source of lane i.
HWY_INLINE hn::VFromD<D32> reorder(hn::VFromD<D32> v, const std::uint8_t* order) {
    const D32 d32;
    return hn::TableLookupLanes(
        v, hn::IndicesFromVec(d32, hn::BitCast(DSigned(), hn::PromoteTo(d32, hn::LoadU(D8(), order)))));
}

// Returns a mask as a bit set.
template <class Mask>
HWY_INLINE unsigned bits_of(Mask mask) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(DSigned(), mask, bits);
    return bits[0];
}

// Returns the upper halves of the 32x32-bit products.
HWY_INLINE hn::VFromD<D32> high_product(hn::VFromD<D32> a, hn::VFromD<D32> b) {
    const D32 d32;
    const D64 d64;
    const auto odd = [&](hn::VFromD<D32> v)
                         HWY_ATTR { return hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, v))); };
    const auto even = hn::MulEven(a, b);
    return hn::OddEven(hn::BitCast(d32, hn::MulEven(odd(a), odd(b))), hn::BitCast(d32, hn::ShiftRight<32>(even)));
}

/// Loads the symbols index(0), index(1) and so on, for half of the lanes of a vector. Single loads are faster here than
/// a gather.
template <class Index>
HWY_INLINE hn::VFromD<D64> half_of(const LaneSymbol* symbols, Index index) {
    const hn::FixedTag<std::uint64_t, 2> two;
    const hn::Half<decltype(two)> one;
    const auto pair = [&](std::size_t at) HWY_ATTR {
        return hn::Combine(two, hn::Load(one, symbols + index(at + 1)), hn::Load(one, symbols + index(at)));
    };
    if constexpr (HWY_MAX_BYTES == 16)
        return pair(0);
    else
        return hn::Combine(D64(), pair(2), pair(0));
}

/// Codes symbol index(i) in each lane i. Writes words that move out before `word`. Returns the new states.
template <class Index>
HWY_INLINE hn::VFromD<D32> put_vector(const LaneSymbol* symbols, Index index, hn::VFromD<D32> state,
                                      std::uint16_t*& word) {
    const D32 d32;
    const DSigned d_signed;
    const std::size_t n = hn::Lanes(d32);
    const auto* orders = n == 4 ? lane_orders.gathered4 : lane_orders.gathered8;
    const auto low = hn::BitCast(d32, half_of(symbols, index));
    const auto high = hn::BitCast(d32, half_of(symbols, [&](std::size_t at) HWY_ATTR { return index(at + n / 2); }));
    const auto step = hn::ConcatEven(d32, high, low), reciprocal = hn::ConcatOdd(d32, high, low);
    const auto frequency =
        hn::And(hn::ShiftRight<LaneTables::bias_bits>(step), hn::Set(d32, (1u << LaneTables::frequency_bits) - 1));
    const auto bias = hn::And(step, hn::Set(d32, (1u << LaneTables::bias_bits) - 1));
    const auto shift = hn::ShiftRight<LaneTables::bias_bits + LaneTables::frequency_bits>(step);
    // A word moves out if the state is at least 2^15 / 4096 * 2^16 times the frequency. All states are below 2^31, so a
    // signed comparison is correct.
    const auto limit = hn::BitCast(d_signed, hn::ShiftLeft<19>(frequency));
    const auto full = hn::Not(hn::Gt(limit, hn::BitCast(d_signed, state)));
    const auto set = bits_of(full);
    const auto out = hn::And(reorder(state, orders[set]), hn::Set(d32, 0xffff));
    hn::StoreU(hn::DemoteTo(D16(), hn::BitCast(d_signed, out)), D16(), word - n);
    word -= std::popcount(set);
    state = hn::IfThenElse(hn::RebindMask(d32, full), hn::ShiftRight<16>(state), state);
    const auto quotient = hn::Shr(high_product(state, reciprocal), shift);
    const auto complement = hn::Sub(hn::Set(d32, rans::probability_one), frequency);
    return hn::Add(hn::Add(state, bias), hn::Mul(quotient, complement));
}

/// The states of a block that is being coded, in registers. 32 states take several vectors, which are independent of
/// each other.
template <std::size_t vectors>
class StatesInVectors {
public:
    HWY_INLINE explicit StatesInVectors(LaneCoding& coding)
        : coding_(coding), symbols_(coding.symbols), end_(coding.entries + coding.count), word_(coding.word) {
        for (std::size_t i = 0; i < vectors; ++i) of_[i] = hn::Load(D32(), coding.states + i * hn::Lanes(D32()));
    }
    /// Codes the last remaining symbols, as many as a vector has lanes, with the states of one vector. Call it for each
    /// vector in turn, the last one first.
    HWY_INLINE void put(std::size_t vector) {
        end_ -= hn::Lanes(D32());
        const auto* const next = end_;
        of_[vector] = put_vector(
            symbols_, [next](std::size_t at) { return next[at]; }, of_[vector], word_);
    }
    /// Writes the states and the position back to the LaneCoding.
    HWY_INLINE void give_back() {
        for (std::size_t i = 0; i < vectors; ++i) hn::Store(of_[i], D32(), coding_.states + i * hn::Lanes(D32()));
        coding_.count = static_cast<std::size_t>(end_ - coding_.entries);
        coding_.word = word_;
    }

private:
    LaneCoding& coding_;
    const LaneSymbol* symbols_;
    const std::uint16_t* end_;
    std::uint16_t* word_;
    hn::VFromD<D32> of_[vectors];
};

// Codes all remaining symbols. Their number must be a multiple of `lanes`.
template <std::size_t lanes>
HWY_INLINE void put_left(LaneCoding& coding) {
    constexpr std::size_t vectors = lanes / hn::MaxLanes(D32());
    StatesInVectors<vectors> states(coding);
    for (auto turns = coding.count / lanes; turns > 0; --turns)
        for (auto i = vectors; i-- > 0;) states.put(i);
    states.give_back();
}

}  // namespace

PutSteps put_step_entries(LaneCoding& coding, std::size_t lanes) {
    coding.put_last_turn(lanes);
    lanes == 8 ? put_left<8>(coding) : put_left<step_states::most>(coding);
    return coding.finish(lanes);
}

std::array<PutSteps, 2> put_two_step_entries(LaneCoding& one, LaneCoding& other) {
    constexpr std::size_t lanes = 8, vectors = lanes / hn::MaxLanes(D32());
    one.put_last_turn(lanes);
    other.put_last_turn(lanes);
    {
        StatesInVectors<vectors> states(one), other_states(other);
        // The blocks take turns until the shorter one is finished. The rest of the longer one is coded alone below.
        for (auto turns = std::min(one.count, other.count) / lanes; turns > 0; --turns)
            for (auto i = vectors; i-- > 0;) {
                states.put(i);
                other_states.put(i);
            }
        states.give_back();
        other_states.give_back();
    }
    put_left<lanes>(one.count > 0 ? one : other);
    return {one.finish(lanes), other.finish(lanes)};
}

// Implements put_residuals() for one SIMD target. A whole vector of residuals of one sub-block is coded at once, unless
// one of them needs raw bits. All other residuals are coded one by one.
std::uint16_t* put_all(const LaneTables& tables, const rans::Symbol* symbols, const ResidualPart* parts,
                       std::size_t part_count, const std::uint8_t* residuals, std::size_t index, std::uint16_t* word) {
    const D32 d32;
    const DSigned d_signed;
    const std::size_t n = hn::Lanes(d32);
    HWY_ALIGN std::uint32_t states[residual_lanes];
    std::fill_n(states, residual_lanes, rans::least_state);
    for (auto part = part_count; part-- > 0;) {
        const bool small = LaneTables::is_small(parts[part].part_class);
        const int first = LaneTables::first(parts[part].part_class);
        const auto begin = index - parts[part].count;
        const auto put_one = [&] {
            --index;
            auto& state = states[index % residual_lanes];
            state = put_residual(symbols + first, small, state, residuals[index], word);
        };
        const auto other = hn::Set(d_signed, small ? static_cast<std::int32_t>(other_residual) : 256);
        while (index > begin) {
            if (index % n != 0 || index - begin < n) {
                put_one();
                continue;
            }
            const auto residual = hn::PromoteTo(d32, hn::LoadU(D8(), residuals + index - n));
            if (!hn::AllTrue(d_signed, hn::Lt(hn::BitCast(d_signed, residual), other))) {
                for (std::size_t i = 0; i < n; ++i) put_one();
                continue;
            }
            index -= n;
            const auto symbol = [&](std::size_t at) { return residuals[index + at]; };
            auto* const lane = states + index % residual_lanes;
            const auto state = hn::Load(d32, lane);
            hn::Store(put_vector(&tables.lane_symbols[static_cast<std::size_t>(first)], symbol, state, word), d32,
                      lane);
        }
    }
    for (auto lane = residual_lanes; lane-- > 0;) {
        *--word = static_cast<std::uint16_t>(states[lane] >> 16);
        *--word = static_cast<std::uint16_t>(states[lane]);
    }
    return word;
}

namespace {

/// Decoder for residuals that keeps all states in registers.
class ResidualLanes {
    using V = hn::VFromD<D32>;
    static constexpr std::size_t n = hn::MaxLanes(D32()), vectors = residual_lanes / n;

public:
    /// Creates a decoder. `classes` has one entry per residual, and `residual_lanes` more as padding.
    HWY_INLINE ResidualLanes(const LaneTables& tables, const std::uint8_t* classes, const std::uint32_t* states)
        : places_(tables.places.data()), classes_(classes) {
        for (std::size_t v = 0; v < vectors; ++v) {
            states_[v] = hn::Load(D32(), states + v * n);
            find_next(v, classes_ + v * n);
        }
    }

    /// Reads one residual in each lane of vector `v`, beginning with residual `index`.
    HWY_INLINE void read(std::size_t v, std::size_t index, const std::uint8_t*& words, std::uint8_t* residuals) {
        const D32 d32;
        const DSigned d_signed;
        const auto place_mask = hn::Set(d32, rans::probability_one - 1);
        const auto place = look_up(v);
        const auto symbol =
            hn::BitCast(d_signed, hn::ShiftRight<LaneTables::place_bits + LaneTables::frequency_bits>(place));
        // The raw bits of a residual may need a word before the next lane reads its word, so the lanes must be read in
        // order.
        if (HWY_UNLIKELY(!hn::AllFalse(d_signed, hn::Eq(symbol, hn::Set(d_signed, LaneTables::other))))) {
            read_one_by_one(v, n, index, words, residuals);
        } else {
            const auto frequency = hn::And(hn::ShiftRight<LaneTables::place_bits>(place), place_mask);
            const auto state = hn::Add(hn::Mul(frequency, hn::ShiftRight<rans::probability_bits>(states_[v])),
                                       hn::And(place, place_mask));
            // States of invalid streams may have the highest bit set. They do not need a word either, so the test must
            // be unsigned.
            const auto is_low = hn::Eq(hn::ShiftRight<15>(state), hn::Zero(d32));
            const auto set = bits_of(hn::RebindMask(d_signed, is_low));
            const auto ahead = hn::BitCast(D16(), hn::LoadU(DBytesOf16(), words));
            const auto word = reorder(hn::PromoteTo(d32, ahead), lane_orders.spread[set]);
            words += 2 * std::popcount(set);
            states_[v] = hn::IfThenElse(is_low, hn::Or(hn::ShiftLeft<16>(state), word), state);
            hn::StoreU(hn::DemoteTo(D8(), symbol), D8(), residuals + index);
        }
        find_next(v, classes_ + index + residual_lanes);
    }

    /// Variant of read() for the first `count` lanes, one after the other.
    void read_one_by_one(std::size_t v, std::size_t count, std::size_t index, const std::uint8_t*& words,
                         std::uint8_t* residuals) {
        HWY_ALIGN std::uint32_t lanes[n];
        hn::Store(states_[v], D32(), lanes);
        for (std::size_t i = 0; i < count; ++i)
            read_residual(places_[next_[v * n + i]], LaneTables::is_small(classes_[index + i]), lanes[i], words,
                          residuals[index + i]);
        states_[v] = hn::Load(D32(), lanes);
    }

    /// Returns true if all states have the value with which the encoder began.
    bool at_end() const {
        auto same = hn::Eq(states_[0], hn::Set(D32(), rans::least_state));
        for (std::size_t v = 1; v < vectors; ++v)
            same = hn::And(same, hn::Eq(states_[v], hn::Set(D32(), rans::least_state)));
        return hn::AllTrue(D32(), same);
    }

private:
    // Computes the table index of each lane's next residual from its class and its state's place.
    HWY_INLINE void find_next(std::size_t v, const std::uint8_t* classes) {
        const D32 d32;
        const auto of_class = hn::ShiftLeft<rans::probability_bits>(hn::PromoteTo(d32, hn::LoadU(D8(), classes)));
        hn::Store(hn::Or(hn::And(states_[v], hn::Set(d32, rans::probability_one - 1)), of_class), d32, next_ + v * n);
    }
    // Looks up the table entries for the lanes of a vector. Combining pairs of loads is faster here than a gather or
    // loads into single lanes.
    template <class D = D64>
    HWY_INLINE V look_up(std::size_t v) const {
        const auto pair = [&](std::size_t at) HWY_ATTR {
            std::uint64_t both;
            std::memcpy(&both, next_ + v * n + at, sizeof(both));
            const std::uint64_t first = places_[static_cast<std::uint32_t>(both)], second = places_[both >> 32];
            return hn::Set(hn::FixedTag<std::uint64_t, 1>(), first | second << 32);
        };
        const hn::FixedTag<std::uint64_t, 2> two;
        const auto low = hn::Combine(two, pair(2), pair(0));
        if constexpr (n == 4)
            return hn::BitCast(D32(), low);
        else
            return hn::BitCast(D32(), hn::Combine(D(), hn::Combine(two, pair(6), pair(4)), low));
    }

    const std::uint32_t* const places_;
    const std::uint8_t* const classes_;
    V states_[vectors];
    HWY_ALIGN std::uint32_t next_[residual_lanes];
};

}  // namespace

// Implements read_residuals() for one SIMD target.
bool read_all(const LaneTables& tables, const std::uint8_t* classes, std::size_t count, const std::uint32_t* states,
              std::span<const std::uint8_t> bytes, std::uint8_t* residuals) {
    constexpr std::size_t n = hn::MaxLanes(D32());
    TurnWords words(bytes);
    ResidualLanes lanes(tables, classes, states);
    std::size_t index = 0;
    for (; index + residual_lanes <= count; index += residual_lanes) {
        const auto* at = words.begin_turn();
        [&]<std::size_t... v>(std::index_sequence<v...>) HWY_ATTR __attribute__((always_inline)) {
            (lanes.read(v, index + v * n, at, residuals), ...);
        }
        (std::make_index_sequence<residual_lanes / n>());
        if (!words.end_turn(at)) return false;
    }
    const auto* at = words.begin_turn();
    for (std::size_t v = 0; v < residual_lanes / n && index < count; ++v, index += n) {
        if (index + n <= count)
            lanes.read(v, index, at, residuals);
        else
            lanes.read_one_by_one(v, count - index, index, at, residuals);
    }
    return words.end_turn(at) && words.at_end() && lanes.at_end();
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {
using lanes_shared::LaneCoding;

HWY_EXPORT(put_step_entries);
HWY_EXPORT(put_two_step_entries);
HWY_EXPORT(put_all);
HWY_EXPORT(read_all);

namespace {
LaneCoding coding_of(const StepEntries& of) {
    const auto set = static_cast<std::size_t>(of.set);
    return {step_lane_symbols()[set].data(), &step_model_sets()[set].symbol(0), of};
}
}  // namespace

PutSteps put_steps(const StepEntries& of, int states) {
    auto coding = coding_of(of);
    return HWY_DYNAMIC_DISPATCH(put_step_entries)(coding, static_cast<std::size_t>(states));
}
std::array<PutSteps, 2> put_two_steps(const StepEntries& one, const StepEntries& other) {
    auto coding = coding_of(one), other_coding = coding_of(other);
    return HWY_DYNAMIC_DISPATCH(put_two_step_entries)(coding, other_coding);
}

std::uint16_t* put_residuals(std::span<const ResidualPart> parts, std::span<const std::uint8_t> residuals,
                             std::uint16_t* words) {
    return HWY_DYNAMIC_DISPATCH(put_all)(lane_tables(), &trained_picture_models().symbol(0), parts.data(), parts.size(),
                                         residuals.data(), residuals.size(), words);
}

bool read_residuals(std::span<const std::uint8_t> bytes, std::span<const ResidualPart> parts,
                    std::span<std::uint8_t> residuals) {
    constexpr std::size_t state_bytes = residual_lanes * sizeof(std::uint32_t), most_each = 64;
    if (bytes.size() < state_bytes) return false;
    alignas(64) std::uint32_t states[residual_lanes];
    std::memcpy(states, bytes.data(), state_bytes);
    for (const auto state : states)
        if (!rans::is_state(state)) return false;
    // Class of each residual. The class of a sub-block is always written 64 times, so the array is longer than needed.
    std::array<std::uint8_t, most_residuals + most_each + residual_lanes> classes;
    auto* end = classes.data();
    for (const auto& part : parts) {
        std::memset(end, part.part_class, most_each);
        end += part.count;
    }
    std::memset(end, 0, residual_lanes);
    return HWY_DYNAMIC_DISPATCH(read_all)(lane_tables(), classes.data(), residuals.size(), states,
                                          bytes.subspan(state_bytes), residuals.data());
}

}  // namespace framewire::codec

#endif

#if HWY_ONCE

// Lookup tables for kernels. The host derives them from the models that the CPU uses, and uploads them in one
// allocation.

namespace framewire::codec {
namespace {

ChainSymbol chain_symbol(const rans::Symbol& symbol) {
    return {symbol.first_too_large, symbol.reciprocal, symbol.bias,
            std::uint32_t{symbol.complement} << ChainSymbol::shift_bits | symbol.shift};
}

// Concatenation of tables, each aligned to 16 bytes. add() returns the offset of the added table.
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
    for (const auto& models : step_model_sets())
        for (int symbol = 0; symbol < step_models::symbols; ++symbol)
            steps.push_back(chain_symbol(models.symbol(symbol)));
    for (int choice = 0; choice < step_states::choices; ++choice)
        states.push_back(chain_symbol(rans::symbol_of(step_states::start(choice), step_states::frequency(choice))));
    const auto& of_pictures = trained_picture_models();
    for (int symbol = 0; symbol < picture_models::symbols; ++symbol)
        pictures.push_back(chain_symbol(of_pictures.symbol(symbol)));
    Tables all;
    const auto steps_at = all.add(steps), states_at = all.add(states), costs_at = all.add(step_costs()),
               pictures_at = all.add(pictures), ranks_at = all.add(pattern_ranks);
    memory_ = cuda::DeviceBuffer(all.bytes().size());
    cuda::upload(all.bytes().data(), memory_.data(), all.bytes().size(), stream);
    // Wait for the upload, because the host copy is freed on return.
    stream.synchronize();
    const auto* const first = memory_.data();
    // Turn the offsets into addresses in device memory.
    const auto set = [&](auto*& table, std::size_t at) {
        table = reinterpret_cast<std::remove_reference_t<decltype(table)>>(first + at);
    };
    set(tables_.steps, steps_at);
    set(tables_.states, states_at);
    set(tables_.step_costs, costs_at);
    set(tables_.pictures, pictures_at);
    set(tables_.pattern_ranks, ranks_at);
}

}  // namespace framewire::codec

// Tables for coding in SIMD lanes, derived from the trained models. An entry packs all that a lane needs to know about
// a symbol into one number, so that a single load fetches it.

namespace framewire::codec {
namespace {

LaneSymbol lane_symbol(const rans::Symbol& symbol) {
    const auto frequency = rans::probability_one - symbol.complement;
    return LaneSymbol{symbol.reciprocal} << 32 | symbol.bias | frequency << LaneTables::bias_bits |
           std::uint32_t{symbol.shift} << (LaneTables::bias_bits + LaneTables::frequency_bits);
}

}  // namespace

const LaneTables& lane_tables() {
    static const auto tables = [] {
        auto made = std::make_unique<LaneTables>();
        const auto& models = trained_picture_models();
        for (std::size_t i = 0; i < LaneTables::symbols; ++i)
            made->lane_symbols[i] = lane_symbol(models.symbol(static_cast<int>(i)));
        auto* place = made->places.data();
        for (int part_class = 0; part_class < picture_models::classes; ++part_class) {
            const bool small = LaneTables::is_small(part_class);
            const int count = small ? picture_models::small_symbols : 256;
            for (int symbol = 0; symbol < count; ++symbol) {
                const auto frequency = models.frequency(LaneTables::first(part_class) + symbol);
                // The last symbol of a small class means that raw bits follow.
                const int residual = small && symbol + 1 == count ? LaneTables::other : symbol;
                for (std::uint32_t i = 0; i < frequency; ++i)
                    *place++ = i | frequency << LaneTables::place_bits |
                               static_cast<std::uint32_t>(residual)
                                   << (LaneTables::place_bits + LaneTables::frequency_bits);
            }
        }
        return made;
    }();
    return *tables;
}

const std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>& step_lane_symbols() {
    static const auto sets = [] {
        auto made = std::make_unique<std::array<std::array<LaneSymbol, step_models::symbols>, step_models::sets>>();
        for (std::size_t set = 0; set < made->size(); ++set)
            for (std::size_t i = 0; i < step_models::symbols; ++i)
                (*made)[set][i] = lane_symbol(step_model_sets()[set].symbol(static_cast<int>(i)));
        return made;
    }();
    return *sets;
}

}  // namespace framewire::codec

#endif  // HWY_ONCE
