#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of `strider bench --device cuda` by PyTorch and Triton on the same GPU, beside Strider's figures.

  strider bench pointwise layouts kernels --device cuda --json strider.json
  python3 bench/peers_gpu.py strider.json --json peers.json

Timed as Strider times itself: the median over rounds in which all calls of a case take turns; a sample is a batch of calls
of 3 ms or more, by the clock, from an idle device to an idle device; successive calls go round three sets of tensors.
"""
import argparse
import json
import math
import statistics
import sys
import time

import torch
import triton
import triton.language as tl

SETS = 3
N = 1 << 26
SIDE = 8192
SOFTMAX = 4096


# ---- Triton's kernels, as its tutorials write them

@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def gelu_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def l1_norm_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.abs(tl.load(x + i, mask=i < n, other=0.0))))


@triton.jit
def softmax_kernel(x, y, stride, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * stride + i
    v = tl.load(x + at, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v))
    tl.store(y + at, e / tl.sum(e), mask=i < columns)


def flat(kernel, block, *tensors):
    n = tensors[0].numel()
    kernel[(triton.cdiv(n, block),)](*tensors, n, BLOCK=block)


# ---- cases

class Case:
    """`torch` and `triton` take the number of a set; `result` is what both leave in that set."""

    def __init__(self, name, bytes_, torch_call, triton_call=None, result=None):
        self.name, self.bytes, self.torch, self.triton, self.result = name, bytes_, torch_call, triton_call, result


def tensors(*shape):
    return [torch.randn(*shape, device="cuda") for _ in range(SETS)]


def pointwise_cases():
    x, y, z = tensors(N), tensors(N), tensors(N)
    result = lambda k: z[k]
    yield Case("copy", 8 * N, lambda k: z[k].copy_(x[k]), lambda k: flat(copy_kernel, 1024, x[k], z[k]), result)
    yield Case("add", 12 * N, lambda k: torch.add(x[k], y[k], out=z[k]),
               lambda k: flat(add_kernel, 1024, x[k], y[k], z[k]), result)
    yield Case("abs", 8 * N, lambda k: torch.abs(x[k], out=z[k]))
    yield Case("gelu", 8 * N, lambda k: torch.ops.aten.gelu.out(x[k], out=z[k]),
               lambda k: flat(gelu_kernel, 1024, x[k], z[k]), result)


def layout_cases():
    n = SIDE
    a, b, c = tensors(n, n), tensors(n, n), tensors(n, n)
    column, row = tensors(n, 1), tensors(1, n)
    edge = 4 * n + 8 * n * n
    yield Case("(N,1) + (N,M)", edge, lambda k: torch.add(column[k], b[k], out=c[k]))
    yield Case("(1,M) + (N,M)", edge, lambda k: torch.add(row[k], b[k], out=c[k]))
    yield Case("a + b.T", 12 * n * n, lambda k: torch.add(a[k], b[k].T, out=c[k]))


def reduce_cases():
    x = tensors(N)
    norm = [torch.zeros((), device="cuda") for _ in range(SETS)]
    yield Case("l1_norm", 4 * N, lambda k: torch.linalg.vector_norm(x[k], 1, out=norm[k]),
               lambda k: flat(l1_norm_kernel, 4096, x[k], norm[k]))
    n = SOFTMAX
    s, p = tensors(n, n), tensors(n, n)
    yield Case(f"softmax of rows, {n}x{n}", 8 * n * n, lambda k: torch.ops.aten._softmax.out(s[k], -1, False, out=p[k]),
               lambda k: softmax_kernel[(n,)](s[k], p[k], n, n, BLOCK=n, num_warps=8), lambda k: p[k])


def check(case):
    """Both peers must give one answer."""
    if case.result is None:
        return
    case.torch(0)
    expected = case.result(0).clone()
    case.result(0).fill_(math.nan)
    case.triton(0)
    torch.testing.assert_close(case.result(0), expected, rtol=1e-5, atol=1e-6)


# ---- timing

class Subject:
    def __init__(self, call):
        self.call, self.batch, self.number, self.samples = call, 1, 0, []

    def time_of(self, calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            self.call(self.number % SETS)
            self.number += 1
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls

    def warm_up(self, seconds=0.1):
        self.time_of(1)
        end = time.perf_counter() + seconds
        fastest = math.inf
        while time.perf_counter() < end:
            fastest = min(fastest, self.time_of(1))
        self.batch = max(1, math.ceil(3e-3 / fastest))


def measure(calls, seconds):
    subjects = [Subject(call) for call in calls]
    for s in subjects:
        s.warm_up()
    end = time.perf_counter() + seconds
    for turn in range(301):
        if turn >= 11 and time.perf_counter() > end:
            break
        for s in subjects if turn % 2 == 0 else reversed(subjects):
            s.samples.append(s.time_of(s.batch))
    return [statistics.median(s.samples) for s in subjects]


# ---- the report

def strider_times(path):
    with open(path) as file:
        return {row["case"]: row for row in json.load(file) if row["dtype"] == "f32"}


def run_case(case, ours, seconds):
    check(case)
    names = ["torch"] + (["triton"] if case.triton else [])
    medians = measure([getattr(case, name) for name in names], seconds)
    times = dict(zip(names, medians))
    if case.name in ours:
        times = {"strider": ours[case.name]["ms"] / 1e3, **times}
    return {"case": case.name, "bytes": case.bytes, **{f"{name}_s": t for name, t in times.items()}}


def line(row):
    def cell(name):
        t = row.get(f"{name}_s")
        return f"{t * 1e6:9.1f} us {row['bytes'] / t / 1e9:7.0f}" if t else " " * 20
    best = min(row[f"{name}_s"] for name in ("torch", "triton") if f"{name}_s" in row)
    ratio = f"{best / row['strider_s']:8.2f}" if "strider_s" in row else ""
    return f"  {row['case']:<28}{cell('strider')}{cell('torch')}{cell('triton')}{ratio}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strider", nargs="?", help="what strider bench --json wrote")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each case")
    options = parser.parse_args()
    ours = strider_times(options.strider) if options.strider else {}
    rows, broken = [], []
    for cases in (pointwise_cases, layout_cases, reduce_cases):
        for case in cases():
            try:
                rows.append(run_case(case, ours, options.seconds))
            except Exception as error:  # the other cases still count
                broken.append(case.name)
                print(f"{case.name}: {error}", file=sys.stderr)
        torch.cuda.empty_cache()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}; time and GB/s")
    print(f"  {'case':<28}{'strider':>20}{'torch':>20}{'triton':>20}{'to best':>8}")
    for row in rows:
        print(line(row))
    print("to best: the faster peer's time by Strider's; above 1 Strider is faster")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"torch": torch.__version__, "triton": triton.__version__, "rows": rows}, file, indent=1)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
