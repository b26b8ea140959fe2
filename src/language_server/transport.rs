//! Messages of the protocol on byte streams: headers, an empty line, and JSON.
//!
//! `lsp-server` would do the same, but it allocates what a header asks for, gives up at the first
//! message that is no JSON, and holds the standard output in a thread of its own.

use std::io;
use std::io::BufRead;
use std::io::Read;
use std::io::Write;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most bytes of one message; twice as much as of a document that is looked at.
const MOST_BYTES: u64 = 512 << 20;

/// The most bytes of one line of a header.
const MOST_HEADER: u64 = 4096;

/// A request, a notification, which has no id, or the answer to a request of ours, which has no
/// method.
#[derive(Debug, Deserialize)]
pub struct Message {
    jsonrpc: String,
    /// What its answer is known by: a number or a string.
    pub id: Option<Value>,
    /// What is asked.
    #[serde(default)]
    pub method: String,
    /// The arguments, which are read once it is known what is asked.
    pub params: Option<Box<RawValue>>,
}

/// What came.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Bytes that are no JSON; why.
    NoJson(String),
    /// JSON that is no message; why.
    NoMessage(String),
    /// There is no more.
    End,
}

/// Reads a message. After one that is malformed the next one can be read.
pub fn read(input: &mut impl BufRead) -> io::Result<Incoming> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.take(MOST_HEADER).read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\n") else {
            return Ok(match line.is_empty() {
                true => Incoming::End,
                false => Incoming::NoJson("a header without an end".to_owned()),
            });
        };
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        if text.is_empty() {
            match length {
                Some(length) => return body(input, length),
                None => {
                    return Ok(Incoming::NoJson(
                        "a header without Content-Length".to_owned(),
                    ));
                }
            }
        }
        let Some((name, value)) = text.split_once(':') else {
            return Ok(Incoming::NoJson(format!("no header: {text}")));
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            match value.trim().parse::<u64>() {
                Ok(value) => length = Some(value),
                Err(error) => return Ok(Incoming::NoJson(format!("Content-Length: {error}"))),
            }
        }
    }
}

/// Reads the body of a message. Memory is taken for what comes, not for what the header says.
fn body(input: &mut impl BufRead, length: u64) -> io::Result<Incoming> {
    if length > MOST_BYTES {
        io::copy(&mut input.take(length), &mut io::sink())?;
        let what = format!("a message of {length} bytes, more than {MOST_BYTES}");
        return Ok(Incoming::NoJson(what));
    }
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(Incoming::End);
    }
    Ok(match serde_json::from_slice::<Message>(&bytes) {
        Ok(message) if message.jsonrpc != "2.0" => {
            Incoming::NoMessage(format!("version {} of JSON-RPC", message.jsonrpc))
        }
        Ok(Message { id: Some(id), .. }) if !id.is_number() && !id.is_string() => {
            Incoming::NoMessage(format!("the id {id}"))
        }
        Ok(message) => Incoming::Message(message),
        Err(error) if error.is_data() => Incoming::NoMessage(error.to_string()),
        Err(error) => Incoming::NoJson(error.to_string()),
    })
}

/// The answer to a request.
#[derive(Serialize)]
pub struct Response<'r, R> {
    jsonrpc: &'static str,
    id: &'r Value,
    result: R,
}

impl<'r, R> Response<'r, R> {
    /// Makes the answer to the request with this id.
    pub fn new(id: &'r Value, result: R) -> Self {
        let jsonrpc = "2.0";
        Response {
            jsonrpc,
            id,
            result,
        }
    }
}

/// The answer to what cannot be done.
#[derive(Serialize)]
pub struct Refusal<'r> {
    jsonrpc: &'static str,
    id: &'r Value,
    error: Why<'r>,
}

#[derive(Serialize)]
struct Why<'r> {
    code: i32,
    message: &'r str,
}

impl<'r> Refusal<'r> {
    /// Makes the answer to the request with this id; `null` stands for one that could not be read.
    pub fn new(id: &'r Value, code: i32, message: &'r str) -> Self {
        Refusal {
            jsonrpc: "2.0",
            id,
            error: Why { code, message },
        }
    }
}

/// A notification, or with an id a request.
#[derive(Serialize)]
pub struct Call<P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    method: &'static str,
    params: P,
}

impl<P> Call<P> {
    /// Makes a call of this method.
    pub fn new(id: Option<i64>, method: &'static str, params: P) -> Self {
        Call {
            jsonrpc: "2.0",
            id,
            method,
            params,
        }
    }
}

/// Writes a message.
pub fn write(output: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(message)?;
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Incoming> {
        let mut input = text.as_bytes();
        let mut found = Vec::new();
        loop {
            match read(&mut input).unwrap() {
                Incoming::End => return found,
                other => found.push(other),
            }
        }
    }

    fn message(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn what_is_malformed_is_passed() {
        let good = message(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
        let bad = message("{");
        let none = message("[1]");
        let long = format!("Content-Length: {}\r\n\r\n", u64::MAX);
        let text = format!(
            "nonsense\r\nX: y\r\n\r\n{bad}{none}{good}Content-Length: -1\n{good}{long}{good}"
        );
        let found = all(&text);
        let kinds: Vec<_> = found
            .iter()
            .map(|it| match it {
                Incoming::Message(_) => "message",
                Incoming::NoJson(_) => "no json",
                Incoming::NoMessage(_) => "no message",
                Incoming::End => "end",
            })
            .collect();
        let expected = [
            "no json",
            "no json",
            "no json",
            "no message",
            "message",
            "no json",
            "message",
            "no json",
        ];
        assert_eq!(kinds, expected, "{found:?}");
        assert!(all("Content-Length: 9\r\n\r\n{").is_empty());
    }
}
