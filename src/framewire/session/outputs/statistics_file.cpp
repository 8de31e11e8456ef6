#include "framewire/session/outputs/statistics_file.hpp"

namespace framewire::session {

StatisticsFile::StatisticsFile(const std::string& path, bool replace) {
    if (!path.empty()) file_.emplace(path, OutputFileOptions{.replace = replace});
}

void StatisticsFile::write(const StatisticsSnapshot& figures, const RunDescription& run) {
    if (file_) write(to_json(figures, run));
}

void StatisticsFile::write(const std::string& json) {
    if (!file_) return;
    file_->write(json.data(), json.size());
    file_->finish();
}

}  // namespace framewire::session
