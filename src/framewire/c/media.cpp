// fw_source and fw_sink.

#include "framewire/media/media.hpp"
#include "framewire/c/boundary.hpp"
#include "framewire/c/image.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/plan/frame_plan.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

using namespace framewire;

namespace {

constexpr double most_seconds = 1e9;

std::chrono::milliseconds milliseconds_from(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1e3)));
}

void put_time(fw_time* to, const FrameTime& time) {
    if (to) c::put(*to, {0, time.index, time.seconds, time.duration_seconds}, "time");
}

// Seconds of a frame whose caller gives no time.
double even_seconds(std::int64_t frame, Rational rate) { return static_cast<double>(frame) / rate.value(); }

// Makes pictures that a source delivers as images into its native format. Rarely needed: if the format changes.
class ToNative {
public:
    explicit ToNative(const YuvInfo& planes) : planes_(planes) {}

    HostYuv<const std::uint8_t> convert(HostView<const std::uint8_t> image) {
        if (!converter_) converter_.emplace(planes_, image.shape().channels, media_threads());
        picture_.emplace(planes_);
        converter_->run(image, picture_->view());
        return std::as_const(*picture_).view();
    }

private:
    YuvInfo planes_;
    std::optional<ImageToYuv> converter_;
    std::optional<YuvPicture> picture_;
};

SourceOptions options_from(const fw_source_options& given, std::stop_token stop) {
    c::check_range(given.native, 0, 1, "options->native");
    c::check_range(given.on_device, 0, 1, "options->on_device");
    c::check_range(given.loop, 0, 1, "options->loop");
    c::check_range(given.start_seconds, 0.0, most_seconds, "options->start_seconds");
    c::check_range(given.duration_seconds, 0.0, most_seconds, "options->duration_seconds");
    c::check_range(given.timeout_seconds, 0.0, 86'400.0, "options->timeout_seconds");
    c::check_range(given.width, 0, max_side_px, "options->width");
    c::check_range(given.height, 0, max_side_px, "options->height");
    c::check_range(given.rate, 0.0, 1000.0, "options->rate");
    SourceOptions options{.stop = std::move(stop)};
    if (given.timeout_seconds > 0) options.timeout = milliseconds_from(given.timeout_seconds);
    options.width_px = given.width;
    options.height_px = given.height;
    if (given.rate > 0) options.rate = parse_rate(std::to_string(given.rate));
    options.loop = given.loop == 1;
    options.start_seconds = given.start_seconds;
    if (given.duration_seconds > 0) options.duration_seconds = given.duration_seconds;
    if (given.on_device) {
        options.decode = DecodeChoice::automatic;
        options.gpu = given.device;
    }
    return options;
}

fw_settings settings_from(const fw_source_options& given) {
    return {sizeof(fw_settings), given.on_device ? FW_BACKEND_CUDA : FW_BACKEND_CPU, given.device, 0};
}

}  // namespace

struct fw_source {
    fw_source(const char* text, const fw_source_options& options) {
        const auto source_options = options_from(options, stop.get_token());
        if (options.on_device) worker.emplace(settings_from(options));
        source = open_source(text, source_options);
        const auto& info = source->info();
        format = FrameFormat(info.shape);
        if (const auto own = format_of(info); options.native && own.planes() && c::is_known(own)) {
            format = own;
            to_native.emplace(*own.planes());
        }
        if (worker)
            frame = Frame(info.shape, worker->executor());
        else if (to_native)
            image = HostImage(info.shape);
    }

    bool uses_gpu() const { return worker && worker->uses_gpu(); }

    bool read(const fw_image* to, FrameTime& time, void* stream) {
        const c::CallerImage out(to, format, "image");
        if (out.on_device() != worker.has_value())
            c::refuse(worker ? "image is in host memory, but the source was opened with on_device"
                             : "image is in device memory, but the source was opened without on_device");
        if (!worker) return read_to_host(out, time);
        out.require_reach(worker->executor());
        return read_to_device(out, time, stream);
    }

