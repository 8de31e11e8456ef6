#include "framewire/core/error.hpp"
#include "framewire/filters/text.hpp"
#include "framewire/filters/text_ref.hpp"
#include "ladders/ladder.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "ladders/text/text_kernels.hpp"
#include "suites.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace text_ladder {

constexpr const char* suite = "ladders/text";
constexpr std::string_view line = "FPS:24 BW:1234 kbps";

// Returns the frame size of the other ladders; fewer rows if nothing is timed.
Shape frame_shape(const Session& session) { return session.check_only() ? Shape{1, 64, 1920, 3} : bench_frame; }

std::string font() {
    const char* named = std::getenv("FRAMEWIRE_TEST_FONT");  // set on machines without fonts
    return named ? named : "";
}

int number_of(char character) {
    const auto* at = std::strchr(text_alphabet, character);
    if (!at) fail(ErrorCode::internal, "the text alphabet does not contain '{}'", character);
    return static_cast<int>(at - text_alphabet);
}

// Returns the characters' pictures, green on black, one after the other (section 3; the report draws them with OpenCV).
std::vector<std::uint8_t> drawn_atlas() {
    const std::string_view characters = text_alphabet;
    const GlyphAtlas glyphs(find_font(font()), 24, std::u32string(characters.begin(), characters.end()));
    std::vector<std::uint8_t> atlas(static_cast<std::size_t>(text_characters * text_cell_bytes));
    for (std::size_t number = 0; number < characters.size(); ++number) {
        const auto& glyph = glyphs.glyph(static_cast<char32_t>(characters[number]));
        for (int row = 0; row < glyph.height; ++row)
            for (int column = 0; column < glyph.width; ++column) {
                const int x = column + std::max(0, (text_cell_width - glyph.width) / 2), y = 22 - glyph.top + row;
                if (x >= text_cell_width || y < 0 || y >= text_cell_height) continue;
                atlas[number * text_cell_bytes + static_cast<std::size_t>(y * text_cell_row_bytes + 3 * x + 1)] =
                    glyphs.coverage()[glyph.offset + static_cast<std::size_t>(row * glyph.width + column)];
            }
    }
    return atlas;
}

// Draws the expected result: the characters' pictures replace the frame's first rows.
void put_line(const std::vector<std::uint8_t>& atlas, HostView<std::uint8_t> frame) {
    for (std::size_t place = 0; place < line.size(); ++place)
        for (int y = 0; y < text_cell_height; ++y)
            std::memcpy(frame.row(0, y) + place * text_cell_row_bytes,
                        atlas.data() + number_of(line[place]) * text_cell_bytes + y * text_cell_row_bytes,
                        text_cell_row_bytes);
}

// Returns the report's number of threads (section 3.1): the largest by which the chunks of a character are divisible.
int threads_for(int chunk_bytes) {
    int threads = most_threads;
    while (text_cell_bytes % threads != 0 || text_cell_bytes / threads % chunk_bytes != 0) --threads;
    return threads;
}

struct Variant {
    const char* operation;
    TextKernel kernel;
    bool by_address;  ///< the kernel gets the address of constant memory
    OnJetson kernel_time;
    const char* note;
};

const Variant variants[] = {
    {"byte by byte", TextKernel::bytes, false, {"section 3.1.1, figure 10", 2.981}, "1.53 % of the report's time."},
    {"32-byte chunks, inner loop",
     TextKernel::chunks_inner_loop,
     false,
     {"section 3.1.2, figure 11", 3.778},
     "1.91 % of the report's time."},
    {"32-byte chunks", TextKernel::chunks, false, {"section 3.1.2, figure 12", 1.868}, "1.01 % of the report's time."},
    {"32-byte chunks, address of constant memory",
     TextKernel::chunks,
     true,
     {"section 3.1.3, figure 13", 1.868},
     "As in the report, a few ns faster than global memory: through its address, constant memory is read like global "
     "memory."},
    {"32-byte chunks, constant memory",
     TextKernel::constant_memory,
     false,
     {},
     "What the report intended: the constant cache serves the different addresses of a warp one after the other."},
};

class OnGpu {
public:
    explicit OnGpu(Session& session)
        : session_(&session),
          stream_(&session.gpu()->stream()),
          atlas_(drawn_atlas()),
          frame_(frame_shape(session)),
          got_(frame_.shape()),
          want_(frame_.shape()),
          device_frame_(frame_.shape()),
          device_atlas_(atlas_.size()) {
        fill_scene(frame_.view(), 1);
        copy(frame_.view(), want_.view());
        put_line(atlas_, want_.view());
        cuda::upload(atlas_.data(), device_atlas_.data(), atlas_.size(), *stream_);
        if constexpr (cuda::compiled) constant_atlas_ = store_in_constant_memory(atlas_.data(), *stream_);
    }

