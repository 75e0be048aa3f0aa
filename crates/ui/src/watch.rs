//! Tells open tabs what changes. While a tab is open, somebody is there to answer, and hooks wait.

use crate::server::Server;
use crate::waiting::listed;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use reflex_host::{Host, Mode};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// So often is looked whether something changed: an answer waits for its hook, not for this.
const PAUSE: Duration = Duration::from_millis(200);

/// Of a list whose names stay the same, what stands in it is read again after so many pauses.
const READ_AGAIN: u32 = 5;

/// A connection that nobody reads is noticed by this.
const ALIVE: Duration = Duration::from_secs(10);

/// What is looked at between two pauses.
#[derive(Default)]
struct Seen {
    ids: Vec<String>,
    pauses: u32,
    calls: Value,
}

/// Looks after the list for as long as the server lives.
pub(crate) async fn keep(server: Arc<Server>) {
    let mut seen = Seen::default();
    loop {
        tokio::time::sleep(PAUSE).await;
        if server.news.receiver_count() == 0 {
            // Nobody looks: hooks wait no more.
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

/// The list, if it is another than before.
fn look(server: &Server, mut seen: Seen) -> (Seen, Option<String>) {
    let store = Host::new(Mode::default()).store();
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

/// What a tab is told: the list as it is, and then whenever it changes.
pub(crate) fn told(
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