    bool read_to_host(const c::CallerImage& out, FrameTime& time) {
        const auto to = out.view<std::uint8_t, MemorySpace::host>();
        if (!to_native) return source->read(to.image, time);
        if (!source->read_own(image.view(), time)) return false;
        copy_planes(image, [&](const auto& planes) { c::copy_on_host(planes, to); });
        return true;
    }

    // The previous frame's copies read the memory that is filled here.
    bool read_to_device(const c::CallerImage& out, FrameTime& time, void* stream) {
        auto& executor = worker->executor();
        executor.synchronize();
        frame.wait();
        bool is_there = true;
        executor.in_its_space([&]<MemorySpace space>() {
            if constexpr (space == MemorySpace::device) {
                const auto to = out.view<std::uint8_t, space>();
                const auto& queue = executor.stream();
                if (!to_native) {
                    if (!(is_there = source->capture(frame, time))) return;
                    worker->run(stream, true, false, [&] {
                        frame.upload();
                        cuda::copy(frame.in<space>(), to.image, queue);
                    });
                    return;
                }
                if (!(is_there = source->read_own(frame.fill_on_host(), time))) return;
                const auto own = source->native_frame();
                const auto gpu = own ? own->on_gpu() : std::nullopt;
                if (gpu && gpu->info == format.planes())
                    return worker->run(stream, true, false, [&] {
                        gpu->read(queue, [&](const DeviceYuv<const std::uint8_t>& planes) {
                            c::for_planes(PictureView<const std::uint8_t, space>(planes), to,
                                          [&](const auto& from, const auto& there) { cuda::copy(from, there, queue); });
                        });
                    });
                copy_planes(frame, [&](const auto& planes) {
                    worker->run(stream, true, true, [&] {
                        c::for_planes(planes, to,
                                      [&](const auto& from, const auto& there) { cuda::upload(from, there, queue); });
                    });
                });
            }
        });
        return is_there;
    }

    // Calls copy() with the planes of the frame that was read last; `memory` holds its image if there is no native one.
    template <class Memory, class Copy>
    void copy_planes(Memory& memory, Copy&& copy) {
        using Picture = PictureView<const std::uint8_t, MemorySpace::host>;
        const auto own = source->native_frame();
        if (own)
            if (const auto planes = own->planes(); planes && planes->info == format.planes())
                return copy(Picture(*planes));
        const auto view = host_view(memory);
        if (own) own->to_image(view);
        copy(Picture(to_native->convert(view)));
    }
    static HostView<std::uint8_t> host_view(HostImage& memory) { return memory.view(); }
    static HostView<std::uint8_t> host_view(Frame& memory) { return memory.host(); }

    std::stop_source stop;
    std::optional<c::Worker> worker;  // for frames in device memory
    std::unique_ptr<Source> source;
    FrameFormat format;
    std::optional<ToNative> to_native;  // for frames in planes
    HostImage image;
    Frame frame;
};

fw_status fw_source_open(fw_source** source, const char* text, const fw_source_options* options) {
    return c::create(__func__, source, "source", [&] {
        c::at(text, "text");
        return std::make_unique<fw_source>(text, c::take_optional(options, "options"));
    });
}

void fw_source_close(fw_source* source) { c::destroy(__func__, source); }

fw_status fw_source_info(const fw_source* source, fw_image* image, fw_info* info) {
    return c::guard(__func__, [&] {
        const auto& asked = c::at(source, "source");
        if (image) c::put_format(asked.format, *image);
        if (!info) return;
        const auto& known = asked.source->info();
        c::put(*info,
               {.size = 0,
                .rate_numerator = known.rate.numerator,
                .rate_denominator = known.rate.denominator,
                .frames = known.frames.value_or(-1),
                .live = known.live,
                .threshold = known.threshold.value_or(-1)},
               "info");
    });
}

fw_status fw_source_read(fw_source* source, const fw_image* image, fw_time* time, void* stream) {
    return c::guard(__func__, [&] {
        auto& reading = c::at(source, "source");
        if (time) c::take(*time, "time");
        FrameTime read;
        if (!reading.read(image, read, stream)) return FW_END;
        put_time(time, read);
        return FW_OK;
    });
}

