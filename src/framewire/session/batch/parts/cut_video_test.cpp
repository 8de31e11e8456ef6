#include "framewire/session/batch/parts/cut_video.hpp"

#include "framewire/session/detect.hpp"
#include "framewire/session/job_testing.hpp"
#include "framewire/session/run.hpp"

#include <filesystem>

namespace framewire::session {
namespace cut_video_test {

using End = PieceOutcome::End;

class CutVideo : public JobTest {
protected:
    // 24 frames at 3 frames/s.
    InputOptions room() const { return {.source = endless_camera() + ":frames=24", .filters = "noise"}; }

    // The synthetic room as a video in this folder; output files of a time range have its name in front.
    Piece piece(const std::string& folder, const InputOptions& input, const std::string& name = "") {
        const RunOptions options{.job = job(), .input = input, .output = folder_ / (folder + "/" + name + "room.y4m")};
        return {"room", name + "room.y4m", files_of(options), "-o", piece_work<RunJob>(options)};
    }
    CutPiece cut(const Piece& whole, const InputOptions& input, double seconds) {
        const Cutting cutting{seconds, {}, look_back_of(input.filters, nullptr)};
        return cut_video(whole, input, cutting, true, {}, [=, this](const Stretch& stretch, const std::string& name) {
            auto part = input;
            part.stretch = stretch;
            return piece("parts", part, name + "-");
        });
    }
    std::vector<std::uint8_t> uncut() {
        RunJob({.job = job(), .input = room(), .output = folder_ / "uncut.y4m"}).run();
        return read_file(folder_ / "uncut.y4m");
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(CutVideo);

TEST_P(CutVideo, EqualsAnUncutRunWhenJoined) {
    for (const auto* folder : {"out", "parts"}) std::filesystem::create_directory(folder_ / folder);
    const auto whole = piece("out", room());
    const auto of_room = cut(whole, room(), 2);
    ASSERT_EQ(of_room.parts.size(), 4u);
    EXPECT_EQ(of_room.parts.back().name, "00003-room.y4m");
    for (const auto& part : of_room.parts) {
        const auto ignore = [](const Statistics&) {};
        EXPECT_EQ(part.work(job(), {ignore, ignore}).figures.frames, 6);
    }
    of_room.join(job());
    EXPECT_TRUE(read_file(folder_ / "out/room.y4m") == uncut());
}

TEST_P(CutVideo, RunsAsAPieceOfABatch) {
    auto whole = piece("out", room());
    whole.cut = [=, this] { return cut(whole, room(), 3); };
    const BatchOptions options{.job = job(), .folder = folder_ / "out", .version = "1", .jobs = 2};
    BatchJob batch(options, {whole});
    const auto& result = batch.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::made, true), 3);
    EXPECT_EQ(result.count(End::made), 1);
    EXPECT_TRUE(read_file(folder_ / "out/room.y4m") == uncut());
    BatchJob again(options, {whole});
    EXPECT_EQ(again.run(InTheWay::refuse).count(End::was_done), 1);
}

TEST_P(CutVideo, StaysWholeIfItsFramesAreUnknown) {
    for (const auto& input : {InputOptions{.source = endless_camera()}, room()})
        EXPECT_EQ(cut(piece("out", input), input, 60).parts.size(), 1u) << input.source;
}

TEST_P(CutVideo, RejectsOutputsThatCannotBeJoined) {
    const auto refused = [&](const DetectOptions& options) {
        return error_of([&] { require_can_be_joined(files_of(options)); });
    };
    const InputOptions input{.source = "a.mp4"};
    EXPECT_EQ(refused({.input = input, .output = "a.jsonl", .annotate = "a.Y4M", .labels = "a.npy"}), std::nullopt);
    EXPECT_EQ(refused({.input = input, .output = "a.json"}), ErrorCode::usage);
    EXPECT_EQ(refused({.input = input, .output = "a.jsonl", .mask = "a%03d.png"}), ErrorCode::usage);
}

}  // namespace cut_video_test
}  // namespace framewire::session
