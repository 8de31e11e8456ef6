#include "framewire/net/stream_state.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/keyframe_coder.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/testing/test_hello.hpp"
#include "framewire/net/testing/test_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::net {
namespace {

using testing::expect_equal;
using testing::hello_of;
using testing::picture_of;
using testing::TestStream;

Receiver::Outcome deliver(const Bytes& message, Receiver& receiver) {
    const ByteSpan bytes(message);
    const auto header = read_header(bytes.first(header_bytes), receiver.max_packed_bytes());
    EXPECT_EQ(header.length_bytes, bytes.size() - header_bytes);
    return receiver.take(header.type, bytes.subspan(header_bytes));
}

// Brings a viewer to the newest state as a server does.
void bring_up_to_date(StreamState& state, Receiver& receiver) {
    const auto held = receiver.state().version;
    auto delta_frames = held > 0 ? state.delta_frames(held) : std::vector<StateMessage>();
    if (delta_frames.empty() && state.version() > held) {
        deliver(*picture_of(state).bytes, receiver);
        delta_frames = state.delta_frames(receiver.state().version);
    }
    for (const auto& delta_frame : delta_frames) deliver(*delta_frame.bytes, receiver);
}

TEST(StreamState, EachStateHasItsOwnObjects) {
    const StreamInfo info{{1, 4, 4, 1}, codec::Mode::exact, 20, {30, 1}, "a test"};
    StreamState state(info);
    Receiver follower(hello_of(state)), late(hello_of(state));
    const auto object = [](int id) {
        return Component{.id = id, .x = 1, .y = 0, .width = 2, .height = 3, .area = 5, .sum_x = 0, .sum_y = 0};
    };
    HostImage picture(info.shape);
    kit::fill(picture.view(), kit::Fill::noise);
    codec::ExactPacker packer(info.shape);
    Bytes none;  // a delta frame without changes
    packer.pack_step(picture.view(), picture.view(), info.threshold, none);
    state.attach();
    const std::vector first{object(1)}, second{object(1), object(2)};
    state.start(picture.view(), {}, first);
    bring_up_to_date(state, follower);
    EXPECT_TRUE(std::ranges::equal(follower.objects(), first));
    state.advance(picture.view(), none, {}, second);
    for (auto* viewer : {&follower, &late}) {
        bring_up_to_date(state, *viewer);
        EXPECT_TRUE(std::ranges::equal(viewer->objects(), second));
    }
    state.advance(picture.view(), none, {});
    bring_up_to_date(state, late);
    EXPECT_TRUE(late.objects().empty());
}

TEST(StreamState, ViewerFollowsEveryDeltaFrame) {
    TestStream stream;
    Receiver viewer(hello_of(stream.state));
    stream.state.attach();
    for (int i = 0; i < 50; ++i) {
        stream.step();
        bring_up_to_date(stream.state, viewer);
        EXPECT_EQ(viewer.state().version, static_cast<std::uint64_t>(i) + 1);
        EXPECT_EQ(viewer.state().frame, i);
        expect_equal(viewer.picture(), stream.reference());
    }
    EXPECT_EQ(viewer.counts().keyframes, 1);
    EXPECT_EQ(viewer.counts().changes, 49);
    EXPECT_GT(viewer.counts().changed_bytes, 0);
    const auto counts = stream.state.counts();
    EXPECT_EQ(counts.keyframes, 1);
    EXPECT_EQ(counts.delta_frames, 49);
    EXPECT_EQ(counts.up_to_date_bytes, counts.keyframe_bytes + counts.delta_frame_bytes);
}

TEST(StreamState, DeltaFrameMessagesEndWithThePackedBytes) {
    TestStream stream;
    EXPECT_FALSE(stream.state.watched());
    stream.state.attach();
    EXPECT_TRUE(stream.state.watched());
    stream.step();
    for (std::uint64_t version = 1; version < 10; ++version) {
        stream.step();
        const auto delta_frames = stream.state.delta_frames(version);
        ASSERT_EQ(delta_frames.size(), 1u);
        const ByteSpan message(*delta_frames[0].bytes);
        EXPECT_TRUE(std::ranges::equal(message.subspan(delta_frames[0].packed_at), stream.packed()));
    }
    stream.state.detach();
    EXPECT_FALSE(stream.state.watched());
}

// Feeds delta frames that are already packed, each with the picture to which it leads.
TEST(StreamState, AcceptsPackedDeltaFramesWithTheirPictures) {
    const Shape shape{1, 60, 80, 3};
    TestStream scene(shape);
    StreamState state({shape, codec::Mode::bounded, 20, {30, 1}, "a test"});
    codec::BoundedPacker packer(shape, 1);
    HostImage reference(shape);
    state.attach();
    Receiver viewer(hello_of(state)), late(hello_of(state));
    std::int64_t bytes = 0;
    for (int i = 0; i < 10; ++i) {
        scene.step();
        Bytes packed;
        if (i == 0)
            packer.pack_first(scene.current(), reference.view(), 20, packed);
        else
            packer.pack_step(scene.current(), reference.view(), 20, packed);
        const FrameTime time{i, i / 30.0, Clock::now()};
        if (i == 0)
            state.start(std::as_const(reference).view(), time, {}, packed);
        else
            state.advance(std::as_const(reference).view(), packed, time);
        bytes += static_cast<std::int64_t>(packed.size() + state_header_bytes + header_bytes);
        bring_up_to_date(state, viewer);
        expect_equal(viewer.picture(), std::as_const(reference).view());
    }
    EXPECT_EQ(viewer.counts().keyframes, 1);
    EXPECT_EQ(viewer.counts().changes, 9);
    EXPECT_EQ(state.counts().up_to_date_bytes, bytes);
    bring_up_to_date(state, late);
    expect_equal(late.picture(), std::as_const(reference).view());
    state.detach();
    scene.step();
    state.start(scene.current(), {10, 10 / 30.0, Clock::now()});
    EXPECT_TRUE(state.delta_frames(10).empty()) << "no delta frame leads to a picture supplied without one";
    bring_up_to_date(state, late);
    expect_equal(late.picture(), scene.current());
}

// The hello announces the greatest threshold, and each state its own, also to late viewers.
TEST(StreamState, ViewersReceiveTheCurrentThreshold) {
    const Shape shape{1, 60, 80, 3};
    TestStream scene(shape, codec::Mode::exact, 40);
    const StreamInfo info{shape, codec::Mode::exact, 64, {30, 1}, "a test"};
    StreamState state(info);
    codec::ExactPacker packer(shape);
    HostImage reference(shape);
    Bytes packed;
    state.attach();
    Receiver viewer(hello_of(state));
    EXPECT_EQ(viewer.threshold(), 64);
    for (const int threshold : {20, 20, 64, 31, 30, 0, 64}) {
        SCOPED_TRACE(threshold);
        scene.step();
        const FrameTime time{scene.frames(), static_cast<double>(scene.frames()), Clock::now()};
        if (scene.frames() == 1) {
            copy(scene.current(), reference.view());
            state.start(std::as_const(reference).view(), time, {}, {}, threshold);
        } else {
            packed.clear();
            packer.pack_step(scene.current(), reference.view(), threshold, packed);
            state.advance(std::as_const(reference).view(), packed, time, {}, threshold);
        }
        Receiver late(hello_of(state));
        bring_up_to_date(state, viewer);
        bring_up_to_date(state, late);
        expect_equal(viewer.picture(), std::as_const(reference).view());
        expect_equal(late.picture(), std::as_const(reference).view());
        EXPECT_EQ(viewer.threshold(), threshold);
        EXPECT_EQ(late.threshold(), threshold);
        EXPECT_EQ(kit::first_difference(viewer.picture(), scene.current(), threshold), std::nullopt);
    }
    EXPECT_THROW(state.advance(std::as_const(reference).view(), packed, {}, {}, 65), Error);
    EXPECT_THROW(state.advance(std::as_const(reference).view(), packed, {}, {}, -1), Error);
    EXPECT_THROW(state.start(scene.current(), {}, {}, {}, 65), Error);
}

// A server must not exceed the threshold of its hello.
TEST(Receiver, RejectsAThresholdAboveThatOfTheHello) {
    TestStream stream;
    stream.state.attach();
    stream.step();
    stream.step();
    auto narrow = hello_of(stream.state);
    narrow.info.threshold = stream.threshold() - 1;
    Receiver viewer(narrow);
    EXPECT_THROW(deliver(*picture_of(stream.state).bytes, viewer), Error);
    Receiver again(hello_of(stream.state));
    bring_up_to_date(stream.state, again);
    EXPECT_EQ(again.threshold(), stream.threshold());
    again.restart(narrow);
    stream.step();
    EXPECT_THROW(bring_up_to_date(stream.state, again), Error);
}

// Attaches a viewer and lets it take one more frame: it gets a keyframe and then a delta frame.
void expect_late_viewer_to_catch_up(TestStream& stream) {
    Receiver late(hello_of(stream.state));
    stream.state.attach();
    bring_up_to_date(stream.state, late);
    expect_equal(late.picture(), stream.reference());
    stream.step();
    bring_up_to_date(stream.state, late);
    expect_equal(late.picture(), stream.reference());
    EXPECT_EQ(late.counts().keyframes, 1);
    EXPECT_EQ(late.counts().changes, 1);
}

TEST(StreamState, NothingIsPackedWithoutViewers) {
    TestStream stream;
    for (int i = 0; i < 10; ++i) stream.step();
    EXPECT_EQ(stream.state.counts().delta_frames, 0);
    EXPECT_EQ(stream.state.counts().keyframes, 0);
    EXPECT_EQ(stream.state.counts().version, 10u);

    expect_late_viewer_to_catch_up(stream);

    stream.state.detach();
    stream.step();
    EXPECT_EQ(stream.state.counts().delta_frames, 1);
    EXPECT_TRUE(stream.state.delta_frames(11).empty()) << "the delta frame of version 12 was never packed";
}

// A viewer that comes back after frames that were not packed is missing only the blocks that they changed.
TEST(StreamState, BlocksStayValidWhileNothingIsPacked) {
    TestStream stream({1, 200, 300, 3}, codec::Mode::exact, 0);
    stream.state.attach();
    for (int i = 0; i < 3; ++i) stream.step();
    stream.state.detach();
    const auto blocks = static_cast<std::uint32_t>(stream.state.blocks());
    const BlockVersions held{stream.state.epoch(), {{stream.state.version(), blocks}}};
    codec::BlockSet changed(blocks);
    for (int i = 0; i < 5; ++i) {
        const auto& of_frame = stream.step_unpacked();
        for (std::size_t block = 0; block < blocks; ++block) changed[block] |= of_frame[block];
    }
    EXPECT_TRUE(codec::any(changed));
    EXPECT_FALSE(codec::all(changed));
    EXPECT_EQ(stream.state.version(), 8u);
    EXPECT_EQ(stream.state.missing(held).blocks, changed);
    EXPECT_TRUE(stream.state.delta_frames(7).empty());
    HostImage copied(stream.state.info().shape);
    EXPECT_EQ(stream.state.copy_reference(copied.view()).version, 8u);
    expect_equal(copied.view(), stream.reference());

    expect_late_viewer_to_catch_up(stream);
}

TEST(StreamState, ViewerSlightlyBehindGetsDeltaFrames) {
    TestStream stream({1, 60, 80, 3}, codec::Mode::exact, 0);
    Receiver viewer(hello_of(stream.state));
    stream.state.attach();
    stream.step();
    bring_up_to_date(stream.state, viewer);
    for (int i = 0; i < 5; ++i) stream.step();
    EXPECT_EQ(stream.state.delta_frames(viewer.state().version).size(), 5u);
    bring_up_to_date(stream.state, viewer);
    expect_equal(viewer.picture(), stream.reference());
}

TEST(StreamState, ViewerFarBehindGetsAKeyframe) {
    TestStream stream({1, 60, 80, 3}, codec::Mode::exact, 0);
    Receiver viewer(hello_of(stream.state));
    stream.state.attach();
    stream.step();
    bring_up_to_date(stream.state, viewer);
    for (int i = 0; i <= StreamState::delta_frames_kept; ++i) stream.step();
    EXPECT_TRUE(stream.state.delta_frames(viewer.state().version).empty());
    bring_up_to_date(stream.state, viewer);
    expect_equal(viewer.picture(), stream.reference());
    EXPECT_EQ(viewer.counts().keyframes, 2);
    EXPECT_EQ(viewer.counts().skipped, StreamState::delta_frames_kept);
}

TEST(StreamState, DeltaFrameSequencesAreSmallerThanAKeyframe) {
    TestStream stream({1, 60, 80, 3}, codec::Mode::lossless);  // noise in every delta frame
    Receiver viewer(hello_of(stream.state));
    stream.state.attach();
    stream.step();
    bring_up_to_date(stream.state, viewer);
    const auto picture_bytes = picture_of(stream.state).bytes->size();
    for (int i = 0; i < 20; ++i) stream.step();
    for (std::uint64_t version = 1; version <= 20; ++version) {
        const auto delta_frames = stream.state.delta_frames(version);
        std::size_t bytes = 0;
        for (const auto& delta_frame : delta_frames) bytes += delta_frame.bytes->size();
        EXPECT_TRUE(delta_frames.size() <= 1 || bytes < picture_bytes) << "from version " << version;
        EXPECT_FALSE(version == 20 && delta_frames.empty());
    }
    bring_up_to_date(stream.state, viewer);
    expect_equal(viewer.picture(), stream.current());
}

TEST(StreamState, KeyframeIsPackedOncePerVersion) {
    TestStream stream;
    stream.state.attach();
    EXPECT_EQ(picture_of(stream.state).version, 0u) << "there is no keyframe yet";
    EXPECT_TRUE(stream.state.delta_frames(0).empty());
    stream.step();
    const auto first = picture_of(stream.state);
    EXPECT_EQ(picture_of(stream.state).bytes, first.bytes);
    stream.step();
    EXPECT_NE(picture_of(stream.state).bytes, first.bytes);
    EXPECT_EQ(stream.state.counts().keyframes, 2);
}

TEST(StreamState, WithdrawnVersionsAreNotSent) {
    TestStream stream;
    Receiver viewer(hello_of(stream.state));
    stream.state.attach();
    for (int i = 0; i < 4; ++i) {
        stream.step();
        bring_up_to_date(stream.state, viewer);
    }
    EXPECT_EQ(stream.state.delta_frames(2).size(), 2u);
    EXPECT_EQ(stream.state.oldest_allowed(), 0u);
    EXPECT_FALSE(viewer.state().withdraws);
    stream.state.withdraw_before_next();
    EXPECT_EQ(stream.state.delta_frames(2).size(), 2u) << "the withdrawal takes effect with the next version";
    stream.step();
    EXPECT_EQ(stream.state.oldest_allowed(), 5u);
    EXPECT_EQ(stream.state.delta_frames(4).size(), 1u) << "the delta frame to the new version must remain available";
    EXPECT_TRUE(stream.state.delta_frames(3).empty());
    bring_up_to_date(stream.state, viewer);
    EXPECT_TRUE(viewer.state().withdraws) << "the withdrawal must be signalled to an up-to-date viewer";
    stream.step();
    EXPECT_EQ(stream.state.oldest_allowed(), 5u) << "a withdrawal must take effect only once";
    EXPECT_EQ(stream.state.delta_frames(4).size(), 2u);
    bring_up_to_date(stream.state, viewer);
    EXPECT_FALSE(viewer.state().withdraws);
}

TEST(StreamState, FinishEndsTheStream) {
    TestStream stream;
    stream.state.attach();
    stream.step();
    EXPECT_FALSE(stream.state.ended());
    stream.state.finish();
    EXPECT_TRUE(stream.state.ended());
    EXPECT_TRUE(stream.state.delta_frames(1).empty());
}

TEST(StreamState, RejectsInvalidDeltaFrames) {
    const Shape larger{1, 60, 160, 3};
    TestStream stream, other(larger);
    for (int i = 0; i < 5; ++i) other.step();
    EXPECT_THROW(stream.state.advance(stream.current(), other.packed(), {}), Error) << "it has blocks outside R";
    stream.step();
    stream.step();
    const auto before = stream.state.counts().version;
    EXPECT_THROW(stream.state.advance(stream.reference(), other.packed(), {}), Error) << "it has blocks outside R";
    EXPECT_THROW(stream.state.advance(stream.reference(), {}, {}), Error) << "it has no head";
    EXPECT_THROW(stream.state.advance(other.reference(), stream.packed(), {}), Error) << "the shape differs";
    EXPECT_EQ(stream.state.counts().version, before);

    TestStream not_started;
    EXPECT_THROW(not_started.state.advance(stream.reference(), stream.packed(), {}), Error);
    EXPECT_EQ(not_started.state.counts().version, 0u);
}

// An encoder whose R is that of a stream.
class EncodedStream {
public:
    EncodedStream() : packer_(shape), current_(shape), reference_(shape), state(info, reference()) { state.attach(); }

