// framewiresrc: any source that framewire reads.
#include "gstreamer/elements.hpp"
#include "gstreamer/video.hpp"
#include "handles.hpp"

#include <gst/base/gstpushsrc.h>
#include <gst/video/gstvideopool.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

using namespace framewire::plugins;

namespace {

GST_DEBUG_CATEGORY_STATIC(debug_category);
#define GST_CAT_DEFAULT debug_category

// The stream of a framewire server, or any other source.
struct Input {
    SourceHandle source;
    ViewerHandle viewer;

    bool is_open() const { return source || viewer; }
    // Ends the current read, on any thread. Nothing can be read afterwards.
    void stop() const {
        if (source) fw_source_stop(source.get());
        if (viewer) fw_viewer_stop(viewer.get());
    }
    fw_status info(fw_image& image, fw_info& info) const {
        return viewer ? fw_viewer_info(viewer.get(), &image, &info) : fw_source_info(source.get(), &image, &info);
    }
    // A viewer's frame may come several times, refined.
    fw_status read(const fw_image& image, fw_time& time) const {
        if (!viewer) return fw_source_read(source.get(), &image, &time, nullptr);
        fw_view view{};
        view.size = sizeof view;
        const auto status = fw_viewer_next(viewer.get(), &image, &view);
        time.index = view.index;
        time.seconds = view.seconds;
        return status;
    }
};

// Addresses with a query are read by FFmpeg.
bool is_stream(const std::string& uri) {
    if (uri.find('?') != uri.npos) return false;
    for (const auto* scheme : {"tcp://", "tls://", "ws://", "wss://"})
        if (uri.starts_with(scheme)) return true;
    return false;
}

struct Settings {
    std::string uri;
    bool native = true;
    double timeout_seconds = 10;
    std::string token, fingerprint;
};

// Properties of an input.
struct Facts {
    fw_image image{};
    fw_info info{};
    GstVideoInfo video{};
    bool can_seek = false;

    // Returns the time that a frame is shown, if there is a rate.
    GstClockTime frame_duration() const {
        if (info.rate_numerator <= 0) return GST_CLOCK_TIME_NONE;
        return gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(info.rate_denominator),
                                     static_cast<guint64>(info.rate_numerator));
    }
};

struct State {
    std::mutex mutex;  // guards the next block
    Settings settings;
    // Replaced when nothing is read, by the thread that reads, which therefore uses them without the mutex.
    Input input;
    Facts facts;
    bool is_stopped = false;

    bool has_read = false;  // used by the streaming thread alone
};

}  // namespace

struct FramewireSrc {
    GstPushSrc parent;
    State* state;
};
struct FramewireSrcClass {
    GstPushSrcClass parent;
};
G_DEFINE_TYPE_WITH_CODE(FramewireSrc, framewire_src, GST_TYPE_PUSH_SRC,
                        GST_DEBUG_CATEGORY_INIT(debug_category, "framewiresrc", 0, "framewire's sources"))
GST_ELEMENT_REGISTER_DEFINE(framewiresrc, "framewiresrc", GST_RANK_NONE, framewire_src_get_type())

