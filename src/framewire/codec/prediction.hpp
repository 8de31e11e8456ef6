#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/codec/symbols.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

namespace framewire::codec {

/// Offset from a sub-block to its prediction in the previous picture, in quarters of a pixel.
struct MotionVector {
    int x = 0, y = 0;

    friend bool operator==(const MotionVector&, const MotionVector&) = default;
};

/// Maximum absolute value of a vector's component.
inline constexpr int max_motion = 63;
/// Number of vector units per pixel.
inline constexpr int quarters = 4;

// Estimated costs in 1/16 bits: a sample beyond the threshold, each further step, and a raw bit. The first two were
// measured.
inline constexpr int motion_sample_cost = 44, motion_step_cost = 20, motion_bit_cost = 16;

/// Returns the estimated cost of signalling a neighbour's vector.
FRAMEWIRE_HOST_DEVICE constexpr int near_vector_cost() { return 2 * motion_bit_cost; }
/// Returns the estimated cost of signalling a new vector. It grows with the logarithm of the vector's length, like the
/// number of coded bits.
FRAMEWIRE_HOST_DEVICE constexpr int new_vector_cost(MotionVector vector) {
    const int x = vector.x < 0 ? -vector.x : vector.x, y = vector.y < 0 ? -vector.y : vector.y;
    int width = 0;
    while ((x + y) / quarters >> width) ++width;
    return motion_bit_cost * (6 + 2 * width);
}

/// Mode of a sub-block; the values are those of the format.
enum class PartMode : std::uint8_t {
    stays = 0,          ///< equal to the previous picture
    changes = 1,        ///< predicted from the previous picture, with steps
    moved = 2,          ///< predicted from another position of the previous picture
    moved_changes = 3,  ///< like `moved`, with steps
    inside = 4,         ///< predicted from neighbours in the block, with steps
    none = 5            ///< there is no sub-block; used as context at the edges of a block
};

/// Modes and vectors of the sub-blocks of a block that are already coded, as context for the next ones. An object can
/// be reused for the next block without clearing it: sub-blocks are set in raster order before they are read.
class CodedParts {
public:
    /// Stores the mode of a sub-block, and its vector if it has one.
    void set(int column, int row, PartMode mode, MotionVector vector = {}) { parts_[at(column, row)] = {mode, vector}; }
    /// Returns the first symbol of the model for the mode of a sub-block. The model depends on the modes to the left
    /// and above.
    int mode_model(int column, int row) const {
        return step_models::mode.at(static_cast<int>(left(column, row).mode) * 6 +
                                    static_cast<int>(above(column, row).mode));
    }

    /// Context for the vector of a sub-block.
    struct Motion {
        bool has_left, has_above;  ///< whether the left and the upper neighbour have a vector
        MotionVector left, above;

        /// Returns the first symbol of the model for the vector kind.
        int kind_model() const { return step_models::vector_kind.at(has_left + 2 * has_above); }
        /// Returns the prediction of a new vector.
        MotionVector near() const { return has_left ? left : above; }
        /// Returns the first symbol of the model for the number of bits of a vector difference; axis 0 is x, 1 is y.
        int bits_model(int axis) const { return step_models::vector_bits.at(axis + 2 * (has_left || has_above)); }
    };
    /// Returns the context for the vector of a sub-block.
    Motion motion(int column, int row) const {
        const auto a = left(column, row), b = above(column, row);
        return {moves(a), moves(b), moves(a) ? a.vector : MotionVector{}, moves(b) ? b.vector : MotionVector{}};
    }

private:
    struct Part {
        PartMode mode = PartMode::none;
        MotionVector vector{};
    };
    static std::size_t at(int column, int row) { return static_cast<std::size_t>(row * parts_per_row + column); }
    static bool moves(const Part& part) { return part.mode == PartMode::moved || part.mode == PartMode::moved_changes; }
    Part left(int column, int row) const { return column ? parts_[at(column - 1, row)] : Part{}; }
    Part above(int column, int row) const { return row ? parts_[at(column, row - 1)] : Part{}; }

