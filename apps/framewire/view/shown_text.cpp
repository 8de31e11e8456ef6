#include "view/shown_text.hpp"

#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/printable.hpp"

#include <spdlog/pattern_formatter.h>

namespace framewire::app {
namespace {

// Formats a line whose message is already as it is to be shown.
class ShownTextFormatter final : public spdlog::formatter {
public:
    explicit ShownTextFormatter(const std::string& pattern) : pattern_(pattern), lines_(pattern) {}

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
        const auto text = shown_text({message.payload.data(), message.payload.size()});
        auto shown = message;
        shown.payload = text;
        lines_.format(shown, line);
        message.color_range_start = shown.color_range_start;  // what the pattern found out for the sink
        message.color_range_end = shown.color_range_end;
    }
    std::unique_ptr<spdlog::formatter> clone() const override { return shown_text_formatter(pattern_); }

private:
    std::string pattern_;
    spdlog::pattern_formatter lines_;
};

}  // namespace

std::string shown_text(std::string_view text) { return printable(without_credentials(text)); }

std::unique_ptr<spdlog::formatter> shown_text_formatter(const std::string& pattern) {
    return std::make_unique<ShownTextFormatter>(pattern);
}

}  // namespace framewire::app
