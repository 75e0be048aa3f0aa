//! Grammars of programs: entries of `library/programs`.

use crate::view;
use crate::view::{List, Map, Texts};

view! {
    /// The grammar of a program or of one of its subcommands.
    pub struct Program<'a> {
        /// The syntax of its arguments; empty for the usual one.
        style: &'a str,
        /// The number of its own operands before the program that it runs.
        leading: u32,
        /// Its options, by name.
        options: Map<'a, ProgramOption<'a>>,
        /// Its subcommands.
        commands: Map<'a, Program<'a>>,
        /// The entries that find the commands it runs in its arguments.
        runs: List<'a, RunEntry<'a>>,
        /// Its effects.
        effects: List<'a, EffectEntry<'a>>,
        /// The files that it fills, with the sources of their content.
        copies as "copies-to": List<'a, CopyEntry<'a>>,
        /// Whether its operands are texts or names. Paths among them are not opened.
        opaque_operands as "opaque-operands": bool,
        /// The kinds of text that it prints, of which the first with a matching condition applies.
        prints: List<'a, PrintEntry<'a>>,
        /// The parameter that receives PowerShell pipeline input; empty if none does.
        piped: &'a str,
        /// The word that separates its commands; empty if it takes only one.
        separator: &'a str,
        /// The configuration keys whose values it runs, each with the form of the value.
        settings: Map<'a, &'a str>,
        /// Whether project scripts often have the same name.
        common: bool,
        /// Whether its name is distinctive: not a word that other programs take as an argument.
        distinct: bool,
        /// The subcommands whose words reach other people or agents; `*` for all.
        publishes: Texts<'a>,
        /// The sources of the host, context or account that it works on.
        points: Texts<'a>,
        /// The operands and options that name its resource.
        names: Texts<'a>,
        /// Backup commands for its database, by the program's name.
        dump: Map<'a, &'a str>,
        /// The selector of the file that holds its database; empty if it is not a file.
        database: &'a str,
    }
}

view! {
    /// An environment variable whose value is run.
    pub struct Variable<'a> {
        /// The form of the value: `script`, `program`, `file`, `options`.
        how: &'a str,
        /// The program that runs it.
        program: &'a str,
    }
}

view! {
    /// An option of a program.
    pub struct ProgramOption<'a> {
        /// The name under which entries refer to it.
        key: &'a str,
        /// The words that it takes.
        value: &'a str,
        /// The number of these words, if there are several.
        count: u32,
    }
}

view! {
    /// The options under which an entry applies.
    pub struct Conditions<'a> {
        /// Options of which one must be given.
        when: Texts<'a>,
        /// Options that must all be given.
        and: Texts<'a>,
        /// Options of which none may be given.
        unless: Texts<'a>,
    }
}

impl Conditions<'_> {
    /// Whether they hold for the given options.
    pub fn hold(self, is_given: impl Fn(&str) -> bool) -> bool {
        let (when, and, unless) = (self.when(), self.and(), self.unless());
        (when.is_absent() || when.iter().any(&is_given)) && and.iter().all(&is_given) && !unless.iter().any(is_given)
    }
}

view! {
    /// The parts of values that an entry selects.
    pub struct Narrowing<'a> {
        /// Splits the values into lines.
        each_line as "each-line": bool,
        /// Whether texts are compared without ASCII case.
        any_case as "any-case": bool,
        /// Keeps the values that contain this text.
        containing: &'a str,
        /// Keeps the values that start with one of these texts, without it.
        starting: Texts<'a>,
        /// Drops the values that contain this text.
        lacking: &'a str,
        /// Drops everything up to the last occurrence of this text.
        after_last as "after-last": &'a str,
        /// Keeps the parts after one of these texts.
        behind: Texts<'a>,
        /// Keeps the quoted texts after them.
        quoted: bool,
        /// Keeps the quoted texts after them as the words of one command.
        quoted_words as "quoted-words": bool,
        /// Splits the values at each of these characters.
        divided: &'a str,
    }
}

