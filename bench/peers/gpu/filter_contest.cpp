#include "framewire/core/error.hpp"
#include "framewire/plan/chain.hpp"
#include "peers/filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace framewire::bench {
namespace gpu_filter_contest {

// One of the implementations that process the setting's batches.
struct Runner {
    std::string name;
    std::function<void(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)> run;
    std::vector<cuda::DeviceImage> results;
    Tolerance tolerance;
};

}  // namespace gpu_filter_contest

void hold_filter_contest(Session& session, GpuSetting& setting, const FilterPeers& peers) {
    using namespace gpu_filter_contest;
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    const auto chain = parse_chain(peers.chain);
    const auto& call = chain.calls.front();
    const auto frame = setting.pictures->frame();
    const auto own = call.filter->make(call.values, setting.shape(), executor);
    const auto shape = own->output_shape(), one = shape.with_frames(1);

    std::vector<Runner> runners;
    runners.push_back({"framewire cuda",
                       [&](auto in, auto out) {
                           own->run(FilterImages<MemorySpace::device>{in, {}, out});
                       },
                       {},
                       {}});
    if (peers.npp && !(peers.npp_slow && setting.batch > 1)) try {
            runners.push_back({"NPP",
                               [batch = setting.batch, step = peers.npp(frame, one, stream)](auto in, auto out) {
                                   for (int index = 0; index < batch; ++index)
                                       step(in.frames(index, 1), out.frames(index, 1));
                               },
                               {},
                               peers.npp_tolerance});
        } catch (const Error& error) {  // this machine has no NPP, or its NPP lacks the function
            fmt::print("{}: {}\n", peers.name, error.what());
        }
    for (auto& runner : runners)
        for (std::size_t index = 0; index < setting.batches.size(); ++index) runner.results.emplace_back(shape);

    // Compares the last frame of the first batch, as each implementation and the CPU computes it.
    HostImage want(one);
    call.filter->make(call.values, frame, session.cpu())
        ->run(FilterImages<MemorySpace::host>{
            setting.pictures->frames.view().frames((setting.batch - 1) % setting.pictures->count(), 1),
            {},
            want.view()});
    std::vector<Contestant> contestants;
    std::vector<HostImage> got;
    for (auto& runner : runners) {
        runner.run(std::as_const(setting.batches.front()).view(), runner.results.front().view());
        got.emplace_back(one);
        cuda::download(std::as_const(runner.results.front()).view().frames(setting.batch - 1, 1), got.back().view(),
                       stream);
        stream.synchronize();
    }
    for (std::size_t index = 0; index < runners.size(); ++index)
        contestants.push_back({runners[index].name,
                               {},
                               [&, index] {
                                   return agreement(got[index].view(), want.view(), runners[index].tolerance,
                                                    runners[index].name);
                               },
                               runners[index].tolerance.why});
    const double bytes = static_cast<double>(frame.bytes() + one.bytes());
    auto rows = agreeing_rows(session, peers.name, frame, setting.transfers ? 0 : bytes, contestants);

    HostImage down;
    if (setting.transfers) down = HostImage(shape, cuda::pinned_memory());
    std::vector<std::function<void(int turn)>> candidates;
    for (auto& runner : runners)
        if (std::ranges::any_of(rows, [&](const Row& row) { return row.runner == runner.name; }))
            candidates.push_back([&](int turn) {
                const auto at = static_cast<std::size_t>(turn) % setting.batches.size();
                if (setting.transfers) cuda::upload(setting.pinned.view(), setting.batches[at].view(), stream);
                runner.run(std::as_const(setting.batches[at]).view(), runner.results[at].view());
                if (setting.transfers) cuda::download(std::as_const(runner.results[at]).view(), down.view(), stream);
            });
    const auto timings = time_by_turns(session, setting.turns(), setting.batch, candidates);
    for (std::size_t index = 0; index < rows.size(); ++index) {
        rows[index].timing = timings[index];
        setting.describe(rows[index]);
    }
    add_contest(session, std::move(rows));
}

}  // namespace framewire::bench
