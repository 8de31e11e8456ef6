// Filters an image and encodes its changes, using only the installed headers and libraries.

#include "framewire/codec/delta.hpp"
#include "framewire/filters/gray.hpp"

#include <cstdio>
#include <cstring>

int main() {
    using namespace framewire;
    Executor executor(BackendChoice::cpu);
    const Shape shape{1, 4, 4, 3};
    HostImage frame(shape), reference(shape);
    std::memset(frame.view().data(), 200, 48);
    std::memset(reference.view().data(), 100, 48);

    HostImage gray(shape);
    Gray({}, shape, executor).run(FilterImages<MemorySpace::host>{frame.view(), {}, gray.view()});

    codec::HostChanges changes(shape);
    codec::Encoder({.threshold = 20}, shape, executor).encode(gray.view(), reference.view(), changes.view());
    std::printf("%u bytes changed\n", changes.view().summaries[0].count);
    return changes.view().summaries[0].count == 48 ? 0 : 1;
}
