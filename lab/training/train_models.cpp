// train-models: counts the symbols of streams of clips, and makes the models with which the difference stream is coded.
// docs/decisions/blocks.md describes the method.

#include "framewire/core/error.hpp"
#include "training/model_sets.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace framewire;
using namespace framewire::bench;

/// Returns one channel of a film, as gray cameras send it.
Film green_of(const Film& film) {
    const auto channels = film.shape.channels;
    Film green{{1, film.shape.height, film.shape.width, 1}, {}};
    for (const auto& frame : film.frames) {
        HostImage image(green.shape);
        for (int y = 0; y < green.shape.height; ++y)
            for (int x = 0; x < green.shape.width; ++x)
                image.view().row(0, y)[x] = frame.view().row(0, y)[x * channels + channels / 2];
        green.frames.push_back(std::move(image));
    }
    return green;
}

struct Choices {
    std::vector<int> thresholds{0, 8, 20, 40};
    int frames = 60, stride = 8;
};

void count_clip(const std::string& clip, const Choices& choices, std::vector<StreamCounts>& streams) {
    const auto film = read_film(clip, choices.frames);
    const auto name = std::filesystem::path(clip).filename().string();
    fmt::print(stderr, "counting {}\n", name);
    for (const int threshold : choices.thresholds)
        for (const bool bounded : {false, true}) {
            const auto of = [&](const char* what) {
                return fmt::format("{}{}, {}, threshold {}", name, what, bounded ? "bounded" : "exact", threshold);
            };
            streams.push_back(count_symbols(of(""), film, threshold, bounded, choices.stride));
            if (film.shape.channels == 1) continue;
            auto gray = count_symbols(of(", gray"), green_of(film), threshold, bounded, 4 * choices.stride);
            streams.push_back(std::move(gray));
        }
}

/// Returns the levels as lines of a file that models.cpp includes.
std::string literal(const Levels& levels) {
    constexpr std::size_t per_line = 108;
    std::string lines;
    for (std::size_t i = 0; i < levels.size(); i += per_line)
        lines += fmt::format("{}    R\"({})\"", i ? "\n" : "", levels.substr(i, per_line));
    return lines;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    if (!file.flush()) fail(ErrorCode::io, "cannot write {}", path.string());
}

void write_models(const std::filesystem::path& folder, const std::vector<Levels>& steps, const Levels& pictures) {
    std::string text =
        "// How likely the symbols of steps are, a set of models per literal: see format.md. By train-models.\n";
    for (std::size_t set = 0; set < steps.size(); ++set) text += (set ? ",\n" : "") + literal(steps[set]);
    write_file(folder / "trained_steps.inc", text + "\n");
    write_file(folder / "trained_pictures.inc",
               "// How likely the symbols of whole pictures are: see format.md. By train-models.\n" +
                   literal(pictures) + "\n");
}

/// Compares the bytes with the current and the new models, and prints the geometric means of the ratios.
class Comparison {
public:
    Comparison(const std::vector<Levels>& steps, const Levels& pictures) : steps_(steps), pictures_(pictures) {}

    void print(const std::vector<StreamCounts>& streams) {
        fmt::print("{:<60} {:>12} {:>12} {:>7}\n", "symbol bytes", "current", "new", "ratio");
        std::vector<double> of_steps, of_first, of_pictures;
        for (const auto& stream : streams) {
            const auto blocks = [&](bool first, const auto& sets) { return block_bytes(stream, first, sets); };
            row(stream.name, blocks(false, present_steps_), blocks(false, steps_), of_steps);
            row(stream.name + ", picture", blocks(true, present_steps_), blocks(true, steps_), of_first);
            row(stream.name + ", whole picture", picture_bytes(stream, present_pictures_),
                picture_bytes(stream, pictures_), of_pictures);
        }
        print_mean("steps", of_steps);
        print_mean("pictures", of_first);
        print_mean("whole pictures", of_pictures);
    }

private:
    static void row(const std::string& name, double now, double then, std::vector<double>& shares) {
        if (now == 0) return;
        fmt::print("{:<60} {:>12.0f} {:>12.0f} {:>7.4f}\n", name, now, then, then / now);
        shares.push_back(then / now);
    }
    static void print_mean(const char* what, const std::vector<double>& shares) {
        if (shares.empty()) return;
        double sum = 0;
        for (const double share : shares) sum += std::log(share);
        fmt::print("geometric mean, {:<44} {:>33.4f}\n", what, std::exp(sum / static_cast<double>(shares.size())));
    }

    std::vector<Levels> steps_, present_steps_ = present_step_sets();
    Levels pictures_, present_pictures_ = present_picture_models();
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Trains the models of the difference stream on clips and evaluates them on held-out clips."};
    std::vector<std::string> clips, held_out;
    std::string folder;
    Choices choices;
    app.add_option("clips", clips, "clips or folders of images to train on")->required();
    app.add_option("--held-out", held_out, "clips or folders of images to evaluate on")->required();
    app.add_option("--output", folder, "folder for trained_steps.inc and trained_pictures.inc")
        ->required()
        ->check(CLI::ExistingDirectory);
    app.add_option("--thresholds", choices.thresholds, "thresholds of the streams to count")
        ->check(CLI::Range(0, 254))
        ->capture_default_str();
    app.add_option("--frames", choices.frames, "maximum number of frames per clip")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--stride", choices.stride, "count one frame out of this many")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    bool runs_only = false;
    app.add_flag("--runs-only", runs_only, "keep all models except those of symbols that only blocks in runs have");
    CLI11_PARSE(app, argc, argv);
    try {
        std::vector<StreamCounts> counted, kept;
        for (const auto& clip : clips) count_clip(clip, choices, counted);
        for (const auto& clip : held_out) count_clip(clip, choices, kept);
        const auto steps = runs_only ? train_run_models(counted) : train_step_sets(counted);
        const auto pictures = runs_only ? present_picture_models() : train_picture_models(counted);
        write_models(folder, steps, pictures);
        Comparison(steps, pictures).print(kept);
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "train-models: {}\n", error.what());
        return static_cast<int>(error.code());
    }
}
