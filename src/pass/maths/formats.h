// SPDX-License-Identifier: Apache-2.0
// The formats: layout, limits and coefficients (highest power first), as doubles.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace strider::maths {

struct F32 {
  static constexpr int kMantissa = 23, kSignBit = 31;
  static constexpr int64_t kBias = 127;
  static constexpr int64_t kSign = std::numeric_limits<int32_t>::min();
  static constexpr int64_t kRootHalf = 0x3f3504f3;  // bits of sqrt(1/2)
  static constexpr double kLn2High = 0x1.62e4p-1;   // its product with any exponent is exact
  static constexpr double kLn2Low = 0x1.7f7d1cp-20;
  static constexpr double kLn2 = 0x1.62e43p-1;
  static constexpr double kLog2E = 0x1.715476p0;
  static constexpr double kExpMin = -104, kExpMax = 89, kExp2Min = -151, kExp2Max = 129, kExpm1Min = -20;
  static constexpr double kTanhMax = 9.1, kErfMax = 4, kErfcMax = 10.5;  // the result is 1 or 0 from there on
  static constexpr double kErfcSmallMax = 0.875;                         // below it erfc is 1 - erf
  static constexpr double kEpsilon = 0x1p-24;
  static constexpr int kShift = 32;  // a power of two that keeps scaled values in range
  static constexpr double kExp[] = {0x1.a696fp-13, 0x1.721044p-10, 0x1.1107cap-7,
                                    0x1.55483ep-5, 0x1.555568p-3,  0x1.00001p-1};
  static constexpr double kExp2[] = {0x1.03894cp-16, 0x1.485f44p-13, 0x1.5d7e96p-10, 0x1.3b1e68p-7,
                                     0x1.c6b09ap-5,  0x1.ebfcp-3,    0x1.62e43p-1,   1.0};
  static constexpr double kExpm1[] = {0x1.6a604ap-10, 0x1.123ac8p-7, 0x1.5558ap-5, 0x1.55549p-3, 0x1.fffffcp-2};
  static constexpr double kLog[] = {0x1.661df8p-4, -0x1.252f5ap-3, 0x1.31881ep-3, -0x1.535774p-3,
                                    0x1.98d202p-3, -0x1.0004b8p-2, 0x1.5556f6p-2, -0x1.fffffap-2};
  static constexpr double kLog2[] = {0x1.02201cp-3,  -0x1.a8d262p-3, 0x1.b9c7b8p-3, -0x1.e94f5p-3, 0x1.26d306p-2,
                                     -0x1.715c98p-2, 0x1.ec73dcp-2,  -0x1.71547p-1, -0x1.3b28p-26};
  static constexpr double kTanh[] = {-0x1.7d7f24p-8, 0x1.53c03cp-6, -0x1.b87712p-5, 0x1.1108cap-3, -0x1.55553ap-2};
  static constexpr double kErf[] = {-0x1.4309dap-11, 0x1.4942c8p-8,  -0x1.b6dc18p-6,
                                    0x1.ce1f5ep-4,   -0x1.8126fep-2, 0x1.06eba6p-3};
  static constexpr double kErfc[] = {0x1.2f3a76p-12, -0x1.23e3f6p-8, 0x1.08c04p-5,   -0x1.342494p-3,
                                     -0x1.d65c38p-1, -0x1.a092b2p0,  -0x1.a193f4p-13};
  static constexpr double kExp2Half[] = {0x1.3fb5f2p-13, 0x1.5f0e12p-10, 0x1.3b309p-7, 0x1.c6af72p-5,
                                         0x1.ebfbd8p-3,  0x1.62e43p-1,   1.0};