namespace {

enum Property : guint { property_uri = 1, property_native, property_timeout, property_token, property_fingerprint };

FramewireSrc* self_of(gpointer object) { return reinterpret_cast<FramewireSrc*>(object); }

std::string text_of(const GValue* value) {
    const auto* text = g_value_get_string(value);
    return text ? text : "";
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    auto& state = *self_of(object)->state;
    const std::lock_guard lock(state.mutex);
    auto& settings = state.settings;
    switch (id) {
        case property_uri: settings.uri = text_of(value); break;
        case property_native: settings.native = g_value_get_boolean(value); break;
        case property_timeout: settings.timeout_seconds = g_value_get_double(value); break;
        case property_token: settings.token = text_of(value); break;
        case property_fingerprint: settings.fingerprint = text_of(value); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
    auto& state = *self_of(object)->state;
    const std::lock_guard lock(state.mutex);
    const auto& settings = state.settings;
    switch (id) {
        case property_uri: g_value_set_string(value, settings.uri.c_str()); break;
        case property_native: g_value_set_boolean(value, settings.native); break;
        case property_timeout: g_value_set_double(value, settings.timeout_seconds); break;
        case property_token: g_value_set_string(value, settings.token.c_str()); break;
        case property_fingerprint: g_value_set_string(value, settings.fingerprint.c_str()); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void finalize(GObject* object) {
    delete self_of(object)->state;
    G_OBJECT_CLASS(framewire_src_parent_class)->finalize(object);
}

fw_status open_stream(const Settings& settings, Input& input) {
    fw_viewer_options options{};
    options.size = sizeof options;
    options.timeout_seconds = settings.timeout_seconds;
    const auto* token = settings.token.empty() ? std::getenv("FRAMEWIRE_TOKEN") : settings.token.c_str();
    if (token && *token) options.token = token;
    if (!settings.fingerprint.empty()) options.fingerprint = settings.fingerprint.c_str();
    fw_viewer* viewer = nullptr;
    const auto status = fw_viewer_connect(&viewer, settings.uri.c_str(), &options);
    input.viewer.reset(viewer);
    return status;
}

fw_status open_source(const Settings& settings, Input& input) {
    fw_source_options options{};
    options.size = sizeof options;
    options.native = settings.native;
    options.timeout_seconds = settings.timeout_seconds;
    fw_source* source = nullptr;
    const auto status = fw_source_open(&source, settings.uri.c_str(), &options);
    input.source.reset(source);
    return status;
}

// Opens the input. Posts an error and returns false if that fails.
bool open(FramewireSrc* self) {
    auto& state = *self->state;
    Settings settings;
    {
        const std::lock_guard lock(state.mutex);
        settings = state.settings;
    }
    if (settings.uri.empty()) {
        GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                          ("the property uri is empty; set it to a file, a camera, an address or synth"), (nullptr));
        return false;
    }
    Input input;
    if (const auto status = is_stream(settings.uri) ? open_stream(settings, input) : open_source(settings, input)) {
        if (status == FW_ERROR_NO_INPUT)
            GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", fw_last_error()), (nullptr));
        else
            GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", fw_last_error()), (nullptr));
        return false;
    }
    Facts facts;
    facts.image.size = sizeof facts.image;
    facts.info.size = sizeof facts.info;
    gst_video_info_init(&facts.video);
    if (input.info(facts.image, facts.info) || !info_of(facts.image, facts.video)) {
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("GStreamer has no name for the format of %s", settings.uri.c_str()),
                          (nullptr));
        return false;
    }
    GST_VIDEO_INFO_FPS_N(&facts.video) = static_cast<gint>(facts.info.rate_numerator);
    GST_VIDEO_INFO_FPS_D(&facts.video) = static_cast<gint>(facts.info.rate_denominator);
    facts.can_seek = input.source && !facts.info.live && fw_source_seek(input.source.get(), 0) == FW_OK;
    state.has_read = false;
    const std::lock_guard lock(state.mutex);
    state.input = std::move(input);
    state.facts = facts;
    state.is_stopped = false;
    return true;
}

void close(State& state) {
    const std::lock_guard lock(state.mutex);
    state.input = {};
}

Facts facts_of(State& state) {
    const std::lock_guard lock(state.mutex);
    return state.facts;
}

// Opens a source again that a flush or a pause has stopped.
bool open_if_stopped(FramewireSrc* self) {
    auto& state = *self->state;
    {
        const std::lock_guard lock(state.mutex);
        if (state.input.is_open() && !state.is_stopped) return true;
    }
    const auto before = facts_of(state).video;
    if (!open(self)) return false;
    if (gst_video_info_is_equal(&before, &state.facts.video)) return true;
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("the source has changed its format"), (nullptr));
    return false;
}

// Sources are opened early, because GStreamer has to know which are live before they start.
GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
    auto* self = self_of(element);
    if (change == GST_STATE_CHANGE_NULL_TO_READY) {
        if (!open(self)) return GST_STATE_CHANGE_FAILURE;
        const bool is_live = facts_of(*self->state).info.live;
        gst_base_src_set_live(GST_BASE_SRC(self), is_live);
        gst_base_src_set_do_timestamp(GST_BASE_SRC(self), is_live);
    }
    const auto result = GST_ELEMENT_CLASS(framewire_src_parent_class)->change_state(element, change);
    if (change == GST_STATE_CHANGE_READY_TO_NULL ||
        (change == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
        close(*self->state);
    return result;
}

gboolean start(GstBaseSrc* source) { return open_if_stopped(self_of(source)); }

gboolean unlock(GstBaseSrc* source) {
    auto& state = *self_of(source)->state;
    const std::lock_guard lock(state.mutex);
    state.input.stop();
    state.is_stopped = true;
    return TRUE;
}

GstCaps* get_caps(GstBaseSrc* source, GstCaps* filter) {
    auto& state = *self_of(source)->state;
    bool is_open;
    GstVideoInfo video;
    {
        const std::lock_guard lock(state.mutex);
        is_open = state.input.is_open();
        video = state.facts.video;
    }
    auto* caps = is_open ? gst_video_info_to_caps(&video) : gst_pad_get_pad_template_caps(source->srcpad);
    if (!filter) return caps;
    auto* both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    return both;
}

// Frames are in a pool, so that none is allocated for each.
gboolean decide_allocation(GstBaseSrc* source, GstQuery* query) {
    const auto video = facts_of(*self_of(source)->state).video;
    GstBufferPool* pool = nullptr;
    guint size = 0, least = 0, most = 0;
    const bool has_pool = gst_query_get_n_allocation_pools(query) > 0;
    if (has_pool) gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    size = std::max(size, static_cast<guint>(GST_VIDEO_INFO_SIZE(&video)));
    least = std::max(least, 2u);
    if (most > 0) most = std::max(most, least);
    if (!pool) pool = gst_video_buffer_pool_new();
    auto* settings = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(settings, caps, size, least, most);
    if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
        gst_buffer_pool_config_add_option(settings, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, settings);
    if (has_pool)
        gst_query_set_nth_allocation_pool(query, 0, pool, size, least, most);
    else
        gst_query_add_allocation_pool(query, pool, size, least, most);
    gst_object_unref(pool);
    return GST_BASE_SRC_CLASS(framewire_src_parent_class)->decide_allocation(source, query);
}

GstClockTime clock_time(double seconds) { return static_cast<GstClockTime>(std::llround(seconds * GST_SECOND)); }

GstFlowReturn fill(GstPushSrc* source, GstBuffer* buffer) {
    auto* self = self_of(source);
    auto& state = *self->state;
    if (!open_if_stopped(self)) return GST_FLOW_ERROR;
    fw_time time{};
    time.size = sizeof time;
    fw_status status;
    {
        MappedFrame frame(state.facts.video, buffer, GST_MAP_WRITE);
        if (!frame) {
            GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("the memory of a frame cannot be mapped"), (nullptr));
            return GST_FLOW_ERROR;
        }
        auto image = state.facts.image;
        for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&*frame); ++plane) {
            image.data[plane] = GST_VIDEO_FRAME_PLANE_DATA(&*frame, plane);
            image.stride[plane] = GST_VIDEO_FRAME_PLANE_STRIDE(&*frame, plane);
        }
        status = state.input.read(image, time);
    }
    if (status) {
        const std::lock_guard lock(state.mutex);
        if (state.is_stopped) return GST_FLOW_FLUSHING;
    }
    if (status == FW_END) return GST_FLOW_EOS;
    if (status) {
        GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", fw_last_error()), (nullptr));
        return GST_FLOW_ERROR;
    }
    state.has_read = true;
    GST_BUFFER_OFFSET(buffer) = static_cast<guint64>(time.index);
    GST_BUFFER_OFFSET_END(buffer) = static_cast<guint64>(time.index) + 1;
    GST_BUFFER_DURATION(buffer) = time.duration > 0 ? clock_time(time.duration) : state.facts.frame_duration();
    // Live frames get the time of the pipeline's clock.
    if (!state.facts.info.live) GST_BUFFER_PTS(buffer) = clock_time(std::max(time.seconds, 0.0));
    return GST_FLOW_OK;
}

