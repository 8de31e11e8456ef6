#include "framewire/jobs/shard.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/jobs/batch.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

namespace framewire::jobs {
namespace {

constexpr const char *slurm_task = "SLURM_ARRAY_TASK_ID", *completion_index = "JOB_COMPLETION_INDEX",
                     *shards_variable = "FRAMEWIRE_SHARDS";

// Returns the value of a variable as a number; empty if the variable is not set. Throws unless the value is a number of
// at least `least`.
std::optional<int> number_of(const Environment& environment, const char* name, int least) {
    const char* text = environment(name);
    if (!text || !*text) return {};
    const auto number = number_in<int>(text);
    if (!number || *number < least)
        fail(ErrorCode::usage, "{} is '{}'; it must be a number of at least {}", name, text, least);
    return number;
}

// Returns the shard. Throws if `index`, counted from 0, is not below `count`.
Shard checked(const char* name, int index, int count) {
    if (index >= count)
        fail(ErrorCode::usage, "{} selects shard {} of {}, but shards are numbered from 1; use --shard I/N", name,
             index + 1, count);
    return {index, count, name};
}

// Returns the position of a task in its job array.
int slurm_index(const Environment& environment, int task) {
    const int least = number_of(environment, "SLURM_ARRAY_TASK_MIN", 0).value_or(0);
    const int step = number_of(environment, "SLURM_ARRAY_TASK_STEP", 1).value_or(1);
    if (task < least || (task - least) % step != 0)
        fail(ErrorCode::usage,
             "{} is {} in an array that starts at {} with a step of {}; use an array without gaps, or --shard I/N",
             slurm_task, task, least, step);
    return (task - least) / step;
}

}  // namespace

Shard parse_shard(std::string_view text) {
    const auto slash = text.find('/');
    const auto index = number_in<int>(text.substr(0, slash));
    const auto count = slash == text.npos ? std::nullopt : number_in<int>(text.substr(slash + 1));
    if (!index || !count || *index < 1 || *index > *count)
        fail(ErrorCode::usage, "'{}' is not a shard; write I/N, from 1/N to N/N", text);
    return {*index - 1, *count};
}

std::optional<Shard> shard_of(const Environment& environment, std::optional<int> count) {
    if (!count) count = number_of(environment, shards_variable, 1);
    if (const auto task = number_of(environment, slurm_task, 0)) {
        const auto tasks = count ? count : number_of(environment, "SLURM_ARRAY_TASK_COUNT", 1);
        if (!tasks)
            fail(ErrorCode::usage,
                 "{} is {}, but SLURM_ARRAY_TASK_COUNT is not set; set the number of shards with --shards N",
                 slurm_task, *task);
        return checked(slurm_task, slurm_index(environment, *task), *tasks);
    }
    if (const auto index = number_of(environment, completion_index, 0)) {
        if (!count)
            fail(ErrorCode::usage, "{} is {}, but the number of shards is unknown; set it with --shards N or {}",
                 completion_index, *index, shards_variable);
        return checked(completion_index, *index, *count);
    }
    return {};
}

namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

// Maximum size of a marker; a larger file is something else.
constexpr std::size_t longest_marker_bytes = 1 << 20;

// Returns the marker's line for an input: name, size and modification time. The path's folder is not included.
std::string input_line(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) fail(ErrorCode::no_input, "cannot open {}: {}", path, std::strerror(errno));
    return json_text(
        Json{{"input", split_path(path).second},
             {"bytes", static_cast<std::int64_t>(status.st_size)},
             {"modified_ns", std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec}});
}

// Returns the marker's line for an output; empty if the file does not exist.
std::optional<std::string> output_line(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return json_text(Json{{"output", split_path(path).second}, {"bytes", static_cast<std::int64_t>(status.st_size)}});
}

// Returns all lines of a marker that are known before the item is made.
Lines lines_before_outputs(const Making& making) {
    Lines lines{json_text(Json{{"framewire", making.version}}), json_text(Json{{"options", making.options}})};
    for (const auto& input : making.inputs) lines.push_back(input_line(input));
    return lines;
}

std::string joined(const Lines& lines) {
    std::string text;
    for (const auto& line : lines) text += line + '\n';
    return text;
}

