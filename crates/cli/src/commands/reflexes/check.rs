//! `reflexes publish --check`: what a reflex lacks before others take it.

use super::Here;
