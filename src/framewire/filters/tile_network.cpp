#include "framewire/filters/tile_network.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace framewire {
// How a tile's network is built (hierarchical tiling, see make_tile_network()):
//
//   1. The core of the whole tile: all columns that every window contains, sorted and merged.
//   2. Halve the tile. Each half's windows share more columns (or rows) than the whole's; merge those into the core and
//   drop the ranks that can no longer be the median.
//   3. Repeat until a part has one pixel. The core then holds the median of its window.
//
// Upper levels become loops of two rounds, which keeps the code short; lower levels are written out.
namespace {

using Values = std::vector<int>;  // numbers of values; the values are sorted unless stated otherwise

/// Appends steps to a list. The same pair of values is compared only once.
class Comparisons {
public:
    /// Starts without steps. The first step will produce value number `inputs`.
    explicit Comparisons(int inputs) : inputs_(inputs) {}

    /// Returns the smaller and the larger of two values.
    std::pair<int, int> sort_pair(int a, int b) {
        const std::pair key{std::min(a, b), std::max(a, b)};
        const auto [found, is_new] = made_.try_emplace(key, inputs_ + static_cast<int>(steps_.size()));
        if (is_new) {
            steps_.push_back({false, key.first, key.second});
            steps_.push_back({true, key.first, key.second});
        }
        return {found->second, found->second + 1};
    }

    /// Merges two sorted lists of any length with Batcher's odd-even merge (Knuth, The Art of Computer Programming,
    /// volume 3, section 5.3.4).
    Values merge(const Values& a, const Values& b) {
        if (a.empty()) return b;
        if (b.empty()) return a;
        if (a.size() == 1 && b.size() == 1) {
            const auto [low, high] = sort_pair(a[0], b[0]);
            return {low, high};
        }
        const auto v = merge(every_other(a, 0), every_other(b, 0)), w = merge(every_other(a, 1), every_other(b, 1));
        // v has as many values as w, or one or two more.
        Values merged{v[0]};
        for (std::size_t i = 0; i < w.size(); ++i) {
            if (i + 1 == v.size()) {
                merged.push_back(w[i]);
                break;
            }
            const auto [low, high] = sort_pair(w[i], v[i + 1]);
            merged.push_back(low);
            merged.push_back(high);
        }
        if (v.size() == w.size() + 2) merged.push_back(v.back());
        return merged;
    }

    /// Sorts by halving and merging.
    Values sort(const Values& unsorted) {
        if (unsorted.size() < 2) return unsorted;
        const auto half = unsorted.begin() + static_cast<std::ptrdiff_t>(unsorted.size() / 2);
        return merge(sort({unsorted.begin(), half}), sort({half, unsorted.end()}));
    }

    /// Merges the two shortest lists until one is left.
    Values merge_all(std::vector<Values> lists) {
        if (lists.empty()) return {};
        const auto shorter = [](const Values& a, const Values& b) { return a.size() < b.size(); };
        while (lists.size() > 1) {
            std::stable_sort(lists.begin(), lists.end(), shorter);
            lists[0] = merge(lists[0], lists[1]);
            lists.erase(lists.begin() + 1);
        }
        return lists[0];
    }

    /// Discards earlier comparisons. Call it when the following steps read other inputs under the same numbers.
    void forget() { made_.clear(); }

    const std::vector<NetworkStep>& steps() const { return steps_; }

private:
    // Returns the values at `first`, first + 2, ...
    static Values every_other(const Values& values, std::size_t first) {
        Values some;
        for (auto i = first; i < values.size(); i += 2) some.push_back(values[i]);
        return some;
    }

