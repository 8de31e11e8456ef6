#include "framewire/pipeline/chain/switches/chain_switches.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace framewire {
namespace {

// Returns the part of the chain's text that is the filter at `index`.
std::string text_of(const Chain& chain, std::size_t index) {
    const auto begin = chain.calls[index].offset;
    const bool is_last = index + 1 == chain.calls.size();
    // The text of a filter ends where the next one starts, without the comma and spaces between.
    auto text = std::string_view(chain.text).substr(begin);
    if (!is_last) text = text.substr(0, chain.calls[index + 1].offset - begin);
    const auto end = text.find_last_not_of(is_last ? " \t\n" : ", \t\n");
    return std::string(text.substr(0, end == text.npos ? 0 : end + 1));
}

// Returns the name of a filter from its text in a chain.
std::string_view name_of(std::string_view text) { return text.substr(0, text.find_first_of("= \t\n")); }

// Returns a switch per filter, and why it cannot be switched, if so.
std::vector<FilterSwitch> switches_of(const Chain& chain, const Shape& frame) {
    std::vector<FilterSwitch> switches;
    // Filters before a change of the rate stay on, because the pipeline around that filter depends on whether
    // there are any.
    const auto changes_rate = [](const FilterCall& call) { return static_cast<bool>(call.filter->rate); };
    const auto rated = std::ranges::find_if(chain.calls, changes_rate);
    bool before_rate = rated != chain.calls.end();
    auto shape = frame;
    for (std::size_t index = 0; index < chain.calls.size(); ++index) {
        const auto& call = chain.calls[index];
        const auto& join = call.filter->original;
        const auto result =
            join ? join->output_shape(call.values, shape, frame) : call.filter->output_shape(call.values, shape);
        FilterSwitch one{.text = text_of(chain, index)};
        if (changes_rate(call)) {
            one.fixed_because = "it changes how many frames there are";
            before_rate = false;
        } else if (before_rate) {
            one.fixed_because = std::string("it comes before ") + std::string(rated->filter->name);
        } else if (result != shape) {
            one.fixed_because = "it changes the size from " + to_string(shape) + " to " + to_string(result);
        }
        switches.push_back(std::move(one));
        shape = result;
    }
    return switches;
}

}  // namespace

// Each filter of the new chain is paired with at most one of the old chain.
std::vector<std::size_t> numbers_of_off(std::span<const FilterSwitch> before, std::span<const FilterSwitch> now) {
    std::vector<bool> gone(before.size()), known(now.size());
    std::vector<std::size_t> numbers;
    const auto pair_up = [&](const auto& are_one) {
        for (std::size_t to = 0; to < now.size(); ++to)
            for (std::size_t from = 0; from < before.size() && !known[to]; ++from) {
                if (gone[from] || !are_one(before[from], now[to])) continue;
                gone[from] = known[to] = true;
                if (!before[from].on && now[to].fixed_because.empty()) numbers.push_back(to + 1);
            }
    };
    pair_up([](const auto& a, const auto& b) { return a.text == b.text; });
    pair_up([](const auto& a, const auto& b) { return name_of(a.text) == name_of(b.text); });
    return numbers;
}

ChainSwitches::ChainSwitches(Chain chain, const Shape& frame)
    : chain_(std::move(chain)), switches_(switches_of(chain_, frame)) {}

// The new switches are computed before the lock, since this can throw.
void ChainSwitches::take(Chain chain, const Shape& frame) {
    auto switches = switches_of(chain, frame);
    const std::lock_guard lock(mutex_);
    for (const auto number : numbers_of_off(switches_, switches)) switches[number - 1].on = false;
    chain_ = std::move(chain);
    switches_ = std::move(switches);
}

std::vector<FilterSwitch> ChainSwitches::all() const {
    const std::lock_guard lock(mutex_);
    return switches_;
}

void ChainSwitches::set(std::size_t number, bool on) {
    const std::lock_guard lock(mutex_);
    if (number < 1 || number > switches_.size())
        fail(ErrorCode::usage, "there is no filter {}; the chain has {}", number, switches_.size());
    auto& one = switches_[number - 1];
    if (!one.fixed_because.empty())
        fail(ErrorCode::usage, "filter {}, {}, stays on: {}", number, one.text, one.fixed_because);
    one.on = on;
}

// Filters that are off are left out; the others keep their values.
Chain ChainSwitches::active() const {
    const std::lock_guard lock(mutex_);
    Chain active{chain_.text, {}};
    for (std::size_t index = 0; index < switches_.size(); ++index)
        if (switches_[index].on) active.calls.push_back(chain_.calls[index]);
    return active;
}

}  // namespace framewire
