//! The compiled files of one layer: rules and the policy that people write.

use crate::node::Node;
use crate::view;
use crate::view::{List, Map, Texts};

view! {
    /// The tables of a layer.
    pub struct LayerTables<'a> {
        /// Its rules, by name.
        rules: Map<'a, UserRule<'a>>,
        /// Its rules, by the event on which they are evaluated.
        triggers: Map<'a, List<'a, UserRule<'a>>>,
        /// Rules made from protected paths.
        paths: List<'a, PathRule<'a>>,
        /// Its policy.
        policy: UserPolicy<'a>,
    }
}

view! {
    /// A rule that a person wrote.
    pub struct UserRule<'a> {
        /// Its name, unique among the rules of a layer.
        name: &'a str,
        /// Its version.
        version: &'a str,
        /// `core`, `recommended` or `custom`.
        tier: &'a str,
        /// Its category.
        category: &'a str,
        /// Description for people.
        description: &'a str,
        /// The events on which it is evaluated.
        events: Texts<'a>,
        /// The conditions, all of which must hold.
        when: Node<'a>,
        /// The action at its stage.
        action: &'a str,
        /// The action at the stage `enforce`, if its own stage weakens it.
        would: Option<&'a str>,
        /// Its severity.
        severity: &'a str,
        /// The message, with words to fill in.
        message: &'a str,
        /// Fields of the call with their new values.
        rewrite: Map<'a, &'a str>,
        /// The action if the call cannot be replaced: `block` or `ask`.
        otherwise: &'a str,
        /// `file:line` of its source.
        at: &'a str,
        /// Whether configuration may not disable it.
        fixed: bool,
        /// Whether configuration may not weaken it.
        undowngradable: bool,
    }
}

view! {
    /// A rule over effects, made from a protected path.
    pub struct PathRule<'a> {
        /// Its name.
        name: &'a str,
        /// The effects, by name.
        on: Texts<'a>,
        /// The condition on the effect.
        when: Node<'a>,
        /// The action.
        action: &'a str,
        /// The message, with `{targets}` to fill in.
        message: &'a str,
        /// The role that it applies to; any if absent.
        role: Option<&'a str>,
    }
}

view! {
    /// A policy that a person wrote.
    pub struct UserPolicy<'a> {
        /// The preset that it chooses; empty if it chooses none.
        preset: &'a str,
        /// The reason for the preset.
        reason: &'a str,
        /// Folders that are treated like the workspace.
        allowed_roots: Texts<'a>,
        /// Changed actions of rules, by their names.
        overrides: Map<'a, Override<'a>>,
        /// Calls that are allowed.
        allow: List<'a, Allowance<'a>>,
        /// The roles of agents.
        roles: Map<'a, Role<'a>>,
        /// Requirements at the end of the work.
        verify: Verify<'a>,
        /// Limits of a session.
        budgets: Budgets<'a>,
        /// The way in which calls wait for a person.
        ask: Asking<'a>,
        /// The way in which a person is notified.
        notify: Notify<'a>,
        /// The model that decides prompts in auto-pilot.
        judge: Judge<'a>,
        /// The rules of a watched run.
        watch: Watch<'a>,
    }
}

view! {
    /// The action that a policy gives a rule.
    pub struct Override<'a> {
        /// The action.
        action as "do": &'a str,
        /// The reason.
        reason: &'a str,
        /// The minute at which it expires.
        until: Option<u32>,
        /// `file:line` of its source.
        at: &'a str,
    }
}

view! {
    /// A call that a policy allows. All conditions must hold.
    pub struct Allowance<'a> {
        /// The complete command.
        command: Option<&'a str>,
        /// The first words of the command.
        argv: Texts<'a>,
        /// A pattern of the command.
        glob: Option<&'a str>,
        /// Patterns of the paths that the effect touches.
        path: Texts<'a>,
        /// Patterns of the rule's id.
        rule: Texts<'a>,
        /// The folder in which the project lies.
        folder as "in": Option<&'a str>,
        /// The reason.
        reason: &'a str,
        /// The minute at which it expires.
        until: Option<u32>,
        /// `file:line` of its source.
        at: &'a str,
    }
}

view! {
    /// A role of an agent. It only tightens.
    pub struct Role<'a> {
        /// Patterns of the paths that it may change.
        scope: Texts<'a>,
        /// The preset that applies; empty for none.
        mode: &'a str,
    }
}

view! {
    /// Requirements at the end of the work.
    pub struct Verify<'a> {
        /// The checks that must succeed.
        run: List<'a, Check<'a>>,
        /// The file with acceptance criteria; empty for none.
        acceptance: &'a str,
    }
}

view! {
    /// A command that must succeed.
    pub struct Check<'a> {
        /// Its name.
        name: &'a str,
        /// The command.
        command: &'a str,
        /// Its maximum running time.
        seconds: u32,
    }
}

view! {
    /// Limits of a session; 0 for none.
    pub struct Budgets<'a> {
        /// Number of calls.
        calls: u32,
        /// Minutes since its beginning.
        minutes: u32,
        /// Number of started agents.
        agents: u32,
        /// Nesting of agents.
        depth: u32,
    }
}

view! {
    /// The way in which calls wait for a person.
    pub struct Asking<'a> {
        /// Waiting time in seconds.
        wait: Option<u32>,
        /// Decision if no person can answer.
        unattended: &'a str,
    }
}

view! {
    /// The way in which a person is notified.
    pub struct Notify<'a> {
        /// Whether the desktop shows a notification.
        desktop: bool,
        /// The command that notifies.
        command: &'a str,
        /// The address that is called.
        webhook: Webhook<'a>,
    }
}

view! {
    /// An address that is called for a notification.
    pub struct Webhook<'a> {
        /// The address.
        url: &'a str,
        /// The format of the message.
        format as "as": &'a str,
    }
}

view! {
    /// The model that decides prompts in auto-pilot.
    pub struct Judge<'a> {
        /// The protocol; empty if the policy has no judge.
        provider: &'a str,
        /// The name of the model.
        model: &'a str,
        /// Its address.
        url: &'a str,
        /// The file with its key.
        key_file: &'a str,
        /// The command that answers.
        command: &'a str,
        /// Maximum time for an answer in seconds.
        timeout: Option<u32>,
    }
}

view! {
    /// The rules of a watched run.
    pub struct Watch<'a> {
        /// The answer to a change whose file cannot be kept.
        full: &'a str,
    }
}
