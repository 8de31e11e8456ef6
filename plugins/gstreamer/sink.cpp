// framewiresink: any output that framewire writes.
#include "gstreamer/elements.hpp"
#include "gstreamer/video.hpp"
#include "handles.hpp"

#include <gst/base/gstbasesink.h>

#include <mutex>
#include <string>

using namespace framewire::plugins;

namespace {

GST_DEBUG_CATEGORY_STATIC(debug_category);
#define GST_CAT_DEFAULT debug_category

struct State {
    std::mutex mutex;  // guards the next block
    std::string location;
    bool replace = false;

    // Used by the streaming thread alone.
    SinkHandle sink;
    bool has_failed = false;  // to open; GStreamer tries again
    GstVideoInfo video;
    FrameImage image;
    gint64 frames = 0;
};

}  // namespace

struct FramewireSink {
    GstBaseSink parent;
    State* state;
};
struct FramewireSinkClass {
    GstBaseSinkClass parent;
};
G_DEFINE_TYPE_WITH_CODE(FramewireSink, framewire_sink, GST_TYPE_BASE_SINK,
                        GST_DEBUG_CATEGORY_INIT(debug_category, "framewiresink", 0, "framewire's outputs"))
GST_ELEMENT_REGISTER_DEFINE(framewiresink, "framewiresink", GST_RANK_NONE, framewire_sink_get_type())

