#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Section "A frame" of format.md, and the byte reader that all sections use.
namespace framewire::codec::reference {

/// Throws Error{source_lost} with the reason `what`.
[[noreturn]] inline void broken(const char* what) {
    fail(ErrorCode::source_lost, (std::string("packed bytes are broken: ") + what).c_str());
}

/// Throws Error{source_lost} with the reason `what` unless `holds` is true.
inline void check(bool holds, const char* what) {
    if (!holds) broken(what);
}

/// Returns true if low <= value <= high.
inline bool between(int low, int value, int high) { return low <= value && value <= high; }

/// Clamps `value` to the range between `a` and `b`, in either order.
inline int clamp_between(int value, int a, int b) { return std::clamp(value, std::min(a, b), std::max(a, b)); }

/// Sides of blocks and sub-blocks in pixels.
inline constexpr int block_side = 64, part_side = 8;

/// A rectangle of pixels: a block in the picture, or a sub-block in its block.
struct Area {
    int x, y, width, height;
};

/// Divides an area of `width` x `height` pixels into squares with the given side, row by row. Those at the right and
/// the lower edge may be smaller.
inline std::vector<Area> cut(int width, int height, int side) {
    std::vector<Area> areas;
    for (int y = 0; y < height; y += side)
        for (int x = 0; x < width; x += side)
            areas.push_back({x, y, std::min(side, width - x), std::min(side, height - y)});
    return areas;
}

/// A picture without gaps between rows.
struct Picture {
    Shape shape;
    std::vector<std::uint8_t> bytes;

    /// Returns the index of a sample in `bytes`.
    std::size_t place(int x, int y, int channel) const {
        return static_cast<std::size_t>((std::int64_t{y} * shape.width + x) * shape.channels + channel);
    }
    /// Returns a sample of the pixel (x, y).
    std::uint8_t& at(int x, int y, int channel) { return bytes[place(x, y, channel)]; }
    /// Returns a sample of the pixel that is nearest to (x, y), which may lie outside the picture.
    int nearest(int x, int y, int channel) const {
        return bytes[place(std::clamp(x, 0, shape.width - 1), std::clamp(y, 0, shape.height - 1), channel)];
    }
};

/// Reader of bytes and numbers from the front of `left`. Throws Error{source_lost} if the bytes end too early.
struct Reader {
    std::span<const std::uint8_t> left;

    /// Reads a byte.
    int byte() {
        check(!left.empty(), "they end too early");
        const int value = left.front();
        left = left.subspan(1);
        return value;
    }
    /// Reads a word of 16 bits.
    std::uint32_t word() {
        const int low = byte();
        return static_cast<std::uint32_t>(low + 256 * byte());
    }
    /// Reads two words, the low one first, and returns them as one number.
    std::uint32_t two_words() {
        const auto low = word();
        return low + 65536 * word();
    }
    /// Reads a number of the directory.
    int number() {
        int value = 0;
        for (int i = 0; i < 4; ++i) {
            const int next = byte();
            value += next % 128 << 7 * i;
            if (next < 128) return value;
        }
        broken("a number in the directory has more than 4 bytes");
    }
    /// Reads and returns the next `count` bytes.
    std::span<const std::uint8_t> take(std::size_t count) {
        check(count <= left.size(), "they end too early");
        const auto taken = left.first(count);
        left = left.subspan(count);
        return taken;
    }
};

/// Reads the directory and the bytes of the blocks after it. Returns the bytes of each block, which are empty for
/// skipped blocks.
inline std::vector<std::span<const std::uint8_t>> read_directory(Reader& reader, std::size_t blocks) {
    std::vector<int> sizes;
    while (sizes.size() < blocks) {
        const int number = reader.number();
        if (number % 2) {
            const auto passed = static_cast<std::size_t>(number / 2 + 1);
            check(passed <= blocks - sizes.size(), "the directory skips more blocks than the frame has");
            sizes.insert(sizes.end(), passed, 0);
        } else {
            check(number > 0, "a block has no bytes");
            sizes.push_back(number);
        }
    }
    std::vector<std::span<const std::uint8_t>> bytes;
    for (const int size : sizes) bytes.push_back(reader.take(static_cast<std::size_t>(size)));
    check(reader.left.empty(), "there are bytes after the last block");
    return bytes;
}

}  // namespace framewire::codec::reference

