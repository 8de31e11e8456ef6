#pragma once

#include <framewire/framewire.h>

#include <memory>

// Owners of the handles of the C interface.

namespace framewire::plugins {

/// Deleter that calls a function of the C interface.
template <auto destroy>
struct DestroyedBy {
    /// Destroys `handle`.
    template <class T>
    void operator()(T* handle) const {
        destroy(handle);
    }
};

/// Owns a chain.
using ChainHandle = std::unique_ptr<fw_chain, DestroyedBy<fw_chain_destroy>>;
/// Owns a detector.
using DetectorHandle = std::unique_ptr<fw_detector, DestroyedBy<fw_detector_destroy>>;
/// Owns a tracker.
using TrackerHandle = std::unique_ptr<fw_tracker, DestroyedBy<fw_tracker_destroy>>;
/// Owns a source.
using SourceHandle = std::unique_ptr<fw_source, DestroyedBy<fw_source_close>>;
/// Owns a viewer.
using ViewerHandle = std::unique_ptr<fw_viewer, DestroyedBy<fw_viewer_close>>;
/// Owns a sink.
using SinkHandle = std::unique_ptr<fw_sink, DestroyedBy<fw_sink_close>>;

/// Describes an image without memory.
inline fw_image image_of_size(fw_format format, int width, int height) {
    fw_image image{};
    image.size = sizeof image;
    image.format = format;
    image.width = width;
    image.height = height;
    return image;
}

/// Makes a chain; empty on errors, whose message is fw_last_error().
inline ChainHandle make_chain(const char* text, const fw_image& image, const fw_settings& settings) {
    fw_chain* chain = nullptr;
    fw_chain_create(&chain, text, &image, &settings);
    return ChainHandle(chain);
}

}  // namespace framewire::plugins