  // Trigonometry: pi/2 and 2 pi as sums, and the angles from which on reduction by pi/2 would not be exact enough.
  static constexpr double kHalfPi = 0x1.921fb6p0, kHalfPiLow = -0x1.777a5cp-25, kHalfPiLowest = -0x1.ee59dap-50;
  static constexpr double kTau = 0x1.921fb6p2, kTauLow = -0x1.777a5cp-23, kTwoByPi = 0x1.45f306p-1;
  static constexpr double kLargeAngle = 0x1p17, kLargeAngleForTan = 0x1p12;
  static constexpr double kSin[] = {-0x1.992784p-13, 0x1.1106dcp-7, -0x1.555544p-3};
  static constexpr double kCos[] = {0x1.99e526p-16, -0x1.6c0c22p-10, 0x1.55554ap-5, -0.5, 1.0};
  static constexpr double kTan[] = {
      0x1.229198p-8, -0x1.d7bf2cp-16, 0x1.6629a6p-7, 0x1.5c12aap-6, 0x1.baebd6p-5, 0x1.110d2cp-3, 0x1.555562p-2};
  static constexpr double kAsinLarge = 0.6;  // from there on asin goes through acos
  static constexpr double kAsin[] = {
      0x1.cca80ep-5, -0x1.5a95a2p-10, 0x1.2d22a8p-5, 0x1.66e464p-5, 0x1.336692p-4, 0x1.5554d6p-3};
  static constexpr double kAtan[] = {
      -0x1.d5a1aap-10, 0x1.6551e2p-7, -0x1.fe7d24p-6, 0x1.da9c2ep-5, -0x1.5825f2p-4, 0x1.c0946cp-4, -0x1.24211ap-3,
      0x1.9991ecp-3, -0x1.55553ep-2};

  static constexpr double kHyperbolicMax = 89.5;
  static constexpr double kSinh[] = {0x1.74d56ep-19, 0x1.a01668p-13, 0x1.111112p-7, 0x1.555556p-3};
  static constexpr double kCosh[] = {0x1.6d515p-10, 0x1.5554e4p-5, 0x1p-1};
  static constexpr double kArc[] = {
      0x1.fe5008p-19, -0x1.c2cb98p-15, 0x1.701bf6p-12, -0x1.7a3494p-10, 0x1.1dabcep-8, -0x1.65f32ap-7, 0x1.9be2a6p-6,
      -0x1.d39882p-5, 0x1.110ceep-3, -0x1.55553ep-2};
  static constexpr double kAtanh[] = {0x1.6b7b26p-3, 0x1.a03afep-5, 0x1.e4e196p-4, 0x1.233f7ap-3, 0x1.99a742p-3, 0x1.55553ep-2};

  static constexpr double kLog10E = 0x1.bcb7b2p-2, kLog10Of2High = 0x1.344p-2, kLog10Of2Low = 0x1.3509f8p-18;
  static constexpr double kLog10[] = {
      0x1.369818p-5, -0x1.ff69ap-5, 0x1.09fe1ap-4, -0x1.269accp-4, 0x1.6300ep-4, -0x1.bcc156p-4, 0x1.287c6ap-3, -0x1.bcb7aap-3,
      -0x1.6fcf9p-26};

  static constexpr double kMax = 0x1.fffffep127, kPowMost = 256;  // 2^kPowMost and its inverse are out of range
  static constexpr double kTwoLog2E = 0x1.715476p1, kTwoLog2ELow = 0x1.4ae0cp-25;
  static constexpr double kThird = 0x1.555556p-2, kThirdLow = -0x1.555556p-27;
  static constexpr double kPowTail[] = {0x1.dfa3b4p-4, 0x1.245278p-3, 0x1.999ap-3};
  static constexpr double kCbrt[] = {0x1.6665fcp-3, 0x1.ca17b4p-3, 0x1.555352p-2};
  static constexpr double kSquareMost = 0x1p60, kSquareLeast = 0x1p-40, kSquareDown = 0x1p-70, kSquareUp = 0x1p90;
  static constexpr int kCbrtSteps = 1, kCbrtShift = 16;

  static constexpr int kErfcShift = 64;
  static constexpr double kErfcSmall[] = {
      0x1.5a41aep-14, -0x1.a9750ep-11, 0x1.54b082p-8, -0x1.b80bfep-6, 0x1.ce2de6p-4, -0x1.812742p-2, 0x1.06eba8p-3};
  static constexpr double kErfcx[] = {
      -0x1.75af92p1, 0x1.397334p3, -0x1.b159fp3, 0x1.254a8ep3, -0x1.279feep1, -0x1.368dd2p-2, -0x1.528b3p-2, 0x1.24a16ep-2,
      0x1.20c8bp-1};

