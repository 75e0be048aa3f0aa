//! Files of one place become one tree: rules by event, and the policy.

use crate::pattern::Variables;
use crate::policy::{Policy, policy_of};
use crate::problem::{Level, Problem, Problems};
use crate::rule::{Rule, rules_of};
use serde_json::{Map, Value, json};

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// As it is told to people.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// Whether it is the policy; else it holds rules.
    pub is_policy: bool,
    /// Why it could not be read.
    pub unread: Option<String>,
}

/// What the files of one place say.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// `rules`, `triggers`, `paths`, `policy`: what is encoded.
    pub tree: Value,
    /// All rules, also those that are switched off.
    pub rules: Vec<Rule>,
    /// The policy.
    pub policy: Policy,
    /// What is wrong. A file with an error is left out as a whole.
    pub problems: Vec<Problem>,
    /// The names of the files that are left out.
    pub left_out: Vec<String>,
}

/// Compiles the files of one place. `presets` are the names of the library's policies, `inherited` the variables that
/// other places set.
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
    compiled
}

/// Rules whose names are taken already. Both are in force, so that nobody takes a rule away by its name.
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
