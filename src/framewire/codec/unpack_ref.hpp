#pragma once

#include "framewire/codec/reference_pixels.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

// Sections "Changes" and "Prediction" of format.md.
namespace framewire::codec::reference {

// Section "Changes".

/// Setting of all pixels in blocks of changes.
inline constexpr Setting changes_setting{3, 0, true};

/// Modes of the sub-blocks of a block.
struct Parts {
    static constexpr int side = block_side / part_side;
    std::array<std::array<int, side>, side> modes{};

    /// Returns the mode of a sub-block, or 5 if a coordinate is -1, which means that there is no sub-block.
    int at(int column, int row) const {
        return column < 0 || row < 0 ? 5 : modes[std::size_t(row)][std::size_t(column)];
    }
    /// Reads the mode of a sub-block.
    int read(Symbols& symbols, const StepModels& models, int column, int row) {
        const int model = 6 * at(column - 1, row) + at(column, row - 1);
        return modes[std::size_t(row)][std::size_t(column)] = symbols.symbol(models.mode[std::size_t(model)]);
    }
};

/// Applies the steps of the pixel at (x, y) of a block to its samples. Throws Error{source_lost} if a change is too
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
        check(mode <= 1, "a sub-block of changes has a mode that is only valid for predictions");
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

/// Reads the vector of the sub-block at (column, row). `vectors` contains the vectors of the sub-blocks before it.
inline Vector read_vector(Symbols& symbols, const StepModels& models, const Parts& parts,
                          const std::array<std::array<Vector, Parts::side>, Parts::side>& vectors, int column,
                          int row) {
    const auto has_one = [&](int c, int r) { return parts.at(c, r) == 2 || parts.at(c, r) == 3; };
    const bool of_left = has_one(column - 1, row), of_above = has_one(column, row - 1);
    const Vector left = of_left ? vectors[std::size_t(row)][std::size_t(column - 1)] : Vector{};
    const Vector above = of_above ? vectors[std::size_t(row - 1)][std::size_t(column)] : Vector{};
    const int kind = symbols.symbol(models.vector_kind[std::size_t(of_left + 2 * of_above)]);
    if (kind == 0) check(of_left, "a sub-block uses the vector of a neighbour that has none");
    if (kind == 1) check(of_above, "a sub-block uses the vector of a neighbour that has none");
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

/// Returns the sample at (x, y) of the picture predicted with `vector` ("Another position").
inline int from_place(const Picture& before, int x, int y, int channel, const Vector& vector) {
    const int qx = (vector.x + 64) % 4, qy = (vector.y + 64) % 4;
    const int at_x = x + (vector.x - qx) / 4, at_y = y + (vector.y - qy) / 4;
    const int a = before.nearest(at_x, at_y, channel), b = before.nearest(at_x + 1, at_y, channel);
    const int c = before.nearest(at_x, at_y + 1, channel), d = before.nearest(at_x + 1, at_y + 1, channel);
    return ((a * (4 - qx) + b * qx) * (4 - qy) + (c * (4 - qx) + d * qx) * qy + 8) / 16;
}

/// Prediction of the samples of a sub-block.
struct Predicting {
    const Picture& before;
    Picture& after;
    Area block;
    int mode;
    Vector vector;  // the sub-block's vector; 0 except in modes 2 and 3

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
    /// Returns the rise of the prediction, which determines the slope.
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
    check(size < 3, "invalid step size");
    const int step = size == 0 ? 2 * threshold + 1 : size == 1 ? (2 * threshold + 1) / 3 | 1 : 1;
    Parts parts;
    std::array<std::array<Vector, Parts::side>, Parts::side> vectors{};
    Pixels pixels{block};
    const int channels = after.shape.channels;
    for (const auto& part : cut(block.width, block.height, part_side)) {
        const int column = part.x / part_side, row = part.y / part_side;
        const int mode = parts.read(symbols, models, column, row);
        check(mode == 4 || !first_picture, "a keyframe has a sub-block predicted from an earlier frame");
        Vector vector;
        if (mode == 2 || mode == 3) vector = read_vector(symbols, models, parts, vectors, column, row);
        vectors[std::size_t(row)][std::size_t(column)] = vector;
        const Predicting predicted{before, after, block, mode, vector};
        for (int y = part.y; y < part.y + part.height; ++y)
            for (int x = part.x; x < part.x + part.width; ++x) {
                if (mode == 1 || mode == 3 || mode == 4) {
                    const int rise = predicted.rise(x, y);
                    const int slope = rise < threshold / 3 ? 0 : rise < threshold ? 1 : rise < 2 * threshold ? 2 : 3;
                    const int by = mode == 1 ? 0 : mode == 3 ? 1 : 2;
                    pixels.coded[std::size_t(y)][std::size_t(x)] =
                        read_pixel(symbols, models, pixels, x, y, channels, {by, slope, step < 3});
                }
                for (int c = 0; c < channels; ++c) {
                    const int steps = pixels.at(x, y).steps[std::size_t(c)];
                    int sample = predicted.sample(x, y, c);
                    if (steps) {
                        const int far = threshold + (std::abs(steps) - 1) * step + (step + 1) / 2;
                        sample = std::clamp(steps > 0 ? sample + far : sample - far, 0, 255);
                    }
                    after.at(block.x + x, block.y + y, c) = static_cast<std::uint8_t>(sample);
                }
            }
    }
}

}  // namespace framewire::codec::reference

// Section "Changes in runs" of format.md.
namespace framewire::codec::reference {

/// Kind and edge of a row of a sub-block, which are context for the row below.
struct Row {
    int kind = 0, edge = 0;
};

/// Contents of a block in runs that precede its magnitudes: the patterns of the pixels, and the classes of the
/// magnitudes.
struct Runs {
    Pixels pixels;
    std::array<std::array<Row, Parts::side>, block_side> rows{};  ///< rows, indexed by y and the sub-block's column
    /// Group of magnitudes: one per sub-block and channel that changes anywhere in it, in coding order.
    struct Magnitudes {
        Area part;
        int channel, part_class;
    };
    std::vector<Magnitudes> magnitudes;