  // a Q(a) of gelu: a (1/2 - a P(a^2)) below kGeluSmallMax, else e^(-a^2 / 2) R((a - middle) / (a + middle))
  static constexpr double kGeluSmallMax = 1, kGeluMax = 15, kGeluMiddle = 2;
  static constexpr double kGeluSmall[] = {
      -0x1.06f104p-17, 0x1.de95cap-14, -0x1.37325ap-10, 0x1.46d24p-7, -0x1.105854p-4, 0x1.988454p-2};
  static constexpr double kGelu[] = {
      0x1.4ccbdp-10, -0x1.33963ep-11, -0x1.22d9d8p-8, -0x1.d4fd78p-9, 0x1.290666p-6, 0x1.0c573p-5, -0x1.35de88p-3,
      0x1.5d300cp-3, 0x1.5845dcp-2};
};

struct F64 {
  static constexpr int kMantissa = 52, kSignBit = 63;
  static constexpr int64_t kBias = 1023;
  static constexpr int64_t kSign = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  static constexpr double kLog2E = 0x1.71547652b82fep0;
  static constexpr double kExpMin = -746, kExpMax = 710, kExp2Min = -1076, kExp2Max = 1025, kExpm1Min = -40;
  static constexpr double kTanhMax = 19.1, kErfMax = 6, kErfcSmallMax = 0.65, kErfcMax = 27.5;
  static constexpr double kEpsilon = 0x1p-53;
  static constexpr int kShift = 64;
  static constexpr double kExp[] = {0x1.645003f1af6b1p-33, 0x1.218e7865d5b3ap-29, 0x1.ae5f9497be776p-26,
                                    0x1.27e190c77ab48p-22, 0x1.71de3df0fe34ap-19, 0x1.a01a05fd7b3d3p-16,
                                    0x1.a01a019d397bep-13, 0x1.6c16c16945c3ap-10, 0x1.11111111123p-7,
                                    0x1.5555555557008p-5,  0x1.555555555554bp-3,  0x1.fffffffffffebp-2};
  static constexpr double kExp2[] = {0x1.83f5ca32ccdfp-40,  0x1.c7e196db044fdp-36,
                                     0x1.e8c8670d64ea2p-32, 0x1.e4c9b58465b74p-28,
                                     0x1.b5253d6d69032p-24, 0x1.62c025f68fb42p-20,
                                     0x1.ffcbfc5a58fe7p-17, 0x1.430912f5e8653p-13,
                                     0x1.5d87fe78a458ep-10, 0x1.3b2ab6fba676cp-7,
                                     0x1.c6b08d704a0f6p-5,  0x1.ebfbdff82c57ap-3,
                                     0x1.62e42fefa39efp-1,  1.0};
  static constexpr double kExpm1[] = {
      0x1.ad936192cfc04p-26, 0x1.28ae0ce834cfdp-22, 0x1.71df18bdec10dp-19, 0x1.a019994fd49f6p-16, 0x1.a01a012ffa4e4p-13,
      0x1.6c16c1847b80fp-10, 0x1.1111111126b2bp-7,  0x1.55555555506afp-5,  0x1.55555555554fep-3,  0x1.000000000000ap-1};
  static constexpr double kLog[] = {
      0x1.ac2424e9d378ap-6, -0x1.eba054171a171p-5, 0x1.0b74b2d70067ep-4, -0x1.d1523094071a6p-5,
      0x1.cfa0bd0d5cacbp-5, -0x1.fb6aabb8ea09dp-5, 0x1.11d993709f0f3p-4, -0x1.24dcb4246209bp-4,
      0x1.3b0ab2761c9dp-4,  -0x1.55506b2ad591ap-4, 0x1.745d45c95eea3p-4, -0x1.9999c97503c88p-4,
      0x1.c71c71d6f1dc2p-4, -0x1.fffffef4059e4p-4, 0x1.2492492240fa7p-3, -0x1.55555556e6804p-3,
      0x1.99999999a19a3p-3, -0x1.fffffffffde97p-3, 0x1.555555555551bp-2, -0x1.0000000000003p-1};
  static constexpr double kLog2[] = {
      0x1.358a9b934910cp-5,  -0x1.63661f5f92934p-4, 0x1.824aca4fa1b84p-4,  -0x1.4f87d0d94f713p-4, 0x1.4e3ff94d17ebcp-4,
      -0x1.6e0146138337dp-4, 0x1.8b1c6b1e93cd9p-4,  -0x1.a6847fcd5dca7p-4, 0x1.c681c736eafefp-4,  -0x1.ec6953e67fcaap-4,
      0x1.0c9aa937292c6p-3,  -0x1.2776e91112083p-3, 0x1.484b13d49063bp-3,  -0x1.71547584e2959p-3, 0x1.a61762a455a37p-3,
      -0x1.ec709dc61cd87p-3, 0x1.2776c50f00064p-2,  -0x1.71547652b66d7p-2, 0x1.ec709dc3a0392p-2,  -0x1.71547652b8304p-1,
      0x1.b933069056756p-56};
  static constexpr double kTanh[] = {-0x1.1c75b5638b9e2p-16, 0x1.4ae326c87d11p-14,   -0x1.e273540a06281p-13,
                                     0x1.33c5b73a6f3f5p-11,  -0x1.7d76d03d1b45ep-10, 0x1.d6d07fa5f18bcp-9,
                                     -0x1.226e20898d624p-7,  0x1.664f47dd8a5f1p-6,   -0x1.ba1ba1b7200aep-5,
                                     0x1.111111110d9f2p-3,   -0x1.5555555555529p-2};
  static constexpr double kErf[] = {0x1.661b1823fbc46p-27,  -0x1.4f27864bf34b4p-23, 0x1.b7d84100eee81p-20,
                                    -0x1.f4a89362eac89p-17, 0x1.f9a102559de5bp-14,  -0x1.c02da1e0a6815p-11,
                                    0x1.565bccaed2abep-8,   -0x1.b82ce3103dfcap-6,  0x1.ce2f21a03b997p-4,
                                    -0x1.812746b037961p-2,  0x1.06eba8214db68p-3};
  static constexpr double kErfc[] = {
      0x1.26702d9e83a49p-39, -0x1.992e698611499p-34, 0x1.0a4ee99cb733ap-29,  -0x1.af203c79422b3p-26,
      0x1.e574490f712dbp-23, -0x1.92003581f575ep-20, 0x1.f6a4b03fec324p-18,  -0x1.daf2aa506121ap-16,
      0x1.45f6bf713dfd2p-14, -0x1.1155b3072c461p-13, -0x1.a81b16df1662fp-17, 0x1.bdc394b885557p-11,
      -0x1.435f8b112faaep-9, 0x1.59579e8b8945ep-12,  0x1.c3c96a68a265ep-6,   -0x1.2fa20b473ddcap-3,
      -0x1.d63f57c3df458p-1, -0x1.a0be76b5abafap0,   -0x1.3a452a7c8575bp-24};
  static constexpr double kExp2Half[] = {
      0x1.ea18e303d6e09p-32, 0x1.e61d54816f07ap-28, 0x1.b524cd82b189cp-24, 0x1.62bfc66e2d6ap-20, 0x1.ffcbfc7c78ec4p-17,
      0x1.4309130f52e2cp-13, 0x1.5d87fe78a0d8ap-10, 0x1.3b2ab6fb9feb1p-7, 0x1.c6b08d704a0d7p-5, 0x1.ebfbdff82c5a5p-3,
      0x1.62e42fefa39efp-1, 1.0};

