// SPDX-License-Identifier: Apache-2.0
// Step 4. The copy is the identity operator on f32 tensors that move as many bytes, timed alternately with the subject.
#include <fmt/format.h>

#include <algorithm>

#include "tensor/guard.h"
#include "testing/check.h"
#include "testing/memory.h"
#include "testing/report.h"
#include "testing/timing.h"

#include <strider/ops.h>

namespace strider::inline v0::testing {
namespace {

struct Speed {
  double of_copy = 0;    // its speed by that of a copy
  double seconds = 0, bytes = 0, copy_seconds = 0;
  double gbps() const { return bytes / seconds / 1e9; }
  double copy_gbps() const { return bytes / copy_seconds / 1e9; }
};

constexpr int64_t kShift = 8;  // bytes: no vector is aligned, all elements are

class SpeedSearch {
 public:
  SpeedSearch(CheckStep& step, const SpeedSubject& subject, const CheckOptions& options, const Stopwatch& stopwatch)
      : step_(step), subject_(subject), options_(options), stopwatch_(stopwatch), device_(device_named(options.device)) {}

  void run() {
    Speed first = best_of_three();
    std::string figures = fmt::format("{:.2f} of copy{}: {}, {:.1f} GB/s, copy {:.1f} GB/s, {} elements", first.of_copy,
                                      block_text(subject_.block), time_text(first.seconds), first.gbps(), first.copy_gbps(),
                                      count_text(options_.elements));
    if (first.of_copy >= options_.speed) return add(step_, Verdict::Passed, figures);
    add(step_, Verdict::Noted, figures);
    if (!is_block() && !is_size()) look_at_code(first);
  }

 private:
  static std::string block_text(int64_t block) { return block > 0 ? fmt::format(" with a block of {}", block) : ""; }

  Speed measured(int64_t elements, int64_t block, int64_t shift = 0) {
    SpeedCase work = subject_.make(elements, block, shift);
    work.run();
    OperandText half(fmt::format("f32({})", std::max<int64_t>(work.bytes / 8, 1)));
    Memory memory(device_);
    TensorView from = memory.operand(half, Content::Normal, 0), to = memory.operand(half, Content::None, 1);
    Call calls[] = {[&](int64_t) { work.run(); }, [&](int64_t) { ops::copy(from, out(to)); }};
    testing::Options brief{.seconds = options_.quick ? 0.2 : 0.6, .warm_up_seconds = 0.02, .least_rounds = 5};
    std::vector<Times> times = stopwatch_(device_, calls, brief);
    return {ratio(times[1], times[0]), times[0].median(), static_cast<double>(work.bytes), times[1].median()};
  }

  /// Only once if that is fast enough: what else the machine does can make one of the two slow, but rarely for long.
  Speed best_of_three() {
    Speed best = measured(options_.elements, subject_.block);
    for (int k = 0; k < 2 && best.of_copy < options_.speed; ++k) {
      Speed next = measured(options_.elements, subject_.block);
      if (next.of_copy > best.of_copy) best = next;
    }
    return best;
  }

  bool is_block() {
    int64_t best = 0;
    Speed fastest;
    for (int64_t block : subject_.blocks) {
      if (block == subject_.block) continue;
      Speed s = measured(options_.elements, block);
      if (s.of_copy > fastest.of_copy) fastest = s, best = block;
    }
    if (fastest.of_copy < options_.speed) {
      if (best > 0) add(step_, Verdict::Noted, fmt::format("not the block: the best of {} others, {}, reaches {:.2f} of copy",
                                                           subject_.blocks.size() - 1, best, fastest.of_copy));
      return false;
    }
    add(step_, Verdict::Failed, fmt::format("at fault: the block. {} reaches {:.2f} of copy{}", best, fastest.of_copy,
                                            block_text(subject_.block) + ": " + "too little work for each program, or too much"));
    return true;
  }

  bool is_size() {
    int64_t larger = options_.elements * 4;
    Speed s = measured(larger, subject_.block);
    if (s.of_copy < options_.speed) {
      add(step_, Verdict::Noted, fmt::format("not the size: {} elements reach {:.2f} of copy", count_text(larger), s.of_copy));
      return false;
    }
    add(step_, Verdict::Failed,
        fmt::format("at fault: the size of the data. {} elements reach {:.2f} of copy: what a launch costs counts",
                    count_text(larger), s.of_copy));
    return true;
  }

  /// Neither the block nor the size. Tensors that span much more than what counts are read in pieces. Code that is as fast as a
  /// copy where all lies in the caches, and slower where it does not, asks for memory in a bad order; code that is slow there too
  /// computes for so long.
  void look_at_code(const Speed& first) {
    constexpr int64_t kInCaches = 1 << 17;
    constexpr double kWide = 1.5, kMuchSlower = 0.75;
    SpeedCase large = subject_.make(options_.elements, subject_.block, 0);
    double spread = static_cast<double>(large.footprint) / static_cast<double>(std::max<int64_t>(large.bytes, 1));
    large = {};
    Speed small = measured(kInCaches, subject_.block);
    Speed unaligned = measured(options_.elements, subject_.block, kShift);
    add(step_, Verdict::Noted,
        fmt::format("with tensors that are not aligned: {:.2f} of copy; from the caches: {:.2f} of copy, {:.1f} GB/s",
                    unaligned.of_copy, small.of_copy, small.gbps()));
    constexpr const char* kAdvice = "neighbouring lanes should access neighbouring elements";
    if (spread >= kWide)
      add(step_, Verdict::Failed,
          fmt::format("at fault: the access pattern. Its tensors span {:.1f} times the bytes that it has to move: {}", spread,
                      kAdvice));
    else if (small.of_copy < options_.speed)
      add(step_, Verdict::Noted,
          "at fault: the maths. From the caches it is slower than a copy too: memory is not what it waits for");
    else if (first.of_copy < kMuchSlower * small.of_copy)
      add(step_, Verdict::Failed,
          fmt::format("at fault: the access pattern. From the caches it is as fast as a copy: {}", kAdvice));
    else
      add(step_, Verdict::Failed, "no fault was found: the machine may be busy with other things");
  }

  CheckStep& step_;
  const SpeedSubject& subject_;
  const CheckOptions& options_;
  const Stopwatch& stopwatch_;
  Device& device_;
};

}  // namespace

void check_speed(CheckStep& step, const SpeedSubject& subject, const CheckOptions& options, const Stopwatch& stopwatch) {
  if (options.speed == 0) return add(step, Verdict::Skipped, "not asked for");
  CheckOptions o = options;
  if (o.quick) o.elements = std::min<int64_t>(o.elements, 1 << 22);
  Stopwatch usual = [](Device& device, std::span<const Call> calls, const Options& how) { return measure(device, calls, how); };
  SpeedSearch(step, subject, o, stopwatch ? stopwatch : usual).run();
}

}  // namespace strider::v0::testing