    static constexpr Shape shape{1, 130, 200, 3};  // twelve blocks
    inline static const StreamInfo info{shape, codec::Mode::exact, 5, {30, 1}, "a test"};

    // Encodes and announces the next frame, and keeps a copy of R. All of this happens in the update.
    void step() {
        StreamState::Update update(state);
        const auto frame = std::ssize(references);
        kit::fill(current_.view(), kit::Fill::noise, static_cast<std::uint64_t>(frame));
        packed_.clear();
        if (frame == 0)
            packer_.pack_first(current_.view(), reference(), info.threshold, packed_);
        else
            packer_.pack_step(current_.view(), reference(), info.threshold, packed_);
        references.emplace_back(shape);
        copy(reference(), references.back().view());
        const FrameTime time{frame, static_cast<double>(frame) / 30, Clock::now()};
        if (frame == 0)
            update.start(time, {}, packed_);
        else
            update.advance(packed_, time);
    }

    HostView<std::uint8_t> reference() { return reference_.view(); }

private:
    codec::ExactPacker packer_;
    HostImage current_, reference_;
    Bytes packed_;

public:
    StreamState state;
    std::vector<HostImage> references;  // by version - 1
};

// Expects that every encoded block of a state shows `picture`.
void expect_blocks_of(const std::shared_ptr<const WholeState>& whole, HostView<const std::uint8_t> picture) {
    ASSERT_TRUE(whole);
    const codec::BlockGrid grid(picture.shape());
    codec::PictureDecoder decoder;
    HostImage decoded(picture.shape());
    copy(picture, decoded.view());
    for (std::size_t block = 0; block < whole->blocks.size(); ++block)
        if (whole->blocks[block])
            EXPECT_TRUE(decoder.decode(*whole->blocks[block], grid.place(static_cast<int>(block)), decoded.view()));
    expect_equal(std::as_const(decoded).view(), picture);
}

// Threads ask for blocks and pictures while an encoder changes R without a pause. Each answer must show exactly its own
// version, and the encoder must let the other threads have their turn.
TEST(StreamState, BlocksFitTheirVersionWhileAnEncoderChangesR) {
    constexpr std::size_t answers = 20, readers = 3, most_frames = 20 * answers;  // 45 if R is handed over fairly
    EncodedStream stream;
    auto& state = stream.state;
    stream.step();
    std::atomic<std::size_t> reading = readers + 1;
    std::atomic<bool> stopped = false;
    const auto wait_for_next = [&](std::uint64_t version) {
        while (state.version() == version && !stopped) std::this_thread::yield();
    };
    std::vector<std::vector<std::shared_ptr<const WholeState>>> wholes(readers);
    std::vector<std::pair<std::uint64_t, HostImage>> copies;
    std::vector<std::jthread> threads;
    for (std::size_t reader = 0; reader < readers; ++reader)
        threads.emplace_back([&, reader] {
            for (std::size_t i = 0; i < answers; ++i) {
                codec::BlockSet wanted(state.blocks());
                for (std::size_t block = 0; block < wanted.size(); ++block)
                    wanted[block] = (block * 7 + i + reader) % 3 != 0 || i % 4 == 0;
                wholes[reader].push_back(state.whole(wanted, i % 5 == 0 ? state.version() - 1 : max_version));
                wait_for_next(wholes[reader].back()->header.version);
            }
            --reading;
        });
    threads.emplace_back([&] {
        for (std::size_t i = 0; i < answers; ++i) {
            HostImage copied(EncodedStream::shape);
            const auto version = state.copy_reference(copied.view()).version;
            copies.emplace_back(version, std::move(copied));
            wait_for_next(version);
        }
        --reading;
    });
    while (reading > 0 && stream.references.size() < most_frames) stream.step();
    stopped = true;
    EXPECT_EQ(reading, 0u) << "the encoder did not let the others read R";
    threads.clear();
    const auto reference = [&](std::uint64_t version) {
        return std::as_const(stream.references.at(version - 1)).view();
    };
    for (const auto& of_reader : wholes)
        for (const auto& whole : of_reader) {
            SCOPED_TRACE(whole->header.version);
            expect_blocks_of(whole, reference(whole->header.version));
            if (whole->picture.version == 0) continue;
            Receiver viewer(hello_of(state));
            EXPECT_EQ(deliver(*whole->picture.bytes, viewer), Receiver::Outcome::picture);
            EXPECT_EQ(viewer.state().version, whole->header.version);
            expect_equal(viewer.picture(), reference(whole->header.version));
        }
    for (const auto& [version, copied] : copies) expect_equal(copied.view(), reference(version));
}

// The network's loop must not wait for the encoder. A function that did would never return here.
TEST(StreamState, ServesDeltaFramesDuringAnUpdate) {
    EncodedStream stream;
    auto& state = stream.state;
    stream.step();
    stream.step();
    StreamState::Update update(state);
    kit::fill(stream.reference(), kit::Fill::zeros);
    EXPECT_EQ(state.version(), 2u);
    EXPECT_EQ(state.delta_frames(1).size(), 1u);
    EXPECT_EQ(state.oldest_allowed(), 0u);
    EXPECT_EQ(state.missing({}).version, 0u);
    EXPECT_GT(state.estimated_bytes(codec::BlockSet(state.blocks(), 1), max_version), 0u);
    EXPECT_EQ(state.counts().version, 2u);
    EXPECT_TRUE(state.watched());
    EXPECT_FALSE(state.ended());
    state.attach();
    state.detach();
    update.start({2, 2 / 30.0, Clock::now()});
    EXPECT_EQ(state.version(), 3u);
    Receiver viewer(hello_of(state));
    bring_up_to_date(state, viewer);
    expect_equal(viewer.picture(), stream.reference());
}

TEST(StreamState, CancelledUpdateChangesNothing) {
    EncodedStream stream;
    stream.step();
    StreamState::Update(stream.state).cancel();
    EXPECT_EQ(stream.state.version(), 1u);
    expect_blocks_of(testing::all_of(stream.state), stream.reference());
}

// An encoder may fail after it has changed a part of R. No viewer may get blocks of it.
TEST(StreamState, SendsNoBlocksAfterAFailedUpdate) {
    EncodedStream stream;
    auto& state = stream.state;
    stream.step();
    stream.step();
    HostImage copied(EncodedStream::shape);
    const auto expect_unknown = [&] {
        EXPECT_EQ(testing::all_of(state), nullptr);
        EXPECT_THROW(state.copy_reference(copied.view()), Error);
        EXPECT_EQ(state.version(), 2u);
        EXPECT_EQ(state.delta_frames(1).size(), 1u) << "the bytes of the last delta frame are still valid";
    };
    {
        const StreamState::Update update(state);
        stream.reference().data()[0] ^= 0xff;
    }
    expect_unknown();
    StreamState::Update(state).start({2, 2 / 30.0, Clock::now()});
    expect_blocks_of(testing::all_of(state), stream.reference());
    EXPECT_EQ(state.copy_reference(copied.view()).version, 3u);
    EXPECT_THROW(StreamState::Update(state).advance({}, {}), Error) << "a delta frame has a head";
    EXPECT_EQ(testing::all_of(state), nullptr) << "R may contain the change that was refused";
}

TEST(StreamState, IsFedEitherByItsEncoderOrWithPictures) {
    const auto& info = EncodedStream::info;
    EncodedStream stream;
    stream.step();
    auto& state = stream.state;
    const codec::BlockSet blocks(state.blocks());
    EXPECT_THROW(state.start(stream.reference(), {}), Error);
    EXPECT_THROW(state.advance(stream.reference(), {}, {}), Error);
    EXPECT_THROW(state.advance_blocks(stream.reference(), blocks, {}), Error);
    expect_blocks_of(testing::all_of(state), stream.reference());

    StreamState own(info);
    EXPECT_THROW(StreamState::Update{own}, Error);
    HostImage other({1, 8, 8, 3});
    EXPECT_THROW(StreamState(info, other.view()), Error);
    EXPECT_THROW(StreamState(info, HostView<const std::uint8_t>()), Error);
    StreamState not_started(info, stream.reference());
    EXPECT_EQ(testing::all_of(not_started), nullptr);
    EXPECT_THROW(StreamState::Update(not_started).advance_blocks(blocks, {}), Error);
    EXPECT_EQ(not_started.version(), 0u);
}

TEST(Receiver, RejectsInvalidServerMessages) {
    TestStream stream;
    stream.state.attach();
    stream.step();
    const auto picture = picture_of(stream.state);
    stream.step();
    const auto delta_frame = stream.state.delta_frames(1).at(0);
    stream.step();
    const auto later_delta_frame = stream.state.delta_frames(2).at(0);

    const auto lost = [](Receiver& viewer, const Bytes& message, const char* what) {
        try {
            deliver(message, viewer);
            ADD_FAILURE() << what;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::source_lost) << what;
        }
    };
    Receiver viewer(hello_of(stream.state));
    lost(viewer, *delta_frame.bytes, "a delta frame before the first keyframe");
    deliver(*picture.bytes, viewer);
    lost(viewer, *later_delta_frame.bytes, "a delta frame that skips a version");
    deliver(*delta_frame.bytes, viewer);
    lost(viewer, *picture.bytes, "a keyframe of an older version");
    lost(viewer, *delta_frame.bytes, "a repeated delta frame");
    EXPECT_EQ(deliver(*later_delta_frame.bytes, viewer), Receiver::Outcome::picture);
    expect_equal(viewer.picture(), stream.reference());

