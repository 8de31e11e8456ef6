// framewirefilter: a chain of filters.
#include "gstreamer/elements.hpp"
#include "gstreamer/video.hpp"
#include "handles.hpp"

#include <gst/video/gstvideofilter.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

using namespace framewire::plugins;

namespace {

GST_DEBUG_CATEGORY_STATIC(debug_category);
#define GST_CAT_DEFAULT debug_category

// The result of a chain for images of a format, for any size.
struct Outcome {
    bool is_known = false;  // the chain can be made for the sizes below
    bool keeps_size = false;
    fw_image image{};
};

fw_settings settings_for_probe() { return {sizeof(fw_settings), FW_BACKEND_CPU, 0, 1}; }

std::optional<fw_image> result_of(const std::string& chain, const fw_image& image) {
    const auto made = make_chain(chain.c_str(), image, settings_for_probe());
    fw_image result{};
    result.size = sizeof result;
    if (!made || fw_chain_output(made.get(), &result)) return {};
    return result;
}

// Tries two sizes, which nearly all chains accept.
Outcome outcome_of(const std::string& chain, fw_format format) {
    Outcome outcome;
    outcome.keeps_size = true;
    for (const auto& size : {ImageSize{1280, 720}, ImageSize{1920, 1080}}) {
        const auto result = result_of(chain, image_of_size(format, size.width, size.height));
        if (!result) return {};
        outcome.image = *result;
        outcome.keeps_size &= ImageSize{result->width, result->height} == size;
    }
    outcome.is_known = true;
    return outcome;
}

struct State {
    std::mutex mutex;                      // guards the next block
    std::string text;                      // of the chain; changed between frames once the element has started
    std::optional<std::string> next_text;  // replaces `text` before the next frame
    bool has_started = false;
    std::optional<fw_image> input;    // what frames are
    std::map<int, Outcome> outcomes;  // of `text`, by fw_format
    fw_settings settings{sizeof(fw_settings), FW_BACKEND_AUTO, 0, 0};

    // Used by the streaming thread alone.
    ChainHandle chain;
    std::string chain_text;
    fw_image result{};
    FrameImage in, out;
    bool keeps_alpha = false;
    bool has_failed = false;  // with an error that the program got; GStreamer tries again
    gint64 frames = 0;
};

}  // namespace

struct FramewireFilter {
    GstVideoFilter parent;
    State* state;
};
struct FramewireFilterClass {
    GstVideoFilterClass parent;
};
G_DEFINE_TYPE_WITH_CODE(FramewireFilter, framewire_filter, GST_TYPE_VIDEO_FILTER,
                        GST_DEBUG_CATEGORY_INIT(debug_category, "framewirefilter", 0, "framewire's filter chains"))
GST_ELEMENT_REGISTER_DEFINE(framewirefilter, "framewirefilter", GST_RANK_NONE, framewire_filter_get_type())

namespace {

enum Property : guint { property_chain = 1, property_backend, property_device };

FramewireFilter* self_of(gpointer object) { return reinterpret_cast<FramewireFilter*>(object); }

std::string text_of(State& state) {
    const std::lock_guard lock(state.mutex);
    return state.text;
}

// Uses a text that was set while frames pass. Called by the streaming thread between frames, so that caps and chain
// always belong to the same text.
void adopt_text(FramewireFilter* self) {
    auto& state = *self->state;
    bool is_empty;
    {
        const std::lock_guard lock(state.mutex);
        if (!state.next_text) return;
        state.text = std::move(*state.next_text);
        state.next_text.reset();
        state.outcomes.clear();
        is_empty = state.text.empty();
    }
    gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), is_empty);
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

