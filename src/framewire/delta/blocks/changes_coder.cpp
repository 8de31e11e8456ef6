// Encoder for blocks of changes. Each block is coded in one of two forms:
//
//     "changes"            pixel by pixel
//     "changes in runs"    rows of sub-blocks, magnitudes last: fewer dependent symbols, but 32 more states
//
// The form is chosen by a cheap test on the counts first. If the block qualifies, it is coded in runs, and coded again
// pixel by pixel if too few of its pixels turn out to be in runs.

#include "framewire/delta/blocks/changes_coder.hpp"

#include "framewire/delta/entropy/lane_tables.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace framewire::delta {
namespace {

// Adds the mode of each sub-block to `symbols` in the order of coding, then calls body(column, row, any) for its
// contents.
template <class Body>
void add_parts_with_modes(const ChangedBlock& of, Symbols& symbols, Body&& body) {
    CodedParts modes;
    for (int row = 0; row < of.place.part_rows(); ++row)
        for (int column = 0; column < of.place.part_columns(); ++column) {
            const bool any = (of.parts & part_bit(column, row)) != 0;
            const auto mode = any ? PartMode::changes : PartMode::stays;
            symbols.add(modes.mode_model(column, row) + static_cast<int>(mode));
            modes.set(column, row, mode);
            body(column, row, any);
        }
}

}  // namespace

void ChangesEncoder::encode(HostView<std::uint8_t> differences, std::span<const ChangedBlock> blocks, int threshold,
                            std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    const int channels = differences.shape().channels;
    // A cheap test on the counts comes first. add_runs() makes the final decision, and only then is the block coded
    // again.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto& [place, parts, samples] = blocks[i];
        symbols_[i].clear();
        if (!may_be_runs(samples, std::popcount(parts), channels) ||
            !add_runs(differences, blocks[i], threshold, symbols_[i]))
            add_block(differences, blocks[i], threshold, symbols_[i]);
        for_each_of(parts, place, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
        clear_parts(differences, place, parts);
    }
    Symbols::write(std::span(symbols_).first(blocks.size()), out, sizes);
}

void ChangesEncoder::add_block(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold,
                               Symbols& symbols) {
    add_parts_with_modes(of, symbols, [&](int column, int row, bool any) {
        if (!any) return;
        add_part_entries(differences, of.place, threshold, column * part_side, row * part_side, planes_, symbols);
    });
}

bool ChangesEncoder::add_runs(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold,
                              Symbols& symbols) {
    const int channels = differences.shape().channels;
    std::array<RunRow, parts_per_row> above{};
    std::array<int, 3> classes{};  // class of the last sub-block per channel, in the order of coding
    auto& residuals = symbols.residuals();
    runs_part_.pixels = runs_part_.pixels_in_runs = 0;
    add_parts_with_modes(of, symbols, [&](int column, int row, bool any) {
        auto& row_above = above[static_cast<std::size_t>(column)];
        if (!any) {
            row_above = {};
            return;
        }
        runs_part_.above = row_above;
        add_part_runs(differences, of.place, threshold, column * part_side, row * part_side, planes_, runs_part_,
                      symbols);
        row_above = runs_part_.above;
        for (int i = 0; i < channels; ++i) {
            const auto& [folded, count, off] = runs_part_.channels[static_cast<std::size_t>(i)];
            if (count == 0) continue;
            auto& part_class = classes[static_cast<std::size_t>(i)];
            const int model = part_class_model(part_class, i == 0);
            part_class = residual_class(off, count);
            residuals.add({folded, static_cast<std::size_t>(count)}, part_class);
            symbols.add(step_models::part_class.at(model) + part_class);
        }
    });
    // Too few pixels in runs: undo everything, so that the block can be coded pixel by pixel.
    if (are_runs(runs_part_.pixels_in_runs, runs_part_.pixels)) return true;
    for_each_of(of.parts, of.place, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
    symbols.clear();
    return false;
}

}  // namespace framewire::delta
