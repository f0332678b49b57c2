//! A shell's command line that runs curl, as it stands above the output in bug reports and scripts' logs.

use super::shell;
use crate::capture::Headers;

/// The longest command line that is read.
const LONGEST: usize = 1 << 20;

/// What a command line says of the request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The URL, with a scheme.
    pub url: String,
    /// The method, given or implied.
    pub method: String,
    /// Headers given by `-H`.
    pub headers: Vec<(String, String)>,
    /// The body, where the command line holds all of it.
    pub data: Option<Vec<u8>>,
    /// It sends a body, known or not.
    pub sends: bool,
    /// The media type that curl sends unless `-H` names another.
    form: Option<&'static str>,
}

/// Where the command begins in a line, behind a prompt; none where the line does not run curl.
pub fn start(line: &[u8]) -> Option<usize> {
    let at = if line.starts_with(b"curl ") {
        0
    } else {
        // `$ curl`, `user@host:~$ curl`, `% curl`, `PS C:\> curl`
        let head = &line[..line.len().min(256)];
        let curl = memchr::memmem::find(head, b" curl ")?;
        let prompt = head[..curl].trim_ascii_end();
        let marked =
            matches!(prompt.last(), Some(b'$' | b'%' | b'#')) || (prompt.starts_with(b"PS ") && prompt.ends_with(b">"));
        if !marked || prompt.contains(&b'"') {
            return None;
        }
        curl + 1
    };
    Some(at)
}

impl Command {
    /// The command that `text` begins with (`curl …`), and its length to the end of its last line.
    pub fn at(text: &[u8]) -> Option<(Self, usize)> {
        let text = &text[..text.len().min(LONGEST)];
        let (words, length) = shell::words(text)?;
        let mut command = Self::default();
        let mut words = words.into_iter().skip(1);
        let mut method = None;
        let (mut get, mut head) = (false, false);
        while let Some(word) = words.next() {
            let option = String::from_utf8_lossy(&word).into_owned();
            let (name, mut value) = if let Some(long) = option.strip_prefix("--") {
                match long.split_once('=') {
                    Some((name, value)) => (format!("--{name}"), Some(value.as_bytes().to_vec())),
                    None => (option.clone(), None),
                }
            } else if option.len() > 1 && option.starts_with('-') {
                short(&option)
            } else {
                if command.url.is_empty() && !option.is_empty() {
                    command.url = option;
                }
                continue;
            };
            if takes_value(&name) && value.is_none() {
                value = words.next();
            }
            let text = || String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
            match name.as_str() {
                "-X" | "--request" => method = Some(text()),
                "-H" | "--header" => {
                    if let Some((n, v)) = text().split_once(':').filter(|(n, _)| !n.contains('@')) {
                        command.headers.push((n.trim().to_owned(), v.trim().to_owned()));
                    }
                }
                "--url" => command.url = text(),
                "-d" | "--data" | "--data-ascii" | "--data-binary" | "--data-raw" | "--json" => {
                    let raw = name == "--data-raw";
                    command.add(value.unwrap_or_default(), raw);
                    command.form =
                        Some(if name == "--json" { "application/json" } else { "application/x-www-form-urlencoded" });
                }
                "--data-urlencode" | "-F" | "--form" | "-T" | "--upload-file" => {
                    command.sends = true;
                    command.data = None;
                }
                "-G" | "--get" => get = true,
                "-I" | "--head" => head = true,
                _ => {}
            }
        }
        let implied = match () {
            () if head => "HEAD",
            () if command.sends && !get => "POST",
            () => "GET",
        };
        command.method = method.unwrap_or_else(|| implied.to_owned());
        if get {
            (command.sends, command.data) = (false, None);
        }
        if command.url.is_empty() {
            return None;
        }
        if !command.url.contains("://") {
            command.url.insert_str(0, "http://");
        }
        Some((command, length))
    }

    /// Several `-d` are joined with `&`; what comes from a file is not known.
    fn add(&mut self, value: Vec<u8>, raw: bool) {
        let known = raw || !value.starts_with(b"@");
        self.data = match (self.sends, self.data.take()) {
            _ if !known => None,
            (false, _) => Some(value),
            (true, Some(mut before)) => {
                before.push(b'&');
                before.extend_from_slice(&value);
                Some(before)
            }
            (true, None) => None,
        };
        self.sends = true;
    }

    /// The headers that curl sends for it: those given, and its own.
    pub fn sent_headers(&self) -> Headers<'static> {
        let mut headers: Headers<'static> =
            self.headers.iter().map(|(n, v)| (n.clone().into(), v.clone().into())).collect();
        let has = |headers: &Headers<'_>, name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        if !has(&headers, "accept") {
            headers.push(("Accept".into(), "*/*".into()));
        }
        if let Some(form) = self.form.filter(|_| !has(&headers, "content-type")) {
            headers.push(("Content-Type".into(), form.into()));
        }
        headers
    }
}