void set_text(FramewireFilter* self, const char* given) {
    auto& state = *self->state;
    const std::string text = given ? given : "";
    std::optional<fw_image> input;
    {
        const std::lock_guard lock(state.mutex);
        input = state.input;
    }
    // A chain for no frames is checked when the element starts, and when it knows its frames.
    if (input && !result_of(text, *input)) {
        GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", fw_last_error()), ("the chain stays as it was"));
        return;
    }
    const std::lock_guard lock(state.mutex);
    if (state.has_started) {
        state.next_text = text;
    } else {
        state.text = text;
        state.outcomes.clear();
    }
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    if (id == property_chain) return set_text(self_of(object), g_value_get_string(value));
    auto& state = *self_of(object)->state;
    const std::lock_guard lock(state.mutex);
    switch (id) {
        case property_backend: state.settings.backend = g_value_get_enum(value); break;
        case property_device: state.settings.device = g_value_get_int(value); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
    auto& state = *self_of(object)->state;
    const std::lock_guard lock(state.mutex);
    switch (id) {
        case property_chain: g_value_set_string(value, state.next_text.value_or(state.text).c_str()); break;
        case property_backend: g_value_set_enum(value, state.settings.backend); break;
        case property_device: g_value_set_int(value, state.settings.device); break;
        default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

void finalize(GObject* object) {
    delete self_of(object)->state;
    G_OBJECT_CLASS(framewire_filter_parent_class)->finalize(object);
}

Outcome outcome_for(State& state, fw_format format) {
    std::string text;
    {
        const std::lock_guard lock(state.mutex);
        if (const auto known = state.outcomes.find(format); known != state.outcomes.end()) return known->second;
        text = state.text;
    }
    const auto outcome = outcome_of(text, format);
    const std::lock_guard lock(state.mutex);
    if (state.text == text) state.outcomes.insert_or_assign(format, outcome);
    return outcome;
}

// Returns a copy of `structure` with only this format, or null if the structure does not allow it.
GstStructure* with_format(const GstStructure* structure, GstVideoFormat format) {
    auto* wanted =
        gst_structure_new("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string(format), nullptr);
    auto* result = gst_structure_intersect(structure, wanted);
    gst_structure_free(wanted);
    return result;
}

void change_format(GstStructure* structure, const VideoFormat& from, GstVideoFormat to) {
    gst_structure_set(structure, "format", G_TYPE_STRING, gst_video_format_to_string(to), nullptr);
    if (from.gst != to) gst_structure_remove_fields(structure, "colorimetry", "chroma-site", nullptr);
}

void allow_any_size(GstStructure* structure) {
    gst_structure_set(structure, "width", GST_TYPE_INT_RANGE, 1, most_side_px, "height", GST_TYPE_INT_RANGE, 1,
                      most_side_px, nullptr);
}

// Returns what frames are that `structure` describes, which has one format, if it has one size.
std::optional<fw_image> image_of_structure(const GstStructure* structure) {
    gint width, height;
    if (!gst_structure_get_int(structure, "width", &width) || !gst_structure_get_int(structure, "height", &height))
        return {};
    auto* essential =
        gst_structure_new("video/x-raw", "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, nullptr);
    for (const auto* field : {"format", "colorimetry", "chroma-site", "interlace-mode"})
        if (const auto* text = gst_structure_get_string(structure, field))
            gst_structure_set(essential, field, G_TYPE_STRING, text, nullptr);
    auto* caps = gst_caps_new_full(essential, nullptr);
    GstVideoInfo info;
    std::string problem;
    const bool is_video = gst_video_info_from_caps(&info, caps);
    gst_caps_unref(caps);
    return is_video ? image_of(info, problem) : std::nullopt;
}

// Appends what the chain makes of frames that `structure` describes, which has one format.
void append_results(GstCaps* caps, State& state, GstStructure* structure, const VideoFormat& format) {
    if (const auto image = image_of_structure(structure)) {
        // An impossible chain is reported when these caps are set.
        if (const auto result = result_of(text_of(state), *image)) {
            change_format(structure, format, format_of_image(*result, &format));
            gst_structure_set(structure, "width", G_TYPE_INT, result->width, "height", G_TYPE_INT, result->height,
                              nullptr);
        }
        gst_caps_append_structure(caps, structure);
        return;
    }
    const auto outcome = outcome_for(state, format.image);
    if (!outcome.keeps_size) allow_any_size(structure);
    if (outcome.is_known) {
        change_format(structure, format, format_of_image(outcome.image, &format));
    } else if (format.is_yuv()) {
        auto* image = gst_structure_copy(structure);
        change_format(image, format, GST_VIDEO_FORMAT_BGR);
        gst_caps_append_structure(caps, image);
    }
    gst_caps_append_structure(caps, structure);
}

// Appends the frames of `format` of which the chain makes what `structure` describes.
void append_origins(GstCaps* caps, State& state, const GstStructure* structure, const VideoFormat& format) {
    const auto outcome = outcome_for(state, format.image);
    const auto made = outcome.is_known ? format_of_image(outcome.image, &format) : format.gst;
    auto* origin = with_format(structure, made);
    if (!origin && !outcome.is_known && format.is_yuv()) origin = with_format(structure, GST_VIDEO_FORMAT_BGR);
    if (!origin) return;
    if (!outcome.keeps_size) allow_any_size(origin);
    gst_structure_set(origin, "format", G_TYPE_STRING, gst_video_format_to_string(format.gst), nullptr);
    if (made != format.gst) gst_structure_remove_fields(origin, "colorimetry", "chroma-site", nullptr);
    gst_caps_append_structure(caps, origin);
}

GstCaps* transform_caps(GstBaseTransform* transform, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
    auto& state = *self_of(transform)->state;
    auto* result = gst_caps_new_empty();
    for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
        const auto* structure = gst_caps_get_structure(caps, i);
        for (const auto& format : video_formats())
            if (direction == GST_PAD_SRC)
                append_origins(result, state, structure, format);
            else if (auto* one = with_format(structure, format.gst))
                append_results(result, state, one, format);
    }
    result = gst_caps_simplify(result);
    if (filter) {
        auto* both = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
        gst_caps_unref(result);
        result = both;
    }
    return result;
}

// Makes the chain of `state.text`. Returns false if it cannot be made; fw_last_error() says why.
bool make(State& state, const fw_image& input) {
    std::string text;
    fw_settings settings;
    {
        const std::lock_guard lock(state.mutex);
        text = state.text;
        settings = state.settings;
    }
    auto chain = make_chain(text.c_str(), input, settings);
    state.result.size = sizeof(fw_image);
    if (!chain || fw_chain_output(chain.get(), &state.result)) return false;
    state.chain = std::move(chain);
    state.chain_text = std::move(text);
    state.frames = 0;
    return true;
}

// Posts an error the first time.
void fail(FramewireFilter* self, GQuark domain, int code, const char* problem) {
    if (std::exchange(self->state->has_failed, true)) return;
    gst_element_message_full(GST_ELEMENT(self), GST_MESSAGE_ERROR, domain, code, g_strdup(problem), nullptr, __FILE__,
                             __func__, __LINE__);
}

gboolean set_info(GstVideoFilter* filter, GstCaps*, GstVideoInfo* in_info, GstCaps*, GstVideoInfo* out_info) {
    auto* self = self_of(filter);
    auto& state = *self->state;
    std::string problem;
    const auto input = image_of(*in_info, problem);
    if (!input) return fail(self, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, problem.c_str()), FALSE;
    if (!make(state, *input)) return fail(self, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, fw_last_error()), FALSE;
    const auto& from = *video_format(GST_VIDEO_INFO_FORMAT(in_info));
    const auto* to = video_format(GST_VIDEO_INFO_FORMAT(out_info));
    const ImageSize size{state.result.width, state.result.height};
    if (!to || to->gst != format_of_image(state.result, &from) ||
        size != ImageSize{GST_VIDEO_INFO_WIDTH(out_info), GST_VIDEO_INFO_HEIGHT(out_info)})
        return fail(self, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
                    "the result of the chain does not have the negotiated format"),
               FALSE;
    state.in = FrameImage(from, *input);
    state.out = FrameImage(*to, state.result);
    state.keeps_alpha = from.gst == to->gst && size == ImageSize{input->width, input->height};
    const std::lock_guard lock(state.mutex);
    state.input = input;
    return TRUE;
}

GstFlowReturn transform_frame(GstVideoFilter* filter, GstVideoFrame* in, GstVideoFrame* out) {
    auto* self = self_of(filter);
    auto& state = *self->state;
    bool has_changed;
    {
        const std::lock_guard lock(state.mutex);
        has_changed = state.text != state.chain_text;
    }
    // The text was changed, and the caps stay what they were.
    if (has_changed && !make(state, *state.input)) {
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", fw_last_error()), (nullptr));
        return GST_FLOW_ERROR;
    }
    const auto time =
        gst_segment_to_stream_time(&GST_BASE_TRANSFORM(self)->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in->buffer));
    if (GST_CLOCK_TIME_IS_VALID(time))
        fw_chain_set_time(state.chain.get(), state.frames, static_cast<double>(time) / GST_SECOND);
    ++state.frames;
    if (fw_chain_run(state.chain.get(), &state.in.read(*in), &state.out.begin_write(*out), nullptr)) {
        GST_ELEMENT_ERROR(self, LIBRARY, FAILED, ("%s", fw_last_error()), (nullptr));
        return GST_FLOW_ERROR;
    }
    state.out.end_write(*out, state.keeps_alpha ? in : nullptr);
    return GST_FLOW_OK;
}

GstFlowReturn submit_input_buffer(GstBaseTransform* transform, gboolean is_discont, GstBuffer* buffer) {
    adopt_text(self_of(transform));
    return GST_BASE_TRANSFORM_CLASS(framewire_filter_parent_class)->submit_input_buffer(transform, is_discont, buffer);
}

gboolean sink_event(GstBaseTransform* transform, GstEvent* event) {
    auto& state = *self_of(transform)->state;
    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) adopt_text(self_of(transform));
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP && state.chain) fw_chain_reset(state.chain.get());
    return GST_BASE_TRANSFORM_CLASS(framewire_filter_parent_class)->sink_event(transform, event);
}

gboolean start(GstBaseTransform* transform) {
    auto* self = self_of(transform);
    auto& state = *self->state;
    const auto text = text_of(state);
    if (fw_chain_check(text.c_str())) {
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", fw_last_error()), (nullptr));
        return FALSE;
    }
    gst_base_transform_set_passthrough(transform, text.empty());
    state.has_failed = false;
    const std::lock_guard lock(state.mutex);
    state.has_started = true;
    return TRUE;
}

gboolean stop(GstBaseTransform* transform) {
    auto& state = *self_of(transform)->state;
    state.chain.reset();
    state.chain_text.clear();
    state.in = state.out = {};
    const std::lock_guard lock(state.mutex);
    state.has_started = false;
    state.input.reset();
    if (state.next_text) {
        state.text = std::move(*state.next_text);
        state.next_text.reset();
        state.outcomes.clear();
    }
    return TRUE;
}

}  // namespace

