#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <utility>

// Owners of GLib and GStreamer objects, and C++ objects as the user data of their callbacks.

namespace framewire::service {

/// Deleter that calls a function of GLib or GStreamer.
template <auto release>
struct ReleasedBy {
    /// Releases `object`.
    template <class T>
    void operator()(T* object) const {
        release(object);
    }
};

/// Owns a reference to a GObject.
template <class T>
using ObjectPointer = std::unique_ptr<T, ReleasedBy<g_object_unref>>;
/// Owns a text that GLib allocated.
using TextPointer = std::unique_ptr<gchar, ReleasedBy<g_free>>;
/// Owns an error.
using ErrorPointer = std::unique_ptr<GError, ReleasedBy<g_error_free>>;
/// Owns a reference to an event source.
using SourcePointer = std::unique_ptr<GSource, ReleasedBy<g_source_unref>>;

/// Takes over an allocated text, which may be null.
inline std::string taken_text(gchar* text) {
    const TextPointer owned(text);
    return owned ? owned.get() : std::string();
}

/// User data that shares ownership of a C++ object. A callback casts its user data with of(); release() is the
/// GDestroyNotify.
template <class T>
struct Shared {
    /// Allocates user data.
    static gpointer make(std::shared_ptr<T> object) { return new std::shared_ptr<T>(std::move(object)); }
    /// Returns the object of user data.
    static T& of(gpointer data) { return **static_cast<std::shared_ptr<T>*>(data); }
    /// Frees user data.
    static void release(gpointer data) { delete static_cast<std::shared_ptr<T>*>(data); }
    /// Frees the user data of a signal handler.
    static void release_closure(gpointer data, GClosure*) { release(data); }

    /// Connects a handler to a signal of `object`; it shares ownership of `data`.
    static void connect(gpointer object, const char* signal, GCallback handler, std::shared_ptr<T> data) {
        g_signal_connect_data(object, signal, handler, make(std::move(data)), release_closure, GConnectFlags(0));
    }
};

}  // namespace framewire::service
