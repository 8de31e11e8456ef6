#include "limits/decoders.hpp"

#include "framewire/core/error.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace framewire::bench {
namespace {

constexpr std::int64_t frames_before = 20;  // of each decoder

}  // namespace

double process_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
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
