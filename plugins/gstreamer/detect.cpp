// framewiredetect: moving objects as messages and metadata.
#include "gstreamer/elements.hpp"
#include "gstreamer/video.hpp"
#include "handles.hpp"

#include <gst/video/gstvideofilter.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace framewire::plugins;

namespace {

GST_DEBUG_CATEGORY_STATIC(debug_category);
#define GST_CAT_DEFAULT debug_category

struct Settings {
    std::string detector;
    std::optional<std::string> tracker;
    bool draws = false, posts_messages = true;
    fw_settings worker{sizeof(fw_settings), FW_BACKEND_AUTO, 0, 0};
};

// A format whose brightness is detected in where it is.
bool has_luma_plane(const VideoFormat& format) {
    return format.image == FW_I420 || format.image == FW_NV12 || format.image == FW_I422 || format.image == FW_I444;
}

struct Object {
    fw_box box;
    std::int64_t track;  // identity, or 0
};

struct State {
    std::mutex mutex;  // guards the next block
    Settings settings;
    bool is_current = false;        // the detector is that of the settings
    std::optional<fw_image> input;  // what frames are, once they are known
    double rate = 0;

    // Used by the streaming thread alone.
    DetectorHandle detector;
    TrackerHandle tracker;
    FrameImage image;
    std::vector<Object> objects;
    gint64 frames = 0;
};

}  // namespace

struct FramewireDetect {
    GstVideoFilter parent;
    State* state;
};
struct FramewireDetectClass {
    GstVideoFilterClass parent;
};
G_DEFINE_TYPE_WITH_CODE(FramewireDetect, framewire_detect, GST_TYPE_VIDEO_FILTER,
                        GST_DEBUG_CATEGORY_INIT(debug_category, "framewiredetect", 0, "framewire's detector"))
GST_ELEMENT_REGISTER_DEFINE(framewiredetect, "framewiredetect", GST_RANK_NONE, framewire_detect_get_type())