static void framewire_filter_init(FramewireFilter* self) { self->state = new State; }

static void framewire_filter_class_init(FramewireFilterClass* type) {
    auto* object = G_OBJECT_CLASS(type);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(
        object, property_chain,
        g_param_spec_string("chain", "Chain", "Filters in the order in which they run, such as gaussian=5,mosaic=32",
                            "", changed_any_time));
    install_backend_properties(object, property_backend);

    auto* element = GST_ELEMENT_CLASS(type);
    gst_element_class_set_static_metadata(element, "framewire filter chain", "Filter/Effect/Video",
                                          "Applies a chain of framewire's filters to each frame",
                                          "the framewire authors");
    const auto accept_all = [](const VideoFormat&) { return true; };
    add_pad_template(element, GST_PAD_SINK, accept_all);
    add_pad_template(element, GST_PAD_SRC, accept_all);

    auto* transform = GST_BASE_TRANSFORM_CLASS(type);
    transform->passthrough_on_same_caps = FALSE;
    transform->transform_caps = transform_caps;
    transform->submit_input_buffer = submit_input_buffer;
    transform->sink_event = sink_event;
    transform->start = start;
    transform->stop = stop;
    auto* filter = GST_VIDEO_FILTER_CLASS(type);
    filter->set_info = set_info;
    filter->transform_frame = transform_frame;
}
