// Encoder for the form "prediction". Sub-blocks are coded in raster order, because each one is context for the next
// ones:
//
//     1. may_stay()        a sub-block within the threshold stays as it was and costs one symbol
//     2. find_vectors()    the motion search proposes a few vectors
//     3. code_part()       each candidate is quantized and coded to a CostSink; the cheapest one is taken
//
// Coding to a CostSink stops as soon as the candidate is more expensive than the best one so far.

#include "framewire/delta/prediction/prediction_encoder.hpp"

#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/prediction/distance.hpp"
#include "framewire/delta/prediction/inside_part.hpp"
#include "framewire/delta/prediction/part_symbols.hpp"
#include "framewire/delta/prediction/quantization/step_sizes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {
// Arguments of encode() and what follows from them.
struct PredictionEncoder::Job {
    HostView<const std::uint8_t> camera, before;
    BlockPlace block;
    Quantizer quantizer;
    HostView<std::uint8_t> after;
    int channels;

    std::uint8_t* row(int y) const { return after.row(0, block.y + y) + std::int64_t{block.x} * channels; }
    int width(int left) const { return std::min(part_side, block.width - left); }
    int height(int top) const { return std::min(part_side, block.height - top); }

    // Returns true if the sub-block of the previous picture is within the threshold of the camera's.
    bool may_stay(int left, int top) const {
        const auto from = std::int64_t{block.x + left} * channels, count = std::int64_t{width(left)} * channels;
        for (int y = block.y + top; y < block.y + top + height(top); ++y) {
            const auto *now = camera.row(0, y) + from, *held = before.row(0, y) + from;
            int furthest = 0;
            for (std::int64_t i = 0; i < count; ++i) furthest = std::max(furthest, std::abs(now[i] - held[i]));
            if (furthest > quantizer.threshold()) return false;
        }
        return true;
    }
    // Copies the sub-block of the previous picture.
    void stay(int left, int top) const {
        const auto from = std::int64_t{block.x + left} * channels;
        for (int y = block.y + top; y < block.y + top + height(top); ++y)
            std::memcpy(after.row(0, y) + from, before.row(0, y) + from,
                        static_cast<std::size_t>(width(left) * channels));
    }
};

// Loads the camera's samples of a sub-block.
void PredictionEncoder::load_part(const Job& job, int left, int top) {
    const auto bytes = static_cast<std::size_t>(job.width(left) * job.channels);
    mask_.fill(0);
    for (int y = 0; y < job.height(top); ++y) {
        const auto at = static_cast<std::size_t>(y * part_row);
        std::memcpy(&camera_[at],
                    job.camera.row(0, job.block.y + top + y) + std::int64_t{job.block.x + left} * job.channels, bytes);
        std::memset(&mask_[at], 255, bytes);
    }
}

void PredictionEncoder::quantize_part(const Job& job, int left, int top, const Candidate& candidate,
                                      QuantizedPart& part) {
    if (candidate.by == Foretold::inside)
        return quantize_inside(job.quantizer, camera_, job.after, job.block, left, top, part);
    foretold_.move(job.before, job.block.x + left, job.block.y + top, candidate.vector);
    delta::quantize(job.quantizer, camera_, mask_, foretold_.first(), job.channels, job.height(top), part);
}