    /// Creates a block without changes.
    explicit Runs(const Area& block) : pixels{block} {}
};

/// Reads a row of a sub-block. Its first pixel is at (left, y) of the block.
inline void read_row(Symbols& symbols, const StepModels& models, Runs& runs, int left, int y, int width, int channels) {
    const auto column = std::size_t(left / part_side);
    const Row above = y > 0 ? runs.rows[std::size_t(y - 1)][column] : Row{};
    const int beside = direction(runs.pixels.at(left - 1, y).pattern);
    Row row{symbols.symbol(models.row[std::size_t(above.kind + 8 * beside)])};
    if (row.kind >= 4) {
        row.edge = symbols.symbol(models.edge[std::size_t(row.kind == above.kind ? above.edge : 0)]);
        check(between(1, row.edge, width - 1), "an edge is outside its row");
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

/// Reads the contents of a block in runs that precede its magnitudes.
inline Runs read_runs(Symbols& symbols, const StepModels& models, const Area& block, int channels) {
    Runs runs(block);
    Parts parts;
    std::array<int, 3> classes{};
    for (const auto& part : cut(block.width, block.height, part_side)) {
        const int mode = parts.read(symbols, models, part.x / part_side, part.y / part_side);
        check(mode <= 1, "a sub-block of changes has a mode that is only valid for predictions");
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
    check(f < 255, "a magnitude is not between 1 and 255");
    const int b = std::min(e - 1, 255 - e);
    if (f <= 2 * b) return f % 2 ? e + (f + 1) / 2 : e - f / 2;
    return e - 1 < 255 - e ? e + f - b : e - f + b;
}

/// Reads the magnitudes from the 32 sources `symbols`, used in rotation, and applies the changes to the picture.
template <class From>
void read_magnitudes(Runs& runs, std::vector<From>& symbols, int threshold, Picture& picture) {
    // Number f of each sample that changes.
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

}  // namespace framewire::codec::reference

/// Reference decoder: implements codec/format.md section by section, without regard for speed. Tests compare the
/// Unpacker with it. The two decoders share only the trained tables, so a mistake in either of them or in the
/// specification shows up as a difference.
namespace framewire::codec::reference {

/// Reads the initial values of the 32 states for residuals, one after the other.
inline std::vector<State> read_lanes(Reader& reader) {
    std::vector<State> states;
    for (std::size_t i = 0; i < lanes; ++i) states.emplace_back(reader);
    return states;
}

/// Decodes one block of a delta frame or of a first picture: changes (kind 0), in runs or not, or a prediction (kinds 2
/// and 3). `before` is the complete previous picture. Writes the block to `after`. Throws Error{source_lost} on broken
/// bytes.
inline void read_step_block(Reader reader, int kind, int threshold, const Area& block, const Picture& before,
                            Picture& after) {
    // The number 3 is smaller than every state, so it marks a block in runs.
    const bool in_runs = kind == 0 && Reader(reader).two_words() == 3;
    if (in_runs) reader.two_words();
    State first(reader);
    const auto& models = step_models(first.bits(2));
    const int choice = first.symbol(states_model);
    States states(first, reader, states_counts[choice]);
    if (in_runs) {
        auto runs = read_runs(states, models, block, after.shape.channels);
        auto magnitudes = read_lanes(reader);
        read_magnitudes(runs, magnitudes, threshold, after);
        for (const auto& state : magnitudes) state.end();
    } else if (kind == 0) {
        read_changes(states, models, block, threshold, after);
    } else {
        read_prediction(states, models, block, threshold, kind == 3, before, after);
    }
    states.end();
    check(reader.left.empty(), "a block has more words than symbols");
}

/// Decodes one block of a keyframe in the form "whole" (1) or "plain" (2) into `picture`. Throws Error{source_lost} on
/// broken bytes.
inline void read_picture_block(Reader reader, const Area& block, Picture& picture) {
    const auto form = reader.two_words();
    check(form == 1 || form == 2, "a block of the keyframe is neither whole nor plain");
    if (form == 2) {
        read_plain(reader, block, picture);
    } else {
        State of_parts(reader);
        const auto codings = read_codings(of_parts, block, picture.shape.channels);
        of_parts.end();
        auto states = read_lanes(reader);
        read_whole(codings, states, block, picture);
        for (const auto& state : states) state.end();
    }
    check(reader.left.empty(), "trailing bytes after the last block of a keyframe");
}

}  // namespace framewire::codec::reference

namespace framewire::codec {

/// Decodes one packed frame. `before` is the previous picture, one frame of `shape` without gaps between rows; kinds 1
/// and 3 do not read it. Returns the new picture in the same layout. Throws Error{source_lost} on broken bytes.
inline std::vector<std::uint8_t> unpack_reference(const Shape& shape, std::span<const std::uint8_t> packed,
                                                  const std::vector<std::uint8_t>& before) {
    using namespace reference;
    Reader reader{packed};
    const int kind = reader.byte(), threshold = reader.byte();
    check(kind <= 4, "invalid kind");
    check(threshold <= 254, "the threshold is 255");
    const auto blocks = cut(shape.width, shape.height, reference::block_side);
    const auto bytes = read_directory(reader, blocks.size());
    const Picture was{shape, before};
    Picture picture = was;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (bytes[i].empty()) {
            check(kind != 1 && kind != 3, "a block of the keyframe is missing");
            continue;
        }
        if (kind == 1 || kind == 4)
            read_picture_block({bytes[i]}, blocks[i], picture);
        else
            read_step_block({bytes[i]}, kind, threshold, blocks[i], was, picture);
    }
    return picture.bytes;
}

}  // namespace framewire::codec

// Random streams that no encoder writes. The reference decoder runs on a source that draws random symbols instead of
// reading them, and records them. The streams use features of format.md that encoders do not use, and sometimes violate
// it slightly.
namespace framewire::codec::reference {

/// Source of randomness: returns a number from 0 to `below` - 1.
using Choose = std::function<int(int below)>;

/// A recorded symbol: the state that codes it, and its range.
struct Said {
    std::size_t lane;
    std::uint32_t start, frequency;
};

/// Parameters for drawing symbols, chosen so that most symbols are valid.
struct Fancy {
    const Choose& choose;
    int draws;                ///< number of draws per symbol, of which the most frequent symbol is used
    int mode_low, mode_high;  ///< range of valid modes; one in 1000 modes outside it is kept
};

/// Symbol source that draws and records symbols instead of reading them.
struct Invented final : Symbols {
    const Fancy& fancy;
    std::vector<Said>& said;
    std::size_t first, lanes, symbols = 0;

    /// Creates a source for `count` states in rotation, beginning with state `lane`.
    Invented(const Fancy& by, std::vector<Said>& to, std::size_t lane, std::size_t count = 1)
        : fancy(by), said(to), first(lane), lanes(count) {}
    /// Records a symbol with the given range.
    void say(int start, int frequency) {
        said.push_back(
            {first + symbols++ % lanes, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(frequency)});
    }
    int symbol(const Model& model) override {
        const auto& [choose, draws, mode_low, mode_high] = fancy;
        Found best{};
        int frequency = 0;
        for (int i = 0; i < draws; ++i) {
            const auto found = find(model, choose(scale));
            if (model[std::size_t(found.symbol)] <= frequency) continue;
            best = found;
            frequency = model[std::size_t(found.symbol)];
        }
        if (model.size() == 5 && !between(mode_low, best.symbol, mode_high) && choose(1000)) {
            best.symbol = mode_low + choose(mode_high - mode_low + 1);
            best.start = std::accumulate(model.begin(), model.begin() + best.symbol, 0);
            frequency = model[std::size_t(best.symbol)];
        }
        say(best.start, frequency);
        return best.symbol;
    }
    int bits(int count) override {
        const int value = fancy.choose(1 << count);
        say(value * (scale >> count), scale >> count);
        return value;
    }
};

/// Appends a word of 16 bits, little-endian.
inline void append_word(std::vector<std::uint8_t>& out, std::uint32_t word) {
    out.push_back(static_cast<std::uint8_t>(word));
    out.push_back(static_cast<std::uint8_t>(word >> 8));
}

/// Inverse of the section "Symbols": encodes the recorded symbols with `count` states and appends the states and words
/// to `out`. The first `alone` symbols use the first state and precede the other states.
inline void write_symbols(const std::vector<Said>& said, std::size_t count, std::size_t alone,
                          std::vector<std::uint8_t>& out) {
    std::vector<std::uint32_t> states(count, State::least), words;  // the last word first
    const auto put_state = [&](std::uint32_t state) {
        words.push_back(state / 65536);
        words.push_back(state % 65536);
    };
    for (auto left = said.size() + 1; left-- > 0;) {
        if (left == alone)
            for (auto lane = count; --lane > 0;) put_state(states[lane]);
        if (left == 0) break;
        const auto& one = said[left - 1];
        auto& state = states[one.lane];
        if (state >= State::beyond / scale * one.frequency) {
            words.push_back(state % 65536);
            state /= 65536;
        }
        state = state / one.frequency * scale + state % one.frequency + one.start;
    }
    put_state(states[0]);
    for (auto word = words.rbegin(); word != words.rend(); ++word) append_word(out, *word);
}

/// A random packed frame and its result.
struct Invention {
    std::vector<std::uint8_t> packed, after;  ///< bytes of the frame, and the picture after decoding
    bool allowed = true;                      ///< false if the frame violates format.md; `after` is then meaningless
};

/// Returns 32 symbol sources, one per state for residuals, which record to `said`.
inline std::vector<Invented> invented_lanes(const Fancy& fancy, std::vector<Said>& said) {
    std::vector<Invented> symbols;
    for (std::size_t lane = 0; lane < lanes; ++lane) symbols.emplace_back(fancy, said, lane);
    return symbols;
}

/// Appends a number of the directory.
inline void append_number(std::vector<std::uint8_t>& out, std::size_t number) {
    for (; number >= 128; number /= 128) out.push_back(static_cast<std::uint8_t>(128 + number % 128));
    out.push_back(static_cast<std::uint8_t>(number));
}

/// Returns the bytes of a random block and decodes the block to `after`. Clears invention.allowed if it violates the
/// format.
inline std::vector<std::uint8_t> invent_block(int kind, int threshold, const Area& block, const Picture& before,
                                              const Fancy& fancy, Invention& invention, Picture& after) {
    std::vector<std::uint8_t> bytes;
    std::vector<Said> said;
    const auto beyond = [&](auto&& read) {
        try {
            read();
        } catch (const Error&) {
            invention.allowed = false;
        }
    };
    if (kind != 1) {
        const bool in_runs = kind == 0 && fancy.choose(2) == 0;
        if (in_runs) append_word(bytes, 3), append_word(bytes, 0);
        Invented head(fancy, said, 0);
        const auto& models = step_models(head.bits(2));
        const int choice = fancy.choose(3);
        head.say(std::accumulate(states_model.begin(), states_model.begin() + choice, 0),
                 states_model[std::size_t(choice)]);
        const auto alone = said.size(), count = static_cast<std::size_t>(states_counts[choice]);
        Invented symbols(fancy, said, 0, count);
        if (in_runs) {
            std::optional<Runs> runs;
            beyond([&] { runs = read_runs(symbols, models, block, after.shape.channels); });
            write_symbols(said, count, alone, bytes);
            said.clear();
            auto magnitudes = invented_lanes(fancy, said);
            if (runs) beyond([&] { read_magnitudes(*runs, magnitudes, threshold, after); });
            write_symbols(said, lanes, 0, bytes);
            return bytes;
        }
        beyond([&] {
            if (kind == 0) read_changes(symbols, models, block, threshold, after);
            if (kind != 0) read_prediction(symbols, models, block, threshold, kind == 3, before, after);
        });
        write_symbols(said, count, alone, bytes);
        return bytes;
    }
    if (fancy.choose(8) == 0) {
        append_word(bytes, 2), append_word(bytes, 0);
        const auto samples = static_cast<std::size_t>(block.width * block.height * after.shape.channels);
        for (std::size_t i = 0; i < samples; ++i) bytes.push_back(static_cast<std::uint8_t>(fancy.choose(256)));
        if (samples % 2) bytes.push_back(0);
        Reader reader{std::span<const std::uint8_t>(bytes).subspan(4)};
        read_plain(reader, block, after);
        return bytes;
    }
    append_word(bytes, 1), append_word(bytes, 0);
    Invented of_parts(fancy, said, 0);
    const auto codings = read_codings(of_parts, block, after.shape.channels);
    write_symbols(said, 1, 0, bytes);
    said.clear();
    auto symbols = invented_lanes(fancy, said);
    read_whole(codings, symbols, block, after);
    write_symbols(said, lanes, 0, bytes);
    return bytes;
}

/// Returns a random frame of `shape` and the picture that results from `before`.
inline Invention invent(const Shape& shape, const std::vector<std::uint8_t>& before, const Choose& choose) {
    constexpr int thresholds[] = {0, 1, 8, 20, 100, 254};
    const int kind = choose(4), threshold = thresholds[choose(6)];
    const Fancy fancy{choose, 1 + choose(4), kind == 3 ? 4 : 0, kind == 0 ? 1 : 4};
    const Picture was{shape, before};
    Picture after = was;
    Invention invention;
    invention.packed = {static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(threshold)};
    std::vector<std::uint8_t> blocks;
    for (const auto& block : cut(shape.width, shape.height, block_side)) {
        if ((kind == 0 || kind == 2) && choose(4) == 0) {
            append_number(invention.packed, 1);
            continue;
        }
        const auto bytes = invent_block(kind, threshold, block, was, fancy, invention, after);
        append_number(invention.packed, bytes.size());
        blocks.insert(blocks.end(), bytes.begin(), bytes.end());
    }
    invention.packed.insert(invention.packed.end(), blocks.begin(), blocks.end());
    invention.after = after.bytes;
    return invention;
}

}  // namespace framewire::codec::reference
