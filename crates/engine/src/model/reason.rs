//! A sentence of a verdict, for people and agents, and in the form of `reflex/verdict-v1`.

/// A sentence of a verdict about one finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reason {
    /// The decision and the loss: `Blocked: would delete /home/me and everything in it.`
    pub harm: String,
    /// The remedy, as a sentence; may be empty.
    pub remedy: String,
    /// The id of the rule; empty if the sentence quotes another author.
    pub rule: String,
    /// The sentence in the contract's form: with the part of the call, the rule and its category.
    pub full: String,
}

impl Reason {
    /// Returns a sentence without a rule.
    pub fn plain(text: impl Into<String>) -> Reason {
        let text = text.into();
        Reason { harm: text.clone(), full: text, ..Reason::default() }
    }

    /// Returns the loss and the remedy.
    pub fn text(&self) -> String {
        if self.remedy.is_empty() { self.harm.clone() } else { format!("{} {}", self.harm, self.remedy) }
    }

    /// Returns the loss, the remedy, and the rule in brackets.
    pub fn brief(&self) -> String {
        if self.rule.is_empty() { self.text() } else { format!("{} [{}]", self.text(), self.rule) }
    }

    /// Returns every text that may quote the call.
    pub fn texts_mut(&mut self) -> [&mut String; 3] {
        [&mut self.harm, &mut self.remedy, &mut self.full]
    }
}
