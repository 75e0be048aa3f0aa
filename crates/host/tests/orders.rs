//! Texts that give a model orders are told of, and those that talk about orders, or only look alike, are not: by all
//! kinds of texts that an agent reads, in 14 languages and many spellings. Each text begins with a line `--- what it is`.

use reflex_engine::injection::scan;

/// The texts of a file that are told of, and the names of those that are not.
fn heard(file: &str) -> (Vec<&str>, Vec<&str>) {
    let texts = file.split("--- ").skip(1).filter_map(|text| text.split_once('\n'));
    let told = |text: &str| scan(text.trim_end(), reflex_library::tables()).is_told();
    let (told, quiet): (Vec<_>, Vec<_>) = texts.partition(|(_, text)| told(text));
    (told.into_iter().map(|(name, _)| name).collect(), quiet.into_iter().map(|(name, _)| name).collect())
}

#[test]
fn most_orders_are_heard() {
    let (told, quiet) = heard(include_str!("orders/given.txt"));
    assert!(told.len() * 100 >= (told.len() + quiet.len()) * 85, "{} told, and not: {quiet:#?}", told.len());
}

#[test]
fn who_talks_about_orders_is_not_told_of() {
    let (told, quiet) = heard(include_str!("orders/mentioned.txt"));
    assert!(told.len() * 100 <= (told.len() + quiet.len()) * 5, "told: {told:#?}");
}
