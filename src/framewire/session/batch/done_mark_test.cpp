#include "framewire/session/batch/done_mark.hpp"

#include "framewire/session/job_testing.hpp"

#include <chrono>
#include <filesystem>

namespace framewire::session {
namespace done_mark_test {

using Is = PieceState::Is;

class DoneMark : public ::testing::Test {
protected:
    void SetUp() override {
        write_file(folder_ / "in.avi", "the input");
        write_file(folder_ / "model", "another");
    }
    void make() {
        PieceInTheMaking piece(marks());
        piece.begin(making_);
        for (const auto& output : making_.outputs) write_file(output, "made");
        piece.finish(making_);
    }
    PieceMarks marks() const { return {folder_ / "", "sub/out.mkv"}; }
    Is state() const { return marks().state(making_).is; }
    std::string begun() const { return folder_ / ".framewire/sub/out.mkv.begun"; }

    TemporaryFolder folder_;
    Making making_{
        "1.0", {"-f=gray"}, {folder_ / "in.avi", folder_ / "model"}, {folder_ / "out.mkv", folder_ / "out.jsonl"}};
};

TEST_F(DoneMark, ExistsOnceAllOutputsExist) {
    EXPECT_EQ(state(), Is::missing);
    make();
    EXPECT_EQ(state(), Is::done);
    EXPECT_FALSE(std::filesystem::exists(begun()));
}

TEST_F(DoneMark, NamesTheFirstChange) {
    make();
    const auto expect_changed = [&](const Making& making, const std::string& what) {
        const auto found = marks().state(making);
        EXPECT_EQ(found.is, Is::changed) << what;
        EXPECT_EQ(found.what, what);
    };
    auto other = making_;
    other.version = "1.1";
    expect_changed(other, "the version of framewire");
    other = making_;
    other.options = {"-f=gray=average"};
    expect_changed(other, "the options");
    other = making_;
    other.outputs.pop_back();
    expect_changed(other, "the outputs that are wanted");
    write_file(folder_ / "model", "another one");
    expect_changed(making_, folder_ / "model");
    using namespace std::chrono_literals;
    // same size as before, but a later time
    write_file(folder_ / "in.avi", "The input");
    std::filesystem::last_write_time(folder_ / "in.avi", std::filesystem::file_time_type::clock::now() + 1s);
    expect_changed(making_, "it");
}

TEST_F(DoneMark, RecognisesForeignOutputs) {
    write_file(folder_ / "out.jsonl", "mine");
    EXPECT_EQ(state(), Is::in_the_way);
    EXPECT_EQ(marks().state(making_).what, folder_ / "out.jsonl");
    make();
    write_file(folder_ / "out.mkv", "changed by hand");
    EXPECT_EQ(state(), Is::in_the_way);
    std::filesystem::remove(folder_ / "out.mkv");
    EXPECT_EQ(state(), Is::missing);
}

TEST_F(DoneMark, LetsTheNextRunTakeOverAfterAKill) {
    make();
    std::filesystem::remove(folder_ / ".framewire/sub/out.mkv.done");
    write_file(begun(), "");
    EXPECT_EQ(state(), Is::unfinished);
    make();
    EXPECT_EQ(state(), Is::done);
    // killed between its last two steps
    write_file(begun(), "");
    EXPECT_EQ(state(), Is::done);
}

TEST_F(DoneMark, RejectsASecondRunOnTheSamePiece) {
    const PieceInTheMaking first(marks());
    EXPECT_EQ(error_of([&] { PieceInTheMaking second(marks()); }), ErrorCode::io);
    EXPECT_TRUE(std::filesystem::exists(begun()));
}

TEST_F(DoneMark, IgnoresInvalidMarkers) {
    make();
    for (const std::string text : {"", "\n\n", "{}", "{\"framewire\":\"1.0\"}\n"}) {
        write_file(folder_ / ".framewire/sub/out.mkv.done", text);
        EXPECT_EQ(state(), Is::in_the_way) << text;
    }
    write_file(folder_ / ".framewire/sub/out.mkv.done", std::string(std::size_t{2} << 20, 'x'));
    EXPECT_EQ(state(), Is::in_the_way);
}

TEST_F(DoneMark, RequiresItsInput) {
    std::filesystem::remove(folder_ / "in.avi");
    EXPECT_EQ(error_of([&] { state(); }), ErrorCode::no_input);
}

}  // namespace done_mark_test
}  // namespace framewire::session
