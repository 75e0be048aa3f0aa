//! The time, as it stands in records.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; a clock before that reads as 0.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// RFC 3339 in UTC, of milliseconds since 1970.
pub fn timestamp(millis: u64) -> String {
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days as i64);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Days since 1970 as a date of the Gregorian calendar, counted in eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Milliseconds of a duration as people write it: `30s`, `10m`, `2h`, `7d`.
pub fn duration(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    number.checked_mul(seconds * 1000)
}

/// Milliseconds since 1970 of a date (`2026-11-21`, its first moment) or a time in RFC 3339 with `Z`.
pub fn moment(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00:00Z"));
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut time =
        time.strip_suffix('Z')?.splitn(3, ':').map(|part| part.split('.').next().unwrap_or("").parse::<u64>());
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let shifted = (year - i64::from(month <= 2), (month + 9) % 12);
    let days =
        365 * shifted.0 + shifted.0 / 4 - shifted.0 / 100 + shifted.0 / 400 + (153 * shifted.1 + 2) / 5 + day - 1;
    let days = u64::try_from(days - 719_468).ok()?;
    Some((days * 86_400 + hour * 3600 + minute * 60 + second) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_005, "2000-02-28T23:59:59.005Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_219_200_000, "2026-11-21T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(millis), text);
            assert_eq!(moment(text), Some(millis / 1000 * 1000));
        }
        assert_eq!(moment("2026-11-21"), Some(1_795_219_200_000));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(
            (duration("10m"), duration("2h"), duration("x"), duration("5")),
            (Some(600_000), Some(7_200_000), None, None)
        );
        assert_eq!(duration("99999999999999999999d"), None);
    }
}