    const auto before = viewer.state().version;
    EXPECT_EQ(viewer.take(MessageType::alive, {}), Receiver::Outcome::nothing);
    EXPECT_EQ(viewer.take(MessageType::end, {}), Receiver::Outcome::ended);
    EXPECT_EQ(viewer.state().version, before);
    EXPECT_THROW(viewer.take(MessageType::hello, {}), Error);
    EXPECT_THROW(viewer.take(static_cast<MessageType>(99), {}), Error);
    const auto error = error_message(Refusal::failed, "out of order", false);
    try {
        deliver(error, viewer);
        ADD_FAILURE();
    } catch (const Error& failure) {
        EXPECT_NE(std::string(failure.what()).find("out of order"), std::string::npos);
    }
}

// Returns a copy of the message with another version in its header.
Bytes with_version(Bytes message, std::uint64_t version) {
    for (std::size_t i = 0; i < 8; ++i) message[header_bytes + i] = static_cast<std::uint8_t>(version >> (8 * i));
    return message;
}

TEST(Receiver, CountsSkippedVersionsWithoutOverflow) {
    TestStream stream;
    stream.state.attach();
    stream.step();
    const auto picture = *picture_of(stream.state).bytes;
    Receiver viewer(hello_of(stream.state));
    deliver(with_version(picture, 5), viewer);
    EXPECT_EQ(viewer.counts().skipped, 0) << "versions before the first keyframe are not skipped ones";
    deliver(with_version(picture, 8), viewer);
    EXPECT_EQ(viewer.counts().skipped, 2);
    for (const auto version : {max_version + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{0}})
        EXPECT_THROW(deliver(with_version(picture, version), viewer), Error) << version;
    EXPECT_EQ(viewer.state().version, 8u);
    EXPECT_EQ(viewer.counts().skipped, 2);
    const auto another_epoch = [&](int number) {
        auto hello = hello_of(stream.state);
        hello.epoch = static_cast<std::uint64_t>(number) + 1;
        return hello;
    };
    // Each connection may start again and skip all possible versions, until the sum of skipped versions would overflow.
    std::int64_t before = viewer.counts().skipped;
    for (int i = 0; i < 3000; ++i) {
        viewer.restart(another_epoch(i));
        deliver(with_version(picture, 1), viewer);
        deliver(with_version(picture, max_version), viewer);
        EXPECT_GE(viewer.counts().skipped, before);
        before = viewer.counts().skipped;
    }
    EXPECT_EQ(before, std::numeric_limits<std::int64_t>::max());
}

