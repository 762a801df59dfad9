// SPDX-License-Identifier: Apache-2.0
// A program that uses the library at the edges of a process's life: `life CASE` says "right" for each thing that went right, on a
// line with what it was. It sees the public headers and libstrider.so alone; test/call/life_test.cpp runs it.
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include <strider/strider.h>

namespace st = strider;
namespace tl = strider::tl;

namespace {

void say(const std::string& what, bool is_right = true) {
  std::printf("%s %s\n", what.c_str(), is_right ? "right" : "WRONG");
  std::fflush(stdout);
}

/// What `f` throws, or "".
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const st::Error& error) {
    return error.what();
  }
  return "";
}

auto times(int n) {
  return st::pointwise("times", [n](auto x) { return x * n; });
}

/// Other numbers give other code. The interface is that of a call which compiles, and of one which does not.
bool computes(int n) {
  auto op = times(n);
  st::Tensor x = st::arange(8, {st::f32});
  for (int round = 0; round < 2; ++round)
    if (op(x).to_doubles()[7] != 7.0 * n) return false;
  return true;
}

// --- the end

bool has_last_words = false;

/// A static object of the program: its destructor runs after main.
struct Last {
  ~Last() {
    if (has_last_words) say("static destructor", computes(1000));
  }
  st::Tensor tensor;
};
Last& last() {
  static Last only{st::arange(8)};
  return only;
}
struct Global {
  ~Global() {
    if (has_last_words) say("global destructor", computes(2000));
  }
} global;

struct OfThread {
  ~OfThread() { say("thread_local destructor", computes(3000)); }
};

void compile_for_ever() {
  for (int t = 0; t < 3; ++t)
    std::thread([t] {
      for (int n = 10'000'000 * (t + 1);; ++n) computes(n);
    }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(60 + ::getpid() % 40));
}

void ends_while_compiling() {
  compile_for_ever();
  say("main");
}

void ends_with_last_words() {
  last();
  has_last_words = true;
  ends_while_compiling();
}

void calls_after_main() {
  has_last_words = true;
  std::atexit([] { say("atexit before the first call", computes(4000)); });
  static std::thread worker([] { static thread_local OfThread here; (void)here; });
  worker.join();
  say("main", computes(2));
  last();
  std::atexit([] { say("atexit", computes(5000)); });
}

/// A static object may wait for a thread that compiles.
void joins_after_main() {
  struct Worker {
    std::atomic<bool> stop{false};
    std::thread thread{[this] {
      for (int n = 100; !stop; ++n) computes(n);
    }};
    ~Worker() {
      stop = true;
      thread.join();
      say("joined");
    }
  };
  static Worker worker;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  say("main");
}

// --- fork