  static constexpr double kHalfPi = 0x1.921fb54442d18p0, kHalfPiLow = 0x1.1a62633145c07p-54;
  static constexpr double kHalfPiLowest = -0x1.f1976b7ed8fbcp-110;
  static constexpr double kTau = 0x1.921fb54442d18p2, kTauLow = 0x1.1a62633145c07p-52, kTwoByPi = 0x1.45f306dc9c883p-1;
  static constexpr double kLargeAngle = 0x1p30, kLargeAngleForTan = 0x1p30;
  static constexpr double kSin[] = {
      0x1.5d93011b4fe35p-33, -0x1.ae5e663af5cecp-26, 0x1.71de3577b7113p-19, -0x1.a01a019c1199cp-13, 0x1.111111110f87ap-7,
      -0x1.5555555555549p-3};
  static constexpr double kCos[] = {
      -0x1.8fae9cac58eebp-37, 0x1.1ee9ebe992d3cp-29, -0x1.27e4f809f131ep-22, 0x1.a01a019cb1be7p-16, -0x1.6c16c16c1517ep-10,
      0x1.555555555554cp-5, -0.5, 1.0};
  static constexpr double kTan[] = {
      0x1.48d687f3bee2dp-17, -0x1.9784583ee3ff3p-16, 0x1.98754a519c614p-15, -0x1.afb3ce386e185p-16, 0x1.1a61b042fe19cp-14,
      0x1.5e2b6f1f424bdp-14, 0x1.ff4178d8df99fp-13, 0x1.34ba7d1abf1c5p-11, 0x1.7db1c06428be7p-10, 0x1.d6d2e397b802fp-9,
      0x1.226e3a9e8bc2cp-7, 0x1.664f485c1b8d8p-6, 0x1.ba1ba1bac4c3cp-5, 0x1.111111111055ap-3, 0x1.555555555555ep-2};
  static constexpr double kAsinLarge = 0.55;
  static constexpr double kAsin[] = {
      0x1.b295df2792db9p-5, -0x1.007c7a05f994ep-4, 0x1.c6584d6d5b01p-5, -0x1.daaf87c7f54d6p-7, 0x1.e9069a490b97fp-7,
      0x1.12f0f969550fp-7, 0x1.813b24ae39e0fp-7, 0x1.c8e3cc57782b9p-7, 0x1.1c55839e086c6p-6, 0x1.6e8b4bd95a478p-6,
      0x1.f1c71f47196dep-6, 0x1.6db6db66bad5ap-5, 0x1.333333333be45p-4, 0x1.5555555555519p-3};
  static constexpr double kAtan[] = {
      -0x1.2833493c4af32p-17, 0x1.bb48b753a0734p-14, -0x1.3b79c463cfd7cp-11, 0x1.1d7b0e8bd79f9p-9, -0x1.7365891e418f8p-8,
      0x1.75909c2b60cep-7, -0x1.32863f0510bbp-6, 0x1.add6d254f526fp-6, -0x1.0d0d611ba8ff2p-5, 0x1.394663372e3f3p-5,
      -0x1.5f40783eae797p-5, 0x1.84bdd94b49284p-5, -0x1.aedcd169ac74bp-5, 0x1.e1d507ad3ed47p-5, -0x1.11103c239ced5p-4,
      0x1.3b139ce27494p-4, -0x1.745d15e5a7baep-4, 0x1.c71c71b74403cp-4, -0x1.249249245b0f6p-3, 0x1.9999999998d44p-3,
      -0x1.555555555554ep-2};

