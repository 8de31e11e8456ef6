#pragma once

#include "framewire/delta/plain/pictures.hpp"
#include "framewire/delta/plain/runs.hpp"
#include "framewire/delta/plain/steps.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Reference decoder: delta/format.md as code, section by section, with no regard for speed. Tests compare the Unpacker
/// with it. The two share only the trained tables, so a mistake in either of them or in the specification shows up as a
/// difference.
namespace framewire::delta::plain {

/// Reads the initial values of the 32 states of a residual section, one after the other.
inline std::vector<State> read_lanes(Reader& reader) {
    std::vector<State> states;
    for (std::size_t i = 0; i < lanes; ++i) states.emplace_back(reader);
    return states;
}

/// Decodes one block of a delta frame or of a first picture: changes (kind 0, in runs or not) or a prediction (kinds 2
/// and 3). `before` is the complete previous picture; `after` receives the block. Throws Error{source_lost} on broken
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
    check(form == 1 || form == 2, "a block of a picture is neither whole nor plain");
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
    check(reader.left.empty(), "a block of a picture has bytes left");
}

}  // namespace framewire::delta::plain

namespace framewire::delta {

/// Decodes one packed frame. `before` holds the previous picture, one frame of `shape` whose rows have no gaps; kinds 1
/// and 3 do not read it. Returns the new picture in the same layout. Throws Error{source_lost} on broken bytes.
inline std::vector<std::uint8_t> unpack_reference(const Shape& shape, std::span<const std::uint8_t> packed,
                                                  const std::vector<std::uint8_t>& before) {
    using namespace plain;
    Reader reader{packed};
    const int kind = reader.byte(), threshold = reader.byte();
    check(kind <= 4, "there is no such kind");
    check(threshold <= 254, "the threshold is 255");
    const auto blocks = cut(shape.width, shape.height, plain::block_side);
    const auto bytes = read_directory(reader, blocks.size());
    const Picture was{shape, before};
    Picture picture = was;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (bytes[i].empty()) {
            check(kind != 1 && kind != 3, "a block of the picture is missing");
            continue;
        }
        if (kind == 1 || kind == 4)
            read_picture_block({bytes[i]}, blocks[i], picture);
        else
            read_step_block({bytes[i]}, kind, threshold, blocks[i], was, picture);
    }
    return picture.bytes;
}

}  // namespace framewire::delta
