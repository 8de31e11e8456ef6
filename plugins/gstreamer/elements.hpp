#pragma once

#include <gst/gst.h>

// The elements of the plugin, for its registration.

GST_ELEMENT_REGISTER_DECLARE(framewirefilter)
GST_ELEMENT_REGISTER_DECLARE(framewiredetect)
GST_ELEMENT_REGISTER_DECLARE(framewiresrc)
GST_ELEMENT_REGISTER_DECLARE(framewiresink)