void forks() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int n = 1'000'000 * (t + 1); !stop; ++n) computes(n);
    });
  int right = 0;
  constexpr int kChildren = 12;
  for (int k = 0; k < kChildren; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      ::_exit(computes(100 + k) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    right += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  say("children", right == kChildren);
  say("parent", computes(3));
}

/// The child makes what another thread of the parent was making.
void forks_in_a_body() {
  std::atomic<bool> is_inside{false}, may_go_on{false};
  auto op = st::pointwise("slow", [&](auto x) {
    is_inside = true;
    while (!may_go_on) std::this_thread::yield();
    return x + 1;
  });
  std::thread maker([&] { op(st::arange(3)); });
  while (!is_inside) std::this_thread::yield();
  pid_t child = ::fork();
  may_go_on = true;
  if (child == 0) {
    ::alarm(20);
    ::_exit(op(st::arange(3)).to_doubles()[2] == 3 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  maker.join();
  say("child", WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// --- stacks

struct Job {
  std::function<void()> work;
  const char* here = nullptr;  // where the thread's function stands
};

void* run_job(void* job) {
  char here = 0;
  static_cast<Job*>(job)->here = const_cast<const char*>(static_cast<const volatile char*>(&here));
  static_cast<Job*>(job)->work();
  return nullptr;
}

/// Runs `work` on a thread with that stack; gives how many bytes of it were used below the thread's function.
size_t on_stack_of(size_t bytes, const std::function<void()>& work) {
  constexpr char kPaint = 0x5a;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  auto* lowest = static_cast<char*>(memory);
  std::memset(lowest, kPaint, bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, bytes);
  Job job{work};
  pthread_t thread;
  if (pthread_create(&thread, &attributes, run_job, &job) != 0) return bytes;
  pthread_join(thread, nullptr);
  const char* touched = lowest;
  while (*touched == kPaint) ++touched;
  auto used = static_cast<size_t>(job.here - touched);
  ::munmap(memory, bytes);
  return used;
}

st::Kernel plus_one() {
  return st::kernel("plus_one", [](tl::Ptr<float> x, tl::i64 n, tl::Constexpr BLOCK) {
    auto i = tl::program_id(0) * BLOCK + tl::arange(0, BLOCK);
    tl::store(x + i, tl::load(x + i, i < n) + 1.0f, i < n);
  }, {{"x", "n", "BLOCK"}});
}

/// The bytes of stack that calls use whose code is there.
void warm_stack() {
  auto op = st::pointwise("axpy", [](auto x, auto y, auto a) { return x * a + y; });
  st::Tensor x = st::arange(64, {st::f32}).reshape({8, 8}), y = st::zeros({8, 8}), out = st::zeros({8, 8});
  st::Kernel kernel = plus_one();
  auto prepared = op.prepare(x, y, 0.5, st::out(out));
  auto prepared_kernel = kernel[1].prepare(x, 64, {{"BLOCK", 64}});
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"operator", [&] { op(x, y, 0.5); }},
      {"operator with an output", [&] { op(x.t(), y, 0.5, st::out(out)); }},
      {"kernel", [&] { kernel[1](x, 64, {{"BLOCK", 64}}); }},
      {"prepared operator", [&] { prepared(); }},
      {"prepared kernel", [&] { prepared_kernel(); }},
  };
  for (const auto& [name, call] : calls) {
    call();
    size_t used = on_stack_of(256 << 10, call);
    say(std::string(name) + " used " + std::to_string(used), used <= 16 << 10);
  }
}

void small_stacks() {
  auto op = times(2);
  st::Tensor x = st::arange(8, {st::f32});
  op(x);
  for (size_t kib : {16, 32, 48, 64, 96}) {
    bool warm = false, cold = false;
    on_stack_of(kib << 10, [&] { warm = op(x).to_doubles()[7] == 14; });
    on_stack_of(kib << 10, [&] { cold = computes(static_cast<int>(kib)); });
    say("warm on " + std::to_string(kib) + " KiB", warm);
    say("cold on " + std::to_string(kib) + " KiB", cold);
  }
}

st::Value for_ever(const st::Value& x, int depth) {
  st::Value same = x + 1;
  return depth < 0 ? same : for_ever(x, depth + 1) * 2;
}

/// Works, then traces a function without end, whose error it gives.
void work_on_a_fibre() {
  say("fibre", computes(7));
  auto endless = st::pointwise("endless", [](auto x) { return for_ever(x, 0); });
  std::string error = error_of([&] { endless(st::arange(3)); });
  say("endless recursion", error.find("calls itself without end") != std::string::npos);
}

void run_fibre(size_t bytes) {
  static ucontext_t here, there;
  ::getcontext(&there);
  there.uc_stack.ss_sp = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  there.uc_stack.ss_size = bytes;
  there.uc_link = &here;
  ::makecontext(&there, work_on_a_fibre, 0);
  ::swapcontext(&here, &there);
}

void fibres() {
  run_fibre(256 << 10);
  std::thread([] { run_fibre(64 << 10); }).join();
  on_stack_of(256 << 10, work_on_a_fibre);
}

// --- cancellation

/// A thread is cancelled at any point of calls that compile; the next ones go on.
void cancels() {
  for (int k = 0; k < 24; ++k) {
    std::atomic<bool> begins{false};
    std::thread thread([&] {
      begins = true;
      for (int n = 0;; ++n) {
        computes(100 * k + n);
        pthread_testcancel();
      }
    });
    while (!begins) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(700 * k));
    pthread_cancel(thread.native_handle());
    thread.join();
  }
  say("cancelled calls", computes(3));
}

void cancels_files() {
  const std::string path = "cancelled.npy";
  for (int k = 0; k < 50; ++k) {
    std::atomic<bool> begins{false};
    std::thread thread([&] {
      st::Tensor x = st::arange(1000);
      begins = true;
      for (;;) {
        st::save_npy(path, x);
        st::load_npy(path);
        pthread_testcancel();
      }
    });
    while (!begins) std::this_thread::yield();
    pthread_cancel(thread.native_handle());
    thread.join();
  }
  st::Tensor x = st::arange(3);
  st::save_npy(path, x);
  say("cancelled files", st::equal(st::load_npy(path), x));
}

// --- bodies that wait for themselves

/// Each of two kernels launches the other while it is traced, in two threads at the same time.
void cycle() {
  static std::function<void()> launch_ping, launch_pong;
  static std::atomic<int> inside{0};
  auto wait_for_both = [] {
    ++inside;
    for (int k = 0; k < 2000 && inside < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  auto ping = st::kernel("ping", [=](tl::Ptr<float>) { wait_for_both(), launch_pong(); });
  auto pong = st::kernel("pong", [=](tl::Ptr<float>) { wait_for_both(), launch_ping(); });
  st::Tensor x = st::zeros({1});
  launch_ping = [&] { ping[1](x); };
  launch_pong = [&] { pong[1](x); };
  std::string of_ping, of_pong;
  std::thread other([&] { of_ping = error_of(launch_ping); });
  of_pong = error_of(launch_pong);
  other.join();
  for (const std::string& error : {of_ping, of_pong}) {
    std::printf("%s\n", error.c_str());
    bool names_both = error.find("kernel ping -> kernel pong") != std::string::npos || error.find("kernel pong -> kernel ping") != std::string::npos;
    say("cycle", names_both && error.find("needed to make itself") != std::string::npos);
  }
}

/// A body joins a thread that launches the kernel of the body.
void joins_in_a_body() {
  static std::function<void()> launch;
  static std::string of_thread;
  auto kernel = st::kernel("joins", [](tl::Ptr<float>) { std::thread([] { of_thread = error_of(launch); }).join(); });
  st::Tensor x = st::zeros({1});
  launch = [&] { kernel[1](x); };
  std::string own = error_of(launch);
  std::printf("%s\n", of_thread.c_str());
  say("the thread", of_thread.starts_with("kernel joins ") && of_thread.find("another thread makes it, and sleeps") != std::string::npos);
  say("the body", own.empty());
}

void catches_in_a_body() {
  st::Tensor x = st::zeros({1}, {st::i32});
  auto branch = st::kernel("branch", [](tl::Ptr<int> p) {
    try {
      tl::if_(tl::load(p) == 0, [&] { throw std::runtime_error("no"); });
    } catch (const std::exception&) {
    }
    tl::store(p, 1);
  });
  std::string error = error_of([&] { branch[1](x); });
  std::printf("%s\n", error.c_str());
  bool is_as_if_not_there = error.empty() && x.item() == 1;
  say("torn body", is_as_if_not_there || error.find("an exception came out of a body") != std::string::npos);
  auto plain = st::kernel("plain", [](tl::Ptr<int> p) {
    try {
      tl::store(p, 0.5);
    } catch (const st::Error&) {
      tl::store(p, 7);
    }
  });
  plain[1](x);
  say("an error of one operation", x.item() == 7);
}

// --- what a system may refuse

std::atomic<bool> refuses_threads{false}, refuses_code{false};

void without_threads() {
  refuses_threads = true;
  st::Tensor x = st::arange(1 << 20, {st::f32});
  say("large call", times(3)(x).to_doubles()[9] == 27);
}

void without_code() {
  refuses_code = true;
  std::string error = error_of([] { computes(3); });
  std::printf("%s\n", error.c_str());
  say("refused", error.find("this system allows no new code in memory") != std::string::npos &&
                     error.find("STRIDER_BACKEND=interp") != std::string::npos);
  refuses_code = false;
  say("allowed", computes(3));
}

void with_other_rights() {
  if (::getauxval(AT_SECURE) == 0) return say("no other rights:");
  say("call", computes(3));
}

const struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"ends_while_compiling", ends_while_compiling},
    {"ends_with_last_words", ends_with_last_words},
    {"calls_after_main", calls_after_main},
    {"joins_after_main", joins_after_main},
    {"forks", forks},
    {"forks_in_a_body", forks_in_a_body},
    {"warm_stack", warm_stack},
    {"small_stacks", small_stacks},
    {"fibres", fibres},
    {"cancels", cancels},
    {"cancels_files", cancels_files},
    {"cycle", cycle},
    {"joins_in_a_body", joins_in_a_body},
    {"catches_in_a_body", catches_in_a_body},
    {"without_threads", without_threads},
    {"without_code", without_code},
    {"with_other_rights", with_other_rights},
};

}  // namespace

// In place of the C library's, so that they can refuse. Sanitizers have their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static auto* const real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return refuses_threads ? EAGAIN : real(thread, attributes, run, argument);
}
extern "C" [[gnu::visibility("default")]] int mprotect(void* memory, size_t bytes, int rights) noexcept {
  static auto* const real = reinterpret_cast<decltype(&mprotect)>(::dlsym(RTLD_NEXT, "mprotect"));
  if (refuses_code && (rights & PROT_EXEC)) return errno = EACCES, -1;
  return real(memory, bytes, rights);
}
#endif

int main(int argc, char** argv) {
  for (const auto& c : kCases)
    if (argc == 2 && std::strcmp(argv[1], c.name) == 0) return c.run(), 0;
  std::fprintf(stderr, "life CASE; the cases are in life.cpp\n");
  return 2;
}
