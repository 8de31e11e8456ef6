#include "framewire/media/fwd/settings.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/media/fwd/fwd.hpp"
#include "framewire/media/sinks/sink_registry.hpp"

namespace framewire {

std::vector<ParameterInfo> fwd_sink_parameters() {
    auto parameters = delta::encoder_fields().infos();
    parameters.push_back({.name = "key",
                          .help = "seconds from one whole picture to the next, at which reading may begin",
                          .type = ParameterInfo::Type::real,
                          .default_value = fmt::to_string(fwd::usual_key_seconds),
                          .minimum = 0,
                          .maximum = 86'400});
    return parameters;
}

}  // namespace framewire

namespace framewire::fwd {

Settings settings_of(const SinkCall& call, std::optional<int> source_threshold) {
    const auto& values = call.values;
    Settings settings{delta::encoder_fields().from(values), values.real("key")};
    const auto& encoder = settings.encoder;
    if (encoder.mode == delta::Mode::lossless && values.is_given("threshold") && encoder.threshold > 0)
        fail(ErrorCode::usage, "{}: threshold={} does not go with mode=lossless, whose threshold is 0", call.path,
             encoder.threshold);
    if (encoder.mode != delta::Mode::bounded && values.is_given("effort"))
        fail(ErrorCode::usage, "{}: effort is of mode=bounded; mode={} looks for no motion", call.path,
             to_string(encoder.mode));
    if (source_threshold && !values.is_given("mode") && !values.is_given("threshold")) settings.encoder.threshold = 0;
    return settings;
}

RecordCall parse_record(const std::string& text) {
    const auto call = parse_sink(text);
    if (call.kind->name != "fwd") fail(ErrorCode::usage, "{}: a stream is recorded into a .fwd file", call.path);
    for (const auto& parameter : delta::encoder_fields().infos())
        if (call.values.is_given(parameter.name))
            fail(ErrorCode::usage, "{}: {} is the stream's own, and not to be said of its recording", call.path,
                 parameter.name);
    return {call.path, call.values.real("key")};
}

}  // namespace framewire::fwd