    std::array<Part, static_cast<std::size_t>(parts_per_row* parts_per_row)> parts_;
};

/// Kind of a coded vector: equal to that of the left sub-block, equal to that of the upper one, or new, which is coded
/// as a difference from its prediction.
enum VectorKind { as_left = 0, as_above = 1, new_vector = 2 };

/// Compares a block in two pictures of the same shape. Returns the number of bytes that differ by more than
/// `threshold`, and the maximum and the sum of squares of all differences. Thread-safe.
Summary block_distance(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                       const BlockPlace& block, int threshold);

/// Classifies the steepness of a prediction relative to the threshold, from 0 (flat) to 3 (steep).
FRAMEWIRE_HOST_DEVICE constexpr int slope_of(int rise, int threshold) {
    return rise < threshold / 3 ? 0 : rise < threshold ? 1 : rise < 2 * threshold ? 2 : 3;
}

/// Returns the channel that determines the steepness: green, or the only channel of gray pictures.
FRAMEWIRE_HOST_DEVICE constexpr int slope_channel(int channels) { return channels == 3 ? 1 : 0; }

/// Quantizer for the difference between a sample and its prediction. It has a dead zone that extends to the threshold
/// on both sides, and uniform steps beyond. Every reconstructed sample is within the threshold of the true one.
///
///     distance   0 .. T        T + 1 .. first_step() + T    the next step() values   ...
///     steps      0             1                            2                        ...
class Quantizer {
public:
    /// Number of bits that select the step size of a block, and number of step sizes: the largest one that keeps the
    /// bound, about a third of that, and 1.
    static constexpr int size_bits = 2;
    static constexpr int sizes = 3;

    /// Creates a quantizer. `threshold`: 0..254. `size`: number of the step size, 0 to sizes - 1.
    FRAMEWIRE_HOST_DEVICE Quantizer(int threshold, int size)
        : threshold_(threshold), size_(size), step_(step_of(threshold, size)) {}

    /// Returns true if the step size is less than 3. Magnitudes then use separate models.
    FRAMEWIRE_HOST_DEVICE bool fine() const { return step_ < 3; }
    /// Returns the threshold.
    FRAMEWIRE_HOST_DEVICE int threshold() const { return threshold_; }
    /// Returns the number of the step size.
    FRAMEWIRE_HOST_DEVICE int size() const { return size_; }
    /// Returns the step size.
    FRAMEWIRE_HOST_DEVICE int step() const { return step_; }
    /// Returns the correction by the first step.
    FRAMEWIRE_HOST_DEVICE int first_step() const { return threshold_ + (step_ + 1) / 2; }

    /// Returns the smallest number of steps, with its sign, that brings `predicted` within the threshold of `sample`.
    /// Fewer steps take fewer bits, and noise that barely exceeds the bound is not reproduced completely.
    FRAMEWIRE_HOST_DEVICE int steps(int sample, int predicted) const {
        const int difference = sample - predicted, distance = difference < 0 ? -difference : difference;
        if (distance <= threshold_) return 0;
        const int beyond_one = distance - first_step() - threshold_;
        const int count = beyond_one > 0 ? (beyond_one - 1) / step_ + 2 : 1;
        return difference > 0 ? count : -count;
    }
    /// Returns the reconstructed sample, clamped to 0..255. Any magnitude that a stream can
    /// signal is allowed; the arithmetic does not overflow.
    FRAMEWIRE_HOST_DEVICE std::uint8_t sample(int predicted, int steps) const {
        if (steps == 0) return static_cast<std::uint8_t>(predicted);
        const int far = first_step() + ((steps < 0 ? -steps : steps) - 1) * step_;
        const int sample = steps > 0 ? predicted + far : predicted - far;
        return static_cast<std::uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
    }

private:
    FRAMEWIRE_HOST_DEVICE static int step_of(int threshold, int size) {
        const int largest = 2 * threshold + 1;
        return size == 0 ? largest : size == 1 ? (largest / 3) | 1 : 1;
    }

    int threshold_, size_, step_;
};

/// Distance between rows of a sub-block's samples in bytes. The channels of a pixel are adjacent; the bytes after the
/// last pixel are unspecified, so that rows can be loaded as whole vectors.
inline constexpr int part_row = 32;
/// Samples of a sub-block, in rows of `part_row` bytes.
using PartSamples = std::array<std::uint8_t, static_cast<std::size_t>(part_side* part_row)>;

/// Result of quantizing the difference between a sub-block and its prediction.
struct QuantizedPart {
    alignas(64) std::array<std::int16_t, static_cast<std::size_t>(part_side* part_row)> steps;  ///< signed magnitudes
    alignas(64) PartSamples samples;               ///< reconstruction, as viewers will see it
    alignas(64) PartSamples slopes;                ///< slope_of() at each sample
    std::array<std::uint32_t, part_side> changed;  ///< per row: a bit per sample, set if the sample has a step

