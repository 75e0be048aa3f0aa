//! Values that are computed once for each effect or target.

use crate::model::effect::Id;
use std::cell::RefCell;
use std::rc::Rc;

/// Values computed for effects or targets, by their id. Values for items without an id are computed each time.
pub(super) struct Memo<T>(RefCell<Vec<Option<Rc<T>>>>);

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(RefCell::default())
    }
}

impl<T> Memo<T> {
    pub(super) fn get(&self, id: Id, work_out: impl FnOnce() -> Rc<T>) -> Rc<T> {
        let Some(index) = id.index() else { return work_out() };
        if let Some(Some(known)) = self.0.borrow().get(index) {
            return Rc::clone(known);
        }
        let new = work_out();
        let mut known = self.0.borrow_mut();
        if known.len() <= index {
            known.resize_with(index + 1, || None);
        }
        known.get_mut(index).into_iter().for_each(|place| *place = Some(Rc::clone(&new)));
        new
    }
}
