#include "framewire/detect/assignment.hpp"

#include <algorithm>
#include <limits>

namespace framewire {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Assignment::Assignment(int most_rows, int most_columns)
    : scores_(at(most_rows) * at(most_columns)),
      row_potentials_(at(most_rows)),
      column_potentials_(at(most_rows + most_columns)),
      distances_(at(most_rows + most_columns)),
      row_of_(at(most_rows + most_columns)),
      before_(at(most_rows + most_columns)),
      done_(at(most_rows + most_columns)),
      column_of_(at(most_rows)) {}

void Assignment::begin(int rows, int columns) {
    rows_ = rows;
    columns_ = columns;
    std::fill_n(scores_.begin(), at(rows) * at(columns), 0.0);
}

// Columns from columns_ on are the rows' own. A pair that is not allowed has no edge.
double Assignment::cost(int row, int column) const {
    if (column >= columns_) return column - columns_ == row ? 0 : unreachable;
    const double score = scores_[index(row, column)];
    return score > 0 ? -score : unreachable;
}

// Finds the shortest path from a row to a free column (Dijkstra with reduced costs) and swaps the pairs along it.
void Assignment::augment(int row) {
    const int all = columns_ + rows_;
    std::fill_n(distances_.begin(), at(all), unreachable);
    std::fill_n(done_.begin(), at(all), std::uint8_t{0});
    int last = -1, current = row;
    double length = 0;
    for (;;) {
        int next = -1;
        for (int column = 0; column < all; ++column) {
            if (done_[at(column)]) continue;
            const double through =
                length + cost(current, column) - row_potentials_[at(current)] - column_potentials_[at(column)];
            if (through < distances_[at(column)]) {
                distances_[at(column)] = through;
                before_[at(column)] = last;
            }
            if (distances_[at(column)] < (next < 0 ? unreachable : distances_[at(next)])) next = column;
        }
        length = distances_[at(next)];  // there is always a path, because the row has a column of its own
        done_[at(next)] = 1;
        last = next;
        if (row_of_[at(next)] < 0) break;
        current = row_of_[at(next)];
    }
    for (int column = 0; column < all; ++column) {
        if (!done_[at(column)]) continue;
        const double slack = length - distances_[at(column)];
        column_potentials_[at(column)] -= slack;
        if (row_of_[at(column)] >= 0) row_potentials_[at(row_of_[at(column)])] += slack;
    }
    row_potentials_[at(row)] += length;
    while (last >= 0) {
        const int previous = before_[at(last)];
        row_of_[at(last)] = previous < 0 ? row : row_of_[at(previous)];
        last = previous;
    }
}

std::span<const int> Assignment::solve() {
    const int all = columns_ + rows_;
    std::fill_n(row_potentials_.begin(), at(rows_), 0.0);
    std::fill_n(column_potentials_.begin(), at(all), 0.0);
    std::fill_n(row_of_.begin(), at(all), -1);
    for (int row = 0; row < rows_; ++row) augment(row);
    std::fill_n(column_of_.begin(), at(rows_), -1);
    for (int column = 0; column < columns_; ++column)
        if (row_of_[at(column)] >= 0) column_of_[at(row_of_[at(column)])] = column;
    return std::span(column_of_).first(at(rows_));
}

}  // namespace framewire