// Section "Symbols" of format.md.
namespace framewire::codec::reference {

/// Frequency of each symbol. A symbol starts where the previous one ends.
using Model = std::vector<int>;

inline constexpr int scale = 4096;  ///< sum of a model's frequencies

/// Source of symbols.
struct Symbols {
    virtual ~Symbols() = default;
    /// Returns the next symbol of a model.
    virtual int symbol(const Model& model) = 0;
    /// Returns the next raw number, of `count` bits.
    virtual int bits(int count) = 0;
};

/// A symbol and its start.
struct Found {
    int symbol, start;
};

/// Returns the symbol to which a place belongs.
inline Found find(const Model& model, int place) {
    Found found{0, 0};
    while (found.start + model[std::size_t(found.symbol)] <= place) found.start += model[std::size_t(found.symbol++)];
    return found;
}

/// Symbol source that decodes words with one rANS state.
struct State final : Symbols {
    static constexpr std::uint32_t least = 1u << 15, beyond = 1u << 31;

    Reader& words;
    std::uint32_t state;

    /// Reads the state from `reader`, which must outlive this object.
    explicit State(Reader& reader) : words(reader), state(reader.two_words()) {
        check(state >= least && state < beyond, "a state is out of range");
    }
    int symbol(const Model& model) override {
        const int place = static_cast<int>(state % scale);
        const auto [symbol, start] = find(model, place);
        const auto frequency = static_cast<std::uint32_t>(model[std::size_t(symbol)]);
        state = frequency * (state / scale) + static_cast<std::uint32_t>(place - start);
        refill();
        return symbol;
    }
    int bits(int count) override { return symbol(Model(std::size_t{1} << count, scale >> count)); }
    /// Reads a word if the state is too small.
    void refill() {
        if (state < least) state = state * 65536 + words.word();
    }
    /// Throws Error{source_lost} unless the state has its initial value.
    void end() const { check(state == least, "a state does not end at 2^15"); }
};

/// Model of the symbol that selects the number of states of a delta frame's block, and the number for each symbol.
inline const Model states_model = {3840, 192, 64};
inline constexpr int states_counts[] = {1, 8, 32};

/// Symbol source that uses several states in rotation.
struct States final : Symbols {
    std::vector<State> states;
    std::size_t coded = 0;

    /// Continues after `first` with `count` states: `first` and others that it reads.
    States(const State& first, Reader& reader, int count) : states{first} {
        while (static_cast<int>(states.size()) < count) states.emplace_back(reader);
    }
    /// Returns the state for the next symbol.
    State& next() { return states[coded++ % states.size()]; }
    int symbol(const Model& model) override { return next().symbol(model); }
    int bits(int count) override { return next().bits(count); }
    /// Throws Error{source_lost} unless all states have their initial value.
    void end() const {
        for (const auto& state : states) state.end();
    }
};

/// Returns the model for a string of levels, as the section "Frequencies" specifies.
inline Model make_model(std::string_view characters) {
    constexpr int w[] = {65536, 60096, 55108, 50535, 46340, 42494, 38967, 35733};
    Model weights;
    int sum = 0;
    for (const char character : characters) {
        const int level = character - 35;
        weights.push_back(std::max(1, w[level % 8] >> level / 8));
        sum += weights.back();
    }
    Model model;
    int lacking = scale;
    for (const int weight : weights) {
        model.push_back(std::max(1, weight * scale / sum));
        lacking -= model.back();
    }
    *std::max_element(model.begin(), model.end()) += lacking;
    return model;
}

/// Removes `count` models with `symbols` symbols each from the front of `characters` and returns them.
inline std::vector<Model> take_models(std::string_view& characters, int count, std::size_t symbols) {
    std::vector<Model> models;
    for (int i = 0; i < count; ++i) {
        models.push_back(make_model(characters.substr(0, symbols)));
        characters.remove_prefix(symbols);
    }
    return models;
}

/// One set of models for delta frames.
struct StepModels {
    std::vector<Model> mode, changed, pattern, sign, magnitude, vector_kind, vector_bits, row, edge, part_class;

    /// Reads the models from the characters of a set, in the order of the tables.
    explicit StepModels(std::string_view characters)
        : mode(take_models(characters, 36, 5)),
          changed(take_models(characters, 702, 2)),
          pattern(take_models(characters, 32, 26)),
          sign(take_models(characters, 32, 2)),
          magnitude(take_models(characters, 120, 20)),
          vector_kind(take_models(characters, 4, 3)),
          vector_bits(take_models(characters, 4, 9)),
          row(take_models(characters, 32, 8)),
          edge(take_models(characters, 8, 8)),
          part_class(take_models(characters, 24, 12)) {}
};

/// Returns the models for delta frames with the number `set`.
inline const StepModels& step_models(int set) {
    static constexpr std::string_view characters[] = {
#include "framewire/codec/trained_steps.inc"
    };
    static const StepModels sets[] = {StepModels(characters[0]), StepModels(characters[1]), StepModels(characters[2]),
                                      StepModels(characters[3])};
    return sets[set];
}

/// The models for keyframes.
struct PictureModels {
    std::vector<Model> small_residual, large_residual, part;

