//! All routes of the server, with the credentials that each requires.

use crate::access::Refused;
use crate::answer::{Answer, Problem, outcome};
use crate::assets::find;
use crate::guard::{cookie, cookie_name, refusal, sealed, text_response};
use crate::plain::{door, list};
use crate::server::Server;
use crate::waiting::{listed, visible};
use crate::watch::event_stream;
use axum::extract::rejection::{FormRejection, JsonRejection};
use axum::extract::{DefaultBodyLimit, Form, Json, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use reflex_host::Fault;
use reflex_host::answers::{clear, waiting};
use reflex_host::signing::InForce;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Credentials that a route requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// None: the response contains no data of the machine.
    Nothing,
    /// The cookie of an authenticated browser.
    Browser,
    /// The key of a tab in which the passphrase was entered, in the header `x-reflex-tab`, in addition to the cookie.
    Tab,
    /// The passphrase itself, in addition to the cookie.
    Passphrase,
}

/// A route of the server.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path, with `{id}` in place of an id.
    pub path: &'static str,
    /// Required credentials.
    pub needs: Needs,
    /// Description in one sentence.
    pub what: &'static str,
}

/// All routes except the static files of the page.
pub const ROUTES: [Route; 21] = [
    route(
        "POST",
        "/api/session",
        Needs::Nothing,
        "Lets this browser in by the code from the terminal, or the passphrase",
    ),
    route("GET", "/api/session", Needs::Browser, "Reports whether calls can be answered here"),
    route("POST", "/api/unlock", Needs::Passphrase, "Gives this tab the key with which it answers"),
    route("POST", "/api/lock", Needs::Tab, "Takes the key from this tab"),
    route("GET", "/api/events", Needs::Browser, "Streams the list of waiting calls whenever it changes"),
    route("GET", "/api/hook/pending", Needs::Browser, "Lists the calls that wait, newest first"),
    route("GET", "/api/hook/response/{id}", Needs::Browser, "Waits until this call is answered, and gives the answer"),
    route(
        "POST",
        "/api/hook/preview",
        Needs::Browser,
        "Describes what an approval would let run, or judges the command in its place",
    ),
    route("POST", "/api/hook/wait", Needs::Browser, "Gives a person who has begun an answer time to finish it"),
    route("POST", "/api/hook/approve", Needs::Tab, "Answers a call: allow or deny"),
    route("POST", "/api/hook/clear", Needs::Tab, "Removes the calls that no hook waits for"),
    route("GET", "/api/audit", Needs::Browser, "Searches the audit log, newest first"),
    route("GET", "/api/status", Needs::Browser, "Reports what the guard sees of each agent"),
    route("POST", "/api/explain", Needs::Browser, "Judges a command that does not run"),
    route("GET", "/api/rules", Needs::Browser, "Lists the rules in force"),
    route("GET", "/api/policy", Needs::Browser, "Lists the policy keys in force and their origins"),
    route("POST", "/api/policy/backtest", Needs::Browser, "Judges recorded calls again under another policy"),
    route("GET", "/api/openapi.json", Needs::Nothing, "Describes these addresses"),
    route("GET", "/plain", Needs::Nothing, "Lists the calls that wait for browsers without JavaScript"),
    route("POST", "/plain/enter", Needs::Nothing, "Lets such a browser in"),
    route("POST", "/plain/answer", Needs::Passphrase, "Answers a call from such a browser"),
];

const fn route(method: &'static str, path: &'static str, needs: Needs, what: &'static str) -> Route {
    Route { method, path, needs, what }
}

/// Header with the key of a tab.
const TAB: &str = "x-reflex-tab";

/// Maximum size of a request body in bytes; requests contain commands.
const MAX_BODY: usize = 256 * 1024;

/// Time limit for a request that changes something.
const POST_WITHIN: Duration = Duration::from_secs(30);

/// Maximum number of calls for trying a policy, so that it finishes within the time limit of a POST.
const MAX_TRIED: usize = 1000;

/// Maximum number of records in one response.
const MAX_RECORDS: usize = 2000;

/// The cookie of the requesting browser.
#[derive(Clone)]
struct Browser(String);

type All = State<Arc<Server>>;

