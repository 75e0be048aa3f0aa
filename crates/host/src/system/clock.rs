//! Points in time and durations, in the formats of records and of people.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::TimeZone;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; 0 if the clock is set to an earlier time.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Formats milliseconds since 1970 as RFC 3339 in UTC. Times after the year 9999 are shown as its end.
pub fn timestamp(millis: u64) -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
    let time = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    PRINTER.timestamp_to_string(&time.unwrap_or(Timestamp::MAX))
}

/// Formats a time in the time zone of this machine, for people: `14:34` today, else `2026-11-24 14:34`.
pub fn local(millis: u64) -> String {
    in_zone(millis, now(), &TimeZone::system())
}

fn in_zone(millis: u64, now: u64, zone: &TimeZone) -> String {
    let zoned = |millis| Some(Timestamp::from_millisecond(i64::try_from(millis).ok()?).ok()?.to_zoned(zone.clone()));
    let Some((time, today)) = zoned(millis).zip(zoned(now)) else { return timestamp(millis) };
    let form = if time.date() == today.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    time.strftime(form).to_string()
}

/// Parses a duration as people write it (`30s`, `10m`, `2h`, `7d`) into milliseconds.
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

/// Parses a date (`2026-11-21`, its first moment) or a time in RFC 3339 into milliseconds since 1970, in full seconds.
pub fn moment(text: &str) -> Option<u64> {
    let time = match text.contains('T') {
        true => text.parse::<Timestamp>().ok()?,
        false => Date::strptime("%Y-%m-%d", text).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    u64::try_from(time.as_second()).ok().map(|seconds| seconds * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_today_needs_no_date() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let noon = moment("2026-11-24T12:00:00Z").unwrap();
        assert_eq!(in_zone(noon + 34 * 60_000, noon, &zone), "14:34");
        assert_eq!(in_zone(noon - 24 * 3_600_000, noon, &zone), "2026-11-23 14:00");
        assert_eq!(in_zone(u64::MAX, noon, &zone), timestamp(u64::MAX));
    }

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
        assert_eq!(moment("2026-11-21T01:00:00+01:00"), Some(1_795_219_200_000));
        for text in
            ["yesterday", "2026-02-30", "2026-13-01", "1969-12-31", "2026-11-21T25:00:00Z", "2026-11-21T10:00:00"]
        {
            assert_eq!(moment(text), None, "{text}");
        }
        assert!(timestamp(u64::MAX).starts_with("9999-12-30T"));
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
