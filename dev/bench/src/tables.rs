//! Tables of the page about agents, states and the disk, with what all tables share: reasons, cells, numbers.

use super::agents::{self, Cost, PAYLOADS};
use super::measure::Time;
use super::states::{self, CASES, Pair};

const AGENTS: &str = "\
## Agents

One call of the hook for `git status` in the payload of each agent, as in the first table.

";

/// Head of the first column of the table.
const AGENT: &str = "agent and event";

const STATES: &str = "\
## State

Instructions of a call with a small and with a large state of the guard, of the repository or of the rules. The goal is 10 %
more at most; `cargo xtask bench --check` holds the pairs that meet it.

";

/// Head of the first column of the table.
const STATE: &str = "state";

const DISK: &str = "\
## The disk

`deny-home` again, in the same rounds, with the state of the guard in memory (tmpfs): the difference is what the disk takes
to keep the refusal before the answer.

";

/// Head of the first column of the table.
const PLACE: &str = "state of the guard";

/// Renders the section about agents; empty if they were not measured.
pub(crate) fn agents(costs: &[Cost]) -> String {
    if costs.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\n{AGENTS}| {AGENT} | time | goal | milliseconds | instructions |\n|---|--:|--:|--:|--:|\n");
    for (payload, cost) in PAYLOADS.iter().zip(costs) {
        let counted = cost.instructions.map_or("–".into(), millions);
        let (ratio, goal) = (hundredths(cost.time.ratio), hundredths(agents::MAX_RATIO));
        let name = agents::name(payload);
        text.push_str(&format!("| {name} | {ratio} | {goal} | {} | {counted} |\n", millis(cost.time.micros)));
    }
    let is_missed = costs.iter().any(|cost| cost.time.ratio > agents::MAX_RATIO);
    text + &reasons(is_missed.then_some(("all", agents::WHY)))
}

/// Parses what [`agents()`] renders.
pub(crate) fn parse_agents(text: &str) -> Vec<Cost> {
    let cost = |cells: Vec<&str>| {
        let [_, ratio, _, micros, instructions, ..] = cells.as_slice() else { return None };
        let time = Time { ratio: digits(ratio)?, micros: digits(micros)? };
        Some(Cost { time, instructions: digits(instructions) })
    };
    cells_below(text, AGENT).filter_map(cost).collect()
}

/// Renders the section about states; empty if they were not counted.
pub(crate) fn states(pairs: &[Pair]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\n{STATES}| {STATE} | call | small | large | growth | within 10 % |\n|---|---|--:|--:|--:|---|\n");
    for (case, pair) in CASES.iter().zip(pairs) {
        let (small, large) = (millions(pair.small), millions(pair.large));
        let growth = (f64::from(pair.large) / f64::from(pair.small) * 100.0 - 100.0).round();
        let within = yes(pair.is_within());
        let cells = [case.state, case.call, &small, &large, &format!("{growth} %"), within].join(" | ");
        text.push_str(&format!("| {cells} |\n"));
    }
    let missed = CASES.iter().zip(pairs).filter(|(_, pair)| !pair.is_within());
    let names: Vec<(String, &str)> =
        missed.map(|(case, _)| (format!("{}, {}", case.state, case.call), case.why)).collect();
    text + &reasons(names.iter().map(|(name, why)| (name.as_str(), *why)))
}

/// Parses what [`states()`] renders.
pub(crate) fn parse_states(text: &str) -> Vec<Pair> {
    let pair = |cells: Vec<&str>| {
        let [_, _, small, large, ..] = cells.as_slice() else { return None };
        Some(Pair { small: digits(small)?, large: digits(large)? })
    };
    cells_below(text, STATE).filter_map(pair).collect()
}

/// Describes the agents whose calls miss the goal.
pub(crate) fn missed_agents(costs: &[Cost]) -> impl Iterator<Item = String> {
    let missed = PAYLOADS.iter().zip(costs).filter(|(_, cost)| cost.time.ratio > agents::MAX_RATIO);
    missed.map(|(payload, cost)| format!("{}: {} `/bin/true`", agents::name(payload), hundredths(cost.time.ratio)))
}