template <int channels, class Sink>
PartMode PredictionEncoder::add_part(const Job& job, int column, int row, const Candidate& candidate,
                                     const QuantizedPart& part, Sink&& sink) {
    const int left = column * part_side, top = row * part_side, width = job.width(left), height = job.height(top);
    const auto mode = candidate.by == Foretold::inside      ? PartMode::inside
                      : candidate.by == Foretold::reference ? PartMode::changes
                      : part.has_steps(height)              ? PartMode::moved_changes
                                                            : PartMode::moved;
    sink.add(parts_.mode_model(column, row) + static_cast<int>(mode));
    if (candidate.by == Foretold::moved) add_vector(sink, candidate.vector, parts_.motion(column, row));
    const auto models = step_models::changed.at(changed_model({}, candidate.by, 0));
    for (int y = 0; y < height; ++y) {
        const auto* steps = &part.steps[static_cast<std::size_t>(y * part_row)];
        const auto* slopes = &part.slopes[static_cast<std::size_t>(y * part_row + slope_channel(channels))];
        // The patterns of the row must be in `coded_` before its pixels are coded, because they are context for each
        // other.
        std::array<Pattern, part_side> row_patterns{};
        if (part.changed[static_cast<std::size_t>(y)])
            for (int x = 0; x < width; ++x)
                row_patterns[static_cast<std::size_t>(x)] = pattern_of<channels>(steps + x * channels);
        coded_.set_row<channels>(left, top + y, row_patterns, steps);
        if (mode == PartMode::moved) continue;
        // The contributions of the row above to eight flags are computed at once.
        auto above = coded_.changed_above(left, top + y);
        int before = coded_.extent(left - 1, top + y), second = coded_.extent(left - 2, top + y);
        for (int x = 0; x < width; ++x, above >>= 8) {
            const auto pattern = row_patterns[static_cast<std::size_t>(x)];
            const bool seconds = second || (above & CodedPixels::second_above) != 0;
            const int model = static_cast<int>(above & (CodedPixels::second_above - 1)) + before + 27 * seconds +
                              54 * slopes[x * channels];
            sink.add(models + step_models::changed.symbols * model + (pattern != 0));
            second = before;
            before = pattern_traits.extent[pattern];
            if (!pattern) continue;
            int all[channels];
            for (int channel = 0; channel < channels; ++channel) all[channel] = steps[x * channels + channel];
            add_pixel(sink, coded_, coded_.neighbours(left + x, top + y), left + x, top + y, channels, pattern, all,
                      job.quantizer.fine());
        }
        // The cost of a hopeless candidate need not be complete.
        if (too_much(sink)) break;
    }
    return mode;
}

template <class Sink>
PartMode PredictionEncoder::add_part(const Job& job, int column, int row, const Candidate& candidate,
                                     const QuantizedPart& part, Sink&& sink) {
    return job.channels == 1 ? add_part<1>(job, column, row, candidate, part, sink)
                             : add_part<3>(job, column, row, candidate, part, sink);
}

void PredictionEncoder::code_part(const Job& job, int column, int row, Symbols& symbols) {
    const int left = column * part_side, top = row * part_side;
    load_part(job, left, top);
    std::size_t best = 0, best_at = 0;
    if (candidates_.size() > 1) {
        auto least = ~std::uint64_t{0};
        const auto attempt = [&](std::size_t i, std::uint64_t limit) {
            // Two buffers: the best candidate so far stays in one while the next is quantized into the other.
            auto& part = quantized_[1 - best_at];
            quantize_part(job, left, top, candidates_[i], part);
            CostSink sink(job.quantizer.threshold(), limit);
            add_part(job, column, row, candidates_[i], part, sink);
            if (sink.cost() >= limit) return;
            least = sink.cost();
            best = i;
            best_at = 1 - best_at;
        };
        // The first candidate, prediction from inside, is the slowest. Tried last, it can often stop early; the +1 lets
        // it win if it is as cheap as the best of the others.
        for (std::size_t i = 1; i < candidates_.size(); ++i) attempt(i, least);
        attempt(0, least + 1);
    } else {
        quantize_part(job, left, top, candidates_[0], quantized_[best_at]);
    }
    const auto& part = quantized_[best_at];
    const auto mode = add_part(job, column, row, candidates_[best], part, symbols);
    parts_.set(column, row, mode, candidates_[best].vector);
    count_steps(part, job.height(top));
    for (int y = 0; y < job.height(top); ++y)
        std::memcpy(job.row(top + y) + left * job.channels, &part.samples[static_cast<std::size_t>(y * part_row)],
                    static_cast<std::size_t>(job.width(left) * job.channels));
}

