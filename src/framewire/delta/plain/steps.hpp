#pragma once

#include "framewire/delta/plain/pixel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Sections "Changes" and "Prediction" of format.md.
namespace framewire::delta::plain {

// Section "Changes".

/// Context of pixels in blocks of changes.
inline constexpr Setting changes_setting{3, 0, true};

/// Modes of a block's sub-blocks; 5 where there is none.
struct Parts {
    static constexpr int side = block_side / part_side;
    std::array<std::array<int, side>, side> modes{};

    /// Returns the mode of a sub-block; -1 is allowed for both coordinates.
    int at(int column, int row) const {
        return column < 0 || row < 0 ? 5 : modes[std::size_t(row)][std::size_t(column)];
    }
    /// Reads the mode of a sub-block.
    int read(Symbols& symbols, const StepModels& models, int column, int row) {
        const int model = 6 * at(column - 1, row) + at(column, row - 1);
        return modes[std::size_t(row)][std::size_t(column)] = symbols.symbol(models.mode[std::size_t(model)]);
    }
};

/// Changes the samples of the pixel at (x, y) of a block by its steps. Throws Error{source_lost} if a change is too
/// large.
inline void change(Picture& picture, const Area& block, int x, int y, const Pixel& pixel, int threshold) {
    for (int c = 0; c < picture.shape.channels; ++c) {
        const int steps = pixel.steps[std::size_t(c)];
        if (steps == 0) continue;
        check(threshold + std::abs(steps) <= 255, "a byte changes by more than 255");
        auto& sample = picture.at(block.x + x, block.y + y, c);
        sample = static_cast<std::uint8_t>(sample + (steps > 0 ? threshold : -threshold) + steps);
    }
}

/// Reads a block in the form "changes".
inline void read_changes(Symbols& symbols, const StepModels& models, const Area& block, int threshold,
                         Picture& picture) {
    Parts parts;
    Pixels pixels{block};
    const int channels = picture.shape.channels;
    for (const auto& part : cut(block.width, block.height, part_side)) {
        const int mode = parts.read(symbols, models, part.x / part_side, part.y / part_side);
        check(mode <= 1, "a part of changes has a mode of predictions");
        if (mode == 0) continue;
        for (int y = part.y; y < part.y + part.height; ++y)
            for (int x = part.x; x < part.x + part.width; ++x) {
                const auto pixel = read_pixel(symbols, models, pixels, x, y, channels, changes_setting);
                pixels.coded[std::size_t(y)][std::size_t(x)] = pixel;
                change(picture, block, x, y, pixel, threshold);
            }
    }
}

// Section "Prediction".

/// A motion vector in quarters of a pixel.
struct Vector {
    int x = 0, y = 0;
};

/// Reads the vector of the sub-block at (column, row); `vectors` has those of the sub-blocks before it.
inline Vector read_vector(Symbols& symbols, const StepModels& models, const Parts& parts,
                          const std::array<std::array<Vector, Parts::side>, Parts::side>& vectors, int column,
                          int row) {
    const auto has_one = [&](int c, int r) { return parts.at(c, r) == 2 || parts.at(c, r) == 3; };
    const bool of_left = has_one(column - 1, row), of_above = has_one(column, row - 1);
    const Vector left = of_left ? vectors[std::size_t(row)][std::size_t(column - 1)] : Vector{};
    const Vector above = of_above ? vectors[std::size_t(row - 1)][std::size_t(column)] : Vector{};
    const int kind = symbols.symbol(models.vector_kind[std::size_t(of_left + 2 * of_above)]);
    if (kind == 0) check(of_left, "a part takes the vector of a neighbour that has none");
    if (kind == 1) check(of_above, "a part takes the vector of a neighbour that has none");
    if (kind < 2) return kind == 0 ? left : above;
    const auto distance = [&](int axis) {
        const int n = symbols.symbol(models.vector_bits[std::size_t(axis + 2 * (of_left || of_above))]);
        if (n == 0) return 0;
        const int size = (1 << (n - 1)) + (n > 1 ? symbols.bits(n - 1) : 0);
        return symbols.bits(1) ? -size : size;
    };
    auto vector = of_left ? left : above;
    vector.x += distance(0);
    vector.y += distance(1);
    check(between(-63, vector.x, 63) && between(-63, vector.y, 63), "a vector is too long");
    return vector;
}

/// "Another position": returns the predicted sample at (x, y) of the picture under `vector`.
inline int from_place(const Picture& before, int x, int y, int channel, const Vector& vector) {
    const int qx = (vector.x + 64) % 4, qy = (vector.y + 64) % 4;
    const int at_x = x + (vector.x - qx) / 4, at_y = y + (vector.y - qy) / 4;
    const int a = before.nearest(at_x, at_y, channel), b = before.nearest(at_x + 1, at_y, channel);
    const int c = before.nearest(at_x, at_y + 1, channel), d = before.nearest(at_x + 1, at_y + 1, channel);
    return ((a * (4 - qx) + b * qx) * (4 - qy) + (c * (4 - qx) + d * qx) * qy + 8) / 16;
}

/// Prediction of the samples of a sub-block.
struct Foretelling {
    const Picture& before;
    Picture& after;
    Area block;
    int mode;
    Vector vector;  // 0 except in modes 2 and 3

