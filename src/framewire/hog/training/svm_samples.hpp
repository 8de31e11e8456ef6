#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// Training samples of a classifier: rows with the same number of values, and whether each is positive.
class SvmSamples {
public:
    /// Makes an empty set of samples with `values` values each.
    explicit SvmSamples(std::size_t values) : values_(values) {}

    /// Appends a row of zeros and returns it. The result is valid until the next row is appended.
    std::span<float> add(bool positive) {
        positive_.push_back(positive);
        memory_.resize(memory_.size() + values_);
        return {memory_.data() + memory_.size() - values_, values_};
    }

    /// Number of values per row, number of rows, the values of a row, and its kind. A row is valid until the
    /// next one is appended.
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