/// Short options may be joined, the last one with its value: `-sSN`, `-XPOST`, `-vX POST`.
fn short(word: &str) -> (String, Option<Vec<u8>>) {
    for (at, letter) in word.char_indices().skip(1) {
        let name = format!("-{letter}");
        if takes_value(&name) {
            let value = &word[at + letter.len_utf8()..];
            return (name, (!value.is_empty()).then(|| value.as_bytes().to_vec()));
        }
        if matches!(letter, 'G' | 'I') {
            return (name, None);
        }
    }
    (String::new(), None)
}

/// The options that a value follows.
fn takes_value(name: &str) -> bool {
    if let Some(long) = name.strip_prefix("--") {
        return matches!(
            long,
            "request"
                | "header"
                | "url"
                | "data"
                | "data-ascii"
                | "data-binary"
                | "data-raw"
                | "data-urlencode"
                | "json"
                | "form"
                | "upload-file"
                | "user"
                | "output"
                | "max-time"
                | "connect-timeout"
                | "cacert"
                | "cert"
                | "key"
                | "resolve"
                | "connect-to"
                | "proxy"
                | "retry"
                | "retry-delay"
                | "retry-max-time"
                | "user-agent"
                | "referer"
                | "cookie"
                | "cookie-jar"
                | "write-out"
                | "trace"
                | "trace-ascii"
                | "dump-header"
                | "stderr"
                | "interface"
                | "unix-socket"
                | "limit-rate"
                | "range"
                | "config"
                | "keepalive-time"
                | "speed-time"
                | "speed-limit"
                | "max-redirs"
                | "oauth2-bearer"
                | "aws-sigv4"
                | "ciphers"
                | "noproxy"
                | "variable"
                | "expand-url"
                | "expand-header"
                | "expand-data"
                | "trace-config"
                | "local-port"
                | "dns-servers"
        );
    }
    let letters = "XHdFTuomAbcexwDKEyYzCrPQtU";
    name.strip_prefix('-').and_then(|n| n.chars().next()).is_some_and(|l| letters.contains(l))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Command {
        Command::at(text.as_bytes()).expect("a command").0
    }

    #[test]
    fn a_request_is_told_from_its_options() {
        let c = command("curl -sSN -m 3 -XPOST localhost:3000/mcp -H 'Accept: a, b' -d '{\"x\": \"it'\\''s\"}'\n");
        assert_eq!((c.method.as_str(), c.url.as_str()), ("POST", "http://localhost:3000/mcp"));
        assert_eq!(c.headers, [("Accept".to_owned(), "a, b".to_owned())]);
        assert_eq!(c.data.as_deref(), Some(&b"{\"x\": \"it's\"}"[..]));
    }

    #[test]
    fn methods_are_implied_as_curl_implies_them() {
        assert_eq!(command("curl http://h/").method, "GET");
        assert_eq!(command("curl http://h/ --json '{}'").method, "POST");
        assert_eq!(command("curl -I http://h/").method, "HEAD");
        assert_eq!(command("curl -G -d a=b http://h/").method, "GET");
        assert_eq!(command("curl -vX DELETE http://h/").method, "DELETE");
    }

    #[test]
    fn a_command_goes_on_behind_a_backslash_and_ends_at_a_redirection() {
        let text = "curl http://h/ \\\n  -H \"a: b\" 2>&1 | tee x\nHTTP/1.1 200 OK\n";
        let (c, length) = Command::at(text.as_bytes()).expect("a command");
        assert_eq!(c.headers, [("a".to_owned(), "b".to_owned())]);
        assert_eq!(&text[length..], "HTTP/1.1 200 OK\n");
    }

    #[test]
    fn a_body_from_a_file_is_not_known() {
        let c = command("curl http://h/ -d @body.json");
        assert_eq!((c.data, c.sends), (None, true));
        assert_eq!(command("curl http://h/ -d a=1 -d b=2").data.as_deref(), Some(&b"a=1&b=2"[..]));
    }

    #[test]
    fn prompts_are_known_and_other_mentions_are_not() {
        assert_eq!(start(b"$ curl -v http://h/"), Some(2));
        assert_eq!(start(b"me@host:~/x$ curl http://h/"), Some(13));
        assert_eq!(start(b"curl -v"), Some(0));
        for line in ["data: run curl now", "curl: (28) timed out", "{\"t\":\"$ curl x\"}"] {
            assert_eq!(start(line.as_bytes()), None, "{line}");
        }
    }
}
