#include "framewire/session/batch/batch.hpp"

#include <nlohmann/json.hpp>

namespace framewire::session {

// File names may be invalid UTF-8; such bytes are replaced.
std::string to_json(const BatchResult& result, const Shard& shard) {
    using Json = nlohmann::ordered_json;
    using End = PieceOutcome::End;
    auto failures = Json::array();
    for (const auto* piece : result.failures())
        failures.push_back({{"file", piece->input}, {"code", static_cast<int>(piece->code)}, {"why", piece->why}});
    const auto add_counts = [&](Json& json, bool parts) {
        json["made"] = result.count(End::made, parts);
        json["were_done"] = result.count(End::was_done, parts);
        json["kept"] = result.count(End::kept, parts);
        json["failed"] = result.count(End::failed, parts);
        json["stopped"] = result.count(End::stopped, parts);
    };
    Json json{{"files", result.size()}};
    add_counts(json, false);
    if (result.size(true) > 0) add_counts(json["parts"], true);
    json["frames"] = result.frames;
    json["seconds"] = result.seconds;
    json["fps"] = result.seconds > 0 ? static_cast<double>(result.frames) / result.seconds : 0;
    json["shard"] = {{"index", shard.index + 1}, {"count", shard.count}};
    json["failures"] = std::move(failures);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace framewire::session