TEST(Receiver, KeepsThePictureWhileTheNextStateIsIncomplete) {
    const Shape shape{1, 150, 200, 3};
    TestStream stream(shape, codec::Mode::lossless, 60);
    stream.state.attach();
    stream.step();
    Receiver viewer(hello_of(stream.state));
    const auto deliver_in_parts = [&](Receiver& to, std::size_t parts) {
        const auto whole = testing::all_of(stream.state);
        codec::BlockSet missing(stream.state.blocks(), 1);
        PinnedState pinned(*whole, missing, false);
        for (std::size_t part = 0; part < parts && !pinned.unsent().empty(); ++part)
            deliver(*pinned.next_message(1, missing), to);
    };
    deliver_in_parts(viewer, 3);
    EXPECT_EQ(viewer.state().version, 0u) << "the first state is not complete";
    deliver_in_parts(viewer, 99);
    EXPECT_EQ(viewer.state().version, 1u);
    HostImage before(shape);
    for (int i = 0; i < 3; ++i) {
        copy(stream.reference(), before.view());
        stream.step();
        deliver_in_parts(viewer, stream.state.blocks() - 1);
        expect_equal(viewer.picture(), std::as_const(before).view());
        EXPECT_EQ(viewer.state().version, static_cast<std::uint64_t>(i) + 1);
        EXPECT_GT(viewer.block_versions().runs.size(), 1u);
        deliver_in_parts(viewer, 99);
        expect_equal(viewer.picture(), stream.reference());
    }
    // A state that is marked complete must be complete.
    Receiver late(hello_of(stream.state));
    const auto whole = testing::all_of(stream.state);
    codec::BlockSet missing(stream.state.blocks());
    missing[0] = 1;
    EXPECT_THROW(deliver(*PinnedState(*whole, missing, false).next_message(1, missing), late), Error);
}

