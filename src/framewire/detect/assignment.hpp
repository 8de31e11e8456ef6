#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace framewire {

/// Optimal assignment of rows to columns: shortest augmenting paths with potentials (Kuhn 1955; Jonker and Volgenant
/// 1987). The memory is allocated once.
class Assignment {
public:
    /// Makes memory for scores of up to `most_rows` x `most_columns`.
    Assignment(int most_rows, int most_columns);

    /// Starts a problem. All scores are 0, which means that the pair is not allowed. The size must be within that of
    /// the constructor.
    void begin(int rows, int columns);
    /// Sets the score of a pair, at least 0. Larger is better.
    void set(int row, int column, double score) { scores_[index(row, column)] = score; }

    /// Returns the column of each row, or -1, such that the sum of the scores is largest. A pair is assigned only if
    /// its score is above 0. Takes O(rows^2 * columns) in the worst case. Valid until the next call of begin().
    std::span<const int> solve();

private:
    std::size_t index(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
    }
    double cost(int row, int column) const;
    void augment(int row);

    int rows_ = 0, columns_ = 0;
    std::vector<double> scores_;
    // Arrays per column. Each row also has a column of its own, behind the others, which means "no partner" and costs
    // nothing, so that an assignment always exists.
    std::vector<double> row_potentials_, column_potentials_, distances_;
    std::vector<int> row_of_, before_;
    std::vector<std::uint8_t> done_;
    std::vector<int> column_of_;
};

}  // namespace framewire
