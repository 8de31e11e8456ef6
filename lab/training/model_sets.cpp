#include "training/model_sets.hpp"

#include "framewire/codec/reference_pixels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace framewire::bench {
namespace {

namespace step_models = codec::step_models;
namespace picture_models = codec::picture_models;

constexpr int sets = step_models::sets;
constexpr int most_rounds = 40;
constexpr double least_gain = 1e-5;  ///< training ends after a round that gains less
// Prior counts, in symbols: `unknown_symbols` with equal probabilities for each model, and `shared_symbols` with the
// probabilities of all blocks for the models of each set.
constexpr double unknown_symbols = 1, shared_symbols = 24;
constexpr double picture_share = 1.0 / 60;  // weight of a keyframe for each delta frame
constexpr char first_level = '#', last_level = '~';

using Weights = std::vector<double>;  // one weight per symbol

/// Calls body(first, symbols) for each model.
template <class Body>
void for_each_model(std::span<const codec::ModelKind> kinds, Body&& body) {
    for (const auto& kind : kinds)
        for (int i = 0; i < kind.count; ++i)
            body(static_cast<std::size_t>(kind.at(i)), static_cast<std::size_t>(kind.symbols));
}

/// Returns the probabilities that follow from `counts` and `prior` additional symbols with the probabilities
/// `expected`.
Weights likelihoods(std::span<const codec::ModelKind> kinds, const Weights& counts, const Weights& expected,
                    double prior) {
    Weights result(counts.size());
    for_each_model(kinds, [&](std::size_t first, std::size_t symbols) {
        double sum = prior;
        for (auto i = first; i < first + symbols; ++i) sum += counts[i];
        for (auto i = first; i < first + symbols; ++i) result[i] = (counts[i] + prior * expected[i]) / sum;
    });
    return result;
}

Weights evenly(std::span<const codec::ModelKind> kinds, std::size_t count) {
    Weights result(count);
    for_each_model(kinds, [&](std::size_t first, std::size_t symbols) {
        std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(first), symbols, 1.0 / static_cast<double>(symbols));
    });
    return result;
}

Levels levels_of(const Weights& likelihoods) {
    Levels levels;
    for (const double likelihood : likelihoods) {
        const auto level = std::lround(-8 * std::log2(likelihood));
        levels += static_cast<char>(std::min<long>(first_level + level, last_level));
    }
    return levels;
}

/// Returns the bits of each symbol in the coder's precision.
Weights bits_of(std::span<const codec::ModelKind> kinds, const Levels& levels) {
    Weights bits(levels.size());
    for_each_model(kinds, [&](std::size_t first, std::size_t symbols) {
        const auto model = codec::reference::make_model(std::string_view(levels).substr(first, symbols));
        for (std::size_t i = 0; i < symbols; ++i)
            bits[first + i] = -std::log2(static_cast<double>(model[i]) / codec::reference::scale);
    });
    return bits;
}

double bits_of(const BlockCounts& block, const Weights& bits) {
    double sum = 0;
    for (const auto [symbol, times] : block.symbols) sum += times * bits[symbol];
    return sum;
}

/// The bits of all sets, stored side by side so that a block is read only once.
class SetBits {
public:
    explicit SetBits(std::span<const Levels> levels) : bits_(levels.front().size()) {
        for (std::size_t set = 0; set < levels.size(); ++set) {
            const auto of = bits_of(step_models::trained, levels[set]);
            for (std::size_t i = 0; i < of.size(); ++i) bits_[i][set] = of[i];
        }
    }
    struct Best {
        int set;
        double bits;
    };
    Best best(const BlockCounts& block) const {
        std::array<double, sets> sums{};
        for (const auto [symbol, times] : block.symbols)
            for (std::size_t set = 0; set < sums.size(); ++set) sums[set] += times * bits_[symbol][set];
        const auto least = std::min_element(sums.begin(), sums.end());
        return {static_cast<int>(least - sums.begin()), *least};
    }

private:
    std::vector<std::array<double, sets>> bits_;
};

struct WeighedBlock {
    const BlockCounts* counts;
    double weight;
    int set = 0;
};

void add(Weights& to, const WeighedBlock& block) {
    for (const auto [symbol, times] : block.counts->symbols) to[symbol] += block.weight * times;
}

/// Weights all blocks by their share of a stream's bytes, with a keyframe counted as picture_share of one per delta
/// frame. Scaled so that a symbol has a weight of 1 on average.
std::vector<WeighedBlock> weigh(std::span<const StreamCounts> streams) {
    std::vector<WeighedBlock> blocks;
    double weighed = 0, symbols = 0;
    for (const auto& stream : streams) {
        const double steps = std::max(1, stream.steps);
        const double bytes =
            static_cast<double>(stream.step_bytes) / steps + static_cast<double>(stream.picture_bytes) * picture_share;
        for (const auto& block : stream.blocks) {
            blocks.push_back({&block, (block.first ? picture_share : 1 / steps) / bytes});
            for (const auto [symbol, times] : block.symbols) {
                weighed += blocks.back().weight * times;
                symbols += times;
            }
        }
    }
    for (auto& block : blocks) block.weight *= symbols / weighed;
    return blocks;
}

