// framewire-bench: measures the operations on this machine, compared with OpenCV if the build has it.

#include "framewire/core/error.hpp"
#include "kit/build.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

using namespace framewire;
using namespace framewire::bench;

std::string full_name(const Suite& suite) { return fmt::format("{}/{}", suite.group, suite.name); }

bool is_named(const Suite& suite, const std::string& name) { return name == suite.group || name == full_name(suite); }

bool is_built(std::string_view group) {
    return std::ranges::any_of(suites(), [&](const auto& suite) { return suite.group == group; });
}

// Returns a hint for a group or suite that this build lacks although other builds have it, otherwise an empty text.
const char* why_missing(const std::string& name) {
    return name.substr(0, name.find('/')) == "ladders" && !is_built("ladders")
               ? " in this build (cmake -DFRAMEWIRE_LAB=ON)"
               : "";
}

// Returns the named suites in alphabetical order. Without names, returns all suites or, for an overview, the limits
// and the operations.
std::vector<Suite> chosen_suites(std::vector<std::string> names, bool overview) {
    auto all = suites();
    if (names.empty() && overview) names = {"limits", "operations"};
    std::ranges::sort(all, {}, full_name);
    for (const auto& name : names)
        if (std::ranges::none_of(all, [&](const auto& suite) { return is_named(suite, name); }))
            fail(ErrorCode::usage, "there is no group or suite '{}'{}; --list prints them", name, why_missing(name));
    if (!names.empty())
        std::erase_if(all, [&](const auto& suite) {
            return std::ranges::none_of(names, [&](const auto& name) { return is_named(suite, name); });
        });
    return all;
}

// Returns the videos with each folder replaced by its files in alphabetical order.
std::vector<std::string> files_of(const std::vector<std::string>& videos) {
    std::vector<std::string> files;
    for (const auto& video : videos) {
        if (!std::filesystem::is_directory(video)) {
            files.push_back(video);
            continue;
        }
        const auto first = static_cast<std::ptrdiff_t>(files.size());
        for (const auto& entry : std::filesystem::directory_iterator(video))
            if (entry.is_regular_file()) files.push_back(entry.path());
        std::sort(files.begin() + first, files.end());
    }
    return files;
}

std::string groups_text() {
    std::string text = "Groups:\n";
    for (const auto& group : groups)
        text += fmt::format("  {:<11} {}{}\n", group.name, group.purpose,
                            is_built(group.name) ? "" : " (not in this build)");
    return text +
           "A single suite is GROUP/SUITE; --list prints all of them. For the group capacity, options of "
           "'framewire serve' may follow after --; default: -- --detect.";
}

void write_json(const Session& session, const std::string& path) {
    std::ofstream file(path);
    file << session.json() << '\n';
    if (!file.flush()) fail(ErrorCode::io, "cannot write {}", path);
}

int run_suites(const std::vector<Suite>& chosen, const SessionOptions& options, const std::string& json_path) {
    if (const auto flaw = build_flaw(); !flaw.empty() && !options.check_only && !options.once)
        fail(ErrorCode::config,
             "measurements of this build would be meaningless: {}; use a build of 'cmake --preset dev' (--check runs "
             "in any build)",
             flaw);
    if (!options.pictures.empty()) std::filesystem::create_directories(options.pictures);
    Session session(options);
    for (const auto& suite : chosen) {
        session.set_group(suite.group);
        session.attempt(full_name(suite), [&] { suite.run(session); });
    }
    if (!json_path.empty()) write_json(session, json_path);
    if (session.failures().empty()) return 0;
    fmt::print(stderr, "framewire-bench: {} failed:\n", session.failures().size());
    for (const auto& failure : session.failures()) fmt::print(stderr, "  {}\n", failure);
    return static_cast<int>(session.first_failure());
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Measures framewire's operations on this machine. A row is printed only after its output has been checked.",
        "framewire bench"};
    std::vector<std::string> names;
    std::string json_path;
    bool list = false;
    SessionOptions options;
    app.add_option("groups", names, "groups (ladders) or suites (ladders/difference) to run; default: all");
    app.add_flag("--list", list, "print the names of the suites and exit");
    app.add_flag("--check", options.check_only, "run everything once and check the results, without timing");
    app.add_flag("--once", options.once, "run each kernel once, without timing, for profilers");
    app.add_flag(
        "--quick", options.quick,
        "an overview in about two minutes: fewer repetitions and inputs; without names, only limits and operations");
    app.add_option("--threads", options.threads, "number of threads for CPU runs and peers")->capture_default_str();
    app.add_option("--json", json_path,
                   "also write the rows to this file, with a description of the machine and the build");
    app.add_option("--pictures", options.pictures, "also write the pictures shown in the reports to this folder");
    app.add_option("--cdnet", options.cdnet_folder,
                   "folder of a changedetection.net scene (with input/ and groundtruth/); the mixture suite reports "
                   "its accuracy on it");
    app.add_option(
           "--input", options.videos,
           "input video of the suites of jobs that read one, peers/stream, proofs/bound and limits/decode, which "
           "reads all if there are several, or all files of a folder; default: a generated video")
        ->check(CLI::ExistingPath)
        ->allow_extra_args(false);
    app.add_option("--only", options.only, "in the groups jobs and peers, run only rows whose names contain this text");
    app.add_option("--fps", options.capacity.fps,
                   "for the suite capacity: frame rate of a camera; default: that of the video")
        ->check(CLI::Range(0.1, 1000.0));
    app.add_option("--seconds", options.capacity.seconds,
                   "for the suite capacity: time for which the cameras must hold their rate")
        ->capture_default_str()
        ->check(CLI::Range(1.0, 3600.0));
    app.add_option("--cameras", options.capacity.cameras,
                   "for the suite capacity: try only this number of cameras; default: find the largest one that holds")
        ->check(CLI::Range(1, 512));
    app.add_option("--viewers", options.capacity.viewers, "for the suite capacity: viewers of each camera")
        ->capture_default_str()
        ->check(CLI::Range(0, 100));
    app.add_option("--threshold", options.stream.threshold,
                   "for the suite peers/stream: largest allowed error of a byte")
        ->capture_default_str()
        ->check(CLI::Range(0, 254));
    app.add_option("--frames", options.stream.frames, "for the suite peers/stream: number of frames to encode")
        ->capture_default_str()
        ->check(CLI::Range(1, 10000));
    app.add_option("--noise", options.stream.noise,
                   "for the suite peers/stream: encode the first frame as a still with noise of this standard "
                   "deviation instead of the video")
        ->check(CLI::Range(0.0, 100.0));
    app.footer(groups_text());
    // The job of the suite capacity: framewire bench capacity -- --detect --backend cpu
    const auto job = std::find(argv, argv + argc, std::string_view("--"));
    if (job != argv + argc) options.capacity.job.assign(job + 1, argv + argc);
    CLI11_PARSE(app, static_cast<int>(job - argv), argv);

    try {
        options.groups = names;
        options.videos = files_of(options.videos);
        const auto chosen = chosen_suites(names, options.quick);
        if (!list) return run_suites(chosen, options, json_path);
        for (const auto& suite : chosen) fmt::print("{}\n", full_name(suite));
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "framewire-bench: {}\n", error.what());
        return static_cast<int>(error.code());
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print(stderr, "framewire-bench: {}\n", error.what());
        return static_cast<int>(ErrorCode::io);
    }
}
