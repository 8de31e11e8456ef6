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

/// Codes blocks in the form "prediction" of format.md, so that every sample of what results is within the threshold of
/// the camera's. Each part is what costs the fewest bits: the sample as it was, moved from elsewhere, or foretold by
/// its neighbours, and steps where that is not near enough. Steps of a third of the largest size leave R nearer to what
/// the camera sees next. A block takes the largest where that saves much now, and single ones where all that leaves the
/// bound is noise.
class PredictionEncoder {
public:
    PredictionEncoder() = default;
    explicit PredictionEncoder(Effort effort) : effort_(effort) {}

    /// Codes a block of `camera` from the whole picture `before`, appends it to `out` and writes the block of `after`,
    /// the picture that a viewer has then. All of one shape; `after` overlaps none. With `fresh` nothing of `before` is
    /// used.
    void encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, const BlockPlace& block,
                int threshold, bool fresh, HostView<std::uint8_t> after, std::vector<std::uint8_t>& out);

private:
    struct Candidate {
        Foretold by;
        MotionVector vector{};
    };
    struct Job;

    /// Fills `symbols` with the block and writes it as a viewer will have it. Vectors are those found the last time
    /// unless it is to `look` for them.
    void code_block(const Job& job, bool fresh, bool look, Symbols& symbols);
    void find_vectors(const Job& job, int column, int row, std::vector<MotionVector>& vectors);
    void load_part(const Job& job, int left, int top);
    void quantize_part(const Job& job, int left, int top, const Candidate& candidate, QuantizedPart& part);
    /// Adds the symbols of a part that is foretold by `candidate`, and keeps in coded_ what the next ones need of it.
    template <int channels, class Sink>
    PartMode add_part(const Job& job, int column, int row, const Candidate& candidate, const QuantizedPart& part,
                      Sink&& sink);
    template <class Sink>
    PartMode add_part(const Job& job, int column, int row, const Candidate& candidate, const QuantizedPart& part,
                      Sink&& sink);
    /// Codes the part by the one of candidates_ that takes the fewest bits.
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
    alignas(64) PartSamples camera_, mask_;  // of the part
    std::array<QuantizedPart, 2> quantized_;
    std::uint32_t changed_samples_ = 0,
                  all_steps_ = 0;  // of the block: how many samples have steps, and how many they have
    Symbols symbols_, large_symbols_;
    std::array<std::uint8_t, static_cast<std::size_t>(block_side* block_side * 3)> kept_;
};

}  // namespace framewire::delta
