#include "framewire/jobs/input/input.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/filters/fps.hpp"
#include "framewire/filters/text.hpp"
#include "framewire/jobs/receive.hpp"
#include "framewire/jobs/relay.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/statistics.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace framewire::jobs {
namespace {

constexpr std::int64_t megabyte = 1'000'000;
constexpr double most_frame_seconds = 20;

// Measured 2026-11-28 with serve at 3840x2160 on two cores, in all modes, with a viewer, with and without a filter: at
// most 40 images of the result's size in 8 slots (lossless mode, noise filter).
constexpr std::int64_t result_images_per_slot = 4, result_images_besides = 16;
// The mixture's five modes with three channels; an adaptive background with its planes and masks takes 53.
constexpr std::int64_t detector_bytes_per_pixel = 80;
constexpr std::int64_t base_bytes = 100 * megabyte;

// Returns the number of slots of a BroadcastJob: those of the frame ring, plus one per packing thread.
std::int64_t slots() {
    return 7 + std::clamp(static_cast<std::int64_t>(std::thread::hardware_concurrency()) / 2, std::int64_t{1},
                          std::int64_t{8});
}

std::int64_t pixels_of(const Shape& shape) { return std::int64_t{shape.width} * shape.height; }

std::int64_t bytes_of(const ChainCost& cost, const Shape& frame, bool detects) {
    const auto slot = frame.bytes() + result_images_per_slot * cost.output.bytes();
    // Plans count twice, because a requested chain is planned while the previous one is still running.
    return base_bytes + slots() * slot + result_images_besides * cost.output.bytes() + 2 * cost.bytes +
           (detects ? detector_bytes_per_pixel * pixels_of(frame) : 0);
}

}  // namespace

std::int64_t FrameLimits::served_memory_bytes() {
    constexpr std::int64_t most = 8000 * megabyte;
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page_bytes > 0 ? std::min(most, pages * page_bytes / 2) : most;
}

std::int64_t estimated_bytes(const Chain& chain, const Shape& frame, bool detects) {
    return bytes_of(cost_of(chain, frame), frame, detects);
}

// Errors point at the filter with the largest image and contain the numbers that were compared.
void check_limits(const FrameLimits& limits, const Chain& chain, const Shape& frame) {
    if (!limits.max_pixels && !limits.max_memory_bytes) return;
    const auto cost = cost_of(chain, frame);
    const auto refuse = [&](const std::string& problem) {
        if (chain.empty()) fail(ErrorCode::usage, "{}", problem);
        fail_in_chain(chain.text, cost.largest_at, problem);
    };
    if (limits.max_pixels && pixels_of(cost.largest) > *limits.max_pixels)
        refuse(fmt::format("frames of {}x{} have {} pixels; --max-pixels allows {}", cost.largest.width,
                           cost.largest.height, pixels_of(cost.largest), *limits.max_pixels));
    const auto bytes = bytes_of(cost, frame, limits.detects);
    if (limits.max_memory_bytes && bytes > *limits.max_memory_bytes)
        refuse(fmt::format(
            "processing frames of {}x{} to {}x{} would need about {} MB of memory; --max-memory allows {} MB",
            frame.width, frame.height, cost.output.width, cost.output.height, bytes / megabyte,
            *limits.max_memory_bytes / megabyte));
    if (limits.max_memory_bytes && cost.frame_seconds > most_frame_seconds)
        refuse(
            fmt::format("the filters may take {:.0f} s per frame on one core, but only {} s are allowed; use fewer "
                        "filters or smaller frames",
                        cost.frame_seconds, most_frame_seconds));
}

void make_image(InputFrame& frame) {
    if (std::exchange(frame.has_image, true) || frame.own->fill_on_gpu(frame.captured)) return;
    frame.own->to_image(frame.captured.fill_on_host());
}

void pass_on(InputFrame& frame, const Executor& executor, Wanted wanted) {
    make_image(frame);
    frame.own.reset();
    // On CUDA, frames are uploaded if something on the GPU reads them, and downloaded only if the host needs them.
    const bool comes_down = wanted.on_host && frame.captured.filled_on_gpu();
    if (executor.backend() != Backend::cuda || (!wanted.by_stages && !comes_down)) return;
    executor.step("upload", [&] { frame.captured.upload(); });
    if (comes_down) executor.step("download", [&] { frame.captured.download(); });
}

