#include "textflag.h"

// What writes_linux.go puts in the place of write and fdatasync, called by C code on its own
// threads and stacks. They call Go only after a write has failed: calls into Go keep the thread of
// Go's runtime awake that watches the others, which takes much processor time.
// The stack pointer is a multiple of 16 wherever a function is called.

GLOBL ·ownWrite(SB), RODATA, $8
DATA ·ownWrite(SB)/8, $write<>(SB)
GLOBL ·ownFdatasync(SB), RODATA, $8
DATA ·ownFdatasync(SB)/8, $fdatasync<>(SB)

// ssize_t write(int fd, const void *data, size_t size)
TEXT write<>(SB), NOSPLIT|NOFRAME, $0
	SUBQ $40, SP
	MOVL DI, 8(SP)
	MOVQ ·libcWrite(SB), AX
	CALL AX
	TESTQ AX, AX
	JGE  done
	MOVQ AX, 16(SP)
	MOVQ ·libcErrno(SB), AX
	CALL AX
	MOVQ AX, 24(SP)
	MOVL (AX), SI
	MOVL SI, 32(SP)
	MOVL 8(SP), DI
	MOVQ ·noteFailure(SB), AX
	CALL AX
	MOVQ 24(SP), AX // Go may have changed errno
	MOVL 32(SP), CX
	MOVL CX, (AX)
	MOVQ 16(SP), AX
done:
	ADDQ $40, SP
	RET

// int fdatasync(int fd)
TEXT fdatasync<>(SB), NOSPLIT|NOFRAME, $0
	MOVL ·failures(SB), AX
	TESTL AX, AX
	JNE  asking
	MOVQ ·libcFdatasync(SB), AX
	JMP  AX
asking:
	JMP  askedFdatasync<>(SB)

TEXT askedFdatasync<>(SB), NOSPLIT|NOFRAME, $0
	SUBQ $24, SP
	MOVL DI, 8(SP)
	MOVQ ·takeFailure(SB), AX
	CALL AX
	TESTL AX, AX
	JNE  fails
	MOVL 8(SP), DI
	MOVQ ·libcFdatasync(SB), AX
	CALL AX
	JMP  done
fails:
	MOVL AX, 16(SP)
	MOVQ ·libcErrno(SB), AX
	CALL AX
	MOVL 16(SP), CX
	MOVL CX, (AX)
	MOVQ $-1, AX
done:
	ADDQ $24, SP
	RET
