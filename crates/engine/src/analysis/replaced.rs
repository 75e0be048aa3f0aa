//! Content that a write replaces.

use crate::model::event::Action;
use crate::model::path;
use crate::model::world::World;
use std::borrow::Cow;

/// Returns the content that a write or an edit replaces; empty if unknown. Callers compare it with the new content, so
/// that only what was added counts.
pub(crate) fn replaced<'a>(action: &'a Action, cwd: &str, world: &dyn World) -> Cow<'a, str> {
    if let Action::Edit { removed, .. } = action {
        return Cow::Borrowed(removed);
    }
    let Action::Write { path, .. } = action else { return Cow::default() };
    Cow::Owned(world.content_before(&path::absolute(&path.with_slashes(), cwd)).unwrap_or_default())
}
