//! Compiles the files of one layer to a tree: rules by event, and the policy.

use crate::pattern::Variables;
use crate::policy::{Policy, policy_of};
use crate::problem::{Level, Problem, Problems};
use crate::rule::{Rule, rules_of};
use reflex_tables::compile::check;
use reflex_tables::views::LayerTables;
use serde_json::{Map, Value, json};

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The name to show to people.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it is the policy; otherwise it contains rules.
    pub is_policy: bool,
    /// The reason why it could not be read.
    pub unread: Option<String>,
}

/// The compiled files of one layer.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// `rules`, `triggers`, `paths`, `policy`: the tree to encode.
    pub tree: Value,
    /// All rules, including disabled ones.
    pub rules: Vec<Rule>,
    /// The policy.
    pub policy: Policy,
    /// The problems. A file with an error is left out entirely.
    pub problems: Vec<Problem>,
    /// The names of the files that are left out.
    pub left_out: Vec<String>,
}

/// Compiles the files of one layer. `presets` are the names of the library's policies, `inherited` the variables of
/// other layers.
pub fn compile(files: &[SourceFile], presets: &[&str], inherited: &Variables) -> Compiled {
    let mut compiled = Compiled::default();
    for (file, why) in files.iter().filter_map(|file| Some((file, file.unread.as_ref()?))) {
        let mut problems = Problems::new(&file.name, &file.text);
        problems.error(&(0..0), why.as_str(), "");
        compiled.problems.extend(problems.found);
        compiled.left_out.push(file.name.clone());
    }
    let files: Vec<&SourceFile> = files.iter().filter(|file| file.unread.is_none()).collect();
    for file in files.iter().filter(|file| file.is_policy) {
        let mut problems = Problems::new(&file.name, &file.text);
        let policy = policy_of(&file.text, presets, &mut problems);
        if problems.errors() > 0 {
            compiled.left_out.push(file.name.clone());
        } else {
            compiled.policy = policy;
        }
        compiled.problems.extend(problems.found);
    }
    let mut variables = inherited.clone();
    variables.extend(compiled.policy.variables.clone());
    for file in files.iter().filter(|file| !file.is_policy) {
        let (rules, mut problems) = rules_of(&file.name, &file.text, Some(&variables));
        let repeated = repeated(&rules, &compiled.rules, file);
        if problems.iter().any(|problem| problem.level == Level::Error) {
            compiled.left_out.push(file.name.clone());
        } else {
            compiled.rules.extend(rules);
        }
        problems.extend(repeated);
        compiled.problems.extend(problems);
    }
    compiled.tree = tree(&compiled, &variables);
    debug_assert_eq!(check::<LayerTables<'_>>(&compiled.tree), Ok(()));
    compiled
}

/// Reports rules whose names are taken. Both stay in force, so that a name cannot be used to remove a rule.
fn repeated(rules: &[Rule], known: &[Rule], file: &SourceFile) -> Vec<Problem> {
    let mut problems = Problems::new(&file.name, &file.text);
    for (index, rule) in rules.iter().enumerate() {
        let first = known.iter().chain(rules.iter().take(index)).find(|other| other.name == rule.name);
        if let Some(first) = first {
            let written = file.text.rfind(&format!("name: {}", rule.name)).unwrap_or(0);
            let message = format!("there is a rule `{}` already, at {}", rule.name, first.at);
            problems.error(&(written..written + rule.name.len() + 6), message, "give it another name");
        }
    }
    problems.found
}

fn tree(compiled: &Compiled, variables: &Variables) -> Value {
    let mut rules = Map::new();
    let mut triggers: Map<String, Value> = Map::new();
    for rule in compiled.rules.iter().filter(|rule| rule.enabled) {
        let Ok(lowered) = rule.lower(variables) else { continue };
        for event in &rule.events {
            let list = triggers.entry(event.clone()).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(lowered.clone());
            }
        }
        rules.insert(rule.name.clone(), lowered);
    }
    json!({
        "rules": rules, "triggers": triggers, "paths": compiled.policy.paths, "policy": compiled.policy.node,
    })
}
