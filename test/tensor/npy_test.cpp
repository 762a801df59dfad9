// SPDX-License-Identifier: Apache-2.0
// .npy files: what NumPy writes is read, what is written NumPy reads, and damage is an error.
#include <strider/npy.h>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <strider/compare.h>
#include <strider/device.h>
#include <strider/error.h>

#include "support/errors.h"

namespace strider::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using Numbers = std::vector<double>;

class Npy : public ::testing::Test {
 protected:
  Npy() {
    char name[] = "/tmp/strider-npy-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Npy() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& bytes, const std::string& name = "x.npy") const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }

  fs::path folder_;
};

using support::error_of;

/// A file of version 1.0.
std::string file(const std::string& header, const std::string& data) {
  std::string whole = "\x93NUMPY\x01\x00"s;
  whole += {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return whole + header + data;
}
std::string dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
}

TEST_F(Npy, WhatNumPyWrites) {
  // numpy.save of numpy.array([[1, -2, 3]], dtype="<i2")
  std::string bytes = "\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }"s +
                      std::string(58, ' ') + "\n" + "\x01\x00\xfe\xff\x03\x00"s;
  ASSERT_EQ(bytes.size(), 128u + 6);
  Tensor x = load_npy(write(bytes));
  EXPECT_EQ(x.dtype(), i16);
  EXPECT_EQ(x.shape(), (Dims{1, 3}));
  EXPECT_EQ(x.to_doubles(), (Numbers{1, -2, 3}));
  save_npy(path("y.npy"), x);
  EXPECT_EQ(read("y.npy"), bytes);
}

/// Every file is synced, which takes its time: every dtype in one layout, and every layout of one dtype.
TEST_F(Npy, RoundTripsOfEveryDTypeAndLayout) {
  for (int k = 0; k < kDTypeCount; ++k) {
    Tensor x = randint({3, 4, 5}, 0, 100, {dtype_at(k), "cpu"}, 3);
    std::vector<Tensor> layouts{x};
    if (dtype_at(k) == DType::I16)
      layouts = {x.t(), x.permute({2, 1, 0}), x.slice(1, 3, -5, -2), x.select(0, 1).select(0, 1).select(0, 1), x.narrow(1, 0, 0),
                 x.select(2, 1), x.narrow(0, 0, 1).expand({4, 4, 5})};
    for (const Tensor& v : layouts) {
      save_npy(path("x.npy"), v);
      Tensor y = load_npy(path("x.npy"));
      EXPECT_TRUE(equal(v, y)) << name_of(dtype_at(k)) << to_string(v.shape());
    }
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(Npy, NaNKeepsItsBits) {
  Tensor x = tensor<uint32_t>({0x7f800001, 0xffc12345, 0x80000000});
  save_npy(path("x.npy"), TensorView(x.data(), f32, {3}));
  EXPECT_EQ(load_npy(path("x.npy")).to_bits(), x.to_bits());
}

TEST_F(Npy, HeadersBeginDataAtMultiplesOf64) {
  for (const Dims& shape : {Dims{}, Dims{5}, Dims{0}, Dims{2, 3}, Dims::filled(32, 1)}) {
    save_npy(path("x.npy"), zeros(shape, {u8, "cpu"}));
    size_t data = read("x.npy").size() - static_cast<size_t>(zeros(shape).elements());
    EXPECT_EQ(data % 64, 0u);
    EXPECT_EQ(read("x.npy")[data - 1], '\n');
    EXPECT_EQ(load_npy(path("x.npy")).shape(), shape);
  }
  save_npy(path("x.npy"), zeros({5}));
  EXPECT_NE(read("x.npy").find("'shape': (5,), }"), std::string::npos);
}

TEST_F(Npy, FortranOrder) {
  Tensor x = load_npy(write(file(dict("|u1", "(2, 3)", true), "\x01\x02\x03\x04\x05\x06")));
  EXPECT_EQ(x.strides(), (Dims{1, 2}));
  EXPECT_EQ(x.to_doubles(), (Numbers{1, 3, 5, 2, 4, 6}));
  save_npy(path("y.npy"), x);
  EXPECT_NE(read("y.npy").find("'fortran_order': True"), std::string::npos);
  EXPECT_TRUE(read("y.npy").ends_with("\x01\x02\x03\x04\x05\x06"));
}

TEST_F(Npy, BigEndian) {
  EXPECT_EQ(load_npy(write(file(dict(">i4", "(2,)"), "\x00\x00\x01\x02\xff\xff\xff\xfe"s))).to_doubles(), (Numbers{258, -2}));
  EXPECT_EQ(load_npy(write(file(dict(">f8", "()"), "\x3f\xf8\x00\x00\x00\x00\x00\x00"s))).item(), 1.5);
  EXPECT_EQ(load_npy(write(file(dict(">f2", "(1,)"), "\x3e\x00"s))).to_doubles(), (Numbers{1.5}));
}

TEST_F(Npy, OtherSpellings) {
  EXPECT_EQ(load_npy(write(file("{\"shape\":(2L,),'fortran_order':False,'descr':'=u1'}", "\x07\x08"))).to_doubles(),
            (Numbers{7, 8}));
  EXPECT_EQ(load_npy(write(file("{ 'descr' : 'u1' , 'fortran_order' : False , 'shape' : ( 1 , 2 ) } \n", "\x07\x08"))).shape(),
            (Dims{1, 2}));
  EXPECT_EQ(load_npy(write(file(dict("|b1", "(3,)"), "\x00\x01\x02"s))).to_bits(), (std::vector<uint64_t>{0, 1, 1}));
  EXPECT_EQ(load_npy(write(file(dict("|u1", "(1,)"), "\x07 and more"))).to_doubles(), (Numbers{7}));
  Tensor half = load_npy(write(file(dict("<V2", "(1,)"), "\xc0\x3f")));
  EXPECT_EQ(half.dtype(), bf16);
  EXPECT_EQ(half.item(), 1.5);
}

TEST_F(Npy, Versions2And3) {
  for (char major : {'\x02', '\x03'}) {
    std::string header = dict("<f4", "(1,)"),
                bytes = "\x93NUMPY"s + major + '\0' + static_cast<char>(header.size()) + "\0\0\0"s + header;
    EXPECT_EQ(load_npy(write(bytes + "\0\0\x80\x3f"s)).item(), 1);
  }
}

struct Damaged {
  ErrorKind kind;
  std::string bytes, message;
};

TEST_F(Npy, DamagedFilesAreErrorsThatNameTheFile) {
  std::string good = file(dict("<f4", "(2,)"), "abcdefgh");
  const Damaged files[] = {
      {ErrorKind::User, "", "does not begin"},
      {ErrorKind::User, "PK\x03\x04 an archive", "does not begin"},
      {ErrorKind::User, "\x93NUMPY", "ends within its header"},
      {ErrorKind::User, "\x93NUMPY\x02\x00\x01"s, "ends within its header"},
      {ErrorKind::User, "\x93NUMPY\x02\x00\x01\x01"s, "ends within its header"},
      {ErrorKind::Unsupported, "\x93NUMPY\x04\x00\x01\x01\x01\x01"s, "version is 4.0"},
      {ErrorKind::Unsupported, "\x93NUMPY\xff\x00\x01\x01\x01\x01"s, "version is 255.0"},
      {ErrorKind::User, "\x93NUMPY\x02\x00\xff\xff\xff\xff"s, "should end at byte 4294967307, but the file has 12 bytes"},
      {ErrorKind::User, good.substr(0, 30), "but the file has 30 bytes"},
      {ErrorKind::User, good.substr(0, good.size() - 1), "needs 8 bytes, but 7 follow"},
      {ErrorKind::User, file("", ""), "expected '{' at \"\""},
      {ErrorKind::User, file("{}", ""), "there is no 'descr'"},
      {ErrorKind::User, file("{'descr': '<f4', 'shape': (1,)}", ""), "there is no 'fortran_order'"},
      {ErrorKind::User, file("{'descr': '<f4', 'fortran_order': False}", ""), "there is no 'shape'"},
      {ErrorKind::User, file("{'descr': '<f4', 'descr': '<f4'}", ""), "a second 'descr'"},
      {ErrorKind::User, file("{'descr': '<f4", ""), "a string that does not end"},
      {ErrorKind::User, file("{'colour': 1}", ""), "the unknown key 'colour'"},
      {ErrorKind::User, file("{'fortran_order': 1}", ""), "expected True or False"},
      {ErrorKind::User, file("{'descr': '<f4' 'shape': ()}", ""), "expected ',' or '}'"},
      {ErrorKind::User, file(dict("<f4", "(2 3)"), ""), "expected ',' or ')'"},
      {ErrorKind::User, file(dict("<f4", "(2)"), "abcdefgh"), "a shape of one axis without a comma"},
      {ErrorKind::User, file(dict("<f4", "(02,)"), "abcdefgh"), "a size that begins with 0 at \"02"},
      {ErrorKind::User, file(dict("<f4", "(2, 01)"), "abcdefgh"), "a size that begins with 0"},
      {ErrorKind::User, "\x93NUMPY\x02\x00\x00\x00\x20\x00"s + std::string(0x200000, ' ') + "abcd", "its header has 2097164 bytes, and at most 1048576"},
      {ErrorKind::User, file(dict("<f4", "(x,)"), ""), "expected a size at \"x"},
      {ErrorKind::User, file(dict("<f4", "(-1,)"), ""), "a negative size"},
      {ErrorKind::User, file(dict("<f4", "(99999999999999999999,)"), ""), "a size beyond 64 bits"},
      {ErrorKind::User, file(dict("<f4", "()") + "x", "abcd"), "expected the end"},
      {ErrorKind::User, file(dict("<f4", "(1099511627776, 1099511627776)"), "abcd"), "2^63"},
      {ErrorKind::User, file(dict("<f4", "(1099511627776,)"), "abcd"), "needs 4398046511104 bytes, but 4 follow"},
      {ErrorKind::User, file(dict("<f4", "(" + std::string(66, '1') + ")"), ""), "beyond 64 bits"},
      {ErrorKind::User, file(dict("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), "abcd"),
       "at most 32"},
      {ErrorKind::Unsupported, file(dict("<c8", "(1,)"), "abcdefgh"), "its dtype '<c8'"},
      {ErrorKind::Unsupported, file(dict("|O", "(1,)"), "abcdefgh"), "its dtype '|O'"},
      {ErrorKind::Unsupported, file(dict("<U3", "(1,)"), "abcdefgh"), "its dtype '<U3'"},
      {ErrorKind::Unsupported, file(dict("", "(1,)"), "abcdefgh"), "its dtype ''"},
      {ErrorKind::Unsupported, file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"), "records"},
  };
  for (const Damaged& f : files) {
    std::string name = write(f.bytes), message = error_of(f.kind, [&] { load_npy(name); });
    EXPECT_NE(message.find(f.message), std::string::npos) << message << " / " << f.message;
    EXPECT_TRUE(message.starts_with("load_npy " + name + ": ")) << message;
  }
}

TEST_F(Npy, RandomDamageNeverDoesMoreThanThrow) {
  std::mt19937 random(1);
  std::string good = file(dict("<f4", "(2, 3)"), std::string(24, 'x'));
  int loaded = 0, refused = 0;
  for (int k = 0; k < 3000; ++k) {
    std::string bytes = good;
    for (unsigned n = random() % 3 + 1; n > 0; --n) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    try {
      Tensor x = load_npy(write(bytes));
      EXPECT_LE(x.elements() * size_of(x.dtype()), static_cast<int64_t>(bytes.size()));
      ++loaded;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 1000);
}

TEST_F(Npy, WhatCannotBeOpened) {
  EXPECT_NE(error_of(ErrorKind::User, [&] { load_npy(path("none.npy")); }).find("none.npy: it cannot be opened: No such file"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { load_npy(folder_); }).find("no regular file"), std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { load_npy("/dev/zero"); }).find("no regular file"), std::string::npos);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_NE(error_of(ErrorKind::User, [&] { load_npy(path("pipe")); }).find("no regular file"), std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { save_npy(path("pipe"), zeros({1})); }).find("no regular file"), std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { save_npy("/dev/full", zeros({1})); }).find("/dev/full: it is no regular file"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { save_npy(path("no/folder.npy"), zeros({1})); }).find("cannot be written"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorKind::User, [&] { save_npy(folder_, zeros({1})); }).find("no regular file"), std::string::npos);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Npy, AFailedWriteLeavesTheOldFile) {
  save_npy(path("x.npy"), full({2}, 1));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small{1000, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = error_of(ErrorKind::User, [&] { save_npy(path("x.npy"), zeros({1000})); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_NE(message.find("x.npy: it cannot be written: File too large"), std::string::npos) << message;
  EXPECT_EQ(load_npy(path("x.npy")).to_doubles(), (Numbers{1, 1}));
  EXPECT_EQ(files(), 1u);
}

mode_t mode_of(const std::string& path) {
  struct stat s{};
  EXPECT_EQ(::stat(path.c_str(), &s), 0) << path;
  return s.st_mode & 07777;
}

/// Case L7: private files stay private, and what only some may write stays so.
TEST_F(Npy, TheModeIsKept) {
  mode_t mask = ::umask(027);
  save_npy(path("new.npy"), zeros({2}));
  ::umask(mask);
  EXPECT_EQ(mode_of(path("new.npy")), 0640u);
  for (mode_t mode : {0600, 0400, 0644, 0666, 0604}) {
    save_npy(path("x.npy"), zeros({2}));
    ::chmod(path("x.npy").c_str(), mode);
    save_npy(path("x.npy"), full({1}, 7));
    EXPECT_EQ(mode_of(path("x.npy")), mode);
    EXPECT_EQ(load_npy(path("x.npy")).item(), 7);
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(Npy, TheOwnerIsKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  save_npy(path("x.npy"), zeros({2}));
  ASSERT_EQ(::chown(path("x.npy").c_str(), 1234, 4321), 0);
  save_npy(path("x.npy"), zeros({3}));
  struct stat s{};
  ::stat(path("x.npy").c_str(), &s);
  EXPECT_EQ(s.st_uid, 1234u);
  EXPECT_EQ(s.st_gid, 4321u);
}

TEST_F(Npy, AnyLegalName) {
  for (const std::string& name : {std::string(255, 'x'), std::string("a b\n\xff"), std::string(".npy")})
    for (int round = 0; round < 2; ++round) {
      save_npy(path(name), full({}, round));
      EXPECT_EQ(load_npy(path(name)).item(), round);
    }
  EXPECT_EQ(files(), 3u);
  EXPECT_NE(error_of([&] { save_npy(path(std::string(256, 'x')), zeros({1})); }).find("File name too long"), std::string::npos);
  for (const std::string& name : {"a\0b"s, "\0"s}) {
    EXPECT_NE(error_of([&] { save_npy(path(name), zeros({1})); }).find("has a character 0"), std::string::npos);
    EXPECT_NE(error_of([&] { load_npy(path(name)); }).find("has a character 0"), std::string::npos);
  }
  EXPECT_EQ(files(), 3u);
}

/// A process that is killed while it writes leaves the old file, and no other.
TEST_F(Npy, NothingIsLeftOfAKilledWriter) {
  save_npy(path("x.npy"), full({}, 1));
  Tensor large = zeros({1 << 20});
  for (int k = 0; k < 10; ++k) {
    pid_t child = ::fork();
    if (child == 0)
      for (;;) save_npy(path("x.npy"), large);
    ::usleep(static_cast<useconds_t>(1000 * (k + 1)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_GT(load_npy(path("x.npy")).elements(), 0);
  }
  EXPECT_LE(files(), 2u) << "a kill between two names for one file, at most";
}

/// Case L16: bytes without a meaning have no order.
TEST_F(Npy, PlainBytesAreNotSwapped) {
  for (const char* order : {"", "<", ">", "|"})
    EXPECT_EQ(load_npy(write(file(dict(std::string(order) + "V2", "(1,)"), "\x80\x3f"))).to_doubles(), Numbers{1}) << order;
}

TEST_F(Npy, SymbolicLinksAreFollowed) {
  fs::create_symlink("target.npy", path("link.npy"));
  for (double value : {1.0, 2.0}) {
    save_npy(path("link.npy"), full({}, value));
    EXPECT_TRUE(fs::is_symlink(path("link.npy")));
    EXPECT_EQ(load_npy(path("target.npy")).item(), value);
  }
}

class NpyOnDevice : public Npy, public ::testing::WithParamInterface<std::string> {};

TEST_P(NpyOnDevice, TensorsOfAnyDeviceAreWritten) {
  Tensor x = arange(12).reshape({3, 4}).to(GetParam());
  for (const Tensor& v : {x, x.t(), x.slice(1, 0, 4, 2)}) {
    save_npy(path("x.npy"), v);
    EXPECT_TRUE(equal(load_npy(path("x.npy")), v));
  }
}

INSTANTIATE_TEST_SUITE_P(All, NpyOnDevice, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return "device" + std::to_string(info.index); });

}  // namespace
}  // namespace strider::test
