#include "simt/control_flow.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

namespace upsweep::simt {
namespace {

struct Table {
  const std::uintptr_t* begin = nullptr;
  const std::uintptr_t* end = nullptr;
};
// Constant-initialised, because units register their tables before any constructor runs. Every unit registers the same
// range, because the linker has merged the tables.
constinit Table blocks, flow;
constinit std::uint32_t guards = 0;

using Graph = std::vector<std::vector<int>>;

// A weak topological order (Bourdoncle, Efficient chaotic iteration strategies with widenings, 1993): hierarchical,
// found by a depth-first walk that is repeated for the body of each loop.
class WeakTopologicalOrder {
 public:
  explicit WeakTopologicalOrder(const Graph& graph) : graph_(graph), number_(graph.size(), 0) {}
  // Returns the blocks reachable from `entry`, in weak topological order.
  std::vector<int> from(int entry) {
    std::vector<int> reversed;
    visit(entry, reversed);
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  }

 private:
  static constexpr long done = std::numeric_limits<long>::max();

  long visit(int vertex, std::vector<int>& reversed) {
    stack_.push_back(vertex);
    const long own = number_[vertex] = ++count_;
    long head = own;
    bool loop = false;
    for (const int next : graph_[vertex]) {
      const long lowest = number_[next] == 0 ? visit(next, reversed) : number_[next];
      if (lowest <= head) {
        head = lowest;
        loop = true;
      }
    }
    if (head != own) return head;
    number_[vertex] = done;
    int top = pop();
    if (loop) {
      for (; top != vertex; top = pop()) number_[top] = 0;
      std::vector<int> body;
      for (const int next : graph_[vertex])
        if (number_[next] == 0) visit(next, body);
      reversed.insert(reversed.end(), body.begin(), body.end());
    }
    reversed.push_back(vertex);
    return head;
  }

  int pop() {
    const int top = stack_.back();
    stack_.pop_back();
    return top;
  }

  const Graph& graph_;
  std::vector<long> number_;
  std::vector<int> stack_;
  long count_ = 0;
};

// Reads the flow table, which lists for each block: its address, its successors, 0, the functions that it calls, 0.
Graph read_graph(const std::unordered_map<std::uintptr_t, int>& block_at) {
  Graph successors(block_at.size());
  for (const std::uintptr_t* p = flow.begin; p < flow.end;) {
    const auto from = block_at.find(*p++);
    for (; p < flow.end && *p; ++p)
      if (const auto to = block_at.find(*p); from != block_at.end() && to != block_at.end())
        successors[from->second].push_back(to->second);
    ++p;
    while (p < flow.end && *p) ++p;
    ++p;
  }
  return successors;
}

std::vector<std::uint32_t> compute() {
  const std::size_t count = static_cast<std::size_t>(blocks.end - blocks.begin) / 2;  // pairs of address and flags
  if (!count || !flow.begin) return {};
  std::unordered_map<std::uintptr_t, int> block_at;
  for (std::size_t i = 0; i < count; ++i) block_at[blocks.begin[2 * i]] = static_cast<int>(i);
  Graph successors = read_graph(block_at);
  successors.resize(count);
  std::vector<std::uint32_t> ranks(count + 1, 0);
  std::uint32_t rank = 1;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::uintptr_t function_entry = 1;
    if (!(blocks.begin[2 * i + 1] & function_entry)) continue;
    WeakTopologicalOrder order(successors);
    for (const int block : order.from(static_cast<int>(i))) ranks[static_cast<std::size_t>(block) + 1] = rank++;
  }
  return ranks;
}

}  // namespace

void add_block_table(const std::uintptr_t* begin, const std::uintptr_t* end) { blocks = {begin, end}; }
void add_flow_table(const std::uintptr_t* begin, const std::uintptr_t* end) { flow = {begin, end}; }

void number_guards(std::uint32_t* begin, std::uint32_t* end) {
  if (begin == end || *begin) return;
  for (; begin < end; ++begin) *begin = ++guards;  // guard i + 1 belongs to entry i of the block table
}

std::span<const std::uint32_t> block_ranks() {
  static const std::vector<std::uint32_t> ranks = compute();
  return ranks;
}

}  // namespace upsweep::simt