    /// Returns true if any of the first `rows` rows has a step.
    bool has_steps(int rows) const {
        std::uint32_t any = 0;
        for (int row = 0; row < rows; ++row) any |= changed[static_cast<std::size_t>(row)];
        return any != 0;
    }
};

/// The camera's samples of a sub-block, and a mask: 255 for samples inside the frame, else 0.
struct MaskedPart {
    alignas(64) PartSamples samples, mask;

    /// Loads the sub-block with the upper left pixel (x, y).
    void load(HostView<const std::uint8_t> camera, int x, int y, int width, int height);
};

/// Quantizes `rows` rows of `camera` against a prediction and fills `part`. `mask` is 255 for samples inside the frame,
/// else 0; masked samples have no steps. `predicted` is the first predicted sample, in rows of `part_row`, with a
/// border of one pixel on all sides.
void quantize(const Quantizer& quantizer, const PartSamples& camera, const PartSamples& mask,
              const std::uint8_t* predicted, int channels, int rows, QuantizedPart& part);

/// Motion-compensated prediction of a sub-block, with a border of one pixel around it. Up to 3 channels.
class PredictedPart {
public:
    /// Side in pixels, including the border.
    static constexpr int side = part_side + 2;

    /// Predicts the sub-block with the upper left pixel (x, y) from the pixels of `before` at an offset of `vector`.
    /// Interpolation is bilinear in quarters of a pixel; outside the frame the nearest pixel is repeated.
    void move(HostView<const std::uint8_t> before, int x, int y, MotionVector vector);

    /// Returns the prediction of a sample; x and y from -1 to part_side.
    std::uint8_t at(int x, int y, int channel) const { return first()[y * part_row + x * channels_ + channel]; }
    /// Returns the address of the first sample inside the border. Rows are part_row bytes apart.
    const std::uint8_t* first() const { return samples_.data() + part_row + channels_; }
    /// Returns the steepness at a pixel in one channel: the larger one of the differences between its left and right
    /// neighbours and between its upper and lower neighbours.
    int rise(int x, int y, int channel) const {
        const int across = at(x + 1, y, channel) - at(x - 1, y, channel);
        const int down = at(x, y + 1, channel) - at(x, y - 1, channel);
        return std::max(std::abs(across), std::abs(down));
    }

private:
    int channels_ = 3;
    // Padded, because whole vectors are read from any pixel of a row.
    alignas(64) std::array<std::uint8_t, static_cast<std::size_t>((side + 2) * part_row)> samples_{};
};

/// Prediction of a pixel from its neighbours in the block: the median of left, above and left + above - corner
/// (Martucci, "Reversible compression of HDTV images using median adaptive prediction and arithmetic coding", 1990; the
/// median edge detector of JPEG-LS, ITU-T T.87). At the upper and left edges of the block, it is the only neighbour;
/// the first pixel is predicted as 128.
struct PredictedInside {
    int samples[3];  ///< predicted sample of each channel
    int rise;        ///< steepness in slope_channel(); 0 at the upper and left edge
};
/// Predicts the pixel (x, y) of `block` from pixels of the same block in `picture`, which must be reconstructed
/// already.
PredictedInside predict_inside(HostView<const std::uint8_t> picture, const BlockPlace& block, int x, int y);

/// Quantizes the sub-block at (`left`, `top`) of a block, predicted as by predict_inside(). `camera` holds its samples;
/// `done` holds the reconstruction of the sub-blocks before it. Each pixel depends on the reconstruction of those
/// before it, so SIMD is not possible.
void quantize_inside(const Quantizer& quantizer, const PartSamples& camera, HostView<const std::uint8_t> done,
                     const BlockPlace& block, int left, int top, QuantizedPart& part);

/// Sink for symbols that only adds up their costs, in 1/8 bits.
class CostSink {
public:
    /// Creates a sink. Costs of `limit` and more need not be exact, so coding may stop when too_much() returns true.
    CostSink(int threshold, std::uint64_t limit)
        : costs_(step_costs().data()), shift_(16 * cost_set(threshold)), limit_(limit) {}