gboolean is_seekable(GstBaseSrc* source) { return facts_of(*self_of(source)->state).can_seek; }

gboolean do_seek(GstBaseSrc* source, GstSegment* segment) {
    auto* self = self_of(source);
    auto& state = *self->state;
    if (segment->rate < 0) return FALSE;  // frames are not read backwards
    if (!open_if_stopped(self)) return FALSE;
    if (segment->position == 0 && !state.has_read) return TRUE;
    if (fw_source_seek(state.input.source.get(), static_cast<double>(segment->position) / GST_SECOND)) {
        GST_WARNING_OBJECT(self, "%s", fw_last_error());
        return FALSE;
    }
    state.has_read = true;
    segment->time = segment->start;
    return TRUE;
}

gboolean query(GstBaseSrc* source, GstQuery* asked) {
    const auto facts = facts_of(*self_of(source)->state);
    const auto duration = facts.frame_duration();
    if (GST_QUERY_TYPE(asked) == GST_QUERY_DURATION && facts.info.frames >= 0 && GST_CLOCK_TIME_IS_VALID(duration)) {
        GstFormat format;
        gst_query_parse_duration(asked, &format, nullptr);
        if (format == GST_FORMAT_TIME) {
            gst_query_set_duration(asked, format,
                                   static_cast<gint64>(gst_util_uint64_scale(
                                       static_cast<guint64>(facts.info.frames),
                                       static_cast<guint64>(facts.info.rate_denominator) * GST_SECOND,
                                       static_cast<guint64>(facts.info.rate_numerator))));
            return TRUE;
        }
    }
    if (GST_QUERY_TYPE(asked) == GST_QUERY_LATENCY && facts.info.live && GST_CLOCK_TIME_IS_VALID(duration)) {
        gst_query_set_latency(asked, TRUE, duration, GST_CLOCK_TIME_NONE);  // a frame is there when it ends
        return TRUE;
    }
    return GST_BASE_SRC_CLASS(framewire_src_parent_class)->query(source, asked);
}

}  // namespace

