#pragma once

// Only for .cu files: symbols read by a warp. All lanes hold the same and call together.

#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/rans.hpp"

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

/// A state that gives symbols back.
class WarpReader {
public:
    /// `ranges`: as CoderTables::step_ranges, of one set.
    __device__ WarpReader(WarpWords& words, const std::uint32_t* ranges)
        : words_(&words), ranges_(ranges), state_(words.next_state()) {}

    __device__ void use(const std::uint32_t* ranges) { ranges_ = ranges; }
    /// The next symbol of a model of `count`, at most 64: lanes look at one or two of them each.
    __device__ int read(int first, int count) {
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
        const auto one_from = __ldg(ranges_ + first) >> 16;
        const bool one = (state_ & (rans::probability_one - 1)) >= one_from;
        take(one ? one_from : 0, one ? rans::probability_one - one_from : one_from);
        return one;
    }
    __device__ int bits(int count) {
        const auto value = state_ & ((1u << count) - 1);
        state_ >>= count;
        fill();
        return static_cast<int>(value);
    }
    __device__ bool at_end() const { return state_ == rans::least_state; }

private:
    __device__ void take(std::uint32_t start, std::uint32_t frequency) {
        state_ = frequency * (state_ >> rans::probability_bits) + (state_ & (rans::probability_one - 1)) - start;
        fill();
    }
    __device__ void fill() {
        if (state_ < rans::least_state) state_ = state_ << 16 | words_->next();
    }

    WarpWords* words_;
    const std::uint32_t* ranges_;
    std::uint32_t state_;
};

}  // namespace framewire::delta