    /// Adds a symbol of a trained model.
    void add(int index) { cost_ += costs_[index] >> shift_ & 0xffff; }
    /// Adds a raw number of `count` bits.
    void add_bits(int, int count) { cost_ += static_cast<std::uint64_t>(count) * 8; }
    /// Returns the sum.
    std::uint64_t cost() const { return cost_; }
    /// Returns true if the sum has reached the limit.
    bool too_much() const { return cost_ >= limit_; }

private:
    // Returns the set of models that most blocks choose.
    static int cost_set(int threshold) { return threshold >= 14 ? 2 : 3; }

    const std::uint64_t* costs_;
    int shift_;
    std::uint64_t limit_, cost_ = 0;
};

/// Returns false: coding to Symbols must be complete.
inline bool too_much(const Symbols&) { return false; }
/// Returns true if the sink has reached its limit, so that coding can stop.
inline bool too_much(const CostSink& sink) { return sink.too_much(); }

/// Adds a component of a vector difference: the number of its bits, the bits below the highest, and the sign.
template <class Sink>
void add_distance(Sink& sink, int model, int distance) {
    const int far = std::abs(distance), bits = static_cast<int>(std::bit_width(static_cast<unsigned>(far)));
    sink.add(model + bits);
    if (bits == 0) return;
    if (bits > 1) sink.add_bits(far & ((1 << (bits - 1)) - 1), bits - 1);
    sink.add_bits(distance < 0, 1);
}

/// Adds the symbols of a sub-block's vector.
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

/// Decoder for the form "prediction" of format.md. Not thread-safe; keeps its memory between calls.
class PredictionDecoder {
public:
    /// Decodes a block from the complete previous picture `before` and writes it to `after`; both have the frame's
    /// shape and must not overlap. Returns false if `bytes` are broken, or if the block is predicted from one of the
    /// blocks `avoided`; the content of the block is then unspecified.
    bool decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                HostView<const std::uint8_t> before, HostView<std::uint8_t> after,
                const AvoidedBlocks* avoided = nullptr);

    /// Variant of decode() for keyframes: allows only sub-blocks that are predicted from neighbours in the block.
    bool decode_fresh(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                      HostView<std::uint8_t> picture) {
        return decode(bytes, block, threshold, {}, picture);
    }

private:
    struct Job;
    template <class Reader>
    bool decode(Reader reader, const StepModels& models, const Job& job);

    StepBytes bytes_;
    CodedPixels coded_;
    CodedParts parts_;
    PredictedPart predicted_;
};

/// A vector and the estimated cost of predicting a sub-block with it, in 1/16 bits.
struct ScoredVector {
    MotionVector vector;
    int cost;
};

/// The cheapest vectors found so far, in ascending order of cost.
class BestVectors {
public:
    static constexpr int most = 8;

    /// Creates a list of at most `count` vectors, clamped to 1..most.
    explicit BestVectors(int count) : room_(std::clamp(count, 1, most)) {}
    /// Returns the cost that a vector must be below to be added.
    int limit() const { return count_ < room_ ? 1 << 30 : found_[static_cast<std::size_t>(count_) - 1].cost; }
    /// Adds a vector that costs less than limit(), after those of equal cost, unless the list contains it already.
    void offer(MotionVector vector, int cost) {
        for (const auto& one : all())
            if (one.vector == vector) return;
        count_ = std::min(count_ + 1, room_);
        auto at = static_cast<std::size_t>(count_) - 1;
        for (; at > 0 && found_[at - 1].cost > cost; --at) found_[at] = found_[at - 1];
        found_[at] = {vector, cost};
    }
    /// Returns the vectors in ascending order of cost.
    std::span<const ScoredVector> all() const { return {found_.data(), static_cast<std::size_t>(count_)}; }

private:
    int room_, count_ = 0;
    std::array<ScoredVector, most> found_;
};

