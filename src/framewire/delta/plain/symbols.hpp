#pragma once

#include "framewire/delta/plain/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// Section "Symbols" of format.md.
namespace framewire::delta::plain {

/// Frequency of each symbol. A symbol starts where the previous one ends.
using Model = std::vector<int>;

inline constexpr int scale = 4096;  ///< sum of a model's frequencies

/// Source of symbols.
struct Symbols {
    virtual ~Symbols() = default;
    /// Returns the next symbol of a model.
    virtual int symbol(const Model& model) = 0;
    /// Returns a number of `count` bits.
    virtual int bits(int count) = 0;
};

/// A symbol and its start.
struct Found {
    int symbol, start;
};

/// Returns the symbol that has a place.
inline Found find(const Model& model, int place) {
    Found found{0, 0};
    while (found.start + model[std::size_t(found.symbol)] <= place) found.start += model[std::size_t(found.symbol++)];
    return found;
}

/// Source that decodes symbols from words with one rANS state.
struct State final : Symbols {
    static constexpr std::uint32_t least = 1u << 15, beyond = 1u << 31;

    Reader& words;
    std::uint32_t state;

    /// Reads the state from `reader`, which must outlive this object.
    explicit State(Reader& reader) : words(reader), state(reader.two_words()) {
        check(state >= least && state < beyond, "a state is out of its range");
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

/// Model of the number of states of a block of a delta frame, and these numbers.
inline const Model states_model = {3840, 192, 64};
inline constexpr int states_counts[] = {1, 8, 32};

/// Source that uses several states in rotation.
struct States final : Symbols {
    std::vector<State> states;
    std::size_t coded = 0;

    /// Continues with `count` states after `first`.
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

/// Returns a model for a string of levels, as the section "Frequencies" specifies.
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

/// Returns a set of models for delta frames.
inline const StepModels& step_models(int set) {
    static constexpr std::string_view characters[] = {
#include "framewire/delta/entropy/models/trained_steps.inc"
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
#include "framewire/delta/entropy/models/trained_pictures.inc"
    );
    return models;
}

}  // namespace framewire::delta::plain
