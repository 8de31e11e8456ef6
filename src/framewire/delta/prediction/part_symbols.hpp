#pragma once

#include "framewire/delta/entropy/symbols.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace framewire::delta {

/// Sink for symbols that adds up their costs in 1/8 bits.
class CostSink {
public:
    /// Costs of `limit` and more need not be exact: coding may stop when too_much() is true.
    CostSink(int threshold, std::uint64_t limit)
        : costs_(step_costs().data()), shift_(16 * cost_set(threshold)), limit_(limit) {}

    /// Adds a symbol of a trained model.
    void add(int index) { cost_ += costs_[index] >> shift_ & 0xffff; }
    /// Adds a raw number of `count` bits.
    void add_bits(int, int count) { cost_ += static_cast<std::uint64_t>(count) * 8; }
    /// Returns the sum.
    std::uint64_t cost() const { return cost_; }
    /// Returns true if the sum has reached the limit.
    bool too_much() const { return cost_ >= limit_; }

private:
    // Returns the set of models that most blocks choose.
    static int cost_set(int threshold) { return threshold >= 14 ? 2 : 3; }

    const std::uint64_t* costs_;
    int shift_;
    std::uint64_t limit_, cost_ = 0;
};

/// Returns true if coding to this sink can stop; never for Symbols.
inline bool too_much(const Symbols&) { return false; }
/// Returns true if the sink has reached its limit.
inline bool too_much(const CostSink& sink) { return sink.too_much(); }

/// Adds a component of a vector difference: the number of its bits, the bits below the highest, and the sign.
template <class Sink>
void add_distance(Sink& sink, int model, int distance) {
    const int far = std::abs(distance), bits = static_cast<int>(std::bit_width(static_cast<unsigned>(far)));
    sink.add(model + bits);
    if (bits == 0) return;
    if (bits > 1) sink.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    sink.add_bits(distance < 0, 1);
}

/// Adds the symbols of a sub-block's vector.
template <class Sink>
void add_vector(Sink& sink, MotionVector vector, const CodedParts::Motion& motion) {
    const auto kind = motion.has_left && vector == motion.left     ? as_left
                      : motion.has_above && vector == motion.above ? as_above
                                                                   : new_vector;
    sink.add(motion.kind_model() + kind);
    if (kind != new_vector) return;
    add_distance(sink, motion.bits_model(0), vector.x - motion.near().x);
    add_distance(sink, motion.bits_model(1), vector.y - motion.near().y);
}

}  // namespace framewire::delta
