#include "framewire/detect/background/background.hpp"

#include "framewire/core/error.hpp"

#include <charconv>
#include <cmath>
#include <optional>

namespace framewire {
namespace {

struct MixtureOption {
    std::string_view name;
    std::variant<int MixtureParameters::*, float MixtureParameters::*, bool MixtureParameters::*> field;
};

constexpr MixtureOption mixture_options[] = {
    {"history", &MixtureParameters::history},
    {"var_threshold", &MixtureParameters::var_threshold},
    {"var_threshold_gen", &MixtureParameters::var_threshold_gen},
    {"mixtures", &MixtureParameters::mixtures},
    {"var_init", &MixtureParameters::var_init},
    {"var_min", &MixtureParameters::var_min},
    {"var_max", &MixtureParameters::var_max},
    {"complexity_reduction", &MixtureParameters::complexity_reduction},
    {"background_ratio", &MixtureParameters::background_ratio},
    {"shadows", &MixtureParameters::shadows},
    {"shadow_threshold", &MixtureParameters::shadow_threshold},
    {"learning_rate", &MixtureParameters::learning_rate},
};

template <class Number>
std::optional<Number> read_number(std::string_view text) {
    Number number{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

bool set(MixtureParameters& parameters, int MixtureParameters::*field, std::string_view value) {
    const auto number = read_number<int>(value);
    if (number) parameters.*field = *number;
    return number.has_value();
}

bool set(MixtureParameters& parameters, float MixtureParameters::*field, std::string_view value) {
    const auto number = read_number<float>(value);
    if (number) parameters.*field = *number;
    return number.has_value();
}

bool set(MixtureParameters& parameters, bool MixtureParameters::*field, std::string_view value) {
    if (value != "0" && value != "1") return false;
    parameters.*field = value == "1";
    return true;
}

void set_option(MixtureParameters& parameters, std::string_view text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    std::string known;
    for (const auto& option : mixture_options) {
        if (option.name == name) {
            const auto value = equals == text.npos ? std::string_view() : text.substr(equals + 1);
            if (!std::visit([&](auto field) { return set(parameters, field, value); }, option.field))
                fail(ErrorCode::usage, "mixture: {} is '{}', which is no {}", name, value,
                     option.name == "shadows" ? "0 or 1" : "number for it");
            return;
        }
        known += known.empty() ? option.name : ", " + std::string(option.name);
    }
    fail(ErrorCode::usage, "mixture has no option '{}'; there are {}", name, known);
}

MixtureParameters parse_mixture(std::string_view options) {
    MixtureParameters parameters;
    while (!options.empty()) {
        const auto end = options.find(':');
        set_option(parameters, options.substr(0, end));
        options = end == options.npos ? std::string_view() : options.substr(end + 1);
    }
    mixture_terms(parameters);  // refuses what is out of range
    return parameters;
}

RunningMean parse_mean(std::string_view text) {
    const auto rate = read_number<double>(text);
    if (!rate || !(*rate > 0 && *rate <= 1))
        fail(ErrorCode::usage,
             "the background's mean has rate '{}'; a number above 0 up to 1 is needed, as in mean:0.02", text);
    return {*rate};
}

// How many frames have a background that is the first one for more than half, where each later one counts `rate` (above
// 0): that of frame t is the first frame for (1 - rate)^(t - 1).
std::int64_t frames_before_majority(double rate) {
    return rate >= 0.5 ? 2 : 1 + static_cast<std::int64_t>(std::ceil(std::log(0.5) / std::log1p(-rate)));
}

}  // namespace

BackgroundModel parse_background(std::string_view text) {
    const auto name = text.substr(0, text.find(':'));
    const auto rest = text.substr(name == text ? name.size() : name.size() + 1);
    if (text == "first") return FirstFrame{};
    if (name == "mean") return parse_mean(rest);
    if (name == "mixture") return parse_mixture(rest);
    if (text.find_first_of("./") != text.npos) return BackgroundImage{std::string(text)};
    fail(ErrorCode::usage,
         "no background '{}'; there are first, mean:RATE, mixture with key=value options behind colons, and images by "
         "their path",
         text);
}

std::int64_t frames_before_background(const BackgroundModel& model) {
    if (std::holds_alternative<BackgroundImage>(model)) return 0;
    if (std::holds_alternative<FirstFrame>(model)) return 1;
    if (const auto* mean = std::get_if<RunningMean>(&model)) return frames_before_majority(mean->rate);
    const auto& mixture = std::get<MixtureParameters>(model);
    if (mixture.learning_rate == 0) return 1;
    if (mixture.learning_rate > 0) return frames_before_majority(mixture.learning_rate);
    const auto terms = mixture_terms(mixture);
    double share = 1;
    std::uint64_t frame = 1;
    for (; share > 0.5; ++frame) share *= mixture_step(terms, frame).keep;
    return static_cast<std::int64_t>(frame);
}

}  // namespace framewire
