import ctypes

path: str
library: ctypes.CDLL
