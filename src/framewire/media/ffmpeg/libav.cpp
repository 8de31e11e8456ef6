#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/core/dynamic_library.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"

// Uses FFmpeg's log as a source of information. The log reports damage that FFmpeg's API does not, and the reason
// behind an error number. Lines are attributed to the thread that logs them, and damage to the decoder that logs it.

extern "C" {
#include <libavdevice/avdevice.h>
#include <libavutil/log.h>
}

#include <algorithm>
#include <array>
#include <cstdarg>
#include <mutex>
#include <string_view>
#include <utility>

namespace framewire {
namespace {

// Error messages of this thread since they were last taken.
struct Complaints {
    std::string first, last;
};
Complaints& complaints() {
    thread_local Complaints of_thread;
    return of_thread;
}

// Beginnings of log lines that report damage. The log is the only reliable report: with frame threads, the output
// picture is a copy made before its flags were set, and the HEVC decoder sets no flags. The HEVC decoder's other errors
// concern headers, and some of them occur in intact files.
constexpr std::array<std::string_view, 7> words_of_damage{
    "concealing ",  // "concealing 99 DC, 99 AC, 99 MV errors in P frame": H.264, MPEG-4 and similar codecs
    "The cu_qp_delta ",
    "The cu_chroma_qp_offset ",
    "CABAC_MAX_BIN ",
    "Could not find ref with POC ",
    "Error constructing the frame RPS",
    "Duplicate POC in a sequence"};

// Beginnings of log lines of the H.264 decoder that report missing references, which it does not count as damage.
constexpr std::array<std::string_view, 4> words_of_gaps{"Frame num gap ", "Missing reference picture",
                                                        "reference picture missing during reorder",
                                                        "number of reference frames "};

// Raises the alarm of the decoder that logs, if the message reports damage. Only codec contexts have an alarm in
// `opaque`.
void watch_damage(void* context, std::string_view format) {
    if (!context || *static_cast<const AVClass* const*>(context) != avcodec_get_class()) return;
    auto* alarm = static_cast<DamageAlarm*>(static_cast<AVCodecContext*>(context)->opaque);
    const auto begins = [&](std::string_view words) { return format.starts_with(words); };
    if (!alarm) return;
    if (std::ranges::any_of(words_of_damage, begins) || (alarm->on_gpu() && std::ranges::any_of(words_of_gaps, begins)))
        alarm->raise();
}

// FFmpeg's log callback; called on any of its threads.
void log_line(void* context, int level, const char* format, std::va_list arguments) {
    watch_damage(context, format);
    if (level > AV_LOG_VERBOSE) return;
    if (level > AV_LOG_WARNING && !is_logged(LogLevel::trace)) return;
    // Format the whole line: in a truncated URL, a password without the '@' after it would not be recognized and
    // hidden.
    std::va_list again;
    va_copy(again, arguments);
    std::string line(512, '\0');
    int print_prefix = 1;
    const int bytes = av_log_format_line2(context, level, format, arguments, line.data(), 512, &print_prefix);
    if (bytes >= 512) {
        line.resize(static_cast<std::size_t>(bytes) + 1);
        print_prefix = 1;
        av_log_format_line2(context, level, format, again, line.data(), bytes + 1, &print_prefix);
    }
    va_end(again);
    auto text = without_credentials(line.c_str());
    // The message continues with the whitelist, which has three thousand characters.
    constexpr std::string_view not_allowed = "not on whitelist";
    if (const auto at = text.find(not_allowed); at != std::string::npos) text.resize(at + not_allowed.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (text.empty()) return;
    log_at(level <= AV_LOG_WARNING ? LogLevel::debug : LogLevel::trace, "FFmpeg: {}", text);
    if (level <= AV_LOG_ERROR) {
        // Remove a prefix like "[mov,mp4,m4a,3gp,3g2,mj2 @ 0x55d0c8] ", which means nothing to a user.
        const auto prefix = text.find("] ");
        auto& [first, last] = complaints();
        last = text.front() == '[' && prefix != std::string::npos ? text.substr(prefix + 2) : text;
        if (first.empty()) first = last;
    }
}

}  // namespace

std::string take_complaint() { return std::exchange(complaints(), {}).last; }
std::string take_first_complaint() { return std::exchange(complaints(), {}).first; }

std::string ffmpeg_error(int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {};
    av_strerror(error, text, sizeof text);
    const auto complaint = take_complaint();
    return complaint.empty() ? std::string(text) : fmt::format("{} ({})", text, complaint);
}

void initialise_ffmpeg() {
    static std::once_flag once;
    std::call_once(once, [] {
        av_log_set_callback(log_line);
        avformat_network_init();
    });
}

void register_ffmpeg_devices() {
    static std::once_flag once;
    std::call_once(once, [] {
        const DynamicLibrary library("libavdevice.so." AV_STRINGIFY(LIBAVDEVICE_VERSION_MAJOR));
        library.function<decltype(avdevice_register_all)>("avdevice_register_all")();
    });
}

}  // namespace framewire

// FFmpeg's filters, used only to compute palettes for GIF. libavfilter is loaded at run time, because no other format
// needs it.

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace framewire {
namespace {

// Functions of libavfilter, under their own names.
struct FilterFunctions {
    const DynamicLibrary library{"libavfilter.so." AV_STRINGIFY(LIBAVFILTER_VERSION_MAJOR)};
#define FRAMEWIRE_FUNCTION(name) decltype(&::name) name = library.function<decltype(::name)>(#name)
    FRAMEWIRE_FUNCTION(avfilter_graph_alloc);
    FRAMEWIRE_FUNCTION(avfilter_graph_config);
    FRAMEWIRE_FUNCTION(avfilter_graph_free);
    FRAMEWIRE_FUNCTION(avfilter_graph_get_filter);
    FRAMEWIRE_FUNCTION(avfilter_graph_parse2);
    FRAMEWIRE_FUNCTION(avfilter_inout_free);
    FRAMEWIRE_FUNCTION(av_buffersink_get_frame);
    FRAMEWIRE_FUNCTION(av_buffersrc_add_frame_flags);
#undef FRAMEWIRE_FUNCTION
};

// Loads libavfilter on first use.
const FilterFunctions& filters() {
    static const FilterFunctions functions;
    return functions;
}

}  // namespace

FilterGraph::FilterGraph(const std::string& description, int threads) {
    graph_ = filters().avfilter_graph_alloc();
    if (graph_) graph_->nb_threads = threads;
    AVFilterInOut *inputs = nullptr, *outputs = nullptr;
    int error =
        graph_ ? filters().avfilter_graph_parse2(graph_, description.c_str(), &inputs, &outputs) : AVERROR(ENOMEM);
    if (error >= 0) error = filters().avfilter_graph_config(graph_, nullptr);
    filters().avfilter_inout_free(&inputs);
    filters().avfilter_inout_free(&outputs);
    if (error >= 0) {
        in_ = filters().avfilter_graph_get_filter(graph_, "buffer@in");
        out_ = filters().avfilter_graph_get_filter(graph_, "buffersink@out");
    }
    if (in_ && out_) return;
    filters().avfilter_graph_free(&graph_);
    fail(ErrorCode::config, "FFmpeg cannot create the filters '{}': {}", description, ffmpeg_error(error));
}

FilterGraph::~FilterGraph() { filters().avfilter_graph_free(&graph_); }

const AVFrame& FilterGraph::run(AVFrame& picture) {
    av_frame_unref(result_.get());
    int error =
        filters().av_buffersrc_add_frame_flags(in_, &picture, AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
    if (error >= 0) error = filters().av_buffersink_get_frame(out_, result_.get());
    if (error < 0) fail(ErrorCode::io, "FFmpeg's filters failed on a frame: {}", ffmpeg_error(error));
    return *result_;
}

}  // namespace framewire
