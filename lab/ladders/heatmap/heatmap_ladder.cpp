#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "ladders/heatmap/heatmap_kernels.hpp"
#include "ladders/pictures/picture_ladder.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "suites.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

namespace framewire::bench {
namespace heatmap_ladder {

constexpr const char* suite = "ladders/heatmap";

// Runs the report's loop (section 4.1), with three sines per pixel. It divides by 510, although its text has 765.
void heatmap_loop(const std::uint8_t* now, const std::uint8_t* before, std::int64_t pixels, std::uint8_t* out) {
    constexpr double pi = std::numbers::pi;
    const auto colour = [](double angle) {
        return static_cast<std::uint8_t>(std::min(std::max(std::sin(angle) * 255.0, 0.0), 255.0) + 0.5);
    };
    for (std::int64_t i = 0; i < 3 * pixels; i += 3) {
        const int sum =
            std::abs(now[i] - before[i]) + std::abs(now[i + 1] - before[i + 1]) + std::abs(now[i + 2] - before[i + 2]);
        const double share = sum / 765.0;
        out[i] = colour(pi * share + pi / 2);
        out[i + 1] = colour(pi * share);
        out[i + 2] = colour(pi * share - pi / 2);
    }
}

void run_cpu(Session& session, const PicturePair& pair) {
    const Heatmap heatmap(pair.frames[0].shape(), session.cpu());
    run_picture_on_cpu(
        session, pair,
        {.suite = suite,
         .loop = heatmap_loop,
         .filter_name = "framewire's filter",
         .filter = [&](const auto& images) { heatmap.run(images); },
         .whole = {"section 4.1, figure 16", 980000},
         .note = "Three sines per pixel; the report's code divides by 510, its text and this code by 765."});
}

void run_kernels(Session& session, const PicturePair& pair) {
    if constexpr (cuda::compiled) {
        // Sines are computed in float, so a byte is off by one if the result in double is close to a half.
        constexpr int off_by = 1;
        run_picture_variant(session, pair,
                            {.suite = suite,
                             .operation = "one block, byte by byte",
                             .launch = launch_heatmap_bytes,
                             .frames = PictureVariant::both_up,
                             .drawn = PictureVariant::onto_out,
                             .off_by = off_by,
                             .threads = {most_threads},
                             .kernel_time = {"table 10", 49958},
                             .up = {"table 10", 2557.7},
                             .down = {"table 10", 2442.7},
                             .whole = {"section 4.2.1", 57000},
                             .note = "Both frames are uploaded."});
        run_picture_variant(session, pair,
                            {.suite = suite,
                             .operation = "frames swapped",
                             .launch = launch_heatmap_bytes,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::onto_out,
                             .off_by = off_by,
                             .threads = {most_threads},
                             .kernel_time = {"table 11", 46023},
                             .up = {"table 11", 2440},
                             .down = {"table 11", 2345.3},
                             .whole = {"section 4.2.2", 50000}});
        const char* const mended =
            "The report's sums read past their chunks and its threads split pixels; both are fixed here.";
        run_picture_variant(session, pair,
                            {.suite = suite,
                             .operation = "4-byte chunks",
                             .launch = launch_heatmap_chunks_4,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::onto_out,
                             .off_by = off_by,
                             .threads = {most_threads},
                             .kernel_time = {"table 12", 25457},
                             .up = {"table 12", 2440.5},
                             .down = {"table 12", 2354.9},
                             .whole = {"section 4.2.3", 30000},
                             .note = mended});
        run_picture_variant(session, pair,
                            {.suite = suite,
                             .operation = "32-byte chunks",
                             .launch = launch_heatmap_chunks_32,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::onto_out,
                             .off_by = off_by,
                             .threads = {4, 8, 16, 32, 64, 128, 256, 280, 384, 512, 640, 768, 896, most_threads},
                             .kernel_time = {"table 13", 23589},
                             .up = {"table 13", 2516},
                             .down = {"table 13", 2347.8},
                             .whole = {"section 4.2.3", 27000},
                             .note = mended});
        run_picture_variant(session, pair,
                            {.suite = suite,
                             .operation = "32-byte chunks",
                             .launch = launch_heatmap_chunks_32,
                             .frames = PictureVariant::swapped,
                             .drawn = PictureVariant::onto_out,
                             .off_by = off_by,
                             .threads = {718},
                             .kernel_time = {"table 14", 20990},
                             .up = {"table 14", 2656.2},
                             .down = {"table 14", 2470.6},
                             .whole = {"section 4.2.4", 25700},
                             .note = "718 threads were fastest in the report, although it asks for a multiple of 4."});
    }
}

void run_filter(Session& session, const PicturePair& pair) {
    const auto& stream = session.gpu()->stream();
    const auto& shape = pair.frames[0].shape();
    const Heatmap heatmap(shape, *session.gpu());
    HostImage got(shape, cuda::pinned_memory()), frame(shape, cuda::pinned_memory());
    copy(pair.frames[1].view(), frame.view());
    cuda::DeviceImage now(shape), before(shape), out(shape);
    cuda::upload(pair.frames[0].view(), before.view(), stream);
    const auto run = [&](int) {
        if constexpr (cuda::compiled)
            heatmap.run(
                FilterImages<MemorySpace::device>{std::as_const(now).view(), std::as_const(before).view(), out.view()});
    };
    const auto whole = [&](int) {
        cuda::upload(frame.view(), now.view(), stream);
        run(0);
        cuda::download(out.view(), got.view(), stream);
        stream.synchronize();
    };
    whole(0);
    require_close(std::as_const(got).view(), pair.want[1].view(), 0, "framewire cuda");
    const double bytes = static_cast<double>(shape.bytes());
    const auto add = [&](const char* step, const Timing& timing, double moved, const char* limit) {
        session.add({.suite = suite,
                     .operation = "framewire's filter",
                     .runner = "framewire cuda",
                     .timing = timing,
                     .bytes = moved,
                     .details = {{"step", step}},
                     .limit = limit});
    };
    add("kernel", session.time_launches(run), 3 * bytes, "");
    add("whole", session.time_host(whole), 2 * bytes, "cuda up");
}

// Draws the report's figure 14.
void draw_room(const Session& session) {
    const auto room = room_pair();
    HostImage heat(room.now.shape());
    heatmap_reference(room.now.view(), room.before.view(), heat.view());
    write_picture(session, "heatmap", std::as_const(heat).view());
}

void run_heatmap(Session& session) {
    if (!session.pictures().empty()) draw_room(session);
    PicturePair pair(ladder_frame(session));
    for (const int moment : {0, 1})
        heatmap_reference(std::as_const(pair.frames[moment]).view(), std::as_const(pair.frames[moment ^ 1]).view(),
                          pair.want[moment].view());
    session.attempt("ladders/heatmap on the CPU", [&] { run_cpu(session, pair); });
    if (!session.gpu()) return;
    run_kernels(session, pair);
    session.attempt("ladders/heatmap, framewire cuda", [&] { run_filter(session, pair); });
}

const SuiteEntry heatmap_suite{"ladders", "heatmap", run_heatmap};

}  // namespace heatmap_ladder
}  // namespace framewire::bench
