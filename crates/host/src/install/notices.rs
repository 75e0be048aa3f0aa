//! Notifications that a policy asks for and that this machine cannot show.

use super::trouble::Trouble;
use crate::config::Loaded;
use crate::config::asking::Asking;
use crate::system::os;

/// Why `notify: {desktop: true}` of these policies shows nothing here, if it does not.
pub fn desktop_trouble(loaded: &[Loaded]) -> Option<Trouble> {
    let is_wanted = Asking::from_layers(loaded).notify.desktop;
    let why = os::desktop_obstacle().filter(|_| is_wanted)?;
    Some(Trouble {
        what: format!("`notify: {{desktop: true}}` shows nothing here: {why}"),
        fix: "use `notify: {webhook: …}` or `{command: …}`, or keep `reflex pending` open".into(),
    })
}
