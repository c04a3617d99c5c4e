//! What is told to whom.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::deliver::unable;

/// The channels that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notify {
    /// A command for `sh -c`, which is given the notice on its standard input.
    pub command: Option<String>,
    /// True if notices are shown on the desktop.
    pub desktop: bool,
    /// Addresses that notices are posted to.
    pub webhooks: Vec<Webhook>,
}

/// An address that notices are posted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The address, which may be a secret itself.
    pub url: String,
    /// The key that notices are signed with.
    pub secret: Option<String>,
    /// The occasions that it is told of.
    pub on: Vec<Occasion>,
}

/// The reason for a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// A person is asked.
    Asked,
    /// The run stopped and does not go on by itself.
    Stopped,
    /// The plan is complete.
    Done,
    /// Somebody tries out whether notices arrive.
    Test,
}

impl Occasion {
    /// Those that settings name.
    pub const NAMED: [Self; 3] = [Self::Asked, Self::Stopped, Self::Done];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Stopped => "stopped",
            Self::Done => "done",
            Self::Test => "test",
        }
    }
}

/// A notice, as receivers get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The plan.
    pub plan: String,
    /// The occasion.
    pub event: Occasion,
    /// The task that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// It in a sentence.
    pub text: String,
    /// Where to look, such as the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// When it happened.
    pub at: Timestamp,
}

/// One channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Command(String),
    Desktop,
    Webhook(Webhook),
}

impl Notify {
    /// True if nobody is told anything.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// The channels through which nothing can be told here, with why.
    #[must_use]
    pub fn unable(&self) -> Vec<String> {
        let each = |channel: Channel| {
            let reason = unable(&channel)?;
            Some(format!("no notice can reach {}: {reason}", channel.name()))
        };
        self.channels().into_iter().filter_map(each).collect()
    }

    pub(super) fn channels(&self) -> Vec<Channel> {
        let command = self.command.clone().map(Channel::Command);
        let desktop = self.desktop.then_some(Channel::Desktop);
        let webhooks = self.webhooks.iter().cloned().map(Channel::Webhook);
        command.into_iter().chain(desktop).chain(webhooks).collect()
    }
}

impl Webhook {
    /// The part of its address that is no secret; the variable, if one holds it.
    #[must_use]
    pub fn host(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.rsplit('@').next().unwrap_or_default()
    }
}

impl Channel {
    /// The name that it is known by in files: an address may be a secret.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Command(_) => "command".to_owned(),
            Self::Desktop => "desktop".to_owned(),
            Self::Webhook(webhook) => {
                let digest = Sha256::digest(webhook.url.as_bytes());
                let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                format!("webhook-{hex}")
            }
        }
    }

    /// Its name for people: of an address, no more than the host.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Command(_) => "the command".to_owned(),
            Self::Desktop => "the desktop".to_owned(),
            Self::Webhook(webhook) => format!("the webhook at {}", webhook.host()),
        }
    }

    /// True if it is told of an occasion.
    pub(super) fn wants(&self, occasion: Occasion) -> bool {
        match self {
            Self::Command(_) | Self::Desktop => true,
            Self::Webhook(webhook) => occasion == Occasion::Test || webhook.on.contains(&occasion),
        }
    }
}
