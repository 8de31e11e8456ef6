#include "framewire/core/error.hpp"
#include "framewire/detect/components.hpp"
#include "kit/masks.hpp"
#include "peers/gpu/gpu_setting.hpp"
#include "peers/gpu/npp_steps.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace framewire::bench {
namespace gpu_labels {

constexpr int capacity = 8192;
constexpr int discs = 600;

constexpr double differing_share = 0.01;

// Requires the same regions with other numbers, except for a few pixels. NPP's images may also number pixels outside of
// the regions; these are ignored.
std::string agreement_of(const std::vector<std::uint32_t>& got, const std::vector<std::int32_t>& want) {
    std::map<std::int32_t, std::uint32_t> names;
    std::map<std::uint32_t, std::int32_t> owners;
    std::size_t differing = 0, pixels = 0;
    for (std::size_t at = 0; at < want.size(); ++at) {
        if (want[at] == 0) continue;
        ++pixels;
        const auto name = names.try_emplace(want[at], got[at]).first->second;
        const auto owner = owners.try_emplace(got[at], want[at]).first->second;
        differing += name != got[at] || owner != want[at];
    }
    const double share = static_cast<double>(differing) / static_cast<double>(pixels);
    if (!(share <= differing_share))
        fail(ErrorCode::internal, "NPP assigns {:.1f} % of the pixels to other regions than framewire; not timed",
             100 * share);
    return differing == 0 ? fmt::format("equal, {} found", names.size())
                          : fmt::format("{} found, {:.3f} % of their pixels in others", names.size(), 100 * share);
}

}  // namespace gpu_labels

void hold_labels_contest(Session& session, GpuSetting& setting) {
    using namespace gpu_labels;
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    const auto frame = setting.pictures->frame().with_channels(1), shape = frame.with_frames(setting.batch);
    const auto pixels = static_cast<std::size_t>(frame.bytes());
    HostImage mask(frame);
    kit::fill_discs(mask.view(), discs, 1);
    HostBitMask packed(frame);
    pack_mask(std::as_const(mask).view(), packed.view());

    std::vector<DeviceBitMask> masks;
    std::vector<cuda::DeviceImage> byte_masks;
    std::vector<cuda::DeviceBuffer> own_labels, npp_labels;
    for (std::size_t index = 0; index < setting.batches.size(); ++index) {
        masks.emplace_back(shape);
        byte_masks.emplace_back(shape);
        for (auto* labels : {&own_labels, &npp_labels})
            labels->emplace_back(pixels * static_cast<std::size_t>(setting.batch) * sizeof(std::uint32_t));
        for (int at = 0; at < setting.batch; ++at) {
            cuda::upload(packed.view().data(), masks.back().view().row(at, 0), bit_mask_bytes(frame), stream);
            cuda::upload(std::as_const(mask).view(), byte_masks.back().view().frames(at, 1), stream);
        }
    }
    stream.synchronize();
    ComponentLabelling labelling({.capacity = capacity, .label_images = true}, shape, executor);
    DeviceComponents lists(setting.batch, capacity);
    const auto npp = npp::labels(frame, stream);
    const auto last = static_cast<std::size_t>(setting.batch - 1) * pixels;

    std::vector<Contestant> contestants{
        {"framewire cuda",
         [&](int turn) {
             const auto at = static_cast<std::size_t>(turn) % masks.size();
             if constexpr (cuda::compiled)
                 labelling.run(masks[at].view(), lists.lists(), {own_labels[at].as<std::int32_t>()});
         }},
        {"NPP",
         [&](int turn) {
             const auto at = static_cast<std::size_t>(turn) % masks.size();
             for (int index = 0; index < setting.batch; ++index)
                 npp(byte_masks[at].view().frames(index, 1),
                     npp_labels[at].as<std::uint32_t>() + static_cast<std::size_t>(index) * pixels);
         },
         [&] {
             std::vector<std::int32_t> want(pixels);
             std::vector<std::uint32_t> got(pixels);
             cuda::download(own_labels.front().as<std::int32_t>() + last, want.data(), pixels * 4, stream);
             cuda::download(npp_labels.front().as<std::uint32_t>() + last, got.data(), pixels * 4, stream);
             stream.synchronize();
             return agreement_of(got, want);
         },
         "NPP returns only labels, from masks of one byte per pixel."}};
    for (const auto& contestant : contestants) contestant.run(0);
    stream.synchronize();
    const double bytes = static_cast<double>(bit_mask_bytes(frame)) + 4.0 * static_cast<double>(pixels);
    auto rows = agreeing_rows(session, "labels with boxes", setting.pictures->frame(), bytes, contestants);
    std::vector<std::function<void(int turn)>> candidates;
    for (const auto& contestant : contestants) candidates.push_back(contestant.run);
    const auto timings = time_by_turns(session, setting.turns(), setting.batch, candidates);
    for (std::size_t index = 0; index < rows.size(); ++index) {
        rows[index].timing = timings[index];
        setting.describe(rows[index]);
    }
    add_contest(session, std::move(rows));
}

}  // namespace framewire::bench
