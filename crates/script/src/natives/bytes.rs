//! Random bytes and digests.

use super::digests;
use super::tools::Tools;
use rquickjs::{Ctx, Exception, Result, TypedArray};
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

/// Maximum number of random bytes per call.
pub(super) const MAX_RANDOM: usize = 65_536;

pub(super) fn randomly<'js>(tools: &Rc<Tools>) -> impl Fn(Ctx<'js>, usize) -> Result<TypedArray<'js, u8>> + use<'js> {
    let kept = Rc::clone(tools);
    move |ctx: Ctx<'js>, bytes: usize| {
        if bytes > MAX_RANDOM {
            return Err(Exception::throw_range(&ctx, "more than 65536 random bytes at once"));
        }
        kept.afford(&ctx, bytes.saturating_mul(4))?;
        TypedArray::new(ctx, unforeseen(bytes))
    }
}

pub(super) fn digest<'js>(
    tools: &Rc<Tools>,
) -> impl Fn(Ctx<'js>, String, Vec<u8>) -> Result<TypedArray<'js, u8>> + use<'js> {
    let kept = Rc::clone(tools);
    move |ctx: Ctx<'js>, name: String, bytes: Vec<u8>| {
        kept.afford(&ctx, bytes.len().saturating_mul(4))?;
        let digest = match name.to_ascii_uppercase().as_str() {
            "SHA-256" | "SHA256" => Sha256::digest(&bytes).to_vec(),
            "SHA-384" | "SHA384" => Sha384::digest(&bytes).to_vec(),
            "SHA-512" | "SHA512" => Sha512::digest(&bytes).to_vec(),
            "SHA-1" | "SHA1" => digests::sha1(&bytes).to_vec(),
            "MD5" => digests::md5(&bytes).to_vec(),
            _ => return Err(Exception::throw_type(&ctx, &format!("no digest is called `{name}`"))),
        };
        TypedArray::new(ctx, digest)
    }
}

/// Returns unpredictable bytes, derived from the random hash keys that the system gives to every process.
pub(super) fn unforeseen(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 32);
    while bytes.len() < length {
        let mut digest = Sha256::new();
        for _ in 0..4 {
            digest.update(RandomState::new().hash_one(bytes.len()).to_le_bytes());
            digest.update(RandomState::new().hash_one(&bytes).to_le_bytes());
        }
        bytes.extend(digest.finalize());
    }
    bytes.truncate(length);
    bytes
}