/// Describes the pairs that miss the goal.
pub(crate) fn missed_states(pairs: &[Pair]) -> impl Iterator<Item = String> {
    let missed = CASES.iter().zip(pairs).filter(|(_, pair)| !pair.is_within());
    missed.map(|(states::Case { state, call, .. }, Pair { small, large })| {
        format!("{state}, {call}: {} instructions, then {}", millions(*small), millions(*large))
    })
}

/// Renders the section about the disk's share of a refusal; empty if this machine has no files in memory.
pub(crate) fn disk(on_disk: Option<Time>, in_memory: Option<Time>) -> String {
    let (Some(disk), Some(memory)) = (on_disk, in_memory) else { return String::new() };
    let difference =
        Time { ratio: disk.ratio.saturating_sub(memory.ratio), micros: disk.micros.saturating_sub(memory.micros) };
    let mut text = format!("\n{DISK}| {PLACE} | time | milliseconds |\n|---|--:|--:|\n");
    for (place, time) in [("on the disk", disk), ("in memory", memory), ("difference", difference)] {
        text.push_str(&format!("| {place} | {} | {} |\n", hundredths(time.ratio), millis(time.micros)));
    }
    text
}

/// Parses the time with the state in memory from what [`disk`] renders.
pub(crate) fn parse_memory(text: &str) -> Option<Time> {
    let cells = cells_below(text, PLACE).nth(1)?;
    let [_, ratio, micros, ..] = cells.as_slice() else { return None };
    Some(Time { ratio: digits(ratio)?, micros: digits(micros)? })
}

/// Renders why rows miss their goals: a list below their table.
pub(crate) fn reasons<'a>(missed: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let list: String = missed.into_iter().map(|(name, why)| format!("- {name}: {why}.\n")).collect();
    if list.is_empty() { list } else { format!("\nGoals that are missed, and why:\n\n{list}") }
}

/// The cells of each row of the table whose first column has this head.
pub(crate) fn cells_below<'a>(text: &'a str, head: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let head = format!("| {head} |");
    let table = text.lines().skip_while(move |line| !line.starts_with(&head)).skip(2);
    table.take_while(|line| line.starts_with('|')).map(|line| line.split('|').map(str::trim).skip(1).collect())
}

/// Formats thousands as millions with three decimals.
pub(crate) fn millions(thousands: u32) -> String {
    format!("{}.{:03} M", thousands / 1000, thousands % 1000)
}

/// Formats microseconds as milliseconds.
pub(crate) fn millis(micros: u32) -> String {
    format!("{}.{:03} ms", micros / 1000, micros % 1000)
}

/// Formats hundredths as a ratio.
pub(crate) fn hundredths(ratio: u32) -> String {
    format!("{}.{:02} ×", ratio / 100, ratio % 100)
}

/// Whether a goal is met, in words.
pub(crate) fn yes(is_met: bool) -> &'static str {
    if is_met { "yes" } else { "no" }
}

/// Parses a number with decimals as if it had no decimal point; `None` for a dash.
pub(crate) fn digits(cell: &str) -> Option<u32> {
    cell.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_stand_only_below_missed_goals() {
        assert_eq!(reasons([]), "");
        assert_eq!(reasons([("a", "of b")]), "\nGoals that are missed, and why:\n\n- a: of b.\n");
    }

    #[test]
    fn tables_are_read_as_they_were_written() {
        let (disk, memory) = (Time { ratio: 496, micros: 3_105 }, Time { ratio: 205, micros: 1_004 });
        assert_eq!(parse_memory(&super::disk(Some(disk), Some(memory))), Some(memory));
        let costs = [Some(361), None].map(|instructions| Cost { time: memory, instructions });
        assert_eq!(parse_agents(&agents(&costs)), costs);
        let pairs = [Pair { small: 341, large: 350 }, Pair { small: 3_000, large: 9_000 }];
        assert_eq!(parse_states(&states(&pairs)), pairs);
        assert_eq!(missed_states(&pairs).count(), 1);
    }
}