    int inputs_;
    std::vector<NetworkStep> steps_;
    std::map<std::pair<int, int>, int> made_;
};

/// Range of the tile's pixels along one axis, begin <= i < end. Their windows have the footprint's columns (or rows)
/// end - 1 to begin + size - 1 in common and lie within begin to end + size - 2.
struct Range {
    int begin, end;
    int length() const { return end - begin; }
    // Returns true if all windows contain line `i`.
    bool common(int i, int size) const { return i >= end - 1 && i < begin + size; }
    // Returns true if some window contains line `i`.
    bool reached(int i, int size) const { return i >= begin && i < end + size - 1; }
    // Returns the first and the second half.
    std::pair<Range, Range> halves() const {
        const int middle = (begin + end) / 2;
        return {{begin, middle}, {middle, end}};
    }
};

/// A part of the tile with the values already sorted for it: the core, which all windows of the part have in common,
/// and the columns and rows next to the core that only some windows contain, limited to the core's height and width.
struct Part {
    Range x, y;
    Values core;
    int dropped = 0;  // number of ranks below core[0] that cannot be any window's median
    std::map<int, Values> columns, rows;
};

/// Builds the network for one tile; network() returns the result.
class Builder {
public:
    /// Builds the whole network. The arguments are those of make_tile_network() and make_tile_network_of_strips().
    Builder(int size, int tile_width, int tile_height, int part_side, bool of_strips)
        : size_(size),
          tile_width_(tile_width),
          tile_height_(tile_height),
          footprint_width_(size + tile_width - 1),
          footprint_height_(size + tile_height - 1),
          strip_height_(of_strips ? size - tile_height + 1 : 0),
          inputs_(make_inputs()),
          comparisons_(static_cast<int>(inputs_.size())) {
        part_ = {{0, tile_width}, {0, tile_height}, {}, 0, {}, {}};
        stages_.push_back({0, {}});
        std::vector<Values> common;
        int x = tile_width - 1;
        for (; of_strips && x + tile_width <= size; x += tile_width) common.push_back(strip(x));
        for (; x < size; ++x) common.push_back(sorted_column(part_, x));
        part_.core = comparisons_.merge_all(common);
        while (std::max(part_.x.length(), part_.y.length()) > part_side) enter_loop();
        // Columns from strips are extended by the pixels beyond the strips.
        if (!loops_.empty()) begin_stage(of_strips ? std::vector{way_beyond_, loops_.back()} : loops_);
        for (x = part_.x.begin; x < part_.x.end + size - 1; ++x)
            if (!part_.x.common(x, size)) part_.columns[x] = sorted_column(part_, x);
        if (of_strips) begin_stage(loops_);
        for (int y = part_.y.begin; y < part_.y.end + size - 1; ++y)
            if (!part_.y.common(y, size)) part_.rows[y] = sorted_row(part_, y);
        medians_.resize(static_cast<std::size_t>(part_.x.length() * part_.y.length()));
        solve(part_);
    }

    /// Returns the finished network.
    TileNetwork network() const;

private:
    // Returns all possible inputs. network() keeps them even if no step reads them, so that numbers stay simple.
    std::vector<NetworkInput> make_inputs() const {
        using enum NetworkInput::Kind;
        std::vector<NetworkInput> inputs;
        for (int y = 0; y < footprint_height_; ++y)
            for (int x = 0; x < footprint_width_; ++x) inputs.push_back({pixel, x, y});
        for (int x = 0; x < footprint_width_; ++x)
            for (int rank = 0; rank < strip_height_; ++rank) inputs.push_back({column, x, rank});
        for (int x = tile_width_ - 1; x + tile_width_ <= size_; x += tile_width_)
            for (int rank = 0; rank < tile_width_ * strip_height_; ++rank)
                inputs.push_back({NetworkInput::Kind::strip, x, rank});
        return inputs;
    }

    // Returns the number of the pixel at (x, y) of the footprint.
    int input(int x, int y) const { return x + y * footprint_width_; }
    // Returns the inputs of one kind that belong to column `x`, in the order of their ranks.
    Values given(NetworkInput::Kind kind, int x) const {
        Values values;
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            if (inputs_[i].kind == kind && inputs_[i].x == x) values.push_back(static_cast<int>(i));
        return values;
    }
    Values strip(int x) const { return given(NetworkInput::Kind::strip, x); }