    void run(const Variant& variant) {
        const int usual = threads_for(variant.kernel == TextKernel::bytes ? 1 : 32);
        for (const int threads : {usual / 12, usual / 4, usual / 2, usual}) {
            cuda::upload(frame_.view(), device_frame_.view(), *stream_);
            draw_line(variant, threads);
            cuda::download(std::as_const(device_frame_).view(), got_.view(), *stream_);
            stream_->synchronize();
            Session::require_equal(std::as_const(got_).view(), std::as_const(want_).view(), variant.operation);
            const auto add = [&](const char* step, const Timing& timing, double bytes, const OnJetson& on_jetson) {
                session_->add({.suite = suite,
                               .operation = variant.operation,
                               .runner = "cuda",
                               .timing = timing,
                               .bytes = bytes,
                               .reported = threads == usual ? reported_of(on_jetson) : std::nullopt,
                               .details = {{"step", step}, {"threads", std::to_string(threads)}},
                               .note = variant.note});
            };
            add("kernel", session_->time_launches([&](int turn) {
                draw(variant, threads, static_cast<std::size_t>(turn) % line.size());
            }),
                2.0 * text_cell_bytes, variant.kernel_time);
            add("line", session_->time_launches([&](int) { draw_line(variant, threads); }),
                2.0 * text_cell_bytes * static_cast<double>(line.size()), {});
        }
    }

private:
    void draw(const Variant& variant, int threads, std::size_t place) {
        if constexpr (cuda::compiled)
            launch_text(variant.kernel,
                        {device_frame_.view().data(), static_cast<int>(frame_.shape().row_bytes()),
                         static_cast<int>(place) * text_cell_row_bytes},
                        variant.by_address ? constant_atlas_ : device_atlas_.data(), number_of(line[place]), threads,
                        *stream_);
    }

    // Makes one launch per character, which the host looks up, as in the report.
    void draw_line(const Variant& variant, int threads) {
        for (std::size_t place = 0; place < line.size(); ++place) draw(variant, threads, place);
    }

    Session* session_;
    const cuda::Stream* stream_;
    std::vector<std::uint8_t> atlas_;
    HostImage frame_, got_, want_;
    cuda::DeviceImage device_frame_;
    cuda::DeviceBuffer device_atlas_;
    const std::uint8_t* constant_atlas_ = nullptr;
};

TextParameters overlay() {
    return {.text = std::string(line),
            .x = 0,
            .y = 0,
            .size_px = 24,
            .color = {pixel_of(0, 255, 0), 255},
            .box = Color{0, 255},
            .font = font()};
}

void run_filter(Session& session) {
    const auto shape = frame_shape(session);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 1);
    Text text(overlay(), shape, session.cpu());
    text_reference(text, std::as_const(in).view(), want.view());
    const auto run = [&] { text.run(FilterImages<MemorySpace::host>{std::as_const(in).view(), {}, out.view()}); };
    const auto add = [&](const char* runner, const Timing& timing) {
        session.add({.suite = suite,
                     .operation = "framewire's filter",
                     .runner = runner,
                     .timing = timing,
                     .bytes = 2.0 * static_cast<double>(shape.bytes()),
                     .details = {{"step", "line"}},
                     .note = "Blends the whole line and copies the rest of the frame."});
    };
    run();
    Session::require_equal(std::as_const(out).view(), std::as_const(want).view(), "framewire cpu");
    add("framewire cpu", session.time_cpu({run})[0]);
    if (!session.gpu()) return;
    const auto& stream = session.gpu()->stream();
    Text on_gpu(overlay(), shape, *session.gpu());
    cuda::DeviceImage from(shape), to(shape);
    cuda::upload(in.view(), from.view(), stream);
    const auto run_there = [&](int) {
        if constexpr (cuda::compiled)
            on_gpu.run(FilterImages<MemorySpace::device>{std::as_const(from).view(), {}, to.view()});
    };
    run_there(0);
    cuda::download(std::as_const(to).view(), out.view(), stream);
    stream.synchronize();
    Session::require_equal(std::as_const(out).view(), std::as_const(want).view(), "framewire cuda");
    add("framewire cuda", session.time_launches(run_there));
}

// Draws the report's figure 9.
void draw_room(const Session& session) {
    auto room = room_pair();
    put_line(drawn_atlas(), room.now.view());
    write_picture(session, "text", std::as_const(room.now).view());
}

void run_text(Session& session) {
    if (!session.pictures().empty()) session.attempt("ladders/text, picture", [&] { draw_room(session); });
    if (session.gpu())
        session.attempt("ladders/text, atlas", [&] {
            OnGpu on_gpu(session);
            for (const auto& variant : variants)
                session.attempt(std::string("ladders/text, ") + variant.operation, [&] { on_gpu.run(variant); });
        });
    session.attempt("ladders/text, framewire", [&] { run_filter(session); });
}

const SuiteEntry text_suite{"ladders", "text", run_text};

}  // namespace text_ladder
}  // namespace framewire::bench
