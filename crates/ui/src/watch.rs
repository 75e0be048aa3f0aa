//! Sends updates to open tabs. While a tab is open, a person is present to answer, and hooks wait.

use crate::server::Server;
use crate::waiting::listed;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Interval between checks for changes. It does not delay an answer, which goes directly to its hook.
const PAUSE: Duration = Duration::from_millis(200);

/// Number of checks after which the calls are read again although their ids are unchanged.
const READ_AGAIN: u32 = 5;

/// Keep-alive interval, after which a dead connection is noticed.
const ALIVE: Duration = Duration::from_secs(10);

/// State between two checks.
#[derive(Default)]
struct Seen {
    ids: Vec<String>,
    pauses: u32,
    calls: Value,
}

/// Keeps the list up to date as long as the server runs.
pub(crate) async fn keep(server: Arc<Server>) {
    let mut seen = Seen::default();
    loop {
        tokio::time::sleep(PAUSE).await;
        if server.news.receiver_count() == 0 {
            // Without an open tab hooks do not wait.
            server.present.end();
            seen = Seen::default();
            continue;
        }
        let of = Arc::clone(&server);
        let Ok((next, news)) = tokio::task::spawn_blocking(move || look(&of, seen)).await else { return };
        seen = next;
        if let Some(news) = news {
            let _ = server.news.send(Arc::new(news));
        }
    }
}

/// Returns the list if it has changed.
fn look(server: &Server, mut seen: Seen) -> (Seen, Option<String>) {
    let store = server.store();
    server.present.begin(&store);
    let mut ids = store.waiting();
    ids.sort_unstable();
    seen.pauses += 1;
    let is_old = seen.pauses >= READ_AGAIN && !ids.is_empty();
    if ids == seen.ids && !is_old && !seen.calls.is_null() {
        return (seen, None);
    }
    let list = listed(&store, &server.page.person);
    (seen.ids, seen.pauses) = (ids, 0);
    let calls = list.get("calls").cloned().unwrap_or_default();
    if calls == seen.calls {
        return (seen, None);
    }
    seen.calls = calls;
    (seen, Some(list.to_string()))
}

/// Event stream of a tab: the current list, then each changed list.
pub(crate) fn event_stream(
    first: String,
    news: watch::Receiver<Arc<String>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let event = |list: &str| Ok(Event::default().event("waiting").data(list));
    let all = stream::unfold((Some(first), news), move |(first, mut news)| async move {
        if let Some(first) = first {
            return Some((event(&first), (None, news)));
        }
        news.changed().await.ok()?;
        let list = Arc::clone(&news.borrow_and_update());
        Some((event(&list), (None, news)))
    });
    Sse::new(all).keep_alive(KeepAlive::new().interval(ALIVE))
}