TEST(Receiver, VersionsMayRestartOnANewConnection) {
    TestStream stream;
    stream.state.attach();
    stream.step();
    const auto picture = *picture_of(stream.state).bytes;
    stream.step();
    const auto delta_frame = *stream.state.delta_frames(1).at(0).bytes;
    Receiver viewer(hello_of(stream.state));
    deliver(with_version(picture, 100), viewer);
    auto other = hello_of(stream.state);
    other.epoch += 2;
    viewer.restart(other);
    EXPECT_EQ(viewer.state().version, 100u) << "the picture must be kept until a new one arrives";
    EXPECT_THROW(deliver(with_version(delta_frame, 101), viewer), Error)
        << "the new connection must start with a keyframe";
    deliver(with_version(picture, 1), viewer);
    EXPECT_EQ(viewer.state().version, 1u);
    deliver(delta_frame, viewer);
    EXPECT_EQ(viewer.state().version, 2u);
    expect_equal(viewer.picture(), stream.reference());
    EXPECT_EQ(viewer.counts().skipped, 0);
    EXPECT_EQ(viewer.counts().keyframes, 2);
    EXPECT_EQ(viewer.counts().changes, 1);
}

TEST(Receiver, SurvivesEveryCorruptByte) {
    TestStream stream({1, 8, 9, 3});
    stream.state.attach();
    stream.step();
    const auto picture = picture_of(stream.state);
    stream.step();
    const auto delta_frame = stream.state.delta_frames(1).at(0);
    const auto try_broken = [&](const Bytes& message, bool with_picture) {
        for (std::size_t i = header_bytes; i < message.size(); ++i)
            for (const int flip : {1, 0x80, 0xff}) {
                auto broken = message;
                broken[i] = static_cast<std::uint8_t>(broken[i] ^ flip);
                Receiver viewer(hello_of(stream.state));
                if (with_picture) deliver(*picture.bytes, viewer);
                try {
                    deliver(broken, viewer);
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::source_lost) << error.what();
                }
            }
        for (std::size_t length = 0; length < message.size() - header_bytes; ++length) {
            Receiver viewer(hello_of(stream.state));
            if (with_picture) deliver(*picture.bytes, viewer);
            const auto type = with_picture ? MessageType::changes : MessageType::picture;
            EXPECT_THROW(viewer.take(type, ByteSpan(message).subspan(header_bytes, length)), Error) << length;
        }
    };
    try_broken(*picture.bytes, false);
    try_broken(*delta_frame.bytes, true);
}

