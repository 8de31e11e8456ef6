#include "framewire/session/batch/batch.hpp"

#include <nlohmann/json.hpp>

namespace framewire::session {

std::string to_json(const BatchResult& result, const Shard& shard) {
    using Json = nlohmann::ordered_json;
    using End = PieceOutcome::End;
    auto failures = Json::array();
    for (const auto& piece : result.pieces)
        if (piece.end == End::failed)
            failures.push_back({{"file", piece.input}, {"code", static_cast<int>(piece.code)}, {"why", piece.why}});
    const Json json{{"files", result.pieces.size()},
                    {"made", result.count(End::made)},
                    {"were_done", result.count(End::was_done)},
                    {"kept", result.count(End::kept)},
                    {"failed", result.count(End::failed)},
                    {"stopped", result.count(End::stopped)},
                    {"frames", result.frames},
                    {"seconds", result.seconds},
                    {"fps", result.seconds > 0 ? static_cast<double>(result.frames) / result.seconds : 0},
                    {"shard", {{"index", shard.index + 1}, {"count", shard.count}}},
                    {"failures", std::move(failures)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace framewire::session
