#pragma once

#include "framewire/detect/labelling/component_tiles.hpp"

#include <cstdint>

// Only for .cu files: union-find whose root is the smallest node of its tree. Many threads unite at the same
// time: a parent only ever becomes smaller, by an atomic minimum, and a thread that finds its root already
// joined continues from there (Komura 2015; Playne and Hawick 2018).

namespace framewire::labelling {

/// A number per run of a tile, in shared memory, indexed by slot. Lanes are rows; the exclusive or spreads a
/// column of slots over the memory banks.
struct RunTable {
    std::uint32_t* numbers;

    __device__ std::uint32_t& operator[](std::uint32_t slot) const {
        static_assert(tile_words * word_slots == 64);
        return numbers[slot ^ slot >> 6];
    }
};

/// Forest of the runs of one tile. Parents are read atomically too, so that no plain access races with another
/// thread; in shared memory that costs no more than a load.
struct RunForest : RunTable {
    __device__ std::uint32_t parent(std::uint32_t slot) const { return atomicOr(&(*this)[slot], 0u); }
    /// Makes `to` the parent if it is smaller than the previous parent, which is returned.
    __device__ std::uint32_t lower(std::uint32_t slot, std::uint32_t to) const { return atomicMin(&(*this)[slot], to); }
};

/// Forest of the components of one frame's tiles, in global memory.
struct TileForest {
    TileComponent* components;

    // Reads through L2 (__ldcg), because other blocks change parents by atomics, which bypass L1.
    __device__ std::uint32_t parent(std::uint32_t index) const { return __ldcg(&components[index].parent); }
    __device__ std::uint32_t lower(std::uint32_t index, std::uint32_t to) const {
        return atomicMin(&components[index].parent, to);
    }
};

/// Walks to the root of a node while trees are being joined, and halves the path on the way.
template <class Forest>
struct RootWalk {
    std::uint32_t node, parent;

    __device__ RootWalk(const Forest& forest, std::uint32_t from) : node(from), parent(forest.parent(from)) {}
    __device__ bool at_root() const { return node == parent; }
    /// Returns the grandparent, which is the target of a step.
    __device__ std::uint32_t next(const Forest& forest) const { return at_root() ? node : forest.parent(parent); }
    // Moves to the parent; `next` is its parent, which becomes this node's parent too.
    __device__ void step(const Forest& forest, std::uint32_t next) {
        if (next != parent) forest.lower(node, next);
        node = parent;
        parent = next;
    }
};

/// Makes its root the parent of `node`, whose parent is known, and returns the root. Only when no trees are
/// joined any more, and with one thread per node. Each node on the way becomes the parent in the meantime, so
/// threads on the same path shorten it for each other.
template <class Forest>
__device__ std::uint32_t settle(const Forest& forest, std::uint32_t node, std::uint32_t parent) {
    if (parent == node) return node;
    for (auto next = forest.parent(parent); next != parent; next = forest.parent(parent)) {
        forest.lower(node, next);
        parent = next;
    }
    return parent;
}

/// Replaces a and b by their roots. Both walks proceed in parallel, so that neither waits for the other's
/// loads.
template <class Forest>
__device__ void walk_to_roots(const Forest& forest, std::uint32_t& a, std::uint32_t& b) {
    RootWalk of_a(forest, a), of_b(forest, b);
    while (!of_a.at_root() || !of_b.at_root()) {
        const auto next_of_a = of_a.next(forest), next_of_b = of_b.next(forest);
        of_a.step(forest, next_of_a);
        of_b.step(forest, next_of_b);
    }
    a = of_a.node;
    b = of_b.node;
}

/// Joins the trees of a and b; the larger root gets the smaller one as its parent.
template <class Forest>
__device__ void unite(const Forest& forest, std::uint32_t a, std::uint32_t b) {
    while (true) {
        walk_to_roots(forest, a, b);
        if (a == b) return;
        const auto upper = max(a, b), lower = min(a, b);
        const auto before = forest.lower(upper, lower);
        if (before == upper) return;
        a = before;  // no longer a root: the tree that it joined meanwhile must be united too
        b = lower;
    }
}

inline constexpr std::uint32_t all_lanes = ~0u;

/// Groups the lanes of a warp that add to the same place. Calls together(lanes, member), in all lanes, for up
/// to 4 places that at least 3 lanes want, and alone() in the other lanes that want a place. Atomics on one
/// address are serialised, so lanes should add up their values first; but if every lane has its own place,
/// going through all of them costs more.
template <class Together, class Alone>
__device__ void for_each_group(bool wants, std::uint32_t place, Together&& together, Alone&& alone) {
    constexpr int most_groups = 4, fewest_lanes = 3;
    auto waiting = __ballot_sync(all_lanes, wants), single = 0u;
    for (int group = 0; group < most_groups && waiting; ++group) {
        const auto place_of_group = __shfl_sync(all_lanes, place, lowest_bit(waiting));
        const bool member = wants && place == place_of_group;
        const auto lanes = __ballot_sync(all_lanes, member);
        waiting &= ~lanes;
        if (__popc(lanes) < fewest_lanes)
            single |= lanes;
        else
            together(lanes, member);
    }
    if ((waiting | single) >> threadIdx.x % 32 & 1) alone();
}

}  // namespace framewire::labelling
