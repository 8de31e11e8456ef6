#pragma once

#include "framewire/delta/entropy/symbols.hpp"
#include "framewire/delta/prediction/part_modes.hpp"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace framewire::delta {

/// Adds up what symbols cost, in 1/8 bits.
class CostSink {
public:
    /// From `limit` on it does not matter.
    CostSink(int threshold, std::uint64_t limit)
        : costs_(step_costs().data()), shift_(16 * cost_set(threshold)), limit_(limit) {}

    void add(int index) { cost_ += costs_[index] >> shift_ & 0xffff; }
    void add_bits(int, int count) { cost_ += static_cast<std::uint64_t>(count) * 8; }
    std::uint64_t cost() const { return cost_; }
    bool too_much() const { return cost_ >= limit_; }

private:
    /// The set of models that most blocks take.
    static int cost_set(int threshold) { return threshold >= 14 ? 2 : 3; }

    const std::uint64_t* costs_;
    int shift_;
    std::uint64_t limit_, cost_ = 0;
};

inline bool too_much(const Symbols&) { return false; }
inline bool too_much(const CostSink& sink) { return sink.too_much(); }

template <class Sink>
void add_distance(Sink& sink, int model, int distance) {
    const int far = std::abs(distance), bits = static_cast<int>(std::bit_width(static_cast<unsigned>(far)));
    sink.add(model + bits);
    if (bits == 0) return;
    if (bits > 1) sink.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    sink.add_bits(distance < 0, 1);
}

/// The symbols of a part's vector.
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