void take_result(const FramePlan& plan, InputFrame& frame, const Executor& executor, Wanted wanted) {
    const bool has_planes = plan.result().planes().has_value();
    if (executor.backend() == Backend::cpu) {
        if (has_planes) frame.planes = frame.work.download();
    } else if (has_planes || wanted.on_host) {
        executor.step("download", [&] {
            has_planes ? static_cast<void>(frame.planes = frame.work.download()) : frame.filtered.download();
        });
    }
}

namespace {

// Divisor for brightness that keeps white text readable on a white frame.
constexpr int darkening = 3;

void fill_black(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y)
        std::memset(image.row(0, y), 0, static_cast<std::size_t>(std::int64_t{1} * shape.width * shape.channels));
}

void write_words(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    HostImage below(shape);
    fill_black(below.view());
    Executor executor(BackendChoice::cpu, 1);
    // The text is about two thirds as wide as the frame.
    TextParameters words{.text = "no signal", .x = 0, .y = 0};
    words.size_px = std::clamp(std::min(shape.width / 8, shape.height / 2), 4, 512);
    const auto covered = Text(words, shape, executor).layout().place().covered;
    words.x = (shape.width - covered.x_end) / 2;
    words.y = (shape.height - covered.y_end) / 2;
    Text(words, shape, executor).run({std::as_const(below).view(), {}, image});
}

}  // namespace

bool NoSignal::take_drawn() { return std::exchange(drawn_, false); }

void NoSignal::draw(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    if (words_.shape() != shape) {
        words_ = HostImage(shape);
        fill_black(words_.view());
        try {
            write_words(words_.view());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::config) throw;
            log_warning("cannot draw the text 'no signal': {}", error.what());
        }
    }
    const auto words = std::as_const(words_).view();
    for (int y = 0; y < shape.height; ++y)
        std::transform(image.row(0, y), image.row(0, y) + std::int64_t{1} * shape.width * shape.channels,
                       words.row(0, y), image.row(0, y), [](std::uint8_t picture, std::uint8_t word) {
                           return std::max(static_cast<std::uint8_t>(picture / darkening), word);
                       });
    drawn_ = true;
}

namespace {

// Parses InputOptions::matrix; empty if it is not set.
std::optional<YuvMatrix> asked_matrix(const std::string& name) {
    static constexpr NamedValue<YuvMatrix> matrices[] = {
        {"bt601", YuvMatrix::bt601}, {"bt709", YuvMatrix::bt709}, {"bt2020", YuvMatrix::bt2020}};
    if (name.empty()) return std::nullopt;
    if (const auto* matrix = value_named(matrices, name)) return *matrix;
    fail(ErrorCode::usage, "unknown matrix '{}'; allowed: bt601, bt709 and bt2020", name);
}

// Parses InputOptions::range; true for full range, empty if it is not set.
std::optional<bool> asked_range(const std::string& name) {
    if (name.empty()) return std::nullopt;
    if (name != "limited" && name != "full")
        fail(ErrorCode::usage, "unknown range '{}'; allowed: limited and full", name);
    return name == "full";
}

// Returns where the job runs.
Processor processor_of(const JobOptions& job) { return job.gpu ? job.gpu->processor() : Processor{job.backend}; }

// Without a GPU for filters, `auto` needs none for decoding.
DecodeChoice decode_choice(const InputOptions& input, const JobOptions& job) {
    if (input.decode != DecodeChoice::automatic) return input.decode;
    const bool on_gpu = processor_of(job).backend != BackendChoice::cpu && cuda::why_no_device().empty();
    return on_gpu ? DecodeChoice::automatic : DecodeChoice::cpu;
}

// Converts the options of a job into those of a source.
SourceOptions source_options(const InputOptions& input, const JobOptions& job, std::stop_token stop) {
    SourceOptions options{.stop = std::move(stop),
                          .reconnect = input.reconnect,
                          // A source that is trimmed or looped keeps its first frame size.
                          .follows_size = input.follows_size && !input.loop && !input.duration_seconds,
                          .rate = asked_rate(input.fps),
                          .loop = input.loop,
                          .start_seconds = input.start_seconds,
                          .duration_seconds = input.duration_seconds,
                          .seekable = input.seekable || input.segment,
                          .one_size = input.one_size,
                          .decode = decode_choice(input, job),
                          .sound = input.sound,
                          .gpu = processor_of(job).gpu,
                          .decoder_threads = input.decoder_threads,
                          .matrix = asked_matrix(input.matrix),
                          .full_range = asked_range(input.range),
                          .every_frame = !input.may_skip,
                          .replace_truth = job.replace};
    if (input.max_pixels) options.max_pixels = *input.max_pixels;
    if (input.shows_loss) {
        options.retry_pause = first_retry_pause;
        options.longest_retry_pause = framewire::longest_retry_pause;
    }
    return options;
}

}  // namespace

