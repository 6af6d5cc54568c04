// The scalars of upsweep/scan.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "upsweep/parameter.h"

namespace upsweep {

// The encoding of segment heads: u8 flags, nonzero at a head; u32 keys, with a segment per run of equal keys; or
// ascending u64 offsets.
enum class HeadKind : std::uint8_t { flags, keys, offsets };
inline constexpr std::array<std::string_view, 3> head_kind_names{"flags", "keys", "offsets"};
constexpr std::string_view to_string(HeadKind k) { return head_kind_names[static_cast<std::size_t>(k)]; }

struct Scanning {
  bool inclusive = false;
  Scalar initial{};  // of the output's type; empty: the operator's neutral element
};
inline constexpr ScalarTable scan_scalars{
    scalar<&Scanning::inclusive>({.name = "inclusive", .meaning = "out[i] includes in[i]"}),
    scalar<&Scanning::initial>(
        {.name = "initial", .meaning = "precedes in[0]", .initial_in_words = "the operator's neutral element"})};

struct SegmentedScanning {
  bool inclusive = false;
  HeadKind heads = HeadKind::flags;
  Scalar initial{};
};
inline constexpr ScalarTable segmented_scan_scalars{
    scalar<&SegmentedScanning::inclusive>({.name = "inclusive", .meaning = "out[i] includes in[i]"}),
    scalar<&SegmentedScanning::heads>(
        {.name = "heads", .meaning = "how segments are given", .choices = head_kind_names}),
    scalar<&SegmentedScanning::initial>({.name = "initial",
                                         .meaning = "precedes the first element of every segment",
                                         .initial_in_words = "the operator's neutral element"})};

}  // namespace upsweep