  static constexpr double kHyperbolicMax = 710.5;
  static constexpr double kSinh[] = {
      0x1.633e2fd5fb57fp-33, 0x1.ae624a15dd315p-26, 0x1.71de3b50d7db1p-19, 0x1.a01a019fa0264p-13, 0x1.11111111112c3p-7,
      0x1.5555555555555p-3};
  static constexpr double kCosh[] = {
      0x1.28b0d7be94d18p-22, 0x1.a01995f30ef79p-16, 0x1.6c16c185e67b8p-10, 0x1.555555554feefp-5, 0x1.000000000000cp-1};
  static constexpr double kArc[] = {
      0x1.e585b995add7cp-28, -0x1.a17b1ce290794p-24, 0x1.5a8e34dc8151cp-21, -0x1.773c2f1af249bp-19, 0x1.3017118bbd85bp-17,
      -0x1.9442e15bd3153p-16, 0x1.d9d1a9d1a8654p-15, -0x1.03320235a941cp-13, 0x1.135b180491835p-12, -0x1.224faeb551336p-11,
      0x1.32afb6186f91ep-10, -0x1.45e4a45167ed6p-9, 0x1.5d2cffbdc00abp-8, -0x1.7a462e9602745p-7, 0x1.a01a01921172bp-6,
      -0x1.d41d41d3cac4ep-5, 0x1.1111111110954p-3, -0x1.555555555554dp-2};
  static constexpr double kAtanh[] = {
      0x1.ee5d5b6055a7ap-3, -0x1.92a9071923ecep-3, 0x1.671f7228c6012p-3, -0x1.6aea2a092230fp-8, 0x1.e87c2bce53c3bp-5,
      0x1.9e3cdfbc803dfp-5, 0x1.e3f4313a2037fp-5, 0x1.10f9fafb25393p-4, 0x1.3b1519cf880afp-4, 0x1.745d0850df867p-4,
      0x1.c71c722daa4dfp-4, 0x1.24924923c22a1p-3, 0x1.999999999b442p-3, 0x1.555555555554cp-2};

