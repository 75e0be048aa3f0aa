//! The reasons why a rule cannot be evaluated.

use reflex_tables::compile::EncodeError;

/// A rule cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A condition is invalid.
    #[error("{rule}: {source}{}", after_comma(&source.help()))]
    Condition {
        /// The name of the rule.
        rule: String,
        /// The error.
        source: ConditionError,
    },
    /// All rules together cannot be compiled.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A condition is invalid.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConditionError {
    /// Its operator is unknown.
    #[error("unknown operator `{word}`")]
    UnknownOperator {
        /// The given word.
        word: String,
        /// The most similar operator.
        nearest: Option<&'static str>,
    },
    /// It names a variable that has no value.
    #[error("the variable `{name}` is not set")]
    Unset {
        /// The name.
        name: String,
        /// The most similar variable or field.
        nearest: Option<String>,
    },
    /// Its regular expression is invalid, or does not run in linear time.
    #[error("unsupported regular expression: it must be valid and run in linear time: {0}")]
    Regex(#[source] regex_lite::Error),
}

impl ConditionError {
    /// The remedy; empty if unknown.
    pub fn help(&self) -> String {
        match self {
            ConditionError::UnknownOperator { nearest: None, .. } => String::new(),
            ConditionError::UnknownOperator { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            ConditionError::Unset { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            ConditionError::Unset { name, nearest: None } => {
                format!("set it: `variables: {{{name}: …}}` in policy.yaml")
            }
            ConditionError::Regex(error) => expressible(&error.to_string()).into(),
        }
    }
}

/// The remedy for a regular expression that is rejected with this message.
fn expressible(message: &str) -> &'static str {
    match message {
        _ if message.contains("look-around") => {
            "use a second condition instead: `not_contains` or `not: {…}` for (?!…), another `regex` for (?=…)"
        }
        _ if message.contains("backreferences") => "write the repeated part out, or use two conditions",
        _ if message.contains("Unicode character classes") => "list the characters in a set: [A-Za-z]",
        _ if message.contains("size") => "write fewer or smaller repetitions",
        _ => "a backslash takes a sign literally: \\( \\{ \\[",
    }
}

fn after_comma(help: &str) -> String {
    if help.is_empty() { String::new() } else { format!(", {help}") }
}