Executor make_executor(const JobOptions& job) {
    const auto [backend, gpu] = processor_of(job);
    return Executor(backend, job.threads, gpu);
}

OpenedSource::OpenedSource(const InputOptions& input, const JobOptions& job, const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { this->stop(); });
    auto options = source_options(input, job, stop_.get_token());
    options.decode_monitor = decode_monitor_;
    if (input.sound) input.sound->restart();
    if (input.shows_loss) options.draw_loss = no_signal_.drawing();
    if (const auto stream = relayed_stream(input.source))
        source_ = open_source([stream = *stream, access = input.access](
                                  const SourceOptions& each) { return open_stream_source(stream, access, each); },
                              options);
    else
        source_ = open_source(input.source, options);
    may_use_gpu_ =
        options.decode == DecodeChoice::cuda || (options.decode == DecodeChoice::automatic && source_->info().live);
}

std::string public_name(const std::string& source) {
    constexpr std::string_view hidden_user = "***@";
    auto name = address_without_credentials(source);
    const auto scheme = name.find("://");
    if (scheme == std::string::npos) return name.substr(name.find_last_of('/') + 1);
    name.erase(std::min(name.find('?'), name.size()));
    const auto host = scheme + 3;
    if (name.compare(host, hidden_user.size(), hidden_user) == 0) name.erase(host, hidden_user.size());
    return name;
}

namespace {

// same default as for `view`
constexpr std::chrono::seconds default_reconnect{10};

net::ClientOptions client_options(const StreamAccess& access, const SourceOptions& options) {
    net::ClientOptions client;
    client.reconnect = options.reconnect.value_or(default_reconnect);
    client.token = access.token;
    client.fingerprint = access.fingerprint;
    client.max_pixels = options.max_pixels;
    return client;
}

// Adapts a viewer's connection to the interface of sources.
class StreamSource final : public Source {
public:
    StreamSource(const net::StreamAddress& address, const StreamAccess& access, const SourceOptions& options)
        : client_(address, client_options(access, options), options.stop), time_(client_.info().rate) {
        info_.name = to_string(address);
        info_.shape = client_.info().shape;
        info_.rate = client_.info().rate;
        info_.threshold = client_.info().threshold;
        info_.live = true;
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        while (client_.next()) {
            const auto& state = client_.state();
            // a refinement belongs to the same frame
            if (last_ && net::same_frame(state, *last_)) continue;
            last_ = state;
            copy(client_.picture(), image);
            time = time_.next(state.seconds);
            time.captured = client_.captured().value_or(Clock::now());
            return true;
        }
        return false;
    }

private:
    net::Client client_;
    SourceInfo info_;
    RecordingTime time_;
    std::optional<net::StateHeader> last_;
};

}  // namespace

std::unique_ptr<Source> open_stream_source(const net::StreamAddress& address, const StreamAccess& access,
                                           const SourceOptions& options) {
    return std::make_unique<StreamSource>(address, access, options);
}

namespace {

// Frame times are sums of fractions, so times that differ by less than this are equal.
constexpr double same_time_s = 1e-6;

// Returns the time at which a frame is written, before filters change the rate.
double time_of(const InputOptions& input, std::int64_t frame, double seconds) {
    return input.fps > 0 ? static_cast<double>(frame) / input.fps : seconds;
}

// Returns the number that a frame with this time has at the new rate.
std::int64_t number_at(Rational rate, double seconds) {
    FpsSchedule schedule(rate);
    schedule.begin(seconds);
    return schedule.next();
}

}  // namespace

SegmentPosition::SegmentPosition(const InputOptions& input, std::string name)
    : segment_(input.segment.value()), name_(std::move(name)) {
    const auto rate = split_at_rate(parse_chain(input.filters)).rate;
    if (!rate) return;
    rated_begin_ = number_at(*rate, time_of(input, segment_.begin_frame, segment_.begin_seconds));
    if (segment_.end_seconds)
        rated_end_ = number_at(*rate, time_of(input, segment_.begin_frame + segment_.frames, *segment_.end_seconds));
}

