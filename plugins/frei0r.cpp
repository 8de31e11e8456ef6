// The frei0r filter `framewire`: a chain of framewire's filters, as the parameter `chain`, in programs that load frei0r
// plugins (docs/plugins.md).
//
// A frei0r filter cannot fail: its parameters are set after it was made, by a function without a result, and so is each
// picture. If the chain is wrong, the message goes to standard error once, and pictures are black with the message.
// They are not passed unchanged, because the chain may be there to hide something.
#include "handles.hpp"
#include "packed_pixels.hpp"

#pragma GCC visibility push(default)
extern "C" {
#include <frei0r.h>
}
#pragma GCC visibility pop

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::plugins {
namespace {

constexpr double most_seconds = 1e9;  // of fw_chain_set_time()
constexpr size_t columns_of_message = 56;

// Breaks lines at spaces. The last two lines, a chain and its caret, stay below each other.
std::vector<std::string> lines_of(std::string_view message) {
    std::vector<std::string> lines;
    for (bool first = true; first || !message.empty(); first = false) {
        auto line = message.substr(0, message.find('\n'));
        message.remove_prefix(std::min(message.size(), line.size() + 1));
        while (first && line.size() > columns_of_message) {
            const auto space = line.rfind(' ', columns_of_message);
            const auto size = space == line.npos || space == 0 ? columns_of_message : space;
            lines.emplace_back(line.substr(0, size));
            line.remove_prefix(size);
            if (line.starts_with(' ')) line.remove_prefix(1);
        }
        lines.emplace_back(line);
    }
    return lines;
}

// Returns a chain that writes the message over a picture.
std::string chain_of_message(std::string_view message, int width) {
    const auto lines = lines_of(message);
    size_t longest = 1;
    for (const auto& line : lines) longest = std::max(longest, line.size());
    std::string chain = "text=text=";
    for (const auto& line : lines) {
        if (&line != lines.data()) chain += "\\\\n";
        for (const char character : line) {
            if (character == '{' || character == '}') {
                chain += character == '{' ? "\\(" : "\\)";  // not a value of the frame
            } else if (character == '\\') {
                chain += '/';
            } else {
                if (static_cast<unsigned char>(character) < 0x80) chain += '\\';
                chain += character;
            }
        }
    }
    // A character of DejaVu Sans Mono is 0.6 of the font's size wide.
    const auto size = std::clamp((width - 16) / (0.62 * static_cast<double>(longest)), 4.0, 24.0);
    return chain + ":x=8:y=8:font=monospace:color=white:size=" + std::to_string(static_cast<int>(size));
}

class Filter {
public:
    Filter(int width, int height)
        : size_{width, height},
          image_(image_of_size(FW_BGR, width, height)),
          result_image_(image_),
          bgr_(static_cast<size_t>(width) * static_cast<size_t>(height) * 3),
          result_(bgr_.size()) {}

    // Programs set the parameter before each picture, usually to what it is.
    void set_text(const char* text) {
        const std::lock_guard lock(mutex_);
        if (!text || text_ == text) return;
        text_ = text;
        is_current_ = false;
    }
    // Valid until the text is set again, as frei0r wants it.
    const char* text() {
        const std::lock_guard lock(mutex_);
        return text_.c_str();
    }

    // Programs that cut pictures into slices call this on several threads.
    void update(double seconds, const std::uint8_t* in, std::uint8_t* out) {
        const std::lock_guard lock(mutex_);
        if (!is_current_) rebuild();
        const Pixels<std::uint8_t> bgr{bgr_.data(), size_.width * 3};
        if (failed_)
            std::ranges::fill(bgr_, std::uint8_t{0});
        else
            to_bgr(order_rgba, size_, {in, size_.width * 4}, bgr);
        if (!run(seconds)) {
            if (!failed_) fail(fw_last_error());
            std::ranges::fill(result_, std::uint8_t{0});
        }
        const Pixels<std::uint8_t> to{out, size_.width * 4};
        const Pixels<const std::uint8_t> alpha{failed_ ? nullptr : in, size_.width * 4};
        if (result_image_.format == FW_GRAY)
            from_gray(order_rgba, size_, {result_.data(), size_.width}, to, alpha);
        else
            from_bgr(order_rgba, size_, {result_.data(), size_.width * 3}, to, alpha);
    }

private:
    bool run(double seconds) {
        if (!chain_) return false;
        if (!(seconds >= 0 && seconds <= most_seconds)) seconds = 0;
        if (seconds < seconds_ && fw_chain_reset(chain_.get())) return false;  // the program went back
        seconds_ = seconds;
        image_.data[0] = bgr_.data();
        result_image_.data[0] = result_.data();
        return !fw_chain_set_time(chain_.get(), frames_++, seconds) &&
               !fw_chain_run(chain_.get(), &image_, &result_image_, nullptr);
    }

    void rebuild() {
        is_current_ = true;
        failed_ = false;
        frames_ = 0;
        seconds_ = 0;
        if (!make(text_.c_str())) fail(fw_last_error());
        if (ImageSize{result_image_.width, result_image_.height} == size_) return;
        const auto size = [](ImageSize image) {
            return std::to_string(image.width) + "x" + std::to_string(image.height);
        };
        fail("the chain '" + text_ + "' makes " + size({result_image_.width, result_image_.height}) +
             " of pictures of " + size(size_) + ", but a frei0r filter keeps the size; end it with scale or pad");
    }

    bool make(const char* text) {
        const fw_settings settings{.size = sizeof(fw_settings), .backend = FW_BACKEND_AUTO, .device = 0, .threads = 0};
        chain_ = make_chain(text, image_, settings);
        return chain_ && !fw_chain_output(chain_.get(), &result_image_);
    }

    void fail(const std::string& message) {
        failed_ = true;
        std::fprintf(stderr, "framewire: %s\n", message.c_str());
        if (make(chain_of_message(message, size_.width).c_str())) return;
        chain_.reset();  // no font, for example: pictures are black
        result_image_ = image_;
    }

    std::mutex mutex_;
    ImageSize size_;
    std::string text_;
    bool is_current_ = false;  // chain_ is that of text_
    bool failed_ = false;      // chain_ writes a message
    ChainHandle chain_;
    fw_image image_, result_image_;
    std::vector<std::uint8_t> bgr_, result_;
    std::int64_t frames_ = 0;
    double seconds_ = 0;
};

Filter& filter_of(f0r_instance_t instance) { return *static_cast<Filter*>(instance); }

}  // namespace
}  // namespace framewire::plugins

