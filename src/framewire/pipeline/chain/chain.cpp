#include "framewire/pipeline/chain/chain.hpp"

#include "framewire/core/parameters/text.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"
#include "framewire/pipeline/chain/names_elsewhere.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

// The grammar of a chain: filters separated by commas, each a name with an optional parameter list (see
// core/parameters/text.cpp):
//
//     chain  = [ filter { "," filter } ]
//     filter = name [ ( "=" | ":" ) list ]

namespace framewire {
namespace {

constexpr std::string_view spaces = " \t\r\n";

std::vector<std::string_view> names(std::span<const FilterInfo> registry) {
    std::vector<std::string_view> all;
    for (const auto& filter : registry) all.push_back(filter.name);
    return all;
}

// Reads a chain of filters; the parameters of each filter are read by read_parameters().
class ChainReader {
public:
    ChainReader(std::string_view text, std::span<const FilterInfo> registry) : text_(text), registry_(registry) {}

    // Reads calls separated by commas. Blank text is an empty chain.
    std::vector<FilterCall> read() {
        std::vector<FilterCall> calls;
        skip_spaces();
        if (at_end()) return calls;
        do {
            skip_spaces();
            if (calls.size() == max_chain_filters) fail_here(fmt::format("more than {} filters", max_chain_filters));
            calls.push_back(read_call());
        } while (take(','));
        return calls;
    }

private:
    // Reads one filter with its parameters.
    FilterCall read_call() {
        FilterCall call;
        call.offset = at_;
        const auto name = read_name();
        if (name.empty()) fail_here(fmt::format("the name of a filter is missing; filters are {}", all_filters()));
        const auto found =
            std::find_if(registry_.begin(), registry_.end(), [&](const auto& filter) { return filter.name == name; });
        if (found == registry_.end())
            fail_at(call.offset,
                    fmt::format("no filter {}; filters are {}{}", in_quotes(name), all_filters(), meant_by(name)));
        call.filter = &*found;
        const ParameterSyntax syntax{.who = fmt::format("filter '{}'", name),
                                     .parameters = found->parameters,
                                     .main_behind = fmt::format("{}=", name),
                                     .unnamed = found->unnamed,
                                     .end = ","};
        const bool main_first = !at_end() && text_[at_] == '=';  // after "name:" a key is needed
        if (take('=') || take(':'))
            call.values = read_parameters(text_, at_, syntax, main_first,
                                          [&](std::size_t at, const std::string& problem) { fail_at(at, problem); });
        if (const auto missing = missing_parameter(syntax, call.values); !missing.empty())
            fail_at(call.offset, missing);
        call.values.add_defaults(found->parameters);
        return call;
    }

    // Reads everything up to a delimiter, so that a message can show the whole of a wrong name.
    std::string_view read_name() {
        const auto begin = at_;
        at_ = std::min(text_.find_first_of("=:,", at_), text_.size());
        const auto name = text_.substr(begin, at_ - begin);
        return name.substr(0, name.find_last_not_of(spaces) + 1);
    }

    // Users of FFmpeg expect the meaning that a name has there.
    std::string meant_by(std::string_view name) const {
        // The suggestion may have parameters: "flip=vertical".
        const auto like = filter_like_ffmpegs(name);
        const auto own = like.substr(0, like.find('='));
        const bool is_there = std::ranges::any_of(registry_, [&](const auto& filter) { return filter.name == own; });
        return is_there ? fmt::format("; did you mean '{}'?", like) : did_you_mean(name, names(registry_));
    }

    std::string all_filters() const { return fmt::format("{}", fmt::join(names(registry_), ", ")); }

    bool at_end() const { return at_ == text_.size(); }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size()); }

    [[noreturn]] void fail_at(std::size_t offset, std::string_view problem) const {
        fail_in_chain(text_, offset, problem);
    }
    [[noreturn]] void fail_here(std::string_view problem) const { fail_at(at_, problem); }

    std::string_view text_;
    std::span<const FilterInfo> registry_;
    std::size_t at_ = 0;
};

}  // namespace

// The column counts characters, not bytes.
void fail_in_chain(std::string_view text, std::size_t offset, std::string_view problem) {
    throw ExcerptError(ErrorCode::usage, fmt::format("filters, column {}: {}", column(text, offset), problem),
                       pointed_out(text, offset));
}

// Every filter so far moves to `before` when the filter that changes the rate is found.
RateSplit split_at_rate(const Chain& chain) {
    RateSplit split{chain, {chain.text, {}}, {chain.text, {}}};
    for (const auto& call : chain.calls) {
        if (call.filter->rate) {
            if (split.rate)
                fail_in_chain(chain.text, call.offset,
                              fmt::format("filter '{}': a chain may change the rate once", call.filter->name));
            split.rate = call.filter->rate(call.values);
            split.before.calls = std::move(split.after.calls);
            split.after.calls.clear();
        } else {
            split.after.calls.push_back(call);
        }
    }
    return split;
}

Chain parse_chain(std::string_view text, std::span<const FilterInfo> registry) {
    return {std::string(text), ChainReader(text, registry).read()};
}

}  // namespace framewire
