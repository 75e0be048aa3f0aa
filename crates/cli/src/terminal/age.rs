//! Durations and times in words, in the largest unit.

/// Formats a time before now, such as `5m ago`, in the largest unit.
pub(crate) fn ago(time: u64) -> String {
    format!("{} ago", age(time))
}

/// Formats the remaining duration and the end time: `15m, until 14:34`.
pub(crate) fn until(time: u64) -> String {
    let left = time.saturating_sub(reflex_host::now()).div_ceil(1000);
    // Rounds up: two hours that began a moment ago are still two hours.
    let left = if left < 60 { left } else { left.div_ceil(60) * 60 };
    format!("{}, until {}", length(left), reflex_host::local(time))
}

/// Formats the time since `time`, without `ago`.
pub(crate) fn age(time: u64) -> String {
    length(reflex_host::now().saturating_sub(time) / 1000)
}

fn length(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}
