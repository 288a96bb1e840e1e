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
        .irp register, rax, rdi, rsi, rdx, rcx, r8, r9
        push %\register
        .endr
        sub $136, %rsp
        .cfi_def_cfa_offset 208
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7
        movups %xmm\n, 16 * \n(%rsp)
        .endr
        mov 192(%rsp), %rdi
        call delayed_bind
        mov %rax, %r11
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7
        movups 16 * \n(%rsp), %xmm\n
        .endr
        add $136, %rsp
        .cfi_def_cfa_offset 72
        .irp register, r9, r8, rcx, rdx, rsi, rdi, rax
        pop %\register
        .endr
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