// Adds up the steps of a sub-block for the choice of the step size.
void PredictionEncoder::count_steps(const QuantizedPart& part, int rows) {
    for (int y = 0; y < rows; ++y) {
        auto changed = part.changed[static_cast<std::size_t>(y)];
        changed_samples_ += static_cast<std::uint32_t>(std::popcount(changed));
        for (; changed; changed &= changed - 1)
            all_steps_ += static_cast<std::uint32_t>(
                std::abs(part.steps[static_cast<std::size_t>(y * part_row + std::countr_zero(changed))]));
    }
}

void PredictionEncoder::find_vectors(const Job& job, int column, int row, std::vector<MotionVector>& vectors) {
    const int left = column * part_side, top = row * part_side;
    const auto motion = parts_.motion(column, row);
    MotionVector near[2];
    std::size_t near_count = 0;
    if (motion.has_left) near[near_count++] = motion.left;
    if (motion.has_above) near[near_count++] = motion.above;
    vectors.clear();
    for (const auto& found :
         search_.find(job.camera, job.before, job.block.x + left, job.block.y + top, job.width(left), job.height(top),
                      job.quantizer.threshold(), effort_.range, effort_.candidates, {near, near_count}))
        vectors.push_back(found.vector);
}

void PredictionEncoder::code_block(const Job& job, bool fresh, bool look, Symbols& symbols) {
    const auto& block = job.block;
    coded_.clear();
    symbols.clear();
    symbols.add_bits(job.quantizer.size(), Quantizer::size_bits);
    changed_samples_ = all_steps_ = 0;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const int left = column * part_side, top = row * part_side;
            if (!fresh && job.may_stay(left, top)) {
                job.stay(left, top);
                symbols.add(parts_.mode_model(column, row) + static_cast<int>(PartMode::stays));
                parts_.set(column, row, PartMode::stays);
                continue;
            }
            candidates_.clear();
            candidates_.push_back({Foretold::inside});
            if (!fresh) {
                candidates_.push_back({Foretold::reference});
                auto& vectors = vectors_[static_cast<std::size_t>(row * parts_per_row + column)];
                if (look) find_vectors(job, column, row, vectors);
                for (const auto vector : vectors) candidates_.push_back({Foretold::moved, vector});
            }
            code_part(job, column, row, symbols);
        }
}

// Saves the reconstruction of the block before the second attempt.
void PredictionEncoder::keep(const Job& job) {
    auto* to = kept_.data();
    const auto row_bytes = std::int64_t{job.block.width} * job.channels;
    for (int y = 0; y < job.block.height; ++y, to += row_bytes)
        std::memcpy(to, job.row(y), static_cast<std::size_t>(row_bytes));
}

// Restores it if the second attempt was not better.
void PredictionEncoder::restore(const Job& job) const {
    const auto* from = kept_.data();
    const auto row_bytes = std::int64_t{job.block.width} * job.channels;
    for (int y = 0; y < job.block.height; ++y, from += row_bytes)
        std::memcpy(job.row(y), from, static_cast<std::size_t>(row_bytes));
}

void PredictionEncoder::encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                               const BlockPlace& block, int threshold, bool fresh, HostView<std::uint8_t> after,
                               std::vector<std::uint8_t>& out) {
    const int channels = camera.shape().channels;
    const auto job_of = [&](int size) {
        return Job{camera, before, block, Quantizer(threshold, size), after, channels};
    };
    const auto furthest = fresh ? 0u : block_distance(camera, before, block, threshold).max_error;
    const auto job = job_of(first_step_size(threshold, static_cast<int>(furthest), fresh));
    // First attempt with a small step size; its steps indicate whether the largest size is worth a second one.
    code_block(job, fresh, true, symbols_);
    if (tries_largest(threshold, all_steps_, changed_samples_)) {
        keep(job);
        code_block(job_of(step_sizes::largest), fresh, false, large_symbols_);
        if (takes_largest(large_symbols_.cost(), symbols_.cost())) return large_symbols_.write(out);
        restore(job);
    }
    symbols_.write(out);
}

}  // namespace framewire::delta