// Returns the lines of a marker; empty if there is none or the file is too large.
std::optional<Lines> read_marker(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return {};
    Lines lines;
    std::size_t bytes = 0;
    for (std::string line; std::getline(file, line); lines.push_back(line))
        if ((bytes += line.size() + 1) > longest_marker_bytes) return {};
    return lines;
}

bool has(const Lines& lines, const std::string& line) { return std::ranges::find(lines, line) != lines.end(); }

// Returns the first difference between a marker and the current state, for messages.
std::string difference(const Lines& mark, const Making& making, const Lines& now) {
    if (mark.empty() || mark[0] != now[0]) return "the version of framewire";
    if (mark.size() < 2 || mark[1] != now[1]) return "the options";
    for (std::size_t input = 0; input < making.inputs.size(); ++input)
        if (!has(mark, now[input + 2])) return input == 0 ? "it" : making.inputs[input];
    return "the requested outputs";
}

// Flushes the data of a file or folder to disk.
void sync(const std::string& path, int flags) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
    const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    // EINVAL: the file or its file system does not support synchronisation
    if (!synced && error != EINVAL) fail(ErrorCode::io, "cannot flush {} to disk: {}", path, std::strerror(error));
}

// Flushes the folder of `path`, which makes a new or renamed entry durable.
void sync_folder_of(const std::string& path) {
    const auto folder = split_path(path).first;
    sync(folder.empty() ? "." : folder, O_DIRECTORY);
}

std::string marker_path(const std::string& folder, const std::string& name, const char* ending) {
    return (std::filesystem::path(markers_folder(folder)) / name).concat(ending);
}

}  // namespace

DoneMarkers::DoneMarkers(const std::string& folder, const std::string& name)
    : begun_(marker_path(folder, name, ".begun")), done_(marker_path(folder, name, ".done")) {}

bool DoneMarkers::begun() const { return ::access(begun_.c_str(), F_OK) == 0; }

// An output for which there is neither NAME.done nor NAME.begun was not made by a batch run.
ItemState DoneMarkers::state(const Making& making) const {
    using Is = ItemState::Is;
    auto now = lines_before_outputs(making);
    const auto mark = read_marker(done_);
    const bool was_begun = begun();
    bool all_there = true;
    for (const auto& output : making.outputs) {
        const auto line = output_line(output);
        all_there = all_there && line;
        if (line && !was_begun && !(mark && has(*mark, *line))) return {Is::in_the_way, output};
        if (line) now.push_back(*line);
    }
    if (all_there && mark == now) return {Is::done};
    if (was_begun) return {Is::unfinished};
    if (!all_there || !mark) return {Is::missing};
    return {Is::changed, difference(*mark, making, now)};
}

ItemInTheMaking::ItemInTheMaking(DoneMarkers markers) : markers_(std::move(markers)) {
    make_folder(split_path(markers_.begun_).first);
    for (;;) {
        lock_ = ::open(markers_.begun_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (lock_ < 0) fail(ErrorCode::io, "cannot write {}: {}", markers_.begun_, std::strerror(errno));
        if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(std::exchange(lock_, -1));
            fail(ErrorCode::io, "is being processed by another run ({} is locked)", markers_.begun_);
        }
        // Another run may have finished and removed this file between open() and flock(). The lock is then worthless.
        struct stat own {
        }, named{};
        if (::fstat(lock_, &own) == 0 && ::stat(markers_.begun_.c_str(), &named) == 0 && own.st_ino == named.st_ino)
            return;
        ::close(std::exchange(lock_, -1));
    }
}

ItemInTheMaking::~ItemInTheMaking() {
    ::unlink(markers_.begun_.c_str());
    ::close(lock_);
}

void ItemInTheMaking::begin(const Making& making) { made_ = joined(lines_before_outputs(making)); }

void ItemInTheMaking::finish(const Making& making) {
    auto text = made_;
    for (const auto& output : making.outputs) {
        const auto line = output_line(output);
        if (!line) fail(ErrorCode::io, "{} disappeared right after it was written", output);
        text += *line + '\n';
        sync(output, 0);
        sync_folder_of(output);
    }
    OutputFile mark(markers_.done_, {.replace = true});
    mark.write(text.data(), text.size());
    mark.sync();
    mark.finish();
    sync_folder_of(markers_.done_);
}

}  // namespace framewire::jobs