view! {
    /// A command or text that a program runs. Most values are selectors of words.
    pub struct RunEntry<'a> with (
        /// The options under which it applies.
        conditions: Conditions<'a>,
        /// The parts of the texts that it runs.
        narrowing: Narrowing<'a>
    ) {
        /// The words of a command.
        argv: Option<&'a str>,
        /// Words appended to these.
        with: &'a str,
        /// Number of words that are dropped.
        skip: u32,
        /// Whether assignments may precede the command.
        assignments: bool,
        /// Whether the second word is the name by which the command is called.
        own_name as "own-name": bool,
        /// Whether each word is split at blanks.
        split: bool,
        /// The image of a container, which may be named after its program.
        image: &'a str,
        /// Placeholders among the words.
        placeholder: Texts<'a>,
        /// The values that replace a placeholder.
        filled_with as "filled-with": &'a str,
        /// Whether the values are appended if no word has a placeholder.
        append_missing as "append-missing": bool,
        /// `stdin` if the words of the input are appended.
        append: &'a str,
        /// The option whose text replaces it among the words of the same program.
        again: Option<&'a str>,
        /// The words of a command that runs for each of several arguments.
        parallel: Option<&'a str>,
        /// The texts to run.
        script: Option<&'a str>,
        /// Whether the text runs at the exit.
        at_exit as "at-exit": bool,
        /// The language of the text; the shell if absent.
        language: Option<&'a str>,
        /// The parameters of the text.
        parameters: &'a str,
        /// Whether assignments of the text persist after it.
        lasting: bool,
        /// The encoding of the text.
        decode: &'a str,
        /// Whether the words are typed: names of keys stand for characters.
        typed: bool,
        /// Whether each value is a text of its own.
        each: bool,
        /// The file to run.
        file: Option<&'a str>,
        /// Suffixes with which the file is looked for.
        endings: Texts<'a>,
        /// The file that names the main file of a folder.
        manifest: Option<&'a str>,
        /// The module to run.
        module: Option<&'a str>,
        /// `commands` if values of options may be commands.
        words: &'a str,
        /// `script` if standard input is run.
        stdin: Option<&'a str>,
        /// Files that are run if they are written before.
        written: Texts<'a>,
        /// Whether the program is not expected to run another one.
        escape: bool,
        /// Whether script blocks run at its site.
        blocks: bool,
        /// The system on which the command runs: `remote`, `container`.
        site: Option<&'a str>,
        /// The host on which it runs.
        host: &'a str,
        /// The folder that is the root of its file system.
        root: Option<&'a str>,
        /// The folder in which it runs.
        folder: &'a str,
        /// Whether it runs in an unknown folder.
        elsewhere: bool,
        /// The variables that are hidden from it.
        without: &'a str,
        /// Folders of this machine that it sees.
        mounts: Option<&'a str>,
        /// Whether a mounted folder has the same path inside.
        same_path as "same-path": bool,
        /// Options without which it sees only the mounts.
        fresh_unless as "fresh-unless": Texts<'a>,
        /// The folder that is the root inside.
        tree: Option<&'a str>,
        /// The service of a compose project.
        service: Option<&'a str>,
        /// The container, by its name.
        container: Option<&'a str>,
        /// Pairs of a folder and its path inside.
        pairs: Option<&'a str>,
        /// Such pairs that cannot be written.
        read_only_pairs as "read-only-pairs": Option<&'a str>,
        /// The folder of a development container.
        workspace: Option<&'a str>,
    }
}

view! {
    /// An effect of a program.
    pub struct EffectEntry<'a> with (
        /// The options under which it applies.
        conditions: Conditions<'a>,
        /// The parts of the targets that it selects.
        narrowing: Narrowing<'a>
    ) {
        /// The name of the effect.
        kind as "do": &'a str,
        /// The selector of its targets.
        to: Option<&'a str>,
        /// The target if the command names none.
        default_target as "default-target": Option<&'a str>,
        /// The selector of its argument.
        argument: &'a str,
        /// Flags that it always has.
        set: Texts<'a>,
        /// Patterns of which one of the first operands must match one.
        word: Texts<'a>,
        /// Patterns of which the first operands must match none.
        unless_word as "unless-word": Texts<'a>,
        /// Patterns of which a target must match one.
        fitting: Texts<'a>,
        /// Patterns of which a target must match none.
        unfitting: Texts<'a>,
        /// The selector of a word whose beginning must be unknown.
        unread: Option<&'a str>,
        /// `terminal` if standard input must not be redirected.
        from: &'a str,
        /// Whether the command must have exactly one operand.
        single: bool,
        /// The form in which targets name GraphQL requests: `file` or `text`.
        mutations: Option<&'a str>,
        /// Targets that the project's files name: `volumes`.
        of_project as "of-project": &'a str,
        /// Whether a mounted folder is named alone, without its path inside.
        plain: bool,
        /// Whether the effect counts only if it is certain that the program runs.
        sure: bool,
        /// The selector of an output expression.
        fields: Option<&'a str>,
        /// Fields that are not secret.
        open_fields as "open-fields": Texts<'a>,
    }
}

view! {
    /// A file that a program fills.
    pub struct CopyEntry<'a> with (
        /// The options under which it applies.
        conditions: Conditions<'a>,
        /// The parts of the targets that it selects.
        narrowing: Narrowing<'a>
    ) {
        /// The source: `stdin`, `output`, or the selector of files.
        from: &'a str,
        /// The selector of the files that are filled.
        to: &'a str,
    }
}

view! {
    /// A kind of text that a program prints.
    pub struct PrintEntry<'a> with (
        /// The options under which it applies.
        conditions: Conditions<'a>
    ) {
        /// The kind.
        what: &'a str,
    }
}
