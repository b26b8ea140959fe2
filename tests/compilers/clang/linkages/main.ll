; Kernels of each linkage, and who refers to the functions and variables of the other units.
target triple = "nvptx64-nvidia-cuda"

%pair = type { i32, ptr }
%packed = type <{ i8, ptr, i16 }>

@sum = external addrspace(1) global i32
@table = external addrspace(4) constant [4 x i32]
@shared$row = external addrspace(3) global [0 x i32], align 16
@common$count = common addrspace(1) global [3 x i32] zeroinitializer, align 4
@once = linkonce_odr addrspace(1) global i32 7
@weak$limit = weak addrspace(1) global i32 1
@own = internal addrspace(1) global [5 x i8] c"own\00\01"
@.str = private unnamed_addr addrspace(1) constant [4 x i8] c"abc\00"
@entries = addrspace(1) global [3 x ptr] [ptr @twice, ptr null, ptr @odd]
@pairs = addrspace(1) global [2 x %pair] [
  %pair { i32 3, ptr addrspacecast (ptr addrspace(1) @sum to ptr) },
  %pair { i32 4, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @own to ptr), i64 2) }]
@packed$one = addrspace(1) global %packed <{ i8 1, ptr @twice, i16 2 }>
@aligned = addrspace(1) global <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, align 256
@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @aligned to ptr)], section "llvm.metadata"

declare i32 @twice(i32)
declare i32 @odd(i32)
declare i32 @elsewhere(i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()

define linkonce_odr i32 @shared$helper(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}

define weak_odr i32 @choose(i32 %x) noinline {
  %y = call i32 @shared$helper(i32 %x)
  %z = add i32 %y, 1
  ret i32 %z
}

define internal i32 @local(i32 %x) noinline {
  %a = getelementptr [5 x i8], ptr addrspace(1) @own, i32 0, i32 %x
  %b = load i8, ptr addrspace(1) %a
  %c = zext i8 %b to i32
  %d = call i32 @choose(i32 %c)
  ret i32 %d
}

define ptx_kernel void @direct(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = load i32, ptr addrspace(1) @sum
  %e = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %t
  %c = load i32, ptr addrspace(4) %e
  %w = getelementptr [0 x i32], ptr addrspace(3) @shared$row, i32 0, i32 %t
  store i32 %c, ptr addrspace(3) %w
  call void @llvm.nvvm.barrier0()
  %l = call i32 @local(i32 %s)
  %v = call i32 @elsewhere(i32 %l)
  %g = load i32, ptr addrspace(3) @shared$row
  %r = add i32 %v, %g
  store i32 %r, ptr addrspace(1) %out
  ret void
}

define internal ptx_kernel void @hidden.kernel(ptr addrspace(1) %out) {
  %s = load i32, ptr addrspace(1) @once
  store i32 %s, ptr addrspace(1) %out
  ret void
}

define weak_odr ptx_kernel void @weak$kernel(ptr addrspace(1) %out, i32 %i) {
  %e = getelementptr [3 x ptr], ptr addrspace(1) @entries, i32 0, i32 %i
  %f = load ptr, ptr addrspace(1) %e
  %r = call i32 %f(i32 %i)
  store i32 %r, ptr addrspace(1) %out
  ret void
}

define ptx_kernel void @defaults(ptr addrspace(1) %out) {
  %n = load i32, ptr addrspace(1) @weak$limit
  %c = load i32, ptr addrspace(1) @common$count
  %d = add i32 %n, %c
  store i32 %d, ptr addrspace(1) %out
  ret void
}

!nvvm.annotations = !{!0, !1, !2, !3}
!0 = !{ptr @direct, !"kernel", i32 1}
!1 = !{ptr @hidden.kernel, !"kernel", i32 1}
!2 = !{ptr @weak$kernel, !"kernel", i32 1}
!3 = !{ptr @defaults, !"kernel", i32 1}
