// A function on a value in versions for several processors. Its loops are inlined into each version, so that they
// become the widest vector code that the processor has. All versions give the same bits: none has fused
// multiplications.
#pragma once

namespace ps {

#if defined(__x86_64__)
inline bool has_avx2() {
    static const bool wide = __builtin_cpu_supports("avx2");
    return wide;
}
#endif

template <class Function>
struct ForProcessor {
    Function portable, avx2;

#if defined(__x86_64__)
    Function best() const { return has_avx2() ? avx2 : portable; }
#else
    Function best() const { return portable; }
#endif
};

template <auto function>
struct Versions;

template <class... Arguments, void (*function)(Arguments...)>
struct Versions<function> {
    static void portable(Arguments... arguments) { function(arguments...); }
#if defined(__x86_64__)
    [[gnu::target("avx2")]] static void avx2(Arguments... arguments) { function(arguments...); }
#else
    static constexpr auto avx2 = portable;
#endif
};

template <auto function>
constexpr ForProcessor<decltype(function)> for_processors{Versions<function>::portable, Versions<function>::avx2};

} // namespace ps
