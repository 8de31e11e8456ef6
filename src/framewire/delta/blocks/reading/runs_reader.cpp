// Reader for blocks in runs. A block is read in three phases:
//
//     1. modes, rows and classes of all sub-blocks, symbol by symbol
//     2. all folded magnitudes, 32 states in parallel (read_residuals())
//     3. magnitudes and differences of the sub-blocks, in SIMD lanes (RunPartMaker)
//
// Only the first phase is a chain of dependent symbols, and there are few of them.

#include "framewire/delta/blocks/reading/runs_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace framewire::delta {
namespace {

constexpr std::uint64_t each_byte = ~std::uint64_t{0} / 255;

// Reads the pixels of a mixed row and returns their traits. `told`: contributions of the rows above. `before`: traits
// of the pixel to the left of the row, `second`: the pixel two to the left changes.
template <int channels, class Reader>
std::uint64_t read_mixed(Reader& reader, const StepModels& models, const ReadingTables& tables, const RowAbove& told,
                         unsigned before, bool second, int width, std::array<Pattern, part_side>& patterns,
                         std::array<int, 3>& counts) {
    std::uint64_t traits = 0;
    unsigned seconds = second ? RowAbove::second_bit : 0;
    for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
        const auto changes_from = tables.changes_from[told.changed[x] | seconds | (before & 3)];
        seconds = before ? RowAbove::second_bit : 0;
        if (!StepModels::read_flag_from(reader, changes_from)) {
            before = 0;
            patterns[x] = 0;
            continue;
        }
        const int model = told_patterns.left[told.corner[x] | before] | told_patterns.above[told.above[x]];
        const auto rank = read_pattern<channels>(reader, models, model);
        const auto& pattern = pattern_readings[patterns_by_frequency[rank]];
        patterns[x] = patterns_by_frequency[rank];
        before = pattern.traits;
        traits |= std::uint64_t{before} << (8 * x);
        for (std::size_t i = 0; i < channels; ++i)
            counts[i] += pattern.signs[channels == 1 ? 0 : channel_order[i]] != 0;
    }
    return traits;
}

// Reads the rows of a sub-block. `above` is the last row of the sub-block above. Returns false if an edge is not inside
// its row.
template <int channels, class Reader>
bool read_rows(Reader& reader, const StepModels& models, const ReadingTables& tables, RunRow above, ReadPixels& pixels,
               RunPart& part) {
    part.counts = {};
    part.rows = {};
    int in_runs = 0;
    for (int row = 0; row < part.height; ++row) {
        const int y = part.top + row;
        const unsigned left = pixels.traits(part.left - 1, y);
        const int model = RunRow::model(above, static_cast<int>(left >> direction_bit));
        RunRow here{static_cast<RowKind>(models.read(reader, step_models::row.at(model), step_models::row.symbols))};
        if (RunRow::has_edge(here.kind)) {
            here.edge = static_cast<std::uint8_t>(
                models.read(reader, step_models::edge.at(here.edge_model(above)), step_models::edge.symbols));
            if (here.edge == 0 || here.edge >= part.width) return false;
        }
        above = here;
        part.rows[static_cast<std::size_t>(row)] = here;
        if (here.kind == RowKind::mixed) {
            // The sub-block above right is known only in the first row.
            const auto right = row == 0 ? pixels.traits(part.left + part_side, y - 1) : 0;
            const auto told = row_above(pixels.row_traits(part.left, y - 1), pixels.row_traits(part.left, y - 2),
                                        pixels.traits(part.left - 1, y - 1), right);
            pixels.set_row_traits(
                part.left, y,
                read_mixed<channels>(reader, models, tables, told, left, pixels.traits(part.left - 2, y) != 0,
                                     part.width, part.mixed[static_cast<std::size_t>(row)], part.counts));
            continue;
        }
        const auto bytes = here.bytes(part.width);
        pixels.set_row_traits(part.left, y, bytes & (each_byte * rank_traits[here.goes_down()]));
        in_runs += std::popcount(bytes) / 8;
    }
    for (std::size_t i = 0; i < channels; ++i) part.counts[i] += in_runs;
    return true;
}

// Reads everything but the reconstruction: modes, rows and classes first, then, from states of their own, the
// magnitudes.
template <int channels, class Reader>
FoundChanges read_block(StepBytes& bytes, Reader reader, const StepModels& models, const BlockPlace& block,
                        HostView<std::uint8_t> tile, HostView<const std::uint8_t> held, ReadPixels& pixels,
                        RunsReader& to) {
    const auto& tables = reading_tables(models);
    CodedParts modes;
    FoundChanges found{false, 0, 0};
    std::array<RunRow, parts_per_row> above{};
    std::array<int, 3> classes{};
    to.part_count = to.size_count = 0;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto changes = read_part_changes(bytes, reader, models, modes, column, row);
            if (!changes) return found;
            auto& row_above = above[static_cast<std::size_t>(column)];
            if (!*changes) {
                row_above = {};
                continue;
            }
            found.parts |= part_bit(column, row);
            bring_near(tile, held, block, found.parts, column, row);
            auto& part = to.parts[to.part_count++];
            part.left = column * part_side;
            part.top = row * part_side;
            part.width = std::min(part_side, block.width - part.left);
            part.height = std::min(part_side, block.height - part.top);
            if (!read_rows<channels>(reader, models, tables, row_above, pixels, part)) return found;
            row_above = part.rows[static_cast<std::size_t>(part.height - 1)];
            part.first = found.count;
            for (std::size_t i = 0; i < channels; ++i) {
                if (part.counts[i] == 0) continue;
                const int model = part_class_model(classes[i], i == 0);
                classes[i] = models.read(reader, step_models::part_class.at(model), step_models::part_class.symbols);
                to.sizes[to.size_count++] = {static_cast<std::uint8_t>(classes[i]),
                                             static_cast<std::uint8_t>(part.counts[i])};
                found.count += static_cast<std::uint32_t>(part.counts[i]);
            }
        }
    if (bytes.behind_end(reader) || !bytes.states_end(reader)) return found;
    const auto magnitudes = std::span(to.magnitudes).subspan(RunPart::padding, found.count);
    found.whole = read_residuals(bytes.rest(reader), std::span(to.sizes).first(to.size_count), magnitudes) &&
                  !std::memchr(magnitudes.data(), max_steps, magnitudes.size());
    return found;
}

}  // namespace

FoundChanges RunsReader::read(StepBytes& words, std::span<const std::uint8_t> bytes, const BlockPlace& block,
                              int threshold, HostView<std::uint8_t> tile, HostView<const std::uint8_t> held,
                              ReadPixels& pixels) {
    auto found = words.read(bytes, [&](const auto& reader, const StepModels& models) {
        return tile.shape().channels == 1 ? read_block<1>(words, reader, models, block, tile, held, pixels, *this)
                                          : read_block<3>(words, reader, models, block, tile, held, pixels, *this);
    });
    if (found.whole)
        found.whole = maker_.make(block, std::span(parts).first(part_count), found.parts,
                                  magnitudes.data() + RunPart::padding, threshold, tile);
    return found;
}

}  // namespace framewire::delta
