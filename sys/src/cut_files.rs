//! Files that become shorter while they are mapped.
//!
//! The system has no bytes for what is mapped of such a file, and ends the program with SIGBUS at
//! the first look. [`report`] has it end with a message that names the file, and with exit code 1.
//! Nothing is left of an output, which has no name before it is whole.

/// Has a look at what is gone of a mapped file end the program with a message.
#[cfg(target_os = "linux")]
pub fn report() {
    handler::install();
}

/// Does nothing: only Linux says which file it is.
#[cfg(not(target_os = "linux"))]
pub fn report() {}

#[cfg(target_os = "linux")]
mod handler {
    use rustix::fs::Mode;
    use rustix::fs::OFlags;
    use rustix::io::read;
    use rustix::io::write;
    use rustix::stdio::stderr;

    use crate::end::end_at_once;
    use crate::signals;
    use crate::signals::Action;

    /// Exit code of a link that an input has ended.
    const FAILED: libc::c_int = 1;

    pub(super) fn install() {
        signals::set(libc::SIGBUS, Action::Call(end, libc::SA_RESETHAND));
    }

    /// Ends the program: takes no memory and no lock, as another thread may hold it.
    extern "C" fn end(_: libc::c_int, info: &libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system hands the handler what is known of a SIGBUS, which has an address.
        let address = unsafe { info.si_addr() } as u64;
        let mut said = [0; 4096];
        let mut length = 0;
        let mut say = |bytes: &[u8]| {
            let room = said.len() - length;
            let bytes = &bytes[..bytes.len().min(room)];
            said[length..length + bytes.len()].copy_from_slice(bytes);
            length += bytes.len();
        };
        say(b"cuweld: error: '");
        if file_at(address, &mut say).is_none() {
            say(b"a file");
        }
        say(b"' became shorter while it was read\n");
        // Nobody may be there to read it.
        let _ = write(stderr(), &said[..length]);
        end_at_once(FAILED)
    }

    /// Says the file that is mapped at an address; `None` if there is none.
    fn file_at(address: u64, say: &mut impl FnMut(&[u8])) -> Option<()> {
        let maps = rustix::fs::open(c"/proc/self/maps", OFlags::RDONLY, Mode::empty()).ok()?;
        let mut buffer = [0; 8192];
        let mut filled = 0;
        loop {
            let count = read(&maps, &mut buffer[filled..]).ok()?;
            if count == 0 {
                return None;
            }
            filled += count;
            let mut start = 0;
            while let Some(length) = buffer[start..filled].iter().position(|byte| *byte == b'\n') {
                let line = &buffer[start..start + length];
                if let Some(path) = path_of(line, address) {
                    say(path);
                    return Some(());
                }
                start += length + 1;
            }
            buffer.copy_within(start..filled, 0);
            filled -= start;
        }
    }

    /// Returns the path of a line of the table of mappings, `START-END RIGHTS OFFSET DEVICE INODE
    /// PATH`, if the address lies in it.
    pub(super) fn path_of(line: &[u8], address: u64) -> Option<&[u8]> {
        let dash = line.iter().position(|byte| *byte == b'-')?;
        let space = line.iter().position(|byte| *byte == b' ')?;
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0_u64, |number, digit| {
                let digit = char::from(*digit).to_digit(16)?;
                Some(number << 4 | u64::from(digit))
            })
        };
        let range = number(line.get(..dash)?)?..number(line.get(dash + 1..space)?)?;
        let slash = line.iter().position(|byte| *byte == b'/')?;
        range.contains(&address).then(|| &line[slash..])
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::handler::path_of;

    #[test]
    fn lines_of_the_table_of_mappings_are_read() {
        let line = b"7f00deadb000-7f00deadc000 r--p 00000000 fe:00 1234567      /tmp/a b.cubin";
        assert_eq!(
            path_of(line, 0x7f00_dead_bfff),
            Some(&b"/tmp/a b.cubin"[..])
        );
        assert_eq!(path_of(line, 0x7f00_dead_c000), None);
        let anonymous = b"7f00deadb000-7f00deadc000 rw-p 00000000 00:00 0";
        assert_eq!(path_of(anonymous, 0x7f00_dead_b000), None);
    }
}
