#pragma once

#include "framewire/delta/plain/pictures.hpp"
#include "framewire/delta/plain/steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

// Section "Changes in runs" of format.md.
namespace framewire::delta::plain {

/// Kind and edge of a row of a sub-block, as the row below it needs them.
struct Row {
    int kind = 0, edge = 0;
};

/// Contents of a block in runs before the magnitudes: the patterns of its pixels, and the classes of the magnitudes.
struct Runs {
    Pixels pixels;
    std::array<std::array<Row, Parts::side>, block_side> rows{};  ///< by y and the sub-block's column
    /// One entry for each channel of each sub-block that changes anywhere, in the order of coding.
    struct Magnitudes {
        Area part;
        int channel, part_class;
    };
    std::vector<Magnitudes> magnitudes;

    /// Makes a block without changes.
    explicit Runs(const Area& block) : pixels{block} {}
};

/// Reads a row of a sub-block; its first pixel is (left, y) of the block.
inline void read_row(Symbols& symbols, const StepModels& models, Runs& runs, int left, int y, int width, int channels) {
    const auto column = std::size_t(left / part_side);
    const Row above = y > 0 ? runs.rows[std::size_t(y - 1)][column] : Row{};
    const int beside = direction(runs.pixels.at(left - 1, y).pattern);
    Row row{symbols.symbol(models.row[std::size_t(above.kind + 8 * beside)])};
    if (row.kind >= 4) {
        row.edge = symbols.symbol(models.edge[std::size_t(row.kind == above.kind ? above.edge : 0)]);
        check(between(1, row.edge, width - 1), "an edge is not inside its row");
    }
    runs.rows[std::size_t(y)][column] = row;
    for (int x = 0; x < width; ++x) {
        auto& pattern = runs.pixels.coded[std::size_t(y)][std::size_t(left + x)].pattern;
        switch (row.kind) {
            case 0: break;
            case 1: pattern = 13; break;
            case 2: pattern = 26; break;
            case 3: pattern = read_pattern(symbols, models, runs.pixels, left + x, y, channels, changes_setting); break;
            case 4: pattern = x >= row.edge ? 13 : 0; break;
            case 5: pattern = x < row.edge ? 13 : 0; break;
            case 6: pattern = x >= row.edge ? 26 : 0; break;
            case 7: pattern = x < row.edge ? 26 : 0; break;
        }
    }
}

/// Reads everything before the magnitudes.
inline Runs read_runs(Symbols& symbols, const StepModels& models, const Area& block, int channels) {
    Runs runs(block);
    Parts parts;
    std::array<int, 3> classes{};
    for (const auto& part : cut(block.width, block.height, part_side)) {
        const int mode = parts.read(symbols, models, part.x / part_side, part.y / part_side);
        check(mode <= 1, "a part of changes has a mode of predictions");
        if (mode == 0) continue;
        for (int y = part.y; y < part.y + part.height; ++y)
            read_row(symbols, models, runs, part.x, y, part.width, channels);
        for (const int channel : coded_channels(channels)) {
            bool any = false;
            for (int y = part.y; y < part.y + part.height; ++y)
                for (int x = part.x; x < part.x + part.width; ++x)
                    any |= channel_of(runs.pixels.at(x, y).pattern, channel) != 0;
            if (!any) continue;
            const bool first = channel == coded_channels(channels).front();
            auto& part_class = classes[std::size_t(channel)];
            part_class = symbols.symbol(models.part_class[std::size_t(part_class + 12 * first)]);
            runs.magnitudes.push_back({part, channel, part_class});
        }
    }
    return runs;
}

/// Returns the magnitude from 1 to 255 for a number f and the expected magnitude e.
inline int magnitude_within(int f, int e) {
    check(f < 255, "a magnitude is not from 1 to 255");
    const int b = std::min(e - 1, 255 - e);
    if (f <= 2 * b) return f % 2 ? e + (f + 1) / 2 : e - f / 2;
    return e - 1 < 255 - e ? e + f - b : e - f + b;
}

/// Reads the magnitudes from the 32 `symbols` in rotation and changes the picture.
template <class From>
void read_magnitudes(Runs& runs, std::vector<From>& symbols, int threshold, Picture& picture) {
    // The numbers f of all samples that change.
    std::array<std::array<std::array<int, 3>, block_side>, block_side> folded{};
    std::size_t coded = 0;
    for (const auto& [part, channel, part_class] : runs.magnitudes)
        for (int y = part.y; y < part.y + part.height; ++y)
            for (int x = part.x; x < part.x + part.width; ++x)
                if (channel_of(runs.pixels.at(x, y).pattern, channel))
                    folded[std::size_t(y)][std::size_t(x)][std::size_t(channel)] =
                        read_folded(symbols[coded++ % lanes], part_class);

    const auto& block = runs.pixels.block;
    for (int y = 0; y < block.height; ++y)
        for (int x = 0; x < block.width; ++x) {
            auto& pixel = runs.pixels.coded[std::size_t(y)][std::size_t(x)];
            set_steps(pixel, runs.pixels, x, y, picture.shape.channels, [&](int channel, const Expected& expected) {
                return magnitude_within(folded[std::size_t(y)][std::size_t(x)][std::size_t(channel)], expected.e);
            });
            change(picture, block, x, y, pixel, threshold);
        }
}

}  // namespace framewire::delta::plain
