#include "framewire/delta/prediction/prediction_encoder.hpp"

#include "framewire/delta/blocks/step_pixels.hpp"
#include "framewire/delta/prediction/distance.hpp"
#include "framewire/delta/prediction/step_sizes.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {
namespace {

/// Adds up what symbols cost, in 1/8 bits.
class CostSink {
public:
    CostSink(int threshold, std::uint64_t limit) : shift_(16 * cost_set(threshold)), limit_(limit) {}

    void add(int index) { cost_ += step_costs()[static_cast<std::size_t>(index)] >> shift_ & 0xffff; }
    void add_bits(int, int count) { cost_ += static_cast<std::uint64_t>(count) * 8; }
    std::uint64_t cost() const { return cost_; }
    bool too_much() const { return cost_ >= limit_; }

private:
    /// The set of models that most blocks take.
    static int cost_set(int threshold) { return threshold >= 14 ? 2 : 3; }

    int shift_;
    std::uint64_t limit_, cost_ = 0;
};

bool too_much(const Symbols&) { return false; }
bool too_much(const CostSink& sink) { return sink.too_much(); }

template <class Sink>
void add_distance(Sink& sink, int model, int distance) {
    const int far = std::abs(distance), bits = std::bit_width(static_cast<unsigned>(far));
    sink.add(model + bits);
    if (bits == 0) return;
    if (bits > 1) sink.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    sink.add_bits(distance < 0, 1);
}

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

}  // namespace

struct PredictionEncoder::Job {
    HostView<const std::uint8_t> camera, before;
    BlockPlace block;
    Quantizer quantizer;
    HostView<std::uint8_t> after;
    int channels;

    std::uint8_t* row(int y) const { return after.row(0, block.y + y) + std::int64_t{block.x} * channels; }
    int width(int left) const { return std::min(part_side, block.width - left); }
    int height(int top) const { return std::min(part_side, block.height - top); }

    /// Whether the part is within the threshold of the camera as it was.
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
    void stay(int left, int top) const {
        const auto from = std::int64_t{block.x + left} * channels;
        for (int y = block.y + top; y < block.y + top + height(top); ++y)
            std::memcpy(after.row(0, y) + from, before.row(0, y) + from,
                        static_cast<std::size_t>(width(left) * channels));
    }
};

/// Fills the part's steps and slopes and writes it as a viewer will have it.
void PredictionEncoder::quantize(const Job& job, int left, int top, const Candidate& candidate) {
    const int channels = job.channels;
    const bool inside = candidate.by == Foretold::inside;
    const HostView<const std::uint8_t> done = job.after;
    if (!inside) foretold_.move(job.before, job.block.x + left, job.block.y + top, candidate.vector);
    has_steps_ = false;
    for (int y = 0; y < job.height(top); ++y) {
        const auto from = std::int64_t{job.block.x + left} * channels;
        const auto* now = job.camera.row(0, job.block.y + top + y) + from;
        auto* pixel = job.after.row(0, job.block.y + top + y) + from;
        for (int x = 0; x < job.width(left); ++x, now += channels, pixel += channels) {
            ForetoldInside foretold;
            if (inside) {
                foretold = foretell_inside(done, job.block, left + x, top + y);
            } else {
                for (int channel = 0; channel < channels; ++channel)
                    foretold.samples[channel] = foretold_.at(x, y, channel);
                foretold.rise = foretold_.rise(x, y, slope_channel(channels));
            }
            const auto at = static_cast<std::size_t>(y * part_side + x);
            slopes_[at] = static_cast<std::uint8_t>(slope_of(foretold.rise, job.quantizer.threshold()));
            for (int channel = 0; channel < channels; ++channel) {
                const int steps = job.quantizer.steps(now[channel], foretold.samples[channel]);
                steps_[at * 3 + static_cast<std::size_t>(channel)] = static_cast<std::int16_t>(steps);
                has_steps_ |= steps != 0;
                pixel[channel] = job.quantizer.sample(foretold.samples[channel], steps);
            }
        }
    }
}

template <class Sink>
PartMode PredictionEncoder::code(const Job& job, int column, int row, const Candidate& candidate, Sink&& sink) {
    const int left = column * part_side, top = row * part_side, channels = job.channels;
    quantize(job, left, top, candidate);
    const auto mode = candidate.by == Foretold::inside      ? PartMode::inside
                      : candidate.by == Foretold::reference ? PartMode::changes
                      : has_steps_                          ? PartMode::moved_changes
                                                            : PartMode::moved;
    sink.add(parts_.mode_model(column, row) + static_cast<int>(mode));
    if (candidate.by == Foretold::moved) add_vector(sink, candidate.vector, parts_.motion(column, row));
    const bool writes_steps = mode != PartMode::moved;
    constexpr int weights[3] = {1, 3, 9};
    for (int y = 0; y < job.height(top); ++y) {
        for (int x = 0; x < job.width(left); ++x) {
            const auto at = static_cast<std::size_t>(y * part_side + x);
            int steps[3], pattern = 0;
            for (int channel = 0; channel < channels; ++channel) {
                steps[channel] = steps_[at * 3 + static_cast<std::size_t>(channel)];
                coded_.set_steps(left + x, top + y, channel, steps[channel]);
                if (steps[channel])
                    pattern += (channels == 1 ? int{all_up} : weights[channel]) * (steps[channel] > 0 ? 1 : 2);
            }
            coded_.set_pattern(left + x, top + y, static_cast<Pattern>(pattern));
            if (!writes_steps) continue;
            const auto near = coded_.neighbours(left + x, top + y);
            sink.add(step_models::changed.at(changed_model(near, candidate.by, slopes_[at])) + (pattern != 0));
            if (pattern)
                add_pixel(sink, coded_, near, left + x, top + y, channels, pattern, steps, job.quantizer.fine());
        }
        if (too_much(sink)) break;
    }
    return mode;
}

void PredictionEncoder::count_steps(int width, int height, int channels) {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < channels; ++channel) {
                const auto steps = static_cast<std::uint32_t>(
                    std::abs(steps_[static_cast<std::size_t>((y * part_side + x) * 3 + channel)]));
                changed_samples_ += steps > 0;
                all_steps_ += steps;
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
            std::size_t best = 0;
            std::uint64_t least = ~std::uint64_t{0};
            for (std::size_t i = 0; candidates_.size() > 1 && i < candidates_.size(); ++i) {
                CostSink sink(job.quantizer.threshold(), least);
                code(job, column, row, candidates_[i], sink);
                if (sink.cost() >= least) continue;
                least = sink.cost();
                best = i;
            }
            const auto mode = code(job, column, row, candidates_[best], symbols);
            parts_.set(column, row, mode, candidates_[best].vector);
            count_steps(job.width(left), job.height(top), job.channels);
        }
}

void PredictionEncoder::keep(const Job& job) {
    auto* to = kept_.data();
    const auto row_bytes = std::int64_t{job.block.width} * job.channels;
    for (int y = 0; y < job.block.height; ++y, to += row_bytes)
        std::memcpy(to, job.row(y), static_cast<std::size_t>(row_bytes));
}

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
