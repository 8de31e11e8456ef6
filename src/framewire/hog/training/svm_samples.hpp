#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// What a classifier learns from: rows of as many values each, one after the other, and whether each is of what is to
/// be found.
class SvmSamples {
public:
    explicit SvmSamples(std::size_t values) : values_(values) {}

    /// A row more, zeros; until the next one is added.
    std::span<float> add(bool positive) {
        positive_.push_back(positive);
        memory_.resize(memory_.size() + values_);
        return {memory_.data() + memory_.size() - values_, values_};
    }

    std::size_t values() const { return values_; }
    std::size_t rows() const { return positive_.size(); }
    std::span<const float> row(std::size_t number) const { return {memory_.data() + number * values_, values_}; }
    bool positive(std::size_t number) const { return positive_[number]; }

private:
    std::size_t values_;
    std::vector<float> memory_;
    std::vector<bool> positive_;
};

}  // namespace framewire
