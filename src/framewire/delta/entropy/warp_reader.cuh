#pragma once

// Only for .cu files: symbols read by a warp. All lanes hold the same and call together.

#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/rans.hpp"
#include "framewire/delta/entropy/step_states.hpp"

#include <cstdint>

namespace framewire::delta {

/// Words of 16 bits, of bytes that nobody vouches for: behind their end there are zeros.
class WarpWords {
public:
    __device__ WarpWords(const std::uint8_t* bytes, std::uint32_t size) : bytes_(bytes), size_(size) { load(); }

    __device__ std::uint32_t next() {
        const auto word = __shfl_sync(~0u, cached_, static_cast<int>(read_ % 32));
        if (2 * read_ + 2 > size_) overrun_ = true;
        if (++read_ % 32 == 0) load();
        return overrun_ ? 0 : word;
    }
    __device__ std::uint32_t next_state() {
        const auto low = next();
        return low | next() << 16;
    }
    /// Whether all was read and no more than that.
    __device__ bool at_end() const { return 2 * read_ == size_ && !overrun_; }
    __device__ bool overrun() const { return overrun_; }
    __device__ std::uint32_t words_read() const { return read_; }

private:
    __device__ std::uint32_t word_at(std::uint32_t at) const {
        return 2 * at + 2 <= size_ ? bytes_[2 * at] | std::uint32_t{bytes_[2 * at + 1]} << 8 : 0u;
    }
    // A word for each lane; the one to read next is in lane read_ % 32.
    __device__ void load() { cached_ = word_at(read_ / 32 * 32 + threadIdx.x % 32); }

    const std::uint8_t* bytes_;
    std::uint32_t size_, read_ = 0, cached_ = 0;
    bool overrun_ = false;
};

/// A state that gives symbols back, or several in turn.
class WarpReader {
public:
    /// `ranges`: as CoderTables::step_ranges, of one set.
    __device__ WarpReader(WarpWords& words, const std::uint32_t* ranges)
        : words_(&words), ranges_(ranges), state_(words.next_state()), allowed_(rans::is_state(state_)) {}

    __device__ void use(const std::uint32_t* ranges) { ranges_ = ranges; }
    /// How many states a block of steps has, of step_states.
    __device__ int read_states() {
        const int choice = step_states::choice_at(state_ & (rans::probability_one - 1));
        take(step_states::start(choice), step_states::frequency(choice));
        return step_states::count(choice);
    }
    /// From here on `states` take turns, a power of 2: this one and those that come now.
    __device__ void use_turns(int states) {
        turns_ = states;
        for (int lane = 0; lane < states && states > 1; ++lane) {
            const auto state = lane == 0 ? state_ : words_->next_state();
            allowed_ &= rans::is_state(state);
            if (static_cast<int>(threadIdx.x % 32) == lane) of_lane_ = state;
        }
    }
    /// The next symbol of a model of `count`, at most 64: lanes look at one or two of them each.
    __device__ int read(int first, int count) {
        begin_turn();
        const auto place = state_ & (rans::probability_one - 1);
        const int lane = static_cast<int>(threadIdx.x % 32);
        auto range = lane < count ? __ldg(ranges_ + first + lane) : rans::probability_one;
        int symbol = 31 - __clz(static_cast<int>(__ballot_sync(~0u, (range & 0xFFFFu) <= place)));
        if (symbol == 31 && count > 32) {
            const auto further = lane + 32 < count ? __ldg(ranges_ + first + lane + 32) : rans::probability_one;
            const auto below = __ballot_sync(~0u, (further & 0xFFFFu) <= place);
            if (below) {
                symbol = 63 - __clz(static_cast<int>(below));
                range = further;
            }
        }
        range = __shfl_sync(~0u, range, symbol % 32);
        take(range & 0xFFFFu, range >> 16);
        return symbol;
    }
    /// The same of a model of two.
    __device__ bool read_flag(int first) {
        begin_turn();
        const auto one_from = __ldg(ranges_ + first) >> 16;
        const bool one = (state_ & (rans::probability_one - 1)) >= one_from;
        take(one ? one_from : 0, one ? rans::probability_one - one_from : one_from);
        return one;
    }
    __device__ int bits(int count) {
        begin_turn();
        const auto taken = rans::take_bits(state_, count);
        state_ = taken.state;
        end_turn();
        return static_cast<int>(taken.value);
    }
    /// Whether the states are those that coding began with, and began as one may.
    __device__ bool at_end() const {
        const bool of_lanes = of_lane_ == rans::least_state || static_cast<int>(threadIdx.x % 32) >= turns_;
        return allowed_ && (turns_ == 1 ? state_ == rans::least_state : __all_sync(~0u, of_lanes) != 0);
    }

private:
    __device__ void begin_turn() {
        if (turns_ > 1) state_ = __shfl_sync(~0u, of_lane_, turn_);
    }
    __device__ void take(std::uint32_t start, std::uint32_t frequency) {
        state_ = frequency * (state_ >> rans::probability_bits) + (state_ & (rans::probability_one - 1)) - start;
        end_turn();
    }
    __device__ void end_turn() {
        if (state_ < rans::least_state) state_ = state_ << 16 | words_->next();
        if (turns_ == 1) return;
        if (static_cast<int>(threadIdx.x % 32) == turn_) of_lane_ = state_;
        turn_ = (turn_ + 1) & (turns_ - 1);
    }

    WarpWords* words_;
    const std::uint32_t* ranges_;
    std::uint32_t state_, of_lane_ = rans::least_state;
    int turns_ = 1, turn_ = 0;
    bool allowed_;
};

}  // namespace framewire::delta
