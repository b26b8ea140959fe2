//! The interface as programs use it: the shared library, made of the static one, against what
//! NVIDIA's library 13.0.88 answers.
#![allow(unsafe_code, reason = "a client of a C interface")]

mod c_client;
mod cases;
mod child;
mod clients;
mod library;
mod probes;
mod programs;
mod threads;