namespace {

enum Property : guint {
    property_settings = 1,
    property_track,
    property_draw,
    property_post_messages,
    property_backend,
    property_device
};

FramewireDetect* self_of(gpointer object) { return reinterpret_cast<FramewireDetect*>(object); }

struct Handles {
    DetectorHandle detector;
    TrackerHandle tracker;
};

// Returns no detector, or no tracker, if a setting is wrong; fw_last_error() says why.
Handles make_handles(const Settings& settings, const fw_image& image, double rate) {
    Handles handles;
    fw_detector* detector = nullptr;
    fw_tracker* tracker = nullptr;
    if (fw_detector_create(&detector, settings.detector.c_str(), &image, rate, &settings.worker)) return handles;
    handles.detector.reset(detector);
    if (settings.tracker) fw_tracker_create(&tracker, settings.tracker->c_str(), image.width, image.height);
    handles.tracker.reset(tracker);
    return handles;
}

bool is_complete(const Handles& handles, const Settings& settings) {
    return handles.detector && (handles.tracker || !settings.tracker);
}

// Returns false if a setting is wrong; fw_last_error() says why.
bool check(Settings settings, const fw_image& image, double rate) {
    settings.worker = {sizeof(fw_settings), FW_BACKEND_CPU, 0, 1};
    return is_complete(make_handles(settings, image, rate), settings);
}

// Stores changed settings, unless frames are known and the settings are wrong for them.
void change(FramewireDetect* self, void (*store)(Settings&, const GValue*), const GValue* value) {
    auto& state = *self->state;
    std::optional<fw_image> input;
    Settings changed;
    double rate;
    {
        const std::lock_guard lock(state.mutex);
        input = state.input;
        changed = state.settings;
        rate = state.rate;
    }
    store(changed, value);
    if (input && !check(changed, *input, rate)) {
        GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", fw_last_error()), ("the settings stay as they were"));
        return;
    }
    const std::lock_guard lock(state.mutex);
    store(state.settings, value);
    state.is_current = false;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    auto* self = self_of(object);
    if (id == property_settings)
        return change(
            self,
            [](Settings& settings, const GValue* text) {
                const auto* given = g_value_get_string(text);
                settings.detector = given ? given : "";
            },
            value);
    if (id == property_track)
        return change(
            self,
            [](Settings& settings, const GValue* text) {
                const auto* given = g_value_get_string(text);
                settings.tracker = given ? std::optional<std::string>(given) : std::nullopt;
            },
            value);
    const std::lock_guard lock(self->state->mutex);
    auto& settings = self->state->settings;
    switch (id) {
        case property_draw: settings.draws = g_value_get_boolean(value); break;
        case property_post_messages: settings.posts_messages = g_value_get_boolean(value); break;
        case property_backend: settings.worker.backend = g_value_get_enum(value); break;
        case property_device: settings.worker.device = g_value_get_int(value); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
    const std::lock_guard lock(self_of(object)->state->mutex);
    const auto& settings = self_of(object)->state->settings;
    switch (id) {
        case property_settings: g_value_set_string(value, settings.detector.c_str()); break;
        case property_track: g_value_set_string(value, settings.tracker ? settings.tracker->c_str() : nullptr); break;
        case property_draw: g_value_set_boolean(value, settings.draws); break;
        case property_post_messages: g_value_set_boolean(value, settings.posts_messages); break;
        case property_backend: g_value_set_enum(value, settings.worker.backend); break;
        case property_device: g_value_set_int(value, settings.worker.device); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void finalize(GObject* object) {
    delete self_of(object)->state;
    G_OBJECT_CLASS(framewire_detect_parent_class)->finalize(object);
}

gboolean set_info(GstVideoFilter* filter, GstCaps*, GstVideoInfo* info, GstCaps*, GstVideoInfo*) {
    auto* self = self_of(filter);
    auto& state = *self->state;
    std::string problem;
    auto input = image_of(*info, problem);
    if (!input) {
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", problem.c_str()), (nullptr));
        return FALSE;
    }
    const auto& format = *video_format(GST_VIDEO_INFO_FORMAT(info));
    if (has_luma_plane(format)) input->format = FW_GRAY;
    state.image = FrameImage(format, *input);
    const std::lock_guard lock(state.mutex);
    state.input = input;
    state.rate = GST_VIDEO_INFO_FPS_N(info) > 0 && GST_VIDEO_INFO_FPS_D(info) > 0
                     ? std::min(1000.0, static_cast<double>(GST_VIDEO_INFO_FPS_N(info)) / GST_VIDEO_INFO_FPS_D(info))
                     : 0;
    state.is_current = false;
    return TRUE;
}

// Makes the detector again if settings or frames have changed.
bool update_handles(FramewireDetect* self, bool& draws, bool& posts_messages) {
    auto& state = *self->state;
    Settings settings;
    double rate;
    {
        const std::lock_guard lock(state.mutex);
        draws = state.settings.draws;
        posts_messages = state.settings.posts_messages;
        if (state.is_current) return true;
        settings = state.settings;
        rate = state.rate;
        state.is_current = true;
    }
    auto handles = make_handles(settings, *state.input, rate);
    if (!is_complete(handles, settings)) {
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", fw_last_error()), (nullptr));
        return false;
    }
    state.detector = std::move(handles.detector);
    state.tracker = std::move(handles.tracker);
    return true;
}

// Paints a rectangle of pixels in one component of a frame. The rectangle may exceed the frame.
void paint(GstVideoFrame& frame, guint component, int left, int top, int right, int bottom, std::uint8_t value) {
    const auto& format = *frame.info.finfo;
    const int width = GST_VIDEO_FRAME_COMP_WIDTH(&frame, component),
              height = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, component);
    left = std::max(left >> format.w_sub[component], 0);
    top = std::max(top >> format.h_sub[component], 0);
    right = std::min(((right - 1) >> format.w_sub[component]) + 1, width);
    bottom = std::min(((bottom - 1) >> format.h_sub[component]) + 1, height);
    for (int y = top; y < bottom; ++y) {
        auto* row = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, component)) +
                    static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, component);
        for (int x = left; x < right; ++x) row[x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component)] = value;
    }
}

// Draws the border of a box inside of it, in green, or white in gray images.
void draw_box(GstVideoFrame& frame, const fw_box& box) {
    constexpr int border = 2;
    constexpr std::array<std::uint8_t, 4> rgb{0, 255, 0, 255}, yuv{145, 54, 34, 255}, gray{255, 255, 255, 255};
    const auto& format = *frame.info.finfo;
    const auto& colour = GST_VIDEO_FORMAT_INFO_IS_RGB(&format)   ? rgb
                         : GST_VIDEO_FORMAT_INFO_IS_YUV(&format) ? yuv
                                                                 : gray;
    const int right = box.x + box.width, bottom = box.y + box.height;
    const int inner_left = std::min(box.x + border, right), inner_right = std::max(right - border, box.x);
    const int inner_top = std::min(box.y + border, bottom), inner_bottom = std::max(bottom - border, box.y);
    for (guint component = 0; component < GST_VIDEO_FRAME_N_COMPONENTS(&frame); ++component) {
        paint(frame, component, box.x, box.y, right, inner_top, colour[component]);
        paint(frame, component, box.x, inner_bottom, right, bottom, colour[component]);
        paint(frame, component, box.x, box.y, inner_left, bottom, colour[component]);
        paint(frame, component, inner_right, box.y, right, bottom, colour[component]);
    }
}

