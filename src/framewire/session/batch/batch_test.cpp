#include "framewire/session/batch/batch.hpp"

#include "framewire/session/batch/batch_progress.hpp"
#include "framewire/session/job_testing.hpp"
#include "framewire/session/run.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace framewire::session {
namespace batch_test {

using End = PieceOutcome::End;

class Batch : public JobTest {
protected:
    // Returns a piece that converts a clip of this many frames to NAME.bgr.
    Piece piece(const std::string& name, int length) {
        const auto clip = folder_ / (name + ".y4m");
        RunJob(
            {.job = job(), .input = {.source = endless_camera() + fmt::format(":frames={}", length)}, .output = clip})
            .run();
        const RunOptions options{.job = job(), .input = {.source = clip}, .output = folder_ / ("out/" + name + ".bgr")};
        return {clip, name + ".bgr", files_of(options), "-o", piece_work<RunJob>(options)};
    }
    BatchOptions options(int jobs) const {
        return {.job = job(), .folder = folder_ / "out", .version = "1", .jobs = jobs};
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Batch);

TEST_P(Batch, SkipsFinishedPiecesInASecondRun) {
    const std::vector<Piece> pieces{piece("a", 3), piece("b", 1), piece("c", 2)};
    BatchJob first(options(2), pieces);
    EXPECT_EQ(first.run(InTheWay::refuse).count(End::made), 3);
    BatchJob second(options(2), pieces);
    const auto& result = second.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::was_done), 3);
    EXPECT_EQ(result.frames, 0);
    EXPECT_EQ(raw_frames(folder_ / "out/a.bgr").size(), 3u);
    EXPECT_EQ(raw_frames(folder_ / "out/c.bgr").size(), 2u);
}

TEST_P(Batch, ContinuesAfterAFailedPiece) {
    const std::vector<Piece> pieces{piece("a", 3), piece("b", 3), piece("c", 2)};
    std::filesystem::resize_file(folder_ / "b.y4m", frame_bytes * 2);
    BatchJob batch(options(1), pieces);
    const auto& result = batch.run(InTheWay::refuse);
    EXPECT_EQ(result.count(End::made), 2);
    ASSERT_EQ(result.failures().size(), 1u);
    EXPECT_EQ(result.failures().front()->code, ErrorCode::source_lost);
    EXPECT_EQ(result.failures().front()->input, folder_ / "b.y4m");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/b.bgr"));
    EXPECT_GE(raw_frames(folder_ / "out/b.bgr.part").size(), 1u);
    const auto json = nlohmann::json::parse(to_json(result, {}));
    EXPECT_EQ(json["made"], 2);
    EXPECT_EQ(json["failures"][0]["code"], 69);
}

TEST_P(Batch, StopsOnRequest) {
    std::stop_source stop;
    auto stopped = options(1);
    stopped.job.stop = stop.get_token();
    stop.request_stop();
    BatchJob batch(stopped, {piece("a", 3)});
    EXPECT_EQ(batch.run(InTheWay::refuse).count(End::stopped), 1);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/a.bgr"));
}

TEST_P(Batch, RejectsPiecesWithTheSameOutput) {
    const auto one = piece("a", 1);
    EXPECT_EQ(error_of([&] { BatchJob(options(1), {one, one}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { BatchJob(options(0), {one}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { BatchJob(options(BatchOptions::most_jobs + 1), {one}); }), ErrorCode::usage);
}

TEST(BatchProgress, IsMeasuredInBytesOfRemainingInputs) {
    const BatchFigures figures{
        .files = 40, .ended = 12, .failed = 1, .frames = 600, .seconds = 20, .bytes = 1000, .ended_bytes = 250};
    EXPECT_EQ(batch_bar(figures, 80),
              "[====              ] 12/40 files  1 failed  600 frames  30.0 fps  1:00 left  25%");
    const auto json = nlohmann::json::parse(batch_json(figures));
    EXPECT_EQ(json["files"], 40);
    EXPECT_EQ(json["ended"], 12);
    EXPECT_EQ(json["failed"], 1);
    EXPECT_EQ(json["seconds_left"], 60);
    for (int columns = 0; columns < 120; ++columns)
        EXPECT_LE(batch_bar(figures, columns).size(), static_cast<std::size_t>(columns));
}

}  // namespace batch_test
}  // namespace framewire::session
