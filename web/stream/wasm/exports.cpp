// What the world outside calls: numbers, and places in this module's memory. decoder.js is the other side.

#include "viewer.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace framewire::web {
namespace {

Viewer viewer;
net::Bytes incoming, outgoing;
std::vector<std::int32_t> boxes;  // of objects: number, left, top, width, height, area

// As decoder.js names them.
std::array<double, 17> report;

std::string_view incoming_text(std::size_t from, std::size_t bytes) {
    return {reinterpret_cast<const char*>(incoming.data()) + from, bytes};
}

}  // namespace
}  // namespace framewire::web

using namespace framewire;
using namespace framewire::web;

#define EXPORT(name) __attribute__((export_name(#name)))

extern "C" {

/// Room for so many bytes that are to be written there, until it is called again.
EXPORT(incoming) std::uint8_t* web_incoming(std::size_t bytes) {
    incoming.resize(bytes);
    return incoming.data();
}

/// What is to be sent.
EXPORT(outgoing) const std::uint8_t* web_outgoing() { return outgoing.data(); }
EXPORT(outgoing_bytes) std::size_t web_outgoing_bytes() { return outgoing.size(); }

/// Of what came in, so many bytes are the stream's name, and the rest is the token: the hello is to be sent.
EXPORT(greet) void web_greet(std::size_t name_bytes) {
    outgoing = viewer.greet(incoming_text(0, name_bytes), incoming_text(name_bytes, incoming.size() - name_bytes));
}

/// What came in is the server's preamble.
EXPORT(read_preamble) void web_read_preamble() { net::read_server_preamble(incoming); }
/// What came in is a message's header.
EXPORT(content_bytes) std::size_t web_content_bytes() { return viewer.content_bytes(incoming); }
/// What came in is a message's content. Gives a Taken.
EXPORT(take) int web_take(int type, double now_us) {
    return static_cast<int>(viewer.take(static_cast<net::MessageType>(type), incoming, now_us));
}

/// What was drawn is to be told.
EXPORT(drawn) void web_drawn(double messages, double version, double clock_us, double held_us, double coming_us) {
    const auto short_time = [](double us) {
        return static_cast<std::uint32_t>(std::clamp(us, 0., double{std::numeric_limits<std::uint32_t>::max()}));
    };
    outgoing = net::drawn_message({.messages = static_cast<std::uint64_t>(messages),
                                   .version = static_cast<std::uint64_t>(version),
                                   .clock_us = static_cast<std::uint64_t>(clock_us),
                                   .held_us = short_time(held_us),
                                   .coming_us = short_time(coming_us)});
}

/// The stream and the state held, once there was a hello.
EXPORT(report) const double* web_report(double now_us) {
    const auto& info = viewer.info();
    const auto* const receiver = viewer.receiver();
    const auto state = receiver ? receiver->state() : net::StateHeader{};
    const auto age_us = viewer.age_us(now_us);
    report = {static_cast<double>(info.shape.width),
              static_cast<double>(info.shape.height),
              static_cast<double>(info.shape.channels),
              static_cast<double>(info.mode),
              static_cast<double>(info.threshold),
              info.rate.value(),
              static_cast<double>(viewer.takes_wishes()),
              static_cast<double>(viewer.reason()),
              static_cast<double>(state.version),
              static_cast<double>(state.frame),
              state.seconds,
              static_cast<double>(state.threshold),
              age_us ? static_cast<double>(*age_us) / 1000 : std::numeric_limits<double>::quiet_NaN(),
              static_cast<double>(viewer.last_changed()),
              receiver ? static_cast<double>(receiver->counts().skipped) : 0,
              receiver ? static_cast<double>(receiver->objects().size()) : 0,
              static_cast<double>(viewer.text().size())};
    return report.data();
}
/// What the server last said in words: an error, or how things stand after a wish.
EXPORT(text) const char* web_text() { return viewer.text().data(); }
/// What the source is, for people to read.
EXPORT(source) const char* web_source() { return viewer.info().source.data(); }
EXPORT(source_bytes) std::size_t web_source_bytes() { return viewer.info().source.size(); }

/// The picture: rows without gaps, bytes B, G, R, or gray ones; null before the first complete one.
EXPORT(picture) const std::uint8_t* web_picture() {
    const auto* const receiver = viewer.receiver();
    return receiver && receiver->state().version > 0 ? receiver->picture().data() : nullptr;
}
/// Objects of the picture, six numbers each.
EXPORT(objects) const std::int32_t* web_objects() {
    boxes.clear();
    for (const auto& object : viewer.receiver()->objects())
        boxes.insert(boxes.end(), {object.id, object.x, object.y, object.width, object.height, object.area});
    return boxes.data();
}
/// Of each block, row by row, whether it is new since painted().
EXPORT(touched) const std::uint8_t* web_touched() { return viewer.touched().data(); }
/// Of each pixel, how far it was changed; null where marks are off.
EXPORT(marks) const std::uint8_t* web_marks() { return viewer.marks().empty() ? nullptr : viewer.marks().data(); }
EXPORT(keep_marks) void web_keep_marks(int keep) { viewer.keep_marks(keep != 0); }
EXPORT(painted) void web_painted() { viewer.painted(); }
}
