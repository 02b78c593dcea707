// AddressSanitizer fills whatever is allocated with NaN, so that a result or scratch memory that nobody wrote shows.

// NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming): the name under which it is looked for
extern "C" const char* __asan_default_options();

extern "C" const char* __asan_default_options() { return "malloc_fill_byte=255:max_malloc_fill_size=2147483647"; }
// NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
