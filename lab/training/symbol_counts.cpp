#include "training/symbol_counts.hpp"

#include "framewire/codec/encoder_ref.hpp"
#include "framewire/core/error.hpp"

#include <limits>
#include <unordered_map>
#include <utility>

namespace framewire::bench {
namespace {

using namespace codec::reference;
namespace step_models = codec::step_models;
namespace picture_models = codec::picture_models;

using Places = std::unordered_map<const Model*, int>;

void add_places(Places& places, const std::vector<Model>& models, const codec::ModelKind& kind) {
    for (std::size_t i = 0; i < models.size(); ++i) places[&models[i]] = kind.at(static_cast<int>(i));
}

/// Returns the index of the first symbol of each model, the same in all sets.
const Places& step_places() {
    static const auto all = [] {
        Places places;
        for (int set = 0; set < step_models::sets; ++set) {
            const auto& models = codec::reference::step_models(set);
            add_places(places, models.mode, step_models::mode);
            add_places(places, models.changed, step_models::changed);
            add_places(places, models.pattern, step_models::pattern);
            add_places(places, models.sign, step_models::sign);
            add_places(places, models.magnitude, step_models::magnitude);
            add_places(places, models.vector_kind, step_models::vector_kind);
            add_places(places, models.vector_bits, step_models::vector_bits);
            add_places(places, models.row, step_models::row);
            add_places(places, models.edge, step_models::edge);
            add_places(places, models.part_class, step_models::part_class);
        }
        return places;
    }();
    return all;
}

const Places& picture_places() {
    static const auto all = [] {
        Places places;
        const auto& models = codec::reference::picture_models();
        add_places(places, models.small_residual, picture_models::small_residual);
        add_places(places, models.large_residual, picture_models::large_residual);
        add_places(places, models.part, picture_models::part);
        return places;
    }();
    return all;
}

/// Counts symbols as they are decoded.
struct Counted final : Symbols {
    Symbols& from;
    const Places& places;
    std::vector<std::uint32_t>& counts;

    Counted(Symbols& of, const Places& at, std::vector<std::uint32_t>& into) : from(of), places(at), counts(into) {}
    int symbol(const Model& model) override {
        const int symbol = from.symbol(model);
        ++counts[static_cast<std::size_t>(places.at(&model) + symbol)];
        return symbol;
    }
    int bits(int count) override { return from.bits(count); }
};

BlockCounts count_step(Reader reader, int kind, int threshold, const Area& block, const Picture& before,
                       Picture& after) {
    static std::vector<std::uint32_t> counts(step_models::trained_symbols);
    const bool in_runs = kind == 0 && Reader(reader).two_words() == 3;
    if (in_runs) reader.two_words();
    State first(reader);
    const int set = first.bits(2);
    const auto& models = codec::reference::step_models(set);
    const int choice = first.symbol(states_model);
    States states(first, reader, states_counts[choice]);
    Counted symbols(states, step_places(), counts);
    if (in_runs) {
        // Magnitudes use the models of complete keyframes, so their symbols are not counted here.
        auto runs = read_runs(symbols, models, block, after.shape.channels);
        auto magnitudes = read_lanes(reader);
        read_magnitudes(runs, magnitudes, threshold, after);
    } else if (kind == 0) {
        read_changes(symbols, models, block, threshold, after);
    } else {
        read_prediction(symbols, models, block, threshold, kind == 3, before, after);
    }
    states.end();
    BlockCounts found{.symbols = {}, .first = kind == 3, .set = set};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!counts[i]) continue;
        if (counts[i] > std::numeric_limits<std::uint16_t>::max()) fail(ErrorCode::internal, "a block's count");
        found.symbols.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(counts[i])});
        counts[i] = 0;
    }
    return found;
}

void count_picture(Reader reader, const Area& block, Picture& picture, std::vector<std::uint32_t>& counts) {
    if (reader.two_words() != 1) return;  // stored uncompressed
    State state(reader);
    Counted of_parts(state, picture_places(), counts);
    const auto codings = read_codings(of_parts, block, picture.shape.channels);
    std::vector<State> states;
    for (std::size_t i = 0; i < lanes; ++i) states.emplace_back(reader);
    std::vector<Counted> residuals;
    for (auto& lane : states) residuals.emplace_back(lane, picture_places(), counts);
    read_whole(codings, residuals, block, picture);
}

void count_frame(const Shape& shape, const Bytes& packed, const Bytes& before, StreamCounts& counts) {
    Reader reader{packed};
    const int kind = reader.byte(), threshold = reader.byte();
    const auto blocks = cut(shape.width, shape.height, codec::reference::block_side);
    const auto bytes = read_directory(reader, blocks.size());
    const Picture was{shape, before};
    Picture picture = was;
    std::vector<std::uint32_t> of_picture(picture_models::symbols);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (bytes[i].empty()) continue;
        if (kind == 1)
            count_picture({bytes[i]}, blocks[i], picture, of_picture);
        else
            counts.blocks.push_back(count_step({bytes[i]}, kind, threshold, blocks[i], was, picture));
    }
    if (kind % 2) {  // a keyframe
        counts.picture_bytes = std::ssize(packed);
    } else {
        ++counts.steps;
        counts.step_bytes += std::ssize(packed);
    }
    for (std::size_t i = 0; i < of_picture.size(); ++i) counts.picture[i] += of_picture[i];
}

}  // namespace

StreamCounts count_symbols(const std::string& name, const Film& film, int threshold, bool bounded, int stride) {
    StreamCounts counts{.name = name, .blocks = {}, .picture = std::vector<double>(picture_models::symbols)};
    constexpr int effort = 1;
    Sender sender(film.shape, threshold, bounded, effort);
    int frame = 0;
    for (const auto& camera : film.frames) {
        const bool counted = frame % stride == 0;
        const auto before = counted ? sender.held() : Bytes();
        const auto packed = sender.send(camera.view());
        if (counted) count_frame(film.shape, packed, before, counts);
        ++frame;
    }
    return counts;
}

}  // namespace framewire::bench
