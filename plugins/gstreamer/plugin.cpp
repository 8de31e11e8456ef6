// The GStreamer plugin `framewire`: elements over the C interface (docs/plugins.md).
#include "gstreamer/elements.hpp"
#include "gstreamer/video.hpp"

namespace {

gboolean register_elements(GstPlugin* plugin) {
    gst_type_mark_as_plugin_api(framewire::plugins::backend_type(), GstPluginAPIFlags(0));
    return GST_ELEMENT_REGISTER(framewirefilter, plugin) && GST_ELEMENT_REGISTER(framewiredetect, plugin) &&
           GST_ELEMENT_REGISTER(framewiresrc, plugin) && GST_ELEMENT_REGISTER(framewiresink, plugin);
}

}  // namespace

#define PACKAGE "framewire"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, framewire,
                  "Filters, detection and difference streams of framewire", register_elements, FRAMEWIRE_VERSION,
                  "Apache 2.0", "framewire", "Unknown package origin")