void SegmentPosition::begin(std::int64_t damaged) {
    next_ = segment_.lead_frame;
    damaged_ = damaged;
}

SegmentPosition::Is SegmentPosition::take(FrameTime& time, std::int64_t damaged) {
    time.index = next_++;
    const double seconds = time.seconds + same_time_s;
    if (seconds < segment_.begin_seconds) return Is::before;
    const bool is_behind = segment_.end_seconds && seconds >= *segment_.end_seconds;
    if (time.index <= segment_.begin_frame || is_behind)
        require(time.index - (is_behind ? segment_.begin_frame + segment_.frames : segment_.begin_frame));
    if (!is_behind) return Is::within;
    if (damaged > damaged_)
        fail(ErrorCode::source_lost, "{}: {} packets or frames are damaged between {:.2f} s and {:.2f} s", name_,
             damaged - damaged_, segment_.begin_seconds, *segment_.end_seconds);
    return Is::behind;
}

void SegmentPosition::end() { require(next_ - segment_.begin_frame - segment_.frames); }

void SegmentPosition::require(std::int64_t too_many) const {
    if (too_many != 0)
        fail(ErrorCode::config,
             "{}: cannot be split, because its packets declare {} {} frames than it has near {:.2f} s", name_,
             too_many > 0 ? too_many : -too_many, too_many > 0 ? "fewer" : "more", segment_.begin_seconds);
}

SegmentPosition::Is SegmentPosition::at_rate(std::int64_t number) const {
    return number < rated_begin_ ? Is::before : number < rated_end_ ? Is::within : Is::behind;
}

double whole_seconds_before(const InputOptions& input) {
    const auto& segment = input.segment.value();
    const double seconds = time_of(input, segment.begin_frame, segment.begin_seconds);
    const auto rate = split_at_rate(parse_chain(input.filters)).rate;
    return std::floor(rate ? static_cast<double>(number_at(*rate, seconds)) / rate->value() : seconds);
}

FrameResampler::FrameResampler(const Shape& shape, Rational own, Rational wanted, bool everything, Read read)
    : schedule_(wanted),
      own_rate_(own),
      everything_(everything),
      read_(std::move(read)),
      current_{HostImage(shape)},
      next_{HostImage(shape)} {}

void FrameResampler::begin_again() {
    began_ = false;
    has_next_ = false;
    left_ = 0;
    given_ = true;
    failure_ = nullptr;
}

bool FrameResampler::read_next() {
    try {
        has_next_ = !failure_ && read_(next_);
    } catch (...) {
        failure_ = std::current_exception();
        has_next_ = false;
    }
    return has_next_;
}

// Makes the source's next frame the current one. Its duration follows from the time of the frame after it.
bool FrameResampler::go_on() {
    if (!std::exchange(began_, true)) {
        if (!read_next()) return false;
        schedule_.begin(next_.time.seconds);
    }
    if (!has_next_) return false;
    std::swap(current_, next_);
    ++reading_;
    given_ = false;
    const double end_s = current_.time.seconds + std::max(current_.time.duration_seconds, 1 / own_rate_.value());
    left_ = schedule_.count_until(read_next() ? next_.time.seconds : end_s);
    return true;
}

bool FrameResampler::capture(HostView<std::uint8_t> image, FrameTime& time, Given& given) {
    while (!began_ || (left_ == 0 && (given_ || !everything_)))
        if (!go_on()) {
            if (failure_) std::rethrow_exception(failure_);
            return false;
        }
    given = {reading_, left_ > 0, current_.signal, current_.own};
    given_ = true;
    if (!current_.own) copy(std::as_const(current_.image).view(), image);
    time = {schedule_.next(), schedule_.seconds_of(schedule_.next()), current_.time.captured};
    if (left_ == 0) return true;
    --left_;
    schedule_.give();
    return true;
}

PlayRate take_rate(const std::string& text, std::string_view allowed, InputOptions& options) {
    if (text == "auto" && allowed.starts_with(text)) return PlayRate::by_output;
    if (text == "own") return PlayRate::own;
    if (text == "max" && allowed.find(text) != allowed.npos) return PlayRate::max;
    auto& fps = options.fps;
    if (read_number(text, fps) != std::errc{} || !(fps >= 0.01 && fps <= 10'000))
        fail(ErrorCode::usage, "--rate '{}' is not allowed; allowed: {} and 0.01 to 10000 frames per second", text,
             allowed);
    return PlayRate::by_output;
}

}  // namespace framewire::jobs
