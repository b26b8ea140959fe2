//! What SASS instructions do, in classes: by the names of their operations, as NVIDIA's CUDA binary
//! utilities document them.

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Computes with floating-point numbers.
    Float,
    /// Computes with integers or bits.
    Integer,
    /// Multiplies matrices.
    Matrix,
    /// Converts numbers between formats.
    Conversion,
    /// Copies or exchanges registers, also among the threads of a warp.
    Move,
    /// Computes predicates.
    Predicate,
    /// Reads memory.
    Load(Space),
    /// Writes memory.
    Store(Space),
    /// Reads and writes memory at once.
    Atomic(Space),
    /// Copies memory or fetches it in advance, without a register in between.
    Copy,
    /// Reads a texture.
    Texture,
    /// Reads or writes a surface.
    Surface,
    /// Goes elsewhere, or says where threads meet again.
    Branch,
    /// Calls a function.
    Call,
    /// Returns from a function.
    Return,
    /// Ends the thread.
    Exit,
    /// Waits for other threads, for memory or for errors.
    Barrier,
    /// Does nothing.
    Nothing,
    /// Something else, or something unknown.
    Other,
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Memory of the GPU.
    Global,
    /// Memory of a block, or of the blocks of a cluster.
    Shared,
    /// Memory of a thread.
    Local,
    /// A constant bank.
    Constant,
    /// Memory of the tensor cores.
    Tensor,
    /// Any, by the address.
    Generic,
}

/// Operations by class.
const CLASSES: &[(Class, &str)] = &[
    (
        Class::Float,
        "DADD DFMA DMUL DSETP FADD FADD2 FCHK FFMA FFMA2 FMNMX FMNMX3 FMUL FRND FSEL FSET FSETP HADD2 HFMA2 HMNMX2 \
         HMUL2 HSET2 HSETP2 MUFU UFADD UFFMA UFMUL UFRND UFSEL UFSETP VHMNMX",
    ),
    (
        Class::Integer,
        "BMSK BREV FLO IABS IADD IADD3 IDP IMAD IMNMX ISETP LEA LOP3 POPC SGXT SHF UBMSK UBREV UFLO UIADD3 \
         UIMAD UIMNMX UISETP ULEA ULOP3 UPOPC USGXT USHF UVIMNMX VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3",
    ),
    (Class::Matrix, "DMMA HMMA IMMA"),
    (
        Class::Conversion,
        "F2F F2FP F2I F2IP I2F I2FP I2I I2IP UF2I UI2F UI2FP",
    ),
    (
        Class::Move,
        "B2R BMOV CS2R CS2UR LEPC MATCH MOV P2R PRMT R2P R2UR REDUX CREDUX RPCMOV S2R S2UR SEL SHFL UMOV UP2UR UR2UP \
         UPRMT USEL",
    ),
    (Class::Predicate, "ELECT PLOP3 QSPC UPLOP3 VOTE VOTEU"),
    (Class::Load(Space::Global), "LDG LDGMC"),
    (Class::Load(Space::Shared), "LDS LDSM"),
    (Class::Load(Space::Local), "LDL"),
    (Class::Load(Space::Constant), "LDC LDCU ULDC"),
    (Class::Load(Space::Tensor), "LDTM"),
    (Class::Load(Space::Generic), "LD"),
    (Class::Store(Space::Global), "STG"),
    (Class::Store(Space::Shared), "STAS STS STSM UMEMSETS"),
    (Class::Store(Space::Local), "STL"),
    (Class::Store(Space::Tensor), "STTM"),
    (Class::Store(Space::Generic), "ST"),
    (Class::Atomic(Space::Global), "ATOMG REDG"),
    (Class::Atomic(Space::Shared), "ATOMS"),
    (Class::Atomic(Space::Generic), "ATOM"),
    (Class::Copy, "LDGSTS UBLKCP UBLKPF UBLKRED UTCCP"),
    (Class::Texture, "TEX TLD TLD4"),
    (Class::Surface, "SULD SUST"),
    (Class::Branch, "BRA BREAK BRX BRXU BSSY BSYNC"),
    (Class::Call, "CALL"),
    (Class::Return, "RET"),
    (Class::Exit, "EXIT"),
    (
        Class::Barrier,
        "ACQBULK ARRIVES BAR CGAERRBAR DEPBAR ENDCOLLECTIVE ERRBAR FENCE LDGDEPBAR MEMBAR NANOSLEEP SYNCS UCGABAR_ARV \
         UCGABAR_WAIT UTCBAR WARPSYNC YIELD",
    ),
    (Class::Nothing, "NOP"),
    (
        Class::Other,
        "BPT CCTL CCTLL PMTRIG PREEXIT UGETNEXTWORKID UTCATOMSWS UTCSHIFT UTMACCTL UTMACMDFLUSH UVIRTCOUNT",
    ),
];

impl Class {
    /// Returns the class of an operation, by its name without modifiers.
    pub fn of(name: &str) -> Class {
        let mut classes = CLASSES.iter();
        let class = classes.find(|(_, names)| names.split_whitespace().any(|known| known == name));
        class.map_or(Class::Other, |(class, _)| *class)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sass::operands::Generation;

    #[test]
    fn every_operation_of_the_tables_has_one_class() {
        let known: Vec<&str> = CLASSES
            .iter()
            .flat_map(|(_, names)| names.split_whitespace())
            .collect();
        let unique: BTreeSet<&str> = known.iter().copied().collect();
        assert_eq!(unique.len(), known.len(), "an operation stands twice");
        let tables = [Generation::Sm75, Generation::Sm100];
        let names: BTreeSet<&str> = tables.iter().flat_map(|table| table.names()).collect();
        let missing: Vec<_> = names.difference(&unique).collect();
        assert!(missing.is_empty(), "without a class: {missing:?}");
        let unknown: Vec<_> = unique.difference(&names).collect();
        assert!(unknown.is_empty(), "in no table: {unknown:?}");
        assert_eq!(Class::of("LDG"), Class::Load(Space::Global));
        assert_eq!(Class::of("WHAT"), Class::Other);
    }
}
