#include "limits/decoders.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace framewire::bench {
namespace {

constexpr std::int64_t frames_before = 20;  // of each decoder
constexpr std::int64_t repeated_frames = 100'000;

}  // namespace

double process_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

std::int64_t frames_in(const std::string& path) {
    const auto source = open_source(path);
    if (const auto frames = source->info().frames; frames && *frames > 0) return *frames;
    HostImage image(source->info().shape);
    std::int64_t frames = 0;
    for (FrameTime time; source->read_own(image.view(), time);) ++frames;
    if (frames == 0) fail(ErrorCode::no_input, "{} has no frames", path);
    return frames;
}

// FFmpeg's concatenation accepts only plain names in the playlist's own folder.
std::string repeated_video(const MemoryFolder& folder, const std::string& path) {
    const auto ending = lower_case(std::filesystem::path(path).extension().string());
    constexpr std::string_view containers[] = {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".ts"};
    if (std::ranges::find(containers, ending) == std::end(containers)) return path;
    const auto frames = frames_in(path);
    const auto number = std::hash<std::string>{}(path);
    const auto name = fmt::format("video-{:x}{}", number, ending);
    std::filesystem::remove(folder / name);
    std::filesystem::create_symlink(std::filesystem::absolute(path), folder / name);
    const auto playlist = folder / fmt::format("video-{:x}.ffconcat", number);
    std::ofstream file(playlist);
    file << "ffconcat version 1.0\n";
    for (std::int64_t played = 0; played < repeated_frames; played += frames) file << "file " << name << '\n';
    file.close();
    if (!file) fail(ErrorCode::io, "cannot write {}", playlist);
    try {
        open_source(playlist);
    } catch (const Error&) {
        return path;
    }
    return playlist;
}

DecodeStep decode_through_source(const std::string& path, DecodeChoice choice, int threads,
                                 const std::stop_token& stop) {
    struct Reading {
        std::unique_ptr<Source> source;
        HostImage image;
        FrameTime time{};
    };
    auto opened = open_source(path, {.stop = stop, .loop = true, .decode = choice, .decoder_threads = threads});
    HostImage image(opened->info().shape);
    const auto reading = std::make_shared<Reading>(Reading{std::move(opened), std::move(image)});
    return [reading] {
        if (!reading->source->read_own(reading->image.view(), reading->time))
            fail(ErrorCode::config, "the video ended");
        return std::int64_t{1};
    };
}

Decoders::Decoders(int count, int per_thread, const Open& open) : ready_(count) {
    for (int number = 0; number < count; number += per_thread)
        threads_.emplace_back([this, open, own = std::min(per_thread, count - number)](const std::stop_token& stop) {
            run(own, open, stop);
        });
    ready_.wait();
    require_all();
}

void Decoders::require_all() const {
    const std::lock_guard lock(mutex_);
    if (failed_ > 0)
        fail(ErrorCode::config, "{} of {} threads of decoders failed: {}", failed_, threads_.size(), reason_);
}

void Decoders::run(int count, const Open& open, const std::stop_token& stop) {
    struct Decoder {
        DecodeStep step;
        std::int64_t frames = 0;
    };
    std::int64_t missing = count;
    try {
        std::vector<Decoder> decoders;
        for (int number = 0; number < count; ++number) decoders.push_back({open(stop)});
        while (!stop.stop_requested())
            for (auto& decoder : decoders) {
                const auto before = std::exchange(decoder.frames, decoder.frames + decoder.step());
                frames_ += decoder.frames - before;
                if (before < frames_before && decoder.frames >= frames_before) --missing, ready_.count_down();
            }
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        if (!stop.stop_requested() && failed_++ == 0) reason_ = error.what();
    }
    if (missing > 0) ready_.count_down(missing);
}

}  // namespace framewire::bench
