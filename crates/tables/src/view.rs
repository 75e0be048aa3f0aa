//! Typed views of a [`Node`]: one declaration names the keys of an entry, for their readers and for the compiler.

pub use crate::node::Node;

use crate::sieve::Sieve;
use std::marker::PhantomData;

/// Declares a view: a [`Node`] with one accessor for each key. A key that is not the name of its field follows `as`;
/// `with` names views of the same entry, for keys that several kinds of entries have in common.
///
/// ```
/// # use reflex_tables::{Texts, view};
/// view! {
///     /// A shelf.
///     pub struct Shelf<'a> {
///         /// Its name.
///         name: &'a str,
///         /// Its owner, if it has one.
///         owner as "owned-by": Option<&'a str>,
///         /// The titles on it.
///         titles: Texts<'a>,
///     }
/// }
/// ```
#[macro_export]
macro_rules! view {
    (
        $(#[$about:meta])*
        $vis:vis struct $view:ident<$a:lifetime> $(with ($($(#[$note:meta])* $part:ident: $whole:ty),+))? {
            $($(#[$doc:meta])* $field:ident $(as $key:literal)?: $form:ty),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy)]
        $vis struct $view<$a>($crate::view::Node<$a>);

        impl<$a> $view<$a> {
            $($(
                $(#[$note])*
                #[inline]
                $vis fn $part(self) -> $whole {
                    $crate::view::Field::read(self.0)
                }
            )+)?
            $(
                $(#[$doc])*
                #[inline]
                $vis fn $field(self) -> $form {
                    $crate::view::Field::read(self.0.get($crate::view!(@key $field $($key)?)))
                }
            )*
        }

        impl<$a> $crate::view::Field<$a> for $view<$a> {
            const FORM: $crate::view::Form = $crate::view::Form::Record(|| <$view<$a> as $crate::view::View<$a>>::FIELDS);

            #[inline]
            fn read(node: $crate::view::Node<$a>) -> Self {
                $view(node)
            }
        }

        impl<$a> $crate::view::View<$a> for $view<$a> {
            const FIELDS: &'static [(&'static str, $crate::view::Form)] = &[
                $($(("", <$whole as $crate::view::Field<$a>>::FORM),)+)?
                $(($crate::view!(@key $field $($key)?), <$form as $crate::view::Field<$a>>::FORM),)*
            ];

            #[inline]
            fn node(self) -> $crate::view::Node<$a> {
                self.0
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

/// The values that a key may have.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Any value; its readers look into it themselves.
    Any,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list, or one item in its place.
    List(fn() -> Form),
    /// A map with keys of any name.
    Map(fn() -> Form),
    /// A map with these keys. The fields of a part have no key of their own.
    Record(fn() -> &'static [(&'static str, Form)]),
}

/// A type as which a value can be read.
pub trait Field<'a>: Copy {
    /// The values that it reads.
    const FORM: Form;

    /// Reads the value of a key, or the absent value.
    fn read(node: Node<'a>) -> Self;
}

/// A type that [`view!`] declares.
pub trait View<'a>: Field<'a> {
    /// Its keys, each with the form of the value.
    const FIELDS: &'static [(&'static str, Form)];

    /// The entry that it views.
    fn node(self) -> Node<'a>;

    /// Whether the entry is absent.
    #[inline]
    fn is_absent(self) -> bool {
        self.node().is_nil()
    }
}

impl<'a> Field<'a> for Node<'a> {
    const FORM: Form = Form::Any;

    #[inline]
    fn read(node: Node<'a>) -> Node<'a> {
        node
    }
}

impl<'a> Field<'a> for bool {
    const FORM: Form = Form::Flag;

    #[inline]
    fn read(node: Node<'a>) -> bool {
        node.is_true()
    }
}

impl<'a> Field<'a> for u32 {
    const FORM: Form = Form::Number;

    #[inline]
    fn read(node: Node<'a>) -> u32 {
        node.number()
    }
}

impl<'a> Field<'a> for &'a str {
    const FORM: Form = Form::Text;

    #[inline]
    fn read(node: Node<'a>) -> &'a str {
        node.text()
    }
}

impl<'a> Field<'a> for &'a [u8] {
    const FORM: Form = Form::Text;

    #[inline]
    fn read(node: Node<'a>) -> &'a [u8] {
        node.bytes()
    }
}

impl<'a> Field<'a> for Sieve<'a> {
    const FORM: Form = Form::Text;

    #[inline]
    fn read(node: Node<'a>) -> Sieve<'a> {
        Sieve::new(node.bytes())
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    const FORM: Form = T::FORM;

    #[inline]
    fn read(node: Node<'a>) -> Option<T> {
        (!node.is_nil()).then(|| T::read(node))
    }
}

/// A list. A single value is a list of one, an absent value an empty list.
#[derive(Debug, Clone, Copy)]
pub struct List<'a, T>(Node<'a>, PhantomData<T>);

/// A list of texts.
pub type Texts<'a> = List<'a, &'a str>;

impl<'a, T: Field<'a>> Field<'a> for List<'a, T> {
    const FORM: Form = Form::List(|| T::FORM);

    #[inline]
    fn read(node: Node<'a>) -> List<'a, T> {
        List(node, PhantomData)
    }
}

impl<'a, T: Field<'a>> List<'a, T> {
    /// Whether the list is absent; an empty list is not.
    #[inline]
    pub fn is_absent(self) -> bool {
        self.0.is_nil()
    }

    /// Whether it has no items.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// Number of its items.
    #[inline]
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// The items.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = T> + Clone {
        self.0.items().map(T::read)
    }

    /// The item at an index, if there are as many.
    #[inline]
    pub fn at(self, index: usize) -> Option<T> {
        Option::read(self.0.at(index))
    }
}

/// A map with keys of any name, sorted by key.
#[derive(Debug, Clone, Copy)]
pub struct Map<'a, T>(Node<'a>, PhantomData<T>);

impl<'a, T: Field<'a>> Field<'a> for Map<'a, T> {
    const FORM: Form = Form::Map(|| T::FORM);

    #[inline]
    fn read(node: Node<'a>) -> Map<'a, T> {
        Map(node, PhantomData)
    }
}

impl<'a, T: Field<'a>> Map<'a, T> {
    /// An absent map.
    pub const ABSENT: Map<'a, T> = Map(Node::NIL, PhantomData);

    /// Whether the map is absent; an empty map is not.
    #[inline]
    pub fn is_absent(self) -> bool {
        self.0.is_nil()
    }

    /// Whether it has no entries.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key; the absent value if the map does not have the key.
    #[inline]
    pub fn get(self, key: &str) -> T {
        T::read(self.0.get(key))
    }

    /// The value of a key, if the map has the key.
    #[inline]
    pub fn find(self, key: &str) -> Option<T> {
        Option::read(self.0.get(key))
    }

    /// The key as stored, with the lifetime of the blob, and its value.
    #[inline]
    pub fn entry(self, key: &str) -> Option<(&'a str, T)> {
        self.0.entry(key).map(|(key, node)| (key, T::read(node)))
    }

    /// The index of a key among all keys.
    #[inline]
    pub fn index_of(self, key: &str) -> Option<usize> {
        self.0.index_of(key)
    }

    /// The keys and their values.
    #[inline]
    pub fn entries(self) -> impl Iterator<Item = (&'a str, T)> + Clone {
        self.0.entries().map(|(key, node)| (key, T::read(node)))
    }

    /// The keys.
    #[inline]
    pub fn keys(self) -> impl Iterator<Item = &'a str> + Clone {
        self.0.entries().map(|(key, _)| key)
    }
}
