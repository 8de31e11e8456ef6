#pragma once

#include "framewire/delta/plain/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// The section "Symbols" of format.md.
namespace framewire::delta::plain {

/// The frequency of each symbol; the next one starts where it ends.
using Model = std::vector<int>;

inline constexpr int scale = 4096;  ///< what the frequencies of a model add up to

/// Where symbols come from.
struct Symbols {
    virtual ~Symbols() = default;
    virtual int symbol(const Model& model) = 0;
    /// A number of `count` bits.
    virtual int bits(int count) = 0;
};

/// A place among the symbols of a model, and the symbol there.
struct Found {
    int symbol, start;
};

inline Found find(const Model& model, int place) {
    Found found{0, 0};
    while (found.start + model[std::size_t(found.symbol)] <= place) found.start += model[std::size_t(found.symbol++)];
    return found;
}

/// They come from words by range asymmetric numeral systems.
struct State final : Symbols {
    static constexpr std::uint32_t least = 1u << 15, beyond = 1u << 31;

    Reader& words;
    std::uint32_t state;

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
    void refill() {
        if (state < least) state = state * 65536 + words.word();
    }
    void end() const { check(state == least, "a state does not end at 2^15"); }
};

/// How many states a block of steps has, by its own model.
inline const Model states_model = {3840, 192, 64};
inline constexpr int states_counts[] = {1, 8, 32};

/// Several states, whose turn it is one after the other.
struct States final : Symbols {
    std::vector<State> states;
    std::size_t coded = 0;

    States(const State& first, Reader& reader, int count) : states{first} {
        while (static_cast<int>(states.size()) < count) states.emplace_back(reader);
    }
    State& next() { return states[coded++ % states.size()]; }
    int symbol(const Model& model) override { return next().symbol(model); }
    int bits(int count) override { return next().bits(count); }
    void end() const {
        for (const auto& state : states) state.end();
    }
};

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

/// Takes `count` models of `symbols` each from the front of `characters`.
inline std::vector<Model> take_models(std::string_view& characters, int count, std::size_t symbols) {
    std::vector<Model> models;
    for (int i = 0; i < count; ++i) {
        models.push_back(make_model(characters.substr(0, symbols)));
        characters.remove_prefix(symbols);
    }
    return models;
}

struct StepModels {
    std::vector<Model> mode, changed, pattern, sign, magnitude, vector_kind, vector_bits, row, edge, part_class;

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

inline const StepModels& step_models(int set) {
    static constexpr std::string_view characters[] = {
#include "framewire/delta/entropy/models/trained_steps.inc"
    };
    static const StepModels sets[] = {StepModels(characters[0]), StepModels(characters[1]), StepModels(characters[2]),
                                      StepModels(characters[3])};
    return sets[set];
}

struct PictureModels {
    std::vector<Model> small_residual, large_residual, part;

    explicit PictureModels(std::string_view characters)
        : small_residual(take_models(characters, 8, 33)),
          large_residual(take_models(characters, 4, 256)),
          part(take_models(characters, 12, 36)) {}
};

inline const PictureModels& picture_models() {
    static const PictureModels models(
#include "framewire/delta/entropy/models/trained_pictures.inc"
    );
    return models;
}

}  // namespace framewire::delta::plain