    /// Reads the models from the characters of the set.
    explicit PictureModels(std::string_view characters)
        : small_residual(take_models(characters, 8, 33)),
          large_residual(take_models(characters, 4, 256)),
          part(take_models(characters, 12, 36)) {}
};

/// Returns the models for keyframes.
inline const PictureModels& picture_models() {
    static const PictureModels models(
#include "framewire/codec/trained_pictures.inc"
    );
    return models;
}

}  // namespace framewire::codec::reference

// Section "A pixel" of format.md.
namespace framewire::codec::reference {

/// Pattern and steps of a pixel.
struct Pixel {
    int pattern = 0;
    std::array<int, 3> steps{};
};

/// Pixels of a block. Pixels that are not coded yet, or lie outside the block, have the pattern 0 and no steps.
struct Pixels {
    Area block;
    std::array<std::array<Pixel, block_side>, block_side> coded{};

    /// Returns the pixel (x, y).
    Pixel at(int x, int y) const {
        const bool inside = x >= 0 && y >= 0 && x < block.width && y < block.height;
        return inside ? coded[std::size_t(y)][std::size_t(x)] : Pixel{};
    }
};

/// Returns the direction of a channel in a pattern: 0 stays, 1 up, 2 down.
inline int channel_of(int pattern, int channel) {
    const int power[] = {1, 3, 9};
    return pattern / power[channel] % 3;
}

/// Returns E of the specification for a pattern.
inline int extent(int pattern) {
    if (pattern == 0) return 0;
    return channel_of(pattern, 0) && channel_of(pattern, 1) && channel_of(pattern, 2) ? 2 : 1;
}

/// Returns D of the specification for a pattern.
inline int direction(int pattern) {
    bool up = false, down = false;
    for (int c = 0; c < 3; ++c) {
        up |= channel_of(pattern, c) == 1;
        down |= channel_of(pattern, c) == 2;
    }
    return up + 2 * down;
}

/// Expected magnitude e and support u of the specification.
struct Expected {
    int e, u;
};

/// Returns the expectation for `channel` of the pixel `now` at (x, y); its step has the sign `sign`. `last` is the
/// previously coded channel of this pixel that changes, or -1 if there is none.
inline Expected expect(const Pixels& pixels, const Pixel& now, int x, int y, int channel, int sign, int last) {
    const auto steps = [&](const Pixel& pixel, int of) { return pixel.steps[std::size_t(of)] * sign; };
    const auto left = pixels.at(x - 1, y), above = pixels.at(x, y - 1), corner = pixels.at(x - 1, y - 1);
    const int l = steps(left, channel), a = steps(above, channel), c = steps(corner, channel);
    if (const int b = last < 0 ? 0 : steps(now, last); b > 0) {
        const int other_l = steps(left, last), other_a = steps(above, last);
        const bool left_counts = l > 0 && other_l > 0, above_counts = a > 0 && other_a > 0;
        const int left_says = l - other_l, above_says = a - other_a;
        Expected found{b, 4};
        if (left_counts && above_counts) {
            const int apart = std::abs(left_says - above_says);
            found = {b + (left_says + above_says) / 2, apart < 3 ? 0 : apart < 8 ? 1 : 2};
        } else if (left_counts || above_counts) {
            found = {b + (left_counts ? left_says : above_says), 3};
        }
        found.e = std::clamp(found.e, 1, 255);
        return found;
    }
    if (l > 0 && a > 0) {
        const int apart = std::abs(l - a);
        return {clamp_between(c > 0 ? l + a - c : (l + a) / 2, l, a), apart < 4 ? 5 : apart < 16 ? 6 : 7};
    }
    if (l > 0 || a > 0) return {std::max(l, a), 8};
    return {1, 9};
}

/// Returns the magnitude for the coded number f and the expected magnitude e.
inline int magnitude_of(int f, int e) {
    const int b = e - 1;
    if (f > 2 * b) return e + f - b;
    return f % 2 ? e + (f + 1) / 2 : e - f / 2;
}

/// Reads a magnitude whose expected value is e.
inline int read_magnitude(Symbols& symbols, const Model& model, int e) {
    int f = symbols.symbol(model);
    if (const int y = f; y >= 8) {
        const int n = (y - 8) / 2 + 2;
        f = ((2 + y % 2) << n) + symbols.bits(n);
    }
    return magnitude_of(f, e);
}

/// The part of a pixel's context that does not depend on its neighbours.
struct Setting {
    int by, slope;
    bool fine;
};

/// Reads the pattern of the pixel at (x, y) of the block. Returns 0 if the pixel does not change.
inline int read_pattern(Symbols& symbols, const StepModels& models, const Pixels& pixels, int x, int y, int channels,
                        const Setting& setting) {
    const int left = pixels.at(x - 1, y).pattern, above = pixels.at(x, y - 1).pattern;
    const int above_left = pixels.at(x - 1, y - 1).pattern, above_right = pixels.at(x + 1, y - 1).pattern;
    const bool second = pixels.at(x - 2, y).pattern || pixels.at(x, y - 2).pattern;
    const int changed = extent(left) + 3 * extent(above) + 9 * ((above_left != 0) + (above_right != 0)) + 27 * second +
                        54 * (4 * setting.by + setting.slope);
    if (!symbols.symbol(models.changed[std::size_t(changed)])) return 0;

    const int directions = direction(left ? left : above_left) + 4 * direction(above ? above : above_right) +
                           16 * (extent(left) == 2 || extent(above) == 2);
    constexpr int patterns[] = {13, 26, 2,  18, 1,  9,  6,  3,  24, 8, 12, 4,  16,
                                23, 17, 22, 25, 14, 20, 10, 15, 21, 7, 5,  19, 11};
    if (channels == 3) return patterns[symbols.symbol(models.pattern[std::size_t(directions)])];
    return symbols.symbol(models.sign[std::size_t(directions)]) ? 26 : 13;
}

/// Returns the channels in coding order.
inline std::vector<int> coded_channels(int channels) {
    if (channels == 1) return {0};
    return {1, 0, 2};
}

/// Sets the steps of a pixel from its pattern. magnitude(channel, expected) is called for each channel that changes and
/// returns its magnitude.
template <class Magnitude>
void set_steps(Pixel& pixel, const Pixels& pixels, int x, int y, int channels, Magnitude&& magnitude) {
    int last = -1;
    for (const int channel : coded_channels(channels)) {
        const int way = channel_of(pixel.pattern, channel);
        if (way == 0) continue;
        const int sign = way == 1 ? 1 : -1;
        pixel.steps[std::size_t(channel)] = sign * magnitude(channel, expect(pixels, pixel, x, y, channel, sign, last));
        last = channel;
    }
}

/// Reads the pixel at (x, y) of the block.
inline Pixel read_pixel(Symbols& symbols, const StepModels& models, const Pixels& pixels, int x, int y, int channels,
                        const Setting& setting) {
    Pixel pixel{read_pattern(symbols, models, pixels, x, y, channels, setting)};
    set_steps(pixel, pixels, x, y, channels, [&](int channel, const Expected& expected) {
        const auto [e, u] = expected;
        const int size = e < 2 ? 0 : e < 12 ? 1 : 2;
        const bool first = channel == coded_channels(channels).front();
        return read_magnitude(symbols, models.magnitude[std::size_t(size + 3 * u + 30 * first + 60 * setting.fine)], e);
    });
    return pixel;
}

}  // namespace framewire::codec::reference

