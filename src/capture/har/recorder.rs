//! Who wrote the file, and what that says about where it stood and how it lies.

use crate::model::Vantage;

/// Recorders whose files want reading of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// None that is known, or one that needs nothing special.
    #[default]
    Other,
    /// `WebInspector`: Chrome, Edge and their kin.
    Chrome,
    /// Firefox's network monitor.
    Firefox,
    /// Playwright's `recordHar`.
    Playwright,
    /// mitmproxy's `hardump` and `save.har`.
    Mitmproxy,
    /// HTTP Toolkit.
    HttpToolkit,
}

/// The recorder of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    /// `creator.name`.
    pub name: String,
    /// `creator.version`.
    pub version: String,
    /// How its files are read.
    pub kind: Kind,
    /// Where it stood.
    pub vantage: Vantage,
}

/// Beginnings of names, in lower case, of recorders that stand in the client.
const CLIENTS: [&str; 22] = [
    "webinspector",
    "chrome har capturer",
    "chrome-har",
    "chromium",
    "firefox",
    "firebug",
    "webkit web inspector",
    "playwright",
    "puppeteer",
    "cypress",
    "neuralegion",
    "polly.js",
    "insomnia",
    "postman",
    "internet explorer",
    "f12 developer",
    "browsertime",
    "webpagetest",
    "capture-har",
    "k6",
    "http archive viewer",
    "curl",
];

/// Beginnings of names, in lower case, of recorders that stand between client and server.
const PROXIES: [&str; 12] = [
    "mitmproxy",
    "fiddler",
    "charles",
    "http toolkit",
    "proxyman",
    "browsermob",
    "browserup",
    "burp",
    "logger++",
    "reqable",
    "dev proxy",
    "devproxy",
];

impl Recorder {
    /// A recorder by its name and version.
    pub fn new(name: &str, version: &str) -> Self {
        let lower = name.trim().to_ascii_lowercase();
        let begins = |names: &[&str]| names.iter().any(|known| lower.starts_with(known));
        let kind = match lower.as_str() {
            "webinspector" => Kind::Chrome,
            "firefox" => Kind::Firefox,
            "playwright" => Kind::Playwright,
            "http toolkit" => Kind::HttpToolkit,
            name if name.starts_with("mitmproxy") => Kind::Mitmproxy,
            _ => Kind::Other,
        };
        let vantage = match () {
            () if begins(&CLIENTS) => Vantage::Client,
            () if begins(&PROXIES) => Vantage::Proxy,
            () => Vantage::Unknown,
        };
        Self { name: name.trim().to_owned(), version: version.trim().to_owned(), kind, vantage }
    }

    /// Name and version, as a report names them; none where the file does not say.
    pub fn label(&self) -> Option<String> {
        match (self.name.as_str(), self.version.as_str()) {
            ("", _) => None,
            (name, "") => Some(name.to_owned()),
            (name, version) => Some(format!("{name} {version}")),
        }
    }
}