    // Sorts the values of a column of the footprint that all windows of the part contain.
    Values sorted_column(const Part& part, int x) {
        Values column;
        if (strip_height_ == 0) {
            for (int y = part.y.end - 1; y < part.y.begin + size_; ++y) column.push_back(input(x, y));
            return comparisons_.sort(column);
        }
        for (const int y : beyond_strips_) column.push_back(input(x, y));
        return comparisons_.merge(given(NetworkInput::Kind::column, x), comparisons_.sort(column));
    }
    // Sorts the values of a row in the same way.
    Values sorted_row(const Part& part, int y) {
        Values row;
        for (int x = part.x.end - 1; x < part.x.begin + size_; ++x) row.push_back(input(x, y));
        return comparisons_.sort(row);
    }

    // Starts a stage whose inputs are shifted by `shifts` in the second rounds of the enclosing loops.
    void begin_stage(const std::vector<NetworkOffset>& shifts) {
        stages_.push_back({static_cast<int>(comparisons_.steps().size()), shifts});
        comparisons_.forget();
    }

    // Continues with the first half of the part, whose inputs are numbered. With strips, rows are added before columns,
    // because most of each column is already sorted.
    void enter_loop() {
        drop_impossible_ranks(part_);
        const bool of_strips = strip_height_ > 0;
        const bool along_x = part_.x.length() >= part_.y.length() + (of_strips ? 1 : 0);
        const auto whole = along_x ? part_.x : part_.y;
        auto& half = along_x ? part_.x : part_.y;
        half = whole.halves().first;
        // The first half's core grows to the left, the second half's to the right by the same number of lines.
        const int step = half.length(), across = whole.begin + size_ - (half.end - 1);
        auto shifts = loops_;
        if (of_strips && along_x) shifts = {way_beyond_};  // new pixels lie only beyond the strips
        shifts.push_back(along_x ? NetworkOffset{across, 0} : NetworkOffset{0, across});
        begin_stage(shifts);
        loops_.push_back(along_x ? NetworkOffset{step, 0} : NetworkOffset{0, step});
        std::vector<Values> added;
        for (int at = half.end - 1; at < whole.end - 1; ++at) {
            added.push_back(along_x ? sorted_column(part_, at) : sorted_row(part_, at));
            if (of_strips && !along_x) beyond_strips_.push_back(at);
        }
        if (of_strips && !along_x) way_beyond_ = shifts.back();
        part_.core = comparisons_.merge(part_.core, comparisons_.merge_all(added));
    }

    // Drops ranks that cannot be the median. The core contains some of a window's size * size values; the unknown ones
    // may all be larger, or all smaller, and ranks that are not the median in either case are impossible.
    void drop_impossible_ranks(Part& part) const {
        const int window = size_ * size_, middle = window / 2;
        const int known = (size_ - part.x.length() + 1) * (size_ - part.y.length() + 1);
        const int first = std::max(part.dropped, middle - (window - known));
        const int last = std::min({known - 1, middle, part.dropped + static_cast<int>(part.core.size()) - 1});
        part.core = {part.core.begin() + (first - part.dropped), part.core.begin() + (last + 1 - part.dropped)};
        part.dropped = first;
    }

    // Divides a part until it has one pixel. The core then contains the pixel's median.
    void solve(Part part) {
        drop_impossible_ranks(part);
        if (part.x.length() == 1 && part.y.length() == 1) {
            const auto middle = static_cast<std::size_t>(size_ * size_ / 2 - part.dropped);
            medians_[static_cast<std::size_t>(part.x.begin + part.y.begin * part_.x.length())] = part.core.at(middle);
            return;
        }
        const bool along_x = part.x.length() >= part.y.length();
        const auto [first, second] = (along_x ? part.x : part.y).halves();
        for (const auto& half : {first, second})
            solve(along_x ? half_of<true>(part, half) : half_of<false>(part, half));
    }

