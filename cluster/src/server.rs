//! The server: its address, and the way to it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions};

use crate::error::Error;

const SCHEME: &str = "temporal://";

/// The port of a server where none is named.
const PORT: u16 = 7233;

/// The time in which a server has to answer.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The address of a server: `temporal://HOST:PORT`, and a namespace where it is not the default one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    port: u16,
    namespace: String,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text} is no address of a server: temporal://HOST:PORT or temporal://HOST:PORT/NAMESPACE"
            )
        };
        let rest = text.strip_prefix(SCHEME).ok_or_else(wrong)?;
        let (server, namespace) = rest.split_once('/').unwrap_or((rest, ""));
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        let (host, port) = match server.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => (server, PORT),
        };
        let is_whole = !host.is_empty() && !host.contains(['@', '?', '#']) && !namespace.contains('/');
        if !is_whole {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port, namespace: namespace.to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, namespace } = self;
        write!(formatter, "{SCHEME}{host}:{port}")?;
        if namespace == "default" { Ok(()) } else { write!(formatter, "/{namespace}") }
    }
}

impl Address {
    /// Connects to the server.
    pub(crate) async fn connect(&self) -> Result<Client, Error> {
        let unreachable = |source: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(format!("the server at {self} does not answer"))
                .because(source.as_ref())
                .hint("see that it runs, and that this host can reach it")
        };
        let url = temporalio_client::Url::parse(&format!("http://{}:{}", self.host, self.port))
            .map_err(|error| unreachable(error.into()))?;
        let options = ConnectionOptions::new(url)
            .identity(format!("tillgreen-cluster {}", std::process::id()))
            .connect_timeout(CONNECT_MAX)
            .build();
        let connection = Connection::connect(options).await.map_err(|error| unreachable(error.into()))?;
        let options = ClientOptions::new(self.namespace.clone()).build();
        Client::new(connection, options).map_err(|error| unreachable(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let table = [
            ("temporal://host:7000", Some("temporal://host:7000")),
            ("temporal://host", Some("temporal://host:7233")),
            ("temporal://host/default", Some("temporal://host:7233")),
            ("temporal://host:1/plans", Some("temporal://host:1/plans")),
            ("http://host:7233", None),
            ("temporal://:7233", None),
            ("temporal://host:port", None),
            ("temporal://me@host", None),
            ("temporal://host/a/b", None),
        ];
        for (text, expected) in table {
            let address = text.parse::<Address>().ok().map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected, "{text}");
        }
    }
}
