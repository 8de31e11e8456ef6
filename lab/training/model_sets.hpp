#pragma once

#include "training/symbol_counts.hpp"

#include <span>
#include <string>
#include <vector>

namespace framewire::bench {

/// The levels of a set of models as characters: see "Frequencies" in format.md.
using Levels = std::string;

/// Sets of models for steps and bounded's first pictures. What is made small is the geometric mean of all streams'
/// bytes, each a step and a sixtieth of the first picture. Blocks are divided by k-means (Lloyd 1982), whose distance
/// is the length of a block's code; the first division is by bits per symbol.
std::vector<Levels> train_step_sets(std::span<const StreamCounts> streams);
/// The present sets, with models of what only blocks in runs have made anew; each block counts for the set that it was
/// coded with. So nothing else changes, nor which form blocks take.
std::vector<Levels> train_run_models(std::span<const StreamCounts> streams);
/// Models for whole pictures, likewise.
Levels train_picture_models(std::span<const StreamCounts> streams);

/// Bytes of symbols, without the bits that no model knows of: of the steps counted, or the first picture where that is
/// coded as steps are, each block with the set that is best for it; of a whole first picture.
double block_bytes(const StreamCounts& stream, bool first, std::span<const Levels> sets);
double picture_bytes(const StreamCounts& stream, const Levels& models);

/// Those that this program was built with.
std::vector<Levels> present_step_sets();
Levels present_picture_models();

}  // namespace framewire::bench