static void framewire_src_init(FramewireSrc* self) {
    self->state = new State;
    gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void framewire_src_class_init(FramewireSrcClass* type) {
    auto* object = G_OBJECT_CLASS(type);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(
        object, property_uri,
        g_param_spec_string("uri", "URI",
                            "What framewire reads: a file, a folder, a camera, an address, the stream of a framewire "
                            "server as in tcp://HOST:PORT/NAME, or the synthetic camera as in synth:size=640x480",
                            "", changed_when_ready));
    g_object_class_install_property(
        object, property_native,
        g_param_spec_boolean(
            "native", "Native",
            "Frames keep the format in which they are decoded, such as I420; otherwise they are BGR or "
            "GRAY8",
            TRUE, changed_when_ready));
    g_object_class_install_property(
        object, property_timeout,
        g_param_spec_double("timeout", "Timeout", "Longest wait for a camera or the network, in seconds", 0.001, 86400,
                            10, changed_when_ready));
    g_object_class_install_property(
        object, property_token,
        g_param_spec_string("token", "Token",
                            "Access token of a framewire server; if empty, the environment variable FRAMEWIRE_TOKEN",
                            "", changed_when_ready));
    g_object_class_install_property(
        object, property_fingerprint,
        g_param_spec_string("fingerprint", "Fingerprint",
                            "SHA-256 of the certificate of a framewire server, for tls:// and wss://; if empty, it is "
                            "verified by the system's trusted roots",
                            "", changed_when_ready));

    auto* element = GST_ELEMENT_CLASS(type);
    element->change_state = change_state;
    gst_element_class_set_static_metadata(element, "framewire source", "Source/Video",
                                          "Reads files, cameras, addresses and difference streams",
                                          "the framewire authors");
    add_pad_template(element, GST_PAD_SRC, [](const VideoFormat& format) { return !format.is_converted(); });

    auto* base = GST_BASE_SRC_CLASS(type);
    base->start = start;
    base->unlock = unlock;
    base->get_caps = get_caps;
    base->decide_allocation = decide_allocation;
    base->is_seekable = is_seekable;
    base->do_seek = do_seek;
    base->query = query;
    GST_PUSH_SRC_CLASS(type)->fill = fill;
}
