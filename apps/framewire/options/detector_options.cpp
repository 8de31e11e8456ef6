#include "options/detector_options.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"

namespace framewire::app {

void add_detector_options(Command& command, DetectorFlags& flags, const std::string& threshold_flag) {
    auto group = command.group("Moving objects");
    for (const auto& parameter : detector_fields().infos())
        add_parameter(group, parameter, flags.parameters,
                      {.flag = parameter.name == "threshold" ? threshold_flag : ""});
    group.option("--roi", flags.zones, "look only in this rectangle; may be given several times").type_name("X,Y,W,H");
    group.option("--roi-mask", flags.region_path, "look only where this picture is not black").type_name("IMAGE");
}

session::DetectorOptions DetectorFlags::options() const {
    session::DetectorOptions options{.parameters = detector_parameters(parameters), .region = {}};
    if (!zones.empty() && !region_path.empty())
        fail(ErrorCode::usage, "--roi and --roi-mask together; one of them says where to look");
    if (!zones.empty()) {
        std::vector<Zone> parsed;
        for (const auto& text : zones) parsed.push_back(parse_zone(text));
        options.region = std::move(parsed);
    } else if (!region_path.empty()) {
        options.region = region_path;
    }
    return options;
}

}  // namespace framewire::app
