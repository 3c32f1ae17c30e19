#include "textflag.h"

// As writes_linux_amd64.s. The address of a variable is taken first: the assembler reads a
// variable through R27, which belongs to the caller.

GLOBL ·ownWrite(SB), RODATA, $8
DATA ·ownWrite(SB)/8, $write<>(SB)
GLOBL ·ownFdatasync(SB), RODATA, $8
DATA ·ownFdatasync(SB)/8, $fdatasync<>(SB)

// ssize_t write(int fd, const void *data, size_t size)
TEXT write<>(SB), NOSPLIT|NOFRAME, $0
	SUB  $48, RSP
	MOVD R30, 8(RSP)
	MOVW R0, 16(RSP)
	MOVD $·libcWrite(SB), R9
	MOVD (R9), R9
	CALL (R9)
	CMP  $0, R0
	BGE  done
	MOVD R0, 24(RSP)
	MOVD $·libcErrno(SB), R9
	MOVD (R9), R9
	CALL (R9)
	MOVD R0, 32(RSP)
	MOVW (R0), R1
	MOVW R1, 40(RSP)
	MOVW 16(RSP), R0
	MOVD $·noteFailure(SB), R9
	MOVD (R9), R9
	CALL (R9)
	MOVD 32(RSP), R0 // Go may have changed errno
	MOVW 40(RSP), R1
	MOVW R1, (R0)
	MOVD 24(RSP), R0
done:
	MOVD 8(RSP), R30
	ADD  $48, RSP
	RET

// int fdatasync(int fd)
TEXT fdatasync<>(SB), NOSPLIT|NOFRAME, $0
	MOVD  $·failures(SB), R9
	LDARW (R9), R9
	CBNZW R9, asking
	MOVD  $·libcFdatasync(SB), R9
	MOVD  (R9), R9
	JMP   (R9)
asking:
	JMP   askedFdatasync<>(SB)

TEXT askedFdatasync<>(SB), NOSPLIT|NOFRAME, $0
	SUB  $32, RSP
	MOVD R30, 8(RSP)
	MOVW R0, 16(RSP)
	MOVD $·takeFailure(SB), R9
	MOVD (R9), R9
	CALL (R9)
	CBNZW R0, fails
	MOVW 16(RSP), R0
	MOVD $·libcFdatasync(SB), R9
	MOVD (R9), R9
	CALL (R9)
	JMP  done
fails:
	MOVW R0, 24(RSP)
	MOVD $·libcErrno(SB), R9
	MOVD (R9), R9
	CALL (R9)
	MOVW 24(RSP), R1
	MOVW R1, (R0)
	MOVD $-1, R0
done:
	MOVD 8(RSP), R30
	ADD  $32, RSP
	RET