namespace {

enum Property : guint { property_location = 1, property_replace };

FramewireSink* self_of(gpointer object) { return reinterpret_cast<FramewireSink*>(object); }

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    auto& state = *self_of(object)->state;
    const std::lock_guard lock(state.mutex);
    switch (id) {
        case property_location: state.location = g_value_get_string(value) ? g_value_get_string(value) : ""; break;
        case property_replace: state.replace = g_value_get_boolean(value); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
    auto& state = *self_of(object)->state;
    const std::lock_guard lock(state.mutex);
    switch (id) {
        case property_location: g_value_set_string(value, state.location.c_str()); break;
        case property_replace: g_value_set_boolean(value, state.replace); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void finalize(GObject* object) {
    delete self_of(object)->state;
    G_OBJECT_CLASS(framewire_sink_parent_class)->finalize(object);
}

gboolean start(GstBaseSink* base) {
    auto& state = *self_of(base)->state;
    const std::lock_guard lock(state.mutex);
    state.frames = 0;
    state.has_failed = false;
    if (!state.location.empty()) return TRUE;
    GST_ELEMENT_ERROR(base, RESOURCE, NOT_FOUND, ("the property location is empty; set it to a file or an address"),
                      (nullptr));
    return FALSE;
}

// The output is opened when the format of the frames is known, and has this format until its end.
gboolean set_caps(GstBaseSink* base, GstCaps* caps) {
    auto& state = *self_of(base)->state;
    if (state.has_failed) return FALSE;
    state.has_failed = true;
    GstVideoInfo video;
    std::string problem;
    const auto image = gst_video_info_from_caps(&video, caps) ? image_of(video, problem) : std::nullopt;
    if (!image) {
        GST_ELEMENT_ERROR(base, STREAM, FORMAT, ("%s", problem.empty() ? "wrong caps" : problem.c_str()), (nullptr));
        return FALSE;
    }
    if (state.sink) {
        // The rate is nominal: frames have times.
        GST_VIDEO_INFO_FPS_N(&video) = GST_VIDEO_INFO_FPS_N(&state.video);
        GST_VIDEO_INFO_FPS_D(&video) = GST_VIDEO_INFO_FPS_D(&state.video);
        state.has_failed = !gst_video_info_is_equal(&video, &state.video);
        if (!state.has_failed) return TRUE;
        GST_ELEMENT_ERROR(base, STREAM, FORMAT, ("the format of the frames changed; an output has one format"),
                          (nullptr));
        return FALSE;
    }
    const bool has_rate = GST_VIDEO_INFO_FPS_N(&video) > 0 && GST_VIDEO_INFO_FPS_D(&video) > 0;
    fw_sink_options options{};
    options.size = sizeof options;
    std::string location;
    {
        const std::lock_guard lock(state.mutex);
        location = state.location;
        options.replace = state.replace;
    }
    fw_sink* sink = nullptr;
    if (fw_sink_open(&sink, location.c_str(), &*image, has_rate ? GST_VIDEO_INFO_FPS_N(&video) : 30,
                     has_rate ? GST_VIDEO_INFO_FPS_D(&video) : 1, &options)) {
        GST_ELEMENT_ERROR(base, RESOURCE, OPEN_WRITE, ("%s", fw_last_error()), (nullptr));
        return FALSE;
    }
    state.has_failed = false;
    state.sink.reset(sink);
    state.video = video;
    state.image = FrameImage(*video_format(GST_VIDEO_INFO_FORMAT(&video)), *image);
    return TRUE;
}

GstFlowReturn render(GstBaseSink* base, GstBuffer* buffer) {
    auto& state = *self_of(base)->state;
    MappedFrame frame(state.video, buffer, GST_MAP_READ);
    if (!frame) {
        GST_ELEMENT_ERROR(base, RESOURCE, READ, ("the memory of a frame cannot be mapped"), (nullptr));
        return GST_FLOW_ERROR;
    }
    fw_time time{};
    time.size = sizeof time;
    time.index = state.frames++;
    const auto running = gst_segment_to_running_time(&base->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    time.seconds = static_cast<double>(running) / GST_SECOND;
    if (GST_BUFFER_DURATION_IS_VALID(buffer))
        time.duration = static_cast<double>(GST_BUFFER_DURATION(buffer)) / GST_SECOND;
    if (fw_sink_write(state.sink.get(), &state.image.read(*frame),
                      GST_CLOCK_TIME_IS_VALID(running) ? &time : nullptr)) {
        GST_ELEMENT_ERROR(base, RESOURCE, WRITE, ("%s", fw_last_error()), (nullptr));
        return GST_FLOW_ERROR;
    }
    return GST_FLOW_OK;
}

// At the end of the stream, the output is completed and gets its name.
gboolean event(GstBaseSink* base, GstEvent* happened) {
    auto& state = *self_of(base)->state;
    if (GST_EVENT_TYPE(happened) == GST_EVENT_EOS && state.sink && fw_sink_finish(state.sink.get())) {
        GST_ELEMENT_ERROR(base, RESOURCE, WRITE, ("%s", fw_last_error()), (nullptr));
        gst_event_unref(happened);
        return FALSE;
    }
    return GST_BASE_SINK_CLASS(framewire_sink_parent_class)->event(base, happened);
}

gboolean stop(GstBaseSink* base) {
    auto& state = *self_of(base)->state;
    state.sink.reset();
    state.image = {};
    return TRUE;
}

}  // namespace

static void framewire_sink_init(FramewireSink* self) {
    self->state = new State;
    gst_video_info_init(&self->state->video);
    gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}

static void framewire_sink_class_init(FramewireSinkClass* type) {
    auto* object = G_OBJECT_CLASS(type);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(
        object, property_location,
        g_param_spec_string("location", "Location",
                            "What framewire writes, such as out.mp4, out.mkv:codec=ffv1, day.fwd or an address", "",
                            changed_when_ready));
    g_object_class_install_property(
        object, property_replace,
        g_param_spec_boolean("replace", "Replace", "Replace an existing file", FALSE, changed_when_ready));

    auto* element = GST_ELEMENT_CLASS(type);
    gst_element_class_set_static_metadata(element, "framewire output", "Sink/Video", "Writes files and addresses",
                                          "the framewire authors");
    add_pad_template(element, GST_PAD_SINK, [](const VideoFormat&) { return true; });

    auto* base = GST_BASE_SINK_CLASS(type);
    base->start = start;
    base->set_caps = set_caps;
    base->render = render;
    base->event = event;
    base->stop = stop;
}