/// A sub-block, and the area around its position in the previous picture, which is large enough for every vector and
/// for interpolation. Rows are padded so that whole vectors can be loaded.
struct MotionWindow {
    static constexpr int max_range = 15;  ///< maximum search range in pixels
    static constexpr int margin = max_range + 1;
    static constexpr int side = part_side + 2 * margin + 1;
    static constexpr int stride = side * 3 + 32;
    static constexpr int part_stride = 32;

    int channels = 3, rows = part_side;
    alignas(64) std::array<std::uint8_t, side * stride> before;
    alignas(64) std::array<std::uint8_t, part_side * part_stride> part,
        mask;  ///< camera samples, and a mask that is 255 for samples inside the frame, else 0
};

/// Searches for motion and offers vectors to `best`: first those in `near`, then all whole-pixel vectors up to `range`
/// pixels in raster order, then half and quarter pixels around the best ones.
///
/// The estimated cost of a prediction counts each sample that is off by more than `threshold`, and each step of 2 *
/// `threshold` + 1 beyond that. It includes the cost of signalling the vector, which is lower for vectors in `near`.
void look_for_motion(const MotionWindow& window, int threshold, int range, std::span<const MotionVector> near,
                     BestVectors& best);

/// Interpolates rows of 24 samples (8 for one channel) bilinearly, at `fraction_x` quarters of a pixel to the right and
/// `fraction_y` quarters down. The rows of `to` are 32 bytes apart. Reads and writes whole vectors.
void interpolate(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y, int rows,
                 std::uint8_t* to);

/// Motion search for sub-blocks. It minimizes the number of samples that are off by more than the threshold and the
/// number of steps that correct them instead of the sum of squares, because differences within the threshold cost
/// nothing. Not thread-safe; keeps its memory between calls.
class MotionSearch {
public:
    /// Returns up to `count` vectors for predicting a sub-block of `camera` from `before`, in ascending order of cost.
    /// The sub-block has `width` x `height` pixels, the upper left one at (x, y). The zero vector is never returned.
    /// `range`: search range in pixels, at most MotionWindow::max_range. `near`: vectors of neighbours, which are also
    /// tried and cost less. The result is valid until the next call.
    std::span<const ScoredVector> find(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x,
                                       int y, int width, int height, int threshold, int range, int count,
                                       std::span<const MotionVector> near);

private:
    // Loads the window: all columns, and the rows up to `reach` pixels above and below the sub-block.
    void load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y, int width,
              int height, int reach);

    MotionWindow window_;
    BestVectors best_{1};
};

/// Encoder for the form "prediction" of format.md. Every sample of the result is within the threshold of the camera's.
/// Each sub-block uses the cheapest candidate: the previous picture at the same position, the previous picture at
/// another position, or a prediction from neighbours, each with steps if it is not close enough.
///
/// The step size determines how close the result is to the camera. By default it is a third of the largest size, which
/// keeps R closer to the following frames. A block uses the largest size if that saves much, and size 1 if only noise
/// exceeds the bound. Not thread-safe; keeps its memory between calls.
class PredictionEncoder {
public:
    /// Creates an encoder with the default effort.
    PredictionEncoder() = default;
    /// Creates an encoder with a given effort.
    explicit PredictionEncoder(Effort effort) : effort_(effort) {}
    /// Sets the effort of the following blocks.
    void set_effort(Effort effort) { effort_ = effort; }

    /// Codes a block of `camera`, predicted from the complete previous picture `before`, and appends it to `out`.
    /// Writes the reconstruction that viewers will see to `after`. All views have the same shape; `after` must not
    /// overlap the others. If `fresh` is set, `before` is not read.
    void encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, const BlockPlace& block,
                int threshold, bool fresh, HostView<std::uint8_t> after, std::vector<std::uint8_t>& out);

