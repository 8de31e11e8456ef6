#include "framewire/jobs/gpu_fleet.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "kit/captured_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::jobs {
namespace {

const Processor cpu{BackendChoice::cpu};

// Returns the code and the text of the error that parse_gpus() throws.
std::pair<ErrorCode, std::string> refusal(const std::string& text, const std::vector<int>& there) {
    try {
        parse_gpus(text, there);
    } catch (const Error& error) {
        return {error.code(), error.what()};
    }
    return {};
}

TEST(ParseGpus, AcceptsAllAndIndices) {
    const std::vector<int> there{0, 1, 2};
    EXPECT_EQ(parse_gpus("all", there), there);
    EXPECT_EQ(parse_gpus("0", there), std::vector<int>{0});
    EXPECT_EQ(parse_gpus("2,0", there), (std::vector<int>{2, 0}));
    EXPECT_EQ(parse_gpus("all", {}), std::vector<int>{});
}

TEST(ParseGpus, RefusesOtherTextsWithTheAllowedOnes) {
    const std::vector<int> there{0, 1};
    for (const auto* text : {"", ",", "0,", ",0", "0,,1", "a", "0 1", "-1", "0x1", "all,0", "99999999999"})
        EXPECT_EQ(refusal(text, there),
                  std::pair(ErrorCode::usage, "--gpus " + std::string(text) +
                                                  ": no list of GPUs; allowed: all, or numbers such as 0 or 0,2"));
    EXPECT_EQ(refusal("0,1,0", there), std::pair(ErrorCode::usage, std::string("--gpus 0,1,0: GPU 0 is named twice")));
    EXPECT_EQ(refusal("0,2", there),
              std::pair(ErrorCode::config, std::string("--gpus 0,2: there is no GPU 2; allowed: 0, 1")));
    EXPECT_EQ(refusal("0", {}).first, ErrorCode::config);
}

TEST(MakeGpuFleet, NeedsTheCudaBackendForNamedGpus) {
    EXPECT_EQ(make_gpu_fleet(BackendChoice::cpu, ""), nullptr);
    EXPECT_THROW(make_gpu_fleet(BackendChoice::cpu, "all"), Error);
    const auto fleet = make_gpu_fleet(BackendChoice::automatic, "");
    EXPECT_EQ(fleet == nullptr, cuda::devices().empty());
    if (fleet) EXPECT_EQ(fleet->take()->processor().gpu, 0);
}

TEST(GpuFleet, GivesTheLeastLoadedProcessor) {
    GpuFleet fleet({cpu, cpu, cpu});
    std::vector<std::shared_ptr<GpuShare>> shares;
    for (const double load : {5.0, 1.0, 3.0, 1.0, 2.0}) shares.push_back(fleet.take(load));
    EXPECT_EQ(fleet.loads(), (std::vector<double>{5, 4, 3}));
    shares[0].reset();
    EXPECT_EQ(fleet.loads(), (std::vector<double>{0, 4, 3}));
    shares[4]->set_load(7);
    EXPECT_EQ(fleet.loads(), (std::vector<double>{0, 9, 3}));
    shares.clear();
    EXPECT_EQ(fleet.loads(), (std::vector<double>{0, 0, 0}));
}

TEST(GpuFleet, SpreadsJobsWithoutLoad) {
    GpuFleet fleet({cpu, cpu});
    const auto first = fleet.take(0), second = fleet.take(0);
    fleet.mark_failed(1, "a test asks for it");
    EXPECT_FALSE(first->has_failed());
    EXPECT_TRUE(second->has_failed());
}

TEST(GpuFleet, JobsOfAFailedProcessorMoveToTheOthers) {
    GpuFleet fleet({cpu, cpu});
    auto first = fleet.take(), second = fleet.take();
    EXPECT_NO_THROW(first->require_working());
    EXPECT_FALSE(first->must_move());
    fleet.mark_failed(0, "a test asks for it");
    EXPECT_THROW(first->require_working(), Error);
    EXPECT_TRUE(first->must_move());
    EXPECT_NO_THROW(second->require_working());
    EXPECT_FALSE(second->must_move());
    first = fleet.take();
    EXPECT_EQ(fleet.loads(), (std::vector<double>{0, 2 * GpuFleet::usual_load}));
}

TEST(GpuFleet, WithoutAWorkingProcessorOnlyTheLastResortIsLeft) {
    GpuFleet with({cpu}, cpu), without({cpu});
    const auto of_with = with.take(), of_without = without.take();
    with.mark_failed(0, "a test asks for it");
    without.mark_failed(0, "a test asks for it");
    EXPECT_TRUE(of_with->must_move());
    EXPECT_FALSE(with.take()->has_failed());
    EXPECT_TRUE(of_without->has_failed());
    EXPECT_FALSE(of_without->must_move());
    EXPECT_THROW(without.take(), Error);
}

TEST(GpuFleet, LogsAFailureOnce) {
    const kit::CapturedLog log;
    GpuFleet fleet({cpu, cpu});
    fleet.mark_failed(1, "first");
    fleet.mark_failed(1, "second");
    EXPECT_EQ(log.text(), "the CPU failed: first; it is not used any more\n");
}

TEST(GpuFleet, ThreadsTakeAndReturnShares) {
    GpuFleet fleet({cpu, cpu}, cpu);
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&] {
                for (int turn = 0; turn < 200; ++turn) fleet.take(turn)->set_load(2.0 * turn);
            });
        fleet.mark_failed(0, "a test asks for it");
    }
    EXPECT_EQ(fleet.loads(), (std::vector<double>{0, 0}));
}

TEST(GpuFleet, SharesOutliveTheFleet) {
    auto fleet = std::make_unique<GpuFleet>(std::vector<Processor>{cpu});
    const auto share = fleet->take();
    fleet.reset();
    EXPECT_EQ(share->processor().backend, BackendChoice::cpu);
    EXPECT_FALSE(share->must_move());
}

}  // namespace
}  // namespace framewire::jobs
