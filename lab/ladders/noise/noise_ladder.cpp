#include "framewire/filters/noise.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/noise/noise_kernels.hpp"
#include "ladders/noise/positions_ladder.hpp"
#include "ladders/pictures/picture_ladder.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "suites.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace noise_ladder {

constexpr const char* suite = "ladders/noise";
constexpr NoiseParameters mask{.threshold = ladder_threshold};
constexpr NoiseParameters over_previous{
    .threshold = ladder_threshold, .mode = NoiseMode::overlay, .base = NoiseBase::previous};

PicturePair pair_of(const Shape& shape, const NoiseParameters& parameters) {
    PicturePair pair(shape);
    for (const int moment : {0, 1})
        noise_reference(parameters, std::as_const(pair.frames[moment]).view(),
                        std::as_const(pair.frames[moment ^ 1]).view(), pair.want[moment].view());
    return pair;
}

// Runs the report's loop (section 5.0.1).
void noise_loop(const std::uint8_t* now, const std::uint8_t* before, std::int64_t pixels, std::uint8_t* out) {
    for (std::int64_t i = 0; i < 3 * pixels; i += 3) {
        out[i] = 0;
        out[i + 1] = 0;
        if (std::abs(now[i] - before[i]) > ladder_threshold ||
            std::abs(now[i + 1] - before[i + 1]) > ladder_threshold ||
            std::abs(now[i + 2] - before[i + 2]) > ladder_threshold)
            out[i + 2] = 255;
        else
            out[i + 2] = 0;
    }
}

void run_cpu(Session& session, const PicturePair& pair) {
    const Noise noise(mask, pair.frames[0].shape(), session.cpu());
    run_picture_on_cpu(session, pair,
                       {.suite = suite,
                        .loop = noise_loop,
                        .filter_name = "framewire's filter, mask",
                        .filter = [&](const auto& images) { noise.run(images); },
                        .whole = {"section 5.0.1", 250000}});
}

void run_kernels(Session& session, const PicturePair& masks, const PicturePair& overlays) {
    if constexpr (cuda::compiled) {
        const std::vector<int> sweep{32, 64, 128, 256, 512, most_threads};
        const char* const mended = "The report's threads split pixels and skip the last ones; both are fixed here.";
        run_picture_variant(session, masks,
                            {.suite = suite,
                             .operation = "16-byte chunks",
                             .launch = launch_noise_all_bytes,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::onto_out,
                             .threads = sweep,
                             .kernel_time = {"table 15", 21759, 19489, 32942},
                             .up = {"table 15", 2546.9, 2213.4, 6855.2},
                             .down = {"table 15", 2414.1, 2182.8, 3540.8},
                             .whole = {"section 5.0.2", 26000},
                             .note = mended});
        run_picture_variant(session, masks,
                            {.suite = suite,
                             .operation = "red byte only",
                             .launch = launch_noise_red_bytes,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::onto_out,
                             .threads = sweep,
                             .kernel_time = {"table 16", 16684, 16372, 35942},
                             .up = {"table 16", 2629.4, 2226.5, 6384.1},
                             .down = {"table 16", 2629.4, 2226.5, 6384.1},
                             .whole = {"section 5.0.3", 22000},
                             .note = mended});
        run_picture_variant(session, masks,
                            {.suite = suite,
                             .operation = "memset first",
                             .launch = launch_noise_red_where_noisy,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::cleared,
                             .threads = sweep,
                             .kernel_time = {"table 17", 8941.5, 2788.6, 31195},
                             .up = {"table 17", 4071.4, 2466.4, 6683.4},
                             .down = {"table 17", 4071.4, 2466.4, 6683.4},
                             .memset = {"table 17", 1884.1, 765.87, 3780.4},
                             .note = mended});
        run_picture_variant(
            session, overlays,
            {.suite = suite,
             .operation = "over the frame before",
             .launch = launch_noise_over_previous,
             .frames = PictureVariant::swapped,
             .drawn = PictureVariant::over,
             .threads = sweep,
             .kernel_time = {"table 18", 7564.7, 4942.1, 51426},
             .up = {"table 18", 3345, 2496, 6616.1},
             .down = {"table 18", 3316, 2835.9, 4229.7},
             .whole = {"section 5.0.5", 16500},
             .note = "The report stores differences in 8 bits, where large ones look small; this is fixed here."});
    }
}

void run_filter(Session& session, const PicturePair& pair, const NoiseParameters& parameters, const char* operation) {
    const auto& stream = session.gpu()->stream();
    const auto& shape = pair.frames[0].shape();
    const Noise noise(parameters, shape, *session.gpu());
    HostImage got(shape, cuda::pinned_memory()), frame(shape, cuda::pinned_memory());
    copy(pair.frames[1].view(), frame.view());
    cuda::DeviceImage now(shape), before(shape), out(shape);
    cuda::upload(pair.frames[0].view(), before.view(), stream);
    const auto run = [&](int) {
        if constexpr (cuda::compiled)
            noise.run(
                FilterImages<MemorySpace::device>{std::as_const(now).view(), std::as_const(before).view(), out.view()});
    };
    const auto whole = [&](int) {
        cuda::upload(frame.view(), now.view(), stream);
        run(0);
        cuda::download(out.view(), got.view(), stream);
        stream.synchronize();
    };
    whole(0);
    require_close(std::as_const(got).view(), pair.want[1].view(), 0, operation);
    const double bytes = static_cast<double>(shape.bytes());
    const auto add = [&](const char* step, const Timing& timing, double moved, const char* limit) {
        session.add({.suite = suite,
                     .operation = operation,
                     .runner = "framewire cuda",
                     .timing = timing,
                     .bytes = moved,
                     .details = {{"step", step}},
                     .limit = limit});
    };
    add("kernel", session.time_launches(run), 3 * bytes, "");
    add("whole", session.time_host(whole), 2 * bytes, "cuda up");
}

// Draws the report's figures 18 and 24.
void draw_room(const Session& session) {
    const auto room = room_pair();
    HostImage noise(room.now.shape());
    for (const auto& [name, parameters] : {std::pair{"noise", mask}, std::pair{"noise_over", over_previous}}) {
        noise_reference(parameters, room.now.view(), room.before.view(), noise.view());
        write_picture(session, name, std::as_const(noise).view());
    }
}

void run_noise(Session& session) {
    if (!session.pictures().empty()) draw_room(session);
    const auto shape = ladder_frame(session);
    const auto masks = pair_of(shape, mask), overlays = pair_of(shape, over_previous);
    session.attempt("ladders/noise on the CPU", [&] { run_cpu(session, masks); });
    if (session.gpu()) {
        run_kernels(session, masks, overlays);
        session.attempt("ladders/noise, framewire cuda", [&] {
            run_filter(session, masks, mask, "framewire's filter, mask");
            run_filter(session, overlays, over_previous, "framewire's filter, over the frame before");
        });
    }
    run_noise_positions(session);
}

const SuiteEntry noise_suite{"ladders", "noise", run_noise};

}  // namespace noise_ladder
}  // namespace framewire::bench
