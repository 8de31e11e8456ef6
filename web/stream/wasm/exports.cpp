// The module's interface for decoder.js: numbers, and addresses in the module's memory.

#include "viewer.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace framewire::web {
namespace {

Viewer viewer;
net::Bytes incoming, outgoing;
std::vector<std::int32_t> boxes;  // id, x, y, width, height and area of each object

// Numbers that report() returns, in the order of reportNames in decoder.js.
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

/// Returns a buffer of `bytes` bytes for input. It is valid until the next call.
EXPORT(incoming) std::uint8_t* web_incoming(std::size_t bytes) {
    incoming.resize(bytes);
    return incoming.data();
}

/// Returns the bytes to be sent.
EXPORT(outgoing) const std::uint8_t* web_outgoing() { return outgoing.data(); }
/// Returns the number of bytes to be sent.
EXPORT(outgoing_bytes) std::size_t web_outgoing_bytes() { return outgoing.size(); }

/// Writes the hello to the output. The input is the stream's name (`name_bytes` bytes) followed by the token.
EXPORT(greet) void web_greet(std::size_t name_bytes) {
    outgoing = viewer.greet(incoming_text(0, name_bytes), incoming_text(name_bytes, incoming.size() - name_bytes));
}

/// Checks the server's preamble in the input.
EXPORT(read_preamble) void web_read_preamble() { net::read_server_preamble(incoming); }
/// Returns the content length for the message header in the input.
EXPORT(content_bytes) std::size_t web_content_bytes() { return viewer.content_bytes(incoming); }
/// Applies the message content in the input. Returns a Taken.
EXPORT(take) int web_take(int type, double now_us) {
    return static_cast<int>(viewer.take(static_cast<net::MessageType>(type), incoming, now_us));
}

/// Writes an acknowledgement to the output.
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

/// Returns the numbers of the stream and its state. Valid after the first hello.
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
              static_cast<double>(viewer.takes_control_requests()),
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
/// Returns the server's last text: an error, or the answer to a control request. Its length is in report().
EXPORT(text) const char* web_text() { return viewer.text().data(); }
/// Returns the description of the source.
EXPORT(source) const char* web_source() { return viewer.info().source.data(); }
/// Returns the length of the source's description in bytes.
EXPORT(source_bytes) std::size_t web_source_bytes() { return viewer.info().source.size(); }

/// Returns the picture: rows without gaps, bytes B, G, R or gray. Null before the first complete state.
EXPORT(picture) const std::uint8_t* web_picture() {
    const auto* const receiver = viewer.receiver();
    return receiver && receiver->state().version > 0 ? receiver->picture().data() : nullptr;
}
/// Returns the objects of the picture, six numbers each.
EXPORT(objects) const std::int32_t* web_objects() {
    boxes.clear();
    for (const auto& object : viewer.receiver()->objects())
        boxes.insert(boxes.end(), {object.id, object.x, object.y, object.width, object.height, object.area});
    return boxes.data();
}
/// Returns one byte per block, row by row: nonzero if the block has changed since painted().
EXPORT(touched) const std::uint8_t* web_touched() { return viewer.touched().data(); }
/// Returns one byte per pixel that says how much the pixel changed. Null if marks are off.
EXPORT(marks) const std::uint8_t* web_marks() { return viewer.marks().empty() ? nullptr : viewer.marks().data(); }
/// Turns marks on (nonzero) or off.
EXPORT(keep_marks) void web_keep_marks(int keep) { viewer.keep_marks(keep != 0); }
/// Clears touched(); marks stay until there are new ones.
EXPORT(painted) void web_painted() { viewer.painted(); }
}
