// SPDX-License-Identifier: Apache-2.0
// Both questions ask for integers within bounds whose weighted sum has a given value. The search fixes the largest
// coefficient first: what the others can still reach bounds it, and their common divisor rules most values out.
#include "planner/overlap.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace strider::planner {
namespace {

constexpr int kMaxTerms = 2 * kMaxDims + 2;
constexpr int64_t kBudget = 100'000;  // values tried before giving up

class Search {
 public:
  Search(std::span<const Term> terms, int64_t budget) : terms_(terms), budget_(budget) {
    reach_[terms.size()] = 0;
    divisor_[terms.size()] = 0;
    for (size_t k = terms.size(); k-- > 0;) {
      reach_[k] = reach_[k + 1] + Wide{terms[k].coefficient} * terms[k].bound;
      divisor_[k] = std::gcd(divisor_[k + 1], terms[k].coefficient);
    }
  }

  Answer from(size_t k, Wide target) {
    if (target < 0 || target > reach_[k]) return Answer::No;
    if (target == 0) return Answer::Yes;
    if (target % divisor_[k] != 0) return Answer::No;
    const Term& t = terms_[k];
    Wide least = std::max<Wide>(0, (target - reach_[k + 1] + t.coefficient - 1) / t.coefficient);
    for (Wide x = std::min<Wide>(t.bound, target / t.coefficient); x >= least; --x) {
      if (--budget_ < 0) return Answer::Undecided;
      Answer answer = from(k + 1, target - x * t.coefficient);
      if (answer != Answer::No) return answer;
    }
    return Answer::No;
  }

 private:
  std::span<const Term> terms_;
  int64_t budget_;
  Wide reach_[kMaxTerms + 1];       // of the terms from k on
  int64_t divisor_[kMaxTerms + 1];  // that they have in common
};

/// The axes that move, as coefficients above zero, largest first.
int moving_axes(const Dims& shape, const Dims& strides, Term* terms) {
  int count = 0;
  for (int k = 0; k < shape.rank(); ++k)
    if (shape[k] > 1) terms[count++] = {std::abs(strides[k]), shape[k] - 1};
  std::sort(terms, terms + count, [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
  return count;
}

/// Every axis steps over all that the smaller ones reach: true for anything permuted or sliced from a dense tensor.
bool nests(std::span<const Term> axes) {
  Wide reach = 0;
  for (size_t k = axes.size(); k-- > 0;) {
    if (axes[k].coefficient <= reach) return false;
    reach += Wide{axes[k].coefficient} * axes[k].bound;
  }
  return true;
}

bool is_empty(const Dims& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

/// The first byte of a region, and one past its last. Both are addresses, so 64 bits hold them.
struct Interval {
  uint64_t begin, end;
};
Interval interval(const Region& r) {
  int64_t low = 0, high = 0;
  for (int k = 0; k < r.shape.rank(); ++k) {
    int64_t reach = (r.shape[k] - 1) * r.strides[k];
    (reach < 0 ? low : high) += reach;
  }
  return {r.address + static_cast<uint64_t>(low * r.bytes), r.address + static_cast<uint64_t>((high + 1) * r.bytes)};
}

void add_terms(const Region& r, Term* terms, int* count) {
  for (int k = 0; k < r.shape.rank(); ++k)
    if (r.shape[k] > 1 && r.strides[k] != 0) terms[(*count)++] = {std::abs(r.strides[k]) * r.bytes, r.shape[k] - 1};
  if (r.bytes > 1) terms[(*count)++] = {1, r.bytes - 1};
}

}  // namespace

Answer has_solution(std::span<Term> terms, Wide target, int64_t budget) {
  STRIDER_CHECK(terms.size() <= kMaxTerms);
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
  return Search(terms, budget).from(0, target);
}

Answer overlaps_itself(const Dims& shape, const Dims& strides) {
  if (is_empty(shape)) return Answer::No;
  Term axes[kMaxDims], terms[kMaxDims];
  if (shape.rank() == 1 && strides[0] != 0) return Answer::No;
  int count = moving_axes(shape, strides, axes);
  if (nests(std::span(axes, count))) return Answer::No;
  if (axes[count - 1].coefficient == 0) return Answer::Yes;
  // Two indices of one element differ by d with sum(stride * d) = 0. Let axis k be the first with d != 0, and d > 0 there;
  // with x = d - 1 for that axis and x = d + bound for the later ones, all x are unknowns from 0 on.
  Answer result = Answer::No;
  for (int k = 0; k < count && result == Answer::No; ++k) {
    terms[0] = {axes[k].coefficient, axes[k].bound - 1};
    Wide target = -Wide{axes[k].coefficient};
    for (int j = k + 1; j < count; ++j) {
      terms[j - k] = {axes[j].coefficient, 2 * axes[j].bound};
      target += Wide{axes[j].coefficient} * axes[j].bound;
    }
    result = has_solution(std::span(terms, count - k), target, kBudget);
  }
  return result;
}

Answer overlap(const Region& a, const Region& b) {
  if (is_empty(a.shape) || is_empty(b.shape)) return Answer::No;
  Interval ia = interval(a), ib = interval(b);
  if (ia.end <= ib.begin || ib.end <= ia.begin) return Answer::No;
  // A shared byte: begin_a + sum(x) = begin_b + sum(y). Counting y down from its bounds makes both sums positive.
  Term terms[kMaxTerms];
  int count = 0;
  add_terms(a, terms, &count);
  add_terms(b, terms, &count);
  return has_solution(std::span(terms, count), Wide{ib.end} - 1 - ia.begin, kBudget);
}

}  // namespace strider::planner