  static constexpr double kLog10E = 0x1.bcb7b1526e50ep-2, kLog10Of2High = 0x1.34413509f7p-2, kLog10Of2Low = 0x1.3fde623e2566bp-43;
  static constexpr double kLog10[] = {
      0x1.73e0f33563c1dp-7, -0x1.ab056afe2a8e6p-6, 0x1.d09e4fda8aae1p-6, -0x1.942c38288f489p-6, 0x1.92b3ba76dea29p-6,
      -0x1.b8bc8d46cd533p-6, 0x1.dbb9dbef56042p-6, -0x1.fcc0ed0ec57d2p-6, 0x1.11a44e312150ep-5, -0x1.28763162b37b5p-5,
      0x1.436e7ad14393bp-5, -0x1.63c6510696a1bp-5, 0x1.8b4df301b1086p-5, -0x1.bcb7b069ab0b5p-5, 0x1.fc3fa61109ae3p-5,
      -0x1.287a763850a91p-4, 0x1.63c627752c00ep-4, -0x1.bcb7b1526c809p-4, 0x1.287a7636f432cp-3, -0x1.bcb7b1526e513p-3,
      0x1.95355baaafad3p-57};

  static constexpr double kMax = 0x1.fffffffffffffp1023, kPowMost = 2048;
  static constexpr double kTwoLog2E = 0x1.71547652b82fep1, kTwoLog2ELow = 0x1.777d0ffda0d24p-55;
  static constexpr double kThird = 0x1.5555555555555p-2, kThirdLow = 0x1.5555555555555p-56;
  static constexpr double kPowTail[] = {
      0x1.eb1d08ce9d8a2p-5, 0x1.de320305738f3p-5, 0x1.1120bea1db092p-4, 0x1.3b13627a2d6b4p-4, 0x1.745d183333456p-4,
      0x1.c71c71c57e944p-4, 0x1.2492492493044p-3, 0x1.9999999999996p-3};
  static constexpr double kCbrt[] = {0x1.61f9add3c0ca4p-3, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2};
  static constexpr double kSquareMost = 0x1p500, kSquareLeast = 0x1p-450, kSquareDown = 0x1p-600, kSquareUp = 0x1p700;
  static constexpr int kCbrtSteps = 2, kCbrtShift = 19;

  static constexpr int kErfcShift = 512;
  static constexpr const double (&kErfcSmall)[11] = kErf;
  static constexpr double kErfcxMiddle = 4;
  static constexpr double kErfcx[] = {
      0x1.866c79dfb4536p-29, -0x1.5907e21f89a3p-27, -0x1.67efa64fa9bf5p-26, 0x1.c023f298c399cp-24, 0x1.51ab37db05ecdp-24,
      -0x1.b8aa0c2ceecebp-21, 0x1.3849151725d69p-22, 0x1.7f03a3ead4788p-18, -0x1.7880b04b83f1ap-17, -0x1.99565ec645337p-16,
      0x1.3be02d78f4d22p-13, -0x1.a1df385b16fe3p-13, -0x1.8d4a9947a27acp-11, 0x1.49c67299f7e88p-8, -0x1.096238858ff39p-6,
      0x1.3079edf65029ap-5, -0x1.0fb06dfe477e9p-4, 0x1.7fee004e13727p-4, -0x1.9ddb23c3e91a8p-4, 0x1.16ecefcfa5338p-4,
      0x1.f7f5df66fd7cep-7, -0x1.1df1ad154a28ep-3, 0x1.3ba5916e9fd7fp0};

