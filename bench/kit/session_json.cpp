#include "kit/machine.hpp"
#include "kit/session.hpp"

#include "framewire/core/json_text.hpp"

#include <nlohmann/json.hpp>

namespace framewire::bench {
namespace {

using Json = nlohmann::json;

Json machine_json() {
    const auto machine = this_machine();
    return {{"cpu", machine.cpu},
            {"cores", machine.cores},
            {"gpu", machine.gpu},
            {"driver", machine.driver},
            {"cuda", machine.toolkit},
            {"compiler", machine.compiler},
            {"build_type", machine.build_type},
            {"revision", machine.revision},
            {"date", machine.date}};
}

Json row_json(const Row& row) {
    Json one{{"group", row.group},
             {"suite", row.suite},
             {"operation", row.operation},
             {"runner", row.runner},
             {"median_us", row.timing.median_us},
             {"low_us", row.timing.low_us},
             {"high_us", row.timing.high_us}};
    if (row.bytes > 0) one["bytes"] = row.bytes;
    if (row.of_limit) {
        one["limit"] = row.limit;
        one["of_limit"] = *row.of_limit;
    }
    if (row.to_peer) one["times_peer"] = *row.to_peer;
    if (row.cpu_us > 0) one["cpu_us"] = row.cpu_us;
    if (row.timing.most_us > 0) {
        one["least_us"] = row.timing.least_us;
        one["mean_us"] = row.timing.mean_us;
        one["most_us"] = row.timing.most_us;
    }
    if (row.reported)
        one["reported"] = {{"where", row.reported->where},
                           {"machine", row.reported->machine},
                           {"us", row.reported->us},
                           {"least_us", row.reported->least_us},
                           {"most_us", row.reported->most_us}};
    for (const auto& [name, value] : row.details) one["details"][name] = value;
    if (!row.note.empty()) one["note"] = row.note;
    return one;
}

}  // namespace

std::string Session::json() const {
    Json all{{"machine", machine_json()},
             {"options",
              {{"quick", options_.quick},
               {"check", options_.check_only},
               {"once", options_.once},
               {"threads", threads()},
               {"input", options_.videos},
               {"only", options_.only},
               {"groups", options_.groups}}},
             {"failures", failures_},
             {"limits", Json::object()},
             {"rows", Json::array()}};
    for (const auto& [name, limit] : measured_limits_)
        all["limits"][name] = {{"bytes", limit.bytes}, {"median_us", limit.timing.median_us}};
    for (const auto& row : rows_) all["rows"].push_back(row_json(row));
    return json_text(all, 2);
}

}  // namespace framewire::bench