using framewire::plugins::Filter;

int f0r_init() { return 1; }

void f0r_deinit() {}

void f0r_get_plugin_info(f0r_plugin_info_t* info) {
    info->name = "framewire";
    info->author = "the framewire authors";
    info->plugin_type = F0R_PLUGIN_TYPE_FILTER;
    info->color_model = F0R_COLOR_MODEL_RGBA8888;
    info->frei0r_version = FREI0R_MAJOR_VERSION;
    info->major_version = FRAMEWIRE_MAJOR;
    info->minor_version = FRAMEWIRE_MINOR;
    info->num_params = 1;
    info->explanation = "A chain of framewire's filters";
}

void f0r_get_param_info(f0r_param_info_t* info, int index) {
    if (index != 0) return;
    info->name = "chain";
    info->type = F0R_PARAM_STRING;
    info->explanation = "Filters in the order in which they run, such as gaussian=5,mosaic=32";
}

f0r_instance_t f0r_construct(unsigned width, unsigned height) {
    constexpr unsigned most_side_px = 16384;  // of fw_image
    if (width == 0 || height == 0 || width > most_side_px || height > most_side_px) {
        std::fprintf(stderr, "framewire: pictures have %ux%u pixels; allowed: 1 to %u in each direction\n", width,
                     height, most_side_px);
        return nullptr;
    }
    try {
        return new Filter(static_cast<int>(width), static_cast<int>(height));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void f0r_destruct(f0r_instance_t instance) { delete static_cast<Filter*>(instance); }

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
    if (index == 0) framewire::plugins::filter_of(instance).set_text(*static_cast<f0r_param_string*>(value));
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
    if (index == 0)
        *static_cast<f0r_param_string*>(value) = const_cast<char*>(framewire::plugins::filter_of(instance).text());
}

void f0r_update(f0r_instance_t instance, double time, const uint32_t* in, uint32_t* out) {
    framewire::plugins::filter_of(instance).update(time, reinterpret_cast<const std::uint8_t*>(in),
                                                   reinterpret_cast<std::uint8_t*>(out));
}

void f0r_update2(f0r_instance_t instance, double time, const uint32_t* in, const uint32_t*, const uint32_t*,
                 uint32_t* out) {
    f0r_update(instance, time, in, out);
}