// Scenes for tests of packed frames.
namespace framewire::codec::reference {

/// Returns a pseudorandom number that depends only on `number` and is the same on all machines: splitmix64 (Steele, Lea
/// and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
inline std::uint64_t scatter(std::uint64_t number) {
    number += 0x9E3779B97F4A7C15u;
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
    number = (number ^ number >> 27) * 0x94D049BB133111EBu;
    return number ^ number >> 31;
}

/// Draws frame `time` of a synthetic film: gradients that move slowly, a patterned box that moves 3 pixels to the right
/// and 1 down per frame, and noise of at most `noise` in each byte. The same arguments give the same bytes.
inline void film(HostView<std::uint8_t> to, int time, int noise, std::uint64_t seed) {
    const auto& shape = to.shape();
    const auto wave = [](int at) { return std::abs(at % 128 - 64); };
    for (int y = 0; y < shape.height; ++y)
        for (std::int64_t i = 0; i < shape.row_bytes(); ++i) {
            const int x = static_cast<int>(i / shape.channels), channel = static_cast<int>(i % shape.channels);
            const int in_x = x - shape.width / 5 - 3 * time, in_y = y - shape.height / 4 - time;
            const bool in_box = in_x >= 0 && in_y >= 0 && in_x < shape.width / 3 && in_y < shape.height / 2;
            int value = 60 + wave(2 * x + time) + wave(y) + 20 * channel;
            if (in_box) value = in_x / 5 % 2 == in_y / 7 % 2 ? 30 + 3 * in_x % 40 : 220 - 30 * channel;
            const auto random =
                scatter(seed + scatter(static_cast<std::uint64_t>((time * shape.height + y) * shape.row_bytes() + i)));
            if (noise > 0) value += static_cast<int>(random % static_cast<unsigned>(2 * noise + 1)) - noise;
            to.row(0, y)[i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
        }
}

}  // namespace framewire::codec::reference

// Section "Pictures" of format.md.
namespace framewire::codec::reference {

/// One plane of a block. Samples to the left of the block and above it are 0.
struct Plane {
    Area block;
    std::array<std::array<std::uint8_t, block_side>, block_side> samples{};

