/* Libraries that are loaded by the first call into one of them. libgit2 and libarchive bring two dozen others along:
 * linked the usual way these take three quarters of the time of a command that needs none of them. delayed.py makes the calls. */
#pragma once

#ifdef __ASSEMBLER__

/* Keeps all that a function may be called with, has the slot filled, and calls as if nothing had been. */
.macro DELAYED_FIRST
delayed_first:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        push %rax
        push %rdi
        push %rsi
        push %rdx
        push %rcx
        push %r8
        push %r9
        sub $136, %rsp
        .cfi_def_cfa_offset 208
        movups %xmm0, (%rsp)
        movups %xmm1, 16(%rsp)
        movups %xmm2, 32(%rsp)
        movups %xmm3, 48(%rsp)
        movups %xmm4, 64(%rsp)
        movups %xmm5, 80(%rsp)
        movups %xmm6, 96(%rsp)
        movups %xmm7, 112(%rsp)
        mov 192(%rsp), %rdi
        call delayed_bind
        mov %rax, %r11
        movups (%rsp), %xmm0
        movups 16(%rsp), %xmm1
        movups 32(%rsp), %xmm2
        movups 48(%rsp), %xmm3
        movups 64(%rsp), %xmm4
        movups 80(%rsp), %xmm5
        movups 96(%rsp), %xmm6
        movups 112(%rsp), %xmm7
        add $136, %rsp
        .cfi_def_cfa_offset 72
        pop %r9
        pop %r8
        pop %rcx
        pop %rdx
        pop %rsi
        pop %rdi
        pop %rax
        add $8, %rsp
        .cfi_def_cfa_offset 8
        jmp *%r11
        .cfi_endproc
.endm

#else

#include <stddef.h>
#include <stdint.h>

/* Of delayed.py: where each function is, its name and the number of its library; the libraries' sonames. */
extern void *delayed_slots[];
extern const char *const delayed_functions[], *const delayed_libraries[];
extern const uint8_t delayed_owners[];

void *delayed_bind(size_t function);

#endif
