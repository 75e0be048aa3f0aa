//! The meaning of a server tool's name: its verb, and the object of the verb.

use crate::analysis::tool_call::name::words;
use crate::model::words::{WordList, Words};
use reflex_tables::Tables;

/// An operation of a tool that requires a person's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RiskyAct {
    /// Destroys something persistent.
    Destroy,
    /// Stops, scales or transfers something that others use.
    Change,
    /// Deploys a version, or changes what is live.
    Deploy,
    /// Merges commits into a shared branch.
    Merge,
    /// Moves money.
    Pay,
    /// Writes to people in the person's name.
    Send,
    /// Changes access rights.
    Grant,
}

const TAKES_AWAY: [&str; 9] =
    ["delete", "drop", "destroy", "terminate", "purge", "wipe", "truncate", "uninstall", "flush"];

/// `remove` and `reset` are also used for minor things, so fewer objects count for them.
const TAKES_BACK: [&str; 2] = ["remove", "reset"];

/// Parts of the names of servers that store data of programs.
const STORES: [&str; 10] =
    ["mongo", "redis", "elastic", "qdrant", "pinecone", "dynamo", "firestore", "weaviate", "chroma", "milvus"];

/// Parts of the names of servers that change what is live.
const LIVE: [&str; 7] = ["terraform", "kubernetes", "k8s", "kubectl", "pulumi", "helm", "argocd"];

/// Returns the risky operation that a tool's name implies; `None` if the tool only reads or is harmless.
pub(super) fn risky_act(tables: Tables, server: &str, tool: &str) -> Option<RiskyAct> {
    let servers: Vec<String> = words(server);
    let name: Vec<String> = words(tool);
    let looking = WordList::LookingVerbs.read(tables);
    let looks = |word: Option<&String>| word.is_some_and(|word| holds(looking, word));
    let rest: Vec<&String> = name.iter().filter(|word| !servers.contains(word)).collect();
    if looks(rest.first().copied()) || looks(rest.last().copied()) {
        return None;
    }
    let has = |known: &[&str]| name.iter().any(|word| known.iter().any(|known| is(word, known)));
    let verb = |known: &[&str]| name.iter().any(|word| known.contains(&word.as_str()));
    let served = |parts: &[&str]| parts.iter().any(|part| server.to_ascii_lowercase().contains(part));
    let has_one_of = |list: WordList| name.iter().any(|word| holds(list.read(tables), word));
    if destroys(&name, &verb, &has, &served, &has_one_of) {
        return Some(RiskyAct::Destroy);
    }
    // `create_merge_request` does not merge anything yet.
    let proposes = verb(&["create", "open", "update", "close", "edit", "add", "new", "approve"]);
    if verb(&["merge"]) && has(&["request", "pr", "mr", "branch"]) && !proposes {
        return Some(RiskyAct::Merge);
    }
    let verb_of = |list: WordList| name.iter().any(|word| list.read(tables).has(word));
    if pays(&verb, &has, &verb_of) {
        return Some(RiskyAct::Pay);
    }
    if sends_message(&verb, &has) {
        return Some(RiskyAct::Send);
    }
    if grants(&name, &verb, &has) {
        return Some(RiskyAct::Grant);
    }
    if deploys(&verb, &has, &served) {
        return Some(RiskyAct::Deploy);
    }
    (verb_of(WordList::StoppingVerbs) && has_one_of(WordList::RunningThings)).then_some(RiskyAct::Change)
}

type HasWord<'a> = dyn Fn(&[&str]) -> bool + 'a;
type HasOneOf<'a> = dyn Fn(WordList) -> bool + 'a;

fn destroys(
    name: &[String],
    verb: &HasWord<'_>,
    has: &HasWord<'_>,
    served: &HasWord<'_>,
    has_one_of: &HasOneOf<'_>,
) -> bool {
    const ROWS: [&str; 10] = ["many", "one", "row", "document", "record", "key", "all", "item", "vector", "point"];
    let lasting = verb(&TAKES_AWAY) && has_one_of(WordList::LastingThings);
    let heavy = verb(&TAKES_BACK) && has_one_of(WordList::HeavyThings);
    if lasting || heavy || verb(&["flushall", "flushdb"]) {
        return true;
    }
    // `delete` on a storage server removes the data that it stores.
    let alone = name.iter().all(|word| TAKES_AWAY.contains(&word.as_str()));
    verb(&TAKES_AWAY) && ((served(&STORES) && (alone || has(&ROWS))) || (served(&LIVE) && (alone || has(&["stack"]))))
}

