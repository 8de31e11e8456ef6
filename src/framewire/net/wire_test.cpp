#include "framewire/net/wire.hpp"
#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace framewire::net {
namespace {

constexpr std::size_t max_packed_bytes = 1000;

StreamInfo some_info() { return {{1, 576, 768, 3}, codec::Mode::exact, 20, {30000, 1001}, "vtest.avi"}; }

constexpr Component some_object{
    .id = 9, .x = 3, .y = 4, .width = 257, .height = 6, .area = 300, .sum_x = 0, .sum_y = 0};

void read_any_state(ByteSpan payload) {
    std::vector<Component> objects;
    read_state(payload, some_info().shape, objects);
}

ByteSpan payload_of(const Bytes& message, std::size_t before = 0) {
    return ByteSpan(message).subspan(before + header_bytes);
}

Bytes hello_of(const StreamInfo& info) { return server_hello({.epoch = 7, .info = info}); }

ViewerHello read_this_hello(ByteSpan payload) { return read_viewer_hello(payload, wire_version); }

template <class Call>
void expect_lost(Call call, const std::string& what) {
    try {
        call();
        ADD_FAILURE() << what << ": accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::source_lost) << what << ": " << error.what();
    }
}

TEST(Wire, ViewerHelloRoundTrips) {
    const ViewerHello hello{"yard", std::string("a \0 token", 9), {99, {{5, 7}, {0, 1}, {max_version, 0xffffffff}}}};
    auto bytes = viewer_hello(hello);
    EXPECT_EQ(read_viewer_preamble(ByteSpan(bytes).first(preamble_bytes)), wire_version);
    const auto header = read_viewer_header(ByteSpan(bytes).subspan(preamble_bytes, header_bytes));
    EXPECT_EQ(header.type, MessageType::hello);
    EXPECT_EQ(header.length_bytes, bytes.size() - preamble_bytes - header_bytes);
    const auto back = read_this_hello(payload_of(bytes, preamble_bytes));
    EXPECT_EQ(back.stream, hello.stream);
    EXPECT_EQ(back.token, hello.token);
    EXPECT_EQ(back.held, hello.held);
    EXPECT_THROW(viewer_hello({"yard", std::string(256, 'x')}), Error);
}

// A later version may append fields to the hello; the known fields stay in front.
TEST(Wire, IgnoresTrailingBytesOfANewerHello) {
    auto bytes = viewer_hello({"yard"});
    bytes.push_back(1);
    EXPECT_EQ(read_viewer_hello(payload_of(bytes, preamble_bytes), wire_version + 1).stream, "yard");
    expect_lost([&] { read_this_hello(payload_of(bytes, preamble_bytes)); },
                "trailing bytes in a hello of this version");
}

TEST(Wire, OmitsBlockVersionsWithTooManyRuns) {
    BlockVersions held{.epoch = 5};
    for (std::size_t i = 0; i < BlockVersions::max_runs + 1; ++i) held.runs.push_back({i % 2, 1});
    EXPECT_EQ(read_this_hello(payload_of(viewer_hello({"yard", "", held}), preamble_bytes)).held, BlockVersions{});
    held.runs.pop_back();
    EXPECT_EQ(read_this_hello(payload_of(viewer_hello({"yard", "", held}), preamble_bytes)).held, held);
}

TEST(Wire, DrawnClockAndControlMessagesRoundTrip) {
    const auto drawn = drawn_message({3, 1000, 123456789, 17, 18});
    EXPECT_EQ(read_viewer_header(ByteSpan(drawn).first(header_bytes)).type, MessageType::drawn);
    const auto back = read_drawn(payload_of(drawn));
    EXPECT_EQ(back.messages, 3u);
    EXPECT_EQ(back.version, 1000u);
    EXPECT_EQ(back.clock_us, 123456789u);
    EXPECT_EQ(back.held_us, 17u);
    EXPECT_EQ(back.coming_us, 18u);
    const auto clocks = read_clocks(payload_of(clock_message({5, max_version})));
    EXPECT_EQ(clocks.viewer_us, 5u);
    EXPECT_EQ(clocks.server_us, max_version);
    expect_lost([&] { read_clocks(payload_of(clock_message({max_version + 1, 0}))); }, "a clock out of range");
    EXPECT_EQ(read_control(payload_of(control_message("filter 2 off"))), "filter 2 off");
    const auto answer = read_answer(payload_of(answer_message({false, "there are 1"})));
    EXPECT_FALSE(answer.done);
    EXPECT_FALSE(answer.unsolicited);
    EXPECT_EQ(answer.text, "there are 1");
    const auto unsolicited = read_answer(payload_of(answer_message({true, "now 2", true})));
    EXPECT_TRUE(unsolicited.done);
    EXPECT_TRUE(unsolicited.unsolicited);
    EXPECT_EQ(unsolicited.text, "now 2");
    expect_lost([] { read_answer(Bytes{3, 'x'}); }, "an answer of unknown kind 3");
}

TEST(Wire, ServerHelloRoundTrips) {
    for (const auto mode : {codec::Mode::exact, codec::Mode::lossless, codec::Mode::bounded}) {
        auto info = some_info();
        info.mode = mode;
        info.shape.channels = mode == codec::Mode::exact ? 3 : 1;
        const auto hello = read_server_hello(
            payload_of(server_hello({.epoch = ~std::uint64_t{0}, .controls = true, .info = info}), preamble_bytes));
        EXPECT_EQ(hello.epoch, ~std::uint64_t{0});
        EXPECT_TRUE(hello.controls);
        const auto& back = hello.info;
        EXPECT_EQ(back.shape, info.shape);
        EXPECT_EQ(back.mode, info.mode);
        EXPECT_EQ(back.threshold, info.threshold);
        EXPECT_EQ(back.rate.numerator, info.rate.numerator);
        EXPECT_EQ(back.rate.denominator, info.rate.denominator);
        EXPECT_EQ(back.source, info.source);
    }
}

// docs/protocol.md defines the protocol; these bytes follow it.
TEST(Wire, BytesMatchTheProtocolDocument) {
    EXPECT_EQ(viewer_hello({"main", "key", {258, {{3, 4}}}}),
              (Bytes{'F', 'W', 'I', 'R', 5, 0, 1, 31, 0, 0, 0, 4, 'm', 'a', 'i', 'n', 3, 'k', 'e', 'y', 2,
                     1,   0,   0,   0,   0, 0, 0, 1,  0, 3, 0, 0, 0,   0,   0,   0,   0, 4,   0,   0,   0}));
    EXPECT_EQ(server_hello({258, true, {{1, 2, 258, 3}, codec::Mode::exact, 20, {25, 1}, "a"}}),
              (Bytes{'F', 'W', 'I', 'R', 5, 0, 1, 26, 0,  0, 0, 2, 1, 0, 0, 0, 0, 0,  0,
                     1,   2,   1,   2,   0, 3, 0, 20, 25, 0, 0, 0, 1, 0, 0, 0, 1, 'a'}));
    EXPECT_EQ(drawn_message({1, 2, 3, 4, 5}), (Bytes{7, 32, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0,
                                                     0, 0,  3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0}));
    EXPECT_EQ(clock_message({1, 2}), (Bytes{8, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(control_message("x"), (Bytes{9, 2, 0, 0, 0, 1, 'x'}));
    EXPECT_EQ(answer_message({true, ""}), (Bytes{10, 1, 0, 0, 0, 1}));
    EXPECT_EQ(answer_message({true, "x", true}), (Bytes{10, 2, 0, 0, 0, 2, 'x'}));
    EXPECT_EQ(empty_message(MessageType::end), (Bytes{5, 0, 0, 0, 0}));
    EXPECT_EQ(error_message(Refusal::too_many_viewers, "full", false),
              (Bytes{6, 6, 0, 0, 0, 2, 4, 'f', 'u', 'l', 'l'}));
    Bytes changes;
    begin_state(MessageType::changes, {258, 7, 0.5, 259, 20, true}, {&some_object, 1}, changes);
    changes.push_back(99);
    end_state(changes);
    EXPECT_EQ(changes,
              (Bytes{3, 53, 0, 0, 0, 2, 1, 0, 0,  0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0xe0, 0x3f,
                     3, 1,  0, 0, 0, 0, 0, 0, 20, 1, 1, 0, 9, 0, 0, 0, 3, 0, 4, 0, 1, 1, 6, 0, 44, 1, 0, 0,    99}));
}

TEST(Wire, StateRoundTrips) {
    Bytes message;
    const StateHeader state{std::uint64_t{1} << 40, std::int64_t{1} << 33, 12345.6789, std::uint64_t{1} << 50, 254};
    begin_state(MessageType::picture, state, {&some_object, 1}, message);
    message.insert(message.end(), 10, 7);
    end_state(message);
    const auto header = read_header(ByteSpan(message).first(header_bytes), 10);
    EXPECT_EQ(header.type, MessageType::picture);
    EXPECT_EQ(header.length_bytes, state_header_bytes + object_bytes + 10);
    auto payload = payload_of(message);
    std::vector<Component> objects;
    const auto back = read_state(payload, some_info().shape, objects);
    EXPECT_EQ(payload.size(), 10u);
    EXPECT_EQ(objects, std::vector{some_object});
    EXPECT_EQ(back.version, state.version);
    EXPECT_EQ(back.frame, state.frame);
    EXPECT_EQ(back.seconds, state.seconds);
    EXPECT_EQ(back.captured_us, state.captured_us);
    EXPECT_EQ(back.threshold, state.threshold);
    EXPECT_FALSE(back.partial);
    auto part = state;
    part.partial = part.withdraws = true;
    begin_state(MessageType::changes, part, {}, message);
    payload = payload_of(message);
    const auto read = read_state(payload, some_info().shape, objects);
    EXPECT_TRUE(read.partial && read.withdraws);
}

TEST(Wire, RejectsNumbersOutOfRange) {
    const auto payload_with = [](std::uint64_t version, std::uint64_t frame, double seconds) {
        Bytes message;
        begin_state(MessageType::picture, {version, 0, 0}, {}, message);
        const auto put = [&](std::size_t at, std::uint64_t value) {
            for (std::size_t i = 0; i < 8; ++i)
                message[header_bytes + at + i] = static_cast<std::uint8_t>(value >> (8 * i));
        };
        put(8, frame);
        put(16, std::bit_cast<std::uint64_t>(seconds));
        return Bytes(message.begin() + header_bytes, message.end());
    };
    constexpr auto most = ~std::uint64_t{0};
    for (const double seconds : {-max_seconds, 0.0, max_seconds})
        EXPECT_NO_THROW(read_any_state(payload_with(max_version, max_version, seconds)));
    for (const auto version : {std::uint64_t{0}, max_version + 1, most})
        expect_lost([&] { read_any_state(payload_with(version, 0, 0)); }, fmt::format("version {}", version));
    for (const auto frame : {max_version + 1, std::uint64_t{1} << 63, most})
        expect_lost([&] { read_any_state(payload_with(1, frame, 0)); }, fmt::format("frame {}", frame));
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    for (const double seconds : {1.001e10, -1e300, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
        expect_lost([&] { read_any_state(payload_with(1, 0, seconds)); }, fmt::format("{} s", seconds));

    // Invalid times are replaced by valid ones before they are sent.
    for (const auto& [seconds, sent] : {std::pair{1e12, max_seconds}, {-infinity, -max_seconds}}) {
        Bytes message;
        begin_state(MessageType::picture, {1, 0, seconds}, {}, message);
        auto payload = payload_of(message);
        std::vector<Component> objects;
        EXPECT_EQ(read_state(payload, some_info().shape, objects).seconds, sent);
    }
}

TEST(Wire, TruncatesObjectListsAtTheLimit) {
    const std::vector<Component> many(max_objects + 5, some_object);
    Bytes message;
    begin_state(MessageType::picture, {1, 0, 0}, many, message);
    auto payload = payload_of(message);
    std::vector<Component> objects;
    read_state(payload, some_info().shape, objects);
    EXPECT_EQ(objects.size(), max_objects);
}

TEST(Wire, ErrorsRoundTrip) {
    const auto bytes = error_message(Refusal::no_such_stream, "there is no stream 'x' here", true);
    read_server_preamble(ByteSpan(bytes).first(preamble_bytes));
    const auto error = read_error(payload_of(bytes, preamble_bytes));
    EXPECT_EQ(error.reason, Refusal::no_such_stream);
    EXPECT_EQ(error.text, "there is no stream 'x' here");
}

TEST(Wire, RejectsTruncatedAndOverlongMessages) {
    const auto info = hello_of(some_info());
    const auto hello = viewer_hello({"main", "key", {1, {{2, 3}}}});
    const auto error = error_message(Refusal::failed, "gone", false);
    const auto try_all_lengths = [](ByteSpan payload, const auto& read, const std::string& what) {
        for (std::size_t length = 0; length < payload.size(); ++length)
            expect_lost([&] { read(payload.first(length)); }, fmt::format("{} of {} bytes", what, length));
        Bytes longer(payload.begin(), payload.end());
        longer.push_back(0);
        expect_lost([&] { read(ByteSpan(longer)); }, what + " with an extra byte");
    };
    try_all_lengths(payload_of(info, preamble_bytes), read_server_hello, "a server's hello");
    try_all_lengths(payload_of(hello, preamble_bytes), read_this_hello, "a viewer's hello");
    try_all_lengths(payload_of(error), read_error, "an error");
    Bytes state;
    begin_state(MessageType::picture, {1, 2, 3}, {&some_object, 1}, state);
    for (std::size_t length = 0; length < state_header_bytes + object_bytes; ++length)
        expect_lost([&] { read_any_state(payload_of(state).first(length)); },
                    fmt::format("a state of {} bytes", length));
}

TEST(Wire, RejectsOtherProtocolsAndVersions) {
    for (const auto& bytes :
         {Bytes{'H', 'T', 'T', 'P', '/', '1'}, Bytes{'F', 'W', 'I', 'R', 3, 0}, Bytes{'F', 'W', 'I', 'R', 4}}) {
        expect_lost([&] { read_viewer_preamble(bytes); }, "HTTP, version 3, or a truncated preamble from a viewer");
        expect_lost([&] { read_server_preamble(bytes); }, "HTTP, version 3, or a truncated preamble from a server");
    }
    const Bytes later{'F', 'W', 'I', 'R', 6, 0};
    EXPECT_EQ(read_viewer_preamble(later), 6) << "newer viewers must be accepted";
    expect_lost([&] { read_server_preamble(later); }, "a server with a newer version");
}

TEST(Wire, LimitsTheLengthOfEachMessageType) {
    const auto header = [](int type, std::uint32_t length) {
        return Bytes{static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(length),
                     static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length >> 16),
                     static_cast<std::uint8_t>(length >> 24)};
    };
    for (const int type : {0, 7, 9, 255})
        expect_lost([&] { read_header(header(type, 0), max_packed_bytes); }, fmt::format("type {}", type));
    for (const int type : {1, 2, 3, 4, 5, 6, 8, 10})
        expect_lost([&] { read_header(header(type, 0xffffffff), max_packed_bytes); }, fmt::format("type {}", type));
    for (const int type : {0, 2, 3, 4, 5, 6, 8, 10, 255})
        expect_lost([&] { read_viewer_header(header(type, 0)); }, fmt::format("a viewer's type {}", type));
    for (const int type : {1, 7, 9})
        expect_lost([&] { read_viewer_header(header(type, 0xffffffff)); }, fmt::format("a viewer's type {}", type));
    EXPECT_EQ(read_viewer_header(header(7, 32)).length_bytes, 32u);
    const auto most = static_cast<std::uint32_t>(state_header_bytes + max_objects * object_bytes + max_packed_bytes);
    EXPECT_EQ(read_header(header(2, most), max_packed_bytes).length_bytes, most);
    expect_lost([&] { read_header(header(2, most + 1), max_packed_bytes); }, "a keyframe that is too long");
    expect_lost([&] { read_header(header(3, state_header_bytes - 1), max_packed_bytes); },
                "a delta frame that is too short");
    expect_lost([&] { read_header(header(4, 1), max_packed_bytes); }, "a keep-alive with content");
    expect_lost(
        [&] {
            read_header(header(2, 30).size() == 5 ? Bytes{2, 30, 0, 0} : Bytes{}, max_packed_bytes);
        },
        "a short header");
}

TEST(Wire, RejectsInvalidValues) {
    const auto hello = hello_of(some_info());
    Bytes good(hello.begin() + preamble_bytes + header_bytes, hello.end());
    const auto with = [&](std::size_t at, std::initializer_list<std::uint8_t> bytes) {
        auto changed = good;
        std::copy(bytes.begin(), bytes.end(), changed.begin() + static_cast<std::ptrdiff_t>(at));
        return changed;
    };
    expect_lost([&] { read_server_hello(with(0, {0, 0, 0, 0, 0, 0, 0, 0})); }, "epoch 0");
    expect_lost([&] { read_server_hello(with(8, {2})); }, "a flag of 2");
    expect_lost([&] { read_server_hello(with(9, {0, 0})); }, "width 0");
    expect_lost([&] { read_server_hello(with(9, {1, 0x40})); }, "width 16385");
    expect_lost([&] { read_server_hello(with(11, {0xff, 0xff})); }, "height 65535");
    expect_lost([&] { read_server_hello(with(13, {2})); }, "2 channels");
    expect_lost([&] { read_server_hello(with(13, {0})); }, "no channels");
    expect_lost([&] { read_server_hello(with(14, {3})); }, "mode 3");
    expect_lost([&] { read_server_hello(with(15, {255})); }, "threshold 255");
    expect_lost([&] { read_server_hello(with(16, {0, 0, 0, 0})); }, "rate 0");
    expect_lost([&] { read_server_hello(with(20, {0, 0, 0, 0})); }, "rate 1/0");
    expect_lost([&] { read_server_hello(with(16, {0, 0, 0, 0x80})); }, "rate 2^31/1001");
    expect_lost([&] { read_server_hello(with(20, {0xff, 0xff, 0xff, 0xff})); }, "rate 30000/(2^32 - 1)");

    const auto spoilt = [&](auto change) {
        auto object = some_object;
        change(object);
        Bytes message;
        begin_state(MessageType::picture, {1, 0, 0}, {&object, 1}, message);
        expect_lost([&] { read_any_state(payload_of(message)); }, "an invalid object");
    };
    spoilt([](Component& object) { object.id = 0; });
    spoilt([](Component& object) { object.id = -1; });
    spoilt([](Component& object) { object.width = 0; });
    spoilt([](Component& object) { object.height = 0; });
    spoilt([](Component& object) { object.x = 768 - object.width + 1; });
    spoilt([](Component& object) { object.y = 65535; });
    spoilt([](Component& object) { object.area = 0; });
    spoilt([](Component& object) { object.area = object.width * object.height + 1; });
    Bytes many;
    begin_state(MessageType::picture, {1, 0, 0}, {}, many);
    many[header_bytes + 34] = 0x01;
    many[header_bytes + 35] = 0x04;  // 1025
    many.resize(many.size() + 1025 * object_bytes, 1);
    expect_lost([&] { read_any_state(payload_of(many)); }, "too many objects");
    const auto hello_with = [](Bytes name) {
        name.resize(name.size() + 11);
        return name;
    };
    EXPECT_EQ(read_this_hello(hello_with({1, 'a'})).stream, "a");
    expect_lost([&] { read_this_hello(hello_with({3, 'a', '/', 'b'})); }, "a name with a slash");
    expect_lost([&] { read_this_hello(hello_with({0})); }, "an empty name");
}

TEST(Wire, RandomBytesAreRejectedOrParsed) {
    std::mt19937_64 random(kit::seed());
    for (int i = 0; i < 20'000; ++i) {
        Bytes bytes(random() % 64);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        const auto only_lost = [&](auto read) {
            try {
                read(ByteSpan(bytes));
            } catch (const Error& error) {
                ASSERT_EQ(error.code(), ErrorCode::source_lost) << error.what();
            }
        };
        only_lost(read_viewer_preamble);
        only_lost(read_server_preamble);
        only_lost(read_viewer_header);
        only_lost([](ByteSpan b) { read_header(b, max_packed_bytes); });
        only_lost(read_this_hello);
        only_lost(read_drawn);
        only_lost(read_clocks);
        only_lost(read_control);
        only_lost(read_answer);
        only_lost(read_server_hello);
        only_lost(read_any_state);
        only_lost(read_error);
    }
}

TEST(Wire, RefusesToSendInvalidStreamInfo) {
    const auto refused = [](auto change) {
        auto info = some_info();
        change(info);
        EXPECT_THROW(hello_of(info), Error);
    };
    refused([](StreamInfo& info) { info.shape.width = 0; });
    refused([](StreamInfo& info) { info.shape.frames = 2; });
    refused([](StreamInfo& info) { info.shape.channels = 4; });
    refused([](StreamInfo& info) { info.threshold = -1; });
    refused([](StreamInfo& info) { info.rate = {0, 1}; });
    refused([](StreamInfo& info) { info.rate = {std::int64_t{1} << 32, 1}; });
}

TEST(CleanText, KeepsUtf8AndReplacesTheRest) {
    EXPECT_EQ(clean_text("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xa5", 255),
              "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xa5");
    EXPECT_EQ(clean_text("a\x1b[31mb\n", 255), "a?[31mb?");
    EXPECT_EQ(clean_text("\xc2\x9b", 255), "?");                       // a C1 control character
    EXPECT_EQ(clean_text("\x7f", 255), "?");                           // DEL
    EXPECT_EQ(clean_text("\xc3", 255), "?");                           // truncated
    EXPECT_EQ(clean_text("\xc0\xaf", 255), "??");                      // overlong
    EXPECT_EQ(clean_text("\xe0\x80\xaf\xed\xa0\x80", 255), "??????");  // overlong, then a surrogate
    EXPECT_EQ(clean_text("\xf4\x90\x80\x80", 255), "????");            // beyond Unicode
    EXPECT_EQ(clean_text("ab\xe2\x82\xac", 4), "ab");                  // never splits a character
    EXPECT_EQ(clean_text(std::string(1000, 'x'), 255).size(), 255u);
}

// Characters that are valid but reverse, hide or break the text around them.
TEST(CleanText, ReplacesInvisibleAndReorderingCharacters) {
    EXPECT_EQ(clean_text("gnp\xe2\x80\xae.exe", 255), "gnp?.exe");  // U+202E, right-to-left override
    EXPECT_EQ(clean_text("a\xe2\x80\xa8"
                         "b\xe2\x80\xa9"
                         "c",
                         255),
              "a?b?c");  // U+2028 and U+2029, line and paragraph separators
    for (const char* character :
         {"\xc2\x85", "\xc2\xad", "\xd8\x9c", "\xe2\x80\x8b", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa",
          "\xe2\x81\xa0", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xef\xbb\xbf", "\xef\xbf\xb9", "\xf3\xa0\x80\x81"})
        EXPECT_EQ(clean_text(character, 255), "?") << fmt::format("{:02x}", fmt::join(std::string(character), " "));
    // Characters with neighbouring codes stay, and so do joiners, which words and emoji need.
    for (const char* character : {"\xc2\xac", "\xc2\xae", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\xa7",
                                  "\xe2\x80\xaf", "\xe2\x81\xb0", "\xef\xbf\xbd", "\xf3\xa0\x84\x80"})
        EXPECT_EQ(clean_text(character, 255), character);
}

TEST(CleanText, IsAppliedToSentAndReceivedTexts) {
    auto info = some_info();
    info.source = "yard\xe2\x80\xae";
    auto hello = hello_of(info);
    EXPECT_EQ(read_server_hello(payload_of(hello, preamble_bytes)).info.source, "yard?");
    auto error = error_message(Refusal::failed, "go12 home", false);
    const auto at = std::search(error.begin(), error.end(), std::begin("12"), std::end("12") - 1);
    at[0] = 0xc2;
    at[1] = 0x9b;
    EXPECT_EQ(read_error(payload_of(error)).text, "go? home");
    EXPECT_THROW(viewer_hello({"ma\x1bin"}), Error);
}

}  // namespace
}  // namespace framewire::net