    /// Returns the prediction of the sample at (x, y) of the block.
    int sample(int x, int y, int channel) const {
        if (mode < 4) return from_place(before, block.x + x, block.y + y, channel, vector);
        const auto at = [&](int to_x, int to_y) { return int{after.at(block.x + to_x, block.y + to_y, channel)}; };
        if (x == 0 && y == 0) return 128;
        if (y == 0) return at(x - 1, y);
        if (x == 0) return at(x, y - 1);
        const int l = at(x - 1, y), a = at(x, y - 1), c = at(x - 1, y - 1);
        return clamp_between(l + a - c, l, a);
    }
    /// Returns the rise of the prediction, from which the slope follows.
    int rise(int x, int y) const {
        const int channel = after.shape.channels == 3 ? 1 : 0;
        if (mode < 4)
            return std::max(std::abs(sample(x + 1, y, channel) - sample(x - 1, y, channel)),
                            std::abs(sample(x, y + 1, channel) - sample(x, y - 1, channel)));
        if (x == 0 || y == 0) return 0;
        const auto at = [&](int to_x, int to_y) { return int{after.at(block.x + to_x, block.y + to_y, channel)}; };
        const int l = at(x - 1, y), a = at(x, y - 1), c = at(x - 1, y - 1);
        return std::max(std::abs(l - c), std::abs(a - c));
    }
};

/// Reads a block in the form "prediction".
inline void read_prediction(Symbols& symbols, const StepModels& models, const Area& block, int threshold,
                            bool first_picture, const Picture& before, Picture& after) {
    const int size = symbols.bits(2);
    check(size < 3, "there is no such size of a step");
    const int step = size == 0 ? 2 * threshold + 1 : size == 1 ? (2 * threshold + 1) / 3 | 1 : 1;
    Parts parts;
    std::array<std::array<Vector, Parts::side>, Parts::side> vectors{};
    Pixels pixels{block};
    const int channels = after.shape.channels;
    for (const auto& part : cut(block.width, block.height, part_side)) {
        const int column = part.x / part_side, row = part.y / part_side;
        const int mode = parts.read(symbols, models, column, row);
        check(mode == 4 || !first_picture, "a first picture has a part foretold by a picture before");
        Vector vector;
        if (mode == 2 || mode == 3) vector = read_vector(symbols, models, parts, vectors, column, row);
        vectors[std::size_t(row)][std::size_t(column)] = vector;
        const Foretelling foretold{before, after, block, mode, vector};
        for (int y = part.y; y < part.y + part.height; ++y)
            for (int x = part.x; x < part.x + part.width; ++x) {
                if (mode == 1 || mode == 3 || mode == 4) {
                    const int rise = foretold.rise(x, y);
                    const int slope = rise < threshold / 3 ? 0 : rise < threshold ? 1 : rise < 2 * threshold ? 2 : 3;
                    const int by = mode == 1 ? 0 : mode == 3 ? 1 : 2;
                    pixels.coded[std::size_t(y)][std::size_t(x)] =
                        read_pixel(symbols, models, pixels, x, y, channels, {by, slope, step < 3});
                }
                for (int c = 0; c < channels; ++c) {
                    const int steps = pixels.at(x, y).steps[std::size_t(c)];
                    int sample = foretold.sample(x, y, c);
                    if (steps) {
                        const int far = threshold + (std::abs(steps) - 1) * step + (step + 1) / 2;
                        sample = std::clamp(steps > 0 ? sample + far : sample - far, 0, 255);
                    }
                    after.at(block.x + x, block.y + y, c) = static_cast<std::uint8_t>(sample);
                }
            }
    }
}

}  // namespace framewire::delta::plain
