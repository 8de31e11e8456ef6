// framewire-bench: how fast the operations are on this machine, beside OpenCV where the build has it.

#include "framewire/core/error.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>

int main(int argc, char** argv) {
    using namespace framewire;
    using namespace framewire::bench;

    CLI::App app{"Measures framewire's operations on this machine: every row only after its output was checked."};
    std::vector<std::string> wanted;
    std::string json_path, cdnet_folder, video, only;
    bool quick = false, check_only = false;
    StreamChoices stream;
    int threads = 2;
    app.add_option("suites", wanted, "which groups (ladders) or suites (ladders/difference); all without");
    app.add_flag("--check", check_only, "run each thing once, check what it gives, and time nothing");
    app.add_flag("--quick", quick, "repeat less, for an overview");
    app.add_option("--threads", threads, "threads of the CPU runs and of the peers")->capture_default_str();
    app.add_option("--json", json_path, "also write the rows to this file");
    app.add_option(
        "--cdnet", cdnet_folder,
        "a scene of changedetection.net (its input/ and groundtruth/): the mixture suite tells how well it does there");
    app.add_option("--input", video, "a video that the suites peers and stream read; one is made where none is given")
        ->check(CLI::ExistingPath);
    app.add_option("--only", only,
                   "of the suites jobs, peers, peers-mp4 and stream only rows with this in their names");
    app.add_option("--threshold", stream.threshold, "of the suite stream: furthest that a byte may be off")
        ->capture_default_str()
        ->check(CLI::Range(0, 254));
    app.add_option("--frames", stream.frames, "of the suite stream: how many frames it codes")
        ->capture_default_str()
        ->check(CLI::Range(1, 10000));
    app.add_option("--noise", stream.noise,
                   "of the suite stream: the first frame as a still under noise of this sigma, instead of the video")
        ->check(CLI::Range(0.0, 100.0));
    CLI11_PARSE(app, argc, argv);

    try {
        const auto is_named = [](const Suite& suite, const std::string& name) {
            return name == suite.group || name == fmt::format("{}/{}", suite.group, suite.name);
        };
        for (const auto& name : wanted)
            if (std::ranges::none_of(suites(), [&](const auto& suite) { return is_named(suite, name); }))
                fail(ErrorCode::usage, "no suite '{}'", name);
        Session session(quick, threads, cdnet_folder, video, only, stream);
        session.set_check_only(check_only);
        std::ranges::sort(suites(), {},
                          [](const auto& suite) { return fmt::format("{}/{}", suite.group, suite.name); });
        for (const auto& suite : suites())
            if (wanted.empty() || std::ranges::any_of(wanted, [&](const auto& name) { return is_named(suite, name); }))
                suite.run(session);
        if (!json_path.empty()) {
            std::ofstream file(json_path);
            file << session.json() << '\n';
            if (!file.flush()) fail(ErrorCode::io, "cannot write {}", json_path);
        }
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "framewire-bench: {}\n", error.what());
        return static_cast<int>(error.code());
    }
}
