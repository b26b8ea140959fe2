; Definitions that the first unit refers to, and other copies of its weak ones.
target triple = "nvptx64-nvidia-cuda"

@sum = addrspace(1) global i32 5
@table = addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@common$count = common addrspace(1) global [3 x i32] zeroinitializer, align 4
@once = linkonce_odr addrspace(1) global i32 7
@weak$limit = weak addrspace(1) global i32 2
@own = internal addrspace(1) global [2 x i8] c"me"
@.str = private unnamed_addr addrspace(4) constant [6 x i8] c"other\00"
@static.row = internal addrspace(3) global [32 x i32] undef, align 16
@shared$common = addrspace(3) global [8 x i64] undef, align 8
@names = addrspace(4) constant [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @own to ptr), ptr @odd]

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define linkonce_odr i32 @shared$helper(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}

define weak_odr i32 @choose(i32 %x) noinline {
  %y = call i32 @shared$helper(i32 %x)
  %z = call i32 @shared$helper(i32 %y)
  ret i32 %z
}

define i32 @twice(i32 %x) {
  %a = getelementptr [2 x i8], ptr addrspace(1) @own, i32 0, i32 %x
  %b = load i8, ptr addrspace(1) %a
  %c = zext i8 %b to i32
  %y = add i32 %c, %x
  ret i32 %y
}

define i32 @odd(i32 %x) {
  switch i32 %x, label %other [
    i32 0, label %zero
    i32 1, label %one
    i32 2, label %two
    i32 3, label %three
    i32 4, label %four
    i32 5, label %five
  ]
zero:
  ret i32 11
one:
  %a = call i32 @odd(i32 3)
  ret i32 %a
two:
  %b = call i32 @even(i32 5)
  ret i32 %b
three:
  ret i32 7
four:
  %e = call i32 @choose(i32 9)
  ret i32 %e
five:
  %f = load i32, ptr addrspace(1) @weak$limit
  ret i32 %f
other:
  %g = call i32 @even(i32 %x)
  ret i32 %g
}

define internal i32 @even(i32 %x) noinline {
  %y = sub i32 %x, 1
  %r = call i32 @odd(i32 %y)
  ret i32 %r
}

define i32 @elsewhere(i32 %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = getelementptr [32 x i32], ptr addrspace(3) @static.row, i32 0, i32 %t
  store i32 %x, ptr addrspace(3) %a
  %b = getelementptr [8 x i64], ptr addrspace(3) @shared$common, i32 0, i32 %t
  %c = load i64, ptr addrspace(3) %b
  %d = trunc i64 %c to i32
  %e = load i32, ptr addrspace(1) @once
  %f = load i32, ptr addrspace(1) @common$count
  %g = add i32 %d, %e
  %h = add i32 %g, %f
  ret i32 %h
}

define ptx_kernel void @named(ptr addrspace(1) %out, i32 %i) {
  %e = getelementptr [2 x ptr], ptr addrspace(4) @names, i32 0, i32 %i
  %p = load ptr, ptr addrspace(4) %e
  %v = load i8, ptr %p
  store i8 %v, ptr addrspace(1) %out
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @named, !"kernel", i32 1}
