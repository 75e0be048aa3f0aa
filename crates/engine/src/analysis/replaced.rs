//! Content that a write replaces.

use crate::model::event::Action;
use crate::model::path;
use crate::model::world::World;
use std::borrow::Cow;

/// Returns the previous content of a written file, or of its edited part. Content in both versions is not a change.
pub(crate) fn replaced<'a>(action: &'a Action, cwd: &str, world: &dyn World) -> Cow<'a, str> {
    if let Action::Edit { gone, .. } = action {
        return Cow::Borrowed(gone);
    }
    let Action::Write { path, .. } = action else { return Cow::default() };
    Cow::Owned(world.content_before(&path::absolute(&path.with_slashes(), cwd)).unwrap_or_default())
}
