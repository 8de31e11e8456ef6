// The subcommand explain: shows what run would do with each frame.

#include "commands/commands.hpp"
#include "commands/json.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"

#include "framewire/core/text.hpp"
#include "framewire/jobs/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace framewire::app {
namespace {

// Flags of the subcommand explain.
struct ExplainFlags {
    CommonOptions common;
    jobs::InputOptions input;
    std::string output;
    bool json = false;
};

Json json_of(const FrameFormat& format) {
    Json json{{"format", to_string(format)}, {"width", format.shape().width}, {"height", format.shape().height}};
    return json;
}

std::string json_of(const jobs::Explanation& plan) {
    auto steps = Json::array();
    for (const auto& step : plan.steps)
        steps.push_back({{"operation", step.operation}, {"format", step.format}, {"reason", step.reason}});
    const Json json{{"source", plan.source},
                    {"from", json_of(plan.from)},
                    {"to", json_of(plan.to)},
                    {"backend", plan.backend},
                    {"threads", plan.threads},
                    {"steps", steps},
                    {"memory_bytes", plan.memory_bytes}};
    return json.text();
}

// Returns "4:2:0, 768x576, BT.601, limited range, chroma left" or "BGR, 768x576".
std::string description(const FrameFormat& format) {
    if (const auto& planes = format.planes()) return to_string(*planes);
    return fmt::format("{}x{} {}", format.shape().width, format.shape().height, to_string(format));
}

std::string text_of(const jobs::Explanation& plan) {
    std::size_t operation_width = 0, format_width = 0;
    for (const auto& step : plan.steps) {
        operation_width = std::max(operation_width, step.operation.size());
        format_width = std::max(format_width, step.format.size());
    }
    const auto backend =
        plan.backend == "cuda" ? std::string("on the GPU") : fmt::format("on the CPU, {} threads", plan.threads);
    auto text = fmt::format("source  {}: {}\nruns    {}; images and plans take up to {:.0f} MB\n", plan.source,
                            description(plan.from), backend, static_cast<double>(plan.memory_bytes) / 1e6);
    int number = 0;
    for (const auto& step : plan.steps) {
        auto line = fmt::format("{:>4}    {:<{}}  {:<{}}  {}", ++number, step.operation, operation_width, step.format,
                                format_width, step.reason);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    if (plan.steps.empty()) text += "        no filter: frames stay as they are\n";
    return text + fmt::format("result  {}\n", description(plan.to));
}

}  // namespace

void add_explain(CommandLine& program, Action& chosen) {
    auto command = program.subcommand(
        "explain", "Shows what run would do with each frame: the format of every filter, and conversions");
    const auto flags = std::make_shared<ExplainFlags>();
    add_input_options(command, flags->input);
    command.option("-o,--output", flags->output, "output, as for run; without it, filters give images, as for viewers")
        .type_name("DST");
    command.flag("--json", flags->json, "for machines");
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [=](const std::stop_source& stop) {
        const auto plan = jobs::explain({flags->common.job(stop.get_token()), flags->input, flags->output, {}, false});
        fmt::print("{}", flags->json ? json_of(plan) + "\n" : printable_lines(text_of(plan)));
    });
}

}  // namespace framewire::app