  static constexpr double kGeluSmallMax = 1, kGeluMax = 39.5, kGeluMiddle = 4;
  static constexpr double kGeluSmall[] = {
      0x1.35dbb0e4a19d6p-39, -0x1.02b16018c9067p-36, 0x1.a1e0c767d9fcfp-35, -0x1.9782ac6de61f6p-33, 0x1.436b066c4971p-29,
      -0x1.62a4d6bdce889p-25, 0x1.658e4db9f474fp-21, -0x1.3ce9122d9f27dp-17, 0x1.e42b0e026c492p-14, -0x1.37403f6d4ac88p-10,
      0x1.46d042976dde8p-7, -0x1.1058377e2cf4fp-4, 0x1.9884533d43651p-2};
  static constexpr double kGelu[] = {
      0x1.40118a9de2c98p-26, -0x1.0f8445ef0a47ap-26, -0x1.1268de450cc8ap-23, 0x1.58927c113b246p-25, 0x1.5fc2f209a65c1p-21,
      0x1.b90e3688233e4p-23, -0x1.b83709794251fp-19, -0x1.5d9ab1bc73f71p-19, 0x1.2cdad2c2cad6fp-16, 0x1.16d1439ffce25p-16,
      -0x1.e8a501f93a8f2p-14, -0x1.99ff17dc4c8dbp-15, 0x1.ce76f71b9537cp-11, -0x1.e4abd3b728e4fp-11, -0x1.691976fb571aap-8,
      0x1.b0ffe01dac574p-6, -0x1.024df8efd28a8p-4, 0x1.9adc525a90318p-4, -0x1.c41d6bcaf856bp-4, 0x1.2dda040d62d0dp-4,
      0x1.82b4bb8c94dcep-2};

  // lgamma(1 + f) = -gamma f + f^2 P(f) and lgamma(2 + f) = (1 - gamma) f + f^2 P(f); Stirling's series in 1 / x^2, as a log2
  static constexpr double kEuler = 0x1.2788cfc6fb619p-1, kEulerLow = -0x1.6cb90701fbfabp-58;
  static constexpr double kOneLessEuler = 0x1.b0ee6072093cep-2;
  static constexpr double kLgamma1[] = {
      -0x1.24894d19df3afp-4, 0x1.2b73e6f397e0cp-4, -0x1.cb0b6ff7b1c7ap-5, 0x1.ed084c678b74p-5, -0x1.11fcfc7c2bf23p-4,
      0x1.25415135f2a52p-4, -0x1.3b126868180e4p-4, 0x1.5563d1fa4c246p-4, -0x1.748c875b9eebp-4, 0x1.9a020fccd098ep-4,
      -0x1.c8066eec99c32p-4, 0x1.010b365e47901p-3, -0x1.2703a1dedd946p-3, 0x1.5b40cb10ab2eap-3, -0x1.a8b9c17aa393ep-3,
      0x1.151322ac7d403p-2, -0x1.9a4d55beab2ep-2, 0x1.a51a6625307d4p-1};
  static constexpr double kLgamma2[] = {
      0x1.36242c65fbc1bp-18, -0x1.4c154bc24e711p-17, 0x1.57a28fe77c64ap-16, -0x1.7889ec4318314p-15, 0x1.a12911b86b6bbp-14,
      -0x1.d3fe2fde8b32fp-13, 0x1.0b36ae500d978p-11, -0x1.38ac5b9174181p-10, 0x1.7add6eaecd16bp-9, -0x1.e404fc21efd2ap-8,
      0x1.51322ac7d8126p-6, -0x1.13e001a5575b6p-4, 0x1.4a34cc4a60fa6p-2};
  static constexpr double kStirling[] = {
      -0x1.01222993e40f4p1, 0x1.09646587a833fp-2, -0x1.5d3f00dae7763p-5, 0x1.2f0a39b3764ebp-7, -0x1.6a9933880c8fdp-9,
      0x1.3e58514d557eap-10, -0x1.c23b13e60edb5p-11, 0x1.2c2762995f3cep-10, -0x1.06a2764633554p-8, 0x1.ec709dc3a03fdp-4};
  static constexpr double kPi = 0x1.921fb54442d18p1, kPiLow = 0x1.1a62633145c07p-53;
  static constexpr double kLog2OfPi = 0x1.a6c873498ddf7p0, kLog2OfPiLow = 0x1.6c36cb93c202ap-54;
  static constexpr double kHalfLog2OfTau = 0x1.536439a4c6efcp0, kHalfLog2OfTauLow = -0x1.49e49a361efebp-54;
  static constexpr double kLog2ELow = 0x1.777d0ffda0d24p-56, kLn2Rest = 0x1.abc9e3b39803fp-56;
};

constexpr double two_to_the(int n) { return std::bit_cast<double>((int64_t{n} + F64::kBias) << F64::kMantissa); }

}  // namespace strider::maths