pub(crate) fn router(server: Arc<Server>) -> Router {
    let seen = Router::new()
        .route("/api/session", get(session))
        .route("/api/unlock", post(unlock))
        .route("/api/lock", post(lock))
        .route("/api/events", get(events))
        .route("/api/hook/pending", get(pending))
        .route("/api/hook/response/{id}", get(response))
        .route("/api/hook/preview", post(preview))
        .route("/api/hook/wait", post(extend))
        .route("/api/hook/approve", post(approve))
        .route("/api/hook/clear", post(clear_earlier))
        .route("/api/audit", get(audit))
        .route("/api/status", get(status))
        .route("/api/explain", post(explain))
        .route("/api/rules", get(rules))
        .route("/api/policy", get(policy))
        .route("/api/policy/backtest", post(backtest))
        .route("/plain/answer", post(plain_answer))
        .route_layer(from_fn_with_state(Arc::clone(&server), let_in_only));
    Router::new()
        .merge(seen)
        .route("/api/session", post(enter))
        .route("/api/openapi.json", get(|| async { Json(openapi()) }))
        .route("/plain", get(plain_list))
        .route("/plain/enter", post(plain_enter))
        .fallback(file)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&server), from_page_only))
        .with_state(server)
}

/// Rejects requests that do not come from the page, before any other processing.
async fn from_page_only(State(server): All, request: Request, next: Next) -> Response {
    let is_post = request.method() == Method::POST;
    let answer = match refusal(&request, server.port) {
        Some(refusal) => refusal,
        // A slow sender holds a connection for no longer than this.
        None if is_post => match timeout(POST_WITHIN, next.run(request)).await {
            Ok(answer) => answer,
            Err(_) => problem(StatusCode::REQUEST_TIMEOUT, "that took too long"),
        },
        None => next.run(request).await,
    };
    sealed(answer)
}

/// Rejects browsers that are not authenticated.
async fn let_in_only(State(server): All, mut request: Request, next: Next) -> Response {
    let known = cookie(request.headers(), server.port).filter(|cookie| server.access.knows(cookie)).map(str::to_owned);
    let Some(known) = known else { return problem(StatusCode::UNAUTHORIZED, "this browser is not authenticated") };
    request.extensions_mut().insert(Browser(known));
    next.run(request).await
}

/// Serves the static files of the page.
async fn file(request: Request) -> Response {
    match find(request.uri().path()) {
        Some(asset) => ([(header::CONTENT_TYPE, asset.kind)], asset.bytes).into_response(),
        None => text_response(StatusCode::NOT_FOUND, "not found"),
    }
}

/// Credentials of a browser: code or passphrase.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Proof {
    code: String,
    passphrase: String,
}

async fn enter(State(server): All, proof: Result<Json<Proof>, JsonRejection>) -> Response {
    let proof = match proof {
        Ok(Json(proof)) => proof,
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.body_text()),
    };
    let port = server.port;
    let cookie = blocking(move || match proof.code.as_str() {
        "" => server.access.by_passphrase(&server.store(), proof.passphrase),
        code => server.access.by_code(code),
    });
    match cookie.await {
        Ok(cookie) => with_cookie(StatusCode::NO_CONTENT.into_response(), port, &cookie),
        Err(refused) => refused.into_response(),
    }
}