    /// Returns a sample of the pixel (x, y).
    int at(int x, int y) const { return x < 0 || y < 0 ? 0 : samples[std::size_t(y)][std::size_t(x)]; }
    /// Returns the prediction of a sample by a predictor.
    int predicted(int predictor, int x, int y) const {
        if (predictor == 0) return at(x - 1, y) + at(x, y - 1) - at(x - 1, y - 1);
        return predictor == 1 ? at(x - 1, y) : at(x, y - 1);
    }
};

/// Reads the number f of a residual in a sub-block of the given class.
inline int read_folded(Symbols& symbols, int part_class) {
    const auto& models = picture_models();
    if (part_class >= 8) return symbols.symbol(models.large_residual[std::size_t(part_class - 8)]);
    const int f = symbols.symbol(models.small_residual[std::size_t(part_class)]);
    return f == 32 ? symbols.bits(8) : f;
}

/// Reads a residual in a sub-block of the given class.
inline int read_residual(Symbols& symbols, int part_class) {
    const int f = read_folded(symbols, part_class);
    return f % 2 ? -(f + 1) / 2 : f / 2;
}

/// Predictor and class of a sub-block.
struct Coding {
    int predictor, part_class;
};

/// Reads the predictor and the class of each sub-block in each plane.
inline std::vector<Coding> read_codings(Symbols& symbols, const Area& block, int planes) {
    std::vector<Coding> codings;
    int part_class = 0;
    for (std::size_t i = 0; i < std::size_t(planes) * cut(block.width, block.height, part_side).size(); ++i) {
        const int symbol = symbols.symbol(picture_models().part[std::size_t(part_class)]);
        part_class = symbol % 12;
        codings.push_back({symbol / 12, part_class});
    }
    return codings;
}

/// Number of rANS states for residuals.
inline constexpr std::size_t lanes = 32;

/// Reads a block in the form "whole". `symbols` are the 32 sources of residuals, used in rotation.
template <class From>
void read_whole(const std::vector<Coding>& codings, std::vector<From>& symbols, const Area& block, Picture& picture) {
    const int planes = picture.shape.channels;
    std::vector<Plane> samples(std::size_t(planes), Plane{block});
    std::size_t coded_parts = 0, coded_samples = 0;
    for (auto& plane : samples)
        for (const auto& part : cut(block.width, block.height, part_side)) {
            const auto [predictor, part_class] = codings[coded_parts++];
            for (int y = part.y; y < part.y + part.height; ++y)
                for (int x = part.x; x < part.x + part.width; ++x) {
                    const int residual = read_residual(symbols[coded_samples++ % lanes], part_class);
                    plane.samples[std::size_t(y)][std::size_t(x)] =
                        static_cast<std::uint8_t>(residual + plane.predicted(predictor, x, y));
                }
        }
    for (int y = 0; y < block.height; ++y)
        for (int x = 0; x < block.width; ++x) {
            const int g = samples[0].at(x, y);
            const auto set = [&](int c, int value) {
                picture.at(block.x + x, block.y + y, c) = static_cast<std::uint8_t>(value);
            };
            if (planes == 1) {
                set(0, g);
            } else {
                set(0, samples[1].at(x, y) + g);
                set(1, g);
                set(2, samples[2].at(x, y) + g);
            }
        }
}

/// Reads a block in the form "plain".
inline void read_plain(Reader& reader, const Area& block, Picture& picture) {
    for (int y = 0; y < block.height; ++y)
        for (int x = 0; x < block.width; ++x)
            for (int c = 0; c < picture.shape.channels; ++c)
                picture.at(block.x + x, block.y + y, c) = static_cast<std::uint8_t>(reader.byte());
    if (block.width * block.height * picture.shape.channels % 2) reader.byte();
}

}  // namespace framewire::codec::reference
