#include "framewire/detect/background/background.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/parameters/text.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace framewire {
namespace {

// A kind of background: its name, its parameters, and how their values become a model. In the order of
// BackgroundModel.
struct BackgroundKind {
    std::string_view name;
    std::vector<ParameterInfo> parameters;
    bool has_main = false;  // the first value may go without its key: mean:0.02
    BackgroundModel (*model)(const ParameterValues&);
};

// The list of kinds; parsing, messages and names use it.
const std::vector<BackgroundKind>& background_kinds() {
    static const std::vector<BackgroundKind> kinds = {
        {"first", {}, false, [](const ParameterValues&) -> BackgroundModel { return FirstFrame{}; }},
        {"mean",
         {{.name = "rate",
           .help = "share of the newest frame",
           .type = ParameterInfo::Type::real,
           .maximum = 1,
           .above_minimum = true}},
         true,
         [](const ParameterValues& values) -> BackgroundModel { return RunningMean{values.real("rate")}; }},
        {"mixture", mixture_fields().infos(), false,
         [](const ParameterValues& values) -> BackgroundModel {
             const auto parameters = mixture_fields().from(values);
             if (values.is_given("shadow_threshold") && !parameters.shadows)
                 fail(ErrorCode::usage, "mixture: shadow_threshold does not count without shadows=1");
             mixture_terms(parameters);  // rejects combinations that are not allowed
             return parameters;
         }},
    };
    return kinds;
}

// Returns the number of frames whose background consists of the first frame for more than half, if each later
// frame enters with weight `rate` (above 0): the background of frame t holds the first frame with weight (1 -
// rate)^(t - 1).
std::int64_t frames_before_majority(double rate) {
    return rate >= 0.5 ? 2 : 1 + static_cast<std::int64_t>(std::ceil(std::log(0.5) / std::log1p(-rate)));
}

}  // namespace

// A text with '.' or '/' that is not the name of a kind is the path of an image.
BackgroundModel parse_background(std::string_view text) {
    const auto name = text.substr(0, text.find(':'));
    for (const auto& kind : background_kinds()) {
        if (kind.name != name || (kind.parameters.empty() && text != name)) continue;
        const ParameterSyntax syntax{.who = std::string(name),
                                     .parameters = kind.parameters,
                                     .main_behind = kind.has_main ? fmt::format("{}:", name) : ""};
        return kind.model(parse_parameters(text.substr(std::min(name.size() + 1, text.size())), syntax));
    }
    if (text.find_first_of("./") != text.npos) return BackgroundImage{std::string(text)};
    std::vector<std::string_view> names;
    for (const auto& kind : background_kinds()) names.push_back(kind.name);
    fail(ErrorCode::usage,
         "no background {}; there are first, mean:RATE, mixture with key=value options behind colons, and images by "
         "their path{}",
         in_quotes(text), did_you_mean(name, names));
}

std::string_view name_of_background(const BackgroundModel& model) {
    if (std::holds_alternative<BackgroundImage>(model)) return "picture";
    return background_kinds()[model.index()].name;
}

// For a mixture the weight of the first frame is multiplied, step by step, by what each learning step keeps.
std::int64_t frames_before_background(const BackgroundModel& model) {
    if (std::holds_alternative<BackgroundImage>(model)) return 0;
    if (std::holds_alternative<FirstFrame>(model)) return 1;
    if (const auto* mean = std::get_if<RunningMean>(&model)) return frames_before_majority(mean->rate);
    const auto& mixture = std::get<MixtureParameters>(model);
    if (mixture.learning_rate == 0) return 1;
    const auto terms = mixture_terms(mixture);
    double share = 1;
    std::uint64_t frame = 1;
    // The share of the first frame falls with each frame that the model learns from.
    for (; share > 0.5; ++frame) {
        // If rows alternate, row 0 is the last of a turn.
        if (const auto step = mixture_step(terms, frame); mixture_learns(terms, step, 0)) share *= step.keep;
    }
    return static_cast<std::int64_t>(frame);
}

}  // namespace framewire
