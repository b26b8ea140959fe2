; Aliases of a function, one of them weak; the callers know only these names.
target triple = "nvptx64-nvidia-cuda"

define i32 @real(i32 %x) noinline {
  %y = xor i32 %x, 21
  ret i32 %y
}

@renamed = alias i32 (i32), ptr @real
@also = alias i32 (i32), ptr @real

define ptx_kernel void @aliased(ptr addrspace(1) %out) {
  %a = load i32, ptr addrspace(1) %out
  %b = call i32 @renamed(i32 %a)
  %c = call i32 @also(i32 %b)
  store i32 %c, ptr addrspace(1) %out
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @aliased, !"kernel", i32 1}