// Lists each box, or the boxes of its tracks if it has some, as the records of `framewire detect` do: several objects
// can touch and have one box.
void list_objects(std::span<const fw_box> boxes, std::span<const fw_track> tracks, std::vector<Object>& objects) {
    const auto pixels = [](double value) { return static_cast<std::int32_t>(std::lround(value)); };
    objects.clear();
    for (size_t i = 0; i < boxes.size(); ++i) {
        const auto before = objects.size();
        for (const auto& track : tracks) {
            if (track.box != static_cast<std::int64_t>(i)) continue;
            auto box = boxes[i];
            box.x = pixels(track.x);
            box.y = pixels(track.y);
            box.width = std::max(1, pixels(track.x + track.width) - box.x);
            box.height = std::max(1, pixels(track.y + track.height) - box.y);
            objects.push_back({box, track.id});
        }
        if (objects.size() == before) objects.push_back({boxes[i], 0});
    }
}

void add_metadata(GstBuffer* buffer, std::span<const Object> objects) {
    for (const auto& [box, track] : objects) {
        const int left = std::max(box.x, 0), top = std::max(box.y, 0);
        auto* meta = gst_buffer_add_video_region_of_interest_meta(
            buffer, "moving-object", static_cast<guint>(left), static_cast<guint>(top),
            static_cast<guint>(std::max(box.x + box.width - left, 0)),
            static_cast<guint>(std::max(box.y + box.height - top, 0)));
        meta->id = static_cast<gint>(std::min<gint64>(track, G_MAXINT));
        gst_video_region_of_interest_meta_add_param(
            meta, gst_structure_new("framewire", "area", G_TYPE_INT, box.area, "track", G_TYPE_INT64, track, nullptr));
    }
}

void post_message(FramewireDetect* self, GstBuffer* buffer, std::span<const Object> objects) {
    const auto& segment = GST_BASE_TRANSFORM(self)->segment;
    const auto time = GST_BUFFER_PTS(buffer);
    auto* structure = gst_structure_new("framewiredetect", "frame", G_TYPE_INT64, self->state->frames, "timestamp",
                                        G_TYPE_UINT64, time, "stream-time", G_TYPE_UINT64,
                                        gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, time), "running-time",
                                        G_TYPE_UINT64, gst_segment_to_running_time(&segment, GST_FORMAT_TIME, time),
                                        "duration", G_TYPE_UINT64, GST_BUFFER_DURATION(buffer), nullptr);
    GValue list = G_VALUE_INIT;
    gst_value_array_init(&list, static_cast<guint>(objects.size()));
    for (const auto& [box, track] : objects) {
        auto* object =
            gst_structure_new("object", "x", G_TYPE_INT, box.x, "y", G_TYPE_INT, box.y, "width", G_TYPE_INT, box.width,
                              "height", G_TYPE_INT, box.height, "area", G_TYPE_INT, box.area, "centre-x", G_TYPE_DOUBLE,
                              box.centre_x, "centre-y", G_TYPE_DOUBLE, box.centre_y, nullptr);
        if (track) gst_structure_set(object, "track", G_TYPE_INT64, track, nullptr);
        GValue item = G_VALUE_INIT;
        g_value_init(&item, GST_TYPE_STRUCTURE);
        g_value_take_boxed(&item, object);
        gst_value_array_append_and_take_value(&list, &item);
    }
    gst_structure_take_value(structure, "objects", &list);
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), structure));
}

