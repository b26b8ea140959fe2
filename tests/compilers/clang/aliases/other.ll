; Another unit that calls a function by one alias, and takes the address of the other.
target triple = "nvptx64-nvidia-cuda"

declare i32 @renamed(i32)
declare i32 @also(i32)

@by_table = addrspace(1) global [2 x ptr] [ptr @also, ptr @renamed]

define ptx_kernel void @from_outside(ptr addrspace(1) %out, i32 %i) {
  %a = call i32 @renamed(i32 %i)
  %b = getelementptr [2 x ptr], ptr addrspace(1) @by_table, i32 0, i32 %i
  %f = load ptr, ptr addrspace(1) %b
  %c = call i32 %f(i32 %a)
  store i32 %c, ptr addrspace(1) %out
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @from_outside, !"kernel", i32 1}