fn pays(verb: &HasWord<'_>, has: &HasWord<'_>, verb_of: &HasOneOf<'_>) -> bool {
    const MONEY: [&str; 10] =
        ["fund", "money", "payment", "refund", "charge", "payout", "subscription", "trade", "purchase", "order"];
    verb_of(WordList::PayingVerbs) && has(&MONEY) || verb(&["withdraw", "refund", "buy", "sell"])
}

fn sends_message(verb: &HasWord<'_>, has: &HasWord<'_>) -> bool {
    let messages = ["message", "email", "mail", "sms", "tweet", "dm", "thread", "whatsapp", "invitation", "newsletter"];
    (verb(&["send", "post", "reply", "forward", "broadcast"]) && has(&messages))
        || (verb(&["create", "post", "publish"]) && has(&["tweet", "toot"]))
}

fn grants(name: &[String], verb: &HasWord<'_>, has: &HasWord<'_>) -> bool {
    let pair = |first: &str, second: &str| {
        name.iter().zip(name.iter().skip(1)).any(|(one, other)| one == first && is(other, second))
    };
    let gives = verb(&["create", "add", "attach", "put", "set", "grant", "update", "invite", "assign", "revoke"]);
    let rights = has(&["policy", "policies", "permission", "collaborator", "role", "acl"])
        || pair("access", "key")
        || pair("api", "key")
        || pair("service", "account")
        || pair("org", "member");
    (gives && rights) || (verb(&["share", "publicize"]) && has(&["file", "document", "folder", "drive", "calendar"]))
}

fn deploys(verb: &HasWord<'_>, has: &HasWord<'_>, served: &HasWord<'_>) -> bool {
    const LIVES: [&str; 8] =
        ["migration", "manifest", "stack", "kubectl", "terraform", "helm", "resource", "infrastructure"];
    let applies = verb(&["apply"]) && (has(&LIVES) || served(&LIVE));
    let installs = verb(&["install", "upgrade"]) && has(&["helm", "chart"]);
    let starts = verb(&["trigger", "dispatch"]) && has(&["workflow", "pipeline", "build", "job", "deployment"]);
    let publishes = verb(&["publish"]) && has(&["package", "release", "version", "site", "module", "crate"]);
    verb(&["deploy", "promote"]) || applies || installs || starts || publishes
}

/// Returns whether the word, in singular or plural, is in the list.
fn holds(list: Words, word: &str) -> bool {
    list.iter().any(|known| is(word, known))
}

/// Returns whether the word is the known one, in singular or plural.
fn is(word: &str, known: &str) -> bool {
    word.strip_prefix(known).is_some_and(|rest| matches!(rest, "" | "s" | "es"))
        || known.strip_suffix('y').is_some_and(|stem| word.strip_prefix(stem) == Some("ies"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;

    #[track_caller]
    fn check(server: &str, tool: &str, expected: Option<RiskyAct>) {
        assert_eq!(risky_act(tables(), server, tool), expected, "{server} {tool}");
    }

    #[test]
    fn a_tool_is_judged_by_its_verb_and_object() {
        check("github", "delete_repository", Some(RiskyAct::Destroy));
        check("kubernetes", "pods_delete", Some(RiskyAct::Destroy));
        check("redis", "delete", Some(RiskyAct::Destroy));
        check("mongodb", "delete-many", Some(RiskyAct::Destroy));
        check("heroku", "pg_reset", Some(RiskyAct::Destroy));
        check("github", "merge_pull_request", Some(RiskyAct::Merge));
        check("bank", "transferFunds", Some(RiskyAct::Pay));
        check("gmail", "send_email", Some(RiskyAct::Send));
        check("aws", "put_bucket_policy", Some(RiskyAct::Grant));
        check("supabase", "apply_migration", Some(RiskyAct::Deploy));
        check("aws", "stop_instances", Some(RiskyAct::Change));
    }

    #[test]
    fn what_only_looks_or_is_the_agents_own_is_nothing() {
        check("vercel", "list_deployments", None);
        check("vercel", "deploy_status", None);
        check("netlify", "deploy-services-reader", None);
        check("kubernetes", "pods_list", None);
        check("memory", "delete_entities", None);
        check("excel", "delete_sheet_row", None);
        check("files", "delete_file", None);
        check("gmail", "draft_email", None);
        check("editor", "apply_patch", None);
        check("serena", "restart_language_server", None);
        check("chroma", "query_collection", None);
        check("github", "create_pull_request", None);
        check("gitlab", "create_merge_request", None);
        check("git", "git_reset", None);
    }
}
