#pragma once

#include "framewire/core/view.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/symbols.hpp"
#include "framewire/delta/prediction/effort.hpp"
#include "framewire/delta/prediction/foretold.hpp"
#include "framewire/delta/prediction/motion/motion_search.hpp"
#include "framewire/delta/prediction/part_modes.hpp"
#include "framewire/delta/prediction/quantization/quantized_part.hpp"
#include "framewire/delta/prediction/quantization/quantizer.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace framewire::delta {

/// Encoder for the form "prediction" of format.md. Every sample of the result is within the threshold of the camera's.
/// For each sub-block it takes the candidate that costs the fewest bits: the sub-block as it was, moved from another
/// position, or predicted from its neighbours, each with steps where it is not near enough.
///
/// The step size decides how near the result is. A third of the largest size leaves R nearer to the next frames. A
/// block takes the largest size if that saves much now, and size 1 if only noise exceeds the bound. Not thread-safe;
/// keeps its memory between calls.
class PredictionEncoder {
public:
    /// Makes an encoder with the default effort.
    PredictionEncoder() = default;
    /// Makes an encoder with a given effort.
    explicit PredictionEncoder(Effort effort) : effort_(effort) {}

    /// Codes a block of `camera`, predicted from the complete previous picture `before`, appends it to `out`, and
    /// writes the reconstruction of the block, as viewers will see it, to `after`. All have the same shape; `after`
    /// must not overlap the others. With `fresh` set, `before` is not read.
    void encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, const BlockPlace& block,
                int threshold, bool fresh, HostView<std::uint8_t> after, std::vector<std::uint8_t>& out);

private:
    struct Candidate {
        Foretold by;
        MotionVector vector{};
    };
    struct Job;

    /// Fills `symbols` with the block and reconstructs it in `after`. Searches for vectors if `look` is set; otherwise
    /// reuses those of the previous call.
    void code_block(const Job& job, bool fresh, bool look, Symbols& symbols);
    void find_vectors(const Job& job, int column, int row, std::vector<MotionVector>& vectors);
    void load_part(const Job& job, int left, int top);
    void quantize_part(const Job& job, int left, int top, const Candidate& candidate, QuantizedPart& part);
    /// Adds the symbols of a sub-block that is predicted by `candidate`, and stores its pixels in coded_ as context.
    template <int channels, class Sink>
    PartMode add_part(const Job& job, int column, int row, const Candidate& candidate, const QuantizedPart& part,
                      Sink&& sink);
    template <class Sink>
    PartMode add_part(const Job& job, int column, int row, const Candidate& candidate, const QuantizedPart& part,
                      Sink&& sink);
    /// Codes the sub-block with the cheapest one of candidates_.
    void code_part(const Job& job, int column, int row, Symbols& symbols);
    void count_steps(const QuantizedPart& part, int rows);
    void keep(const Job& job);
    void restore(const Job& job) const;

    Effort effort_;
    CodedPixels coded_;
    CodedParts parts_;
    ForetoldPart foretold_;
    MotionSearch search_;
    std::array<std::vector<MotionVector>, static_cast<std::size_t>(parts_per_row* parts_per_row)> vectors_;
    std::vector<Candidate> candidates_;
    alignas(64) PartSamples camera_, mask_;  // samples of the sub-block, and 255 for those inside the frame
    std::array<QuantizedPart, 2> quantized_;
    std::uint32_t changed_samples_ = 0,
                  all_steps_ = 0;  // per block: number of samples with steps, and the sum of these steps
    Symbols symbols_, large_symbols_;
    std::array<std::uint8_t, static_cast<std::size_t>(block_side* block_side * 3)> kept_;
};

}  // namespace framewire::delta