TEST(ControlRequests, UnsolicitedAnswersDoNotCompleteARequest) {
    ControlRequests requests;
    for (const auto* text : {"a", "b", "c"}) requests.request(text);
    EXPECT_EQ(requests.next(), "a");
    requests.take({true, "theirs", true});
    EXPECT_EQ(requests.state(), "theirs");
    EXPECT_EQ(requests.next(), std::nullopt) << "request a has not been answered";
    requests.take({false, "not a"});
    EXPECT_EQ(requests.refusal(), "not a");
    requests.take({true, "theirs again", true});
    EXPECT_EQ(requests.state(), "theirs again");
    EXPECT_EQ(requests.refusal(), "not a") << "the last request was still refused";
    EXPECT_EQ(requests.next(), "b");
    requests.take({true, "after b"});
    EXPECT_EQ(requests.state(), "after b");
    EXPECT_EQ(requests.refusal(), "");
    EXPECT_EQ(requests.next(), "c");
}

// Servers of version 4 do not mark unsolicited answers.
TEST(ControlRequests, UnmarkedAnswersWithoutARequestKeepTheRefusal) {
    ControlRequests requests;
    requests.request("a");
    EXPECT_EQ(requests.next(), "a");
    requests.take({false, "not a"});
    requests.take({true, "theirs"});
    EXPECT_EQ(requests.state(), "theirs");
    EXPECT_EQ(requests.refusal(), "not a");
}

}  // namespace
}  // namespace framewire::net