private:
    struct Candidate {
        Predicted by;
        MotionVector vector{};
    };
    struct Job;

    /// Fills `symbols` with the symbols of the block and writes its reconstruction to job.after. Searches for vectors
    /// if `look` is set; otherwise reuses the vectors of the previous call.
    void code_block(const Job& job, bool fresh, bool look, Symbols& symbols);
    void find_vectors(const Job& job, int column, int row, std::vector<MotionVector>& vectors);
    void quantize_part(const Job& job, int left, int top, const Candidate& candidate, QuantizedPart& part);
    /// Adds the symbols of a sub-block that is predicted as in `candidate`, and stores its pixels in coded_ as context.
    /// Returns the mode of the sub-block.
    template <int channels, class Sink>
    PartMode add_part(const Job& job, int column, int row, const Candidate& candidate, const QuantizedPart& part,
                      Sink&& sink);
    template <class Sink>
    PartMode add_part(const Job& job, int column, int row, const Candidate& candidate, const QuantizedPart& part,
                      Sink&& sink);
    /// Codes the sub-block with the cheapest element of candidates_.
    void code_part(const Job& job, int column, int row, Symbols& symbols);
    void count_steps(const QuantizedPart& part, int rows);
    void keep(const Job& job);
    void restore(const Job& job) const;

    Effort effort_;
    CodedPixels coded_;
    CodedParts parts_;
    PredictedPart predicted_;
    MotionSearch search_;
    std::array<std::vector<MotionVector>, static_cast<std::size_t>(parts_per_row* parts_per_row)> vectors_;
    std::vector<Candidate> candidates_;
    MaskedPart camera_;
    std::array<QuantizedPart, 2> quantized_;
    std::uint32_t changed_samples_ = 0,
                  all_steps_ = 0;  // in the current block: number of samples with steps, and sum of these steps
    Symbols symbols_, large_symbols_;
    std::array<std::uint8_t, static_cast<std::size_t>(block_side* block_side * 3)> kept_;
};

}  // namespace framewire::codec

// Choice of the step size and of the keyframe form, shared by the CPU and the GPU. The constants were measured on
// webcam and traffic scenes.

namespace framewire::codec {

namespace step_sizes {

/// Numbers of the step sizes, as passed to Quantizer.
inline constexpr int largest = 0, third = 1, single = 2;

}  // namespace step_sizes

/// Returns the step size to try first. `furthest` is the largest difference between the block and the previous picture.
/// `fresh`: there is no previous picture. If the largest difference barely exceeds the bound, it is probably noise, and
/// the smallest step size keeps the correction small.
FRAMEWIRE_HOST_DEVICE constexpr int first_step_size(int threshold, int furthest, bool fresh) {
    return !fresh && furthest <= threshold + threshold / 4 ? step_sizes::single : step_sizes::third;
}

/// Returns the step size of a block at effort 0, which codes a block once. `samples` is the number of samples beyond
/// the threshold, `excess` the sum of the amounts by which they exceed it, and `furthest` the largest amount. If a
/// sample takes more than one smaller step beyond the first on average, the largest size saves more than it costs
/// later: limits of 1 to 2 steps differ by up to 5 % on webcams and 1080p grain; always the largest size takes 30 %
/// more on grain.
FRAMEWIRE_HOST_DEVICE inline int quick_step_size(int threshold, int furthest, std::uint32_t samples,
                                                 std::uint32_t excess) {
    const int first = first_step_size(threshold, threshold + furthest, false);
    if (first == step_sizes::single) return first;
    const auto step = static_cast<std::uint32_t>(Quantizer(threshold, first).step());
    return excess > samples * step ? step_sizes::largest : first;
}

/// Returns true if the largest step size is worth trying after a first attempt with `steps` steps in `samples` samples.
FRAMEWIRE_HOST_DEVICE constexpr bool tries_largest(int threshold, std::uint32_t steps, std::uint32_t samples) {
    return threshold > 0 && 2 * steps > 3 * samples;
}

/// Returns true if the largest step size should be used. It leaves R further from the camera, which makes later frames
/// more expensive, so it must save more than an eighth of the block.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_largest(std::uint64_t cost, std::uint64_t first_cost) {
    return 8 * cost < 7 * first_cost;
}

/// Returns the threshold for a keyframe, given the threshold for delta frames. If the keyframe used the whole
/// threshold, the next delta frames would cost more than it saves. Measured on vtest: the first second is smallest with
/// about a quarter of the threshold.
constexpr int first_threshold(int threshold) { return threshold / 4; }

/// Returns true if the near keyframe should be used instead of the lossless one. A lossless keyframe makes later frames
/// cheaper by about an eighth of its size.
FRAMEWIRE_HOST_DEVICE constexpr bool takes_near_picture(std::uint64_t bytes, std::uint64_t whole_bytes) {
    return 8 * bytes < 7 * whole_bytes;
}

}  // namespace framewire::codec
