/// Marks: named places in the code, counted in test builds, so that a random test can show that it
/// reached them. Unless HC_MARKS is 1 they compile to nothing.
#pragma once

#ifndef HC_MARKS
#define HC_MARKS 0
#endif

#if HC_MARKS
/// One place; several may share a name.
struct hc_mark {
    const char *name;
    unsigned long count; ///< passes in this process
};

/// Passes the mark `name_`. The linker defines __start_hc_marks and __stop_hc_marks around the
/// addresses of all marks.
#define HC_MARK(name_)                                                                             \
    do {                                                                                           \
        static struct hc_mark mark = {(name_), 0};                                                 \
        static struct hc_mark *const mark_at __attribute__((section("hc_marks"), used)) = &mark;   \
        mark.count++;                                                                              \
        (void)mark_at;                                                                             \
    } while (0)
#else
#define HC_MARK(name_) ((void)0)
#endif
