//! Whether a path belongs to a class of the library, by the patterns of the class.

use super::call::{Call, Places};
use crate::text::glob;
use reflex_tables::Texts;
use std::borrow::Cow;
use std::rc::Rc;

impl Call<'_> {
    pub(super) fn in_class(&self, class: &str, path: &str) -> bool {
        let folded = self.world.folds_case().then(|| (path.to_lowercase(), self.event.home.to_lowercase()));
        let (path, home) =
            folded.as_ref().map_or((path, self.event.home.as_str()), |(path, home)| (path.as_str(), home.as_str()));
        let path = glob::Compared::new(path, home);
        let fits = |pattern: &Cow<'static, [u8]>| path.fits(pattern);
        let places = self.places(class);
        places.iter().any(|place| place.paths.iter().any(fits) && !place.except.iter().any(fits))
    }

    /// Whether a class names the path itself, not only a folder that contains it.
    pub(crate) fn is_named_by(&self, class: &str, path: &str) -> bool {
        let path = glob::Compared::new(path, &self.event.home);
        let fits = |pattern: &Cow<'static, [u8]>| !pattern.ends_with(b"/**") && path.fits(pattern);
        self.places(class).iter().any(|place| place.paths.iter().any(fits) && !place.except.iter().any(fits))
    }

    /// Returns the patterns of a class, read from the library once: a call may have thousands of targets.
    pub(super) fn places(&self, class: &str) -> Rc<[Places]> {
        let classes = self.tables.library().places();
        let Some(index) = classes.index_of(class) else { return Rc::default() };
        if let Some(known) = self.places.borrow().get(&index) {
            return Rc::clone(known);
        }
        let folds = self.world.folds_case();
        let patterns = |list: Texts<'static>| list.iter().map(|pattern| compared_bytes(pattern, folds)).collect();
        let places = classes.get(class).iter();
        let places: Rc<[Places]> =
            places.map(|place| Places { paths: patterns(place.paths()), except: patterns(place.except()) }).collect();
        self.places.borrow_mut().insert(index, Rc::clone(&places));
        places
    }
}

/// Returns the bytes of a pattern as they are compared with a path: in lower case if case does not distinguish files.
fn compared_bytes(pattern: &'static str, folds: bool) -> Cow<'static, [u8]> {
    match folds {
        true => Cow::Owned(pattern.to_lowercase().into_bytes()),
        false => Cow::Borrowed(pattern.as_bytes()),
    }
}