fw_status fw_source_seek(fw_source* source, double seconds) {
    return c::guard(__func__, [&] {
        auto& seeking = c::at(source, "source");
        c::check_range(seconds, 0.0, most_seconds, "seconds");
        if (!seeking.source->seek(seconds)) fail(ErrorCode::config, "{} cannot seek", seeking.source->info().name);
    });
}

fw_status fw_source_stop(fw_source* source) {
    return c::guard(__func__, [&] { c::at(source, "source").stop.request_stop(); });
}

struct fw_sink {
    fw_sink(const char* text, const fw_image* image, Rational rate_, const fw_sink_options& options)
        : format(c::format_from(c::take(c::at(image, "image"), "image"), "image")),
          rate(rate_),
          executor(BackendChoice::cpu),
          plan(Chain(), format, executor) {
        SinkOptions sink_options{.replace = options.replace == 1};
        if (const auto& planes = format.planes()) {
            sink_options.facts.format = planes->format;
            sink_options.facts.coding = planes->coding;
            sink_options.facts.siting = planes->siting;
        }
        sink = open_sink(text, format.shape(), rate, sink_options);
        plan.deliver(sink->planes());
        if (!plan.result().planes()) result = HostImage(plan.result().shape());
    }

    // Images go to the sink as they are. Others are brought to the sink's planes, or to an image.
    void write(const fw_image* image, const FrameTime& time) {
        const c::CallerImage from(image, format, "image");
        from.require_host();
        if (finished) c::refuse("the sink is finished");
        const auto picture = from.view<const std::uint8_t, MemorySpace::host>();
        if (plan.empty() && !picture.has_planes()) {
            sink->write(picture.image, time);
        } else if (const auto& planes = plan.result().planes()) {
            const auto made = pool.take(*planes);
            plan.run(picture, picture, made->view());
            sink->write_planes(made, time);
        } else {
            plan.run(picture, picture, result.view());
            sink->write(std::as_const(result).view(), time);
        }
        ++frames;
    }

    FrameFormat format;
    Rational rate;
    Executor executor;
    FramePlan plan;
    YuvPicturePool pool;
    HostImage result;
    std::unique_ptr<Sink> sink;
    std::int64_t frames = 0;
    bool finished = false;
};

fw_status fw_sink_open(fw_sink** sink, const char* text, const fw_image* image, int64_t rate_numerator,
                       int64_t rate_denominator, const fw_sink_options* options) {
    return c::create(__func__, sink, "sink", [&] {
        c::at(text, "text");
        const auto given = c::take_optional(options, "options");
        c::check_range(given.replace, 0, 1, "options->replace");
        const auto rate = claimed_rate(rate_numerator, rate_denominator);
        if (!rate)
            c::refuse("the rate is " + std::to_string(rate_numerator) + "/" + std::to_string(rate_denominator) +
                      "; allowed: " + std::string(allowed_rates));
        return std::make_unique<fw_sink>(text, image, *rate, given);
    });
}

void fw_sink_close(fw_sink* sink) { delete sink; }

fw_status fw_sink_write(fw_sink* sink, const fw_image* image, const fw_time* time) {
    return c::guard(__func__, [&] {
        auto& writing = c::at(sink, "sink");
        FrameTime at{.index = writing.frames, .seconds = even_seconds(writing.frames, writing.rate)};
        if (time) {
            const auto given = c::take(*time, "time");
            c::check_range<std::int64_t>(given.index, 0, std::int64_t{1} << 60, "time->index");
            c::check_range(given.seconds, -most_seconds, most_seconds, "time->seconds");
            c::check_range(given.duration, 0.0, most_seconds, "time->duration");
            at = {.index = given.index, .seconds = given.seconds, .duration_seconds = given.duration};
        }
        at.captured = Clock::now();
        writing.write(image, at);
    });
}

fw_status fw_sink_finish(fw_sink* sink) {
    return c::guard(__func__, [&] {
        auto& finishing = c::at(sink, "sink");
        if (std::exchange(finishing.finished, true)) c::refuse("the sink is finished");
        finishing.sink->finish();
    });
}