GstFlowReturn transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
    auto* self = self_of(transform);
    auto& state = *self->state;
    bool draws, posts_messages;
    if (!update_handles(self, draws, posts_messages)) return GST_FLOW_ERROR;
    {
        // Boxes are drawn into memory that only this buffer has; it is copied only then.
        MappedFrame frame(GST_VIDEO_FILTER(self)->in_info, buffer,
                          static_cast<GstMapFlags>((draws ? GST_MAP_READWRITE : GST_MAP_READ) |
                                                   static_cast<int>(GST_VIDEO_FRAME_MAP_FLAG_NO_REF)));
        if (!frame) {
            GST_ELEMENT_ERROR(self, RESOURCE, READ, ("the memory of a frame cannot be mapped"), (nullptr));
            return GST_FLOW_ERROR;
        }
        const fw_box* found = nullptr;
        const fw_track* tracked = nullptr;
        size_t count = 0, track_count = 0;
        const auto time = gst_segment_to_stream_time(&transform->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
        const double seconds = GST_CLOCK_TIME_IS_VALID(time)
                                   ? static_cast<double>(time) / GST_SECOND
                                   : static_cast<double>(state.frames) / (state.rate > 0 ? state.rate : 1);
        if (fw_detector_process(state.detector.get(), &state.image.read(*frame), nullptr, &found, &count) ||
            (state.tracker && fw_tracker_update(state.tracker.get(), found, count, seconds, &tracked, &track_count))) {
            GST_ELEMENT_ERROR(self, LIBRARY, FAILED, ("%s", fw_last_error()), (nullptr));
            return GST_FLOW_ERROR;
        }
        list_objects({found, count}, {tracked, track_count}, state.objects);
        if (draws)
            for (const auto& object : state.objects) draw_box(*frame, object.box);
    }
    add_metadata(buffer, state.objects);
    if (posts_messages && !state.objects.empty()) post_message(self, buffer, state.objects);
    ++state.frames;
    return GST_FLOW_OK;
}

gboolean sink_event(GstBaseTransform* transform, GstEvent* event) {
    auto& state = *self_of(transform)->state;
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
        // Frames from elsewhere have another background and other objects.
        const std::lock_guard lock(state.mutex);
        state.is_current = false;
    }
    return GST_BASE_TRANSFORM_CLASS(framewire_detect_parent_class)->sink_event(transform, event);
}

gboolean start(GstBaseTransform* transform) {
    auto* self = self_of(transform);
    auto& state = *self->state;
    Settings settings;
    {
        const std::lock_guard lock(state.mutex);
        settings = state.settings;
    }
    // Settings that are wrong for every frame are errors before there is one.
    if (!check(settings, image_of_size(FW_GRAY, 1920, 1080), 0)) {
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", fw_last_error()), (nullptr));
        return FALSE;
    }
    state.frames = 0;
    return TRUE;
}

gboolean stop(GstBaseTransform* transform) {
    auto& state = *self_of(transform)->state;
    state.detector.reset();
    state.tracker.reset();
    state.image = {};
    const std::lock_guard lock(state.mutex);
    state.input.reset();
    return TRUE;
}

}  // namespace

static void framewire_detect_init(FramewireDetect* self) {
    self->state = new State;
    gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}

static void framewire_detect_class_init(FramewireDetectClass* type) {
    auto* object = G_OBJECT_CLASS(type);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(
        object, property_settings,
        g_param_spec_string("settings", "Settings",
                            "Options of `framewire detect` without dashes, such as threshold=25:min-area=400. A change "
                            "makes the detector learn the background again",
                            "", changed_any_time));
    g_object_class_install_property(
        object, property_track,
        g_param_spec_string(
            "track", "Track",
            "Parameters of the tracker, such as confirm=0.2:keep=1.5, or an empty text for the defaults; "
            "without a value objects have no identity",
            nullptr, changed_any_time));
    g_object_class_install_property(
        object, property_draw,
        g_param_spec_boolean("draw", "Draw", "Draw boxes into the frames", FALSE, changed_any_time));
    g_object_class_install_property(
        object, property_post_messages,
        g_param_spec_boolean("post-messages", "Post messages", "Post a message for each frame with objects", TRUE,
                             changed_any_time));
    install_backend_properties(object, property_backend);

    auto* element = GST_ELEMENT_CLASS(type);
    gst_element_class_set_static_metadata(element, "framewire detector of moving objects", "Filter/Analyzer/Video",
                                          "Finds moving objects: messages, regions of interest, and boxes in frames",
                                          "the framewire authors");
    const auto accept = [](const VideoFormat& format) { return !format.is_yuv() || has_luma_plane(format); };
    add_pad_template(element, GST_PAD_SINK, accept);
    add_pad_template(element, GST_PAD_SRC, accept);

    auto* transform = GST_BASE_TRANSFORM_CLASS(type);
    transform->transform_ip = transform_ip;
    transform->transform_ip_on_passthrough = FALSE;
    transform->sink_event = sink_event;
    transform->start = start;
    transform->stop = stop;
    GST_VIDEO_FILTER_CLASS(type)->set_info = set_info;
}