    // Returns the half of a part that covers `half` of its x or y range.
    template <bool along_x>
    Part half_of(const Part& part, Range half) {
        const auto& lines = along_x ? part.columns : part.rows;   // lines by which the half's core grows
        const auto& across = along_x ? part.rows : part.columns;  // lines that become longer in the half
        Part child{along_x ? half : part.x, along_x ? part.y : half, {}, part.dropped, {}, {}};
        auto& child_lines = along_x ? child.columns : child.rows;
        auto& child_across = along_x ? child.rows : child.columns;

        std::vector<Values> added;
        std::vector<int> added_at;
        for (const auto& [at, values] : lines) {
            if (half.common(at, size_)) {
                added.push_back(values);
                added_at.push_back(at);
            } else if (half.reached(at, size_)) {
                child_lines[at] = values;
            }
        }
        child.core = comparisons_.merge(part.core, comparisons_.merge_all(added));
        for (const auto& [at, values] : across) {
            Values corner;
            for (const int line : added_at) corner.push_back(along_x ? input(line, at) : input(at, line));
            child_across[at] = comparisons_.merge(values, comparisons_.sort(corner));
        }
        return child;
    }

    int size_, tile_width_, tile_height_, footprint_width_, footprint_height_;
    int strip_height_;  // 0 if there are no strips
    std::vector<NetworkInput> inputs_;
    Comparisons comparisons_;
    std::vector<int> beyond_strips_;    // rows that the part's windows have in common, except those in strips
    NetworkOffset way_beyond_{};        // distance from those rows to the rows of the second round
    Part part_;                         // part that remains inside the loops entered so far
    std::vector<NetworkOffset> loops_;  // distances from a part to the part of the second round
    std::vector<NetworkStage> stages_;
    std::vector<int> medians_;
};

// Keeps the steps that some median needs, and renumbers them.
TileNetwork Builder::network() const {
    const auto& steps = comparisons_.steps();
    const auto inputs = inputs_.size();
    // Mark the values that the medians depend on, from the last step to the first.
    std::vector<bool> needed(inputs + steps.size());
    for (const int value : medians_) needed[static_cast<std::size_t>(value)] = true;
    for (auto i = steps.size(); i-- > 0;)
        if (needed[inputs + i])
            needed[static_cast<std::size_t>(steps[i].a)] = needed[static_cast<std::size_t>(steps[i].b)] = true;

    TileNetwork network;
    network.size = size_;
    network.tile_width = tile_width_;
    network.tile_height = tile_height_;
    network.part_width = part_.x.length();
    network.part_height = part_.y.length();
    network.footprint_width = footprint_width_;
    network.footprint_height = footprint_height_;
    network.inputs = inputs_;
    // Copy the marked steps with new numbers, and start stages where they belong.
    std::vector<int> number(inputs + steps.size());
    for (std::size_t i = 0; i < inputs; ++i) number[i] = static_cast<int>(i);
    const auto renumbered = [&](int value) { return number[static_cast<std::size_t>(value)]; };
    auto stage = stages_.begin();
    for (std::size_t i = 0;; ++i) {
        for (; stage != stages_.end() && stage->first_step == static_cast<int>(i); ++stage)
            network.stages.push_back({static_cast<int>(network.steps.size()), stage->shifts});
        if (i == steps.size()) break;
        if (!needed[inputs + i]) continue;
        number[inputs + i] = static_cast<int>(inputs + network.steps.size());
        network.steps.push_back({steps[i].upper, renumbered(steps[i].a), renumbered(steps[i].b)});
    }
    for (const int value : medians_) network.medians.push_back(renumbered(value));
    return network;
}

}  // namespace

TileNetwork make_tile_network(int size, int tile_width, int tile_height, int part_side) {
    return Builder(size, tile_width, tile_height, part_side, false).network();
}

TileNetwork make_tile_network_of_strips(int size, int tile_side) {
    return Builder(size, tile_side, tile_side, tile_side / 2, true).network();
}

// Sorts the columns first, because tile networks use both the sorted columns and the sorted strip.
StripNetwork make_strip_network(int size, int tile_side) {
    StripNetwork network;
    network.width = tile_side;
    network.height = size - tile_side + 1;
    Comparisons comparisons(network.width * network.height);
    std::vector<Values> columns;
    for (int x = 0; x < network.width; ++x) {
        Values column;
        for (int y = 0; y < network.height; ++y) column.push_back(x + y * network.width);
        columns.push_back(comparisons.sort(column));
        network.columns.insert(network.columns.end(), columns.back().begin(), columns.back().end());
    }
    network.strip = comparisons.merge_all(columns);
    network.steps = comparisons.steps();
    return network;
}

}  // namespace framewire
