#pragma once

#include "framewire/delta/plain/frame.hpp"
#include "framewire/delta/plain/pictures.hpp"
#include "framewire/delta/plain/runs.hpp"
#include "framewire/delta/plain/steps.hpp"
#include "framewire/delta/plain/symbols.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

// Random streams that no encoder writes: a decoder that draws the symbols it should read, and records them. They reach
// what format.md allows and encoders do not use, and slightly beyond.
namespace framewire::delta::plain {

/// Source of randomness: returns a number from 0 to `below` - 1.
using Choose = std::function<int(int below)>;

/// A recorded symbol of state `lane`.
struct Said {
    std::size_t lane;
    std::uint32_t start, frequency;
};

/// How symbols are drawn, so that most of them are valid.
struct Fancy {
    const Choose& choose;
    int draws;                ///< number of draws, of which the most frequent symbol is taken
    int mode_low, mode_high;  ///< range of modes, with one exception in 1000
};

/// Symbols that are drawn instead of read.
struct Invented final : Symbols {
    const Fancy& fancy;
    std::vector<Said>& said;
    std::size_t first, lanes, symbols = 0;

    /// Draws for `count` states in rotation, beginning with `lane`.
    Invented(const Fancy& by, std::vector<Said>& to, std::size_t lane, std::size_t count = 1)
        : fancy(by), said(to), first(lane), lanes(count) {}
    /// Records a symbol.
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

/// Inverse of the section "Symbols": appends to `out` the states of `count` lanes and the words from which a decoder
/// reads what was recorded. The first `alone` symbols belong to the first lane, before the other states begin.
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
    std::vector<std::uint8_t> packed, after;  ///< the bytes, and the picture after them
    bool allowed = true;                      ///< false if the frame violates format.md; `after` is then meaningless
};

/// Returns 32 sources of symbols, one for each state; they record to `said`.
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

/// Returns the bytes of a random block, and applies it to `after`.
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

}  // namespace framewire::delta::plain
