#include "framewire/pipeline/chain/switches/chain_switches.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace framewire {
namespace {

// What of the chain's text is the filter at `index`.
std::string text_of(const Chain& chain, std::size_t index) {
    const auto begin = chain.calls[index].offset;
    const bool is_last = index + 1 == chain.calls.size();
    auto text = std::string_view(chain.text).substr(begin);
    if (!is_last) text = text.substr(0, chain.calls[index + 1].offset - begin);
    const auto end = text.find_last_not_of(is_last ? " \t\n" : ", \t\n");
    return std::string(text.substr(0, end == text.npos ? 0 : end + 1));
}

}  // namespace

ChainSwitches::ChainSwitches(Chain chain, const Shape& frame) : chain_(std::move(chain)) {
    // Of a filter before a change of the rate, what lies between depends on whether there is one at all.
    const auto changes_rate = [](const FilterCall& call) { return static_cast<bool>(call.filter->rate); };
    const auto rated = std::ranges::find_if(chain_.calls, changes_rate);
    bool before_rate = rated != chain_.calls.end();
    auto shape = frame;
    for (std::size_t index = 0; index < chain_.calls.size(); ++index) {
        const auto& call = chain_.calls[index];
        const auto& join = call.filter->original;
        const auto result =
            join ? join->output_shape(call.values, shape, frame) : call.filter->output_shape(call.values, shape);
        FilterSwitch one{.text = text_of(chain_, index)};
        if (changes_rate(call)) {
            one.fixed_because = "it changes how many frames there are";
            before_rate = false;
        } else if (before_rate) {
            one.fixed_because = std::string("it comes before ") + std::string(rated->filter->name);
        } else if (result != shape) {
            one.fixed_because = "it changes the size from " + to_string(shape) + " to " + to_string(result);
        }
        switches_.push_back(std::move(one));
        shape = result;
    }
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

Chain ChainSwitches::active() const {
    const std::lock_guard lock(mutex_);
    Chain active{chain_.text, {}};
    for (std::size_t index = 0; index < switches_.size(); ++index)
        if (switches_[index].on) active.calls.push_back(chain_.calls[index]);
    return active;
}

}  // namespace framewire
