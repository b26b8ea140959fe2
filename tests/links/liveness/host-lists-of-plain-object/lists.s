# The lists of kernels and variables that nvcc writes into objects with relocatable device code: none.
.section .nvHRKE,"a"; .byte 0
.section .nvHRKI,"a"; .byte 0
.section .nvHRDE,"a"; .byte 0
.section .nvHRDI,"a"; .byte 0
.section .nvHRCE,"a"; .byte 0
.section .nvHRCI,"a"; .byte 0
