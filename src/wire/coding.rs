//! Content codings undone as a stream: each piece of input gives all the output that it completes.

mod brotli;
mod deflate;
mod zstd;

use brotli::Brotli;
use deflate::Deflate;
use zstd::Zstd;

/// A coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Why a body could not be decoded further. What was decoded before stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The coding is not known here.
    #[error("unknown content coding")]
    Unknown,
    /// The bytes are not of that coding.
    #[error("damaged content coding")]
    Damaged,
    /// It grows beyond the bounds.
    #[error("grows beyond the bound")]
    TooLarge,
}

/// How much a body may grow.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most decoded bytes.
    pub size: u64,
    /// Largest ratio of decoded to encoded bytes, once 1 MiB was decoded.
    pub ratio: u64,
}

/// Ratios are not looked at below so many decoded bytes.
const RATIO_FROM: u64 = 1 << 20;

/// Most codings of one body that lie over one another.
const MOST_CODINGS: usize = 4;

enum Stage {
    Deflate(Deflate),
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
}

/// Undoes the codings of one body.
pub struct Decoder {
    stages: Vec<Stage>,
    bounds: Bounds,
    taken: u64,
    between: Vec<u8>,
}

impl Decoder {
    /// A decoder for codings in the order in which they were applied; none where there is nothing to undo.
    pub fn new<'t>(tokens: impl IntoIterator<Item = &'t str>, bounds: Bounds) -> Result<Option<Self>, Failure> {
        let mut stages = Vec::new();
        for token in tokens {
            let coding = match token {
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                "identity" | "chunked" | "" => continue,
                _ => return Err(Failure::Unknown),
            };
            if stages.len() >= MOST_CODINGS {
                return Err(Failure::Unknown);
            }
            stages.push(match coding {
                Coding::Gzip => Stage::Deflate(Deflate::gzip()),
                Coding::Deflate => Stage::Deflate(Deflate::zlib_or_raw()),
                Coding::Brotli => Stage::Brotli(Box::default()),
                Coding::Zstd => Stage::Zstd(Box::default()),
            });
        }
        stages.reverse();
        Ok((!stages.is_empty()).then_some(Self { stages, bounds, taken: 0, between: Vec::new() }))
    }

    /// Decodes the next piece onto the end of `out`, which holds what earlier pieces gave. Some of it may come only
    /// with [`Decoder::finish`]; [`Decoder::produced`] counts that, too.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        self.taken = self.taken.saturating_add(input.len() as u64);
        let by_ratio = self.taken.saturating_mul(self.bounds.ratio).max(RATIO_FROM);
        let most = self.bounds.size.min(by_ratio);
        self.run(input, out, most)
    }

    /// Gives what was held back. The decoder cannot go on after that.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let most = self.bounds.size;
        let last = self.stages.len().saturating_sub(1);
        let mut between = Vec::new();
        for (i, stage) in self.stages.iter_mut().enumerate() {
            let input = std::mem::take(&mut between);
            let target = if i == last { &mut *out } else { &mut between };
            stage.feed(&input, target, most)?;
            stage.finish(target, most)?;
        }
        Ok(())
    }

    /// How many decoded bytes the input so far completes, given that `given` were handed out.
    pub fn produced(&self, given: u64) -> u64 {
        match self.stages.last() {
            Some(Stage::Zstd(zstd)) => given.saturating_add(zstd.held_back()),
            _ => given,
        }
    }

    fn run(&mut self, input: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        if let [only] = &mut self.stages[..] {
            return only.feed(input, out, most);
        }
        let last = self.stages.len().saturating_sub(1);
        let mut between = std::mem::take(&mut self.between);
        between.clear();
        between.extend_from_slice(input);
        for (i, stage) in self.stages.iter_mut().enumerate() {
            if i == last {
                stage.feed(&between, out, most)?;
            } else {
                let mut next = Vec::new();
                stage.feed(&between, &mut next, most)?;
                between = next;
            }
        }
        self.between = between;
        Ok(())
    }
}

impl Stage {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        match self {
            Self::Deflate(stage) => stage.feed(input, out, most),
            Self::Brotli(stage) => stage.feed(input, out, most),
            Self::Zstd(stage) => stage.feed(input, out, most),
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        match self {
            Self::Zstd(stage) => stage.finish(out, most),
            Self::Deflate(_) | Self::Brotli(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