/// Assigns blocks with fewer bits per symbol to earlier sets; each set gets the same number of bits.
void divide_by_bits(std::span<WeighedBlock> blocks, const Weights& bits) {
    std::vector<double> all_bits, mean_bits;
    for (const auto& block : blocks) {
        double symbols = 0;
        for (const auto [symbol, times] : block.counts->symbols) symbols += times;
        const double sum = bits_of(*block.counts, bits);
        all_bits.push_back(block.weight * sum);
        mean_bits.push_back(sum / symbols);
    }
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return mean_bits[a] < mean_bits[b]; });
    const double total = std::accumulate(all_bits.begin(), all_bits.end(), 0.0);
    double before = 0;
    for (const auto i : order) {
        blocks[i].set = std::min(sets - 1, static_cast<int>(sets * before / total));
        before += all_bits[i];
    }
}

}  // namespace

std::vector<Levels> train_step_sets(std::span<const StreamCounts> streams) {
    auto blocks = weigh(streams);
    Weights all(step_models::trained_symbols);
    for (const auto& block : blocks) add(all, block);
    const auto shared =
        likelihoods(step_models::trained, all, evenly(step_models::trained, all.size()), unknown_symbols);
    divide_by_bits(blocks, bits_of(step_models::trained, levels_of(shared)));

    std::vector<Levels> trained(sets);
    double bits_before = 0;
    for (int round = 0; round < most_rounds; ++round) {
        std::vector<Weights> counts(sets, Weights(step_models::trained_symbols));
        for (const auto& block : blocks) add(counts[static_cast<std::size_t>(block.set)], block);
        for (std::size_t set = 0; set < trained.size(); ++set)
            trained[set] = levels_of(likelihoods(step_models::trained, counts[set], shared, shared_symbols));
        const SetBits set_bits(trained);
        double bits = 0;
        for (auto& block : blocks) {
            const auto best = set_bits.best(*block.counts);
            block.set = best.set;
            bits += block.weight * best.bits;
        }
        if (round > 0 && bits > (1 - least_gain) * bits_before) break;
        bits_before = bits;
    }
    return trained;
}

std::vector<Levels> train_run_models(std::span<const StreamCounts> streams) {
    const auto blocks = weigh(streams);
    std::vector<Weights> counts(sets, Weights(step_models::trained_symbols));
    Weights all(step_models::trained_symbols);
    for (const auto& block : blocks) {
        add(counts[static_cast<std::size_t>(block.counts->set)], block);
        add(all, block);
    }
    const auto shared =
        likelihoods(step_models::trained, all, evenly(step_models::trained, all.size()), unknown_symbols);
    auto trained = present_step_sets();
    for (std::size_t set = 0; set < trained.size(); ++set) {
        const auto levels = levels_of(likelihoods(step_models::trained, counts[set], shared, shared_symbols));
        for (const auto& kind : {step_models::row, step_models::edge, step_models::part_class}) {
            const auto first = static_cast<std::size_t>(kind.first),
                       count = static_cast<std::size_t>(kind.end()) - first;
            trained[set].replace(first, count, levels, first, count);
        }
    }
    return trained;
}

Levels train_picture_models(std::span<const StreamCounts> streams) {
    Weights counts(picture_models::symbols);
    double symbols = 0, weighed = 0;
    for (const auto& stream : streams) {
        if (stream.picture_bytes == 0) continue;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const double weight = stream.picture[i] / static_cast<double>(stream.picture_bytes);
            counts[i] += weight;
            weighed += weight;
            symbols += stream.picture[i];
        }
    }
    for (auto& count : counts) count *= symbols / weighed;
    return levels_of(
        likelihoods(picture_models::all, counts, evenly(picture_models::all, counts.size()), unknown_symbols));
}

double block_bytes(const StreamCounts& stream, bool first, std::span<const Levels> levels) {
    const SetBits set_bits(levels);
    double bits = 0;
    for (const auto& block : stream.blocks)
        if (block.first == first) bits += set_bits.best(block).bits;
    return bits / 8;
}

double picture_bytes(const StreamCounts& stream, const Levels& models) {
    const auto bits = bits_of(picture_models::all, models);
    return std::inner_product(bits.begin(), bits.end(), stream.picture.begin(), 0.0) / 8;
}

std::vector<Levels> present_step_sets() {
    return {
#include "framewire/codec/trained_steps.inc"
    };
}

Levels present_picture_models() {
    return
#include "framewire/codec/trained_pictures.inc"
        ;
}

}  // namespace framewire::bench
