#pragma once

#include "training/symbol_counts.hpp"

#include <span>
#include <string>
#include <vector>

namespace framewire::bench {

/// The levels of a set of models as characters: see "Frequencies" in format.md.
using Levels = std::string;

/// Trains the model sets for delta frames and for keyframes of bounded mode. Minimises the geometric mean of all
/// streams' bytes, each counted as one delta frame and a sixtieth of the keyframe. Blocks are divided by k-means (Lloyd
/// 1982) with the length of a block's code as the distance; the initial division is by bits per symbol.
std::vector<Levels> train_step_sets(std::span<const StreamCounts> streams);
/// Returns the current sets, with retrained models for the symbols that only blocks coded in runs have; each block
/// counts for the set that it was coded with. Nothing else changes, including the form that blocks take.
std::vector<Levels> train_run_models(std::span<const StreamCounts> streams);
/// Trains models for complete keyframes in the same way.
Levels train_picture_models(std::span<const StreamCounts> streams);

/// Returns the bytes of the symbols, without the bits that have no model: for all counted delta frames, or for the
/// keyframe if it is coded like a delta frame, each block with its best set; and for a complete keyframe.
double block_bytes(const StreamCounts& stream, bool first, std::span<const Levels> sets);
double picture_bytes(const StreamCounts& stream, const Levels& models);

/// Return the models that this program was built with.
std::vector<Levels> present_step_sets();
Levels present_picture_models();

}  // namespace framewire::bench