fn with_cookie(mut response: Response, port: u16, cookie: &str) -> Response {
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", cookie_name(port));
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

async fn session(State(server): All) -> Response {
    let name = server.page.person.name.clone();
    blocking(move || {
        let (answers, why) = match server.store().key_in_force() {
            InForce::Unprotected => {
                (false, "Answers here take a passphrase: `reflex pin` in a terminal sets one.".into())
            }
            InForce::Key(_) => (true, String::new()),
            key @ (InForce::Disputed(_) | InForce::Detached) => {
                (false, format!("No answer counts: {}", key.problem().unwrap_or_default()))
            }
        };
        Json(json!({"version": env!("CARGO_PKG_VERSION"), "person": name, "answers": answers, "why": why}))
            .into_response()
    })
    .await
}

async fn unlock(
    State(server): All,
    Extension(Browser(browser)): Extension<Browser>,
    Json(proof): Json<Proof>,
) -> Response {
    match blocking(move || server.access.open_tab(&server.store(), &browser, proof.passphrase)).await {
        Ok(key) => Json(json!({"tab": key})).into_response(),
        Err(refused) => refused.into_response(),
    }
}

async fn lock(State(server): All, headers: HeaderMap) -> StatusCode {
    if let Some(key) = headers.get(TAB).and_then(|key| key.to_str().ok()) {
        server.access.close_tab(key);
    }
    StatusCode::NO_CONTENT
}

async fn events(State(server): All) -> Response {
    let mut news = server.news.subscribe();
    news.mark_unchanged();
    let first = blocking(move || {
        let store = server.store();
        server.present.begin(&store);
        listed(&store, &server.page.person).to_string()
    });
    let first = first.await;
    event_stream(first, news).into_response()
}

async fn pending(State(server): All) -> Response {
    blocking(move || Json(listed(&server.store(), &server.page.person)).into_response()).await
}

/// Waits for the answer without a time limit; the requester stops waiting by closing the connection.
async fn response(State(server): All, Path(id): Path<String>) -> Response {
    let Ok(_waits) = server.waiters.try_acquire() else {
        return problem(StatusCode::TOO_MANY_REQUESTS, "too many requests already wait for an answer");
    };
    let mut waited = false;
    loop {
        let asked = id.clone();
        let of = Arc::clone(&server);
        let (grant, waits) = blocking(move || {
            let store = of.store();
            (outcome(&store, &asked), store.waiting().contains(&asked))
        })
        .await;
        match grant {
            Some(grant) => {
                let decision = if grant.allow { "allow" } else { "deny" };
                return Json(json!({"id": id, "decision": decision, "by": grant.by, "reason": grant.reason}))
                    .into_response();
            }
            None if waits => waited = true,
            // The call is off the list, so it was refused.
            None if waited => {
                return Json(json!({"id": id, "decision": "deny", "by": "", "reason": ""})).into_response();
            }
            None => return problem(StatusCode::NOT_FOUND, "no such call is waiting"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn preview(State(server): All, Json(answer): Json<Answer>) -> Response {
    let result = blocking(move || answer.preview(&server.host(), &server.page.person)).await;
    result.map_or_else(IntoResponse::into_response, |grant| Json(json!({"grant": visible(&grant)})).into_response())
}

/// The call whose answer was begun.
#[derive(Deserialize)]
struct Begun {
    id: String,
}

/// Extends the wait of a call's hook. `until` is 0 if no hook waits.
async fn extend(State(server): All, Json(begun): Json<Begun>) -> Response {
    let until = blocking(move || server.store().extend_wait(&begun.id)).await;
    Json(json!({"until": until.unwrap_or(0)})).into_response()
}

async fn approve(
    State(server): All,
    Extension(Browser(browser)): Extension<Browser>,
    headers: HeaderMap,
    answer: Result<Json<Answer>, JsonRejection>,
) -> Response {
    let key = headers.get(TAB).and_then(|key| key.to_str().ok()).unwrap_or("");
    let Some(signer) = server.access.signer(&browser, key) else {
        return problem(StatusCode::LOCKED, "this tab is locked: it takes the passphrase");
    };
    let answer = match answer {
        Ok(Json(answer)) => answer,
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.body_text()),
    };
    let result = blocking(move || answer.take(&server.host(), &server.page.person, &signer)).await;
    result.map_or_else(IntoResponse::into_response, |message| Json(json!({"said": visible(&message)})).into_response())
}

async fn clear_earlier(
    State(server): All,
    Extension(Browser(browser)): Extension<Browser>,
    headers: HeaderMap,
) -> Response {
    let key = headers.get(TAB).and_then(|key| key.to_str().ok()).unwrap_or("");
    if server.access.signer(&browser, key).is_none() {
        return problem(StatusCode::LOCKED, "this tab is locked: it takes the passphrase");
    }
    match blocking(move || clear(&server.store(), &server.page.person)).await {
        Ok(count) => {
            Json(json!({"said": format!("{count} cleared; they stay blocked"), "count": count})).into_response()
        }
        Err(why) => problem(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string()),
    }
}

/// Query parameters of `/api/audit`.
#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    text: String,
    #[serde(default = "hundred")]
    limit: usize,
}

fn hundred() -> usize {
    100
}

async fn audit(State(server): All, Query(asked): Query<Asked>) -> Response {
    let words: Vec<String> = asked.text.split_whitespace().map(str::to_owned).collect();
    let limit = asked.limit.clamp(1, MAX_RECORDS);
    match blocking(move || (server.page.commands.search)(&server.page.context, &words, limit)).await {
        Ok(mut records) => {
            records.reverse();
            Json(json!({"schema": "reflex/audit-list-v1", "records": records})).into_response()
        }
        Err(why) => problem(StatusCode::BAD_REQUEST, &why),
    }
}

async fn status(State(server): All) -> Response {
    blocking(move || Json((server.page.commands.status)(&server.page.context)).into_response()).await
}

async fn explain(State(server): All, Json(question): Json<Map<String, Value>>) -> Response {
    match blocking(move || (server.page.commands.explain)(&server.page.context, &question)).await {
        Ok(explained) => Json(explained).into_response(),
        Err(why) => problem(StatusCode::BAD_REQUEST, &why),
    }
}

async fn rules(State(server): All) -> Response {
    blocking(move || Json((server.page.commands.rules)(&server.page.context)).into_response()).await
}

async fn policy(State(server): All) -> Response {
    blocking(move || Json((server.page.commands.config)(&server.page.context)).into_response()).await
}

/// A policy to try on recorded calls.
#[derive(Deserialize)]
struct Tried {
    policy: String,
}

async fn backtest(State(server): All, Json(tried): Json<Tried>) -> Response {
    match blocking(move || (server.page.commands.backtest)(&server.page.context, &tried.policy, MAX_TRIED)).await {
        Ok(outcome) => Json(outcome).into_response(),
        Err(why) => problem(StatusCode::BAD_REQUEST, &why),
    }
}

fn html(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

async fn plain_list(State(server): All, headers: HeaderMap) -> Response {
    if !cookie(&headers, server.port).is_some_and(|cookie| server.access.knows(cookie)) {
        return html(door(""));
    }
    blocking(move || html(list(&waiting(&server.store()), &server.page.person, ""))).await
}

#[derive(Deserialize)]
struct Entered {
    proof: String,
}

async fn plain_enter(State(server): All, entered: Result<Form<Entered>, FormRejection>) -> Response {
    let Ok(Form(Entered { proof })) = entered else { return html(door("")) };
    let port = server.port;
    let cookie = blocking(move || {
        let is_code = server.access.code().is_some_and(|code| code == proof);
        if is_code { server.access.by_code(&proof) } else { server.access.by_passphrase(&server.store(), proof) }
    });
    match cookie.await {
        Ok(cookie) => with_cookie(Redirect::to("/plain").into_response(), port, &cookie),
        Err(refused) => html(door(&refused.to_string())),
    }
}

/// An answer from an HTML form, which includes the passphrase.
#[derive(Deserialize)]
struct FormAnswer {
    passphrase: String,
    id: String,
    exact: String,
    decision: String,
    #[serde(default)]
    until: u64,
    #[serde(default)]
    message: String,
}

async fn plain_answer(State(server): All, form: Result<Form<FormAnswer>, FormRejection>) -> Response {
    let Ok(Form(FormAnswer { passphrase, id, exact, decision, until, message })) = form else {
        return html(door("invalid answer"));
    };
    let answer = Answer { id, exact, until, decision, message, ..Answer::default() };
    blocking(move || {
        let host = server.host();
        let store = host.store();
        let result = match server.access.unlock(&store, passphrase) {
            Ok(signer) => answer.take(&host, &server.page.person, &signer).unwrap_or_else(|why| why.to_string()),
            Err(refused) => refused.to_string(),
        };
        html(list(&waiting(&store), &server.page.person, &result))
    })
    .await
}

/// Runs file operations on a thread of their own, so that other connections are served meanwhile.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // After a panic the process aborts, so that no hook waits for a page that cannot answer.
        Err(_) => std::process::abort(),
    }
}

fn problem(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({"problem": visible(why)}))).into_response()
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = match &self {
            Refused::TooSoon(_) => StatusCode::TOO_MANY_REQUESTS,
            Refused::Code | Refused::NoPassphraseSet => StatusCode::FORBIDDEN,
            Refused::Signing(error) => match error.fault() {
                Fault::Request | Fault::State => StatusCode::FORBIDDEN,
                Fault::Machine => StatusCode::INTERNAL_SERVER_ERROR,
            },
        };
        problem(status, &self.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = match &self {
            Problem::Scope(_) | Problem::Decision(_) | Problem::CommandApproved => StatusCode::BAD_REQUEST,
            Problem::Gone | Problem::Instead(_) => StatusCode::CONFLICT,
            Problem::Answer(error) => match error.fault() {
                Fault::Request => StatusCode::BAD_REQUEST,
                Fault::State => StatusCode::CONFLICT,
                Fault::Machine => StatusCode::INTERNAL_SERVER_ERROR,
            },
        };
        problem(status, &self.to_string())
    }
}

/// The OpenAPI 3.1 description of the routes.
fn openapi() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let needs: &[&str] = match route.needs {
            Needs::Nothing => &[],
            Needs::Browser | Needs::Passphrase => &["browser"],
            Needs::Tab => &["browser", "tab"],
        };
        let security: Map<String, Value> = needs.iter().map(|name| ((*name).to_owned(), json!([]))).collect();
        let mut operation = json!({
            "summary": route.what, "security": [security],
            "responses": {"2XX": {"description": "done"}, "4XX": {"description": "`problem` holds the reason"}},
        });
        if route.path.contains("{id}") {
            let id = json!([{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]);
            operation.as_object_mut().and_then(|operation| operation.insert("parameters".into(), id));
        }
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path.as_object_mut().and_then(|path| path.insert(route.method.to_lowercase(), operation));
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "The page of Reflex on this machine", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {"securitySchemes": {
            "browser": {"type": "apiKey", "in": "cookie", "name": "reflex-PORT"},
            "tab": {"type": "apiKey", "in": "header", "name": TAB},
        }},
    })
}
