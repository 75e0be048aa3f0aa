//! Listens on loopback only and limits every connection.

use crate::api::router;
use crate::page::Page;
use crate::server::Server;
use crate::watch::keep;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Maximum number of concurrent connections; further ones wait.
const MAX_CONNECTIONS: usize = 256;

/// Time limit for the head of a request; slower connections are dropped.
const HEAD_WITHIN: Duration = Duration::from_secs(5);

/// Address of the page, and the code for the first browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `http://127.0.0.1:PORT/`.
    pub url: String,
    /// The code that authenticates the first browser; valid once.
    pub code: String,
}

/// Serves the page until the process ends; calls `ready` with the address once the port accepts connections.
///
/// # Errors
/// The port cannot be bound.
pub fn serve(page: Page, ready: impl FnOnce(&Address)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, page.port)).await?;
        let port = listener.local_addr()?.port();
        // Without IPv6 the page is only served on IPv4.
        let other = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.ok();
        let server = Arc::new(Server::new(page, port));
        tokio::spawn(keep(Arc::clone(&server)));
        let address =
            Address { url: format!("http://127.0.0.1:{port}/"), code: server.access.code().unwrap_or_default() };
        let service = TowerToHyperService::new(router(server));
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        ready(&address);
        if let Some(other) = other {
            tokio::spawn(listen(other, service.clone(), Arc::clone(&slots)));
        }
        listen(listener, service, slots).await;
        Ok(())
    })
}

async fn listen(listener: TcpListener, service: TowerToHyperService<axum::Router>, slots: Arc<Semaphore>) {
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let service = service.clone();
                tokio::spawn(async move {
                    answer(stream, service).await;
                    drop(slot);
                });
            }
            // Usually the process is out of file descriptors; some are freed shortly.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn answer(stream: TcpStream, service: TowerToHyperService<axum::Router>) {
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(64 * 1024);
    // A client that disconnects in the middle of a response is not an error.
    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
}
